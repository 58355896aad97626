"""Public data sets: what `harness fetch` knows of each, and how it comes to disk with a config."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from harness.core.errors import DataError, UsageError, printable, suggest
from harness.core.io import exists, scratch_folder, whole_file

if TYPE_CHECKING:
    from harness.core.progress import Stage

CONFIG = "config.toml"
_RETRIES = 3
_CHUNK = 1 << 16


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


@dataclass(frozen=True)
class Place:
    """The folder that a data set is put in, and the seconds that its server may be silent."""

    dataset: PublicDataset
    folder: Path
    timeout: float = 30.0

    @property
    def files(self) -> list[Path]:
        """The files of the data set that are there, and the config."""
        names = [*self.dataset.files, self.dataset.readme, CONFIG]
        return [self.folder / name for name in names if exists(self.folder / name)]

    @property
    def archive(self) -> Path:
        """Where a person may put the archive; it is taken from there, and never touched."""
        return self.folder.with_name(self.dataset.archive)

    def is_filled(self) -> bool:
        """Return whether the files are there already; a config that is not is written.

        UsageError where something else is there, or no folder of that name can be made.
        """
        if self.folder.name in ("", ".."):
            raise UsageError(f"{self.folder}: needs a folder with a name, such as --out data/ml-1m")
        try:
            names = sorted(path.name for path in self.folder.iterdir())
            for name, size in self.dataset.files.items():
                path = self.folder / name
                if names and not (path.is_file() and path.stat().st_size == size):
                    raise UsageError(
                        f"{self.folder}: has {', '.join(names[:3])}, but not {name} of "
                        f"{self.dataset.name} with its {size:,} bytes; harness does not replace "
                        "your files: name another --out, or move the folder away"
                    )
            if names and CONFIG not in names:
                with whole_file(self.folder / CONFIG) as temporary:
                    temporary.write_text(config_of(self.dataset), encoding="utf-8")
        except FileNotFoundError:
            return False
        except OSError as error:  # a file, a closed folder, a name that nothing can have
            raise UsageError(
                f"{self.folder}: cannot be used: {error.strerror}; name another --out"
            ) from error
        return bool(names)

    def fill(self, stage: Stage) -> None:
        """Download, check and unpack the data set; the folder is there as a whole or not at all.

        `stage` counts the bytes of the archive. DataError where it cannot be had, or is not what
        it should be.
        """
        import pooch

        try:
            with scratch_folder(self.folder) as scratch:
                scratch = scratch.absolute()  # pooch would expand a ~
                unzip = pooch.Unzip(members=self.dataset.members, extract_dir=str(scratch))
                if exists(self.archive):
                    sha256 = pooch.file_hash(str(self.archive), alg="sha256")
                    if sha256 != self.dataset.sha256:
                        raise DataError(
                            f"{self.archive}: not the archive of {self.dataset.name}: its SHA-256 "
                            f"is {sha256}, expected {self.dataset.sha256}; move it away and try "
                            "again"
                        )
                    unzip(str(self.archive), "download", None)
                else:
                    self._download(scratch, unzip, stage)
                unpacked = scratch / self.dataset.folder
                (unpacked / CONFIG).write_text(config_of(self.dataset), encoding="utf-8")
                unpacked.replace(self.folder)
        except OSError as error:
            raise DataError(
                f"{self.folder}: cannot be written: {error.strerror or error}; fix this, or name "
                "another --out"
            ) from error

    def _download(self, folder: Path, unzip: object, stage: Stage) -> None:
        """Download the archive and unpack it when its SHA-256 is right."""
        import pooch
        import requests

        pooch.get_logger().setLevel("WARNING")  # the line shows what it would say
        name, url = self.dataset.archive, self.dataset.url
        registry = {name: self.dataset.sha256}
        source = pooch.create(
            folder, "", registry=registry, urls={name: url}, retry_if_failed=_RETRIES
        )
        download = pooch.HTTPDownloader(progressbar=stage, chunk_size=_CHUNK, timeout=self.timeout)
        try:
            source.fetch(name, processor=unzip, downloader=download)
        except (requests.RequestException, ValueError) as error:
            raise DataError(
                f"{url}: {printable(_reason(error))}; try again, perhaps from another network, "
                f"or download the archive yourself and save it as {self.archive}"
            ) from error


def _reason(error: BaseException) -> str:
    """Return in a few words why a download failed."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answers {response.status_code} {response.reason}"
    if not isinstance(error, OSError):  # pooch has compared the sums, and removed what came
        return f"the download is not the published archive ({str(error).partition('. ')[0]})"
    while error.__context__ is not None:  # each library wraps what the system says
        error = error.__context__
    return f"the connection failed ({getattr(error, 'strerror', None) or error})"


def require() -> None:
    """Raise UsageError where pooch is not installed."""
    try:
        import pooch  # noqa: F401
    except ImportError as error:
        raise UsageError(
            "harness fetch needs pooch, which is not installed: pip install pooch requests"
        ) from error


def config_of(dataset: PublicDataset) -> str:
    """Return the config that stands beside the files: how they are read, and a first evaluation."""
    head = (
        f"# {dataset.title}: {dataset.events:,} ratings by {dataset.users:,} users, "
        f"{dataset.items:,} films ({dataset.url}).\n# Terms: {dataset.terms}\n"
    )
    data = f'path = "."\nlayout = "{dataset.layout}"\nwhere = {{ rating = {{ min = 4 }} }}\n'
    evaluation = files("harness.data").joinpath("movielens.toml").read_text(encoding="utf-8")
    return f"{head}[data]\n{data}\n{evaluation}"
