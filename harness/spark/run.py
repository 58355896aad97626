"""`harness run` on Spark: users in buckets that its workers hold, evaluated by the local code."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from harness.config import Config, GivenSplit, read
from harness.core.errors import DataError, UsageError
from harness.core.io import as_path
from harness.core.progress import Observer
from harness.core.sources import BESIDE
from harness.data.dataset import Dataset
from harness.evaluation.answers import Answers
from harness.evaluation.assemble import assemble
from harness.evaluation.build import Factories
from harness.evaluation.finished import Finished
from harness.evaluation.fold import Failures, Fold
from harness.evaluation.part import Content, EvaluatedPart, describing, evaluate_part
from harness.evaluation.parts import Learner, learn, of_all_events
from harness.protocol.task import asked, refuse_rows_without_order
from harness.protocol.users import OWN, of_events, with_attributes
from harness.results.folder import PER_USER, RECOMMENDATIONS, TABLES, USERS
from harness.results.run import Run
from harness.spark.population import SparkParts, in_buckets
from harness.spark.session import session, spark_errors
from harness.stats.slices import USER

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


def evaluate_parts(
    config: Config,
    parts: SparkParts[Dataset],
    data: Dataset,
    observer: Observer,
    *,
    fail_fast: bool = False,
) -> tuple[Run, SparkParts[EvaluatedPart]]:
    """Evaluate the models of a config where no process has all users; tables are in the parts.

    Each part has users of whole leaves (`harness.core.random.leaf_of`); `data` has no user.
    """
    metrics, failures = asked(config), Failures(fail_fast)
    fold = Fold(config, metrics, failures, observer, Finished(config, fresh=True, background=None))
    plan, learners = learn(fold, data, parts.total)
    with observer.step("fit", "fitting"):
        catalogue = plan.catalogue((*metrics, *describing(config.evaluation.k)), parts.total)

    def evaluated_part(part: Dataset) -> Content:
        """Ask the models for the lists of a part's users, and score them; return what is kept."""
        task, repeats = plan.task(part), dict[str, list[Learner]]()
        for learner in learners:
            if learner.name not in failures.errors:
                repeats.setdefault(learner.name, []).append(learner)

        def answers(name: str) -> list[Answers]:
            return [learner.ask(task) for learner in repeats[name]]

        return evaluate_part(
            task,
            with_attributes(of_events(task), task, config.compare.slices),
            [(name, partial(answers, name)) for name in repeats],
            metrics,
            catalogue,
            failures.copy(),  # what fails here fails for this part; all parts are asked
            {name: Observer() for name in repeats},
        ).content(metrics)

    with observer.step("evaluate", "evaluating all parts"):
        candidate_ids = data.item_ids.gather(plan.candidates)
        opened = partial(EvaluatedPart.opened, metrics, candidate_ids)
        evaluated = parts.kept(evaluated_part, opened)
    observer.log(f"evaluated all parts, {observer.seconds['evaluate']:.1f} s")
    run = assemble(fold, plan.data, plan.split, candidate_ids, evaluated.total)
    return run, evaluated


def _refuse_models(config: Config) -> None:
    """Raise UsageError where a model cannot be fitted and asked part by part."""
    models = Factories(config).make([model.name for model in config.models])
    if refused := of_all_events([models]):
        raise UsageError(
            f"{refused}; remove these models, or run the config without --engine spark (your own "
            "models can learn in parts: docs/baselines.md)"
        )
    files = [model.name for model in config.models if model.use is None]
    if files:
        raise UsageError(
            f'model "{files[0]}" is a file of lists, which a run in parts does not read. Remove '
            "it and score it by itself: harness score FILE --config CONFIG, or in Spark: "
            "harness.spark.evaluate(predictions, truth, metrics)"
        )


def rows_of(models: Sequence[str], name: str, part: EvaluatedPart) -> pl.DataFrame:
    """Return the rows of a part in a table of the run, ids as text; `name` is its file's."""
    rows = part.rows(name, models)
    texts: dict[str, Any] = {USER: pl.String, "items": pl.List(pl.String)}
    return rows.cast({column: texts[column] for column in rows.columns if column in texts})


def _write_tables(
    config: Config,
    run: Run,
    parts: SparkParts[EvaluatedPart],
    place: str | None,
    folder: Path,
    names: Sequence[str],
) -> str | None:
    """Write tables of a run to a place, or into its folder; return the place."""
    scored = {model.name for model in run.models}
    models = [model.name for model in config.models if model.name in scored]
    schemas = _schemas(config)
    with spark_errors():
        parts.write(
            (place or folder.absolute().as_uri()).rstrip("/"),
            {name: schemas[name] for name in names},
            partial(rows_of, models),
        )
    if place is not None:
        return place
    users, files = run.evaluation.users, [*(folder / USERS).glob("*.parquet")]
    there = sum(pl.scan_parquet(file).select(pl.len()).collect().item() for file in files)
    if there != users:  # workers wrote to disks of their own
        raise DataError(
            f"{folder}: of {users:,} users {there:,} are there, as each worker has its own disk; "
            "name a place that all workers reach: --tables hdfs://…/run-1"
        )
    return None


def _schemas(config: Config) -> dict[str, pa.Schema]:
    import pyarrow as pa

    metrics = [str(metric) for metric in asked(config) if metric.definition.of == "user"]
    text, by_user = pa.string(), {USER: pa.string(), "model": pa.string(), "repeat": pa.int32()}
    profile = {USER: text} | dict.fromkeys(OWN, pa.int64())
    profile |= dict.fromkeys(config.compare.slices, text)
    return {
        PER_USER: pa.schema(by_user | dict.fromkeys(metrics, pa.float64())),
        USERS: pa.schema(profile),
        RECOMMENDATIONS: pa.schema(by_user | {"items": pa.list_(text)}),
    }


def _refuse_taken(spark: SparkSession, tables: str) -> None:
    from pyspark.errors import AnalysisException

    for name in TABLES:
        with suppress(AnalysisException):  # there is no such path
            spark.read.parquet(f"{tables.rstrip('/')}/{name}")
            raise UsageError(f"--tables {tables}: {name} already exists; name another place")


@contextmanager
def evaluated(
    config: Config,
    master: str | None = None,
    remote: str | None = None,
    buckets: int | None = None,
    tables: str | None = None,
    *,
    fail_fast: bool = False,
) -> Iterator[Run]:
    """Yield a config's models evaluated on Spark, to be written; by the parameters of `run`.

    Scores and lists go afterwards. What stands where tables are to be written is told first.
    """
    _refuse_folds(config)
    layout, observer = config.layout(), Observer()
    refuse_rows_without_order(layout, config.split)
    _refuse_models(config)
    asked(config)
    with ExitStack() as stack:
        with observer.step("session", "starting Spark"):
            spark = stack.enter_context(session(master, remote))
        if tables is not None:
            _refuse_taken(spark, tables)
        with observer.step("read", "reading events"):
            log = stack.enter_context(in_buckets(spark, layout, buckets))
        observer.log(f"read the events, {observer.seconds['read']:.1f} s")
        from pyspark import cloudpickle

        # Classes and functions of files beside configs travel to workers.
        for module in [module for name, module in sys.modules.items() if name.startswith(BESIDE)]:
            cloudpickle.register_pickle_by_value(module)
            stack.callback(cloudpickle.unregister_pickle_by_value, module)
        done, parts = evaluate_parts(config, log.parts, log.shared, observer, fail_fast=fail_fast)
        stack.callback(parts.frame.unpersist)
        yield replace(done, write_tables=partial(_write_tables, config, done, parts, tables))


def _refuse_folds(config: Config) -> None:
    if config.n_folds == 1:
        return
    cure = "set folds = 1, which is the last fold"
    if isinstance(config.split, GivenSplit):
        cure = "name one file as valid, and one in [data] events"
    if not any(table.remote for table in config.layout().tables):
        cure += "; or run without Spark (--memory sets how much memory to use)"
    raise UsageError(
        f"{config.file}: [split] makes {config.n_folds} folds, but --engine spark evaluates one "
        f"evaluation set: {cure}"
    )


def run(
    config: Config | str | Path,
    folder: Path | str,
    *,
    tables: str | None = None,
    master: str | None = None,
    remote: str | None = None,
    buckets: int | None = None,
    recommendations: bool = True,
    fail_fast: bool = False,
) -> Run:
    """Evaluate every model of a config on Spark, and write the run folder.

    Parameters
    ----------
    config : Config or path of a TOML file
    folder : path
        The run folder; workers write its tables there, so they must all see it.
    tables : str, optional
        Where per_user.parquet, users.parquet and recommendations.parquet are written instead,
        such as ``hdfs://…/run-1``: a place that all workers reach, which is not there yet.
    master, remote : str, optional
        As `harness.spark.session.session` takes them.
    buckets : int, optional
        How many parts users are divided into, up to 4,096; by default as many as the log asks for.
    recommendations : bool
        Whether recommendations.parquet, which has the lists, is written.
    fail_fast : bool
        Raise what the first model raises that fails, as `harness.run` does.

    Returns
    -------
    Run
        The record of `harness.run`, to the last bit; scores and lists are in the folder.

    Raises
    ------
    HarnessError
        Whatever `harness.run` raises, and what is wrong with Spark.
    """
    if not isinstance(config, Config):
        config = read(as_path(config, "a config"))
    with evaluated(config, master, remote, buckets, tables, fail_fast=fail_fast) as result:
        result.write(folder, recommendations=recommendations)
        return replace(result, write_tables=None)
