"""``harness fetch``: a public data set, and a config that reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.options import Quiet
from harness.cli.output import note, say, to_type
from harness.core.errors import printable


def fetch(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A data set, such as ml-1m. harness list datasets shows all."
        ),
    ],
    out: Annotated[Path | None, "The folder to write. Default: data/NAME."] = None,
    quiet: Quiet = False,
) -> None:
    """Download a public data set and write a config for it.

    It shows the terms of use first, checks the SHA-256, and keeps existing files. If a download
    breaks off, type the command again: it starts from the beginning.
    """
    from harness.data import datasets

    dataset = datasets.known(name)
    place = datasets.Place(dataset, out or Path("data") / dataset.name)
    if place.is_filled():
        note(f"{printable(str(place.folder))}: already has {dataset.name}")
    else:
        from textwrap import fill

        from harness.core.progress import doing

        datasets.require()
        unpacked = datasets.megabytes(sum(dataset.files.values()))
        note(
            f"{dataset.title}: {dataset.events:,} ratings by {dataset.users:,} users\n"
            f"{fill(dataset.licence.text, 100)}\nThe terms in full: {dataset.terms}\n\n"
            f"{dataset.url}: {datasets.megabytes(dataset.size)}, unpacked {unpacked}"
        )
        with doing("downloading", dataset.size, "B") as stage:
            place.fill(stage)
    for path in place.files:
        say(f"{printable(str(path))}  {path.stat().st_size:,} bytes")
    say(f"next  {to_type('run', str(place.folder / datasets.CONFIG))}")
