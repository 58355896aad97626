"""``harness submit``: a model's lists as a submission file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.log import note
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
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Write a model's lists for everyone whom the competition asks for."""
    from harness import config as config_
    from harness.experiment.submit import submit as write

    settings = config_.read(config, set_ or [])
    with stdout_to_stderr():  # what a model prints is not ours
        done = write(settings, model, out, repeat=repeat, all_events=all_events, where=str(config))
    if not quiet:
        print(f"{done.path}  {counted(done.rows, 'row')}, {done.path.stat().st_size:,} bytes")
    if all_events:
        note("note  for an upload alone, not to be scored here: it has seen the held-out days")
    for odd in done.notes:
        note(f"note  {odd}")
    counts = {
        "users without any event, asked for like all others": done.without_history,
        "rows of evaluated users for whom the sample does not ask, and which a host may refuse "
        "(--all-events leaves them out)": done.beyond_sample,
    }
    for what, count in counts.items():
        if count > 0:
            note(f"note  {what}: {count:,}")
