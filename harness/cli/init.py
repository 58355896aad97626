"""``harness init``: a log in, a commented config out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from harness.cli.options import Quiet, Replace
from harness.cli.output import fitting, note, say, to_type
from harness.core.errors import DataError, printable


def init(
    log: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A log of events: CSV, TSV, JSON lines or Parquet, a folder of such files, or a "
            "table of SQLite or DuckDB, such as shop.sqlite::orders.",
        ),
    ],
    out: Annotated[
        Path | None, "The config to write. Default: the log's name with .toml, in this folder."
    ] = None,
    user_column: Annotated[str | None, "The user column. Default: found by name."] = None,
    item_column: Annotated[str | None, "The item column. Default: found by name."] = None,
    time_column: Annotated[str | None, "The time column. Default: found by name."] = None,
    time_format: Annotated[
        str | None,
        "The format of times: iso, epoch_s, epoch_ms, epoch_us or a pattern such as %d.%m.%Y. "
        "Default: guessed.",
    ] = None,
    header: Annotated[
        str | None, "Column names for a file without a header line: user,item,time.", "NAMES"
    ] = None,
    separator: Annotated[str | None, "The separator of fields. Default: guessed."] = None,
    encoding: Annotated[
        Literal["utf-8", "latin-1", "cp1252"] | None, "The encoding of the file. Default: utf-8."
    ] = None,
    force: Replace = False,
    quiet: Quiet = False,
) -> int:
    """Write a config for a log of events, with comments.

    It reads and checks the whole log if memory allows, and shows each guess. To change a guess,
    edit the config.
    """
    from harness.core.io import refuse_overwriting, whole_file, written
    from harness.data.layout import Table
    from harness.data.naming import parts_of
    from harness.init.guess import config_for

    log = log if log.name not in ("", "..") else log.resolve()
    target = out or Path(f"{log.name.partition('.')[0] or 'config'}.toml")
    try:
        parts_of(Table(str(log)))  # no such log: that is to be known first
        refuse_overwriting(target, [log], force=force)
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
            f"{error}\nthere is no config yet: use the options --encoding latin-1, "
            "--header NAMES or --separator SIGN instead of these keys"
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
