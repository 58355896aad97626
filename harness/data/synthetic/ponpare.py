"""Ponpare: users, coupons, visits, purchases and a sample, from 2011-07-01 to 2012-06-23 23:59:48.

A coupon is seen before it is on display: newsletters announce it up to four weeks ahead.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import polars as pl
from numpy.random import Generator

from harness.core.arrays import Bool, Int64
from harness.data.synthetic import words
from harness.data.synthetic.columns import fields, hex_ids, pick, skewed, sometimes, where
from harness.data.synthetic.market import Block, Market
from harness.data.synthetic.rules import Rules
from harness.data.synthetic.write import Folder

START = datetime(2011, 7, 1)
LAST = datetime(2012, 6, 23, 23, 59, 48)
_DAY = 86_400

_USABLE = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN", "HOLIDAY", "BEFORE_HOLIDAY")
_AREA = ("large_area_name", "ken_name", "small_area_name")

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
_CLOSING = _DAY - 12


@dataclass(frozen=True)
class _Coupons:
    """All coupons of a market, those without a row in the coupon table included.

    Attributes
    ----------
    ids : Series of String, length `market.items`
    first : int64 array of shape (items,)
        Day on which the coupon goes on display, at noon; days count from `START`.
    period : int64 array of shape (items,)
        Days on display.
    area : dict of Series
        Large area, prefecture and small area.
    listed : bool array of shape (items,)
        Whether the coupon table has a row for it.
    """

    ids: pl.Series
    first: Int64
    period: Int64
    area: dict[str, pl.Series]
    listed: Bool


def write(market: Market, folder: Folder) -> None:
    """Write the files of the competition."""
    user = hex_ids(market.stream("user ids"), market.users, _HASH)
    coupons = _coupons(market)
    listed = _coupon_table(market, coupons)
    folder.write("user_list", _user_table(market, user))
    folder.write("coupon_list_train", listed)
    with folder.csv("coupon_visit_train") as visits, folder.csv("coupon_detail_train") as details:
        for block in market.blocks():
            log = _log(market, block, user, coupons)
            bought = pl.col("bought")
            visits.append(log.filter(~bought).select(VISIT_COLUMNS))
            details.append(log.filter(bought).select(DETAIL_COLUMNS))
    best = " ".join(listed["COUPON_ID_hash"].tail(_LIST))
    sample = user.sort().alias("USER_ID_hash").to_frame()
    folder.write("sample_submission", sample.with_columns(PURCHASED_COUPONS=pl.lit(best)))


def _log(market: Market, block: Block, user: pl.Series, coupons: _Coupons) -> pl.DataFrame:
    """Visits and purchases of a week in order of time; a purchase follows its visit."""
    rng, rows = market.stream("clicks", block.week), block.user.size
    baskets = int(block.basket[-1]) + 1
    bought = _bought(block, coupons, rng)
    source = np.arange(rows) - bought
    item, time = block.item[source], _times(market, block, rng)[source]
    paid = bought | np.append(bought[1:], False)
    receipt = np.cumsum(paid & ~bought)
    number = hex_ids(rng, int(receipt[-1]) + 1, _HASH)[receipt]
    referrer = hex_ids(market.stream("referrers"), 40, _HASH)
    log = pl.DataFrame(
        {
            "PURCHASE_FLG": paid.astype(np.int8),
            "ITEM_COUNT": 1 + skewed(rng, rows, 3, 6.0),
            "I_DATE": _stamp(time),
            "PAGE_SERIAL": 1 + skewed(rng, rows, 20, 3.0),
            "REFERRER_hash": sometimes(rng, referrer[skewed(rng, rows, 40, 4.0)], 0.9),
            "SMALL_AREA_NAME": coupons.area["small_area_name"][item],
            "VIEW_COUPON_ID_hash": coupons.ids[item],
            "COUPON_ID_hash": coupons.ids[item],
            "USER_ID_hash": user[block.user],
            "SESSION_ID_hash": hex_ids(rng, baskets, _HASH)[block.basket],
            "PURCHASEID_hash": where(paid, number),
            "bought": bought,
        }
    )
    return log[np.argsort(time, kind="stable")]


def _bought(block: Block, coupons: _Coupons, rng: Generator) -> Bool:
    """Rows that buy the coupon of the row before: same basket, listed and on display."""
    before = np.arange(block.user.size) - 1
    item = block.item[before]
    day = block.day - coupons.first[item]
    shown = coupons.listed[item] & (day > 0) & (day < coupons.period[item])
    within = np.diff(block.basket, prepend=-1) == 0
    wish = shown & within & (rng.random(item.size) < _BUYS)
    bought: Bool = wish & ~wish[before]
    return bought


def _times(market: Market, block: Block, rng: Generator) -> Int64:
    """Seconds since the first day: pages of a basket follow each other by a minute or so."""
    start = (rng.random(int(block.basket[-1]) + 1) ** 0.8 * _DAY).astype(np.int64)
    first = np.searchsorted(block.basket, block.basket)
    page = start[block.basket] + (np.arange(block.basket.size) - first) * 71
    time = block.day.astype(np.int64) * _DAY + np.minimum(page, _CLOSING)
    if block.week == market.rules.weeks - 1:
        time[time == time.max()] = (LAST - START) // timedelta(seconds=1)
    return time


def _coupons(market: Market) -> _Coupons:
    # The name of the stream is part of what is drawn, and so of the committed sample.
    rng, count = market.stream("shelf"), market.items
    listed = np.zeros(count, dtype=np.bool_)
    listed[market.listed] = True
    return _Coupons(
        ids=hex_ids(market.stream("coupon ids"), count, 32),
        first=np.floor(market.appeal.launch).astype(np.int64),
        period=3 + skewed(rng, count, 20, 3.0),
        area=fields(words.AREAS, skewed(rng, count, len(words.AREAS)), _AREA),
        listed=listed,
    )


def _coupon_table(market: Market, coupons: _Coupons) -> pl.DataFrame:
    """Describe the listed coupons in the 24 columns, in order of display."""
    rng, count = market.stream("coupons"), market.items
    noon, period = coupons.first * _DAY + _DAY // 2, coupons.period
    rate, price = 50 + skewed(rng, count, 45, 3.0), 500 * (2 + skewed(rng, count, 60, 3.0))
    dated = rng.random(count) < 0.7
    start, valid = coupons.first + period + skewed(rng, count, 10, 3.0), skewed(rng, count, 180)
    return pl.DataFrame(
        {
            **fields(words.GENRES, market.appeal.group, ("CAPSULE_TEXT", "GENRE_NAME")),
            "PRICE_RATE": rate,
            "CATALOG_PRICE": price,
            "DISCOUNT_PRICE": price * (100 - rate) // 100,
            "DISPFROM": _stamp(noon),
            "DISPEND": _stamp(noon + period * _DAY),
            "DISPPERIOD": period,
            "VALIDFROM": where(dated, _stamp(start * _DAY).str.slice(0, 10)),
            "VALIDEND": where(dated, _stamp((start + valid) * _DAY).str.slice(0, 10)),
            "VALIDPERIOD": where(dated, pl.Series(valid + 1)),
            **{
                f"USABLE_DATE_{day}": where(
                    dated, pl.Series((rng.random(count) < 0.8).astype(np.int8))
                )
                for day in _USABLE
            },
            **coupons.area,
            "COUPON_ID_hash": coupons.ids,
        }
    )[market.listed]


def _user_table(market: Market, user: pl.Series) -> pl.DataFrame:
    """Describe the users, each registered before the first week of activity."""
    rng, count, joined = market.stream("users table"), market.users, market.join_week()
    first = np.array([market.rules.days_of(week)[0] for week in range(market.rules.weeks)])
    early = rng.random(count) * np.where(joined == 0, 300, 3) * _DAY
    left = (market.rules.days + rng.random(count) * 7) * _DAY
    home = fields(words.AREAS, skewed(rng, count, len(words.AREAS)), _AREA)
    return pl.DataFrame(
        {
            "REG_DATE": _stamp(first[joined] * _DAY - early.astype(np.int64) - 1),
            "SEX_ID": pick(("f", "m"), skewed(rng, count, 2, 1.0)),
            "AGE": 15 + skewed(rng, count, 66, 1.5),
            "WITHDRAW_DATE": sometimes(rng, _stamp(left.astype(np.int64)), 0.04),
            "PREF_NAME": sometimes(rng, home["ken_name"], 0.68),
            "USER_ID_hash": user,
        }
    )


def _stamp(seconds: Int64) -> pl.Series:
    """Write seconds since `START` as date and time."""
    start = (START - datetime(1970, 1, 1)) // timedelta(seconds=1)
    return pl.from_epoch(pl.Series(seconds + start)).dt.strftime("%Y-%m-%d %H:%M:%S")
