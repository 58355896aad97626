"""Ponpare's tables: from a market to coupons with genre, place and display, and to users."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import polars as pl
from numpy.typing import NDArray

from harness.data.synthetic import ids, words
from harness.data.synthetic.block import Bools
from harness.data.synthetic.choose import fields, pick, skewed, sometimes, where
from harness.data.synthetic.market import Market

START = datetime(2011, 7, 1)
LAST = datetime(2012, 6, 23, 23, 59, 48)
DAY = 86_400

COUPON_COLUMNS = (
    "CAPSULE_TEXT", "GENRE_NAME", "PRICE_RATE", "CATALOG_PRICE", "DISCOUNT_PRICE", "DISPFROM",
    "DISPEND", "DISPPERIOD", "VALIDFROM", "VALIDEND", "VALIDPERIOD", "USABLE_DATE_MON",
    "USABLE_DATE_TUE", "USABLE_DATE_WED", "USABLE_DATE_THU", "USABLE_DATE_FRI", "USABLE_DATE_SAT",
    "USABLE_DATE_SUN", "USABLE_DATE_HOLIDAY", "USABLE_DATE_BEFORE_HOLIDAY", "large_area_name",
    "ken_name", "small_area_name", "COUPON_ID_hash",
)  # fmt: skip

_AREA = ("large_area_name", "ken_name", "small_area_name")


@dataclass(frozen=True)
class Shelf:
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
    first: NDArray[np.int64]
    period: NDArray[np.int64]
    area: dict[str, pl.Series]
    listed: Bools


def shelf(market: Market) -> Shelf:
    """Fill the shelf of a market."""
    rng, count = market.stream("shelf"), market.items
    listed = np.zeros(count, dtype=np.bool_)
    listed[market.listed] = True
    return Shelf(
        ids=ids.hexes(market.stream("coupon ids"), count, 32),
        first=np.floor(market.appeal.launch).astype(np.int64),
        period=3 + skewed(rng, count, 20, 3.0),
        area=fields(words.AREAS, skewed(rng, count, len(words.AREAS)), _AREA),
        listed=listed,
    )


def coupon_table(market: Market, shelf: Shelf) -> pl.DataFrame:
    """Describe the listed coupons in the 24 columns, in order of display."""
    rng, count = market.stream("coupons"), market.items
    noon, period = shelf.first * DAY + DAY // 2, shelf.period
    rate, price = 50 + skewed(rng, count, 45, 3.0), 500 * (2 + skewed(rng, count, 60, 3.0))
    dated = rng.random(count) < 0.7
    start, valid = shelf.first + period + skewed(rng, count, 10, 3.0), skewed(rng, count, 180)
    columns = {
        **fields(words.GENRES, market.appeal.group, ("GENRE_NAME", "CAPSULE_TEXT")),
        "PRICE_RATE": rate,
        "CATALOG_PRICE": price,
        "DISCOUNT_PRICE": price * (100 - rate) // 100,
        "DISPFROM": stamp(noon),
        "DISPEND": stamp(noon + period * DAY),
        "DISPPERIOD": period,
        "VALIDFROM": where(dated, stamp(start * DAY).str.slice(0, 10)),
        "VALIDEND": where(dated, stamp((start + valid) * DAY).str.slice(0, 10)),
        "VALIDPERIOD": where(dated, pl.Series(valid + 1)),
        **shelf.area,
        "COUPON_ID_hash": shelf.ids,
    }
    for name in COUPON_COLUMNS[11:20]:
        columns[name] = where(dated, pl.Series((rng.random(count) < 0.8).astype(np.int8)))
    return pl.DataFrame(columns).select(COUPON_COLUMNS)[market.listed]


def user_table(market: Market, user: pl.Series) -> pl.DataFrame:
    """Describe the users, each registered before the first week of activity."""
    rng, count, joined = market.stream("users table"), market.users, market.join_week()
    first = np.array([market.rules.days_of(week)[0] for week in range(market.rules.weeks)])
    early = rng.random(count) * np.where(joined == 0, 300, 3) * DAY
    left = (market.rules.days + rng.random(count) * 7) * DAY
    home = fields(words.AREAS, skewed(rng, count, len(words.AREAS)), _AREA)
    return pl.DataFrame(
        {
            "REG_DATE": stamp(first[joined] * DAY - early.astype(np.int64) - 1),
            "SEX_ID": pick(("f", "m"), skewed(rng, count, 2, 1.0)),
            "AGE": 15 + skewed(rng, count, 66, 1.5),
            "WITHDRAW_DATE": sometimes(rng, stamp(left.astype(np.int64)), 0.04),
            "PREF_NAME": sometimes(rng, home["ken_name"], 0.68),
            "USER_ID_hash": user,
        }
    )


def stamp(seconds: NDArray[np.int64]) -> pl.Series:
    """Write seconds since `START` as date and time."""
    start = (START - datetime(1970, 1, 1)) // timedelta(seconds=1)
    return pl.from_epoch(pl.Series(seconds + start)).dt.strftime("%Y-%m-%d %H:%M:%S")
