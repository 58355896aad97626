"""``harness synth``: raw competition files of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from harness.cli.options import Quiet
from harness.cli.output import say


def synth(
    layout: Annotated[
        Literal["hm", "ponpare", "kion"],
        typer.Argument(metavar="LAYOUT", help="The competition to imitate: hm, ponpare or kion."),
    ],
    out: Annotated[Path, "The folder to write to."],
    users: Annotated[int | None, "How many users."] = None,
    items: Annotated[int | None, "How many items."] = None,
    events: Annotated[int | None, "How many events."] = None,
    seed: Annotated[int, "Equal seeds give equal bytes."] = 0,
    gzip: Annotated[bool, "Write .csv.gz files."] = False,
    force: Annotated[bool, "Replace the files in --out."] = False,
    quiet: Quiet = False,
) -> None:
    """Make raw competition files of any size.

    Same arguments, same bytes.
    """
    from harness.core.errors import UsageError
    from harness.core.io import exists
    from harness.core.progress import doing
    from harness.data.synthetic import synthesise

    is_folder = not force and exists(out) and out.is_dir()
    files = sorted(path.name for path in out.glob("*.csv*")) if is_folder else []
    if files:
        raise UsageError(
            f"{out}: holds {', '.join(files[:3])}; name another --out, or replace them with --force"
        )
    with doing("writing", events, " rows") as stage:
        written = synthesise(
            layout,
            out,
            users=users,
            items=items,
            events=events,
            seed=seed,
            gzip=gzip,
            progress=stage.update,
        )
    for path in written:
        say(f"{path}  {path.stat().st_size:,} bytes")
