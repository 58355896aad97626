"""``harness fetch``: a public data set, and a config that reads it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.show import to_type
from harness.core.errors import printable

if TYPE_CHECKING:
    from harness.data.fetching import Place


def fetch(
    name: Annotated[
        str, typer.Argument(help="The data set, such as ml-1m: harness list datasets shows all.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="The folder to make; data/NAME by default.")
    ] = None,
) -> None:
    """Download a public data set, check its SHA-256, and write a config that runs on it.

    The terms of use are shown first. A download that was cut goes on where it stopped, and nothing
    that is there is replaced.
    """
    from harness.data import datasets, fetching

    dataset = datasets.known(name)
    place = fetching.Place(dataset, out or Path("data") / dataset.name)
    if place.is_filled():
        print(f"{printable(str(place.folder))}: has {dataset.name} already", file=sys.stderr)
    else:
        fetching.require()
        _fill(place)
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
    print(
        f"{dataset.title}: {dataset.events:,} ratings by {dataset.users:,} users\n"
        f"{fill(dataset.licence.text, 100)}\nThe terms in full: {dataset.terms}\n\n"
        f"{dataset.url}: {megabytes(dataset.size)}, unpacked {megabytes(unpacked)}",
        file=sys.stderr,
        flush=True,
    )
    with steps("downloading", dataset.size, "B", sys.stderr.isatty()) as bar:
        place.fill(bar.update)
