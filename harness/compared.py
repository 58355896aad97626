"""Models of one or several runs compared: `harness compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import figures, runs
from harness.comparison import Comparison, Rules
from harness.comparison import compare as compare_pairs
from harness.errors import DataError, UsageError, suggest
from harness.figures import Figure, Tables
from harness.inference.resampling import RESAMPLES
from harness.metrics import Metric
from harness.profile import USER
from harness.report.shown import Shown
from harness.runs import Run
from harness.shakeup import ShakeUp, shake_up
from harness.slices import Slice, slices

if TYPE_CHECKING:
    from harness.report.sheet import Sheet

SHARES = (0.01, 0.3)


@dataclass(frozen=True, eq=False, repr=False)
class Compared(Shown):
    """What a comparison of runs found.

    Attributes
    ----------
    metric : str
    fingerprint : str
        The exam's.
    origin : mapping of model to str
        The folder of its run.
    models : mapping of model to Figure
        Best first.
    comparison : Comparison
    shake_ups : tuple of ShakeUp, one a public share
    slices : tuple of Slice
        Of the columns asked for.
    """

    metric: str
    fingerprint: str
    origin: Mapping[str, str]
    models: Mapping[str, Figure]
    comparison: Comparison
    shake_ups: tuple[ShakeUp, ...]
    slices: tuple[Slice, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document."""
        return {
            "schema": 1,
            "evaluation": {"fingerprint": self.fingerprint, "users": self.comparison.users},
            "metric": self.metric,
            "models": [
                {"name": name, "run": self.origin[name], "metrics": {self.metric: f.to_dict()}}
                for name, f in self.models.items()
            ],
            "comparison": self.comparison.to_dict(),
            "shake_up": [shaken.to_dict() for shaken in self.shake_ups],
            "slices": [part.to_dict() for part in self.slices],
        }

    def sheets(self) -> list[Sheet]:
        """Return the tables that are printed."""
        from harness.report import compared

        return compared.sheets(self)

    def records(self) -> list[dict[str, object]]:
        """Return one record a pair, with full figures."""
        from harness.report import compared

        return compared.records(self.comparison)


def compare(
    *of: Path | str | Run,
    metric: str | None = None,
    baseline: str | None = None,
    correction: str = "holm",
    resamples: int = RESAMPLES,
    seed: int = 42,
    public_shares: Sequence[float] = SHARES,
    by: Sequence[str] = (),
) -> Compared:
    """Compare the models of runs that sat one exam.

    Parameters
    ----------
    *of : path of a run's folder, or Run
        One or more. A name that several runs have is shown with its run.
    metric : str, optional
        One of the runs' metrics; by default the first.
    baseline : str, optional
        The model that all others are compared with; by default every two are.
    correction : str
        ``holm`` (any error at all) or ``bh`` (the share of errors), over all pairs.
    resamples : int
        B, of the bootstrap and of the sign flips.
    public_shares : sequence of float
        Shares of the users on the public board.
    by : sequence of str
        Columns to slice the users by: ``activity``, ``truth``, ``repeats``, or what
        ``[compare] slices`` of the run named.

    Raises
    ------
    UsageError
        No such run, metric, model or column; runs of different exams (the message lists the fields
        that differ); fewer than two models.
    DataError
        A run folder that was changed or damaged.
    """
    opened = [one if isinstance(one, Run) else runs.read(Path(one)) for one in of]
    _refuse_other_exams(opened)
    found, origin = _tables(opened)
    asked = _metric(opened, metric)
    rules = Rules(baseline, _known_correction(correction), _enough(resamples), seed)
    resampled = figures.bootstrap(found, [asked], rules.resamples, seed).get(asked, {})
    comparison = compare_pairs(found, asked, rules, resampled)
    means = figures.figures(found, {asked: resampled})
    order = list(comparison.any_hit)
    return Compared(
        metric=str(asked),
        fingerprint=opened[0].fingerprint,
        origin={name: origin[name] for name in order},
        models={name: means[name][asked] for name in order},
        comparison=comparison,
        shake_ups=tuple(shake_up(found, asked, share, seed) for share in public_shares),
        slices=_slices(found, asked, opened[0], by),
    )


def _refuse_other_exams(opened: Sequence[Run]) -> None:
    if not opened:
        raise UsageError("no run to compare; name the folder of one, such as runs/2020-09-16-hm-…")
    first = opened[0]
    for run in opened[1:]:
        if run.folder.resolve() == first.folder.resolve():
            raise UsageError(f"{run.folder}: is named twice; name each run once")
        differ = [name for name, digest in first.fields.items() if run.fields.get(name) != digest]
        if differ:
            agree = [name for name in first.fields if name not in differ]
            raise UsageError(
                f"{run.folder}: sat another exam than {first.folder}: {', '.join(differ)} differ"
                + (f" ({', '.join(agree)} agree)" if agree else "")
                + "; only models of one exam can be compared: run both with the same data, [split] "
                "and [evaluation]"
            )
        if not run.user_ids.equals(first.user_ids):
            raise DataError(f"{run.folder}/per_user.parquet: holds other users than its exam")


def _tables(opened: Sequence[Run]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return every model's marks and the folder of its run, by a name of its own."""
    several = [name for run in opened for name in run.tables]
    found, origin = {}, {}
    for run in opened:
        for name, table in run.tables.items():
            own = name if several.count(name) == 1 else f"{name} ({run.folder})"
            if own in found:
                raise UsageError(f'{run.folder}: model "{own}" is named twice; rename one')
            found[own], origin[own] = table, str(run.folder)
    return found, origin


def _metric(opened: Sequence[Run], wanted: str | None) -> Metric:
    """Return a metric that all runs have marks under."""
    marked = [{str(m): m for m in next(iter(run.tables.values())).values} for run in opened]
    common = {name: m for name, m in marked[0].items() if all(name in other for other in marked)}
    # A function of one's own is named from beside its config in the table.
    named = {name: common[str(m)] for name, m in opened[0].metrics.items() if str(m) in common}
    known = named | common
    if not known:
        raise UsageError("the runs have no metric of users in common; run both with the same")
    if wanted is None:
        return next(iter(known.values()))
    if wanted not in known:
        raise UsageError(f'not all runs were marked by "{wanted}"; {suggest(wanted, list(known))}')
    return known[wanted]


def _known_correction(name: str) -> str:
    from harness.inference.corrections import CORRECTIONS

    if name not in CORRECTIONS:
        raise UsageError(f'no correction "{name}"; {suggest(name, list(CORRECTIONS))}')
    return name


def _enough(resamples: int) -> int:
    if not 100 <= resamples <= 1_000_000:
        raise UsageError(f"{resamples:,} resamples; expected from 100 to 1,000,000")
    return resamples


def _slices(found: Tables, metric: Metric, run: Run, by: Sequence[str]) -> tuple[Slice, ...]:
    if not by:
        return ()
    users = run.users
    if len(users) != len(run.user_ids) or USER not in users.columns:
        raise DataError(f"{run.folder}/users.parquet: holds other users than its exam")
    columns = [name for name in users.columns if name != USER]
    for name in by:
        if name not in columns:
            raise UsageError(
                f'{run.folder}: knows no "{name}" of its users; {suggest(name, columns)}; a column '
                f'of the table of users is there after a run with [compare] slices = ["{name}"]'
            )
    return slices(found, metric, users.select(list(dict.fromkeys(by))))
