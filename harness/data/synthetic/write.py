"""Files written whole or not at all: frames in, CSV in a sibling folder, renamed at the end."""

import gzip
import io
import shutil
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from harness.core import leftovers
from harness.core.errors import UsageError

_LEVEL = 9


class Folder:
    """A folder of CSV files under way; use it in a `with` statement.

    Parameters
    ----------
    out : Path
        Where the files go when all are complete; made if need be.
    compress : bool
        Write `.csv.gz` without a time stamp in place of `.csv`.

    Attributes
    ----------
    paths : list of Path
        The files in their final places, in the order of writing.
    """

    def __init__(self, out: Path, *, compress: bool) -> None:
        self._out, self._compress = out, compress
        self.paths: list[Path] = []

    def __enter__(self) -> "Folder":
        try:
            self._out.parent.mkdir(parents=True, exist_ok=True)
            for left in leftovers.of_dead(self._out, "part"):
                shutil.rmtree(left, ignore_errors=True)
            self._draft = leftovers.beside(self._out, "part")
            self._draft.mkdir()
        except OSError as error:
            reason = error.strerror
            raise UsageError(f"out: cannot make {self._out}: {reason}") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        try:
            if kind is None:
                self._publish()
        except OSError as failed:
            raise self._told(failed) from failed
        finally:
            shutil.rmtree(self._draft, ignore_errors=True)
        if isinstance(error, OSError):
            raise self._told(error) from error

    def _told(self, error: OSError) -> UsageError:
        why = f"{self._out}: cannot be written: {error.strerror or error}"
        return UsageError(f"{why}; make room, or name another --out")

    def csv(self, name: str) -> "Table":
        """Start a file `<name>.csv`; close the table, or use it in a `with` statement."""
        file = f"{name}.csv.gz" if self._compress else f"{name}.csv"
        self.paths.append(self._out / file)
        return Table(self._draft / file)

    def write(self, name: str, frame: pl.DataFrame) -> None:
        """Write a file of one frame."""
        self.write_all(name, [frame])

    def write_all(self, name: str, frames: Iterable[pl.DataFrame]) -> None:
        """Write a file of several frames with the same columns."""
        with self.csv(name) as table:
            for frame in frames:
                table.append(frame)

    def _publish(self) -> None:
        if not self._out.exists():  # all tables at once
            self._draft.replace(self._out)
            return
        for path in self.paths:
            (self._draft / path.name).replace(path)
            _twin(path).unlink(missing_ok=True)


class Table:
    """A CSV file that grows frame by frame, with one header."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._zip = (
            gzip.GzipFile("", "wb", _LEVEL, self._file, mtime=0) if path.suffix == ".gz" else None
        )
        self._header = True

    def __enter__(self) -> "Table":
        return self

    def __exit__(self, *_: object) -> None:
        if self._zip is not None:
            self._zip.close()
        self._file.close()

    def append(self, frame: pl.DataFrame) -> None:
        """Write the rows of a frame; the first frame gives the header."""
        if self._zip is None:
            frame.write_csv(self._file, include_header=self._header)
        else:
            text = io.BytesIO()
            frame.write_csv(text, include_header=self._header)
            self._zip.write(text.getbuffer())
        self._header = False


def _twin(path: Path) -> Path:
    """Name the same table in the other form, which would now be stale."""
    return path.with_suffix("") if path.suffix == ".gz" else path.with_name(path.name + ".gz")
