"""Conditions on the scores of a run: what a job of continuous integration passes or fails by."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

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
_QUOTED = r'"(?:[^"]|"")+"'
_NAME = rf"{_QUOTED}|\S.*?"
_CONDITION = re.compile(
    rf"\s*(?P<metric>{_QUOTED}|\S+)\s+of\s+(?P<model>{_NAME})\s+"
    rf"(?P<sign>>=|<=|>|<|better\s+than)\s+(?P<other>{_NAME})\s*"
)
_EXAMPLES = (
    '"MAP@12 of mine >= popular", "MAP@12 of mine >= 0.02", "MAP@12 of mine better than popular"'
)


def parse(text: str) -> tuple[str, str, str, str | float]:
    """Return the metric, model, sign and other model, or number, of a condition.

    Names stand as they are, or in double quotes where they hold a sign or look like a number; a
    double quote within is then written twice.

    Examples
    --------
    >>> parse("MAP@12 of popular last week >= 0.02")
    ('MAP@12', 'popular last week', '>=', 0.02)
    >>> parse('MAP@12 of mine better than "a > b"')[3]
    'a > b'
    """
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise UsageError(
            f'"{printable(text)}" is not a condition; signs are '
            f"{', '.join([*_OPERATORS, BETTER])}; write one such as {_EXAMPLES}"
        )
    metric, model, other = (
        name[1:-1].replace('""', '"') if re.fullmatch(_QUOTED, name) else name
        for name in match.group("metric", "model", "other")
    )
    sign = " ".join(match["sign"].split())
    try:
        bound = float(match["other"])
    except ValueError:
        return metric, model, sign, other
    if sign == BETTER:
        raise UsageError(
            f'"{printable(text)}": a model is better than a model; compare with >= {bound:g}'
        )
    if not math.isfinite(bound):
        raise UsageError(
            f'"{printable(text)}": {other} is not a finite number; put a model\'s name in quotes'
        )
    return metric, model, sign, bound


@dataclass(frozen=True)
class Condition:
    """A condition, and whether it holds.

    Attributes
    ----------
    condition : str
        As it was written.
    value : float, optional
        The mean of the model; None of a model that failed.
    bound : float, optional
        What it is held against; None of a model that failed.
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
        failed = sum(not condition.holds for condition in self.conditions)
        count = counted(len(self.conditions), "condition")
        sides = [(it.value or 0.0, it.bound or 0.0) for it in self.conditions]
        # So many digits tell both sides apart.
        digits = digits_of(f for value, bound in sides for f in (value, bound, value - bound))
        columns: list[Column[Condition]] = [
            Column("condition", lambda it: printable(it.condition), "words", firm=True),
            Column("found", lambda it: number(it.value, digits) or MISSING),
            Column("against", lambda it: number(it.bound, digits) or MISSING),
            Column("p adjusted", lambda it: p_value(it.p_adjusted)),
            Column("verdict", lambda it: "holds" if it.holds else "fails", "words", firm=True),
        ]
        title = f"PASSED  {count}" if self.passed else f"FAILED  {failed} of {count}"
        errors = dict.fromkeys(it.error for it in self.conditions if it.error is not None)
        heading = [title, *(f"failed  {printable(error)}" for error in errors)]
        styles = {"holds": "green", "fails": "bold red"}
        return [Sheet.of(self.conditions, columns, heading=heading, styles=styles)]

    def records(self) -> list[dict[str, object]]:
        """Return one record a condition, in full precision."""
        return [vars(condition).copy() for condition in self.conditions]


def check(run: Path | str, conditions: str | Sequence[str]) -> Checked:
    """Check conditions on the scores of a run.

    Parameters
    ----------
    run : path of a run folder
    conditions : text or sequence of text
        ``METRIC of MODEL SIGN OTHER``. `SIGN` is ``>=``, ``<=``, ``>`` or ``<`` and compares means;
        `OTHER` is a model or a number. Or ``METRIC of MODEL better than OTHER``: by the paired
        randomization test at 5 %, corrected for the number of pairs as in ``harness compare``.
        With folds, the mean is over folds. A condition on a failed model is false.

    Raises
    ------
    UsageError
        The run, metric or model does not exist, or a condition has another form.
    DataError
        The scores of the run contradict its result.json.

    Examples
    --------
    In this run the mean of mine is 0.05, that of popular 0.02:

    >>> check("runs/one", "MAP@12 of mine >= 0.03").passed  # doctest: +SKIP
    True
    """
    texts = [conditions] if isinstance(conditions, str) else conditions
    is_list = isinstance(texts, Sequence) and all(isinstance(text, str) for text in texts)
    if not is_list or not texts:
        what = "no condition" if is_list else f"conditions: found {type(conditions).__name__}"
        raise UsageError(
            f'{what}; add --at-least "MAP@12 of mine >= popular" (in Python, '
            'conditions=["MAP@12 of mine >= popular"])'
        )
    opened = read(run)
    opened.verify()
    pairs = cache(partial(_pairs, opened))  # conditions on one metric share a comparison
    checked = tuple(_check(opened, text, pairs) for text in texts)
    return Checked(str(run), all(condition.holds for condition in checked), checked)


Pairs = Mapping[frozenset[str], Pair]


def _pairs(run: Run, metric: str, every: bool) -> Pairs:
    """Return the pairs of models that the run compares by a metric, or of `every` two."""
    compared = run.comparison if metric == run.record.metric and not every else None
    if compared is None:  # else the scores by the metric may be gone
        compared = compare(run, metric=metric, all_pairs=every, public_shares=()).comparison
    return {frozenset((pair.one, pair.other)): pair for pair in compared.pairs}


def _check(run: Run, text: str, pairs: Callable[[str, bool], Pairs]) -> Condition:
    metric, model, sign, other = parse(text)
    errors = {failed.name: failed.error for failed in run.failed}
    models = [*(known.name for known in run.models), *errors]
    wanted = [("metric", metric, [*run.models[0].metrics]), ("model", model, models)]
    wanted += [("model", other, models)] if isinstance(other, str) else []
    for kind, name, names in wanted:
        if name not in names:
            hint = suggest(name, [known.replace('"', '""') for known in names])
            raise UsageError(
                f'"{printable(text)}": {run.folder} has no {kind} "{printable(name)}"; {hint}'
            )
    if other == model:
        raise UsageError(f'"{printable(text)}": you cannot compare a model with itself')
    if sign == BETTER:
        definition = run.metrics[metric].definition
        if definition.of == "set" or definition.better == "neither":
            raise UsageError(
                f'"{printable(text)}": {metric} does not say which user is served better, so it '
                "has no test over users; compare values with >="
            )
    means = {known.name: known.metrics[metric].mean for known in run.models}
    value, bound = means.get(model), means.get(other) if isinstance(other, str) else other
    holds, p_adjusted = False, None
    if value is not None and bound is not None and sign == BETTER:
        both = frozenset((model, str(other)))
        pair = pairs(metric, False).get(both) or pairs(metric, True)[both]
        holds, p_adjusted = pair.ahead == model, pair.p_adjusted
    elif value is not None and bound is not None:
        holds = _OPERATORS[sign](value, bound)
    error = errors.get(model) or errors.get(str(other))
    return Condition(text, metric, model, value, bound, p_adjusted, holds, error)
