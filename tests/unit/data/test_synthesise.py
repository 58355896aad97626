"""What `synthesise` promises: bytes, headers, ids, counts, dates, and a clean refusal."""

import hashlib
import os
import subprocess
import sys
from gzip import decompress
from pathlib import Path

import polars as pl
import pytest
from conftest import refusal

from harness.core.errors import UsageError
from harness.data.synthetic import DEFAULTS, SAMPLES, synthesise

ROOT = Path(__file__).parents[3]
SMALL = {"users": 60, "items": 40, "events": 700}

HEADERS = {
    "hm": {
        "transactions_train": "t_dat,customer_id,article_id,price,sales_channel_id",
        "articles": "article_id,product_code,prod_name,product_type_no,product_type_name,"
        "product_group_name,graphical_appearance_no,graphical_appearance_name,colour_group_code,"
        "colour_group_name,perceived_colour_value_id,perceived_colour_value_name,"
        "perceived_colour_master_id,perceived_colour_master_name,department_no,department_name,"
        "index_code,index_name,index_group_no,index_group_name,section_no,section_name,"
        "garment_group_no,garment_group_name,detail_desc",
        "customers": "customer_id,FN,Active,club_member_status,fashion_news_frequency,age,"
        "postal_code",
        "sample_submission": "customer_id,prediction",
    },
    "ponpare": {
        "user_list": "REG_DATE,SEX_ID,AGE,WITHDRAW_DATE,PREF_NAME,USER_ID_hash",
        "coupon_list_train": "CAPSULE_TEXT,GENRE_NAME,PRICE_RATE,CATALOG_PRICE,DISCOUNT_PRICE,"
        "DISPFROM,DISPEND,DISPPERIOD,VALIDFROM,VALIDEND,VALIDPERIOD,USABLE_DATE_MON,"
        "USABLE_DATE_TUE,USABLE_DATE_WED,USABLE_DATE_THU,USABLE_DATE_FRI,USABLE_DATE_SAT,"
        "USABLE_DATE_SUN,USABLE_DATE_HOLIDAY,USABLE_DATE_BEFORE_HOLIDAY,large_area_name,ken_name,"
        "small_area_name,COUPON_ID_hash",
        "coupon_visit_train": "PURCHASE_FLG,I_DATE,PAGE_SERIAL,REFERRER_hash,VIEW_COUPON_ID_hash,"
        "USER_ID_hash,SESSION_ID_hash,PURCHASEID_hash",
        "coupon_detail_train": "ITEM_COUNT,I_DATE,SMALL_AREA_NAME,PURCHASEID_hash,USER_ID_hash,"
        "COUPON_ID_hash",
        "sample_submission": "USER_ID_hash,PURCHASED_COUPONS",
    },
    "kion": {
        "interactions": "user_id,item_id,last_watch_dt,total_dur,watched_pct",
        "items": "item_id,content_type,title,title_orig,release_year,genres,countries,for_kids,"
        "age_rating,studios,directors,actors,keywords,description",
        "users": "user_id,age,income,sex,kids_flg",
    },
}
LOGS = {
    "hm": ("transactions_train",),
    "ponpare": ("coupon_visit_train", "coupon_detail_train"),
    "kion": ("interactions",),
}
DAYS = {
    "hm": ("t_dat", "2018-09-20", "2020-09-22"),
    "ponpare": ("I_DATE", "2011-07-01 00:00:00", "2012-06-23 23:59:48"),
    "kion": ("last_watch_dt", "2021-03-13", "2021-08-22"),
}
HEX64, HEX32, DIGITS = r"^[0-9a-f]{64}$", r"^[0-9a-f]{32}$", r"^[1-9][0-9]*$"
ARTICLE = r"^0[0-9]{9}$"
IDS = [
    ("hm", "transactions_train", {"customer_id": HEX64, "article_id": ARTICLE}),
    ("hm", "articles", {"article_id": ARTICLE, "product_code": r"^0[0-9]{6}$"}),
    ("hm", "customers", {"customer_id": HEX64, "postal_code": HEX64}),
    ("ponpare", "user_list", {"USER_ID_hash": HEX32}),
    ("ponpare", "coupon_list_train", {"COUPON_ID_hash": HEX32}),
    ("ponpare", "coupon_visit_train", {"VIEW_COUPON_ID_hash": HEX32, "SESSION_ID_hash": HEX32}),
    ("ponpare", "coupon_detail_train", {"COUPON_ID_hash": HEX32, "PURCHASEID_hash": HEX32}),
    ("kion", "interactions", {"user_id": r"^[0-9]+$", "item_id": r"^[0-9]+$"}),
]
KEYS = [
    ("hm", "articles", "article_id", "items"),
    ("hm", "customers", "customer_id", "users"),
    ("hm", "sample_submission", "customer_id", "users"),
    ("ponpare", "coupon_list_train", "COUPON_ID_hash", "items"),
    ("ponpare", "user_list", "USER_ID_hash", "users"),
    ("ponpare", "sample_submission", "USER_ID_hash", "users"),
    ("kion", "items", "item_id", "items"),
    ("kion", "users", "user_id", "users"),
]


def read(folder: Path, name: str) -> pl.DataFrame:
    return pl.read_csv(folder / f"{name}.csv", infer_schema=False)


def digests(paths: list[Path]) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One default market of each layout."""
    out = tmp_path_factory.mktemp("synth")
    for layout in HEADERS:
        synthesise(layout, out / layout)
    return out


@pytest.mark.parametrize("layout", HEADERS)
def test_the_same_arguments_give_the_same_compressed_bytes(layout: str, tmp_path: Path) -> None:
    first = synthesise(layout, tmp_path / "a", **SMALL, gzip=True)
    second = synthesise(layout, tmp_path / "b", **SMALL, gzip=True)
    assert digests(first) == digests(second)


def test_the_bytes_do_not_depend_on_the_number_of_threads(tmp_path: Path, folder: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from harness.data.synthetic import synthesise\n"
        "for layout in ('hm', 'ponpare', 'kion'): synthesise(layout, Path(sys.argv[1]) / layout)"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        check=True, cwd=ROOT, env={**os.environ, "POLARS_MAX_THREADS": "1"},
    )  # fmt: skip
    for layout in HEADERS:
        here, there = sorted((folder / layout).iterdir()), sorted((tmp_path / layout).iterdir())
        assert digests(here) == digests(there)


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_committed_samples_are_what_the_code_makes(sample: str, tmp_path: Path) -> None:
    # Unpacked, because another zlib may pack the same text differently.
    layout, seed = SAMPLES[sample]
    made = synthesise(layout, tmp_path / "sample", seed=seed, gzip=True)
    committed = ROOT / sample
    assert {path.name for path in made} == {path.name for path in committed.iterdir()}
    for path in made:
        fresh, kept = (decompress(p.read_bytes()) for p in (path, committed / path.name))
        assert fresh == kept, path.name
    assert sum(path.stat().st_size for path in committed.iterdir()) < 450_000


@pytest.mark.parametrize("layout", HEADERS)
def test_another_seed_gives_another_log(layout: str, tmp_path: Path) -> None:
    first, second = (
        digests(synthesise(layout, tmp_path / str(seed), **SMALL, seed=seed)) for seed in (0, 1)
    )
    assert not set(first.values()) & set(second.values())


@pytest.mark.parametrize("layout", HEADERS)
def test_headers_are_the_true_ones(layout: str, folder: Path) -> None:
    found = {p.stem: p.read_text("utf-8").split("\n", 1)[0] for p in (folder / layout).iterdir()}
    assert found == HEADERS[layout]


@pytest.mark.parametrize(("layout", "name", "patterns"), IDS)
def test_ids_have_the_true_format(
    layout: str, name: str, patterns: dict[str, str], folder: Path
) -> None:
    table = read(folder / layout, name)
    for column, pattern in patterns.items():
        values = table[column].drop_nulls()
        assert len(values) > 0
        assert values.str.contains(pattern).all(), column


@pytest.mark.parametrize(("layout", "name", "key", "size"), KEYS)
def test_tables_have_one_row_for_each_id(
    layout: str, name: str, key: str, size: str, folder: Path
) -> None:
    values = read(folder / layout, name)[key]
    assert len(values) == values.n_unique() == DEFAULTS[layout][size]


@pytest.mark.parametrize("layout", HEADERS)
@pytest.mark.parametrize("events", [1, 2, 699, 5000])
def test_the_log_has_exactly_the_rows_asked_for(layout: str, events: int, tmp_path: Path) -> None:
    told: list[int] = []
    synthesise(layout, tmp_path, users=60, items=40, events=events, progress=told.append)
    assert sum(len(read(tmp_path, name)) for name in LOGS[layout]) == sum(told) == events


@pytest.mark.parametrize("layout", HEADERS)
def test_times_ascend_within_the_period(layout: str, folder: Path) -> None:
    column, first, last = DAYS[layout]
    for name in LOGS[layout]:
        times = read(folder / layout, name)[column]
        assert times.is_sorted()
        assert first <= times[0] <= times[-1] <= last


@pytest.mark.parametrize("events", [1, 2, 50, 3000])
@pytest.mark.parametrize("seed", [0, 1])
def test_ponpare_ends_at_its_last_second(events: int, seed: int, tmp_path: Path) -> None:
    synthesise("ponpare", tmp_path, users=20, items=30, events=events, seed=seed)
    times = pl.concat([read(tmp_path, name)["I_DATE"] for name in LOGS["ponpare"]])
    assert times.max() == "2012-06-23 23:59:48"


def test_hm_rows_look_like_the_real_ones(folder: Path) -> None:
    table = read(folder / "hm", "transactions_train")
    assert table["price"].str.contains(r"^0\.[0-9]{3,20}$").all()
    assert set(table["sales_channel_id"]) == {"1", "2"}
    assert table.is_duplicated().sum() > 100
    lines = (folder / "hm" / "transactions_train.csv").read_bytes().split(b"\n")
    assert 107 <= sum(map(len, lines)) / len(lines) + 1 <= 111
    assert read(folder / "hm", "sample_submission")["prediction"].unique().str.len_chars()[0] == 131
    for column in ("FN", "Active", "club_member_status", "age"):
        assert 0 < read(folder / "hm", "customers")[column].null_count() < 1700


def test_ponpare_purchases_follow_a_visit_on_display(folder: Path) -> None:
    visits, bought, coupons = (
        read(folder / "ponpare", name)
        for name in ("coupon_visit_train", "coupon_detail_train", "coupon_list_train")
    )
    assert len(bought) > 100
    paid = visits.filter(pl.col("PURCHASE_FLG") == "1")
    keys = ["PURCHASEID_hash", "I_DATE", "USER_ID_hash", "COUPON_ID_hash"]
    paid = paid.rename({"VIEW_COUPON_ID_hash": "COUPON_ID_hash"})
    assert paid.select(keys).equals(bought.select(keys))
    shown = bought.join(coupons, on="COUPON_ID_hash", how="left")
    assert (shown["DISPFROM"] < shown["I_DATE"]).all()
    assert (shown["I_DATE"] < shown["DISPEND"]).all()


def test_ponpare_users_register_before_they_act(folder: Path) -> None:
    visits, users = (read(folder / "ponpare", name) for name in ("coupon_visit_train", "user_list"))
    acted = visits.join(users, on="USER_ID_hash", how="left", validate="m:1")
    assert acted.select(pl.col("REG_DATE") < pl.col("I_DATE")).to_series().all()


def test_ponpare_text_is_japanese_and_some_visits_name_unlisted_coupons(folder: Path) -> None:
    visits, coupons = (
        read(folder / "ponpare", name) for name in ("coupon_visit_train", "coupon_list_train")
    )
    assert {"グルメ", "宅配", "エステ"} <= set(coupons["GENRE_NAME"])
    assert "東京都" in set(coupons["ken_name"])
    listed = visits["VIEW_COUPON_ID_hash"].is_in(coupons["COUPON_ID_hash"].to_list()).mean()
    assert listed is not None
    assert 0.7 < listed < 1


@pytest.mark.parametrize("layout", HEADERS)
@pytest.mark.parametrize("size", [{"users": 1}, {"items": 1}, {"users": 1, "items": 1}])
def test_the_smallest_markets_work(layout: str, size: dict[str, int], tmp_path: Path) -> None:
    synthesise(layout, tmp_path, **{**SMALL, **size})
    assert sum(len(read(tmp_path, name)) for name in LOGS[layout]) == SMALL["events"]


@pytest.mark.parametrize(
    ("layout", "wrong", "told"),
    [
        ("hm", {"users": 0}, ["users", "0", "1 or more"]),
        ("ponpare", {"items": 0}, ["items", "0", "1 or more"]),
        ("kion", {"events": -5}, ["events", "-5", "1 or more"]),
        ("hm", {"events": 0}, ["events", "0", "1 or more"]),
        ("hm", {"seed": -1}, ["seed", "-1", "0 or more"]),
        ("hm", {"items": 2_000_000}, ["items", "2,000,000", "850,000"]),
        ("hmm", {}, ["layout", "'hmm'", "hm, kion, ponpare"]),
    ],
)
def test_wrong_arguments_are_named(
    layout: str, wrong: dict[str, int], told: list[str], tmp_path: Path
) -> None:
    with refusal(UsageError, *told):
        synthesise(layout, tmp_path / "out", **wrong)
    assert not list(tmp_path.iterdir())


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(UsageError, match="is a file"):
        synthesise("hm", tmp_path / "out", **SMALL)
    with pytest.raises(UsageError, match="cannot make"):
        synthesise("hm", tmp_path / "out" / "below", **SMALL)
    assert (tmp_path / "out").read_text() == "mine"


def test_a_broken_run_leaves_the_old_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    before = digests(synthesise("kion", out, **SMALL))

    def stop(rows: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        synthesise("kion", out, **SMALL, seed=1, progress=stop)
    assert digests(list(out.iterdir())) == before
    assert list(tmp_path.iterdir()) == [out]


def test_a_second_run_replaces_the_first_in_either_form(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    synthesise("kion", tmp_path, **SMALL)
    paths = synthesise("kion", tmp_path, **SMALL, gzip=True)
    assert {p.name for p in tmp_path.iterdir()} == {p.name for p in paths} | {"notes.txt"}
