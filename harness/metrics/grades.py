"""Which grades of true items a metric can use."""

from __future__ import annotations

import math
from collections.abc import Iterable

from harness.core.arrays import Floats
from harness.core.errors import DataError, UsageError
from harness.metrics.registry import Metric

_HIGHEST = {"exponential": 1000, "linear": 1e300}
"""The highest grade of each gain whose gains are summed within what a float64 holds, 2^1024."""


def allows(metric: Metric, grades: Floats | None) -> bool:
    """Return whether a metric can use the grades of all true items, or their absence."""
    try:
        refuse_grades([metric], grades)
    except (UsageError, DataError):
        return False
    return True


def refuse_grades(
    metrics: Iterable[Metric],
    grades: Floats | None,
    where: str = "truth",
    cure: str = 'name the grade column of the truth with evaluate(…, grade="…"), or give {user: '
    "{item: grade}}",
) -> None:
    """Raise where a metric has no use for the grades, all there are or the highest, or for none.

    UsageError where a metric needs grades and there are none, DataError for one that is too high.
    `where` says where they are from, and `cure` how they are given.
    """
    worst = 0.0 if grades is None else float(grades.max(initial=0.0))
    highest = repr(worst).removesuffix(".0")
    for metric in metrics:
        if metric.graded and grades is None:
            raise UsageError(f"metric {metric} needs grades: {cure}")
        if metric.name == "pFound" and worst > 1:
            raise DataError(
                f"{where}: found the grade {highest}; for {metric} a grade is the probability "
                "that the item satisfies the user, from 0 to 1: divide grades by the highest "
                "possible grade (for a log, write the result to a column and name it as [data] "
                "value)"
            )
        most = _HIGHEST.get(metric.settings.get("gain", ""), math.inf)
        if worst > most:
            raise DataError(
                f"{where}: found the grade {highest}; the gains of {metric} would be too large to "
                f"add up: the highest grade allowed is {most:,g}; divide grades, or leave out such "
                'events: with value = "rating", '
                f"where = {{ rating = {{ max = {most:g} }} }} under [data]"
            )
