"""What `synthesise` promises: bytes, headers, ids, counts, dates, and a clean refusal."""

import json
from collections.abc import Iterable
from gzip import decompress
from pathlib import Path
from unittest.mock import Mock

import polars as pl
import pytest
from conftest import ROOT, refusal

from harness.core.errors import UsageError
from harness.data.synthetic import DEFAULTS, synthesise

SAMPLES = {"data/hm-sample": ("hm", 0), "data/ponpare-sample": ("ponpare", 1)}
"""Layout and seed of the committed samples; their sizes are the defaults."""
SMALL = {"users": 60, "items": 40, "events": 700}

HEADERS = json.loads((ROOT / "tests" / "files" / "competition_headers.json").read_text())
"""Of the files that the competitions have, by layout and table."""
LOGS = {
    "hm": ("transactions_train",),
    "ponpare": ("coupon_visit_train", "coupon_detail_train"),
    "kion": ("interactions",),
}
DAYS = [
    ("hm", "t_dat", "2018-09-20", "2020-09-22"),
    ("ponpare", "I_DATE", "2011-07-01 00:00:00", "2012-06-23 23:59:48"),
    ("kion", "last_watch_dt", "2021-03-13", "2021-08-22"),
]
COUPONS = "COUPON_ID_hash", "VIEW_COUPON_ID_hash"
IDS = {
    r"^[0-9a-f]{64}$": ("customer_id", "postal_code"),
    r"^[0-9a-f]{32}$": ("USER_ID_hash", "SESSION_ID_hash", "PURCHASEID_hash", *COUPONS),
    r"^[0-9]+$": ("user_id", "item_id"),
    r"^0[0-9]{9}$": ("article_id",),
    r"^0[0-9]{6}$": ("product_code",),
}
"""Columns of ids, by their pattern."""
SIZES = {
    "users": ("customers", "sample_submission", "user_list", "users"),
    "items": ("articles", "coupon_list_train", "items"),
}
"""Tables of one row for each."""
LAYOUT = pytest.mark.parametrize("layout", HEADERS)


def read(folder: Path, *names: str) -> list[pl.DataFrame]:
    return [pl.read_csv(folder / f"{name}.csv", infer_schema=False) for name in names]


def contents(paths: Iterable[Path]) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of one default market of each layout."""
    out = tmp_path_factory.mktemp("synth")
    for layout in HEADERS:
        synthesise(layout, out / layout)
    return out


@LAYOUT
def test_bytes_follow_from_the_arguments_and_the_seed(layout: str, tmp_path: Path) -> None:
    first, second, third = (
        contents(synthesise(layout, tmp_path / str(n), **SMALL, seed=seed, gzip=True))
        for n, seed in enumerate((0, 0, 1))
    )
    assert first == second
    assert not set(first.values()) & set(third.values())


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_committed_samples_are_what_the_code_makes(sample: str, tmp_path: Path) -> None:
    layout, seed = SAMPLES[sample]
    made = contents(synthesise(layout, tmp_path / "sample", seed=seed, gzip=True))
    committed = contents((ROOT / sample).iterdir())
    # Unpacked, because another zlib may pack the same text differently.
    assert set(made) == set(committed)
    for name in made:
        assert decompress(made[name]) == decompress(committed[name]), name
    assert sum(map(len, committed.values())) < 450_000


@LAYOUT
def test_headers_are_the_true_ones(layout: str, folder: Path) -> None:
    tables = {path.stem: path.read_text("utf-8") for path in (folder / layout).iterdir()}
    assert {n: text.split("\n")[0].split(",") for n, text in tables.items()} == HEADERS[layout]


@LAYOUT
def test_ids_have_the_true_format_and_tables_a_row_for_each(layout: str, folder: Path) -> None:
    for name in HEADERS[layout]:
        (table,) = read(folder / layout, name)
        ids = {c: pattern for pattern, columns in IDS.items() for c in columns if c in table}
        for column, pattern in ids.items():
            values = table[column].drop_nulls()
            assert len(values) > 0
            assert values.str.contains(pattern).all(), column
        for size in (size for size, names in SIZES.items() if name in names):
            assert len(table) == table[next(iter(ids))].n_unique() == DEFAULTS[layout][size]


@LAYOUT
def test_the_log_has_the_rows_asked_for(layout: str, tmp_path: Path) -> None:
    sizes = {"events": 1}, {"events": 2}, {"users": 1}, {"items": 1}, {"users": 1, "items": 1}
    for size in sizes:
        counts: list[int] = []
        synthesise(layout, tmp_path, **{**SMALL, **size}, progress=counts.append)
        rows = sum(map(len, read(tmp_path, *LOGS[layout])))
        assert rows == sum(counts) == size.get("events", SMALL["events"])


@pytest.mark.parametrize(("layout", "column", "first", "last"), DAYS)
def test_times_ascend(layout: str, column: str, first: str, last: str, folder: Path) -> None:
    for table in read(folder / layout, *LOGS[layout]):
        times = table[column]
        assert times.is_sorted()
        assert first <= times[0] <= times[-1] <= last


def test_ponpare_ends_at_its_last_second(tmp_path: Path) -> None:
    for events in (1, 2, 3000):
        synthesise("ponpare", tmp_path, users=20, items=30, events=events, seed=events)
        tables = read(tmp_path, *LOGS["ponpare"])
        assert max(time for t in tables for time in t["I_DATE"][-1:]) == "2012-06-23 23:59:48"


def test_wrong_arguments(tmp_path: Path) -> None:
    for layout, wrong, words in (
        ("hm", {"users": 0}, ["users", "0", "1 or more"]),
        ("kion", {"events": -5}, ["events", "-5", "1 or more"]),
        ("hm", {"seed": -1}, ["seed", "-1", "0 or more"]),
        ("hm", {"items": 2_000_000}, ["items", "2,000,000", "850,000"]),
        ("hmm", {}, ["layout", "'hmm'", "hm, kion, ponpare"]),
    ):
        with refusal(UsageError, words):
            synthesise(layout, tmp_path / "out", **wrong)
    assert not list(tmp_path.iterdir())


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with refusal(UsageError, "is a file"):
        synthesise("hm", tmp_path / "out", **SMALL)
    with refusal(UsageError, "below: cannot be written: ", "name another --out"):
        synthesise("hm", tmp_path / "out" / "below", **SMALL)
    assert (tmp_path / "out").read_text() == "mine"


def test_a_broken_run_leaves_the_old_files_and_a_whole_one_replaces_them(tmp_path: Path) -> None:
    out = tmp_path / "out"
    before = contents(synthesise("kion", out, **SMALL))
    with pytest.raises(KeyboardInterrupt):
        synthesise("kion", out, **SMALL, seed=1, progress=Mock(side_effect=KeyboardInterrupt))
    assert contents(out.iterdir()) == before
    assert list(tmp_path.iterdir()) == [out]
    (out / "notes.txt").write_text("mine")
    paths = synthesise("kion", out, **SMALL, gzip=True)
    assert {p.name for p in out.iterdir()} == {p.name for p in paths} | {"notes.txt"}
