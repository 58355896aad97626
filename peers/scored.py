"""What became of one exam."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scored:
    """One exam and its results: tool -> text -> users and mean; we are the tool "ours"."""

    exam: dict
    results: dict

    def user(self, tool: str, text: str, user: str = "u") -> float:
        """Return one user's value."""
        return self.results[tool][text]["users"][user]

    def mean(self, tool: str, text: str) -> float:
        """Return the mean over the tool's own users."""
        return self.results[tool][text]["mean"]
