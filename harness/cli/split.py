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

    settings = config_.read(options.config_of(config, config_option), set_ or [])
    written = write(settings, out, public_share=public_share)
    folds = written.folds if isinstance(written, FoldedSplit) else (written,)
    if not quiet:
        _show(folds)
    reasons = [f"no config.toml: {f.record.config}" for f in folds if f.record.config]
    for line in dict.fromkeys([*reasons, *written.notes]):
        note("\n".join(_lines(f"note  {line}", sys.stderr)))


def _show(folds: Sequence[SplitFolder]) -> None:
    """Print the files of every fold, and what to type next."""
    from harness.hosting.split import FILES

    for fold in folds:
        for path in (fold.folder / name for name in FILES):
            if path.exists():
                print(f"{path}  {path.stat().st_size:,} bytes")
        record, evaluation = fold.record, fold.record.evaluation
        parts = [evaluation.fingerprint[:6], evaluation.window, f"k = {evaluation.k}"]
        users = f"{counted(evaluation.users, 'user')}, {record.public:,} public"
        line = " · ".join([*filter(None, parts), f"{users}, {record.private:,} private"])
        print("", *_lines(f"evaluation set  {line}", sys.stdout), sep="\n")
        print("\n" * (fold is not folds[-1]), end="")
    print("next  " + to_type("score", "FILE", *_options(folds[-1])))


def _lines(line: str, stream: TextIO) -> list[str]:
    if not stream.isatty():
        return [line]
    from harness.core.terminal import wrapped  # it takes Rich

    return wrapped(line, shutil.get_terminal_size().columns, _INDENT)


def _options(fold: SplitFolder) -> list[str]:
    """Return what a command says to score lists on what was written."""
    from harness.hosting.split import ITEMS, SAMPLE, SOLUTION

    record, files = fold.record, {"solution": SOLUTION, "sample": SAMPLE, "items": ITEMS}
    words = [word for option, name in files.items() for word in (f"--{option}", fold.folder / name)]
    words += ["--k", str(record.evaluation.k)]
    words += [] if record.separator is None else ["--separator", record.separator]
    words += ["--keep-users-without-items"] if record.without_items > 0 else []
    return list(map(str, words))
