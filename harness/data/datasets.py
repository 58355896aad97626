"""Public data sets that ``harness fetch`` knows: where each is, its sum, its terms, its files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from harness.core.errors import UsageError, suggest
from harness.core.table import Column, Sheet

README_BYTES = 1 << 16
"""What a data set's own description may have at most."""


@dataclass(frozen=True)
class Licence:
    """Under which terms a data set may be used.

    Attributes
    ----------
    short, text : str
        In a few words, and in full sentences.
    """

    short: str
    text: str


@dataclass(frozen=True)
class PublicDataset:
    """A data set as its publisher offers it: one zip archive that never changes.

    Attributes
    ----------
    name, title : str
        As it is asked for, and as it is known.
    url, size, sha256 : str, int, str
        Of the archive: where it is, its bytes, and the SHA-256 of these in hexadecimal digits.
    licence : Licence
        The terms, and `terms`, the page that has them in full.
    folder : str
        Within the archive, where all wanted files are.
    files : mapping of str to int
        The wanted files, and the bytes of each when unpacked.
    readme : str
        The publisher's description, which is kept beside them: at most `README_BYTES`.
    events, users, items : int
        Ratings, those who gave them, and the films in the table of films.
    data : mapping
        ``[data]`` of a config that reads the files, beside which it stands.
    """

    name: str
    title: str
    url: str
    size: int
    sha256: str
    licence: Licence
    terms: str
    folder: str
    files: Mapping[str, int]
    readme: str
    events: int
    users: int
    items: int
    data: Mapping[str, Any]

    @property
    def archive(self) -> str:
        """The name of the archive."""
        return self.url.rpartition("/")[2]

    @property
    def members(self) -> dict[str, int]:
        """The wanted members of the archive by their names in it, and the most bytes of each."""
        sizes = {**self.files, self.readme: README_BYTES}
        return {f"{self.folder}/{name}": size for name, size in sizes.items()}


_RESEARCH = (
    "For research: no commercial use without GroupLens' permission, {copies}, no word of "
    "endorsement by the university. Publications cite F. M. Harper and J. A. Konstan (2015), The "
    "MovieLens Datasets: History and Context, ACM TiiS 5, 4, Article 19, doi:10.1145/2827872."
)
NO_COPIES = Licence(
    "research only, not to be passed on",
    _RESEARCH.format(copies="not to be passed on without it either"),
)
SAME_TERMS = Licence(
    "research only, passed on under the same terms",
    _RESEARCH.format(copies="to be passed on under these same terms alone"),
)


def _movielens(
    size: str,
    bytes_: int,
    sha256: str,
    files: Mapping[str, int],
    counts: tuple[int, int, int],
    data: Mapping[str, Any],
    readme: str = "README.txt",
    page: str = "README.html",
    folder: str = "",
    licence: Licence = NO_COPIES,
) -> PublicDataset:
    name = f"ml-{size.lower()}"
    events, users, items = counts
    return PublicDataset(
        name=name,
        title=f"MovieLens {size}",
        url=f"https://files.grouplens.org/datasets/movielens/{name}.zip",
        size=bytes_,
        sha256=sha256,
        licence=licence,
        terms=f"https://files.grouplens.org/datasets/movielens/{name}-{page}",
        folder=folder or name,
        files=MappingProxyType(dict(files)),
        readme=readme,
        events=events,
        users=users,
        items=items,
        data=MappingProxyType({"path": ".", **data, "where": {"rating": {"min": 4}}}),
    )


_RATINGS_CSV = {"layout": "ml-20m"}
"""How the files of the later editions are read."""


def _by_name(datasets: Iterable[PublicDataset]) -> Mapping[str, PublicDataset]:
    return MappingProxyType({dataset.name: dataset for dataset in datasets})


# Each sum is given alike by sources that do not know of each other: TensorFlow Datasets (100K, 1M,
# 20M, 25M) and OmniRec (1M, 10M, 20M, 25M); for 10M and 32M also what several people computed.
DATASETS = _by_name(
    [
        _movielens(
            "100K",
            4_924_029,
            "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
            {"u.data": 1_979_173, "u.item": 236_344, "u.user": 22_628, "u.genre": 202},
            (100_000, 943, 1_682),
            {"layout": "ml-100k"},
            readme="README",
            page="README.txt",
        ),
        _movielens(
            "1M",
            5_917_549,
            "a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
            {"ratings.dat": 24_594_131, "movies.dat": 171_308, "users.dat": 134_368},
            (1_000_209, 6_040, 3_883),
            {"layout": "ml-1m"},
            readme="README",
            page="README.txt",
        ),
        _movielens(
            "10M",
            65_566_137,
            "813c411ccb6122564edfe752e7f80c4dcc5aa25fa94c93622f6877a7ba252862",
            {"ratings.dat": 265_105_635, "movies.dat": 522_197},
            (10_000_054, 69_878, 10_681),
            {"layout": "ml-10m"},
            readme="README.html",
            folder="ml-10M100K",
        ),
        _movielens(
            "20M",
            198_702_078,
            "96f243c338a8665f6bcc89c53edf6ee39162a846940de6b7c8c48aeada765ff3",
            {"ratings.csv": 533_444_411, "movies.csv": 1_397_542},
            (20_000_263, 138_493, 27_278),
            _RATINGS_CSV,
        ),
        _movielens(
            "25M",
            261_978_986,
            "8b21cfb7eb1706b4ec0aac894368d90acf26ebdfb6aced3ebd4ad5bd1eb9c6aa",
            {"ratings.csv": 678_260_987, "movies.csv": 3_038_099},
            (25_000_095, 162_541, 62_423),
            _RATINGS_CSV,
        ),
        _movielens(
            "32M",
            238_950_008,
            "e4a68655d7386b8f95f2f2424b2ff975dfdd15ffd59e0d864a14dca43e99d6ee",
            {"ratings.csv": 877_076_222, "movies.csv": 4_242_926},
            (32_000_204, 200_948, 87_585),
            _RATINGS_CSV,
            licence=SAME_TERMS,
        ),
    ]
)
"""By name, the smallest first. ml-latest and ml-latest-small change, so no sum of theirs lasts."""


def known(name: str) -> PublicDataset:
    """Return the data set of a name.

    Raises
    ------
    UsageError
        There is none; the message has the nearest name and all of them.
    """
    if name in DATASETS:
        return DATASETS[name]
    near = suggest(name, DATASETS)
    all_ = "" if near.startswith("allowed") else f" All: {', '.join(DATASETS)}."
    why = " (GroupLens changes it now and then)" if name.startswith("ml-latest") else ""
    raise UsageError(f'harness fetch has no "{name}"{why}; {near}{all_}')


def sheet() -> Sheet:
    """Return the data sets as a table."""
    columns: list[Column[PublicDataset]] = [
        Column("data set", lambda d: d.name, "name"),
        Column("events", lambda d: f"{d.events:,}"),
        Column("users", lambda d: f"{d.users:,}"),
        Column("items", lambda d: f"{d.items:,}"),
        Column("download", lambda d: megabytes(d.size)),
        Column("licence", lambda d: d.licence.short, "words"),
    ]
    footing = ["harness fetch NAME shows the terms in full before it downloads"]
    return Sheet.of(DATASETS.values(), columns, footing=footing)


def document() -> dict[str, Any]:
    """Return the data sets as the JSON document of ``harness list datasets``."""
    names = ("name", "title", "events", "users", "items", "url", "size", "sha256", "terms")
    facts = [
        {**{name: getattr(d, name) for name in names}, "licence": d.licence.text}
        for d in DATASETS.values()
    ]
    return {"schema": 1, "datasets": facts}


def megabytes(bytes_: int) -> str:
    """Return a size in millions of bytes.

    Examples
    --------
    >>> megabytes(5_917_549), megabytes(1_200_000_000)
    ('5.9 MB', '1,200.0 MB')
    """
    return f"{bytes_ / 1e6:,.1f} MB"
