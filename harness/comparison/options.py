"""What `compare` and `leaderboard` take; light to import, as their commands need it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

from harness.scoring.options import SubmissionOptions

if TYPE_CHECKING:
    from harness.metrics import Metric

Baseline = Annotated[str | None, "Compare every model with this one only."]
Sort = Literal["score", "date", "model", "run"]


class ComparisonOptions(TypedDict, total=False):
    """The metric of a comparison, and how its pairs are tested."""

    metric: str | Metric | None
    correction: Annotated[
        Literal["holm", "bh"] | None,
        "Correct p values for the number of pairs. Default: that of the config, else holm.",
    ]
    resamples: Annotated[
        int | None,
        "Draws of the bootstrap and the randomization test. Default: that of the config, else "
        "10,000.",
    ]
    seed: Annotated[
        int | None, "The same seed gives the same results. Default: that of the config, else 42."
    ]


class RankOptions(ComparisonOptions, SubmissionOptions, total=False):
    """How submissions are scored and compared."""

    k: int | None
    strict: Annotated[bool, "Treat warnings as errors."]
    force: Annotated[bool, "Score a file even if it has errors."]


class RunOptions(ComparisonOptions, total=False):
    """What `compare` takes with runs."""

    models: Annotated[Sequence[str], "Compare only this model of the runs. Repeatable."]
    baseline: Baseline
    all_pairs: Annotated[bool, "Compare all pairs of models, even if a baseline is set."]
    public_shares: Annotated[
        Sequence[float] | None,
        "The share of users on the public leaderboard, such as 0.3. Repeatable. Default: that of "
        "the config, else 0.01 and 0.3.",
    ]
    slices: Annotated[
        Sequence[str],
        "Compare within slices of users: activity, truth, repeats or a column. Repeatable.",
    ]


class PairOptions(RankOptions, total=False):
    """What `compare` takes with submissions."""

    baseline: Baseline


class CompareOptions(RunOptions, PairOptions, total=False):
    """What `compare` takes."""


class FolderOptions(TypedDict, total=False):
    """What `leaderboard` takes with a folder of runs."""

    metric: str | Metric | None
    sort: Annotated[
        Sort | None, "Sort runs: best score first, latest first, or by name. Default: score."
    ]
    model: Annotated[str | None, "Show only models with this text in their name."]
    evaluation_set: Annotated[
        str | None, "Show only the evaluation set whose fingerprint starts with this text."
    ]


class LeaderboardOptions(FolderOptions, RankOptions, total=False):
    """What `leaderboard` takes."""
