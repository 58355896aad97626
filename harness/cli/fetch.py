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
            metavar="NAME", help="The data set, such as ml-1m: harness list datasets shows all."
        ),
    ],
    out: Annotated[Path | None, "The folder to make; data/NAME by default."] = None,
    quiet: Quiet = False,
) -> None:
    """Download a public data set, with a config that runs on it.

    Its SHA-256 is checked.

    The terms of use are shown first. A download that was cut starts over. Existing files are kept.
    """
    from harness.data import datasets, fetching

    dataset = datasets.known(name)
    place = fetching.Place(dataset, out or Path("data") / dataset.name)
    if place.is_filled():
        note(f"{printable(str(place.folder))}: has {dataset.name} already")
    else:
        from textwrap import fill

        from harness.core.progress import doing

        fetching.require()
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
    say(f"next  {to_type('run', str(place.folder / fetching.CONFIG))}")
