"""A public data set on disk: downloaded, checked, unpacked, and a config that reads it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import BinaryIO, cast

from harness.core import unpacking
from harness.core.errors import DataError, UsageError
from harness.core.io import exists, scratch_folder, whole_file
from harness.core.unpacking import UnpackingError
from harness.data.datasets import PublicDataset, megabytes
from harness.data.download import Download, Patience

CONFIG = "config.toml"
_COPIED = 1 << 20


@dataclass(frozen=True)
class Place:
    """Where a data set is put.

    Attributes
    ----------
    dataset : PublicDataset
    folder : Path
        Of its files and their config; the archive stands beside it while it is fetched.
    patience : Patience
        How long the server is waited for.
    """

    dataset: PublicDataset
    folder: Path
    patience: Patience = field(default_factory=Patience)

    @property
    def files(self) -> list[Path]:
        """The files of the data set that are there, and the config."""
        names = [*self.dataset.files, self.dataset.readme, CONFIG]
        return [self.folder / name for name in names if exists(self.folder / name)]

    @property
    def archive(self) -> Path:
        """Where a person may put the archive; it is taken from there, and never touched."""
        return self.folder.with_name(self.dataset.archive)

    @property
    def part(self) -> Path:
        """What is downloaded so far."""
        return self.folder.with_name(f"{self.dataset.archive}.part")

    def is_filled(self) -> bool:
        """Return whether the files are there already; a config that is not is written.

        Raises
        ------
        UsageError
            Something else is there, or a folder of that name cannot be made.
        """
        if self.folder.name in ("", ".."):
            raise UsageError(f"{self.folder}: is there as it is; name a folder to make with --out")
        try:
            if not self.folder.exists():
                return False
            names = sorted(path.name for path in self.folder.iterdir())
            if names:
                self._refuse_other(names)
                self._complete()
        except OSError as error:  # a file, a closed folder, a name that nothing can have
            raise UsageError(
                f"{self.folder}: cannot be used: {error.strerror}; name another --out"
            ) from error
        return bool(names)

    def _refuse_other(self, names: list[str]) -> None:
        """Raise UsageError where the folder has not every file of the data set."""
        wrong = [name for name in self.dataset.files if not self._is_whole(name)]
        if wrong:
            raise UsageError(
                f"{self.folder}: has {', '.join(names[:3])}, but not {wrong[0]} of "
                f"{self.dataset.name} with its {self.dataset.files[wrong[0]]:,} bytes; nothing of "
                "yours is replaced: name another --out, or move the folder away"
            )

    def _complete(self) -> None:
        if not exists(self.folder / CONFIG):
            with whole_file(self.folder / CONFIG) as temporary:
                temporary.write_text(config_of(self.dataset), encoding="utf-8")

    def _is_whole(self, name: str) -> bool:
        path = self.folder / name
        return path.is_file() and path.stat().st_size == self.dataset.files[name]

    def fill(self, progress: Callable[[int], object]) -> None:
        """Download, check and unpack the data set; the folder is there as a whole or not at all.

        Parameters
        ----------
        progress : callable
            Told how many bytes more of the archive are there.

        Raises
        ------
        DataError
            It cannot be had, or is not what it should be; the message says what to do.
        """
        download = Download(self.dataset.url, self.dataset.size, self.part, self.patience)
        self._refuse_without_room(download)
        try:
            with _folders_unless_empty(self.folder.parent), scratch_folder(self.folder) as scratch:
                made = scratch / "files"
                made.mkdir()
                self._unpack(self._fetched(download, scratch, progress), made)
                (made / CONFIG).write_text(config_of(self.dataset), encoding="utf-8")
                made.replace(self.folder)
        except OSError as error:
            raise DataError(
                f"{self.folder}: cannot be written: {error.strerror or error}; mend that, or name "
                "another --out; what was downloaded is kept"
            ) from error
        download.discard()

    def _refuse_without_room(self, download: Download) -> None:
        """Raise DataError where the disk has no room for the archive and its files."""
        there = self.folder.absolute()
        while not exists(there):
            there = there.parent
        missing = 0 if exists(self.archive) else self.dataset.size - download.there
        needed = missing + sum(self.dataset.files.values())
        free = shutil.disk_usage(there).free
        if free < needed:
            raise DataError(
                f"{there}: the disk has {megabytes(free)} free, and {self.dataset.name} needs "
                f"{megabytes(needed)}; make room, or name a folder on another disk with --out"
            )

    def _fetched(
        self, download: Download, scratch: Path, progress: Callable[[int], object]
    ) -> Path:
        """Return the archive, whose sum is right: the one that is there, or a download."""
        import pooch  # an extra

        if exists(self.archive):
            found = pooch.file_hash(str(self.archive), alg="sha256")
            if found != self.dataset.sha256:
                raise DataError(
                    f"{self.archive}: is not the archive of {self.dataset.name}: its SHA-256 is "
                    f"{found}, expected {self.dataset.sha256}; move it away and try again"
                )
            progress(self.dataset.size)
            return self.archive
        pooch.get_logger().setLevel("WARNING")  # a bar shows what it would say
        try:
            path = pooch.retrieve(
                self.dataset.url,
                known_hash=f"sha256:{self.dataset.sha256}",
                fname=self.dataset.archive,
                path=scratch,
                downloader=lambda _url, output, _pooch: self._bring(download, output, progress),
            )
        except DataError as error:
            raise DataError(
                f"{error}\nthe archive may be brought otherwise, too: put it at {self.archive}"
            ) from error.__cause__
        return Path(path)

    def _bring(self, download: Download, output: str, progress: Callable[[int], object]) -> None:
        """Download to the file that pooch asks for; what is there of it outlives this process."""
        import pooch

        download.run(progress)
        found = pooch.file_hash(str(download.part), alg="sha256")
        if found != self.dataset.sha256:
            download.discard()
            raise DataError(
                f"{download.url}: what came is not {self.dataset.name}: its SHA-256 is {found}, "
                f"expected {self.dataset.sha256}; the server, or a proxy before it, has changed "
                "it. It is removed; try again, from another network if need be"
            )
        Path(output).unlink()
        try:
            Path(output).hardlink_to(download.part)
        except OSError:  # a file system without links
            shutil.copyfile(download.part, output)

    def _unpack(self, archive: Path, target: Path) -> None:
        """Write the wanted files, and no others, into a folder under names of our own."""
        for name, most in self.dataset.members.items():
            plain = target / name.rpartition("/")[2]
            try:
                with (
                    archive.open("rb", buffering=0) as raw,
                    unpacking.member(cast(BinaryIO, raw), name, most) as stream,
                    plain.open("wb") as file,
                ):
                    shutil.copyfileobj(stream, file, _COPIED)
            except UnpackingError as error:
                raise DataError(
                    f"{self.dataset.archive}: {name} cannot be unpacked: {_SAYS[error.fault]} "
                    f"({error.value}); the archive's SHA-256 is right, so please report this"
                ) from error


@contextmanager
def _folders_unless_empty(folder: Path) -> Iterator[None]:
    """Remove what is made of a folder, and of those it lies in, where nothing is left in them."""
    made = [path for path in (folder, *folder.parents) if not exists(path)]
    try:
        yield
    finally:
        with suppress(OSError):  # one that holds something ends it
            for path in made:
                path.rmdir()


_SAYS = {
    "members": "it must be there once",
    "large": "it is larger than is known",
    "damaged": "it is damaged",
    "kind": "it is of another kind",
}


def require() -> None:
    """Raise UsageError where pooch is not installed."""
    try:
        import pooch  # noqa: F401
    except ImportError as error:
        raise UsageError(
            'harness fetch needs pooch, which is not installed: pip install "submission-harness'
            '[fetch]"'
        ) from error


def config_of(dataset: PublicDataset) -> str:
    """Return the config that stands beside the files: how they are read, and a first evaluation."""
    head = (
        f"# {dataset.title}: {dataset.events:,} ratings by {dataset.users:,} users, "
        f"{dataset.items:,} films ({dataset.url}).\n# Terms: {dataset.terms}\n"
    )
    data = "".join(f"{key} = {_toml(value)}\n" for key, value in dataset.data.items())
    evaluation = files("harness.data").joinpath("movielens.toml").read_text(encoding="utf-8")
    return f"{head}[data]\n{data}\n{evaluation}"


def _toml(value: object) -> str:
    """Return a value of a declaration as TOML, in one line.

    Examples
    --------
    >>> _toml({"rating": {"min": 4}})
    '{ rating = { min = 4 } }'
    """
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(held)}' for key, held in value.items())} }}"
    return json.dumps(value)
