"""``harness tune``: parameters searched on an inner split of train."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from harness.cli import options
from harness.cli.output import note, say, show, stdout_to_stderr, to_type
from harness.core.errors import UsageError, printable
from harness.core.params import MOST_TRIALS


def tune(
    config: options.ConfigArgument = None,
    config_option: options.ConfigOption = None,
    model: Annotated[list[str] | None, "Tune only this model. Repeatable."] = None,
    trials: Annotated[
        int | None,
        typer.Option(
            min=1, max=MOST_TRIALS, help="Trials per model. Default: that of the config, else 30."
        ),
    ] = None,
    search: Annotated[
        Literal["random", "grid", "tpe"] | None,
        "How to choose parameters. Default: that of the config, else random.",
    ] = None,
    set_: options.Set = None,
    out: Annotated[
        Path | None,
        "The config to write, with the best parameters. Default: CONFIG with -tuned in its name.",
    ] = None,
    force: options.Replace = False,
    fresh: Annotated[
        bool,
        "Run every trial again. Default: reuse trials of earlier searches with the same data, "
        "settings, code and packages.",
    ] = False,
    jobs: options.Jobs = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    format_: options.Output = "table",
) -> None:
    """Find the best parameters of models on an inner split of train.

    It never looks at the evaluation set: score the best parameters with harness run. CSV has one
    row per trial.
    """
    from harness import config as config_
    from harness.core.io import refuse_overwriting
    from harness.tuning.tuning import tune as tune_

    config = options.config_of(config, config_option)
    settings = config_.read(config, set_ or [])
    keys = {"trials": trials, "search": search}
    update = {key: value for key, value in keys.items() if value is not None}
    for override in set_ or []:
        section, _, key = override.partition("=")[0].strip().partition(".")
        for flag, value in update.items():
            if section == "tune" and key in ("", flag):
                raise UsageError(f"--{flag} {value} and --set {override}: name one of them")
    if update:  # not as --set: messages on the config must not speak of what was not typed
        changed = settings.tune.model_copy(update=update)
        settings = settings.model_copy(update={"tune": changed})
    path = out or config.with_name(f"{config.stem}-tuned.toml")
    target = path.absolute()  # a model may go elsewhere
    refuse_overwriting(target, [config], force=force)
    with stdout_to_stderr():  # what a model prints must not mix with the results
        tuned = tune_(settings, models=model or (), fresh=fresh, jobs=jobs or 1)
    try:
        tuned.write(target, force=force)
    finally:  # a file that cannot be written must not cost the search
        show(format_, tuned)
    name = printable(str(path))
    tell = say if format_ == "table" else note
    tell(f"\nwritten to {name}\nnext  {to_type('run', name)}")
