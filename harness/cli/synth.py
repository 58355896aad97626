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
    out: Annotated[Path, "The folder to write."],
    users: Annotated[int | None, "The number of users. Default: 1,050 to 1,700."] = None,
    items: Annotated[int | None, "The number of items. Default: 550 to 800."] = None,
    events: Annotated[int | None, "The number of events. Default: 9,000 to 12,000."] = None,
    seed: Annotated[int, "The same seed gives the same files."] = 0,
    gzip: Annotated[bool, "Write .csv.gz files."] = False,
    force: Annotated[bool, "Replace the files in --out."] = False,
    quiet: Quiet = False,
) -> None:
    """Write synthetic files in the format of a competition, of any size.

    The same arguments give the same files.
    """
    from harness.core.errors import UsageError
    from harness.core.io import exists
    from harness.core.progress import doing
    from harness.data.synthetic import synthesise

    is_folder = not force and exists(out) and out.is_dir()
    files = sorted(path.name for path in out.glob("*.csv*")) if is_folder else []
    if files:
        raise UsageError(
            f"{out}: has {', '.join(files[:3])}; name another --out, or replace them with --force"
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
