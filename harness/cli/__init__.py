"""The command ``harness``: options in, exit status out; the work is done elsewhere.

Heavy modules are imported inside the commands, so that ``harness --help`` is instant.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

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
    synth,
    tune,
    validate,
)
from harness.cli.forms import instead_of
from harness.cli.help import Command, Commands
from harness.cli.options import declared
from harness.cli.output import Stream, guard_streams, logged
from harness.core.errors import INTERRUPTED, HarnessError, printable

app = typer.Typer(
    name="harness",
    cls=Commands,
    help="Evaluate recommenders on the same users, candidates, truth and k.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
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


for command in (
    init.init,
    run.run,
    tune.tune,
    compare.compare,
    check.check,
    leaderboard.leaderboard,
    explain.explain,
    report.report,
    validate.validate,
    score.score,
    submit.submit,
    split.split,
    fetch.fetch,
    synth.synth,
    lists.list_,
):
    app.command(command.__name__.rstrip("_"), cls=Command)(declared(command))


def main() -> None:
    """Run the command line; a person's mistake ends in its message and exit status."""
    try:
        sys.exit(_status())
    except KeyboardInterrupt:  # before the command began, or after its end
        sys.exit(INTERRUPTED)


def _status() -> int:
    # A parent may have left the signal ignored; the reader would then stop early, and say nothing.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a scheduler's wish to stop
    if hasattr(os, "register_at_fork"):  # a pool of a model's ends its processes by this signal
        os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
    gc.set_threshold(200_000)  # imports alone make 125,000 objects: no search for garbage before
    sys.setswitchinterval(0.0005)  # steps that need little of Python's lock wait less for others
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "16")  # 2**16 ticks; else it spins for 30 ms
    output, errors = guard_streams()
    status = guarded(lambda: app(standalone_mode=False), (output, errors))
    sys.stdout.flush()
    if output.failure is not None:
        reason = f"standard output cannot be written: {output.failure.strerror}"
        print(f"{reason}: the output is lost; send it to a file: > FILE", file=sys.stderr)
        status = max(status, HarnessError.exit_status)
    return status


def guarded(command: Callable[[], Any], streams: Sequence[Stream] = ()) -> int:
    """Return the exit status of `command`; mistakes are printed, never shown as tracebacks."""
    try:
        with logged(streams):
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
    except MemoryError as error:
        print(f"out of memory ({error}); use a smaller k, or fewer rows", file=sys.stderr)
        return HarnessError.exit_status
    except BaseException as error:
        if _is_interrupt(error):
            print("interrupted; no output is half-written", file=sys.stderr)
            return INTERRUPTED
        if not hasattr(error, "show"):
            raise
        _reword(error)
        error.show()  # a wrong option or argument: the option parser words it, but for values
        return int(getattr(error, "exit_code", 2))


def _reword(error: Any) -> None:
    """Say what replaces a removed option, and why pydantic refused an option's value."""
    context, option = getattr(error, "ctx", None), getattr(error, "option_name", "")
    instead = instead_of(context.command.name, option) if context else None
    if instead is not None:
        error.message, error.possibilities = f"{option} was removed; {instead}", []
    elif hasattr(error.__cause__, "errors"):
        fault = error.__cause__.errors()[0]
        expected = {
            "int_parsing": "a whole number",
            "float_parsing": "a number",
            "greater_than_equal": f"{fault.get('ctx', {}).get('ge')} or more",
            "less_than_equal": f"{fault.get('ctx', {}).get('le')} or less",
        }.get(fault["type"])
        error.message = fault["msg"].removeprefix("Value error, ")
        if expected is not None:
            error.message = f"found {fault['input']}, expected {expected}"


def _is_interrupt(error: BaseException) -> bool:
    """Return whether it is one, also in what Polars and pydantic raise while they are imported."""
    if type(error).__name__ in ("PanicException", "SchemaError"):
        return KeyboardInterrupt.__name__ in str(error)
    return isinstance(error, (KeyboardInterrupt, typer.Abort))
