"""Models of one or several runs compared: `harness compare`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from harness.config import Config
from harness.core import steps as steps_
from harness.core.errors import DataError, UsageError, counted, printable, suggest
from harness.core.random import id_hashes
from harness.core.steps import Steps, of_one, side_by_side
from harness.core.table import Column, Sheet, Shown, digits_of, ends, number, percent
from harness.experiment import run_folder
from harness.experiment.record import Evaluation
from harness.experiment.run_folder import Run
from harness.metrics import Metric
from harness.metrics.scores import ScoreTable
from harness.stats.estimates import (
    ModelEstimate,
    Tables,
    bootstrap_steps,
    estimate_steps,
    keys_of,
    with_bootstrap,
)
from harness.stats.pairwise import Comparison, Rules, compare_steps, comparison_of, pair_table
from harness.stats.shakeup import ShakeUp, shake_up_steps
from harness.stats.slices import USER, ProfiledUsers, Slice, column_title, slice_steps
from harness.stats.tests import CORRECTIONS


@dataclass(frozen=True)
class ComparedModel:
    """A model that was compared: the folders of its runs, and its estimate by the metric."""

    name: str
    run: str
    metrics: dict[str, ModelEstimate]


@dataclass(frozen=True, eq=False, repr=False)
class Compared(Shown):
    """What a comparison of runs found; names are the keys of its JSON.

    Attributes
    ----------
    evaluation : Evaluation
        What the first run says of the evaluation set.
    metric : str
    models : tuple of ComparedModel
        Best first.
    comparison : Comparison
    shake_up : tuple of ShakeUp, one a public share
    slices : tuple of Slice
        Of the columns asked for.
    """

    evaluation: Evaluation
    metric: str
    models: tuple[ComparedModel, ...]
    comparison: Comparison
    shake_up: tuple[ShakeUp, ...]
    slices: tuple[Slice, ...]

    def sheets(self) -> list[Sheet]:
        """Return the tables that are printed."""
        found = [_models(self), pair_table(self.comparison, self.shake_up)]
        columns = dict.fromkeys(part.by for part in self.slices)
        return found + [
            sliced([part for part in self.slices if part.by == by], self) for by in columns
        ]

    def records(self) -> list[dict[str, object]]:
        """Return one record a pair, in full precision."""
        return self.comparison.records(self.shake_up)


def compare(
    *of: Path | str | Run,
    metric: str | None = None,
    models: Sequence[str] = (),
    baseline: str | None = None,
    all_pairs: bool = False,
    correction: str | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    public_shares: Sequence[float] | None = None,
    by: Sequence[str] = (),
) -> Compared:
    """Compare the models of runs on one evaluation set.

    What is not named is as ``[compare]`` of the first run has it, and its seed.

    Parameters
    ----------
    *of : path of a run's folder, or Run
        One or more. A model that several runs have, with the same scores, counts once; where the
        scores differ, it is shown with its run.
    metric : str, optional
        One of the runs' metrics, as text; by default the first.
    models : sequence of str
        Only these; all by default. p values are corrected for the pairs that there are.
    baseline : str, optional
        The model that all others are compared with.
    all_pairs : bool
        Compare every two models, whatever baseline the run has.
    correction : str
        ``holm`` (any error at all) or ``bh`` (the share of errors), over all pairs.
    resamples : int
        B, of the bootstrap and of the randomization test.
    public_shares : sequence of float
        Shares of the users on the public leaderboard.
    by : sequence of str
        Columns to slice the users by: ``activity``, ``truth``, ``repeats``, or what
        ``[compare] slices`` of the run named.

    Raises
    ------
    UsageError
        No such run, metric, model or column; runs on different evaluation sets (the message lists
        the fields that differ); fewer than two models.
    DataError
        A run folder that was changed or damaged.
    """
    opened = [one if isinstance(one, Run) else run_folder.read(Path(one)) for one in of]
    _refuse_other_sets(opened)
    found: Tables
    found, origin = _tables(opened)
    asked = _metric(opened, metric)
    own = opened[0].config.compare
    if baseline is None and not all_pairs and own.baseline in found:
        baseline = own.baseline
    chosen = _chosen(found, models, baseline)
    found = {name: ScoreTable({asked: table.values[asked]}) for name, table in chosen.items()}
    rules = _rules(opened[0].config, baseline, correction, resamples, seed)
    shares = own.public_shares if public_shares is None else list(public_shares)
    profile = _profile(opened[0], by)
    part = ProfiledUsers(id_hashes(opened[0].user_ids), found, profile)
    columns = [name for name in profile.columns if name != USER]
    shares = own.public_shares if public_shares is None else list(public_shares)
    steps = compared_steps(list(found), asked, rules, shares, columns)
    means, comparison, shaken, parts = steps_.found(steps, of_one(part))
    return Compared(
        evaluation=opened[0].record.evaluation,
        metric=str(asked),
        models=tuple(
            ComparedModel(name, origin[name], {str(asked): means[name]})
            for name in comparison.means
        ),
        comparison=comparison,
        shake_up=shaken,
        slices=parts,
    )


def compared_steps(
    names: Sequence[str],
    metric: Metric,
    rules: Rules,
    shares: Sequence[float],
    columns: Sequence[str],
) -> Steps[
    ProfiledUsers,
    tuple[dict[str, ModelEstimate], Comparison, tuple[ShakeUp, ...], tuple[Slice, ...]],
]:
    """Yield steps; return estimates by model, all pairs, shake-ups and slices."""
    keys = keys_of(names, [metric])
    estimates, resampled, paired, slices, *shaken = yield from side_by_side(
        [
            estimate_steps(keys),
            bootstrap_steps(keys, rules.resamples, rules.seed),
            compare_steps(names, metric, rules),
            slice_steps(names, metric, columns),
            *(shake_up_steps(names, metric, share, rules.seed) for share in shares),
        ]
    )
    means = {
        name: with_bootstrap(estimates[name, metric], resampled[name, metric]) for name in names
    }
    return means, comparison_of(paired, resampled, metric, rules), tuple(shaken), slices


def _refuse_other_sets(opened: Sequence[Run]) -> None:
    if not opened:
        raise UsageError("no run to compare; name the folder of one, such as runs/2020-09-16-hm-…")
    first = opened[0]
    for run in opened[1:]:
        if run.folder.resolve() == first.folder.resolve():
            raise UsageError(f"{run.folder}: is named twice; name each run once")
        _refuse_other_format(first, run)
        fields, others = first.record.evaluation.fields, run.record.evaluation.fields
        differ = [name for name, digest in fields.items() if others.get(name) != digest]
        if differ:
            agree = [name for name in fields if name not in differ]
            raise UsageError(
                f"{run.folder}: has another evaluation set than {first.folder}: "
                f"{', '.join(differ)} differ"
                + (f" ({', '.join(agree)} agree)" if agree else "")
                + "; only models on one evaluation set can be compared: run both with the same "
                "data, [split] and [evaluation]"
            )
        if not run.user_ids.equals(first.user_ids):
            raise DataError(
                f"{run.folder}/per_user.parquet: holds other users than its evaluation set"
            )


def _refuse_other_format(first: Run, run: Run) -> None:
    """Raise UsageError where fingerprints say nothing, since the two runs' are made otherwise."""
    older, newer = sorted((first, run), key=lambda one: one.record.evaluation.fingerprint_format)
    if older.record.evaluation.fingerprint_format < newer.record.evaluation.fingerprint_format:
        raise UsageError(
            f"{older.folder}: was written by an earlier version than {newer.folder}, which made "
            "fingerprints in another way, so they do not tell whether both have one evaluation "
            f"set; run it again: harness run {older.folder}/config.toml"
        )


def _tables(opened: Sequence[Run]) -> tuple[dict[str, ScoreTable], dict[str, str]]:
    """Return every model's scores and the folders of its runs, by a name of its own."""
    several: dict[str, list[tuple[ScoreTable, list[str]]]] = {}
    for run in opened:
        for name, table in run.tables.items():
            versions = several.setdefault(name, [])
            same = next((folders for other, folders in versions if _equal(table, other)), None)
            if same is None:
                versions.append((table, [str(run.folder)]))
            else:
                same.append(str(run.folder))
    found, origin = {}, {}
    for name, versions in several.items():
        for table, folders in versions:
            own = name if len(versions) == 1 else f"{name} ({folders[0]})"
            if own in found or (own != name and own in several):
                raise UsageError(f'{folders[0]}: another model is named "{own}"; rename one')
            found[own], origin[own] = table, ", ".join(folders)
    return found, origin


def _equal(one: ScoreTable, other: ScoreTable) -> bool:
    """Return whether two models have the same scores under all metrics of both."""
    common = one.values.keys() & other.values.keys()
    return bool(common) and all(np.array_equal(one.values[m], other.values[m]) for m in common)


def _chosen(found: Tables, models: Sequence[str], baseline: str | None) -> Tables:
    """Return the models asked for, and the baseline."""
    for name in models:
        if name not in found:
            raise UsageError(f'no model "{name}"; {suggest(name, list(found))}')
    kept = {*models, *([] if baseline is None else [baseline])}
    return {name: t for name, t in found.items() if name in kept} if models else found


def _metric(opened: Sequence[Run], wanted: str | None) -> Metric:
    """Return a metric that all runs have scores under."""
    scored = [{str(m): m for m in next(iter(run.tables.values())).values} for run in opened]
    common = {name: m for name, m in scored[0].items() if all(name in other for other in scored)}
    # A function of one's own is named from beside its config in the table.
    named = {name: common[str(m)] for name, m in opened[0].metrics.items() if str(m) in common}
    known = named | common
    if not known:
        raise UsageError("the runs have no metric of users in common; run both with the same")
    if wanted is None:
        return next(iter(known.values()))
    if wanted not in known:
        raise UsageError(f'not all runs were scored by "{wanted}"; {suggest(wanted, list(known))}')
    return known[wanted]


def _rules(
    config: Config,
    baseline: str | None,
    correction: str | None,
    resamples: int | None,
    seed: int | None,
) -> Rules:
    """Return the rules asked for; what is not named is the config's."""
    correction = correction or config.compare.correction
    resamples = config.compare.resamples if resamples is None else resamples
    seed = config.evaluation.seed if seed is None else seed
    if correction not in CORRECTIONS:
        raise UsageError(f'no correction "{correction}"; {suggest(correction, list(CORRECTIONS))}')
    if not isinstance(resamples, int) or not 100 <= resamples <= 1_000_000:
        raise UsageError(f"resamples = {resamples!r}; expected from 100 to 1,000,000")
    if not isinstance(seed, int) or seed < 0:
        raise UsageError(f"seed = {seed!r}; expected a whole number from 0")
    return Rules(baseline, correction, resamples, seed)


def _profile(run: Run, by: Sequence[str]) -> pl.DataFrame:
    """Return the columns of a run's users that they are sliced by."""
    if not by:
        return pl.DataFrame()
    users = run.users
    columns = [name for name in users.columns if name != USER]
    for name in by:
        if name not in columns:
            raise UsageError(
                f'{run.folder}: knows no "{name}" of its users; {suggest(name, columns)}; a column '
                f'of the table of users is there after a run with [compare] slices = ["{name}"]'
            )
    return users.select(list(dict.fromkeys(by)))


def _models(compared: Compared) -> Sheet:
    digits, hits = _digits(compared), compared.comparison.any_hit

    def of(model: ComparedModel) -> ModelEstimate:
        return model.metrics[compared.metric]

    columns: list[Column[ComparedModel]] = [
        Column("model", lambda m: printable(m.name), "name"),
        Column(compared.metric, lambda m: number(of(m).mean, digits)),
        Column("95 % interval", lambda m: ends(of(m).ci95, digits)),
        Column("Student's", lambda m: ends(of(m).ci95_t, digits)),
        Column("bootstrap", lambda m: ends(of(m).ci95_bootstrap, digits)),
        Column("users above 0", lambda m: percent(hits[m.name])),
        Column("run", lambda m: printable(m.run), "words"),
    ]
    return Sheet.of(compared.models, columns, heading=[_set_line(compared)], kept=3)


def _set_line(compared: Compared) -> str:
    found = compared.evaluation
    which = [part for part in (found.layout, found.window) if part]
    parts = [*which, f"k = {found.k}", counted(compared.comparison.users, "user")]
    return f"evaluation set  {' · '.join(parts)} · {found.fingerprint[:6]}"


def _digits(compared: Compared) -> int:
    return digits_of(model.metrics[compared.metric].mean for model in compared.models)


def sliced(parts: Sequence[Slice], compared: Compared) -> Sheet:
    """Return the table of one column's slices, a column a model."""
    digits, by = _digits(compared), parts[0].by
    columns: list[Column[Slice]] = [
        Column(by, lambda part: printable(part.label), "words"),
        Column("users", lambda part: f"{part.users:,}"),
        Column("", lambda part: "few" if part.small else ""),
        *(Column(printable(m.name), partial(_mean, m.name, digits)) for m in compared.models),
    ]
    heading = [f"slices  {compared.metric} by {printable(column_title(by))}"]
    few = ["few    under 100 users, or under 10 with any: too few to tell models apart"]
    footing = few if any(part.small for part in parts) else []
    return Sheet.of(parts, columns, heading=heading, footing=footing, kept=4)


def _mean(name: str, digits: int, part: Slice) -> str:
    estimate = part.models[name]
    bounds = "" if estimate.ci95 is None else f" ({ends(estimate.ci95, digits)})"
    return number(estimate.mean, digits) + bounds
