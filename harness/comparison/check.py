"""Conditions on the scores of a run: what a job of continuous integration passes or fails by."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from harness.comparison.compare import compare
from harness.core.errors import UsageError, counted, printable, suggest
from harness.core.table import MISSING, Column, Sheet, Shown, digits_of, number, p_value
from harness.results.run import Run, read
from harness.stats.pairwise import Pair

BETTER = "better than"
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_MISTAKEN = {"=>": ">=", "=<": "<=", "≥": ">=", "≤": "<="}
_QUOTED = r'"(?:[^"]|"")+"'
_NAME = rf"{_QUOTED}|\S.*?"
_CONDITION = re.compile(
    rf"\s*(?P<metric>{_QUOTED}|\S+)\s+of\s+(?P<model>{_NAME})\s+"
    rf"(?P<sign>>=|<=|>|<|better\s+than)\s+(?P<other>{_NAME})\s*"
)
_EXAMPLES = (
    '"MAP@12 of mine >= popular", "MAP@12 of mine >= 0.02", "MAP@12 of mine better than popular"'
)


class Wanted(NamedTuple):
    """A condition as a person writes it: a number, or another model, stands on its right side."""

    metric: str
    model: str
    sign: str
    other: str | float


def parse(text: str) -> Wanted:
    """Return what a condition says.

    Names stand as they are, or in double quotes where they hold a sign or look like a number; a
    double quote within is then written twice.

    Raises
    ------
    UsageError
        It has another form.

    Examples
    --------
    >>> parse("MAP@12 of popular last week >= 0.02")
    Wanted(metric='MAP@12', model='popular last week', sign='>=', other=0.02)
    >>> parse('MAP@12 of mine better than "a > b"').other
    'a > b'
    """
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise UsageError(f'"{printable(text)}" is no condition; {_meant(text)}{_EXAMPLES}')
    metric, model, sign, other = found.group("metric", "model", "sign", "other")
    sign = " ".join(sign.split())
    try:
        bound = float(other) if re.fullmatch(r"[-+\d.eE]+", other) else None
    except ValueError:
        bound = None
    if sign == BETTER and bound is not None:
        raise UsageError(
            f'"{printable(text)}": a model is better than a model; compare with >= {bound:g}'
        )
    if bound is not None and not math.isfinite(bound):
        raise UsageError(f'"{printable(text)}": {other} is too large a number')
    return Wanted(_bare(metric), _bare(model), sign, _bare(other) if bound is None else bound)


def _meant(text: str) -> str:
    """Return the beginning of a hint: which sign is meant, or which there are."""
    for wrong, sign in _MISTAKEN.items():
        if wrong in text:
            return f'"{wrong}" is no sign, "{sign}" is; write it as in '
    for wrong in ("==", "!="):
        if wrong in text:
            allowed = ", ".join((*_OPERATORS, BETTER))
            return f'"{wrong}" is no sign; allowed: {allowed}; write one such as '
    return "write one such as "


def _bare(name: str) -> str:
    return name[1:-1].replace('""', '"') if re.fullmatch(_QUOTED, name) else name


@dataclass(frozen=True)
class Condition:
    """A condition, and whether it holds.

    Attributes
    ----------
    condition : str
        As it was written.
    value, bound : float, optional
        The mean of the model, and what it is held against; None of a model that failed.
    error : str, optional
        What a model raised that failed, this one or the other.
    p_adjusted : float, optional
        Of ``better than`` the p value of the paired randomization test, corrected for the number of
        pairs that the run compares.
    holds : bool
    """

    condition: str
    metric: str
    model: str
    value: float | None
    bound: float | None
    p_adjusted: float | None
    holds: bool
    error: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Checked(Shown):
    """What became of conditions on a run.

    Attributes
    ----------
    passed : bool
        Whether all of them hold.
    """

    run: str
    passed: bool
    conditions: tuple[Condition, ...]

    def sheets(self) -> list[Sheet]:
        """Return the table that is printed."""
        failed = sum(not one.holds for one in self.conditions)
        all_ = counted(len(self.conditions), "condition")
        digits = digits_of(v for one in self.conditions for v in _told_apart(one))
        columns: list[Column[Condition]] = [
            Column("condition", lambda one: printable(one.condition), "words", firm=True),
            Column("found", lambda one: _shown(one.value, digits)),
            Column("against", lambda one: _shown(one.bound, digits)),
            Column("p adjusted", lambda one: p_value(one.p_adjusted)),
            Column("verdict", lambda one: "holds" if one.holds else "fails", "words", firm=True),
        ]
        told = f"PASSED  {all_}" if self.passed else f"FAILED  {failed} of {all_}"
        why = dict.fromkeys(one.error for one in self.conditions if one.error is not None)
        heading = [told, *(f"failed  {printable(error)}" for error in why)]
        styles = {"holds": "green", "fails": "bold red"}
        return [Sheet.of(self.conditions, columns, heading=heading, styles=styles)]

    def records(self) -> list[dict[str, object]]:
        """Return one record a condition, in full precision."""
        return [vars(one).copy() for one in self.conditions]


def _told_apart(one: Condition) -> tuple[float, ...]:
    """Return the figures of a condition, and how far they lie apart, which the digits must show."""
    if one.value is None or one.bound is None:
        return tuple(v for v in (one.value, one.bound) if v is not None)
    return one.value, one.bound, one.value - one.bound


def _shown(value: float | None, digits: int) -> str:
    return MISSING if value is None else number(value, digits)


def check(run: Path | str, conditions: str | Sequence[str]) -> Checked:
    """Return whether conditions hold for the models of a run.

    Parameters
    ----------
    run : path of a run's folder
    conditions : text or sequence of text
        ``METRIC of MODEL SIGN OTHER``: `SIGN` is ``>=``, ``<=``, ``>`` or ``<`` between means, and
        `OTHER` a model or a number; or ``better than`` a model, by the paired randomization test at
        5 %, corrected for the number of pairs as ``harness compare`` does. Means of several folds
        are means over folds. A condition on a model that failed does not hold.

    Raises
    ------
    UsageError
        No such run, metric or model; a condition of another form.
    DataError
        The run's scores contradict its result.json.

    Examples
    --------
    In a run where mine has a mean of 0.05 and popular one of 0.02:

    >>> check("runs/one", "MAP@12 of mine >= 0.03").passed  # doctest: +SKIP
    True
    """
    wanted = [conditions] if isinstance(conditions, str) else conditions
    if not isinstance(wanted, (list, tuple)) or not all(isinstance(one, str) for one in wanted):
        raise UsageError(
            f"conditions: found {type(conditions).__name__}; give a text, or several, such as "
            f"{_EXAMPLES}"
        )
    if not wanted:
        raise UsageError(f"no condition; write one such as {_EXAMPLES}")
    opened = read(run)
    opened.verify()
    gate = _Gate(opened)
    found = tuple(gate.checked(text, parse(text)) for text in wanted)
    return Checked(str(run), all(one.holds for one in found), found)


class _Gate:
    """The scores of a run, and the comparisons that conditions ask for."""

    def __init__(self, run: Run) -> None:
        self._run, self._record = run, run.record
        self._pairs: dict[str, tuple[Pair, ...]] = {}

    def checked(self, text: str, wanted: Wanted) -> Condition:
        metric = self._known(text, "metric", wanted.metric, self._metrics)
        value = self._mean(text, wanted.model, metric)
        other, p = wanted.other, None
        bound = other if isinstance(other, float) else self._mean(text, other, metric)
        if other == wanted.model:
            raise UsageError(f'"{printable(text)}": a model is not compared with itself')
        if value is None or bound is None:
            holds = False
        elif wanted.sign == BETTER:
            holds, p = self._better(text, metric, wanted.model, str(other))
        else:
            holds = _OPERATORS[wanted.sign](value, bound)
        errors = {one.name: one.error for one in self._record.failed}
        error = errors.get(wanted.model) or errors.get(str(other))
        return Condition(text, metric, wanted.model, value, bound, p, holds, error)

    @cached_property
    def _metrics(self) -> list[str]:
        return list(self._record.models[0].metrics)

    def _known(self, text: str, what: str, name: str, names: Sequence[str]) -> str:
        if name not in names:
            typed = [one.replace('"', '""') for one in names]
            raise UsageError(
                f'"{printable(text)}": {self._run.folder} has no {what} "{printable(name)}"; '
                f"{suggest(name, typed)}"
            )
        return name

    def _mean(self, text: str, model: str, metric: str) -> float | None:
        """Return the mean of a model, None of one that failed."""
        failed = [one.name for one in self._record.failed]
        names = [*(one.name for one in self._record.models), *failed]
        self._known(text, "model", model, names)
        return None if model in failed else self._record.metric_of(model, metric)

    def _better(self, text: str, metric: str, model: str, other: str) -> tuple[bool, float]:
        """Return whether a model is better than another one, and the p value."""
        definition = self._run.metrics[metric].definition
        why = "only describes lists, and calls none better" * (definition.better == "neither")
        if definition.of == "set":
            why = "has one value for all lists, and no test over users"
        if why:
            raise UsageError(f'"{printable(text)}": {metric} {why}; compare values, with >=')
        pair = next(  # among those that the run compares, or among all
            pair
            for every in (False, True)
            for pair in self._compared(metric, every)
            if {pair.one, pair.other} == {model, other}
        )
        return pair.ahead == model, pair.p_adjusted

    def _compared(self, metric: str, every: bool) -> tuple[Pair, ...]:
        """Return pairs; those of the first metric are in the record, whose scores may be gone."""
        own = self._record.comparison
        if not every and own is not None and metric == self._metrics[0]:
            return own.pairs
        key = f"{metric} {every}"
        if key not in self._pairs:
            given: dict[str, Any] = {"metric": metric, "all_pairs": every, "public_shares": ()}
            self._pairs[key] = compare(self._run, **given).comparison.pairs
        return self._pairs[key]
