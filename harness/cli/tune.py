"""``harness tune``: parameters searched on an inner split of train."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from harness.cli import options
from harness.cli.log import note, shows_bars
from harness.cli.show import FormatOption, show, to_type
from harness.cli.streams import stdout_to_stderr
from harness.core.errors import printable


def tune(
    config: options.ConfigArgument = None,
    config_option: options.ConfigOption = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="Only this model, and others named so; repeatable."),
    ] = None,
    trials: Annotated[int | None, typer.Option(help="How many a model; 30.")] = None,
    search: Annotated[
        Literal["random", "grid", "tpe"] | None, typer.Option(help="The order of trials; random.")
    ] = None,
    set_: options.Set = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The config to write, with the best parameters; CONFIG with -tuned in its name.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file --out.")] = False,
    fresh: Annotated[
        bool,
        typer.Option(
            "--fresh",
            help="Make every trial anew, also those that an earlier search finished with the same "
            "data, settings, code and packages.",
        ),
    ] = False,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    format_: FormatOption = "table",
) -> None:
    """Search the parameters of every model with a space, on an inner split of train.

    The evaluation set is not looked at: harness run scores what is found. CSV has all trials.
    """
    from harness import config as config_
    from harness.core.io import refuse_overwriting
    from harness.tuning.tuning import tune as tune_

    config = options.config_of(config, config_option)
    keys = {"tune.trials": trials, "tune.search": search}
    overrides = [f"{key}={value}" for key, value in keys.items() if value is not None]
    settings = config_.read(config, [*(set_ or []), *overrides])
    target = (out or config.with_name(f"{config.stem}-tuned.toml")).absolute()
    refuse_overwriting(target, [config], force=force)
    bars = shows_bars()
    with stdout_to_stderr():  # what a model prints must not mix with the results
        tuned = tune_(settings, models=model or (), fresh=fresh, jobs=jobs or 1, progress=bars)
    try:
        tuned.write(target, force=force)
    finally:  # a file that cannot be written must not cost the search
        show(format_, tuned.to_dict, tuned.sheets(), tuned.records())
    name = printable(str(out or config.with_name(target.name)))
    lines = f"\nwritten to {name}\nnext  {to_type('run', name)}"
    if format_ != "table":
        note(lines)
    elif not quiet:
        print(lines)
