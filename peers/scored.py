"""What became of one case."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Scored:
    """One case and its results: tool -> text -> users and mean; we are the tool "ours"."""

    case: dict
    results: dict

    def user(self, tool: str, text: str, user: str = "u") -> float:
        """Return one user's value."""
        return self.results[tool][text]["users"][user]

    def mean(self, tool: str, text: str) -> float:
        """Return the mean over the tool's own users."""
        return self.results[tool][text]["mean"]
