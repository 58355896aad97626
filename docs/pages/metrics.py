"""docs/metrics.md: every metric with its formula and examples, and the conventions of MAP@k."""

from __future__ import annotations

from harness.core.table import Column, Sheet, markdown
from harness.listing.metrics import conventions_sheet, facts_of
from harness.metrics import DEFINITIONS, DIVISORS

_HEAD = """
# Metrics

`make pages` writes this page from the definitions in `harness/metrics/`. `harness list metrics`
prints the same facts.

The formulas use these symbols, for one user:

- T is the set of true items, and R = |T|.
- p_1 … p_L is the list, cut at k (L ≤ k), best first.
- hit(i) = 1 if p_i is in T and not at an earlier rank, else 0.
- P(i) = (hits among the first i ranks) / i, and hits = Σ hit(i).

A repeated item uses a rank but is not a second hit. If a divisor is 0, the value is 0. The score
of a metric is the mean over **all** users of the evaluation set.

Write a metric as `Name(parameter=value)@k`; you can omit defaults.
"""

_OWN = """
## Your own

Write a function of (hits, n_relevant, k) for one user, and name it by its import path. With this
function in `my_metrics.py` next to the config (or the notebook), the metric is
`my_metrics:early@10`.

```python
def early(hits, n_relevant, k):
    \"\"\"The share of the first three ranks that are hits.\"\"\"
    return hits[:3].sum() / 3
```

`hits` is a bool array of the k ranks, best first (a repeated item is not a hit); `n_relevant` is
R. The function returns any finite number. Higher is better, unless you set:

```python
early.better = "lower"  # or "neither", if high and low are not better or worse
```

A run records a digest of the function's code (`metrics` in result.json): its file and your modules
that it imports, or the version of its installed package. If the code has changed between two runs,
harness does not compare them by this metric, and a leaderboard leaves out the older run. Other
metrics of these runs stay comparable. `harness score RUN` and `harness explain RUN` use the current
function, and a note says so if it has changed. The digest does not cover files that the function
reads.
"""

_CONVENTIONS = """
## Conventions of MAP@k

Tools compute MAP@k in different ways. They differ in three points:

- the divisor D
- a repeated item: a hit `once`, `again` with every copy, or `dropped` before ranks are counted
- the users in the mean

To see all conventions for your file: `harness score FILE --solution SOLUTION --conventions`.
`make peers` tests these numbers against pytrec_eval, ir_measures, ranx, RecTools, RePlay and
recommenders. The others follow from their source code.
"""


def page() -> str:
    """Return docs/metrics.md."""
    divisors = Sheet(
        [Column("divisor", str, "name"), Column("D", str, "name")],
        [[name, divisor.text] for name, divisor in DIVISORS.items()],
    )
    parts = [_HEAD.strip()]
    for name, definition in DEFINITIONS.items():
        parts.append("\n".join([f"## {name}\n", *(f"- {f}" for f in facts_of(name, definition))]))
    parts[1] += "\n\n" + markdown(divisors)
    parts += [_OWN.strip(), _CONVENTIONS.strip(), markdown(conventions_sheet())]
    return "\n\n".join(parts) + "\n"
