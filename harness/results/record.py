"""The record of a run: what result.json holds, written by this class and read back by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError, model_validator

from harness.config import Config, TunedRecord
from harness.core.errors import UsageError, printable, quoted
from harness.data.dataset import Dataset
from harness.metrics import Better, Definition, Metric, is_own, parse
from harness.protocol.evaluation_set import CORE, LOG, Step, roles_of_types
from harness.protocol.fingerprint import FORMAT, fingerprint_of
from harness.protocol.leaderboard_estimate import LeaderboardEstimates
from harness.protocol.split import Split
from harness.protocol.task import Task
from harness.stats.chance import Verdict
from harness.stats.estimates import ModelEstimate
from harness.stats.pairwise import Comparison, Pair
from harness.stats.shakeup import RankFlip, ShakeUp
from harness.stats.slices import Slice

Positive = Annotated[int, Field(ge=1)]
_SHOWN = 5  # event types that a line names
_ROUNDING = 1e-9
"""By how much of the values' size two means of them may differ, as sums are rounded."""


class Part(BaseModel):
    """A part of the record, of exact types and finite numbers; keys of later versions are let be.

    The dataclasses within it are checked by the same rules.
    """

    model_config = ConfigDict(strict=True, allow_inf_nan=False, frozen=True, defer_build=True)


class Evaluation(Part):
    """What the models were evaluated on.

    Attributes
    ----------
    users, candidates : int
        Of several folds the different users; candidates each fold has of its own.
    fields : mapping of text to text
        A digest of each field; of several folds their fingerprints.
    hits, history : tuple of str
        The event types that are truth, and those that count as history alone; empty where events
        have no types.
    fingerprint_format : int
        How `fingerprint` and `fields` are made; only those of one format tell sets apart.
    """

    k: Positive
    users: Positive
    candidates: NonNegativeInt | None
    fingerprint: str
    fields: dict[str, str]
    fingerprint_format: Positive = 1
    funnel: tuple[Step, ...]
    layout: str = ""
    window: str = ""
    hits: tuple[str, ...] = ()
    history: tuple[str, ...] = ()

    @property
    def in_window(self) -> int:
        """How many users have a hit in the window."""
        return next(step.users for step in self.funnel if step.step not in (LOG, CORE))

    @property
    def truth(self) -> str:
        """The event types that are truth, and in brackets those of history; the first of many."""
        true, history = (
            ", ".join(quoted(printable(name)) for name in types[:_SHOWN])
            + (", …" if len(types) > _SHOWN else "")
            for types in (self.hits, self.history)
        )
        counts = "counts" if len(self.history) == 1 else "count"
        return f"{true} ({history} {counts} as history)" if history else true

    @classmethod
    def of(cls, task: Task) -> Evaluation:
        """Return what the record says of a task's evaluation set, and of what it was made of."""
        evaluation_set = task.evaluation_set
        return cls.made(
            candidates=len(evaluation_set.candidates),
            fields=evaluation_set.fields,
            funnel=evaluation_set.funnel,
            data=task.data,
            config=task.config,
            split=task.split,
        )

    @classmethod
    def of_folds(cls, folds: Sequence[Evaluation], users: int) -> Evaluation:
        """Return what the record says of several folds, in order, and of their different users."""
        first, last = folds[0], folds[-1]
        fields = {f"fold {number}": fold.fingerprint for number, fold in enumerate(folds, 1)}
        return cls(
            k=first.k,
            users=users,
            candidates=None,
            fingerprint=fingerprint_of(fields),
            fields=fields,
            fingerprint_format=FORMAT,
            funnel=(),
            layout=first.layout,
            window=f"{len(folds)} folds, the last: {last.window}",
            hits=last.hits,
            history=last.history,
        )

    @classmethod
    def made(
        cls,
        *,
        candidates: int,
        fields: dict[str, str],
        funnel: tuple[Step, ...],
        data: Dataset,
        config: Config,
        split: Split,
    ) -> Evaluation:
        """Return the same by the digests of its fields, and the users after every rule."""
        hits, history = roles_of_types(data, config)
        return cls(
            k=config.evaluation.k,
            users=funnel[-1].users,
            candidates=candidates,
            fingerprint=fingerprint_of(fields),
            fields=fields,
            fingerprint_format=FORMAT,
            funnel=funnel,
            layout=data.layout,
            window=split.summary(),
            hits=hits,
            history=history,
        )


class Direction(Part):
    """Which values of a metric are better."""

    better: Better
    digest: str | None = None
    """Of a function of your own what tells its source: only figures of one source are compared.
    There is none of our metrics, and in runs of earlier versions."""

    @classmethod
    def of(cls, metric: Metric) -> Direction:
        """Return that of a metric."""
        better, digest = metric.definition.better, metric.definition.digest
        return cls(better=better) if digest is None else cls(better=better, digest=digest)


class Tuned(TunedRecord):
    """How a model's parameters were found, as its config says it."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False, defer_build=True)


class ModelRecord(Part):
    """What is known of one model."""

    name: Annotated[str, Field(min_length=1)]
    use: str | None = None
    """The import path of its class; None of files of lists, and in runs of earlier versions."""
    lists: tuple[str, ...] = ()
    """Its files of lists instead, one or one a fold."""
    of: tuple[str, ...] = ()
    """Its base models."""
    params: dict[str, Any] = {}
    """The parameters of its class, defaults written out; dates and infinite numbers are text."""
    repeats: Positive
    metrics: Annotated[dict[str, ModelEstimate], Field(min_length=1)]
    """The first is the one that models are ordered and compared by."""
    vs_random: Verdict | None = None
    """Against chance, on the first metric."""
    curve: dict[int, float] = {}
    """The first metric's mean at each."""
    described: dict[str, float] = {}
    """Coverage and popularity of its lists."""
    seconds: dict[str, float] = {}
    tuned: Tuned | None = None
    """How its parameters were found, where `harness tune` found them."""
    reused: bool = False
    """Whether an earlier run finished it, and its lists were taken from there."""


class FailedModel(Part):
    """A model that has no scores."""

    name: Annotated[str, Field(min_length=1)]
    error: str
    """What it raised."""
    fold: Positive | None = None
    """In which of several, from 1; it was not asked in those after it."""

    @property
    def says(self) -> str:
        """What it raised, and in which fold."""
        return self.error if self.fold is None else f"fold {self.fold}: {self.error}"


@dataclass(frozen=True)
class Chance:
    """The score of a uniformly random ranking: exact mean and standard deviation over rankings.

    The deviation over folds that overlap is not known: scores in these are not independent.
    """

    mean: float
    sd: float | None


def over_chance(mean: float, chance: Chance | None) -> float | None:
    """Return a mean over that of a random ranking, where that is known and not 0."""
    return mean / chance.mean if chance and chance.mean > 0 else None


def lift_of(model: ModelRecord, chance: Mapping[str, Chance]) -> float | None:
    """Return a model's first metric over that of a random ranking, where it is known.

    It is so too where models are not judged against chance, as over folds that overlap.
    """
    if model.vs_random is not None:
        return model.vs_random.lift
    metric, estimate = next(iter(model.metrics.items()))
    return over_chance(estimate.mean, chance.get(metric))


class RunRecord(Part):
    """A whole run; models stand best first. Names are the keys of result.json.

    What has a default is what runs of earlier versions may lack.
    """

    evaluation: Evaluation
    metrics: dict[str, Direction] = {}
    models: Annotated[tuple[ModelRecord, ...], Field(min_length=1)]
    failed: tuple[FailedModel, ...] = ()
    """Models without scores; the others are evaluated as if these were not there."""
    chance: dict[str, Chance] = {}
    """The metrics whose exact chance is known."""
    comparison: Comparison | None = None
    """Every pair of models, on the first metric; None for a single model or user."""
    shake_up: tuple[ShakeUp, ...] = ()
    slices: tuple[Slice, ...] = ()
    bridge: LeaderboardEstimates | None = None
    notes: tuple[str, ...] = ()
    """What was left out or looked odd."""
    seconds: dict[str, float] = {}
    folds: tuple[RunRecord, ...] = ()
    """Each as a run of its own would have it, the earliest first; what stands beside it are
    then means over folds, and statistics of users. Empty where there is one evaluation set."""

    @model_validator(mode="after")
    def _of_one_run(self) -> RunRecord:
        names, failed = {m.name for m in self.models}, {m.name for m in self.failed}
        metrics, folds = list(self.models[0].metrics), self.folds
        flips = [{frozenset((p.one, p.other)) for p in shaken.pairs} for shaken in self.shake_up]
        pairs: list[Pair | RankFlip] = [flip for shaken in self.shake_up for flip in shaken.pairs]
        compared = self.comparison.pairs if self.comparison else ()
        pairs += compared
        parts: list[Slice | LeaderboardEstimates] = [*self.slices]
        parts += [self.bridge] if self.bridge and self.bridge.models else []
        fields = {f"fold {n}": fold.evaluation.fingerprint for n, fold in enumerate(folds, 1)}
        if not (
            len(names | failed) == len(self.models) + len(self.failed)
            and all(list(m.metrics) == metrics for each in (self, *folds) for m in each.models)
            and self.metrics.keys() in (set(), {*metrics})
            and names >= {name for pair in pairs for name in (pair.one, pair.other)}
            and all(frozenset((p.one, p.other)) in known for p in compared for known in flips)
            and all(part.models.keys() == names for part in parts)
            and all({m.name for m in fold.models} - failed == names for fold in folds)
            and fields == {n: v for n, v in self.evaluation.fields.items() if n.startswith("fold ")}
        ):
            raise ValueError("its parts have different models, metrics or folds")
        for model in self.models if folds else ():
            for metric, estimate in model.metrics.items():
                means = [fold.metric_of(model.name, metric) for fold in folds]
                if differs(float(np.mean(means)), estimate.mean, float(np.mean(np.abs(means)))):
                    raise ValueError(
                        f'model "{printable(model.name)}" has a mean {printable(metric)} of '
                        f"{np.mean(means):.12g} over its folds, and {estimate.mean:.12g} itself"
                    )
        return self

    @property
    def metric(self) -> str:
        """The first metric, by which models are ordered and compared."""
        return next(iter(self.models[0].metrics))

    def better(self, metric: str) -> Better | None:
        """Return which values of a metric are better; None where that is not known.

        No code of a stranger is run for it: a user's own metric is known where the run recorded it,
        which earlier versions did not.
        """
        if metric in self.metrics:
            return self.metrics[metric].better
        definition = definition_of(metric)
        return None if definition is None else definition.better

    def digest_of(self, metric: str) -> str | None:
        """Return the digest of the source of a user's own metric; None where there is none."""
        return self.metrics[metric].digest if metric in self.metrics else None

    def model(self, name: str) -> ModelRecord:
        """Return the model of that name."""
        return next(model for model in self.models if model.name == name)

    def metric_of(self, model: str, metric: str) -> float:
        """Return the mean of a model."""
        return self.model(model).metrics[metric].mean


def definition_of(metric: str) -> Definition | None:
    """Return the definition of a metric; None of a user's own, and of one of another version."""
    try:
        return None if is_own(metric) else parse(metric).definition
    except UsageError:
        return None


def differs(mean: float, other: float, size: float) -> bool:
    """Return whether two means differ by more than sums of values of that size are rounded."""
    return not abs(mean - other) <= _ROUNDING * max(size, abs(other))  # so it is where one is NaN


def fault_of(error: ValidationError) -> str:
    """Return what is wrong with a record that was read, and where."""
    fault = error.errors()[0]
    where = ".".join(map(str, fault["loc"]))
    return f"{where}: {fault['msg']}" if where else str(fault["msg"])
