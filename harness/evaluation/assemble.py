"""A run put together of figures of all its users: the same wherever the users are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, cast

import numpy as np
import polars as pl

from harness.config import Config, ModelConfig
from harness.config.paths import paths_of
from harness.core.errors import RecommenderError, counted
from harness.core.exact_sum import Total, of_one
from harness.core.progress import Observer
from harness.data.dataset import Dataset
from harness.evaluation.fold import Failures, Fold, HeldOut
from harness.evaluation.part import EvaluatedPart, describing, set_values
from harness.metrics import Metric
from harness.metrics.scores import curve, mean
from harness.protocol import evaluation_set, fingerprint
from harness.protocol.leaderboard_estimate import LeaderboardEstimates, leaderboard_estimate
from harness.protocol.split import Split
from harness.protocol.task import noted
from harness.protocol.users import OWN
from harness.results.record import Chance, Direction, Evaluation, ModelRecord, RunRecord, Tuned
from harness.results.run import Run
from harness.results.tables import RunTables
from harness.stats.chance_law import Law, has_law, law_of_mean
from harness.stats.estimates import ModelEstimate, of_set
from harness.stats.figures import Figures, figures_of
from harness.stats.folds import FEWEST, Folds, ScoredFold, folded, folds_of
from harness.stats.paired import Rules


def figures_by(
    config: Config,
    metrics: Sequence[Metric],
    total: Total[Any],
    *,
    users: int,
    folds: Folds | None = None,
    columns: Sequence[str] = (),
    against_chance: bool,
) -> Figures:
    """Return the figures of a config's models (`figures_of`) by its [compare], of so many users."""
    names, rules = [model.name for model in config.models], config.compare
    pairs = metrics[0].definition.of == "user" and min(len(names), users) > 1
    return figures_of(
        total,
        names,
        metrics,
        Rules(rules.baseline, rules.correction, rules.resamples, config.evaluation.seed),
        folds=folds,
        pairs=pairs,
        shares=rules.public_shares if pairs else (),
        columns=columns,
        against_chance=against_chance and metrics[0].definition.better == "higher",
    )


def assemble(
    fold: Fold, data: Dataset, split: Split, candidate_ids: pl.Series, total: Total[EvaluatedPart]
) -> Run:
    """Return the run that the users of all parts make; only its tables are missing.

    Models that failed in any part join the fold's failures. HarnessError where none is left.
    """
    config, metrics, failures, observer = fold.config, fold.metrics, fold.failures, fold.observer
    sums: Any = total(attrgetter("sums"))
    evaluation = _evaluation(config, data, split, candidate_ids, sums["set"])
    for name in sums["failed"].keys() - failures.errors.keys():  # where other processes asked
        failures.add(name, RecommenderError(min(sums["failed"][name])))
    failures.require_others(config)
    config_left = failures.without(config)
    with observer.step("compare"):
        figures = figures_by(
            config_left,
            metrics,
            total,
            users=evaluation.users,
            columns=[*OWN, *dict.fromkeys(config.compare.slices)],
            against_chance=str(metrics[0]) in sums["chance"],
        )
    pairs = counted(len(figures.comparison.pairs) if figures.comparison else 0, "pair")
    observer.log(f"compared {pairs}, {observer.seconds['compare']:.1f} s")
    resolved = config.resolved()
    resolved["evaluation"]["metrics"] = [config.from_anywhere(metric.text) for metric in metrics]
    resolved["evaluation"].setdefault("candidates", data.candidates)
    records, notes = list[ModelRecord](), list[str]()
    for settings in config_left.models:
        name, of_model = settings.name, sums["models"][settings.name]
        seeded = fold.factories.seeded(name) or bool(of_model["drawn"][0])
        notes += _notes_of_model(of_model, settings, seeded=seeded)
        varies = seeded or bool(of_model["differ"][0])
        records.append(_record_of(fold, settings, of_model, figures, varies=varies))
    chance = {name: law_of_mean(laws) for name, laws in sums["chance"].items()}
    models = best_first(records, metrics[0])
    start = "given"
    if split.cutoff is not None:
        start = str(np.datetime64(split.cutoff, "us").astype("datetime64[D]"))
    record = RunRecord(
        evaluation=evaluation,
        metrics={str(metric): Direction.of(metric) for metric in metrics},
        models=models,
        failed=failures.records(config),
        chance={name: Chance(law.mean, law.sd) for name, law in chance.items()},
        comparison=figures.comparison,
        shake_up=figures.shake_ups,
        slices=figures.slices,
        bridge=_estimates(sums, [model.name for model in models], evaluation),
        notes=(
            *_notes(config, data, split, evaluation, metrics),
            *failures.notes(config),
            *sums["unread"],
            *notes,
        ),
        seconds=dict(observer.seconds),
        folds=(),
    )
    return Run(record=record, resolved=resolved, start=start)


def _evaluation(
    config: Config, data: Dataset, split: Split, candidate_ids: pl.Series, sums: Mapping[str, Any]
) -> Evaluation:
    """Return what is evaluated, by the sums (`evaluation_set.sums`) of all parts."""
    k, n = config.evaluation.k, len(candidate_ids)
    funnel = tuple(
        evaluation_set.Step(name, int(users[0])) for name, users in sums["funnel"].items()
    )
    with noted(data):
        rule = config.evaluation.candidates or data.candidates
        evaluation_set.refuse_empty(funnel, n, rule, split)
    fields = fingerprint.fields_of(fingerprint.leaves_of_sums(sums["leaves"]), candidate_ids, k)
    return Evaluation.made(
        candidates=n, fields=fields, funnel=funnel, data=data, config=config, split=split
    )


def _record_of(
    fold: Fold, settings: ModelConfig, sums: Mapping[Any, Any], figures: Figures, *, varies: bool
) -> ModelRecord:
    """Return what the scores and lists of all users tell of a model."""
    config, metrics, name = fold.config, fold.metrics, settings.name
    k = config.evaluation.k
    n_users, of_lists = int(sums["users"][0]), set_values(sums["set"], metrics, k)
    coverage, popularity = describing(k)
    estimates = dict[str, ModelEstimate]()
    for metric in metrics:
        in_repeats = of_lists.get(metric)
        estimate = figures.estimates[name, metric] if in_repeats is None else of_set(in_repeats)
        estimates[str(metric)] = estimate if varies else replace(estimate, sd_repeats=None)
    return ModelRecord(
        name=name,
        use=settings.use and config.from_anywhere(settings.use),
        lists=tuple(config.list_files(name)),
        of=tuple(settings.base_models),
        params=fold.factories.by_name[name].params(),
        repeats=settings.repeats,
        metrics=estimates,
        vs_random=figures.verdicts.get(name),
        curve=curve(sums["curve"], metrics[0], n_users),
        described={
            str(coverage): sum(of_lists[coverage]) / settings.repeats,
            str(popularity): sums["popularity"].total / n_users,
        },
        seconds=fold.clocks[name].seconds,
        tuned=None if settings.tuned is None else Tuned(**dict(settings.tuned)),
        reused=name in fold.finished.reused,
    )


def _estimates(
    sums: Mapping[Any, Any], models: Sequence[str], evaluation: Evaluation
) -> LeaderboardEstimates:
    """Return the first metric as a leaderboard would count it, of models that know of others."""
    sample = int(sums["sample"].values[0]) or None
    estimates = {
        name: leaderboard_estimate(sums["models"][name]["leaderboard"], sample)
        for name in models
        if "leaderboard" in sums["models"][name]
    }
    return LeaderboardEstimates(
        examined=evaluation.users,
        examined_with_items=int(sums["set"]["with_items"][0]),
        window=evaluation.in_window,
        with_items=int(sums["with_items"][0]),
        sample=sample,
        models=estimates,
    )


def _notes_of_model(
    sums: Mapping[Any, Any], settings: ModelConfig, *, seeded: bool
) -> dict[str, None]:
    """Return notes on a model's lists and repeats, each once: those of lists scored again stay."""
    model, notes = f'model "{settings.name}"', list[str]()
    if settings.use is not None:
        n, empty = int(sums["users"][0]), int(sums["empty"][0])
        if 2 * empty > n:
            notes.append(f"{model}: {empty:,} of its {counted(n, 'list')} are empty and score 0")
    notes += sums["notes"]
    notes += sorted(sums["changes"])[:1]
    if sums["refused"]:
        users = counted(int(sums["left_out"][0]), "user")
        notes.append(
            f"{model} has no lists for the {users} outside the evaluation set; each counts as 0 "
            f"in its leaderboard estimate ({min(sums['refused'])})"
        )
    if not seeded and sums["differ"][0]:
        notes.append(
            f"{model}: its repeats differ, but it has no seed and does not use draws, so its "
            "scores are not repeatable; give it a parameter seed, or take random numbers from "
            "draws"
        )
    elif not seeded and settings.repeats > 1:
        notes.append(
            f"{model}: its {settings.repeats} repeats are equal, as it has no seed and does not "
            "use draws; remove repeats, or take random numbers from draws"
        )
    return dict.fromkeys(notes)


def best_first(models: Sequence[ModelRecord], metric: Metric) -> tuple[ModelRecord, ...]:
    """Return models in the order of their means."""
    sign, name = metric.definition.sign, str(metric)
    return tuple(sorted(models, key=lambda model: sign * model.metrics[name].mean))


def _notes(
    config: Config, data: Dataset, split: Split, evaluation: Evaluation, metrics: Sequence[Metric]
) -> list[str]:
    notes = [*data.notes, *split.notes(config.evaluation.seen_items)]
    assert evaluation.candidates is not None, "of one evaluation set"  # noqa: S101
    if evaluation.k > evaluation.candidates:
        n = counted(evaluation.candidates, "candidate")
        notes.append(f"k = {evaluation.k:,} is more than the {n}")
    graded = "grades" in evaluation.fields
    notes += few_users(evaluation.users)
    unknown = [str(metric) for metric in metrics if not has_law(metric, graded=graded)]
    if unknown:
        notes.append(f"there is no exact chance value for {', '.join(unknown)}")
    if split.held_back and config.fold == 0:
        notes.append(
            f"{counted(split.held_back, 'event lies', 'events lie')} in another window and "
            f"{'is' if split.held_back == 1 else 'are'} left out"
        )
    return notes


def few_users(users: int) -> list[str]:
    """Return a note where so few users are evaluated that their figures tell little."""
    if users >= FEWEST:
        return []
    return [
        f"{counted(users, 'user is', 'users are')} evaluated: with fewer than {FEWEST} users, a "
        "single user can change the result"
    ]


def over_folds(
    config: Config,
    metrics: tuple[Metric, ...],
    runs: Sequence[Run],
    failures: Failures,
    held_out: HeldOut,
) -> Run:
    """Return what the runs of all folds say together of the models that failed in none."""
    config_left, last, clock = failures.without(config), runs[-1], Observer()
    users = [cast(RunTables, run.tables) for run in runs]
    names = [model.name for model in config_left.models]
    with clock.step("compare"):
        part = [
            ScoredFold(fold.hashes, {name: fold.tables[name] for name in names}, fold.user_ids)
            for fold in users
        ]
        folds = folds_of(of_one(part))
        not_judged = _not_judged(folds, held_out)
        lawful = not not_judged and has_law(metrics[0], graded=config.graded)
        laws = [cast(Law, fold.law) for fold in users] if lawful else None
        total = of_one(folded(folds, part, laws))
        figures = figures_by(
            config_left, metrics, total, users=folds.users, folds=folds, against_chance=lawful
        )
    models = []
    for model in last.models:
        by_fold = [run.record.model(model.name) for run in runs]
        estimates = {str(metric): _estimate(metric, by_fold, part, figures) for metric in metrics}
        update = {
            "lists": tuple(config.list_files(model.name)),
            "metrics": estimates,
            "vs_random": figures.verdicts.get(model.name),
            "curve": _means([record.curve for record in by_fold]),
            "described": _means([record.described for record in by_fold]),
            "seconds": _added([record.seconds for record in by_fold]),
            "reused": all(record.reused for record in by_fold),
        }
        models.append(model.model_copy(update=update))
    records = tuple(run.record for run in runs)
    notes = [  # of folds with few users more is said
        [note for note in run.notes if note not in few_users(run.evaluation.users)] for run in runs
    ]
    record = RunRecord(
        evaluation=Evaluation.of_folds([run.evaluation for run in runs], folds.users),
        metrics=last.record.metrics,
        models=best_first(models, metrics[0]),
        failed=failures.records(config),
        chance=_chance([fold.chance for fold in records], independent=not held_out.overlaps),
        comparison=figures.comparison,
        shake_up=figures.shake_ups,
        slices=(),
        bridge=None,
        notes=(*held_out.notes(notes), *_same_lists(config_left), *not_judged),
        seconds=_added([*(fold.seconds for fold in records), clock.seconds]),
        folds=records,
    )
    return Run(
        record=record,
        resolved=config.resolved() | {"evaluation": last.config["evaluation"]},
        parts=tuple(runs),
        start=last.start,
    )


def _estimate(
    metric: Metric, by_fold: Sequence[ModelRecord], part: Sequence[ScoredFold], figures: Figures
) -> ModelEstimate:
    name = by_fold[0].name
    if metric.definition.of == "set":
        repeats = [fold.tables[name].of_repeats(metric) for fold in part]
        estimate = of_set(np.mean(repeats, axis=0).tolist())
    else:
        estimate = figures.estimates[name, metric]
    # Where no fold has a spread over repeats, they are all the same.
    random = any(model.metrics[str(metric)].sd_repeats is not None for model in by_fold)
    return estimate if random else replace(estimate, sd_repeats=None)


def _means(by_fold: Sequence[Mapping[Any, float]]) -> dict[Any, float]:
    return {key: mean(np.array([values[key] for values in by_fold])) for key in by_fold[0]}


def _added(by_fold: Sequence[Mapping[str, float]]) -> dict[str, float]:
    keys = dict.fromkeys(key for values in by_fold for key in values)
    return {key: sum(values.get(key, 0.0) for values in by_fold) for key in keys}


def _chance(folds: Sequence[Mapping[str, Chance]], *, independent: bool) -> dict[str, Chance]:
    """Return the chance of the means; its spread is known where folds are independent."""
    means = _means([{name: value.mean for name, value in fold.items()} for fold in folds])
    chance = {}
    for name, mean_of_folds in means.items():
        sd = math.sqrt(math.fsum((fold[name].sd or 0) ** 2 for fold in folds)) / len(folds)
        chance[name] = Chance(mean_of_folds, sd if independent else None)
    return chance


def _same_lists(config: Config) -> list[str]:
    """Return notes on models with one file of lists in several folds."""
    notes = []
    for model in config.models:
        names = paths_of(model.lists or [])
        paths = [(config.folder / name).resolve() for name in names]
        for path in dict.fromkeys(paths):
            folds = [number for number, other in enumerate(paths, 1) if other == path]
            if len(folds) > 1:
                notes.append(
                    f'model "{model.name}": its lists are {names[folds[0] - 1]} in folds '
                    f"{', '.join(map(str, folds))}; if the file was made for one of these folds, "
                    "name one file per fold"
                )
    return notes


def _not_judged(folds: Folds, held_out: HeldOut) -> list[str]:
    """Return why no model is judged against chance; nothing where models are."""
    notes = []
    if held_out.overlaps:
        notes.append(
            "folds overlap, so there is no comparison with chance, which needs independent folds"
        )
    least = min(folds.sizes)
    if least < FEWEST:
        users = counted(least, "user")
        notes.append(
            f"fold {folds.sizes.index(least) + 1} has {users}, fewer than {FEWEST}, so there is "
            "no comparison with chance, and intervals and tests rest on few users (with a single "
            "user there are no intervals); use fewer folds"
        )
    return notes
