"""``harness split``: a config's evaluation set as the files of a competition."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from harness.cli import options
from harness.cli.log import note
from harness.cli.show import to_type
from harness.core.errors import counted

if TYPE_CHECKING:
    from harness.hosting.split import SplitFolder


_INDENT = 7
"""Of what follows below a label, as in tables."""


def split(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    config: options.ConfigArgument = None,
    config_option: options.ConfigOption = None,
    public_share: Annotated[
        float | None,
        typer.Option(
            "--public-share",
            help="Of the evaluated users on the public leaderboard. Default: the largest of "
            "[compare] public_shares.",
        ),
    ] = None,
    set_: options.Set = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Write the files of a competition: train, held-out events, solution, sample submission."""
    from harness import config as config_
    from harness.hosting.split import FoldedSplit
    from harness.hosting.split import split as write

    given = options.config_of(config, config_option)
    done = write(config_.read(given, set_ or []), out, public_share=public_share)
    folds = done.folds if isinstance(done, FoldedSplit) else (done,)
    if not quiet:
        _show(folds)
    reasons = [fold.record.config for fold in folds if fold.record.config]
    unwritten = [f"no config.toml: {reason}" for reason in reasons]
    for odd in dict.fromkeys([*unwritten, *done.notes]):
        if odd:
            note("\n".join(_lines(f"note  {odd}", sys.stderr)))


def _show(folds: Sequence[SplitFolder]) -> None:
    """Print the files of every fold, and what to type next."""
    from harness.hosting.split import FILES

    for fold in folds:
        for path in (fold.folder / name for name in FILES):
            if path.exists():
                print(f"{path}  {path.stat().st_size:,} bytes")
        of, sides = fold.record.evaluation, f"{fold.record.public:,} public"
        parts = [of.fingerprint[:6], *([of.window] if of.window else []), f"k = {of.k}"]
        numbers = f"{' · '.join(parts)} · {counted(of.users, 'user')}, {sides}"
        line = f"evaluation set  {numbers}, {fold.record.private:,} private"
        print("", *_lines(line, sys.stdout), sep="\n")
        print("\n" * (fold is not folds[-1]), end="")
    print("next  " + to_type("score", "FILE", *_options(folds[-1])))


def _lines(line: str, stream: TextIO) -> list[str]:
    if not stream.isatty():
        return [line]
    from harness.core.terminal import wrapped  # it takes Rich

    return wrapped(line, shutil.get_terminal_size().columns, _INDENT)


def _options(done: SplitFolder) -> list[str]:
    """Return what a command says to score lists on what was written."""
    from harness.hosting.split import ITEMS, SAMPLE, SOLUTION

    record, folder = done.record, done.folder
    keep = ["--keep-users-without-items"] if record.without_items > 0 else []
    separator = ["--separator", record.separator] if record.separator is not None else []
    files = ["--solution", str(folder / SOLUTION), "--sample", str(folder / SAMPLE)]
    files += ["--items", str(folder / ITEMS)]
    return [*files, "--k", str(record.evaluation.k), *separator, *keep]
