"""``harness init``: a log in, a commented config out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.options import Quiet, Replace
from harness.cli.output import fitting, note, say, to_type
from harness.core.errors import DataError, printable


def init(
    log: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A log of events: CSV, TSV, JSON lines or Parquet, a folder, or a table of SQLite "
            "or DuckDB as shop.sqlite::orders.",
        ),
    ],
    out: Annotated[Path | None, "The config to write; the log's name with .toml here."] = None,
    user_column: Annotated[str | None, "Default: by its name."] = None,
    item_column: Annotated[str | None, "Default: by its name."] = None,
    time_column: Annotated[str | None, "Default: by its name."] = None,
    time_format: Annotated[
        str | None, "iso, epoch_s, _ms, _us or a pattern such as %d.%m.%Y."
    ] = None,
    header: Annotated[
        str | None, "The columns of a file without a header line, as user,item,time.", "NAMES"
    ] = None,
    separator: Annotated[str | None, "What stands between fields."] = None,
    encoding: Annotated[str | None, "latin-1 or cp1252; UTF-8 by default."] = None,
    force: Replace = False,
    quiet: Quiet = False,
) -> int:
    """Write a config for a log; it says what it guessed.

    The log is read whole, to see whether it can be, and to choose what is held out. Nothing is
    asked, and what is guessed is yours to change.
    """
    from harness.core.io import refuse_overwriting, whole_file, written
    from harness.init.guess import config_for

    target = out or Path(f"{log.name.partition('.')[0] or 'config'}.toml")
    refuse_overwriting(target, [log], force=force)
    try:
        config = config_for(
            log,
            target.absolute(),
            user=user_column,
            item=item_column,
            time=time_column,
            time_format=time_format,
            header=header and [name.strip() for name in header.split(",")],
            separator=separator,
            encoding=encoding,
        )
    except DataError as error:
        if "[data]" not in str(error):
            raise
        raise DataError(
            f"{error}\nthere is no config yet; here such keys are --encoding latin-1, "
            "--header NAMES and --separator SIGN"
        ) from error
    with written(target, "; choose another --out"), whole_file(target) as temporary:
        temporary.write_text(config.text, encoding="utf-8", newline="\n")
    say(
        *(fitting(line, sys.stdout, 11) for line in config.lines),
        f"written to {printable(str(target))}",
    )
    if config.fault:
        note(config.fault)
        return 1
    say(f"next  {to_type('run', str(target))}")
    return 0
