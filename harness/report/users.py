"""Some users of a run for its page: what they did, what was true, and every model's list."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
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
from harness.results.run import Run
from harness.results.tables import positions_of

_PURPOSE = "users of the report"


def users_of(run: Run, count: int) -> dict[str, Any]:
    """Return what the page shows of at most so many users, their data packed.

    Of several folds it is the last. Without the log there is no history, and no hit is known.
    HarnessError where there are more groups than users, or the run has no lists, no value for each
    user, or lists with other scores.
    """
    fold, folds, metric = run.folds[-1], len(run.folds), run.record.metric
    each = _users_of_a_group(len(run.models), count)
    if fold.first_values is None:
        raise UsageError(
            f"{metric} has one value for all lists, none per user, so it cannot order users; "
            "remove --users, or run again with another first metric"
        )
    # The lists that are shown are those of the first repeat.
    values = {model.name: fold.first_values[model.name][0] for model in run.models}
    try:
        task, missing = task_of(run).task, ""
    except HarnessError as error:
        task, missing = None, printable(" ".join(str(error).split()))
    # Users without true items that could be recommended lost nothing. The log alone knows which
    # items could; without it R counts.
    hits = fold.users[TRUTH].to_numpy() if task is None else task.evaluation_set.truth.sizes
    groups = _groups(run, fold.user_ids, list(values.values()), hits, each, count)
    rows = np.unique(np.concatenate([order for orders in groups.values() for order in orders]))
    users = fold.user_ids.gather(rows)
    lists, codes = fold.lists_by_model(users), dict[str, int]()
    content: dict[str, Any] = {
        "metric": metric,
        "models": list(values),
        "users": users.to_list(),
        "groups": {
            name: [np.searchsorted(rows, order).tolist() for order in orders]
            for name, orders in groups.items()
        },
        "values": [values_of_model[rows].round(6).tolist() for values_of_model in values.values()],
        "lists": [_coded(lists[name], codes) for name in values],
    }
    titles = dict[str, str]()
    if task is not None:
        _refuse_other_lists(fold, task, rows, lists, values)
        content |= _background(task, rows, codes)
        titles = titles_of(task.data, list(codes))
    content["items"] = list(codes)
    content["titles"] = [titles.get(item, "") for item in codes] if titles else []
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return {
        "data": base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode(),
        "shown": len(rows),
        "all": len(fold.user_ids),
        "each": min(each, len(fold.user_ids)),
        "missing": missing,
        "fold": f"fold {folds} of {folds}, the last" if folds > 1 else "",
        "repeats": any(model.repeats > 1 for model in run.models),
    }


def _users_of_a_group(models: int, count: int) -> int:
    """Return how many users each group may have: an equal part of `count`."""
    groups = 2 * models + 1 + (models > 1)
    if count < groups:
        raise UsageError(
            f"--users {count}: there are {groups} groups of users, such as the worst and the "
            f"best of each model; use --users {groups} or more, or remove --users"
        )
    return count // groups


def _groups(
    run: Run, users: pl.Series, values: list[Floats], hits: Counts, each: int, count: int
) -> dict[str, list[Int64]]:
    """Return rows of users: each model's worst and best, those of most difference, random ones."""
    # Up to `each` of a group, and random ones for what is left of `count`.
    # `Definition.sign` would run a metric of the user's own; the record knows what is better.
    sign = -1 if run.record.better(run.record.metric) == "lower" else 1
    leader, *rest = goodness = [sign * values_of_model for values_of_model in values]
    worst = [worst_first(users, leader, hits)[:each]]
    worst += [worst_first(users, other, hits, leader)[:each] for other in rest]
    best = [best_first(users, scores)[:each] for scores in goodness]
    different = [most_different_first(users, leader, second)[:each] for second in rest[:1]]
    chosen = np.unique(np.concatenate([*worst, *best, *different]))
    seed = int(run.config.get("evaluation", {}).get("seed", 0))
    order = generator(seed, _PURPOSE).permutation(len(users))
    random = order[~np.isin(order, chosen)][: count - len(chosen)]
    return {"worst": worst, "best": best, "different": different, "random": [np.sort(random)]}


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
    for model, lists_of_model in lists.items():
        items = pl.Series("items", lists_of_model, dtype=pl.List(pl.String))
        positions = positions_of(items, evaluation_set).items
        refuse_other_scores(fold, model, {metric: values[model][rows]}, positions, judgments)


def _coded(lists: Sequence[Sequence[str | None]], codes: dict[str, int]) -> list[list[int]]:
    """Return lists with a number for each item, −1 where a position is empty; add new ones."""
    return [
        [-1 if item is None else codes.setdefault(item, len(codes)) for item in items]
        for items in lists
    ]


def _background(task: Task, rows: Int64, codes: dict[str, int]) -> dict[str, Any]:
    """Return what is true for some users, and what they did before the window."""
    data, evaluation_set = task.data, task.evaluation_set
    inside = evaluation_set.truth.gather(rows)
    outside = Ragged(
        np.concatenate(([0], np.cumsum(evaluation_set.relevant - evaluation_set.truth.sizes))),
        np.arange(len(evaluation_set.outside_ids), dtype=np.int32),
    ).gather(rows)
    reachable = _ids(inside, evaluation_set.candidate_ids)
    unreachable = _ids(outside, evaluation_set.outside_ids)
    true_items = [[*some, *more] for some, more in zip(reachable, unreachable, strict=True)]
    users = histories(task, rows.tolist())
    days = sorted({event.day or "" for user in users for event in user.events})
    day_codes = {day: code for code, day in enumerate(days)}
    types = list(dict.fromkeys(data.kinds))
    return {
        "truth": _coded(true_items, codes),
        "reachable": inside.sizes.tolist(),
        "events": [user.total for user in users],
        "days": days if data.has_time else [],
        "types": types if len(types) > 1 else [],
        "history": [
            [
                [
                    day_codes[event.day or ""],
                    codes.setdefault(event.item, len(codes)),
                    types.index(event.type or types[0]),
                ]
                for event in user.events
            ]
            for user in users
        ],
    }


def _ids(rows: Ragged, ids: pl.Series) -> list[list[str]]:
    """Return the ids that each row holds."""
    gathered = ids.gather(rows.indices).to_list()
    return [gathered[start:stop] for start, stop in pairwise(rows.indptr.tolist())]
