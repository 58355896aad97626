"""The evaluation of the sample competitions and of MovieLens again, in sets and dicts."""

import csv
import gzip
import hashlib
import io
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).parents[1]
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
