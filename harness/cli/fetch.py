"""``harness fetch``: a public data set, and a config that reads it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.log import note, shows_bars
from harness.cli.options import Quiet
from harness.cli.show import to_type
from harness.core.errors import printable

if TYPE_CHECKING:
    from harness.data.fetching import Place


def fetch(
    name: Annotated[
        str, typer.Argument(help="The data set, such as ml-1m: harness list datasets shows all.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder to make; data/NAME by default."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Download a public data set, check its SHA-256, and write a config that runs on it.

    The terms of use are shown first. A download that was cut starts over. Existing files are kept.
    """
    from harness.data import datasets, fetching

    dataset = datasets.known(name)
    place = fetching.Place(dataset, out or Path("data") / dataset.name)
    if place.is_filled():
        note(f"{printable(str(place.folder))}: has {dataset.name} already")
    else:
        fetching.require()
        _fill(place)
    if quiet:
        return
    for path in place.files:
        print(f"{printable(str(path))}  {path.stat().st_size:,} bytes")
    print(f"next  {to_type('run', str(place.folder / fetching.CONFIG))}")


def _fill(place: Place) -> None:
    """Show the terms, then download and unpack."""
    from textwrap import fill

    from harness.core.progress import steps
    from harness.data.datasets import megabytes

    dataset = place.dataset
    unpacked = sum(dataset.files.values())
    note(
        f"{dataset.title}: {dataset.events:,} ratings by {dataset.users:,} users\n"
        f"{fill(dataset.licence.text, 100)}\nThe terms in full: {dataset.terms}\n\n"
        f"{dataset.url}: {megabytes(dataset.size)}, unpacked {megabytes(unpacked)}"
    )
    with steps("downloading", dataset.size, "B", shows_bars()) as bar:
        place.fill(bar)
