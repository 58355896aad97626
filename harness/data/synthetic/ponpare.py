"""Ponpare: users, coupons, visits, purchases and a sample, from 2011-07-01 to 2012-06-23 23:59:48.

A coupon is seen before it is on display: newsletters announce it up to four weeks ahead.
"""

from collections.abc import Callable
from datetime import timedelta

import numpy as np
import polars as pl
from numpy.random import Generator
from numpy.typing import NDArray

from harness.data.synthetic import ids
from harness.data.synthetic.block import Block, Bools
from harness.data.synthetic.choose import skewed, sometimes, where
from harness.data.synthetic.coupons import (
    DAY,
    LAST,
    START,
    Shelf,
    coupon_table,
    shelf,
    stamp,
    user_table,
)
from harness.data.synthetic.market import Market
from harness.data.synthetic.rules import Rules
from harness.data.synthetic.write import Folder

RULES = Rules(
    name="ponpare", days=359, shares=(30, 18, 14, 6, 6, 6, 5, 4, 4, 2, 2, 2, 1), hidden=0.15,
    crowd=2400, opens=0.45, baskets=100.0, pieces=0.05, again=0.3, loyal=0.4, activity=0.7,
    zipf=0.55, stock=0.02, ahead=4, preview=0.5, fade=0.6, spread=0.2, wave=2.2, period=11.5,
)  # fmt: skip

VISIT_COLUMNS = (
    "PURCHASE_FLG", "I_DATE", "PAGE_SERIAL", "REFERRER_hash", "VIEW_COUPON_ID_hash",
    "USER_ID_hash", "SESSION_ID_hash", "PURCHASEID_hash",
)  # fmt: skip
DETAIL_COLUMNS = (
    "ITEM_COUNT", "I_DATE", "SMALL_AREA_NAME", "PURCHASEID_hash", "USER_ID_hash", "COUPON_ID_hash",
)  # fmt: skip

_HASH = 32
_LIST = 10
_BUYS = 0.6
_CLOSING = DAY - 12


def write(market: Market, folder: Folder, progress: Callable[[int], object]) -> None:
    """Write the files of the competition.

    Parameters
    ----------
    market : Market
    folder : Folder
    progress : callable
        Called with the number of visits and purchases just written.
    """
    user = ids.hexes(market.stream("user ids"), market.users, _HASH)
    goods = shelf(market)
    coupons = coupon_table(market, goods)
    folder.write("user_list", user_table(market, user))
    folder.write("coupon_list_train", coupons)
    with folder.csv("coupon_visit_train") as visits, folder.csv("coupon_detail_train") as details:
        for block in market.blocks():
            log = _log(market, block, user, goods)
            bought = pl.col("bought")
            visits.append(log.filter(~bought).select(VISIT_COLUMNS))
            details.append(log.filter(bought).select(DETAIL_COLUMNS))
            progress(len(log))
    best = " ".join(coupons["COUPON_ID_hash"].tail(_LIST))
    sample = user.sort().alias("USER_ID_hash").to_frame()
    folder.write("sample_submission", sample.with_columns(PURCHASED_COUPONS=pl.lit(best)))


def _log(market: Market, block: Block, user: pl.Series, goods: Shelf) -> pl.DataFrame:
    """Visits and purchases of a week in order of time; a purchase follows its visit."""
    rng, rows = market.stream("clicks", block.week), block.user.size
    baskets = int(block.basket[-1]) + 1
    bought = _bought(block, goods, rng)
    source = np.arange(rows) - bought
    item, time = block.item[source], _times(market, block, rng)[source]
    paid = bought | np.append(bought[1:], False)
    receipt = np.cumsum(paid & ~bought)
    number = ids.hexes(rng, int(receipt[-1]) + 1, _HASH)[receipt]
    referrer = ids.hexes(market.stream("referrers"), 40, _HASH)
    log = pl.DataFrame(
        {
            "PURCHASE_FLG": paid.astype(np.int8),
            "ITEM_COUNT": 1 + skewed(rng, rows, 3, 6.0),
            "I_DATE": stamp(time),
            "PAGE_SERIAL": 1 + skewed(rng, rows, 20, 3.0),
            "REFERRER_hash": sometimes(rng, referrer[skewed(rng, rows, 40, 4.0)], 0.9),
            "SMALL_AREA_NAME": goods.area["small_area_name"][item],
            "VIEW_COUPON_ID_hash": goods.ids[item],
            "COUPON_ID_hash": goods.ids[item],
            "USER_ID_hash": user[block.user],
            "SESSION_ID_hash": ids.hexes(rng, baskets, _HASH)[block.basket],
            "PURCHASEID_hash": where(paid, number),
            "bought": bought,
        }
    )
    return log[np.argsort(time, kind="stable")]


def _bought(block: Block, goods: Shelf, rng: Generator) -> Bools:
    """Rows that buy the coupon of the row before: same basket, listed and on display."""
    before = np.arange(block.user.size) - 1
    item = block.item[before]
    day = block.day - goods.first[item]
    shown = goods.listed[item] & (day > 0) & (day < goods.period[item])
    within = np.diff(block.basket, prepend=-1) == 0
    wish = shown & within & (rng.random(item.size) < _BUYS)
    bought: Bools = wish & ~wish[before]
    return bought


def _times(market: Market, block: Block, rng: Generator) -> NDArray[np.int64]:
    """Seconds since the first day: pages of a basket follow each other by a minute or so."""
    start = (rng.random(int(block.basket[-1]) + 1) ** 0.8 * DAY).astype(np.int64)
    first = np.searchsorted(block.basket, block.basket)
    page = start[block.basket] + (np.arange(block.basket.size) - first) * 71
    time = block.day.astype(np.int64) * DAY + np.minimum(page, _CLOSING)
    if block.week == market.rules.weeks - 1:
        time[time == time.max()] = (LAST - START) // timedelta(seconds=1)
    return time
