"""The samples are worth evaluating on: random < popular < popular last week < repurchase.

Task and scores are worked out here once more by hand, with nothing from the harness.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import NamedTuple

import polars as pl
import pytest

from harness.data.synthetic import synthesise

ROOT = Path(__file__).parents[2]
WEEK = timedelta(days=7)
CLEARLY = 1.1


class Task(NamedTuple):
    train: pl.DataFrame
    truth: dict[str, set[str]]
    candidates: list[str]
    cut: datetime
    k: int


def events(path: Path, columns: tuple[str, str, str], form: str) -> pl.DataFrame:
    user, item, time = columns
    return pl.read_csv(path, infer_schema=False).select(
        user=user, item=item, time=pl.col(time).str.to_datetime(form)
    )


def make_task(log: pl.DataFrame, candidates: list[str], cut: datetime, k: int) -> Task:
    """Users seen before `cut` with a candidate hit in the week from there."""
    train = log.filter(pl.col("time") < cut)
    valid = log.filter(pl.col("time").is_between(cut, cut + WEEK, closed="left"))
    valid = valid.join(train.select("user").unique(), on="user")
    by_user = valid.group_by("user").agg("item").iter_rows()
    truth = {user: set(items) for user, items in by_user if set(items) & set(candidates)}
    return Task(train, truth, candidates, cut, k)


def hm(folder: Path) -> Task:
    names = "customer_id", "article_id", "t_dat"
    log = events(folder / "transactions_train.csv.gz", names, "%Y-%m-%d")
    articles = pl.read_csv(folder / "articles.csv.gz", infer_schema=False)["article_id"]
    return make_task(log, articles.to_list(), datetime(2020, 9, 16), 12)


def ponpare(folder: Path) -> Task:
    form = "%Y-%m-%d %H:%M:%S"
    items = {"visit": "VIEW_COUPON_ID_hash", "detail": "COUPON_ID_hash"}
    log = pl.concat(
        events(folder / f"coupon_{name}_train.csv.gz", ("USER_ID_hash", item, "I_DATE"), form)
        for name, item in items.items()
    )
    cut = datetime(2012, 6, 9, 23, 59, 49)
    coupons = pl.read_csv(folder / "coupon_list_train.csv.gz", infer_schema=False)
    shown = pl.col("DISPFROM").str.to_datetime(form).is_between(cut, cut + WEEK, closed="left")
    return make_task(log, coupons.filter(shown)["COUPON_ID_hash"].to_list(), cut, 10)


def mean_ap(task: Task, lists: Callable[[str], list[str]]) -> float:
    total = 0.0
    for user, truth in task.truth.items():
        hits = 0
        for rank, item in enumerate(lists(user)[: task.k], start=1):
            if item in truth:
                hits += 1
                total += hits / rank / min(len(truth), task.k)
    return total / len(task.truth)


def popular(log: pl.DataFrame) -> list[str]:
    counts = log.group_by("item").len()
    return counts.sort("len", "item", descending=[True, False])["item"].to_list()


def baseline_scores(task: Task) -> list[float]:
    """MAP@k of random, popular, popular last week, repurchase."""
    log = task.train.filter(pl.col("item").is_in(task.candidates))
    always, last_week = popular(log), popular(log.filter(pl.col("time") >= task.cut - WEEK))
    mine: dict[str, list[str]] = {}  # latest first
    for user, item in (
        log.sort("time", maintain_order=True).reverse().select("user", "item").iter_rows()
    ):
        mine.setdefault(user, []).append(item)
    dice = Random(7)  # noqa: S311
    chance = [mean_ap(task, lambda user: dice.sample(task.candidates, task.k)) for _ in range(5)]
    return [
        sum(chance) / len(chance),
        mean_ap(task, lambda user: always),
        mean_ap(task, lambda user: last_week),
        mean_ap(task, lambda user: list(dict.fromkeys(mine.get(user, []) + last_week))),
    ]


@pytest.mark.parametrize(
    ("task_of", "sample", "users"),
    [(hm, "data/hm-sample", 800), (ponpare, "data/ponpare-sample", 300)],
)
def test_each_baseline_of_the_samples_beats_the_one_before(
    task_of: Callable[[Path], Task], sample: str, users: int
) -> None:
    task = task_of(ROOT / sample)
    assert len(task.truth) >= users
    scores = baseline_scores(task)
    for worse, better in pairwise(scores):
        assert better > CLEARLY * worse, scores


@pytest.mark.parametrize(
    ("layout", "task_of", "size"),
    [
        ("hm", hm, {"users": 10_000, "items": 1500, "events": 60_000}),
        ("ponpare", ponpare, {"users": 4000, "items": 2500, "events": 60_000}),
    ],
)
def test_larger_markets_with_other_seeds_keep_the_order(
    layout: str, task_of: Callable[[Path], Task], size: dict[str, int], tmp_path: Path
) -> None:
    synthesise(layout, tmp_path, **size, seed=5, gzip=True)
    scores = baseline_scores(task_of(tmp_path))
    assert scores == sorted(scores)
    assert scores[-1] > 2 * scores[0]


def test_hm_scores_are_of_the_real_magnitude() -> None:
    random, always, last_week, again = baseline_scores(hm(ROOT / "data/hm-sample"))
    assert random < 0.005
    assert 0.003 < always < 0.015
    assert 0.005 < last_week < 0.03
    assert 0.02 < again < 0.06
