"""``harness synth``: raw competition files of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from harness.cli.log import shows_bars
from harness.cli.options import Quiet


def synth(
    layout: Annotated[
        Literal["hm", "ponpare", "kion"], typer.Argument(help="The competition to imitate.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")],
    users: Annotated[int | None, typer.Option(help="How many users.")] = None,
    items: Annotated[int | None, typer.Option(help="How many items.")] = None,
    events: Annotated[int | None, typer.Option(help="How many events.")] = None,
    seed: Annotated[int, typer.Option(help="Equal seeds give equal bytes.")] = 0,
    gzip: Annotated[bool, typer.Option("--gzip", help="Write .csv.gz files.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the files in --out.")] = False,
    quiet: Quiet = False,
) -> None:
    """Make raw competition files of any size: same arguments, same bytes."""
    from harness.core.errors import UsageError
    from harness.core.io import exists
    from harness.core.progress import steps
    from harness.data.synthetic import synthesise

    if not force and exists(out) and out.is_dir():
        files = sorted(path.name for path in out.glob("*.csv*"))
        if files:
            raise UsageError(
                f"{out}: holds {', '.join(files[:3])}; name another --out, or replace them with "
                "--force"
            )
    with steps("writing", events, " rows", shows_bars()) as bar:
        written = synthesise(
            layout,
            out,
            users=users,
            items=items,
            events=events,
            seed=seed,
            gzip=gzip,
            progress=bar.update,
        )
    for path in () if quiet else written:
        print(f"{path}  {path.stat().st_size:,} bytes")
