"""The source of models, which must be the same in all processes of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Lock

from harness.core.errors import DataError, RecommenderError
from harness.core.sources import imported_sources


class OneSource:
    """What the processes of a run have imported, by path."""

    def __init__(self) -> None:
        self._imported, self._changed = self.imported(), Lock()

    def imported(self) -> dict[str, str]:
        """Return what this process has imported."""
        return imported_sources()

    def require_same(self, name: str) -> None:
        """Raise RecommenderError where this process has imported a file otherwise than another.

        Parameters
        ----------
        name : str
            The model that it has asked.
        """
        other = self._add(self.imported())
        if other is not None:
            raise RecommenderError(
                f'model "{name}": {other} was written during the run, after another process had '
                "evaluated models with what it was; run the same command again"
            )

    def refuse_other(self, imported: Mapping[str, str]) -> None:
        """Raise DataError where another process has imported a file otherwise."""
        other = self._add(imported)
        if other is not None:
            raise DataError(f"finds other code: {other.name} has changed since its import")

    def _add(self, imported: Mapping[str, str]) -> Path | None:
        """Add what a process has imported; return a file that another has imported otherwise."""
        with self._changed:
            for path, digest in imported.items():
                if self._imported.get(path, digest) != digest:
                    return Path(path)
            self._imported.update(imported)
            return None
