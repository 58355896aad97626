"""What MAP@k leaves open, how each tool decides it, and the MAP@k that each would print.

A convention is four decisions: the divisor D, what a repeated prediction counts, who is averaged,
and whether precision is summed at hits alone. Which tool decides how was read from its source and
is tested against the tools themselves (peers/).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from harness.core.arrays import Bool, Floats, Int32, Int64, repeats
from harness.metrics.judgments import Block, Judgments
from harness.metrics.ranking import DIVISORS

Repeats = Literal["once", "again", "dropped"]
Users = Literal["all", "with truth", "with truth and list"]

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Convention:
    """One way to compute MAP@k.

    `divisor` names one of `DIVISORS`; of ``places``, P(i) of every rank is summed, hit or not, and
    divided by k. Of `repeats`, ``once`` is no second hit and uses its rank, with ``again`` every
    copy is a hit (and with `grows` adds to R, be it behind k), and with ``dropped`` the list is
    read without its repetitions. `users` says who is averaged, `tools` who computes it so, and
    `steps` how AP is worked out for `EXAMPLE`; `value` is what comes out.
    """

    divisor: str
    repeats: Repeats
    users: Users
    tools: str
    steps: str
    value: float
    grows: bool = False

    @property
    def repeats_text(self) -> str:
        """What a repeated prediction counts, in words."""
        return "again, and in R" if self.grows else self.repeats

    @property
    def divisor_text(self) -> str:
        """D as the documents write it."""
        return "k, P(i) of every rank" if self.divisor == "places" else DIVISORS[self.divisor].text


EXAMPLE = {"list": "a a b", "truth": "a b c d e", "k": 4}
"""The case that every convention works out in `steps`."""

CONVENTIONS: dict[str, Convention] = {
    "kaggle": Convention(
        "kaggle",
        "once",
        "with truth",
        "Kaggle H&M; harness score by a solution",
        "(1/1 + 2/3) / min(5, 4)",
        5 / 12,
    ),
    "ml_metrics": Convention(
        "kaggle",
        "once",
        "all",
        "ml_metrics, RecoTour, Kaggle Ponpare and Santander; harness run",
        "(1/1 + 2/3) / min(5, 4)",
        5 / 12,
    ),
    "trec": Convention(
        "trec",
        "once",
        "all",
        "ml_metrics with the divisor of trec_eval",
        "(1/1 + 2/3) / 5",
        1 / 3,
    ),
    "k": Convention(
        "k", "once", "all", "ml_metrics with the plain divisor k", "(1/1 + 2/3) / 4", 5 / 12
    ),
    "retrieved": Convention(
        "retrieved", "once", "all", "some notebooks", "(1/1 + 2/3) / min(5, 3)", 5 / 9
    ),
    "hits": Convention(
        "hits",
        "once",
        "all",
        "notebooks that divide by the hits",
        "(1/1 + 2/3) / 2",
        5 / 6,
    ),
    "trec_eval": Convention(
        "trec",
        "dropped",
        "with truth and list",
        "trec_eval (map_cut) and pytrec_eval",
        "a b: (1/1 + 2/2) / 5",
        2 / 5,
    ),
    "ir_measures": Convention(
        "trec",
        "dropped",
        "with truth",
        "ir_measures, and ranx with make_comparable",
        "a b: (1/1 + 2/2) / 5",
        2 / 5,
    ),
    "rectools": Convention(
        "trec",
        "again",
        "with truth",
        "RecTools MAP, its default",
        "(1/1 + 2/2 + 3/3) / (5 + 1)",
        1 / 2,
        grows=True,
    ),
    "rectools-k": Convention(
        "k",
        "again",
        "with truth",
        "RecTools MAP(divide_by_k=True)",
        "(1/1 + 2/2 + 3/3) / 4",
        3 / 4,
    ),
    "replay": Convention(
        "kaggle", "again", "with truth", "RePlay MAP", "(1/1 + 2/2 + 3/3) / min(5, 4)", 3 / 4
    ),
    "spark": Convention(
        "kaggle",
        "again",
        "all",
        "PySpark MLlib meanAveragePrecisionAt",
        "(1/1 + 2/2 + 3/3) / min(5, 4)",
        3 / 4,
    ),
    "recommenders": Convention(
        "kaggle",
        "again",
        "with truth and list",
        "recommenders map_at_k (pandas)",
        "(1/1 + 2/2 + 3/3) / min(5, 4)",
        3 / 4,
    ),
    "recommenders-map": Convention(
        "trec",
        "again",
        "with truth and list",
        "recommenders map (pandas)",
        "(1/1 + 2/2 + 3/3) / 5",
        3 / 5,
    ),
    "lenskit": Convention(
        "retrieved",
        "again",
        "with truth and list",
        "LensKit MAP",
        "(1/1 + 2/2 + 3/3) / min(5, 3)",
        1.0,
    ),
    "elliot": Convention(
        "places",
        "again",
        "with truth and list",
        "Elliot MAP",
        "(1/1 + 2/2 + 3/3 + 3/4) / 4",
        15 / 16,
    ),
}


def map_by_convention(
    items: Int32, judgments: Judgments, k: int, block: int = 1 << 16
) -> dict[str, float | None]:
    """Return MAP@k under every convention; None under one that averages none of these users.

    Lists are (n, K) int32, −1 = empty; `block` users are looked at at a time.
    """
    parts = [
        _of_users(Block(items[start : start + block], judgments.rows(start, start + block), k))
        for start in range(0, len(items), block)
    ]
    means: dict[str, float | None] = {}
    for name in CONVENTIONS:
        values = np.concatenate([part[name][0] for part in parts])
        counted = np.concatenate([part[name][1] for part in parts])
        total = math.fsum(values[counted].tolist())
        means[name] = total / int(counted.sum()) if counted.any() else None
    return means


def _of_users(b: Block) -> dict[str, tuple[Floats, Bool]]:
    """Return, for every convention, each user's value and whether the user is averaged."""
    kept = np.where(repeats(b.items), -1, b.items)  # what follows a repeated item moves up
    order = np.argsort(kept < 0, axis=1, kind="stable")
    dropped = np.take_along_axis(kept, order, axis=1)[:, : b.k]
    lists = {"again": b.lists, "once": b.lists, "dropped": dropped}
    hits = {name: _in_truth(places, b.judgments) for name, places in lists.items()}
    hits["once"] &= ~repeats(b.lists)
    everyone = np.ones(len(b), np.bool_)
    truth = np.asarray(b.judgments.relevant) > 0
    who = {"all": everyone, "with truth": truth}
    who["with truth and list"] = truth & (b.lists >= 0).any(axis=1)
    extra = (_in_truth(b.items, b.judgments) & repeats(b.items)).sum(axis=1)
    return {
        name: (_average_precision(hits[c.repeats], lists[c.repeats], b, c, extra), who[c.users])
        for name, c in CONVENTIONS.items()
    }


def _average_precision(
    hits: Bool,
    lists: Int32,
    b: Block,
    convention: Convention,
    extra: Int64,
) -> Floats:
    precision = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
    if convention.divisor == "places":
        # Behind the list there are no hits: P(i) = hits / i.
        chunks = range(hits.shape[1], b.k, _CHUNK)
        harmonic = ((1.0 / np.arange(i + 1, min(i + _CHUNK, b.k) + 1)).sum() for i in chunks)
        beyond = hits.sum(axis=1) * math.fsum(harmonic)
        return np.asarray((precision.sum(axis=1) + beyond) / b.k, np.float64)
    relevant = np.asarray(b.judgments.relevant) + (extra if convention.grows else 0)
    length, n_hits = (lists >= 0).sum(axis=1), hits.sum(axis=1)
    divisor = DIVISORS[convention.divisor].value(relevant, b.k, length, n_hits)
    return np.asarray((precision * hits).sum(axis=1) / np.maximum(divisor, 1), np.float64)


def _in_truth(lists: Int32, judgments: Judgments) -> Bool:
    """Return whether each position holds a true item, (n, positions)."""
    most = max(int(lists.max(initial=0)), int(judgments.truth.indices.max(initial=0))) + 1
    rows = np.arange(len(lists), dtype=np.int64)
    true = np.repeat(rows, judgments.truth.sizes) * most + judgments.truth.indices
    asked = np.where(lists >= 0, rows[:, None] * most + lists, -1)
    return np.isin(asked, true)
