"""The command ``harness``: options in, exit status out; the work is done elsewhere.

Heavy modules are imported inside the commands, so that ``harness --help`` is instant.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from harness.cli import (
    check,
    compare,
    explain,
    fetch,
    init,
    leaderboard,
    lists,
    report,
    run,
    score,
    split,
    submit,
    tune,
    validate,
)
from harness.cli.log import logged, shows_bars
from harness.cli.options import Quiet, say_value
from harness.cli.removed import say_removed
from harness.cli.streams import guard_streams
from harness.core.errors import INTERRUPTED, HarnessError, printable

app = typer.Typer(
    name="harness",
    help="One evaluation of recommender systems: same users, candidates, truth and k for all.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # slow to import

        print(f"submission-harness {version('submission-harness')}")
        raise typer.Exit


@app.callback()
def _commands(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command()
def synth(
    layout: Annotated[
        Literal["hm", "ponpare", "kion"], typer.Argument(help="The competition to imitate.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")],
    users: Annotated[int | None, typer.Option(help="How many users.")] = None,
    items: Annotated[int | None, typer.Option(help="How many items.")] = None,
    events: Annotated[int | None, typer.Option(help="How many events.")] = None,
    seed: Annotated[int, typer.Option(help="Equal seeds give equal bytes.")] = 0,
    gzip: Annotated[bool, typer.Option("--gzip", help="Write .csv.gz files.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the files in --out.")] = False,
    quiet: Quiet = False,
) -> None:
    """Make raw competition files of any size: same arguments, same bytes."""
    from harness.core.errors import UsageError
    from harness.core.io import exists
    from harness.core.progress import steps
    from harness.data.synthetic import synthesise

    seen = not force and exists(out) and out.is_dir()
    there = sorted(p.name for p in out.glob("*.csv*")) if seen else []
    if there:
        raise UsageError(
            f"{out}: holds {', '.join(there[:3])}; name another --out, or replace them with --force"
        )

    with steps("writing", events, " rows", shows_bars()) as bar:
        files = synthesise(
            layout,
            out,
            users=users,
            items=items,
            events=events,
            seed=seed,
            gzip=gzip,
            progress=bar.update,
        )
    for path in () if quiet else files:
        print(f"{path}  {path.stat().st_size:,} bytes")


app.command("init")(init.init)
app.command("run")(run.run)
app.command("tune")(tune.tune)
app.command("compare")(compare.compare)
app.command("check")(check.check)
app.command("leaderboard")(leaderboard.leaderboard)
app.command("score")(score.score)
app.command("explain")(explain.explain)
app.command("report")(report.report)
app.command("validate")(validate.validate)
app.command("submit")(submit.submit)
app.command("split")(split.split)
app.command("fetch")(fetch.fetch)
app.command("list")(lists.list_)


def main() -> None:
    """Run the command line; a person's mistake ends in its message and exit status."""
    try:
        sys.exit(_status())
    except KeyboardInterrupt:  # before the command began, or after its end
        sys.exit(INTERRUPTED)


_NEW_OBJECTS = 200_000
"""From which on garbage is searched for: imports alone make 125,000."""

_SWITCH_SECONDS = 0.0005
"""For which a thread keeps Python's lock: steps that need little of it wait less for others."""

_SPINS = "16"
"""Log2 of the ticks for which idle threads of NumPy's algebra spin; else they do for 30 ms."""


def _status() -> int:
    # A parent may have left the signal ignored; the reader would then stop early, and say nothing.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a scheduler's wish to stop
    if hasattr(os, "register_at_fork"):  # a pool of a model's ends its processes by this signal
        os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
    gc.set_threshold(_NEW_OBJECTS)
    sys.setswitchinterval(_SWITCH_SECONDS)
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", _SPINS)
    output = guard_streams()
    status = guarded(lambda: app(standalone_mode=False))
    sys.stdout.flush()
    if output is not None and output.failure is not None:
        told = f"standard output cannot be written: {output.failure.strerror}"
        print(f"{told}: what was printed is lost; send it to a file: > FILE", file=sys.stderr)
        status = max(status, HarnessError.exit_status)
    return status


def guarded(command: Callable[[], Any]) -> int:
    """Return the exit status of `command`; mistakes are printed, never shown as tracebacks."""
    try:
        with logged():
            status = command()
        sys.stdout.flush()
        if status == INTERRUPTED:  # the option parser may have caught it first
            raise KeyboardInterrupt
        return status if isinstance(status, int) else 0
    except HarnessError as error:
        print(printable(str(error), keep="\n"), file=sys.stderr)
        return error.exit_status
    except (typer.Exit, SystemExit) as done:
        code = getattr(done, "exit_code", getattr(done, "code", 0))
        return code if isinstance(code, int) else 1
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except MemoryError as error:
        print(f"out of memory ({error}); ask for less: a smaller k, or fewer rows", file=sys.stderr)
        return HarnessError.exit_status
    except BaseException as error:
        wrapped = type(error).__name__ in _WRAPS_INTERRUPTS
        if wrapped and KeyboardInterrupt.__name__ in str(error):
            return _interrupted()
        show = getattr(error, "show", None)
        if show is None:
            raise
        say_value(error)
        say_removed(error)
        show()  # a wrong option or argument: the option parser words it, but for values
        return int(getattr(error, "exit_code", 2))


_WRAPS_INTERRUPTS = ("PanicException", "SchemaError")
"""What Polars and pydantic raise where they are interrupted while they are imported."""


def _interrupted() -> int:
    print("interrupted; no output is half-written", file=sys.stderr)
    return INTERRUPTED
