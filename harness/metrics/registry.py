"""Metrics as text: ``MAP(divisor=trec)@10`` in, a `Metric` out, a user's own function too."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from harness.core.arrays import Floats, Int64
from harness.core.errors import UsageError, printable, suggest
from harness.metrics.definition import Better, Definition
from harness.metrics.definitions import DEFINITIONS
from harness.metrics.judgments import Block
from harness.metrics.kernels import LARGEST
from harness.metrics.ranking import Settings

USUAL = ("MAP", "Recall", "NDCG")
"""The metrics where nobody names any."""


@dataclass(frozen=True)
class Metric:
    """A metric at a cut-off, e.g. ``Metric("MAP", 10, (("divisor", "trec"),))``.

    Its name is one of `DEFINITIONS`, or ``module:function`` or ``path/to/module.py:function`` with
    the definition of a user's own. Without a cut-off it takes lists as long as they are, where the
    metric allows it. Parameters that have their default value are left out, so equal metrics
    compare equal and ``str`` is what tables and JSON call it: of a user's own, the file's name
    without its folder. UsageError names what does not exist, with the nearest that does.
    """

    name: str
    k: int | None
    params: tuple[tuple[str, str], ...] = ()
    definition: Definition = field(default=None, compare=False, repr=False)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or isinstance(self.k, bool):
            raise UsageError(f"a metric is a name and a cut-off, got {self.name!r} and {self.k!r}")
        if self.definition is None:
            object.__setattr__(self, "definition", _defined(self.name, self.k))
        whole = isinstance(self.k, (int, np.integer)) and 1 <= self.k <= LARGEST
        if not whole and (self.k is not None or self.definition.cut != "optional"):
            raise UsageError(_cut_off_message(self.name, self.k))
        if len(dict(self.params)) < len(self.params):
            raise UsageError(f"metric {self.name}: it has a parameter twice")
        values = {p: _value(self.name, self.definition, p, text) for p, text in self.params}
        defaults = self.definition.defaults
        kept = sorted((p, str(value)) for p, value in values.items() if value != defaults[p])
        object.__setattr__(self, "params", tuple(kept))

    def up_to(self, k: int) -> Metric:
        """Return the metric cut off at k where it has no cut-off: no list is longer."""
        return self if self.k is not None else replace(self, k=k)

    def __str__(self) -> str:
        path, colon, function = self.name.rpartition(".py:")
        return self._text(f"{Path(path).name}:{function}" if colon else self.name)

    @property
    def text(self) -> str:
        """The one text that `parse` reads back."""
        return self._text(self.name)

    def _text(self, name: str) -> str:
        params = ",".join(f"{param}={value}" for param, value in self.params)
        cut = "" if self.k is None else f"@{self.k}"
        return f"{name}({params}){cut}" if params else f"{name}{cut}"

    @property
    def settings(self) -> dict[str, Any]:
        """Every parameter with its value, defaults included."""
        params = self.definition.params
        return self.definition.defaults | {p: params[p].read(text) for p, text in self.params}

    @property
    def graded(self) -> bool:
        """Whether true items must have grades."""
        return bool(self.settings.get("gain", "binary") != "binary")


def parse(text: str, folder: Path | None = None) -> Metric:
    """Read a metric such as ``MAP@12``, ``MAP(divisor=trec)@10`` or ``my_module:my_metric@10``.

    Files of a user's own metrics are looked for first in `folder`, the current one by default.
    UsageError says what is allowed and what comes nearest.

    >>> parse("NDCG( ideal = retrieved )@10")
    Metric(name='NDCG', k=10, params=(('ideal', 'retrieved'),))
    """
    name, params, k = _parts(text)
    definition = own_definition(name, folder or Path()) if ":" in name else _defined(name, k)
    if k is not None and len(k) > len(str(LARGEST)):
        raise UsageError(_cut_off_message(name, k))
    if k is None and definition.cut == "required":
        raise UsageError(f'metric "{text}" has no cut-off; did you mean "{text.strip()}@10"?')
    cut = None if k is None else int(k)
    settings = []
    for part in (params or "").split(",") if (params or "").strip() else ():
        param, equals, value = (piece.strip() for piece in part.partition("="))
        if not (param and equals and value):
            raise UsageError(f'metric "{text}": "{part.strip()}" must have the form name=value')
        settings.append((param, value))
    return Metric(name, cut, tuple(settings), definition)


def each_once(metrics: Iterable[Metric]) -> tuple[Metric, ...]:
    """Return metrics without repeats, in order.

    UsageError where tables would call functions in two files the same.
    """
    by_title = dict[str, Metric]()
    for metric in metrics:
        first = by_title.setdefault(str(metric), metric)
        if first != metric:
            raise UsageError(
                f"{first.name} and {metric.name} are both called {metric}; rename a file or a "
                "function"
            )
    return tuple(by_title.values())


def needs(metrics: Iterable[Metric]) -> Set[str]:
    """Return what metrics need to know of the items: ``train``, ``attributes``, ``candidates``."""
    return {metric.definition.needs for metric in metrics if metric.definition.needs}


def is_own(text: str) -> bool:
    """Return whether a metric's text names a user's own function, which is not imported."""
    return ":" in _parts(text)[0]


def per_user(metric: Metric, block: Block) -> Floats:
    """Return the metric's value for every user of a block, shape (n,), float64.

    A metric of all lists together (coverage, Gini) has one value: shape (1,). ValueError when the
    block is cut elsewhere, or its judgments lack what the metric needs.
    """
    if metric.k not in (None, block.k):
        raise ValueError(f"{metric} needs lists cut at k = {metric.k}, got k = {block.k}")
    result = metric.definition.formula(block, metric.settings)
    value = metric.definition.value
    return result if value is None else np.array([value(result, block.judgments.weights)])


def value_of(metric: Metric, sums: Int64, weights: Sequence[float] = (1.0,)) -> float:
    """Return a metric of all lists by the sums of all users; `weights` are those of their kinds."""
    assert metric.definition.value is not None, "a metric of all lists"  # noqa: S101
    return metric.definition.value(sums, weights)


def _parts(text: str) -> tuple[str, str | None, str | None]:
    """Return the name, the parameters and the cut-off that a metric's text holds."""
    own_file = r"\s*(.+\.py:[^\s():@]+)\s*()(?:@\s*(-?[0-9]+))?\s*"  # a path may hold anything
    usual = r"\s*([^\s()@]+)\s*(?:\(([^()]*)\))?\s*(?:@\s*(-?[0-9]+))?\s*"
    form = re.fullmatch(own_file, text) or re.fullmatch(usual, text)
    if form is None:
        raise UsageError(f'"{text}" is not a metric; write one as MAP@12 or MAP(divisor=trec)@10')
    name, params, k = form.groups()
    return name, params, k


def _defined(name: str, k: object) -> Definition:
    if name not in DEFINITIONS:
        hint = suggest(name, DEFINITIONS)
        hint = hint if k is None else hint.replace('"?', f'@{k}"?')
        raise UsageError(f'unknown metric "{name}"; {hint}')
    return DEFINITIONS[name]


def _cut_off_message(name: str, k: object) -> str:
    return f'metric "{name}@{k}": the cut-off must be from 1 to {LARGEST}, got {k}'


def _value(name: str, definition: Definition, param: str, text: str) -> object:
    allowed = definition.params
    if not allowed:
        raise UsageError(f'metric {name} takes no parameters, got "{param}"; write "{name}@10"')
    if param not in allowed:
        raise UsageError(f'metric {name} has no parameter "{param}"; {suggest(param, allowed)}')
    try:
        return allowed[param].read(text)
    except UsageError as error:
        raise UsageError(f"metric {name}: {param} {error}") from error


LARGEST_SCORE = 1e90
"""Beyond it the third powers of scores could not be added up."""


def own_definition(name: str, folder: Path) -> Definition:
    """Return the definition of the function that ``module:function`` names.

    The function is called once a user with `hits`, a bool array of the k ranks (a hit or not, best
    first), `n_relevant`, how many true items the user has, and `k`; it returns a number.
    Its attribute ``better``, where it has one, says which values are better: ``higher``, as without
    it, ``lower`` or ``neither``.
    """
    from harness.core import plugins  # heavy, and few have metrics of their own
    from harness.metrics.source import source_of

    function = plugins.load(f'metric "{name}"', name, folder, "function")
    _refuse_other_arguments(name, function)
    module = name.rpartition(":")[0]
    digest = source_of(module, plugins.file_of(module, folder), function)
    summary = (function.__doc__ or "").strip().partition("\n")[0]
    formula, endless = _formula(name, function), (-math.inf, math.inf)
    better: Better = getattr(function, "better", "higher")
    if better not in get_args(Better):
        raise UsageError(
            f'metric "{name}": its attribute better is "{printable(str(better))}"; allowed: '
            f"{', '.join(get_args(Better))}"
        )
    return Definition(formula, summary, name, (), range=endless, better=better, digest=digest)


def _refuse_other_arguments(name: str, function: Callable[..., Any]) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # one written in C may have none
        return
    try:
        signature.bind(None, 1, 1)
    except TypeError as error:
        code = getattr(function, "__code__", None)
        place = f" ({code.co_filename}, line {code.co_firstlineno})" if code else ""
        raise UsageError(
            f'metric "{name}": a metric takes (hits, n_relevant, k), but this function takes '
            f"{signature}{place}"
        ) from error


def _formula(name: str, function: Callable[..., Any]) -> Callable[[Block, Settings], Floats]:
    def formula(b: Block, _: Settings) -> Floats:
        ends = np.cumsum(np.bincount(b.found.user, minlength=len(b)))[:-1]
        ranks = np.split(b.found.rank, ends)
        values = []
        for hit_ranks, relevant in zip(ranks, b.judgments.relevant.tolist(), strict=True):
            hits = np.zeros(b.k, np.bool_)
            hits[hit_ranks - 1] = True
            hits.setflags(write=False)
            values.append(_call(name, function, hits, relevant, b.k))
        return np.array(values, np.float64)

    return formula


def _call(name: str, function: Callable[..., Any], hits: Any, relevant: int, k: int) -> float:
    from harness.core import plugins

    arguments = f"(hits={np.flatnonzero(hits) + 1} as ranks, n_relevant={relevant}, k={k})"
    try:
        value = function(hits, relevant, k)
    except BaseException as error:  # a stranger's code may raise anything
        plugins.raise_interrupt(error)
        raise UsageError(
            f'metric "{name}" raised for {arguments}: {plugins.told(error)}'
        ) from error
    number = isinstance(value, (int, float, np.number, np.bool_))
    if not number or not abs(float(value)) <= LARGEST_SCORE:
        raise UsageError(
            f'metric "{name}" returned {value!r} for {arguments}; expected a finite number, '
            f"at most {LARGEST_SCORE:g}"
        )
    return float(value)
