"""The sections of a config and their keys: the one place for what each may be."""

from __future__ import annotations

import os
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, InstanceOf, Tag, model_validator

from harness.config.paths import (
    FileText,
    PathOrFalse,
    PathText,
    PathTexts,
    Section,
    escaped,
    paths_of,
)
from harness.config.space import SearchName, Space, TunedRecord
from harness.config.splits import GivenSplit, InnerSplit, SplitConfig, TimeSplit
from harness.core.errors import UsageError, counted, suggest
from harness.core.given import Given, is_given
from harness.core.params import MOST_TRIALS
from harness.core.unpacking import OWN, Cap
from harness.data.conditions import conditions
from harness.data.layout import (
    BadLines,
    CandidateRule,
    Encoding,
    Escape,
    Layout,
    Name,
    Separator,
    TimeFormat,
    declared,
    is_remote,
)
from harness.data.layouts import BUILT_IN, plugged_in


class TableConfig(Section):
    """A table of users or items that is written otherwise than as CSV with the events' columns."""

    file: FileText
    id: Name | None = None
    separator: Separator | None = None
    header: list[str] | None = None
    encoding: Encoding = "utf-8"
    quote: bool | None = None
    escape: Escape | None = None


_TableName = Annotated[
    Annotated[FileText, Tag("name")] | Annotated[TableConfig, Tag("table")],
    Discriminator(lambda value: "name" if isinstance(value, str) else "table"),
]
IN_PYTHON = "harness.run"  # what a config is called that was made in Python
TABLE = "table"  # the layout of any log, whose files and columns a config names


def _meant(where: dict[str, Any]) -> dict[str, Any]:
    """Return conditions as they are written; ValueError where one is none."""
    conditions(where)
    return where


class DataConfig(Section):
    """``[data]``: where the files are and how they become events."""

    layout: str
    path: PathText
    name: Name | None = None
    restore_zeros: bool = False
    cache: bool = True
    max_unpacked_gb: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    events: PathTexts | None = None
    user: Name = "user"
    item: Name = "item"
    time: Name | Literal[False] = "time"
    time_format: TimeFormat | None = None
    separator: Separator | None = None
    header: bool | list[str] = True
    kind: Name | None = None
    value: Name | None = None
    where: Annotated[dict[str, Any], AfterValidator(_meant)] = {}
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
                f"layout = {self.layout!r}; {suggest(self.layout, [*BUILT_IN, TABLE])}\nfor "
                'other files, set layout = "table", or write a layout: "my_layout:Name"'
            )
        allowed = keys_of(self.layout)
        for key in sorted(self.model_fields_set - allowed):
            raise ValueError(
                f'layout "{self.layout}" has no key "{key}"; {suggest(key, sorted(allowed))}'
            )
        if self.user == self.item:
            raise ValueError(f'user and item are both the column "{self.user}"')
        if self.layout == TABLE and self.events is None:
            raise ValueError('layout "table" needs events = "FILE", the log of events')
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
        log = {
            "user": self.user,
            "item": self.item,
            "time": self.time or None,
            "time_format": self.time_format or "iso",
            "bad_lines": self.bad_lines,
            "rows": [self.rows] if isinstance(self.rows, str) else self.rows or [],
        }
        events = [log | self._text("events", paths_of(self.events or "")[-1], self)]
        if valid is not None:
            events.append(log | self._text("events", valid, self) | {"valid": True})
        layout = {
            "name": TABLE,
            "events": events,
            "users": self._attributes("users", self.users, self.user),
            "items": self._attributes("items", self.items, self.item),
        }
        return declared(layout).within(self.folder(of_config))

    def _attributes(
        self, key: str, config: str | TableConfig | None, id: str
    ) -> dict[str, Any] | None:
        if config is None:
            return None
        if isinstance(config, str):
            config = TableConfig.model_construct(file=config)  # "$$" in a path counts once
        return self._text(key, config.file, config) | {"id": config.id or id}

    def _text(self, key: str, file: str, text: DataConfig | TableConfig) -> dict[str, Any]:
        """Return how a table's text is written; its quotes by default as those of the events."""
        inherits = text.quote is None and text.escape is None
        header = True if text.header is None else text.header
        if not header:
            place = "header" if key == "events" else f"{key}.header"
            raise UsageError(
                f"[data] {place}: a file without a header line needs its column names, "
                'such as header = ["user", "item", "rating", "time"]'
            )
        return {
            "file": file,
            "key": key,
            "separator": text.separator or ("\t" if ".tsv" in file.lower() else ","),
            "header": None if header is True else header,
            "encoding": text.encoding,
            "quote": self.quote if inherits else text.quote is not False,
            "escape": self.escape if inherits else text.escape or "",
            "inherits_quote": inherits,
        }


_KEYS_OF_ALL = {
    *("layout", "path", "name", "cache", "max_unpacked_gb", "time_format"),
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


class ModelConfig(Section):
    """``[[models]]``: a recommender by import path, or precomputed recommendations."""

    name: Annotated[str, Field(min_length=1)]
    use: str | None = None
    lists: PathTexts | None = None  # the file of recommendations, instead of a class; or one a fold
    of: Annotated[list[str], Field(min_length=1)] | None = None  # base models, for its `models`
    params: dict[str, Any] = {}
    repeats: Annotated[int, Field(ge=1)] = 1
    space: Space = {}
    tuned: TunedRecord | None = None

    @property
    def base_models(self) -> list[str]:
        """The models that an ensemble is made of."""
        return self.of or []

    @model_validator(mode="after")
    def _a_class_or_lists(self) -> ModelConfig:
        if self.use is None and self.lists is None:
            raise ValueError(
                'needs the key "use", or "lists" with a file of precomputed recommendations'
            )
        if self.use is not None and self.lists is not None:
            raise ValueError('has both "use" and "lists"; remove one')
        for key in ("of", "params", "repeats", "space", "tuned") if self.lists is not None else ():
            if getattr(self, key) != type(self).model_fields[key].default:
                raise ValueError(
                    f'has precomputed recommendations, so it takes no "{key}"; remove it'
                )
        if self.of is not None and "models" in self.params:
            raise ValueError(
                'names its base models twice; name them in of only, and remove "models" from params'
            )
        return self


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
    file: Annotated[str, Field(exclude=True)] = "config"


class CompareConfig(Section):
    """``[compare]``: how models are compared with each other."""

    baseline: str | None = None
    correction: Literal["holm", "bh"] = "holm"
    resamples: Annotated[int, Field(ge=100, le=1_000_000)] = 10_000
    public_shares: list[Annotated[float, Field(gt=0, lt=1)]] = [0.01, 0.3]
    slices: list[str] = []


class TuneConfig(Section):
    """``[tune]``: how the models that have a `space` are tuned, on an inner split of train."""

    trials: Annotated[int, Field(ge=1, le=MOST_TRIALS)] | None = None
    search: SearchName = "random"
    metric: str | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    split: Annotated[InnerSplit, Field(discriminator="strategy")] | None = None


class Config(Section):
    """A whole config; relative paths in it start at `folder`, the config file's own."""

    data: DataConfig
    split: Annotated[SplitConfig, Field(discriminator="strategy")]
    evaluation: EvaluationConfig = EvaluationConfig()
    submission: SubmissionConfig = SubmissionConfig()
    compare: CompareConfig = CompareConfig()
    tune: TuneConfig = TuneConfig()
    models: Annotated[list[ModelConfig], Field(min_length=1)]
    folder: Annotated[Path, Field(exclude=True)] = Path()
    fold: Annotated[int, Field(exclude=True)] = 0  # of several: how many stand after this one
    file: Annotated[str, Field(exclude=True)] = "config"  # its name in messages
    given: Annotated[InstanceOf[Given], Field(exclude=True)] = Given()  # objects in Python

    @model_validator(mode="after")
    def _consistent(self) -> Config:
        names = [m.name for m in self.models]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(
                    f'[[models]]: two models have the name "{name}"; give each its own name'
                )
        self._require_base_models()
        baseline = self.compare.baseline
        if baseline is not None and baseline not in names:
            raise ValueError(
                f'[compare] baseline: no model has the name "{baseline}"; '
                f"{suggest(baseline, names)}"
            )
        if isinstance(self.split, GivenSplit) and self.data.layout != TABLE:
            raise ValueError('[split] strategy "given" works with layout "table" only')
        if self.data.time is False and not isinstance(self.split, GivenSplit):
            raise ValueError('[data] time = false works with [split] strategy "given" only')
        self._require_files_of_folds()
        if self.data.time is False and self.tune.split is not None:
            raise ValueError(
                "[tune] split needs times, but [data] time = false says that there are none"
            )
        return self

    def _require_base_models(self) -> None:
        """Raise ValueError where base models are unknown, or a model is its own."""
        base_models = {model.name: model.base_models for model in self.models}
        for name, bases in base_models.items():
            for base in bases:
                if base not in base_models:
                    near = suggest(base, [other for other in base_models if other != name])
                    raise ValueError(
                        f'[[models]] "{name}" of: no model has the name "{base}"; {near}'
                    )
        try:
            TopologicalSorter(base_models).prepare()
        except CycleError as error:
            circle = " is a base model of ".join(f'"{name}"' for name in error.args[1])
            raise ValueError(
                f"[[models]] of: {circle}; a model cannot be its own base model"
            ) from error

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
                raise ValueError("[split] valid names a file twice; each fold needs its own file")
            files_of["[data] events"] = paths_of(self.data.events or "")
        elif isinstance(self.data.events, list):
            raise ValueError(
                "[data] events names several files, one per fold; this works with [split] "
                'strategy "given" only. If one log is in several files, name a folder or a '
                "pattern"
            )
        for key, files in files_of.items():
            if len(files) != self.n_folds:
                folds = counted(self.n_folds, "fold", "folds")
                raise ValueError(
                    f"{key} names {counted(len(files), 'file')} for {folds}; name one file per "
                    "fold, the earliest first"
                )

    @model_validator(mode="after")
    def _metrics_there_are(self) -> Config:
        from harness.metrics import each_once, parse  # numpy is slow to import

        k = self.evaluation.k
        metrics = [("[evaluation] metrics", text) for text in self.evaluation.metrics]
        metrics += [("[tune] metric", self.tune.metric)] if self.tune.metric else []
        parsed = []
        for where, text in metrics:
            try:
                metric = parse(text, self.folder)
                parsed.append(metric)
                each_once(parsed)
            except UsageError as error:
                raise ValueError(f"{where}: {error}") from error
            cut_off = metric.k or 1
            if metric.graded and not self.graded:
                raise ValueError(
                    f"{where}: {text} needs grades, but these events have none; name a column of "
                    "numbers as [data] value, or remove gain"
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
    def by_name(self) -> dict[str, ModelConfig]:
        """The models by their names, in their order."""
        return {model.name: model for model in self.models}

    @property
    def n_folds(self) -> int:
        """How many evaluation sets there are."""
        return getattr(self.split, "folds", 1)

    def folds(self) -> tuple[Config, ...]:
        """Return one config a fold, as a run of its own takes it; the earliest first."""
        if self.n_folds == 1 and not isinstance(self.split, GivenSplit):
            return (self,)  # which may be one fold of several, with the draws of that one
        return tuple(map(self._fold, range(self.n_folds)))

    def _fold(self, number: int) -> Config:
        back, split, data = self.n_folds - 1 - number, self.split, self.data
        if isinstance(split, TimeSplit):
            split = split.earlier(back)
        elif isinstance(split, GivenSplit):
            split = split.model_copy(update={"valid": paths_of(split.valid)[number]})
            data = data.model_copy(update={"events": paths_of(data.events or "")[number]})
        models = [
            m.model_copy(update={"lists": paths_of(m.lists)[number]}) if m.lists else m
            for m in self.models
        ]
        update = {"fold": back, "split": split, "data": data, "models": models}
        return self.model_copy(update=update)

    @property
    def graded(self) -> bool:
        """Whether true items have grades: the values of their events."""
        return self.layout().has_values

    def layout(self, inner: SplitConfig | None = None) -> Layout:
        """Return the layout that ``[data]`` and ``[split]`` describe, and an inner split of train.

        Of several folds it is that of the last, which commands take that ask for one. Rows are
        numbered where either of the splits orders events by them.
        """
        ties = [getattr(rule, "ties", None) for rule in (self.split, inner)]
        data, cap, frames = self.data, self.data.cap, self.given.frames
        more = conditions(data.where)
        layout = self._layout().with_each(
            lambda table: replace(table, cap=cap, frame=frames.get(table.file))
        )
        events = (
            replace(
                table,
                numbered="file" in ties,
                kind=data.kind or table.kind,
                value=data.value or table.value,
                where=tuple({one.column: one for one in (*table.where, *more)}.values()),
            )
            for table in layout.events
        )
        return replace(layout, events=tuple(events))

    def _layout(self) -> Layout:
        name = self.data.layout
        if name == TABLE:
            valid = paths_of(self.split.valid)[-1] if isinstance(self.split, GivenSplit) else None
            return self.data.table_layout(self.folder, valid)
        layout = BUILT_IN.get(name) or plugged_in(name, self.folder)
        layout = layout.within(self.data.folder(self.folder))
        if self.data.time_format is not None:
            time_format = self.data.time_format
            layout = layout.with_each(lambda table: replace(table, time_format=time_format))
        if not self.data.restore_zeros:
            return layout
        if layout.id_width is None:
            raise UsageError(
                f'[data] restore_zeros: layout "{name}" does not set the length of ids'
            )
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
                lists = [escaped(path) for path in self.list_files(settings.name)]
                model["lists"] = lists if isinstance(settings.lists, list) else lists[0]
        evaluation, tune = values.get("evaluation", {}), values.get("tune", {})
        if "metrics" in evaluation:
            evaluation["metrics"] = [self.from_anywhere(text) for text in evaluation["metrics"]]
        if "metric" in tune:
            tune["metric"] = self.from_anywhere(tune["metric"])
        return values

    def list_files(self, name: str) -> list[str]:
        """Return the whole paths of a model's files of lists, one a fold; none of a class."""
        paths = paths_of(self.by_name[name].lists or [])
        return [path if is_given(path) else self._whole(path) for path in paths]

    def _whole(self, path: str) -> str:
        return str((self.folder / path).resolve())

    def from_anywhere(self, use: str) -> str:
        """Return ``module:name…`` with the path of a file beside the config written out."""
        module, colon, name = use.partition(":")
        if is_given(use):
            return use
        file = self.folder / f"{module.removesuffix('.py')}.py"
        if not (colon and file.is_file()):
            return use
        return f"{file.parent.resolve() / file.name}:{name}"  # a link keeps the name that is shown
