"""What result.json must hold to be read back: written by hand or damaged, it is told where."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from harness.metrics import Better

Count = Annotated[int, Field(ge=0)]
Ends = tuple[FiniteFloat, FiniteFloat] | None


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)


class _Metric(_Part):
    better: Better


class _Estimate(_Part):
    mean: FiniteFloat
    ci95: Annotated[Ends, Field(strict=False)]
    sd_repeats: FiniteFloat | None = None


class _Versus(_Part):
    lift: FiniteFloat | None
    p: FiniteFloat
    verdict: str


class _Tuned(_Part):
    trials: Annotated[int, Field(ge=1)]
    search: str
    seed: Count
    metric: str
    value: FiniteFloat
    exam: str


class _Model(_Part):
    name: Annotated[str, Field(min_length=1)]
    repeats: Annotated[int, Field(ge=1)]
    metrics: Annotated[dict[str, _Estimate], Field(min_length=1)]
    vs_random: _Versus | None = None
    curve: dict[str, FiniteFloat] = {}
    described: dict[str, FiniteFloat] = {}
    seconds: dict[str, FiniteFloat] = {}
    tuned: _Tuned | None = None


class _Step(_Part):
    step: str
    users: Count


class _Evaluation(_Part):
    k: Annotated[int, Field(ge=1)]
    users: Annotated[int, Field(ge=1)]
    candidates: Count
    fingerprint: str
    fields: dict[str, str]
    funnel: list[_Step]


class _Chance(_Part):
    mean: FiniteFloat
    sd: FiniteFloat


class _Pair(_Part):
    one: str
    other: str
    difference: FiniteFloat
    ci95: Annotated[Ends, Field(strict=False)]
    effect_size: FiniteFloat | None
    p_t: FiniteFloat
    p_sign_flip: FiniteFloat
    p_adjusted: FiniteFloat
    wins: Count
    ties: Count
    losses: Count
    detectable: FiniteFloat | None
    verdict: str


class _Comparison(_Part):
    metric: str
    users: Count
    baseline: str | None
    correction: str
    pairs: list[_Pair]


class _RankFlip(_Part):
    one: str
    other: str
    changes: FiniteFloat
    ties: FiniteFloat


class _ShakeUp(_Part):
    share: FiniteFloat
    public: Count
    users: Count
    times: Count
    leader_falls: FiniteFloat
    pairs: list[_RankFlip]


class _Slice(_Part):
    by: str
    label: str
    users: Count
    small: bool
    models: dict[str, _Estimate]


class _OnLeaderboard(_Part):
    window: FiniteFloat | None
    sample: FiniteFloat | None
    at_least: bool = True


class _LeaderboardEstimate(_Part):
    examined: Count
    window: Count
    with_items: Count | None = None
    sample: Count | None
    models: dict[str, _OnLeaderboard]


class _Document(_Part):
    evaluation: _Evaluation
    metrics: dict[str, _Metric] = {}  # earlier versions wrote none
    models: Annotated[list[_Model], Field(min_length=1)]
    chance: dict[str, _Chance] = {}
    comparison: _Comparison | None = None
    shake_up: list[_ShakeUp] = []
    slices: list[_Slice] = []
    bridge: _LeaderboardEstimate | None = None
    notes: list[str] = []
    seconds: dict[str, FiniteFloat] = {}

    @model_validator(mode="after")
    def _of_one_piece(self) -> _Document:
        names = [model.name for model in self.models]
        metrics = list(self.models[0].metrics)
        if len(set(names)) < len(names):
            raise ValueError("two models have one name")
        if any(list(model.metrics) != metrics for model in self.models):
            raise ValueError("not all models have the same metrics")
        if self.metrics and self.metrics.keys() != set(metrics):
            raise ValueError("its metrics are not those of its models")
        for name in self._mentioned():
            if name not in names:
                raise ValueError(f'"{name}" is none of its models')
        if any(list(part.models) != list(self.slices[0].models) for part in self.slices):
            raise ValueError("not all slices have the same models")
        parts = [part.models for part in self.slices] + [self.bridge.models if self.bridge else {}]
        if any(part and part.keys() != set(names) for part in parts):
            raise ValueError("a slice or the leaderboard estimate has not all of its models")
        return self

    def _mentioned(self) -> Iterable[str]:
        for pair in self.comparison.pairs if self.comparison else ():
            yield from (pair.one, pair.other)
        for flip in (flip for one in self.shake_up for flip in one.pairs):
            yield from (flip.one, flip.other)
        for part in self.slices:
            yield from part.models
        yield from self.bridge.models if self.bridge else ()


def fault_of(document: Any) -> str | None:
    """Return what is wrong with a run's document and where, None where nothing is."""
    try:
        _Document.model_validate(document)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        return f"{where}: {fault['msg']}" if where else str(fault["msg"])
    return None
