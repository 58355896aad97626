"""Public data sets that ``harness fetch`` knows: where each is, its sum, its terms, its files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

from harness.core.errors import UsageError, suggest


class Licence(NamedTuple):
    """Under which terms a data set may be used: in a few words, and in full sentences."""

    short: str
    text: str


@dataclass(frozen=True)
class PublicDataset:
    """A data set as its publisher offers it: one zip archive that never changes."""

    name: str
    title: str
    url: str
    size: int  # bytes of the archive
    sha256: str
    licence: Licence
    terms: str  # the page that has them in full
    folder: str  # within the archive, where all wanted files are
    files: Mapping[str, int]  # the wanted ones, and the bytes of each when unpacked
    readme: str  # the publisher's description, which is kept beside them
    events: int
    users: int
    items: int
    layout: str

    @property
    def archive(self) -> str:
        """The name of the archive."""
        return self.url.rpartition("/")[2]

    @property
    def members(self) -> list[str]:
        """The wanted members of the archive by their names in it."""
        return [f"{self.folder}/{name}" for name in (*self.files, self.readme)]


def _read_registry() -> dict[str, PublicDataset]:
    text = files("harness.data").joinpath("datasets.toml").read_text(encoding="utf-8")
    registry = tomllib.loads(text)
    for name, facts in registry["datasets"].items():
        facts |= {"name": name, "licence": Licence(**registry["licences"][facts["licence"]])}
    return {name: PublicDataset(**facts) for name, facts in registry["datasets"].items()}


DATASETS: Mapping[str, PublicDataset] = _read_registry()
"""By name, the smallest first."""


def known(name: str) -> PublicDataset:
    """Return the data set of a name; a UsageError says which there are."""
    if name in DATASETS:
        return DATASETS[name]
    near = suggest(name, DATASETS)
    all_ = "" if near.startswith("allowed") else f" All: {', '.join(DATASETS)}."
    why = " (GroupLens changes it from time to time)" if name.startswith("ml-latest") else ""
    raise UsageError(f'harness fetch has no "{name}"{why}; {near}{all_}')


def megabytes(bytes_: int) -> str:
    """Return a size in millions of bytes.

    >>> megabytes(5_917_549), megabytes(1_200_000_000)
    ('5.9 MB', '1,200.0 MB')
    """
    return f"{bytes_ / 1e6:,.1f} MB"
