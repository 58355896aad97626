"""What every result can do: be printed, shown in a notebook, and turned into other tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from harness.report.sheet import Sheet


class Shown(ABC):
    """A result with tables for readers and records for programs."""

    @abstractmethod
    def sheets(self) -> list[Sheet]:
        """Return the tables that are printed."""

    @abstractmethod
    def records(self) -> list[dict[str, object]]:
        """Return records with full figures, all of the same keys."""

    def to_pandas(self) -> pd.DataFrame:
        """Return the records as a frame, one row each."""
        import pandas as pd

        return pd.DataFrame(self.records())

    def to_markdown(self) -> str:
        """Return the tables in Markdown."""
        from harness.report import sheet

        return "\n\n".join(map(sheet.markdown, self.sheets()))

    def to_latex(self) -> str:
        """Return the tables in LaTeX, with the rules of the package booktabs."""
        from harness.report import sheet

        return "\n\n".join(map(sheet.latex, self.sheets()))

    def __repr__(self) -> str:
        from harness.report import sheet

        return "\n\n".join(map(sheet.plain, self.sheets()))

    def _repr_html_(self) -> str:
        """Return the tables as a notebook shows them."""
        from harness.report import sheet

        return "\n".join(map(sheet.html, self.sheets()))
