"""Every kind of JSON document that is printed or written, and the type of what it holds.

Documents that are put together of plain values are described here; tests hold them against real
ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from harness.comparison.check import Checked
from harness.comparison.compare import Compared
from harness.comparison.explain import Explanations
from harness.comparison.leaderboard import Leaderboard
from harness.comparison.submissions import Ranking
from harness.config.space import SearchName
from harness.hosting.split import SplitRecord
from harness.listing.metrics import ConventionFacts, MetricFacts
from harness.listing.tables import Baselines, Checks
from harness.results.record import Evaluation, RunRecord
from harness.scoring.submissions import OnConvention
from harness.stats.estimates import Estimate
from harness.submission.problems import Problem
from harness.tuning.result import TunedModel

_ABSENT: Any = Field(default=None)
"""The default of a key that may be missing; where it is there, it has a value."""


class Environment(BaseModel):
    """The versions that figures may depend on; of each package one, or ``not installed``.

    Attributes
    ----------
    python, platform : str
    written : str
        When the run was written, in ISO 8601.
    tables : str
        Where Spark wrote the tables, if they are not beside this file.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str]

    python: str
    platform: str
    written: str
    tables: str = _ABSENT


InnerEvaluation = create_model(
    "InnerEvaluation",
    __doc__="The evaluation set of a search, within train.",
    **{n: (f.annotation, f) for n, f in Evaluation.model_fields.items() if n != "funnel"},  # type: ignore[call-overload]
)


class Tuned(BaseModel):
    """What a search over models' parameters found.

    Attributes
    ----------
    metric : str
        What was searched by.
    """

    evaluation: InnerEvaluation  # type: ignore[valid-type]
    metric: str
    search: SearchName
    seed: int
    models: list[TunedModel]


class ScoredUsers(BaseModel):
    """Whom a file was scored on.

    Attributes
    ----------
    k : int
        The cut-off of the conventions.
    users : int
        Who are averaged.
    fingerprint : str, optional
        That of the evaluation set, where a config sets one.
    left_out : mapping of text to int
        Counts of what was left out, and of users without a list.
    truth : str
        How a file of true items was read, as in ``one row an item, 3 users``.
    fold, folds : int
        Which of several evaluation sets of a config it was, and of how many.
    """

    k: int
    users: int
    fingerprint: str | None
    left_out: dict[str, int]
    truth: str = _ABSENT
    fold: int = _ABSENT
    folds: int = _ABSENT


class Found(BaseModel):
    """What is wrong with a file that was to be scored.

    Attributes
    ----------
    checked : str
        As what it was read, and against which ids.
    forced : bool
        Whether it was scored with errors.
    """

    checked: str
    errors: int
    warnings: int
    found: list[Problem]
    forced: bool


class Scored(BaseModel):
    """The estimates of a file of lists.

    Attributes
    ----------
    evaluation : ScoredUsers, optional
        None of a file that has errors and was not scored.
    metrics : mapping of text to Estimate
        Empty of such a file.
    usage : mapping of text to the same
        By leaderboard, Public and Private, where the solution has them.
    conventions : list of OnConvention
        With ``--conventions``.
    """

    evaluation: ScoredUsers | None
    metrics: dict[str, Estimate]
    usage: dict[str, dict[str, Estimate]]
    problems: Found = _ABSENT
    conventions: list[OnConvention] = _ABSENT


class Validation(BaseModel):
    """What is wrong with a submission.

    Attributes
    ----------
    valid : bool
        Whether there are no errors.
    checked : str
        As what it was read, and against which ids.
    fold, folds : int
        Which of several evaluation sets of a config it was held against, and of how many.
    problems : list of Problem
        Errors first.
    """

    valid: bool
    rows: int
    checked: str
    fold: int = _ABSENT
    folds: int = _ABSENT
    problems: list[Problem]


class LayoutFacts(BaseModel):
    """A built-in layout.

    Attributes
    ----------
    events : list of str
        Its files.
    columns : list of str
        Event types, and columns of types and values.
    """

    name: str
    data: str
    events: list[str]
    columns: list[str]


class Layouts(BaseModel):
    """The built-in layouts."""

    layouts: list[LayoutFacts]


class DatasetFacts(BaseModel):
    """A data set that may be fetched.

    Attributes
    ----------
    size : int
        Of the download, in bytes.
    """

    name: str
    title: str
    events: int
    users: int
    items: int
    url: str
    size: int
    sha256: str
    terms: str
    licence: str


class Datasets(BaseModel):
    """The data sets that may be fetched."""

    datasets: list[DatasetFacts]


class EvalAI(BaseModel):
    """What EvalAI reads of a submission.

    Attributes
    ----------
    result : list of mapping
        One a split, by its name: metrics and their means.
    submission_result : mapping of text to float
        Those of all users.
    """

    result: list[dict[str, dict[str, float]]]
    submission_result: dict[str, float]


@dataclass(frozen=True)
class Document:
    """A kind of JSON document.

    Attributes
    ----------
    title : str
        Where it is found: a file, or the command that prints it.
    of : type
        What it is an instance of.
    versioned : bool
        Whether it has a key ``schema``.
    """

    title: str
    of: Any
    versioned: bool = True


DOCUMENTS = {
    "run": Document("harness run --format json, and result.json of a run folder", RunRecord),
    "environment": Document("environment.json of a run folder", Environment, versioned=False),
    "compare": Document("harness compare --format json", Compared),
    "submissions": Document(
        "harness compare and harness leaderboard of submissions, with --format json",
        Ranking,
    ),
    "check": Document("harness check --format json", Checked),
    "leaderboard": Document("harness leaderboard --format json", Leaderboard),
    "tune": Document("harness tune --format json", Tuned),
    "validate": Document("harness validate --format json", Validation),
    "score": Document("harness score --format json", Scored),
    "explain": Document("harness explain --format json", Explanations),
    "split": Document("split.json of a folder that harness split wrote", SplitRecord),
    "list-metrics": Document(
        "harness list metrics --format json", list[MetricFacts], versioned=False
    ),
    "list-conventions": Document(
        "harness list conventions --format json", list[ConventionFacts], versioned=False
    ),
    "list-baselines": Document("harness list baselines --format json", Baselines),
    "list-layouts": Document("harness list layouts --format json", Layouts),
    "list-checks": Document("harness list checks --format json", Checks),
    "list-datasets": Document("harness list datasets --format json", Datasets),
    "codabench": Document(
        "scores.json of harness score --codabench", dict[str, float], versioned=False
    ),
    "evalai": Document("the file of harness score --evalai", EvalAI, versioned=False),
}
"""By the name of the file in docs/schema."""
