"""The sections of a config and their keys: the one place for what each may be."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, InstanceOf, Tag, model_validator

from harness.config.base import Section
from harness.config.models import ModelConfig, require_base_models
from harness.config.paths import PathOrFalse, PathText, PathTexts, escaped, paths_of
from harness.config.space import SearchName
from harness.config.splits import GivenSplit, InnerSplit, SplitConfig, TimeSplit
from harness.core.errors import UsageError, counted, suggest
from harness.core.given import Given, is_given
from harness.core.unpacking import OWN, Cap
from harness.data.conditions import conditions
from harness.data.layout import (
    AttributeTable,
    BadLines,
    CandidateRule,
    Encoding,
    Escape,
    EventTable,
    Layout,
    Table,
    is_remote,
    require_separator,
)
from harness.data.layouts import BUILT_IN, plugged_in
from harness.data.times import require_time_format


class TableConfig(Section):
    """A table of users or items that is written otherwise than as CSV with the events' columns."""

    file: PathText
    id: str | None = None
    separator: str | None = None
    header: list[str] | None = None
    encoding: Encoding = "utf-8"
    quote: bool | None = None
    escape: Escape | None = None


def _as_written(
    table: Table, file: str, separator: str | None, header: bool | list[str], encoding: Encoding
) -> Table:
    """Return a table with what a config says of how its text is written."""
    if separator is None:
        separator = "\t" if ".tsv" in file.lower() else ","
    try:
        require_separator(separator, "" if table.inherits_quote else table.escape)
    except ValueError as error:
        raise UsageError(f"{table.named('separator')}: {error}") from error
    if not header:
        raise UsageError(
            f"{table.named('header')}: a file without a header line needs the names of its "
            'columns, such as header = ["user", "item", "rating", "time"]'
        )
    if table.is_frame:
        return table
    names = None if header is True else tuple(header)
    return replace(table, separator=separator, header=names, encoding=encoding)


_TableName = Annotated[
    Annotated[PathText, Tag("name")] | Annotated[TableConfig, Tag("table")],
    Discriminator(lambda value: "name" if isinstance(value, str) else "table"),
]
IN_PYTHON = "harness.run"
"""What a config is called that was made in Python."""
TABLE = "table"
"""The layout of any log, whose files and columns a config names."""


class DataConfig(Section):
    """``[data]``: where the files are and how they become events."""

    layout: str
    path: PathText
    restore_zeros: bool = False
    cache: bool = True
    max_unpacked_gb: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    events: PathTexts | None = None
    user: str = "user"
    item: str = "item"
    time: str | Literal[False] = "time"
    time_format: str | None = None
    separator: str | None = None
    header: bool | list[str] = True
    kind: str | None = None
    value: str | None = None
    where: dict[str, Any] = {}
    min_user_events: Annotated[int, Field(ge=1, lt=2**31)] = 1
    min_item_events: Annotated[int, Field(ge=1, lt=2**31)] = 1
    users: _TableName | None = None
    items: _TableName | None = None
    encoding: Encoding = "utf-8"
    quote: bool = True
    escape: Escape = ""
    bad_lines: BadLines = "refuse"
    rows: str | list[str] | None = None

    @model_validator(mode="after")
    def _only_what_the_layout_reads(self) -> DataConfig:
        if ":" not in self.layout and self.layout not in (*BUILT_IN, TABLE):
            raise ValueError(
                f"layout = {self.layout!r}; {suggest(self.layout, [*BUILT_IN, TABLE])}\n"
                'for files of another shape: layout = "table", or one of your own, '
                '"my_layout:Name"'
            )
        allowed = keys_of(self.layout)
        for key in sorted(self.model_fields_set - allowed):
            raise ValueError(
                f'layout "{self.layout}" has no key "{key}"; {suggest(key, sorted(allowed))}'
            )
        if self.time_format is not None:
            require_time_format(self.time_format)
        if self.user == self.item:
            raise ValueError(f'user and item are both the column "{self.user}"')
        conditions(self.where)
        if self.layout == TABLE and self.events is None:
            raise ValueError('layout "table" needs events = "the file with the event log"')
        return self

    @property
    def least(self) -> tuple[int, int]:
        """How many events a user and an item must have."""
        return self.min_user_events, self.min_item_events

    @property
    def cap(self) -> Cap:
        """How much each of the files may unpack to."""
        if self.max_unpacked_gb is None:
            return OWN
        most = int(self.max_unpacked_gb * 1e9)
        return replace(OWN, free=most, most=most)

    def folder(self, of_config: Path) -> Path | str:
        """Return the folder of the files; text, as it was given, where Spark alone can read it."""
        if is_remote(self.path):
            return self.path
        folder = of_config / self.path
        plain = Path(os.path.normpath(folder))
        # Behind a link ".." is the folder above the one that the link leads to.
        return plain if plain.resolve() == folder.resolve() else folder.resolve()

    def table_layout(self, of_config: Path, valid: str | None = None) -> Layout:
        """Return the layout of any log; `valid` names a second one, with the events to evaluate."""
        folder = self.folder(of_config)
        users = self._attributes(folder, "users", self.users, self.user)
        items = self._attributes(folder, "items", self.items, self.item)
        events = [self._log(folder, paths_of(self.events or "")[-1])]
        if valid is not None:
            events.append(replace(self._log(folder, valid), valid=True))
        return Layout(name=TABLE, events=tuple(events), users=users, items=items)

    def _log(self, folder: Path | str, file: str) -> EventTable:
        rows = (self.rows,) if isinstance(self.rows, str) else tuple(self.rows or ())
        table = replace(
            Table.within(folder, file),
            rows=rows,
            key="events",
            quote=self.quote,
            escape=self.escape,
            drop_bad_lines=self.bad_lines == "drop",
        )
        table = _as_written(table, file, self.separator, self.header, self.encoding)
        time, time_format = self.time or None, self.time_format or "iso"
        return EventTable(table, self.user, self.item, time, time_format=time_format)

    def _attributes(
        self, folder: Path | str, key: str, config: str | TableConfig | None, id: str
    ) -> AttributeTable | None:
        """Return a table of users or items; what it does not say is as the events have it."""
        if config is None:
            return None
        if isinstance(config, str):
            config = TableConfig.model_construct(file=config)  # "$$" in a path counts once
        inherits = config.quote is None and config.escape is None
        table = replace(
            Table.within(folder, config.file),
            key=key,
            quote=self.quote if inherits else config.quote is not False,
            escape=self.escape if inherits else config.escape or "",
            inherits_quote=inherits,
        )
        header = True if config.header is None else config.header
        table = _as_written(table, config.file, config.separator, header, config.encoding)
        return AttributeTable(table, id if config.id is None else config.id)


_KEYS_OF_ALL = {
    *("layout", "path", "cache", "max_unpacked_gb", "time_format"),
    *("kind", "value", "where", "min_user_events", "min_item_events"),
}
_RESTORE = "restore_zeros"


def keys_of(layout: str) -> set[str]:
    """Return the keys that ``[data]`` may have with a layout."""
    if layout == TABLE:
        return set(DataConfig.model_fields) - {_RESTORE}
    declared = BUILT_IN.get(layout)
    may_restore = declared is None or declared.id_width is not None
    return _KEYS_OF_ALL | {_RESTORE} if may_restore else _KEYS_OF_ALL


class EvaluationConfig(Section):
    """``[evaluation]``: which users are evaluated, what counts as a hit, the metrics."""

    k: Annotated[int, Field(ge=1, lt=2**31)] = 12
    users: Literal["seen", "all"] = "seen"
    require_hit: bool = True
    hits: Annotated[list[str], Field(min_length=1)] | None = None
    truth: Literal["all", "candidates"] = "all"
    seen_items: Literal["keep", "drop"] = "keep"
    candidates: CandidateRule | None = None
    metrics: list[str] = []
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 42


class SubmissionConfig(Section):
    """``[submission]``: what the competition's files look like, where no layout says it."""

    sample: PathOrFalse | None = None
    user: str | None = None
    items: str | None = None
    separator: Literal[" ", ",", ";", "|"] | None = None
    item_digits: Annotated[int, Field(ge=0, le=64)] = 0
    ids: Literal["exact"] | None = None


class SubmissionOnly(Section):
    """A config without data: the form of submissions that are scored against a solution file."""

    submission: SubmissionConfig
    folder: Annotated[Path, Field(exclude=True)] = Path()


class CompareConfig(Section):
    """``[compare]``: how models are compared with each other."""

    baseline: str | None = None
    correction: Literal["holm", "bh"] = "holm"
    resamples: Annotated[int, Field(ge=100, le=1_000_000)] = 10_000
    public_shares: list[Annotated[float, Field(gt=0, lt=1)]] = [0.01, 0.3]
    slices: list[str] = []


class TuneConfig(Section):
    """``[tune]``: how the models that have a `space` are tuned, on an inner split of train."""

    trials: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    search: SearchName = "random"
    metric: str | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    split: Annotated[InnerSplit, Field(discriminator="strategy")] | None = None


class Config(Section):
    """A whole config; relative paths in it start at `folder`, the config file's own.

    Attributes
    ----------
    fold : int
        Of the config of a fold: how many windows, or files, stand after its own.
    file : str
        Its name in messages: the path of a config file.
    given : Given
        What was given in Python, and is in no file.
    """

    data: DataConfig
    split: Annotated[SplitConfig, Field(discriminator="strategy")]
    evaluation: EvaluationConfig = EvaluationConfig()
    submission: SubmissionConfig = SubmissionConfig()
    compare: CompareConfig = CompareConfig()
    tune: TuneConfig = TuneConfig()
    models: Annotated[list[ModelConfig], Field(min_length=1)]
    folder: Annotated[Path, Field(exclude=True)] = Path()
    fold: Annotated[int, Field(exclude=True)] = 0
    file: Annotated[str, Field(exclude=True)] = "config"
    given: Annotated[InstanceOf[Given], Field(exclude=True)] = Given()

    @model_validator(mode="after")
    def _consistent(self) -> Config:
        names = [m.name for m in self.models]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f'[[models]]: two models are named "{name}"; name each once')
        require_base_models({model.name: model.of for model in self.models})
        baseline = self.compare.baseline
        if baseline is not None and baseline not in names:
            raise ValueError(
                f'[compare] baseline: no model is named "{baseline}"; {suggest(baseline, names)}'
            )
        if isinstance(self.split, GivenSplit) and self.data.layout != TABLE:
            raise ValueError('[split] strategy "given" goes with layout "table" only')
        if self.data.time is False and not isinstance(self.split, GivenSplit):
            raise ValueError('[data] time = false goes with [split] strategy "given" only')
        self._require_files_of_folds()
        if self.data.time is False and self.tune.split is not None:
            raise ValueError(
                "[tune] split needs times, and [data] time = false says there are none"
            )
        return self

    def _require_files_of_folds(self) -> None:
        """Raise ValueError where keys that name a file a fold name too few, or one twice."""
        files_of = {
            f'[[models]] "{model.name}" lists': paths_of(model.lists)
            for model in self.models
            if model.lists
        }
        if isinstance(self.split, GivenSplit):
            valid = paths_of(self.split.valid)
            if len(set(valid)) < len(valid):
                raise ValueError("[split] valid names a file twice; each fold needs its own events")
            files_of["[data] events"] = paths_of(self.data.events or "")
        elif isinstance(self.data.events, list):
            raise ValueError(
                "[data] events names several files, one a fold, which goes with [split] strategy "
                '"given" only; for one log in several files name a folder or a pattern'
            )
        for key, files in files_of.items():
            if len(files) != self.n_folds:
                folds = counted(self.n_folds, "fold", "folds")
                raise ValueError(
                    f"{key} names {counted(len(files), 'file')} for {folds}; name one a fold, the "
                    "earliest first"
                )

    @model_validator(mode="after")
    def _metrics_there_are(self) -> Config:
        from harness.metrics import parse  # numpy is slow to import

        k = self.evaluation.k
        metrics = [("[evaluation] metrics", text) for text in self.evaluation.metrics]
        metrics += [("[tune] metric", self.tune.metric)] if self.tune.metric else []
        for where, text in metrics:
            try:
                metric = parse(text, self.folder)
            except UsageError as error:
                raise ValueError(f"{where}: {error}") from error
            cut_off = metric.k or 1
            if metric.graded and not self.graded:
                raise ValueError(
                    f"{where}: {text} needs grades, which these events do not have; name a column "
                    "of numbers with [data] value, or leave gain out"
                )
            if cut_off > k:
                raise ValueError(
                    f"{where}: {text} looks at {cut_off} positions, but k = {k}; "
                    f"set k = {cut_off} or a smaller cut-off"
                )
        return self

    @property
    def is_file(self) -> bool:
        """Whether a file says it, and no program."""
        return self.file != IN_PYTHON

    @property
    def n_folds(self) -> int:
        """How many evaluation sets there are."""
        return self.split.folds if isinstance(self.split, TimeSplit | GivenSplit) else 1

    def folds(self) -> tuple[Config, ...]:
        """Return one config a fold, as a run of its own takes it; the earliest first."""
        if self.n_folds == 1 and not isinstance(self.split, GivenSplit):
            return (self,)
        folds = []
        for fold, back in enumerate(reversed(range(self.n_folds))):
            update: dict[str, Any] = {"fold": back}
            if isinstance(self.split, TimeSplit):
                update["split"] = self.split.earlier(back)
            elif isinstance(self.split, GivenSplit):
                valid = paths_of(self.split.valid)[fold]
                events = paths_of(self.data.events or "")[fold]
                update["split"] = self.split.model_copy(update={"valid": valid})
                update["data"] = self.data.model_copy(update={"events": events})
            update["models"] = [
                m.model_copy(update={"lists": paths_of(m.lists)[fold]}) if m.lists else m
                for m in self.models
            ]
            folds.append(self.model_copy(update=update))
        return tuple(folds)

    @property
    def graded(self) -> bool:
        """Whether true items have grades: the values of their events."""
        return self.layout().has_values

    def layout(self, inner: SplitConfig | None = None) -> Layout:
        """Return the layout that ``[data]`` and ``[split]`` describe, and an inner split of train.

        Of several folds it is that of the last, which commands take that ask for one. Rows are
        numbered where either of the splits orders events by them.
        """
        layout = self._layout().capped(self.data.cap).holding(self.given.frames)
        ties = [getattr(rule, "ties", None) for rule in (self.split, inner)]
        columns = {"kind": self.data.kind, "value": self.data.value}
        named = {key: column for key, column in columns.items() if column is not None}
        layout = layout.with_events(numbered="file" in ties, **named)
        return layout.with_conditions(conditions(self.data.where))

    def _layout(self) -> Layout:
        name = self.data.layout
        if name == TABLE:
            valid = paths_of(self.split.valid)[-1] if isinstance(self.split, GivenSplit) else None
            return self.data.table_layout(self.folder, valid)
        layout = BUILT_IN.get(name) or plugged_in(name, self.folder)
        layout = layout.within(self.data.folder(self.folder))
        if self.data.time_format is not None:
            layout = layout.with_times(self.data.time_format)
        if not self.data.restore_zeros:
            return layout
        if layout.id_width is None:
            raise UsageError(f'[data] restore_zeros: layout "{name}" does not say how long ids are')
        return replace(layout, restore_zeros=True)

    def resolved(self) -> dict[str, Any]:
        """Return plain values that repeat the run from any folder: defaults in, paths absolute."""
        values = self.model_dump(exclude_none=True)
        keys = keys_of(self.data.layout)
        values["data"] = {key: v for key, v in values["data"].items() if key in keys}
        if self.n_folds == 1:
            values["split"].pop("folds", None)
        return self._placed(values)

    def written(self, folder: Path) -> dict[str, Any]:
        """Return plain values as they were given, for a config file in `folder`."""
        values = self.model_dump(exclude_unset=True)
        return values if folder.resolve() == self.folder.resolve() else self._placed(values)

    def _placed(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the config's plain values with its relative paths made absolute, in place."""
        values["data"]["layout"] = self.from_anywhere(self.data.layout)
        if not is_remote(self.data.path):
            values["data"]["path"] = escaped(self._whole(self.data.path))
        if self.submission.sample:
            values["submission"]["sample"] = escaped(self._whole(self.submission.sample))
        for settings, model in zip(self.models, values["models"], strict=True):
            if settings.use is not None:
                model["use"] = self.from_anywhere(settings.use)
            else:
                lists = [escaped(path) for path in self.lists_of(settings.name)]
                model["lists"] = lists if isinstance(settings.lists, list) else lists[0]
        evaluation, tune = values.get("evaluation", {}), values.get("tune", {})
        if "metrics" in evaluation:
            evaluation["metrics"] = [self.from_anywhere(text) for text in evaluation["metrics"]]
        if "metric" in tune:
            tune["metric"] = self.from_anywhere(tune["metric"])
        return values

    def lists_of(self, name: str) -> list[str]:
        """Return the whole paths of a model's files of lists, one a fold; none of a class."""
        model = next(model for model in self.models if model.name == name)
        paths = paths_of(model.lists or [])
        return [path if is_given(path) else self._whole(path) for path in paths]

    def _whole(self, path: str) -> str:
        return str((self.folder / path).resolve())

    def from_anywhere(self, use: str) -> str:
        """Return ``module:name…`` with the path of a file beside the config written out."""
        module, colon, name = use.partition(":")
        if is_given(use):
            return use
        file = self.folder / f"{module.removesuffix('.py')}.py"
        return f"{file.resolve()}:{name}" if colon and file.is_file() else use
