"""The two sample competitions, each run once, against plain Python in sets and dicts."""

import csv
import gzip
import json
import math
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, exactly

from harness import config, run

DAY = timedelta(days=1)
Lists = dict[str, list[str]]


def table(path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(gzip.open(ROOT / "data" / path, "rt", encoding="utf-8")))


class Plain:
    """A competition in plain Python: its events are of a user, an item and a time."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.events: list[tuple[str, str, datetime]] = []

    def split(self, start: datetime, end: datetime, candidates: set[str], known: set[str]) -> None:
        """Hold out what is from `start` up to `end`; `known` users alone are evaluated."""
        self.start, self.candidates = start, candidates
        self.train = [event for event in self.events if event[2] < start]
        bought: dict[str, set[str]] = defaultdict(set)
        for user, item, time in self.events:
            if start <= time < end:
                bought[user].add(item)
        seen = known & {user for user, _, _ in self.train} & bought.keys()
        self.truth = {user: bought[user] for user in seen if bought[user] & candidates}
        self.funnel = [len(bought), len(seen), len(self.truth)]

    def popular(self, since: datetime = datetime.min) -> list[str]:
        """Return the candidates by their events, ties by id."""
        counts = Counter(i for _, i, time in self.train if time >= since and i in self.candidates)
        return sorted(counts, key=lambda item: (-counts[item], item))

    def lists(self) -> dict[str, Lists]:
        latest: dict[str, dict[str, datetime]] = defaultdict(dict)
        for user, item, time in sorted(self.train, key=lambda event: event[2]):
            latest[user] |= {item: time} if item in self.candidates else {}
        weekly, again = self.popular(self.start - 7 * DAY), {}
        for user in self.truth:
            had = latest[user]
            first = sorted(sorted(had), key=lambda item: had[item], reverse=True)
            again[user] = first + [item for item in weekly if item not in had]
        ever, lately = dict.fromkeys(self.truth, self.popular()), dict.fromkeys(self.truth, weekly)
        return {"repurchase": again, "popular last week": lately, "popular": ever}

    def means(self, lists: Lists) -> dict[str, float]:
        """Return the means over users of AP (divisor min(R, k)), recall and NDCG at k."""
        values: dict[str, list[float]] = defaultdict(list)
        for user, truth in self.truth.items():
            ranks = [i for i, item in enumerate(lists[user][: self.k], 1) if item in truth]
            full = min(len(truth), self.k)
            values["MAP"].append(sum(h / i for h, i in enumerate(ranks, 1)) / full)
            values["Recall"].append(len(ranks) / len(truth))
            ideal = sum(1 / math.log2(i + 1) for i in range(1, full + 1))
            values["NDCG"].append(sum(1 / math.log2(i + 1) for i in ranks) / ideal)
        return {f"{name}@{self.k}": math.fsum(v) / len(v) for name, v in values.items()}


def plain_hm() -> Plain:
    plain = Plain(k=12)
    for row in table("hm-sample/transactions_train.csv.gz"):
        time = datetime.fromisoformat(row["t_dat"])
        plain.events.append((row["customer_id"], row["article_id"], time))
    end = max(time for _, _, time in plain.events) + DAY
    articles = {row["article_id"] for row in table("hm-sample/articles.csv.gz")}
    plain.split(end - 7 * DAY, end, articles, {user for user, _, _ in plain.events})
    return plain


def plain_ponpare() -> Plain:
    """Days are counted back from the last event; of the second week before it is held out."""
    plain, folder = Plain(k=10), "ponpare-sample/"
    for kind, item in (("detail", "COUPON_ID_hash"), ("visit", "VIEW_COUPON_ID_hash")):
        for row in table(f"{folder}coupon_{kind}_train.csv.gz"):
            time = datetime.fromisoformat(row["I_DATE"])
            plain.events.append((row["USER_ID_hash"], row[item], time))
    end = max(time for _, _, time in plain.events) - 7 * DAY + timedelta(microseconds=1)
    start, shown, known = end - 7 * DAY, set(), set()
    for row in table(f"{folder}coupon_list_train.csv.gz"):
        if start <= datetime.fromisoformat(row["DISPFROM"]) < end:
            shown.add(row["COUPON_ID_hash"])
    for row in table(f"{folder}user_list.csv.gz"):
        if datetime.fromisoformat(row["REG_DATE"]) < start:
            known.add(row["USER_ID_hash"])
    plain.split(start, end, shown, known)
    return plain


def figures(document: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return the means by model and metric; the best model comes first."""
    return {
        model["name"]: {metric: figure["mean"] for metric, figure in model["metrics"].items()}
        for model in document["models"]
    }


@pytest.mark.parametrize("sample", ["hm", "ponpare"])
def test_the_sample_agrees_with_plain_python(sample: str, demo_run: Path) -> None:
    if sample == "hm":
        plain, text = plain_hm(), (demo_run / "result.json").read_text(encoding="utf-8")
    else:
        path = ROOT / "configs" / "demo-ponpare.toml"
        few = ["compare.resamples=100", "data.cache=false"]
        plain, text = plain_ponpare(), run(config.read(path, few)).to_json()
    document = json.loads(text)
    evaluation, means = document["evaluation"], figures(document)
    assert [step["users"] for step in evaluation["funnel"]] == plain.funnel
    assert evaluation["candidates"] == len(plain.candidates)
    lists = plain.lists()
    assert [*means] == [*lists, "random"]
    for model, of_users in lists.items():
        assert means[model] == exactly(plain.means(of_users))
