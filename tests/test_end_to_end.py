"""Whole runs against a plain re-implementation in sets and dicts, and against themselves."""

import csv
import gzip
import hashlib
import io
import json
import math
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from small import timeless

from harness import config as config_
from harness.experiment.result import Result
from harness.experiment.run import run

ROOT = Path(__file__).parents[1]
MADE_UP = Path(__file__).parent / "files" / "movielens"
MOVIELENS = ROOT / "data" / "ml-latest-small"
"""The ratings themselves, where they were put as data/README.md says: nobody may pass them on."""
DAY = timedelta(days=1)

Rows = list[dict[str, str]]
Event = tuple[str, str, datetime]


def table(path: Path) -> Rows:
    packed = path.with_name(path.name + ".gz")
    content = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    return list(csv.DictReader(io.StringIO(content.decode())))


@dataclass
class Plain:
    """An evaluation set in plain Python; `truth` holds evaluated users alone."""

    train: list[Event]
    candidates: set[str]
    truth: dict[str, set[str]]
    k: int
    cutoff: datetime
    funnel: list[int] = field(default_factory=list)
    seen: dict[str, set[str]] = field(default_factory=dict)

    def scores(self, lists: Callable[[str], Sequence[str]]) -> dict[str, float]:
        """Return the means over users of AP (divisor min(R, k)), recall and NDCG at k."""
        values: dict[str, list[float]] = defaultdict(list)
        for user, truth in self.truth.items():
            ranks = [i for i, item in enumerate(lists(user)[: self.k], 1) if item in truth]
            full = min(len(truth), self.k)
            values["MAP"].append(sum(h / i for h, i in enumerate(ranks, 1)) / full)
            values["Recall"].append(len(ranks) / len(truth))
            ideal = sum(1 / math.log2(i + 1) for i in range(1, full + 1))
            values["NDCG"].append(sum(1 / math.log2(i + 1) for i in ranks) / ideal)
        return {f"{name}@{self.k}": math.fsum(v) / len(v) for name, v in values.items()}

    def popular(self, days: float | None = None) -> list[str]:
        """Return the candidates by events before the cut-off, ties by id."""
        recent = [e for e in self.train if days is None or e[2] >= self.cutoff - days * DAY]
        counts = Counter(item for _, item, _ in recent if item in self.candidates)
        return sorted(counts, key=lambda item: (-counts[item], item))

    def popular_for(self, days: float | None = None) -> Callable[[str], list[str]]:
        order = self.popular(days)
        return lambda user: [i for i in order if i not in self.seen.get(user, ())][: self.k]

    def repurchase_for(self) -> Callable[[str], list[str]]:
        latest: dict[str, dict[str, datetime]] = defaultdict(dict)
        for user, item, time in self.train:
            if item in self.candidates:
                latest[user][item] = max(time, latest[user].get(item, time))
        order = self.popular(7)

        def lists(user: str) -> list[str]:
            own = latest[user]
            first = sorted(sorted(own), key=lambda item: own[item], reverse=True)
            return [*first, *(i for i in order if i not in own)][: self.k]

        return lists


def evaluation_set(
    train: list[Event],
    valid: list[Event],
    candidates: set[str],
    known: set[str],
    k: int,
    cutoff: datetime,
    drop_seen: bool = False,
) -> Plain:
    seen: dict[str, set[str]] = defaultdict(set)
    for user, item, _ in train:
        seen[user].add(item)
    truth: dict[str, set[str]] = defaultdict(set)
    for user, item, _ in valid:
        truth[user].add(item)
    active = sorted(truth)
    if drop_seen:
        truth = defaultdict(set, {u: truth[u] - seen[u] for u in active})
    in_train = [u for u in active if u in known]
    evaluated = [u for u in in_train if truth[u] & candidates]
    return Plain(
        train, candidates, {u: truth[u] for u in evaluated}, k, cutoff,
        [len(active), len(in_train), len(evaluated)], seen if drop_seen else {},
    )  # fmt: skip


def plain_hm() -> Plain:
    folder = ROOT / "data" / "hm-sample"
    events = [
        (r["customer_id"], r["article_id"], datetime.fromisoformat(r["t_dat"]))
        for r in table(folder / "transactions_train.csv")
    ]
    first_day = max(e[2] for e in events) - 6 * DAY
    train = [e for e in events if e[2] < first_day]
    valid = [e for e in events if e[2] >= first_day]
    candidates = {r["article_id"] for r in table(folder / "articles.csv")}
    return evaluation_set(train, valid, candidates, {e[0] for e in train}, 12, first_day)


def plain_ponpare() -> Plain:
    folder = ROOT / "data" / "ponpare-sample"
    files = {"coupon_detail_train.csv": "COUPON_ID_hash"}
    files["coupon_visit_train.csv"] = "VIEW_COUPON_ID_hash"
    events = [
        (r["USER_ID_hash"], r[item], datetime.fromisoformat(r["I_DATE"]))
        for name, item in files.items()
        for r in table(folder / name)
    ]
    present = max(e[2] for e in events)

    def days_back(text: str) -> int:
        return (present - datetime.fromisoformat(text)) // DAY

    train = [e for e in events if (present - e[2]) // DAY > 13]
    valid = [e for e in events if 7 <= (present - e[2]) // DAY <= 13]
    coupons = table(folder / "coupon_list_train.csv")
    shown = {r["COUPON_ID_hash"] for r in coupons if 7 <= days_back(r["DISPFROM"]) <= 13}
    people = table(folder / "user_list.csv")
    registered = {r["USER_ID_hash"] for r in people if days_back(r["REG_DATE"]) > 13}
    known = {e[0] for e in train} & registered
    cutoff = present - 14 * DAY + timedelta(microseconds=1)
    return evaluation_set(train, valid, shown, known, 10, cutoff)


def shuffle_key(user: str, item: str, seed: int = 0) -> int:
    """Return docs/config.md's key of an event among others of its time, in plain Python."""

    def mixed(z: int) -> int:
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
        return z ^ (z >> 31)

    def hashed(text: str) -> int:
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")

    return mixed(mixed(hashed(user) ^ mixed(seed)) ^ hashed(item))


def plain_movielens(folder: Path, tie: Callable[[str, str], object]) -> Plain:
    liked: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for r in table(folder / "ratings.csv"):
        if float(r["rating"]) >= 4:
            liked[r["userId"]].append((int(r["timestamp"]), r["movieId"]))
    train: list[Event] = []
    valid: list[Event] = []
    for user, events in liked.items():
        rows = [(user, item, datetime(1970, 1, 1) + timedelta(seconds=t)) for t, item in events]
        rows.sort(key=lambda e: (e[2], tie(e[0], e[1])))
        train += rows[:-5]
        valid += rows[-5:]
    candidates = {e[1] for e in train}
    known = {e[0] for e in train}
    return evaluation_set(train, valid, candidates, known, 10, datetime.max, drop_seen=True)


def figures(result: Result, name: str) -> dict[str, float]:
    model = next(m for m in result.models if m.name == name)
    return {metric: figure.mean for metric, figure in model.metrics.items()}


def shape(result: Result) -> tuple[list[int], int]:
    return [step.users for step in result.evaluation_set.funnel], len(
        result.evaluation_set.candidates
    )


@pytest.mark.parametrize(
    ("name", "plain"), [("demo.toml", plain_hm), ("demo-ponpare.toml", plain_ponpare)]
)
def test_demo_agrees_with_plain_python(name: str, plain: Callable[[], Plain]) -> None:
    result, expected = run(ROOT / "configs" / name), plain()
    assert shape(result) == (expected.funnel, len(expected.candidates))
    lists = {
        "popular": expected.popular_for(),
        "popular last week": expected.popular_for(7),
        "repurchase": expected.repurchase_for(),
    }
    for model, list_of in lists.items():
        assert figures(result, model) == pytest.approx(expected.scores(list_of), abs=1e-12)
    assert [m.name for m in result.models] == [*reversed(lists), "random"]  # best first


@pytest.mark.parametrize("folder", [MADE_UP, *([MOVIELENS] if MOVIELENS.is_dir() else [])])
@pytest.mark.parametrize(
    ("ties", "tie"), [("shuffle", shuffle_key), ("id", lambda user, item: item)]
)
def test_movielens_agrees_with_plain_python(
    ties: str, tie: Callable[[str, str], object], folder: Path
) -> None:
    given = [f"data.path={folder}", f"split.ties={ties}"]
    config = config_.read(ROOT / "configs" / "movielens.toml", given)
    popular = [model for model in config.models if model.name == "popular"]
    result = run(config.model_copy(update={"models": popular}))
    expected = plain_movielens(folder, tie)
    assert shape(result) == (expected.funnel, len(expected.candidates))
    found = figures(result, "popular")
    assert found == pytest.approx(expected.scores(expected.popular_for()), abs=1e-12)


def document(result: Result) -> str:
    return json.dumps(timeless(json.loads(result.to_json())))


DEMOS = [("demo.toml", "hm-sample"), ("demo-ponpare.toml", "ponpare-sample")]


def shuffled(source: Path, target: Path, seed: int) -> Path:
    """Copy a folder's tables as plain files, the header first and the rows in random order."""
    target.mkdir()
    for path in sorted(source.iterdir()):
        header, *rows = gzip.decompress(path.read_bytes()).decode().splitlines(keepends=True)
        random.Random(seed).shuffle(rows)  # noqa: S311
        (target / path.stem).write_text(header + "".join(rows), encoding="utf-8", newline="")
    return target


@pytest.mark.parametrize(("name", "data"), DEMOS)
def test_row_order_changes_no_byte(tmp_path: Path, name: str, data: str) -> None:
    config = ROOT / "configs" / name
    first = document(run(config, fresh=True))
    assert document(run(config, fresh=True)) == first
    for seed in (1, 2):
        folder = shuffled(ROOT / "data" / data, tmp_path / str(seed), seed)
        assert document(run(config_.read(config, [f"data.path={folder}"]))) == first


ON_PROCESSORS = """
import os, sys
n = int(sys.argv[1])
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n])
from harness.experiment.run import run
for path in sys.argv[2:]:
    print(run(path, fresh=True).to_json(), end="\\0")
"""


def on_processors(n: int, paths: Iterable[Path]) -> list[str]:
    environment = os.environ | {"POLARS_MAX_THREADS": str(n)}
    done = subprocess.run(
        [sys.executable, "-c", ON_PROCESSORS, str(n), *map(str, paths)],
        capture_output=True, text=True, check=True, env=environment, timeout=60,
    )  # fmt: skip
    texts = done.stdout.split("\0")[:-1]
    return [json.dumps(timeless(json.loads(text))) for text in texts]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs Linux's sched_setaffinity")
def test_processors_change_no_byte(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    paths = [ROOT / "configs" / name for name, _ in DEMOS]
    one = on_processors(1, paths)
    monkeypatch.setenv("HARNESS_CACHE_DIR", str(tmp_path))  # read the files again
    assert len(one) == 2
    assert one == on_processors(2, paths)


def test_another_seed_changes_random_alone() -> None:
    config = ROOT / "configs" / "demo.toml"
    one, two = run(config), run(config_.read(config, ["evaluation.seed=43"]))
    assert figures(one, "random") != figures(two, "random")
    assert figures(one, "repurchase") == figures(two, "repurchase")
