"""All figures of a run that follow from its users' scores, added up over parts of the users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.config import Config
from harness.core.exact_sum import Sums
from harness.core.steps import Steps, side_by_side
from harness.experiment.evaluate_part import EvaluatedPart
from harness.metrics import Metric
from harness.results.record import Chance
from harness.stats import chance_moments
from harness.stats.chance import Verdict, chance_steps
from harness.stats.chance_law import has_law
from harness.stats.chance_moments import has_moments
from harness.stats.estimates import (
    Key,
    ModelEstimate,
    bootstrap_steps,
    estimate_steps,
    keys_of,
    with_bootstrap,
)
from harness.stats.fold_means import Folds
from harness.stats.paired import Rules, compare_steps
from harness.stats.pairwise import Comparison, comparison_of
from harness.stats.shakeup import ShakeUp, shake_up_steps
from harness.stats.slices import Slice, slice_steps


@dataclass(frozen=True, eq=False)
class Figures:
    """What the scores of all users tell.

    Attributes
    ----------
    estimates : mapping of (model, metric) to ModelEstimate
        Of metrics of users.
    verdicts : mapping of model to Verdict
        Empty where the first metric has no law of chance, folds overlap or have few users.
    chance : mapping of Metric to Chance
        Of the metrics whose chance is known.
    """

    estimates: Mapping[Key, ModelEstimate]
    verdicts: Mapping[str, Verdict]
    chance: Mapping[Metric, Chance]
    comparison: Comparison | None
    shake_ups: tuple[ShakeUp, ...]
    slices: tuple[Slice, ...]


def figure_steps(
    config: Config,
    metrics: Sequence[Metric],
    columns: Sequence[str],
    users: int,
    folds: Folds | None = None,
    *,
    against_chance: bool = True,
) -> Steps[Any, Figures]:
    """Yield steps; return all figures.

    Parameters
    ----------
    metrics : sequence of Metric
        Models are compared by the first.
    columns : sequence of str
        Of the users' profile, to slice them by.
    users : int
        How many are evaluated, in all parts.
    folds : Folds, optional
        Where parts are of `harness.stats.folds.FoldedUsers`: the chance of a metric's mean follows
        from that of the folds, and is left out.
    against_chance : bool
        Whether parts have a law of chance to judge models by.
    """
    graded = config.graded
    names, k, wanted = [model.name for model in config.models], config.evaluation.k, config.compare
    keys, judged, seed = keys_of(names, metrics), metrics[0], config.evaluation.seed
    rules = Rules(wanted.baseline, wanted.correction, wanted.resamples, seed)
    pairs = judged.definition.of == "user" and min(len(names), users) > 1
    shares = wanted.public_shares if pairs else ()
    known = [m for m in metrics if has_moments(m, graded=graded)] if folds is None else []
    lawful = against_chance and has_law(judged, graded=graded)
    results = yield from side_by_side(
        [
            estimate_steps(keys, folds),
            bootstrap_steps(keys, wanted.resamples, seed, folds),
            chance_steps(names, judged, folds) if lawful else nothing({}),
            _moment_steps([m.up_to(k) for m in known]),
            slice_steps(names, judged, columns),
            compare_steps(names, judged, rules, folds) if pairs else nothing(None),
            *(shake_up_steps(names, judged, share, seed) for share in shares),
        ],
        threads=True,
    )
    estimates, resampled, verdicts, moments, slices, paired, *shaken = results
    return Figures(
        {key: with_bootstrap(e, resampled[key]) for key, e in estimates.items()},
        verdicts,
        {m: moments[m.up_to(k)] for m in metrics if m.up_to(k) in moments},
        None if paired is None else comparison_of(paired, resampled, judged, rules),
        tuple(shaken),
        slices,
    )


def nothing(value: Any) -> Steps[Any, Any]:
    """Yield no step; return a value."""
    yield from ()
    return value


def _moment_steps(metrics: Sequence[Metric]) -> Steps[EvaluatedPart, dict[Metric, Chance]]:
    sums: Any = yield partial(_moment_sums, metrics)
    return {m: Chance(*chance_moments.of_mean(sums[n])) for n, m in enumerate(metrics)}


def _moment_sums(metrics: Sequence[Metric], part: EvaluatedPart) -> Sums:
    held = {}
    for number, metric in enumerate(metrics):
        moments = chance_moments.exact(metric, *part.cases, part.grades)
        assert moments is not None, "there is a closed form"  # noqa: S101
        held[number] = chance_moments.moment_sums(moments)
    return held
