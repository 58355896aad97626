"""Some users of a run for its page: what they did, what was true, and every model's list."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from harness.comparison.explain import best_first, most_different_first, worst_first
from harness.core.arrays import Counts, Floats, Int64, Ragged
from harness.core.errors import HarnessError, UsageError, printable
from harness.core.random import generator
from harness.evaluation.rescore import refuse_other_scores, task_of
from harness.protocol.history import histories, titles_of
from harness.protocol.task import Task
from harness.protocol.users import TRUTH
from harness.results.folder import PER_USER
from harness.results.run import Run
from harness.results.tables import positions_of
from harness.scoring.terms import which_fold

_PURPOSE = "users of the report"


def users_of(run: Run, count: int | None) -> dict[str, Any]:
    """Return what the page shows of so many users, their data packed; of None only how to get it.

    Of several folds it is the last. Without the log there is no history, and no hit is known.

    Raises
    ------
    HarnessError
        The run has no lists written down, or no value for each user; lists that do not have the
        scores of the run.
    """
    if count is None:
        return {"users": None}
    fold, metric = run.folds[-1], run.record.metric
    try:
        task, missing = task_of(run).task, ""
    except HarnessError as error:
        task, missing = None, printable(" ".join(str(error).split()))
    values = {model.name: _values(fold, model.name, metric) for model in run.models}
    hits = fold.users[TRUTH].to_numpy() if task is None else task.evaluation_set.truth.sizes
    groups = _groups(run, fold, list(values.values()), hits, count)
    rows = np.unique(np.concatenate([rows for orders in groups.values() for rows in orders]))
    users = fold.user_ids.gather(rows)
    lists = fold.lists_by_model(users)
    if task is not None:
        _refuse_other_lists(fold, task, rows, lists, values)
    place = {row: at for at, row in enumerate(rows.tolist())}
    items = _Items()
    content = {
        "metric": metric,
        "models": [model.name for model in run.models],
        "users": users.to_list(),
        "groups": {
            name: [[place[row] for row in of_model.tolist()] for of_model in orders]
            for name, orders in groups.items()
        },
        "values": [values[m.name][rows].round(6).tolist() for m in run.models],
        "lists": [items.coded(lists[m.name]) for m in run.models],
        **({} if task is None else _background(task, rows, items)),
    }
    content["items"] = list(items.codes)
    titles = {} if task is None else titles_of(task.data, content["items"])
    content["titles"] = [titles.get(item, "") for item in items.codes] if titles else []
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    packed = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
    return {
        "users": {
            "data": packed,
            "shown": len(rows),
            "all": len(fold.user_ids),
            "each": len(groups["worst"][0]),
            "missing": missing,
            "fold": which_fold(len(run.folds), len(run.folds)).partition(";")[0],
            "repeats": any(model.repeats > 1 for model in run.models),
        }
    }


@dataclass(frozen=True)
class _Items:
    """The items that are shown, each by the number of its first appearance."""

    codes: dict[str, int] = field(default_factory=dict)

    def coded(self, lists: Sequence[Sequence[str | None]]) -> list[list[int]]:
        """Return lists as numbers; −1 for an empty position."""
        codes = self.codes
        return [
            [-1 if item is None else codes.setdefault(item, len(codes)) for item in items]
            for items in lists
        ]


def _values(fold: Run, model: str, metric: str) -> Floats:
    """Return each user's value in the first repeat, whose lists are shown."""
    rows = fold.table(PER_USER, model)
    if metric not in rows.columns:
        raise UsageError(
            f"{metric} has one value for all lists, none for each user, so users cannot be "
            "ordered by it; leave --users out, or run it again with another first metric"
        )
    return rows.filter(repeat=0)[metric].to_numpy()


def _groups(
    run: Run, fold: Run, values: list[Floats], hits: Counts, count: int
) -> dict[str, list[Int64]]:
    """Return rows of users: each model's worst and best, those of most difference, random ones.

    A part of `count` for each, and random ones for what is left of it.
    """
    ids, sign = fold.user_ids, -1 if run.record.better(run.record.metric) == "lower" else 1
    each = max(count // (2 * len(values) + 2), 1)
    good = [sign * of_model for of_model in values]
    worst = [
        worst_first(ids, of_model, hits, good[0] if of_model is not good[0] else None)[:each]
        for of_model in good
    ]
    best = [best_first(ids, of_model)[:each] for of_model in good]
    different = [most_different_first(ids, good[0], good[1])[:each]] if len(good) > 1 else []
    chosen = np.unique(np.concatenate([*worst, *best, *different]))
    seed = int(run.config.get("evaluation", {}).get("seed", 0))
    order = generator(seed, _PURPOSE).permutation(len(ids))
    more = order[~np.isin(order, chosen)][: max(count - len(chosen), 0)]
    return {"worst": worst, "best": best, "different": different, "random": [np.sort(more)]}


def _refuse_other_lists(
    fold: Run,
    task: Task,
    rows: Int64,
    lists: Mapping[str, Sequence[Sequence[str | None]]],
    values: Mapping[str, Floats],
) -> None:
    """Raise UsageError where lists of some users do not have the first metric's values."""
    metric, evaluation_set = fold.metrics[fold.record.metric], task.evaluation_set
    chosen = np.zeros(len(evaluation_set.users), np.bool_)
    chosen[rows] = True
    judgments = evaluation_set.judgments().pick(chosen)
    for model, of_users in lists.items():
        items = pl.Series("items", of_users, dtype=pl.List(pl.String))
        positions = positions_of(items, evaluation_set).items
        refuse_other_scores(fold, model, {metric: values[model][rows]}, positions, judgments)


def _background(task: Task, rows: Int64, items: _Items) -> dict[str, Any]:
    """Return what is true for some users, and what they did before the window."""
    data, evaluation_set = task.data, task.evaluation_set
    inside = evaluation_set.truth.gather(rows)
    beyond = Ragged(
        np.concatenate(([0], np.cumsum(evaluation_set.relevant - evaluation_set.truth.sizes))),
        np.arange(len(evaluation_set.outside_ids), dtype=np.int32),
    ).gather(rows)
    true_items = [
        [*of_user, *others]
        for of_user, others in zip(
            _parts(inside, evaluation_set.candidate_ids),
            _parts(beyond, evaluation_set.outside_ids),
            strict=True,
        )
    ]
    known = histories(task, rows.tolist())
    days = sorted({event.day or "" for history in known for event in history.events})
    types = list(dict.fromkeys(data.kinds))
    day_of, type_of = ({name: at for at, name in enumerate(names)} for names in (days, types))
    return {
        "truth": items.coded(true_items),
        "reachable": inside.sizes.tolist(),
        "events": [history.total for history in known],
        "days": days if data.has_time else [],
        "types": types if len(types) > 1 else [],
        "history": [
            [
                [
                    day_of[event.day or ""],
                    items.coded([[event.item]])[0][0],
                    type_of[event.type or types[0]],
                ]
                for event in history.events
            ]
            for history in known
        ],
    }


def _parts(rows: Ragged, ids: pl.Series) -> list[list[str]]:
    """Return the ids that each row holds."""
    every = ids.gather(rows.indices).to_list()
    return [every[start:stop] for start, stop in pairwise(rows.indptr.tolist())]
