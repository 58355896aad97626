"""``harness run``: a config in, the table and the run folder out."""

from __future__ import annotations

import gc
import itertools
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from harness.cli import forms, options
from harness.cli.output import note, say, show_parts, stdout_to_stderr, to_type
from harness.core.errors import RecommenderError, counted, printable

if TYPE_CHECKING:
    from harness.results.run import Run

_DEBUG = "; --debug shows tracebacks"
_NOT_ON_SPARK = (
    "remove it, or run without Spark (Spark evaluates all models again; --verbose shows each step)"
)


def run(
    context: typer.Context,
    config: options.ConfigArgument = None,
    config_option: options.ConfigOption = None,
    out: Annotated[
        Path | None,
        "The run folder. It replaces an earlier run there. Default: a folder in runs/, named by "
        "the window's first day, layout and fingerprint; it replaces only a run of the same "
        "config.",
    ] = None,
    set_: options.Set = None,
    memory: Annotated[
        str | None,
        "Use at most this much memory, such as 4GB; at least 1GB. If the events need more, the "
        "run splits users into buckets on disk. Default: the free memory.",
        "SIZE",
    ] = None,
    engine: Annotated[
        Literal["local", "spark"],
        "Run on this machine or on Spark (see docs/scale.md).",
    ] = "local",
    master: Annotated[
        str | None,
        "The Spark master, such as spark://host:7077. Default: that of the environment, else "
        "local[*].",
        "URL",
    ] = None,
    remote: Annotated[
        str | None, "A Spark Connect server, such as sc://host:15002.", "sc://…"
    ] = None,
    buckets: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=4096,
            help="The number of user buckets on Spark. Default: as many as the data needs.",
        ),
    ] = None,
    tables: Annotated[
        str | None,
        "Where Spark's workers write scores and lists. Default: the run folder.",
        "URI",
    ] = None,
    fail_fast: Annotated[
        bool,
        "Stop at the first model that fails. Default: evaluate the others; the exit status is 1.",
    ] = False,
    fresh: Annotated[
        bool,
        "Evaluate every model again. Default: reuse models of earlier runs with the same data, "
        "settings, code and packages.",
    ] = False,
    model: Annotated[
        list[str] | None, "Evaluate only this model, and the models it uses. Repeatable."
    ] = None,
    jobs: options.Jobs = None,
    recommendations: Annotated[
        bool,
        typer.Option(
            help="Write the lists to recommendations.parquet. Then explain, score and submit "
            "do not fit models again."
        ),
    ] = True,
    debug: Annotated[
        bool, "Show the traceback if a model fails, and log each step as --verbose does."
    ] = False,
    quiet: options.Quiet = False,
    verbose: Annotated[
        bool,
        "Log each step and its time to standard error. The table also has times, pairs and "
        "leaderboards.",
    ] = False,
    format_: options.Output = "table",
) -> None:
    """Evaluate the models of a config on one evaluation set.

    It prints a table and writes a run folder.
    """
    from harness.config import read
    from harness.evaluation import run as evaluation_run
    from harness.results.folder import check_out

    gc.freeze()  # what is imported stays: it is not searched for garbage, nor at the end
    if engine == "spark":
        forms.refuse_other_forms(context, forms.SPARK, _NOT_ON_SPARK)
    else:
        forms.refuse_other_forms(context, forms.LOCAL, "remove it, or add --engine spark")
    settings = read(options.config_of(config, config_option), set_ or [])
    check_out(out or Path("runs/any"))
    here = Path.cwd()  # a model may go elsewhere
    with ExitStack() as session:
        if engine == "spark":
            from harness.spark.run import evaluated  # slow to import

            result = session.enter_context(
                evaluated(settings, master, remote, buckets, tables, fail_fast=fail_fast)
            )
        else:
            try:
                # What a model prints must not mix with the results.
                with stdout_to_stderr():
                    result = evaluation_run.run(
                        settings,
                        models=model or (),
                        memory=memory,
                        fail_fast=fail_fast,
                        fresh=fresh,
                        jobs=jobs or 1,
                    )
            except RecommenderError as error:
                error.args = (f"{error}{'' if debug else _DEBUG}",)
                raise
        evaluation = result.evaluation
        name = f"{result.start}-{evaluation.layout}-{evaluation.fingerprint[:6]}"
        usual = out or Path("runs") / name
        folder = out or _folder_for(result, here, usual)
        try:
            result.write(here / folder, recommendations=recommendations)
        finally:  # a folder that cannot be written must not cost the results
            show_parts(format_, result.to_dict, result.sheets(verbose), result.records())
    why = "" if usual == folder else f", as another config wrote to {usual}/"
    written = printable(f"written to {folder}/{why}")
    if format_ != "table":
        note(written)
    else:
        commands = ["report"] if result.comparison is None else ["report", "compare"]
        steps = [to_type(command, printable(str(folder))) for command in commands]
        # No line stands below the table of folds, as elsewhere.
        say(*([""] if result.parts else []), written, "next  " + "\n      ".join(steps))
    if result.failed:
        models = counted(len(settings.models), "model")
        print(f"{len(result.failed)} of {models} failed{'' if debug else _DEBUG}", file=sys.stderr)
        raise typer.Exit(1)


def _folder_for(result: Run, here: Path, usual: Path) -> Path:
    """Return the folder of an earlier run of the same config, or one that is made for it."""
    # A number stands behind its name where runs of other configs have that.
    from harness.results.folder import is_run_of

    folder = usual
    for number in itertools.count(2):
        try:
            (here / folder).mkdir(parents=True)
        except FileExistsError:
            if not is_run_of(here / folder, result.config):
                folder = usual.with_name(f"{usual.name}-{number}")
                continue
        except OSError:
            pass  # the error is raised when it is written
        break
    return folder
