"""Every model's marks in, how they all stand out: figures, verdicts, pairs, boards, slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from harness import chance
from harness.comparison import Comparison, Rules, compare
from harness.config import Config, TunedRecord
from harness.evaluation import EvaluationSet
from harness.figures import Figure, bootstrap, figures
from harness.metrics import Metric
from harness.results import ModelResult
from harness.shakeup import ShakeUp, shake_up
from harness.sitting import Sitting
from harness.slices import Slice, slices


class Standings(NamedTuple):
    """How the models of a run stand, to chance and to each other."""

    models: tuple[ModelResult, ...]
    comparison: Comparison | None
    shake_ups: tuple[ShakeUp, ...]
    slices: tuple[Slice, ...]


def standings(
    sittings: Sequence[Sitting],
    asked: Sequence[Metric],
    exam: EvaluationSet,
    users: pl.DataFrame,
    config: Config,
) -> Standings:
    """Return every model's figures, and the comparisons that the config asks for.

    Parameters
    ----------
    asked : sequence of Metric
        The first is the one that models are compared by.
    users : polars.DataFrame
        `harness.profile` of the exam's users.
    """
    first, wanted, seed = asked[0], config.compare, config.evaluation.seed
    tables = {sitting.name: sitting.scores for sitting in sittings}
    resampled = bootstrap(tables, asked, wanted.resamples, seed)
    law = chance.law(first.up_to(exam.k), exam.n_candidates, exam.truth.sizes, exam.relevant)
    found = figures(tables, resampled)
    tuned = {model.name: model.tuned for model in config.models}
    models = [_model(s, found[s.name], first, law, tuned[s.name]) for s in sittings]
    several = first.definition.of == "user" and min(len(tables), len(exam.users)) > 1
    rules = Rules(wanted.baseline, wanted.correction, wanted.resamples, seed)
    shares = wanted.public_shares if several else ()
    return Standings(
        tuple(sorted(models, key=lambda m: first.definition.sign * m.metrics[str(first)].mean)),
        compare(tables, first, rules, resampled[first]) if several else None,
        tuple(shake_up(tables, first, share, seed) for share in shares),
        slices(tables, first, users),
    )


def _model(
    sitting: Sitting,
    found: dict[Metric, Figure],
    first: Metric,
    law: chance.Law | None,
    tuned: TunedRecord | None,
) -> ModelResult:
    scores = sitting.scores
    return ModelResult(
        name=sitting.name,
        repeats=scores.repeats,
        metrics={
            str(metric): figure if sitting.random else replace(figure, sd_repeats=None)
            for metric, figure in found.items()
        },
        verdict=None if law is None else chance.against_chance(scores, first, law),
        curve=sitting.curve,
        described=sitting.described,
        seconds=sitting.seconds,
        scores=scores,
        tuned=tuned,
        estimate=sitting.estimate,
    )
