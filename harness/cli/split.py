"""``harness split``: a config's evaluation set as the files of a competition."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from harness.cli import options
from harness.cli.output import fitting, note, say, to_type
from harness.core.errors import counted

if TYPE_CHECKING:
    from harness.hosting.split import SplitFolder


def split(
    out: Annotated[Path, "The folder to write. It replaces an earlier split there."],
    config: options.ConfigArgument = None,
    config_option: options.ConfigOption = None,
    public_share: Annotated[
        float | None,
        "The share of the evaluated users on the public leaderboard. Default: the largest of "
        "[compare] public_shares.",
    ] = None,
    set_: options.Set = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Write the files of a competition from your own data.

    These are train, the held-out events, a solution and a sample submission.
    """
    from harness import config as config_
    from harness.hosting.split import FILES, FoldedSplit
    from harness.hosting.split import split as write

    settings = config_.read(options.config_of(config, config_option), set_ or [])
    written = write(settings, out, public_share=public_share)
    folds = written.folds if isinstance(written, FoldedSplit) else (written,)
    for fold in folds:
        paths = [path for path in (fold.folder / name for name in FILES) if path.exists()]
        say(*(f"{path}  {path.stat().st_size:,} bytes" for path in paths))
        record, evaluation = fold.record, fold.record.evaluation
        users = f"{counted(evaluation.users, 'user')}, {record.public:,} public"
        about = [evaluation.fingerprint[:6], evaluation.window, f"k = {evaluation.k}"]
        line = " · ".join([*filter(None, about), f"{users}, {record.private:,} private"])
        say("", fitting(f"evaluation set  {line}", sys.stdout, 7))
        if fold is not folds[-1]:
            say("")
    say("next  " + to_type("score", "FILE", *_options(folds[-1])))
    reasons = [f"no config.toml: {f.record.config}" for f in folds if f.record.config]
    for line in dict.fromkeys([*reasons, *written.notes]):
        note(f"note  {line}")


def _options(fold: SplitFolder) -> list[str]:
    """Return what a command says to score lists on what was written."""
    from harness.hosting.split import ITEMS, SAMPLE, SOLUTION

    record, files = fold.record, {"solution": SOLUTION, "sample": SAMPLE, "items": ITEMS}
    words = [word for option, name in files.items() for word in (f"--{option}", fold.folder / name)]
    words += ["--k", str(record.evaluation.k)]
    words += [] if record.separator is None else ["--separator", record.separator]
    words += ["--keep-users-without-items"] if record.without_items > 0 else []
    return list(map(str, words))
