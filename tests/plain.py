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

Event = tuple[str, str, datetime]


def table(path: Path) -> list[dict[str, str]]:
    packed = path.with_name(path.name + ".gz")
    content = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    return list(csv.DictReader(io.StringIO(content.decode())))


@dataclass
class Plain:
    """An evaluation set in plain Python."""

    train: list[Event]
    valid: list[Event]
    candidates: set[str]
    known: set[str]
    k: int
    cutoff: datetime
    seen: dict[str, set[str]] = field(default_factory=dict)
    """Items that count no more, by user."""
    truth: dict[str, set[str]] = field(init=False)
    """Of evaluated users alone."""
    funnel: list[int] = field(init=False)

    def __post_init__(self) -> None:
        items: dict[str, set[str]] = defaultdict(set)
        for user, item, _ in self.valid:
            items[user].add(item)
        truth = {user: items[user] - self.seen.get(user, set()) for user in items}
        in_train = [user for user in truth if user in self.known]
        self.truth = {user: truth[user] for user in in_train if truth[user] & self.candidates}
        self.funnel = [len(truth), len(in_train), len(self.truth)]

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


def plain_hm() -> Plain:
    folder = ROOT / "data" / "hm-sample"
    events = [
        (r["customer_id"], r["article_id"], datetime.fromisoformat(r["t_dat"]))
        for r in table(folder / "transactions_train.csv")
    ]
    cutoff = max(e[2] for e in events) - 6 * DAY
    train = [e for e in events if e[2] < cutoff]
    valid = [e for e in events if e[2] >= cutoff]
    candidates = {r["article_id"] for r in table(folder / "articles.csv")}
    return Plain(train, valid, candidates, {e[0] for e in train}, 12, cutoff)


def plain_ponpare() -> Plain:
    folder = ROOT / "data" / "ponpare-sample"
    events = [
        (r["USER_ID_hash"], r[item], datetime.fromisoformat(r["I_DATE"]))
        for kind, item in (("detail", "COUPON_ID_hash"), ("visit", "VIEW_COUPON_ID_hash"))
        for r in table(folder / f"coupon_{kind}_train.csv")
    ]
    present = max(e[2] for e in events)

    def days_back(text: str) -> int:
        return (present - datetime.fromisoformat(text)) // DAY

    train = [e for e in events if (present - e[2]) // DAY > 13]
    valid = [e for e in events if 7 <= (present - e[2]) // DAY <= 13]
    coupons, people = table(folder / "coupon_list_train.csv"), table(folder / "user_list.csv")
    shown = {r["COUPON_ID_hash"] for r in coupons if 7 <= days_back(r["DISPFROM"]) <= 13}
    known = {e[0] for e in train}
    known &= {r["USER_ID_hash"] for r in people if days_back(r["REG_DATE"]) > 13}
    cutoff = present - 14 * DAY + timedelta(microseconds=1)
    return Plain(train, valid, shown, known, 10, cutoff)


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
    liked: dict[str, list[Event]] = defaultdict(list)
    for r in table(folder / "ratings.csv"):
        if float(r["rating"]) >= 4:
            time = datetime(1970, 1, 1) + timedelta(seconds=int(r["timestamp"]))
            liked[r["userId"]].append((r["userId"], r["movieId"], time))
    for events in liked.values():
        events.sort(key=lambda e: (e[2], tie(e[0], e[1])))
    train = [e for events in liked.values() for e in events[:-5]]
    valid = [e for events in liked.values() for e in events[-5:]]
    seen: dict[str, set[str]] = defaultdict(set)
    for user, item, _ in train:
        seen[user].add(item)
    return Plain(train, valid, {e[1] for e in train}, {*seen}, 10, datetime.max, seen)
