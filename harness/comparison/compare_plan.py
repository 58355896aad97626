"""What `harness compare` is asked for: runs on one evaluation set, which models, and by what."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from harness.config import Config
from harness.core.errors import UsageError, counted, suggest
from harness.metrics import Metric, is_own
from harness.results.run import Run, read
from harness.stats.paired import Rules
from harness.stats.resampling import MOST_RESAMPLES
from harness.stats.slices import USER
from harness.stats.tests import CORRECTIONS


@dataclass(frozen=True)
class Version:
    """A model's scores, which one or several runs have.

    Attributes
    ----------
    model : str
    run : int
        The first of the runs.
    folders : list of str
        Of all of them.
    """

    model: str
    run: int
    folders: list[str]


class Asked(TypedDict, total=False):
    """What `compare` is asked for, beside runs and slices."""

    metric: str | None
    models: Sequence[str]
    baseline: str | None
    all_pairs: bool
    correction: str | None
    resamples: int | None
    seed: int | None
    public_shares: Sequence[float] | None


@dataclass(frozen=True, eq=False)
class Plan:
    """What is compared, and how.

    Attributes
    ----------
    models : mapping of name to Version
        Each by a name of its own.
    metric : Metric
    rules : Rules
    shares : sequence of float
        Of the users on the public leaderboard.
    """

    models: Mapping[str, Version]
    metric: Metric
    rules: Rules
    shares: Sequence[float]


def planned(
    opened: Sequence[Run],
    found: Mapping[str, Version],
    *,
    metric: str | None,
    models: Sequence[str],
    baseline: str | None,
    all_pairs: bool,
    correction: str | None,
    resamples: int | None,
    seed: int | None,
    public_shares: Sequence[float] | None,
) -> Plan:
    """Return what is asked for of the models that were found, the rest as the first run has it.

    Raises
    ------
    UsageError
        No such metric or model, a metric whose source has changed between the runs, or a value
        that cannot be.
    """
    if baseline is not None and all_pairs:
        raise UsageError(
            f'every two models, or all with the baseline "{baseline}": leave --all-pairs or '
            "--baseline out (in Python, all_pairs= or baseline=)"
        )
    compare = opened[0].settings.compare
    if baseline is None and not all_pairs and compare.baseline in found:
        baseline = compare.baseline
    shares = compare.public_shares if public_shares is None else list(public_shares)
    rules = rules_of(opened[0].settings, baseline, correction, resamples, seed)
    chosen = _metric(opened, metric)
    refuse_other_source(opened, chosen)
    _refuse_one_model(opened, found)
    return Plan(_chosen(found, models, baseline), chosen, rules, shares)


def opened_runs(of: Sequence[Path | str | Run]) -> list[Run]:
    """Return runs, whose records agree on the evaluation set.

    Raises
    ------
    UsageError, DataError
        As `compare` does.
    """
    opened = [one if isinstance(one, Run) else read(one) for one in of]
    if not opened:
        raise UsageError("no run to compare; name the folder of one, such as runs/2020-09-16-hm-…")
    for run in opened[1:]:
        _refuse_other_set(opened[0], run)
    return opened


def _refuse_other_set(first: Run, run: Run) -> None:
    if run.folder.resolve() == first.folder.resolve():
        raise UsageError(f"{run.folder}: is named twice; name each run once")
    _refuse_other_format(first, run)
    fields, others = first.record.evaluation.fields, run.record.evaluation.fields
    folds = [max(len(one.record.folds), 1) for one in (first, run)]
    if folds[0] != folds[1]:
        raise UsageError(
            f"{run.folder}: has {counted(folds[1], 'fold')}, and {first.folder} has "
            f"{folds[0]}; only models on the same evaluation sets can be compared: run both with "
            "the same data, [split] and [evaluation]"
        )
    differ = [name for name, digest in fields.items() if others.get(name) != digest]
    if differ:
        agree = [name for name in fields if name not in differ]
        raise UsageError(
            f"{run.folder}: has another evaluation set than {first.folder}: they differ in "
            f"{', '.join(differ)}"
            + (f" and agree in {', '.join(agree)}" if agree else "")
            + "; only models on one evaluation set can be compared: run both with the same "
            "data, [split] and [evaluation]"
        )


def _refuse_other_format(first: Run, run: Run) -> None:
    """Raise UsageError where fingerprints say nothing, since the two runs' are made otherwise."""
    older, newer = sorted((first, run), key=lambda one: one.record.evaluation.fingerprint_format)
    if older.record.evaluation.fingerprint_format < newer.record.evaluation.fingerprint_format:
        raise UsageError(
            f"{older.folder}: was written by an earlier version than {newer.folder}, which made "
            "fingerprints in another way, so they do not tell whether both have one evaluation "
            f"set; {older.again}"
        )


def _refuse_one_model(opened: Sequence[Run], found: Mapping[str, Version]) -> None:
    """Raise UsageError where runs have one model, and sources of a user's own metric differ."""
    names = [
        name
        for name, metric in opened[0].metrics.items()
        if len({run.digest_of(metric) for run in opened} - {None}) > 1
    ]
    if len(found) == 1 and names:
        raise UsageError(
            f'only one model, "{next(iter(found))}": two are needed for a comparison; the source '
            f"of {', '.join(names)} differs between these runs, which makes no other model"
        )


def refuse_other_source(opened: Sequence[Run], metric: Metric) -> None:
    """Raise UsageError where runs were scored by different sources of a user's own metric."""
    digests = {run.folder: digest for run in opened if (digest := run.digest_of(metric))}
    if len({*digests.values()}) < 2:
        return
    now = metric.definition.digest
    stale = [folder for folder, digest in digests.items() if digest != now]
    other = next(folder for folder in digests if digests[folder] != digests[stale[0]])
    again = " and ".join(
        shlex.join(["harness", "run", str(folder / "config.toml")]) for folder in stale
    )
    raise UsageError(
        f'metric "{opened[0].name_of(metric)}": its source has changed between {stale[0]} and '
        f"{other}, so their figures are not of one metric; run again, by what it is now: {again}"
    )


def unknown_sources(opened: Sequence[Run], metric: Metric) -> tuple[str, ...]:
    """Return a note where runs do not say by which source of a user's own metric they were scored.

    Their figures are compared as if it was one.
    """
    silent = [str(run.folder) for run in opened if run.digest_of(metric) is None]
    if len(opened) == 1 or not is_own(metric.name) or not silent:
        return ()
    verb = "does" if len(silent) == 1 else "do"
    return (
        f'{" and ".join(silent)} {verb} not say which source of "{opened[0].name_of(metric)}" '
        "gave its figures: see that it has not changed since",
    )


def versions(opened: Sequence[Run], equal: Callable[[str, int, int], bool]) -> dict[str, Version]:
    """Return the scores of every model that differ, by a name of their own.

    Parameters
    ----------
    equal : callable
        Takes a model and the numbers of two runs; returns whether they have the same scores of it.
    """
    several: dict[str, list[Version]] = {}
    for at, run in enumerate(opened):
        for name in dict.fromkeys(model.name for model in run.record.models):
            known = several.setdefault(name, [])
            same = next((one for one in known if equal(name, one.run, at)), None)
            if same is None:
                known.append(Version(name, at, [str(run.folder)]))
            else:
                same.folders.append(str(run.folder))
    found: dict[str, Version] = {}
    for name, known in several.items():
        for one in known:
            first = one.folders[0]
            own = name if len(known) == 1 else f"{name} ({first})"
            if own in found or (own != name and own in several):
                raise UsageError(f'{first}: another model is named "{own}"; rename one')
            found[own] = one
    return found


def _chosen(
    found: Mapping[str, Version], models: Sequence[str], baseline: str | None
) -> Mapping[str, Version]:
    """Return the models asked for, and the baseline."""
    for name in models:
        if name not in found:
            raise UsageError(f'no model "{name}"; {suggest(name, list(found))}')
    kept = {*models, *([] if baseline is None else [baseline])}
    return {name: of for name, of in found.items() if name in kept} if models else found


def _metric(opened: Sequence[Run], wanted: str | None) -> Metric:
    """Return a metric that all runs have scores under."""
    scored = [{str(m): m for m in run.user_metrics.values()} for run in opened]
    common = {name: m for name, m in scored[0].items() if all(name in other for other in scored)}
    # A function of one's own is named from beside its config in the table.
    named = {name: common[str(m)] for name, m in opened[0].metrics.items() if str(m) in common}
    known = named | common
    if not known:
        raise UsageError("the runs have no metric of users in common; run both with the same")
    if wanted is None:
        return next(iter(known.values()))
    several = [found for run in opened for found in run.metrics.items()]
    if any(wanted in (name, str(m)) and m.definition.of == "set" for name, m in several):
        raise UsageError(
            f"{wanted} is one value for all lists and has none of each user, by which models are "
            f"compared; {suggest('', list(known))}"
        )
    if wanted not in known:
        raise UsageError(f'not all runs were scored by "{wanted}"; {suggest(wanted, list(known))}')
    return known[wanted]


def rules_of(
    config: Config | None,
    baseline: str | None,
    correction: str | None,
    resamples: int | None,
    seed: int | None,
) -> Rules:
    """Return the rules asked for; what is not named is the config's, or as without one.

    Raises
    ------
    UsageError
        A value that cannot be.
    """
    own = Rules()
    if config is not None:
        of = config.compare
        own = Rules(None, of.correction, of.resamples, config.evaluation.seed)
    correction = correction or own.correction
    resamples = own.resamples if resamples is None else resamples
    seed = own.seed if seed is None else seed
    if correction not in CORRECTIONS:
        raise UsageError(f'no correction "{correction}"; {suggest(correction, list(CORRECTIONS))}')
    if not isinstance(resamples, int) or not 100 <= resamples <= MOST_RESAMPLES:
        raise UsageError(f"resamples = {resamples!r}; expected from 100 to 1,000,000")
    if not isinstance(seed, int) or seed < 0:
        raise UsageError(f"seed = {seed!r}; expected a whole number from 0")
    return Rules(baseline, correction, resamples, seed)


def columns_by(run: Run, by: Sequence[str]) -> list[str]:
    """Return the columns of a run's users that they are sliced by, each once; refuse others."""
    columns = [name for name in run.users.columns if name != USER]
    for name in by:
        if name not in columns:
            raise UsageError(
                f'{run.folder}: knows no "{name}" of its users; {suggest(name, columns)}; a column '
                f'of the table of users is there after a run with [compare] slices = ["{name}"]'
            )
    return list(dict.fromkeys(by))
