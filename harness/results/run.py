"""A run: its record and its tables, just made or read back, shown and written alike."""

from __future__ import annotations

import json
import logging
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from pydantic import ValidationError

from harness.config import Config
from harness.config import read as read_config
from harness.core.errors import DataError, UsageError, printable, suggest
from harness.core.io import as_path, whole_folder, written
from harness.core.progress import doing, stopwatch
from harness.core.table import Sheet, Shown
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable
from harness.protocol.task import asked
from harness.results import folder as run_folder
from harness.results.folder import FOLD, PER_USER, RECOMMENDATIONS, USERS, check_out, part
from harness.results.record import Evaluation, FailedModel, ModelRecord, RunRecord, fault_of
from harness.results.tables import FolderTables, RunTables
from harness.results.wording import folds_sheet, model_row, models_sheet, pairs_sheet
from harness.stats.folds import values_of
from harness.stats.pairwise import Comparison

if TYPE_CHECKING:
    import pandas as pd

    from harness.core.arrays import Floats
    from harness.results.plots import Plots

_log = logging.getLogger(__name__)

_GROUP = 1 << 18  # rows of a group in a table: threads write groups side by side
_KEYS = (FOLD, "model", "repeat", "user")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Run(Shown):
    """Models evaluated on an evaluation set, or on several: what `harness.run` returns.

    One that `read` returns has the same; its tables are read when they are asked for.

    Attributes
    ----------
    record : RunRecord
        What result.json holds; models stand best first.
    tables : RunTables or FolderTables, optional
        Scores, lists and users of one evaluation set, or all that a folder holds; None where folds
        have their own, and where only Spark's workers have them.
    resolved : mapping, optional
        The config with every default, of a run just made; see `config`.
    parts : tuple of Run
        Each of several folds as a run of its own, the earliest first; see `folds`.
    start : str
        The date on which the window of a run just made starts, for the name of its folder.
    write_tables : callable, optional
        What writes tables that no process holds: takes a folder and names of files, and returns
        where they are, if that is not in the folder.
    """

    record: RunRecord
    tables: RunTables | FolderTables | None = None
    resolved: Mapping[str, Any] | None = None
    parts: tuple[Run, ...] = ()
    start: str = ""
    write_tables: Callable[[Path, Sequence[str]], str | None] | None = None

    @property
    def evaluation(self) -> Evaluation:
        """What the models were evaluated on."""
        return self.record.evaluation

    @property
    def models(self) -> tuple[ModelRecord, ...]:
        """The models that have scores, best first."""
        return self.record.models

    @property
    def failed(self) -> tuple[FailedModel, ...]:
        """Models without scores; the others are compared as if these were not there."""
        return self.record.failed

    @property
    def comparison(self) -> Comparison | None:
        """Every pair of models, on the first metric; None for a single model or user."""
        return self.record.comparison

    @property
    def pairs(self) -> pd.DataFrame:
        """One row a pair of models, in full precision; none for a single model or user."""
        import pandas as pd

        return pd.DataFrame() if self.comparison is None else self.comparison.to_pandas()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out or looked odd."""
        return self.record.notes

    @property
    def folds(self) -> tuple[Run, ...]:
        """Its evaluation sets, each as a run of its own; of a run of one, itself alone."""
        return self.parts or (self,)

    # The folder.

    @property
    def folder(self) -> Path:
        """Where it was read from; one that was just made has none."""
        return self._folder_tables.folder

    @property
    def again(self) -> str:
        """The next step where a run cannot be used as it is."""
        return run_folder.again(self.folder)

    @cached_property
    def environment(self) -> dict[str, str]:
        """The versions of everything, and when the run was written."""
        return run_folder.environment(self.folder)

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """The resolved config, as config.toml has it."""
        if self.resolved is not None:
            return self.resolved
        path = part(self.folder, "config.toml")
        try:
            return tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise DataError(f"{path}: not the config of a run ({error})") from error

    @cached_property
    def settings(self) -> Config:
        """The config of a run folder, to evaluate by."""
        return read_config(part(self.folder, "config.toml"))

    # Its metrics.

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """The metrics by the names that the table gives them.

        A function in a file beside the config is named from there; here it is found from anywhere.
        """
        tables = self.folds[0].tables
        if isinstance(tables, RunTables):
            return {str(metric): metric for metric in next(iter(tables.tables.values())).values}
        names, metrics = list(self.models[0].metrics), asked(self.settings)
        if len(metrics) != len(names):
            raise DataError(f"{self.folder}/config.toml: has other metrics than result.json")
        known = dict(zip(names, metrics, strict=True))
        for name, metric in known.items():
            now, then = metric.definition.better, self.record.better(name)
            if then not in (None, now):
                raise DataError(
                    f"{self.folder}: in its result {then} is better by {name}, and its function "
                    f"now says {now}; {self.again}"
                )
        return known

    @property
    def user_metrics(self) -> dict[str, Metric]:
        """Those that have a value for each user."""
        return {name: m for name, m in self.metrics.items() if m.definition.of == "user"}

    def name_of(self, metric: Metric) -> str:
        """Return what the table calls a metric."""
        return next((name for name, known in self.metrics.items() if known == metric), str(metric))

    @property
    def changed_metrics(self) -> dict[Metric, str]:
        """The user's own metrics whose source is known to be another one now, by their names."""
        return {
            metric: name
            for name, metric in self.metrics.items()
            if len({self.record.digest_of(name), metric.definition.digest} - {None}) > 1
        }

    def source_notes(self, metrics: Collection[Metric]) -> tuple[str, ...]:
        """Return notes on metrics whose source changed, where lists of the run are scored now."""
        end = "its code has changed since this run; the scores here use the new code"
        return tuple(f"{name}: {end}" for m, name in self.changed_metrics.items() if m in metrics)

    # Its tables.

    @property
    def _tables(self) -> RunTables | FolderTables:
        if self.tables is None:
            raise UsageError("the scores and lists of this run are in its folds, or with Spark")
        return self.tables

    @property
    def _folder_tables(self) -> FolderTables:
        if not isinstance(self.tables, FolderTables):
            raise UsageError(
                'this run is not in a folder; write it first, as in result.write("one")'
            )
        return self.tables

    @property
    def user_ids(self) -> pl.Series:
        """The evaluated users of one evaluation set, in id order."""
        return self._tables.user_ids

    @property
    def users(self) -> pl.DataFrame:
        """Who the evaluated users are (`harness.protocol.users`), with their fold of several."""
        return self.table(USERS)

    @cached_property
    def scores(self) -> dict[str, ScoreTable]:
        """The scores of every model by every metric of users, of one evaluation set."""
        metrics, users, scores = self.user_metrics, len(self.user_ids), dict[str, ScoreTable]()
        for model in self.models:
            rows = self.table(PER_USER, model.name)
            for name in metrics.keys() - {*rows.columns}:
                raise DataError(f"{self.folder / PER_USER}: has no column {name}; {self.again}")
            values = {m: rows[name].to_numpy().reshape(-1, users) for name, m in metrics.items()}
            scores[model.name] = ScoreTable(values)
        return scores

    def table(self, name: str, model: str | None = None) -> pl.DataFrame:
        """Return a table as a folder has it, of all models or of one; `name` is that of its file.

        Of several folds it has a column of their numbers.
        """
        frames = []
        for number, fold in enumerate(self.folds, 1):
            models = [m.name for m in fold.models if model in (None, m.name)]
            number_of_fold = [pl.lit(number, pl.Int32).alias(FOLD)] if self.parts else []
            frames.append(fold._tables.rows(name, models).with_columns(number_of_fold))
        return pl.concat(frames, how="vertical_relaxed")

    def lists_by_model(self, users: pl.Series) -> dict[str, list[list[str | None]]]:
        """Return the lists of some users, in order of id, from every model's first repeat."""
        names = [model.name for model in self.models]
        rows = self._folder_tables.rows(RECOMMENDATIONS, names, users).filter(repeat=0)
        return {name: rows.filter(model=name)["items"].to_list() for name in names}

    @doing("reading scores")
    def verify(self) -> None:
        """Raise DataError where the scores of a folder are not those of its record.

        Where Spark wrote the table elsewhere the record stands alone.
        """
        for model in self.models if (self.folder / PER_USER).exists() else ():
            self.table(PER_USER, model.name)

    def per_user(self, model: str | None = None, *, repeat: int | None = None) -> pd.DataFrame:
        """Return a row a user and a column for each metric of users, as `harness.evaluate` does.

        Users, as text, are in the index; so are model and repeat if you name no `model`, and the
        number of the fold if there are several. Without a `repeat`, from 0, values of a model are
        means over its repeats, by which models are compared.

        Raises UsageError for a model or repeat that is not there.
        """
        keys, rows = self._rows(PER_USER, model, repeat)
        if model is not None:
            rows = rows.group_by(keys, maintain_order=True).mean()
        return _pandas(rows).set_index(keys)

    def recommendations(
        self, model: str | None = None, *, repeat: int | None = None
    ) -> pd.DataFrame:
        """Return the lists, a row an item; users with an empty list have none.

        Columns are user, rank (from 1) and item, ids as text; before them stand model and repeat if
        you name no `model`, and the number of the fold if there are several. An item of a file of
        lists that the data does not know is "". Name the `repeat`, from 0, of a model with several.

        Raises UsageError for a model or repeat that is not there, or a repeat that is not named.
        """
        keys, rows = self._rows(RECOMMENDATIONS, model, repeat)
        ranks = pl.int_ranges(1, pl.col("items").list.len() + 1).alias("rank")
        listed = rows.filter(pl.col("items").list.len() > 0).with_columns(ranks)
        items = listed.explode("items", "rank").drop_nulls("items")  # empty places have none
        return _pandas(items.select([*keys, "rank", pl.col("items").alias("item")]))

    def _rows(
        self, name: str, model: str | None, repeat: int | None
    ) -> tuple[list[str], pl.DataFrame]:
        """Return a table below the names of its keys; of a model without its name and repeat."""
        if model is None:
            if repeat is not None:
                raise UsageError(f"repeat = {repeat} needs a model: name it first")
            rows = self.table(name)
        else:
            repeats = self.model_of(model, repeat or 0).repeats
            if repeat is None and repeats > 1 and name == RECOMMENDATIONS:
                raise UsageError(
                    f'model "{model}" has {repeats} repeats with different lists; choose one, '
                    "such as repeat=0"
                )
            rows = self.table(name, model)
            rows = (rows if repeat is None else rows.filter(repeat=repeat)).drop("model", "repeat")
        return [key for key in _KEYS if key in rows.columns], rows

    @cached_property
    def first_values(self) -> dict[str, Floats] | None:
        """Each model's values of the first metric, a row a repeat and a column a user.

        Of one evaluation set. They are read by their column, so that no metric of the user's own
        has to be imported. None where the metric has one value for all lists.
        """
        metric, values = self.record.metric, {}
        for model in self.models:
            rows = self.table(PER_USER, model.name)
            if metric not in rows.columns:
                return None
            values[model.name] = rows[metric].to_numpy().reshape(-1, len(self.user_ids))
        return values

    @cached_property
    def values_by_user(self) -> list[Floats] | None:
        """Each model's values of the first metric, one a user, the mean over repeats.

        None where the metric has one value for all lists.
        """
        by_fold = [fold.first_values for fold in self.folds if fold.first_values is not None]
        users = [fold.user_ids for fold in self.folds]
        if len(by_fold) < len(users):
            return None
        return [
            values_of([values[model.name].mean(axis=0) for values in by_fold], users)
            for model in self.models
        ]

    def model_of(self, name: str, repeat: int) -> ModelRecord:
        """Return the model of that name; raise UsageError where it or its repeat has no scores."""
        models = {model.name: model for model in self.models}
        for failed in self.failed:
            if failed.name == name:
                raise UsageError(
                    f'model "{name}" failed in this run and has no lists: '
                    f"{printable(' '.join(failed.says.split()))}; {suggest('', models)}"
                )
        if name not in models:
            raise UsageError(f'no model "{name}"; {suggest(str(name), models)}')
        if repeat not in range(models[name].repeats):
            last = models[name].repeats - 1
            raise UsageError(f'model "{name}" has no repeat {repeat!r}; the last is {last}')
        return models[name]

    # How it is shown and written.

    @property
    def plot(self) -> Plots:
        """The charts of the run (`harness.results.plots.Plots`), as ``result.plot.forest()``."""
        from harness.results.plots import Plots  # slow to import, as matplotlib is

        return Plots(self.record, lambda: self.values_by_user)

    def _repr_html_(self) -> str:
        from harness.results.plots import image

        chart = image(replace(self.plot, width=7.2).forest(), "Every model's mean, with chance")
        return f"{super()._repr_html_()}\n{chart}"

    def sheets(self, verbose: bool = False) -> list[Sheet]:
        """Return the tables that are printed: the models, and their scores in each fold.

        `verbose`: times and pairs as well.
        """
        record = self.record
        sheets = [models_sheet(record, verbose=verbose).filled()]
        sheets += [folds_sheet(record)] if record.folds else []
        if verbose and record.comparison is not None:
            sheets.append(pairs_sheet(record, record.comparison))
        return sheets

    def records(self) -> list[dict[str, object]]:
        """Return one record a model in full precision; of one that failed its error alone."""
        rows = [model_row(self.record, model) for model in self.models]
        blank = dict.fromkeys(rows[0])
        return rows + [blank | {"model": m.name, "error": m.says} for m in self.failed]

    def content(self) -> RunRecord:
        """Return what result.json holds."""
        return self.record

    def to_pandas(self) -> pd.DataFrame:
        """Return one row a model that has scores: repeats, metrics, intervals, lift, p, verdict.

        ``tuned`` is the number of trials that its parameters were chosen from, 0 for none.
        """
        names = list(self.models[0].metrics)
        ends = [f"{name} {end}" for name in names for end in ("low", "high", "sd_repeats")]
        order = ["repeats", "tuned", *names, *ends, "lift", "p", "verdict"]
        frame = super().to_pandas().set_index("model").iloc[: len(self.models)]
        frame = frame.rename(columns={f"{name} mean": name for name in names})
        return frame[order].astype({"lift": float, "p": float})

    @doing("writing the run folder")
    def write(self, folder: Path | str, *, recommendations: bool = True) -> None:
        """Write the run folder whole, or nothing.

        It holds result.json, per_user.parquet (per-user values), users.parquet (who the users are),
        recommendations.parquet (their lists), config.toml and environment.json (versions, and when
        it was written). Of several folds the tables have a column ``fold``. With the lists
        `harness explain`, `harness score` and `harness submit` need no model to learn again.

        Raises UsageError where `folder` exists and is no run folder, or cannot be written.
        """
        import tomli_w

        folder, took = as_path(folder, "a folder"), stopwatch()
        check_out(folder)
        names = [RECOMMENDATIONS, PER_USER, USERS] if recommendations else [PER_USER, USERS]
        with written(folder, "; choose another --out"), whole_folder(folder) as target:
            tables = (self.write_tables or self._write_tables)(target, names)
            environment = run_folder.environment_now() | ({"tables": tables} if tables else {})
            for name, text in {
                "result.json": self.to_json() + "\n",
                "config.toml": tomli_w.dumps(self.config),
                "environment.json": json.dumps(environment, indent=2) + "\n",
            }.items():
                (target / name).write_text(text, encoding="utf-8")
        _log.info("wrote the run folder, %s", took())

    def _write_tables(self, folder: Path, names: Sequence[str]) -> None:
        def write(name: str) -> None:
            self.table(name).write_parquet(
                folder / name,
                compression_level=1,
                row_group_size=_GROUP,
                statistics=name != RECOMMENDATIONS,
            )

        with ThreadPoolExecutor() as pool:  # Polars lets go of Python's lock
            list(pool.map(write, names))


def _pandas(rows: pl.DataFrame) -> pd.DataFrame:
    import pandas as pd

    plain = rows.with_columns(pl.selectors.categorical().cast(pl.String))
    return pd.DataFrame(
        {s.name: s.to_list() if s.dtype == pl.String else s.to_numpy() for s in plain}
    )


def read(folder: Path | str) -> Run:
    """Return the run in a folder, whose tables are read when they are asked for.

    Raises UsageError or DataError where there is no such folder, or it holds no run.
    """
    folder = as_path(folder, "a run's folder")
    path = part(folder, "result.json")
    try:
        record = RunRecord.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        fault = fault_of(error) if isinstance(error, ValidationError) else error
        raise DataError(f"{path}: not the result of harness run: {fault}") from error
    files = dict[str, pl.DataFrame]()
    tables = FolderTables(folder, record, None, files)
    parts = [
        Run(record=fold, tables=FolderTables(folder, fold, number, files))
        for number, fold in enumerate(record.folds, 1)
    ]
    return Run(record=record, tables=tables, parts=tuple(parts))
