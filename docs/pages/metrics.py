"""docs/metrics.md: every metric with its formula and examples, and the conventions of MAP@k."""

from __future__ import annotations

from harness.core.table import Column, Sheet, markdown
from harness.listing.metrics import conventions_sheet, facts_of
from harness.metrics import DEFINITIONS, DIVISORS

_HEAD = """
# Metrics

Made by `make docs` from the declarations in `harness/metrics/`; `harness list metrics` prints the
same facts.

For a user with the set of true items T, R = |T|, and a list cut at k, of which the items p_1 … p_L
are left (L ≤ k): hit(i) = 1 when p_i is in T and at no rank before i; P(i) = (hits among the first
i ranks) / i; hits = Σ hit(i). A repeated prediction is no second hit and uses its rank.
Where a divisor is 0, so is the value. A metric is reported as the mean over **all** users of
the evaluation set.

A metric is written `Name(parameter=value)@k`; defaults need not be written. In the examples a list
is shown best first.
"""

_OWN = """
## Your own

One function of (hits, n_relevant, k) for one user, named by import path: with this in
`my_metrics.py` beside the config (or the notebook), `my_metrics:early@10` is a metric like any.

```python
def early(hits, n_relevant, k):
    \"\"\"Half the hits among the first three ranks.\"\"\"
    return hits[:3].sum() / 2
```

`hits` is a bool array of the k ranks, best first (a repetition is no hit); `n_relevant` is R. The
function returns a finite number, 0 to 1 or not. More of it is better, if it does not say otherwise:

```python
early.better = "lower"  # or "neither", for what only describes
```

A run records a digest of the function's source (`metrics` in result.json): of its file and of the
modules of yours that it imports, or the version of the package that it is installed with. Runs by
two sources are not compared, and a leaderboard leaves the older ones out; other metrics of these
runs are compared as ever. `harness score RUN` and `harness explain RUN` go by the function as it is
now, and say so where it has changed. Files that a function reads itself are not known.
"""

_CONVENTIONS = """
## Conventions of MAP@k

What the formula leaves open, and who decides it how: the divisor; whether a repeated prediction is
a hit `once`, `again` with every copy, or is `dropped` before ranks are counted; and who is
averaged. All of them side by side, for a file of yours:
`harness score FILE --solution SOLUTION --conventions`. That pytrec_eval, ir_measures, ranx,
RecTools, RePlay and recommenders print these numbers is tested against the tools themselves (`make
peers`); for the others their sources were read.
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
