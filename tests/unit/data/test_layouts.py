"""The competitions' own files: their columns, their windows, their traps."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness import config as config_
from harness.core.errors import DataError
from harness.data.conditions import Condition
from harness.data.layouts import BUILT_IN
from harness.data.loading import load

TRANSACTIONS = (
    "t_dat,customer_id,article_id,price,sales_channel_id\n"
    "2020-09-15,c1,0706016001,0.05,2\n"
    "2020-09-16,c1,0706016002,0.05,2\n"
)
ARTICLES = "article_id,product_code\n0706016001,1\n0706016002,1\n0900000000,2\n"
CUSTOMERS = "customer_id,FN\nc1,\nc2,1\n"


def hm_folder(folder: Path, transactions: str = TRANSACTIONS, articles: str = ARTICLES) -> Path:
    (folder / "transactions_train.csv").write_text(transactions)
    (folder / "articles.csv").write_text(articles)
    (folder / "customers.csv").write_text(CUSTOMERS)
    return folder


def test_hm_candidates_are_all_articles(tmp_path: Path) -> None:
    data = load(BUILT_IN["hm"].within(hm_folder(tmp_path)))
    assert data.item_ids.to_list() == ["0706016001", "0706016002", "0900000000"]
    assert data.catalogue is not None
    assert data.catalogue.tolist() == [0, 1, 2]
    assert data.notes == ()


def test_hm_nine_digits_everywhere_are_noticed(tmp_path: Path) -> None:
    folder = hm_folder(tmp_path, TRANSACTIONS.replace(",07", ",7"), ARTICLES.replace("\n0", "\n"))
    (note,) = load(BUILT_IN["hm"].within(folder)).notes
    for part in ('"706016001"', "9 digits", "leading zero was lost", "restore_zeros = true"):
        assert part in note


def test_hm_nine_digits_on_one_side_are_an_error(tmp_path: Path) -> None:
    folder = hm_folder(tmp_path, TRANSACTIONS.replace(",07", ",7"))
    with pytest.raises(DataError, match=r"2 of 2 item ids in transactions_train.csv.*9 digits"):
        load(BUILT_IN["hm"].within(folder))


def test_hm_zeros_are_restored_when_asked(tmp_path: Path) -> None:
    folder = hm_folder(tmp_path, TRANSACTIONS.replace(",07", ",7"))
    data = load(replace(BUILT_IN["hm"].within(folder), restore_zeros=True))
    assert data.item_ids.to_list() == ["0706016001", "0706016002", "0900000000"]
    assert data.notes == ("2 item ids padded to 10 digits",)


def test_hm_a_padded_and_an_unpadded_id_become_one_item(tmp_path: Path) -> None:
    mixed = TRANSACTIONS.replace("0706016002", "706016001")
    data = load(replace(BUILT_IN["hm"].within(hm_folder(tmp_path, mixed)), restore_zeros=True))
    assert data.events.item.tolist() == [0, 0]


def test_hm_needs_customers(tmp_path: Path) -> None:
    hm_folder(tmp_path)
    (tmp_path / "customers.csv").unlink()
    with pytest.raises(DataError, match=r"customers\.csv: no such file"):
        load(BUILT_IN["hm"].within(tmp_path))


def test_hm_a_repeated_article_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match='the id "0706016001" stands in more than one row'):
        load(BUILT_IN["hm"].within(hm_folder(tmp_path, articles=ARTICLES + "0706016001,1\n")))


def ponpare_folder(folder: Path) -> Path:
    files = {
        "coupon_detail_train": "ITEM_COUNT,I_DATE,USER_ID_hash,COUPON_ID_hash\n"
        "1,2012-06-01 10:00:00,u1,k1\n",
        "coupon_visit_train": "PURCHASE_FLG,I_DATE,VIEW_COUPON_ID_hash,USER_ID_hash\n"
        "0,2012-06-02 11:00:00,k2,u1\n0,2012-06-02 11:00:01,unknown,u2\n",
        "coupon_list_train": "DISPFROM,COUPON_ID_hash\n2012-05-30 12:00:00,k1\n"
        "2012-06-02 12:00:00,k2\n",
        "user_list": "REG_DATE,USER_ID_hash\n2011-01-01 00:00:00,u1\n",
    }
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def test_ponpare_joins_purchases_and_visits(tmp_path: Path) -> None:
    data = load(BUILT_IN["ponpare"].within(ponpare_folder(tmp_path)))
    assert data.kinds == ("purchase", "visit")
    assert data.events.kind.tolist() == [0, 1, 1]
    assert data.item_ids.to_list() == ["k1", "k2", "unknown"]
    assert data.catalogue is not None
    assert data.catalogue.tolist() == [0, 1]


def test_ponpare_a_bad_display_date_is_named(tmp_path: Path) -> None:
    folder = ponpare_folder(tmp_path)
    (folder / "coupon_list_train.csv").write_text(
        "DISPFROM,COUPON_ID_hash\n2012-05-30 12:00:00,k1\nsoon,k2\n"
    )
    with pytest.raises(DataError, match=r'coupon_list_train.csv: line 3, column "DISPFROM".*soon'):
        load(BUILT_IN["ponpare"].within(folder))


def test_kion_where(tmp_path: Path) -> None:
    (tmp_path / "interactions.csv").write_text(
        "user_id,item_id,last_watch_dt,total_dur,watched_pct\n"
        "1,10,2021-05-11,4250,72.0\n1,11,2021-05-12,9,1.0\n"
    )
    (tmp_path / "items.csv").write_text("item_id,title\n10,x\n")
    (tmp_path / "users.csv").write_text("user_id,age\n1,age_25_34\n")
    data = load(
        BUILT_IN["kion"].within(tmp_path).with_events(where=(Condition("watched_pct", low=10),))
    )
    assert data.item_ids.to_list() == ["10"]
    assert data.candidates == "train"


def test_hm_an_id_in_both_forms_is_an_error(tmp_path: Path) -> None:
    """Two names for one article would be two items: one is bought, the other recommended."""
    mixed = TRANSACTIONS.replace("0706016002", "706016001")
    articles = ARTICLES + "706016001,1\n"
    with pytest.raises(DataError, match=r'such as "706016001"[\s\S]*restore_zeros'):
        load(BUILT_IN["hm"].within(hm_folder(tmp_path, mixed, articles)))


def test_times_may_be_written_otherwise_in_every_layout(tmp_path: Path) -> None:
    """What the error on times recommends, time_format, is there in each."""
    folder = ponpare_folder(tmp_path)
    for path in folder.glob("*.csv"):
        path.write_text(re.sub(r"(\d{4})-(\d\d)-(\d\d) ", r"\3.\2.\1 ", path.read_text()))
    data = load(BUILT_IN["ponpare"].within(folder).with_times("%d.%m.%Y %H:%M:%S"))
    assert data.shown_from is not None
    assert data.shown_from.tolist()[:2] == [
        1_338_379_200_000_000,  # 2012-05-30 12:00
        1_338_638_400_000_000,  # 2012-06-02 12:00
    ]
    (tmp_path / "interactions.csv").write_text(
        "user_id,item_id,last_watch_dt,total_dur,watched_pct\n1,10,11.05.2021,4250,72.0\n"
    )
    (tmp_path / "items.csv").write_text("item_id,title\n10,x\n")
    (tmp_path / "users.csv").write_text("user_id,age\n1,age_25_34\n")
    data = load(BUILT_IN["kion"].within(tmp_path).with_times("%d.%m.%Y"))
    assert data.events.time.tolist() == [1_620_691_200_000_000]  # 2021-05-11
    for layout in ("hm", "ponpare", "kion"):
        config_.DataConfig(layout=layout, path=".", time_format="%d.%m.%Y")
