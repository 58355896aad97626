"""From the exam's score to a leaderboard's: the same marks over more users, who count as 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.config import Config
from harness.errors import HarnessError
from harness.evaluation import EvaluationSet


@dataclass(frozen=True)
class Bridge:
    """How many users there are beside the examined.

    Attributes
    ----------
    examined : int
        Users of the evaluation set.
    window : int
        Users with any event in the window. Those without a candidate hit would score 0; those
        not seen in training are taken to.
    sample : int, optional
        Ids of the sample submission, where there is one: a leaderboard that counts everybody.
    """

    examined: int
    window: int
    sample: int | None = None

    def over_window(self, mean: float) -> float:
        """Return the mean over all users of the window."""
        return mean * self.examined / self.window

    def over_sample(self, mean: float) -> float | None:
        """Return the mean over all ids of the sample submission."""
        return None if self.sample is None else mean * self.examined / self.sample

    def to_dict(self, means: dict[str, float]) -> dict[str, Any]:
        """Return what JSON holds: the counts, and each model's rescaled mean."""
        rescaled = {
            name: {"window": self.over_window(mean), "sample": self.over_sample(mean)}
            for name, mean in means.items()
        }
        return {**vars(self), "models": rescaled}


def bridge(config: Config, exam: EvaluationSet) -> tuple[Bridge, tuple[str, ...]]:
    """Return how many users a leaderboard may count, and what to know of it.

    A sample submission that cannot be read costs its figure, not the run.
    """
    from harness.submission.competition import sample_users

    window = exam.funnel[0].users
    try:
        return Bridge(len(exam.users), window, sample_users(config)), ()
    except HarnessError as error:
        return Bridge(len(exam.users), window), (f"no score over the sample submission: {error}",)
