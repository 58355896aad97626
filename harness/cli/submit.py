"""``harness submit``: a model's lists as a submission file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.streams import stdout_to_stderr
from harness.core.errors import counted


def submit(
    config: Annotated[Path, typer.Argument(help="A config file (TOML).")],
    model: Annotated[str, typer.Option("--model", help="Which of its models.")],
    out: Annotated[Path, typer.Option("--out", help="The file to write: .csv or .csv.gz.")],
    repeat: Annotated[int, typer.Option("--repeat", help="Which of its repeats.")] = 0,
    all_events: Annotated[
        bool,
        typer.Option(
            "--all-events",
            help="For an upload: learn from the evaluated days too, and write the ids that the "
            "competition asks for alone; such a file is not to be scored on this evaluation set.",
        ),
    ] = False,
    set_: options.Set = None,
) -> None:
    """Write a model's lists for everyone whom the competition asks for."""
    from harness import config as config_
    from harness.experiment.submit import submit as write

    settings = config_.read(config, set_ or [])
    with stdout_to_stderr():  # what a model prints is not ours
        done = write(settings, model, out, repeat=repeat, all_events=all_events, where=str(config))
    print(f"{done.path}  {counted(done.rows, 'row')}, {done.path.stat().st_size:,} bytes")
    if all_events:
        print(
            "note  for an upload alone, not to be scored here: it has seen the held-out days",
            file=sys.stderr,
        )
    for note in done.notes:
        print(f"note  {note}", file=sys.stderr)
    notes = {
        "users without any event, asked for like all others": done.without_history,
        "rows of evaluated users for whom the sample does not ask, and which a host may refuse "
        "(--all-events leaves them out)": done.beyond_sample,
    }
    for note, count in notes.items():
        if count > 0:
            print(f"note  {note}: {count:,}", file=sys.stderr)
