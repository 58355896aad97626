"""``harness submit``: a model's lists as a submission file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import forms, options
from harness.cli.output import note, say, stdout_to_stderr
from harness.core.errors import counted


def submit(
    context: typer.Context,
    model: Annotated[str, "The model of the config or the run."],
    out: Annotated[Path, "The file to write: .csv or .csv.gz."],
    source: Annotated[
        Path | None,
        typer.Argument(metavar="CONFIG|RUN", help="A config file (TOML) or a run folder."),
    ] = None,
    config: options.ConfigOption = None,
    repeat: options.Repeat = 0,
    fold: options.Fold = None,
    all_events: Annotated[
        bool,
        "Fit on all events, with the held-out ones, and write only the users that the "
        "competition requires. Only for an upload: a local score of this file is too good.",
    ] = False,
    set_: options.Set = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Write a model's lists as a submission for upload.

    It has one list for each user that the competition requires. From a run folder it writes the
    lists of the run; it does not fit the model again.
    """
    from harness import config as config_
    from harness.core.io import exists
    from harness.hosting.submit import submit as write
    from harness.hosting.submit import submit_run
    from harness.results.folder import part

    source = options.config_of(source, config, "CONFIG or RUN")
    with stdout_to_stderr():  # what a model prints is not ours
        if exists(source) and source.is_dir():
            part(source, "result.json")
            again = f"to fit the model again, name {source / 'config.toml'} instead of the run"
            forms.refuse_other_forms(context, forms.RUN, again)
            done = submit_run(source, model, out, repeat=repeat, fold=fold)
        else:
            forms.refuse_other_forms(context, forms.CONFIG, "a config always uses its last fold")
            read = config_.read(source, set_ or [])
            done = write(read, model, out, repeat=repeat, all_events=all_events)
    say(f"{done.path}  {counted(done.rows, 'row')}, {done.path.stat().st_size:,} bytes")
    if all_events:
        note(
            "note  only for an upload: the model has seen the held-out events, so do not "
            "score this file here"
        )
    for odd in done.notes:
        note(f"note  {odd}")
    counts = {
        "users without any event, which also get a list": done.without_history,
        "rows of evaluated users that are not in the sample; a host may refuse them "
        "(--all-events leaves them out)": done.beyond_sample,
    }
    for what, count in counts.items():
        if count > 0:
            note(f"note  {what}: {count:,}")
