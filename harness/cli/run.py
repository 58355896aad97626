"""``harness run``: a config in, the table and the run folder out."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli import forms
from harness.cli.log import asking_for, note, shows_bars
from harness.cli.options import (
    Buckets,
    ConfigArgument,
    ConfigOption,
    Debug,
    Engine,
    Jobs,
    Master,
    Quiet,
    Remote,
    Set,
    config_of,
)
from harness.cli.show import FormatOption, show, to_type
from harness.cli.streams import stdout_to_stderr
from harness.core.errors import RecommenderError, counted, printable

if TYPE_CHECKING:
    from harness.results.run import Run

_DEBUG = "; --debug shows tracebacks"
_NOT_ON_SPARK = (
    "leave it out, or run without Spark (on Spark all models are evaluated anew, and the first "
    "that fails ends the run; --verbose shows each step)"
)


def run(
    context: typer.Context,
    config: ConfigArgument = None,
    config_option: ConfigOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The run folder, runs/<date>-<layout>-<fingerprint> by default; an earlier run in "
            "it is replaced. By default only one of the same config is.",
        ),
    ] = None,
    set_: Set = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="How much may be used, such as 4GB, at least 1GB; what is free by default. Where "
            "all events need more, users are evaluated in buckets that are kept on disk.",
        ),
    ] = None,
    engine: Engine = "local",
    master: Master = None,
    remote: Remote = None,
    buckets: Buckets = None,
    tables: Annotated[
        str | None,
        typer.Option(
            metavar="URI",
            help="Where Spark's workers write scores and lists, if not into the run folder.",
        ),
    ] = None,
    fail_fast: Annotated[
        bool,
        typer.Option(
            "--fail-fast",
            help="Stop at the first model that fails; by default the others are evaluated, and "
            "the exit status is 1.",
        ),
    ] = False,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            help="Evaluate every model anew, also those that an earlier run finished with the "
            "same data, settings, code and packages.",
        ),
    ] = False,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model", help="Evaluate this one, and what it is made of, alone; repeatable."
        ),
    ] = None,
    jobs: Jobs = None,
    recommendations: Annotated[
        bool,
        typer.Option(
            help="Whether recommendations.parquet holds the lists, by which explain, score "
            "and submit need no model to learn again."
        ),
    ] = True,
    debug: Debug = False,
    quiet: Quiet = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            callback=asking_for(logging.INFO),
            help="Say on standard error what each step did, and how long it took; the table has "
            "times, pairs and leaderboards as well.",
        ),
    ] = False,
    format_: FormatOption = "table",
) -> None:
    """Evaluate every model of a config on one set, print the table, write a run folder."""
    from harness import config as config_
    from harness.evaluation.run import run as run_
    from harness.results.folder import check_out

    gc.freeze()  # what is imported stays: it is not searched for garbage, nor at the end
    if engine == "spark":
        forms.refuse_other_forms(context, forms.SPARK, _NOT_ON_SPARK)
    else:
        forms.refuse_other_forms(context, forms.LOCAL, "leave it out, or add --engine spark")
    settings = config_.read(config_of(config, config_option), set_ or [])
    check_out(out or Path("runs/any"))

    folder = _Folder(Path.cwd(), out)  # a model may go elsewhere

    def shown(found: Run) -> None:
        show(format_, found.to_dict, found.sheets(verbose), found.records())

    if engine == "spark":
        from harness.spark.run import evaluated  # slow to import

        with evaluated(settings, master, remote, buckets, tables, fail_fast=fail_fast) as result:
            folder.write(result, partial(result.write, recommendations=recommendations), shown)
    else:
        bars = shows_bars()
        with stdout_to_stderr():  # what a model prints must not mix with the results
            try:
                result = run_(
                    settings,
                    models=model or (),
                    memory=memory,
                    fail_fast=fail_fast,
                    fresh=fresh,
                    jobs=jobs or 1,
                    progress=bars,
                )
            except RecommenderError as error:
                error.args = (f"{error}{'' if debug else _DEBUG}",)
                raise
        folder.write(result, partial(result.write, recommendations=recommendations), shown)
    if format_ == "table" and not quiet:
        print("\n" * bool(result.parts), end="")  # no line below the table of folds, as elsewhere
        print("\n".join([folder.written, *_next(folder.path, result.comparison is not None)]))
    elif format_ != "table":
        note(folder.written)
    if result.failed:
        models = counted(len(settings.models), "model")
        print(f"{len(result.failed)} of {models} failed{'' if debug else _DEBUG}", file=sys.stderr)
        raise typer.Exit(1)


def _next(folder: Path, compared: bool) -> list[str]:
    """Return what there is to do with a run that was written."""
    commands, name = ["report", "compare"] if compared else ["report"], printable(str(folder))
    return ["next  " + "\n      ".join(to_type(command, name) for command in commands)]


class _Folder:
    """Where a run is written.

    Attributes
    ----------
    path : Path
        As a person types it; by default it is named when the run is known.
    written : str
        Says that it is written, and why not where it would be by its name.
    """

    def __init__(self, here: Path, out: Path | None) -> None:
        self._here, self._out = here, out
        self.path = self._named = out or Path("runs")

    @property
    def written(self) -> str:
        other = f", as another config has written to {self._named}/" * (self._named != self.path)
        return printable(f"written to {self.path}/{other}")

    def write(
        self, found: Run, write: Callable[[Path], None], shown: Callable[[Run], None]
    ) -> None:
        """Write a run, and show it, also where the folder cannot be written."""
        of = found.evaluation
        name = f"{found.start}-{of.layout}-{of.fingerprint[:6]}"
        self._named = self._out or Path("runs") / name
        self.path = self._out or _claimed(self._here, self._named, found)
        try:
            write(self._here / self.path)
        finally:  # a folder that cannot be written must not cost the results
            shown(found)


def _claimed(here: Path, folder: Path, found: Run) -> Path:
    """Return the folder of a run of the same config, or one that is made for it.

    It has a number behind its name where runs of other configs have that.
    """
    from harness.results.folder import is_run_of

    number, free = 1, folder
    while True:
        try:
            (here / free).mkdir(parents=True)
            return free
        except FileExistsError:
            if is_run_of(here / free, found.config):
                return free
            number += 1
            free = folder.with_name(f"{folder.name}-{number}")
        except OSError:
            return free  # told when it is written
