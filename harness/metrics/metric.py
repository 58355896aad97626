"""Metrics as text: ``MAP(divisor=trec)@10`` in, a `Metric` out, and its values for a tally."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from harness.errors import UsageError, suggest
from harness.metrics.formulas import DEFINITIONS
from harness.metrics.tally import LARGEST, Floats, Tally


@dataclass(frozen=True)
class Metric:
    """A metric at a cut-off, e.g. ``Metric("MAP", 10, (("divisor", "trec"),))``.

    Parameters that have their default value are left out, so equal metrics compare equal and
    ``str`` gives the one text that `parse` reads back.

    Raises
    ------
    harness.errors.UsageError
        For a name, parameter, value or cut-off that does not exist, with the nearest that does.

    Examples
    --------
    >>> str(Metric("MAP", 12, (("divisor", "kaggle"),)))
    'MAP@12'
    """

    name: str
    k: int
    params: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        _check_name(self.name)
        _check_cut_off(self.name, self.k)
        allowed = DEFINITIONS[self.name].params
        for param, value in self.params:
            _check_param(self.name, param, value)
        if len(dict(self.params)) < len(self.params):
            raise UsageError(f"metric {self.name}: a parameter is given twice")
        kept = {param: value for param, value in self.params if value != allowed[param][0]}
        object.__setattr__(self, "params", tuple(sorted(kept.items())))

    def __str__(self) -> str:
        params = ",".join(f"{param}={value}" for param, value in self.params)
        return f"{self.name}({params})@{self.k}" if params else f"{self.name}@{self.k}"

    @property
    def settings(self) -> dict[str, str]:
        """Every parameter with its value, defaults included."""
        defaults = {param: values[0] for param, values in DEFINITIONS[self.name].params.items()}
        return defaults | dict(self.params)


def parse(text: str) -> Metric:
    """Read a metric such as ``MAP@12`` or ``MAP(divisor=trec)@10``.

    Raises
    ------
    harness.errors.UsageError
        When the text is no metric; the message says what is allowed and what comes nearest.

    Examples
    --------
    >>> parse("NDCG( ideal = retrieved )@10")
    Metric(name='NDCG', k=10, params=(('ideal', 'retrieved'),))
    """
    form = re.fullmatch(r"\s*([\w.-]+)\s*(?:\(([^()]*)\))?\s*(?:@\s*(-?[0-9]+))?\s*", text)
    if form is None:
        raise UsageError(f'"{text}" is not a metric; write one as MAP@12 or MAP(divisor=trec)@10')
    name, params, k = form.groups()
    _check_name(name)
    if k is None:
        raise UsageError(f'metric "{text}" has no cut-off; did you mean "{text.strip()}@10"?')
    if len(k) > len(str(LARGEST)):
        raise UsageError(_cut_off_message(name, k))
    return Metric(name, int(k), tuple(_split_params(text, params or "")))


def per_user(metric: Metric, tally: Tally) -> Floats:
    """Return the metric's value for every user of a tally, shape (n,), float64.

    Raises
    ------
    ValueError
        When the tally was made at another cut-off.

    Examples
    --------
    Two truth items, hits at ranks 1 and 3 of 3: AP@3 = (1 + 2/3)/2.

    >>> import numpy as np
    >>> one = np.ones(1, np.int32)
    >>> tally = Tally(3, 5 / 3 * one, 1.5 * one, 2 * one, one, 3 * one, 2 * one)
    >>> per_user(parse("MAP@3"), tally).round(4).tolist()
    [0.8333]
    """
    if metric.k != tally.k:
        raise ValueError(f"{metric} needs a tally at k = {metric.k}, got one at k = {tally.k}")
    return DEFINITIONS[metric.name].formula(tally, metric.settings)


def _split_params(text: str, params: str) -> Iterable[tuple[str, str]]:
    """Yield the name and value of every ``name=value`` between the brackets."""
    for part in params.split(",") if params.strip() else ():
        param, equals, value = (piece.strip() for piece in part.partition("="))
        if not (param and equals and value):
            raise UsageError(f'metric "{text}": "{part.strip()}" is not of the form name=value')
        yield param, value


def _check_name(name: str) -> None:
    if name not in DEFINITIONS:
        raise UsageError(f'unknown metric "{name}"; {suggest(name, DEFINITIONS)}')


def _check_cut_off(name: str, k: int) -> None:
    if not 1 <= k <= LARGEST:
        raise UsageError(_cut_off_message(name, k))


def _cut_off_message(name: str, k: object) -> str:
    return f'metric "{name}@{k}": the cut-off must be from 1 to {LARGEST}, got {k}'


def _check_param(name: str, param: str, value: str) -> None:
    allowed = DEFINITIONS[name].params
    if not allowed:
        raise UsageError(f'metric {name} takes no parameters, got "{param}"; write "{name}@10"')
    if param not in allowed:
        raise UsageError(f'metric {name} has no parameter "{param}"; {suggest(param, allowed)}')
    if value not in allowed[param]:
        near = suggest(value, allowed[param])
        raise UsageError(f'metric {name}: {param} cannot be "{value}"; {near}')
