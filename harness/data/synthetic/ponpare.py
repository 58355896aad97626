"""Ponpare: users, coupons, visits, purchases and a sample, from 2011-07-01 to 2012-06-23 23:59:48.

A coupon is seen before it is on display: newsletters announce it up to four weeks ahead.
"""

from datetime import datetime

import numpy as np
import polars as pl

from harness.data.synthetic import draw, words
from harness.data.synthetic.draw import Columns, Tables
from harness.data.synthetic.market import Market, Rules

RULES = Rules(
    name="ponpare", days=359, shares=(30, 18, 14, 6, 6, 6, 5, 4, 4, 2, 2, 2, 1), hidden=0.15,
    crowd=2400, opens=0.45, baskets=100.0, pieces=0.05, again=0.3, loyal=0.4, activity=0.7,
    zipf=0.55, stock=0.02, ahead=4, preview=0.5, fade=0.6, spread=0.2, wave=2.2, period=11.5,
)  # fmt: skip

_DAY = 86_400
_CLOSING = _DAY - 12
_LAST = (RULES.days - 1) * _DAY + _CLOSING
_HASH = 32
_REFERRERS = 40
_LIST = 10
_BUYS = 0.6
_USABLE = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN", "HOLIDAY", "BEFORE_HOLIDAY")


def _time(seconds: pl.Expr, form: str = "%Y-%m-%d %H:%M:%S") -> pl.Expr:
    """Write seconds since the first day as date and time."""
    return (pl.lit(datetime(2011, 7, 1)) + pl.duration(seconds=seconds)).dt.strftime(form)


_NOON = pl.col("first") * _DAY + _DAY // 2
_VALID_FROM = pl.col("first") + pl.col("period") + pl.col("_delay")
_VALID_TO = _VALID_FROM + pl.col("_valid") - 1

_SHELF: Columns = {
    "period": draw.whole(20, 3.0, first=3),
    "_area": draw.whole(len(words.AREAS)),
    **draw.fields(words.AREAS, "_area"),
}

_COUPONS: Columns = {
    **draw.fields(words.GENRES, "group"),
    "PRICE_RATE": draw.whole(45, 3.0, first=50),
    "_price": draw.whole(60, 3.0, first=2),
    "CATALOG_PRICE": 500 * pl.col("_price"),
    "DISCOUNT_PRICE": pl.col("CATALOG_PRICE") * (100 - pl.col("PRICE_RATE")) // 100,
    "DISPFROM": _time(_NOON),
    "DISPEND": _time(_NOON + pl.col("period") * _DAY),
    "DISPPERIOD": pl.col("period"),
    "_dated": draw.chance(0.7),
    "_delay": draw.whole(10, 3.0),
    "_valid": draw.whole(180, first=1),
    "VALIDFROM": draw.filled("_dated", _time(_VALID_FROM * _DAY, "%Y-%m-%d")),
    "VALIDEND": draw.filled("_dated", _time(_VALID_TO * _DAY, "%Y-%m-%d")),
    "VALIDPERIOD": draw.filled("_dated", pl.col("_valid")),
    **{f"USABLE_DATE_{day}": draw.filled("_dated", draw.chance(0.8, (0, 1))) for day in _USABLE},
    **{name: pl.col(name) for name in words.AREAS.columns},
    "COUPON_ID_hash": pl.col("COUPON_ID_hash"),
}

_USERS: Columns = {
    "_early": draw.fraction(),
    "_after": draw.fraction(),
    "_home": draw.pick(words.AREAS["ken_name"]),
    "_registered": (pl.col("_early") * pl.col("_longest") * _DAY).cast(pl.Int64) + 1,
    "REG_DATE": _time(pl.col("_first") * _DAY - pl.col("_registered")),
    "SEX_ID": draw.pick(("f", "m"), 1.0),
    "AGE": draw.whole(66, 1.5, first=15),
    "_withdrawn": ((RULES.days + pl.col("_after") * 7) * _DAY).cast(pl.Int64),
    "WITHDRAW_DATE": draw.filled(0.04, _time(pl.col("_withdrawn"))),
    "PREF_NAME": draw.filled(0.68, pl.col("_home")),
    "USER_ID_hash": pl.col("USER_ID_hash"),
}

_SHOWN = ("first", "period", "listed", "small_area_name", "COUPON_ID_hash")
_VISITS = (
    "PURCHASE_FLG", "I_DATE", "PAGE_SERIAL", "REFERRER_hash", "VIEW_COUPON_ID_hash",
    "USER_ID_hash", "SESSION_ID_hash", "PURCHASEID_hash",
)  # fmt: skip
_PURCHASES = (
    "ITEM_COUNT", "I_DATE", "SMALL_AREA_NAME", "PURCHASEID_hash", "USER_ID_hash", "COUPON_ID_hash",
)  # fmt: skip


def _clicks(referrer: pl.Series) -> Columns:
    """Declare the columns of visits and of purchases, which are drawn together."""
    return {
        "bought": pl.col("bought"),
        "PURCHASE_FLG": pl.col("_paid").cast(pl.Int8),
        "ITEM_COUNT": draw.whole(3, 6.0, first=1),
        "I_DATE": _time(pl.col("_time")),
        "PAGE_SERIAL": draw.whole(20, 3.0, first=1),
        "REFERRER_hash": draw.filled(0.9, draw.pick(referrer, 4.0)),
        "SMALL_AREA_NAME": pl.col("small_area_name"),
        "VIEW_COUPON_ID_hash": pl.col("COUPON_ID_hash"),
        "COUPON_ID_hash": pl.col("COUPON_ID_hash"),
        "USER_ID_hash": pl.col("USER_ID_hash"),
        "SESSION_ID_hash": draw.per_basket(lambda rng, rows: draw.hex_ids(rng, rows.height, _HASH)),
        "PURCHASEID_hash": draw.filled("_paid", pl.col("_receipt")),
    }


def tables(market: Market) -> Tables:
    """Make the files of the competition."""
    user = draw.hex_ids(market.stream("user ids"), market.users, _HASH)
    users = pl.DataFrame({"USER_ID_hash": user})
    # All coupons, those without a row in the coupon table included.
    coupons = pl.DataFrame(
        {
            "first": np.floor(market.appeal.launch).astype(np.int64),  # day on display, from noon
            "listed": np.isin(np.arange(market.items), market.listed),
            "group": market.appeal.group,
            "COUPON_ID_hash": draw.hex_ids(market.stream("coupon ids"), market.items, _HASH),
        }
    )
    coupons = coupons.hstack(draw.table(_SHELF, market.stream("shelf"), coupons))
    listed = draw.table(_COUPONS, market.stream("coupons"), coupons)[market.listed]
    joined = market.join_week()
    days = np.array([market.rules.days_of(week)[0] for week in range(market.rules.weeks)])
    registering = users.with_columns(_first=days[joined], _longest=np.where(joined == 0, 300, 3))
    yield "user_list", draw.table(_USERS, market.stream("users table"), registering)
    yield "coupon_list_train", listed
    for week, rows in market.blocks(users, coupons.select(_SHOWN)):
        log = _log(market, week, rows)
        del rows  # before those of the next week are made
        yield "coupon_visit_train", log.filter(~pl.col("bought")).select(_VISITS)
        yield "coupon_detail_train", log.filter("bought").select(_PURCHASES)
        del log  # likewise
    best = pl.lit(" ".join(listed["COUPON_ID_hash"].tail(_LIST)))
    yield "sample_submission", users.sort("USER_ID_hash").with_columns(PURCHASED_COUPONS=best)


def _log(market: Market, week: int, rows: pl.DataFrame) -> pl.DataFrame:
    """Make visits and purchases of a week in order of time; a purchase follows its visit."""
    rng, basket = market.stream("clicks", week), rows["_basket"].to_numpy()
    # A row may buy the coupon of the row before: same basket, listed and on display.
    day, before = rows["_day"] - rows["first"], np.arange(rows.height) - 1
    shown = (rows["listed"] & (day > 0) & (day < rows["period"])).to_numpy()
    within = np.diff(basket, prepend=-1) == 0
    wish = shown[before] & within & (rng.random(rows.height) < _BUYS)
    bought = wish & ~wish[before]
    # Pages of a basket follow each other by a minute or so.
    start = (rng.random(int(basket[-1]) + 1) ** 0.8 * _DAY).astype(np.int64)
    page = start[basket] + (np.arange(basket.size) - np.searchsorted(basket, basket)) * 71
    time = rows["_day"].to_numpy() * np.int64(_DAY) + np.minimum(page, _CLOSING)
    if week == market.rules.weeks - 1:
        time[time == time.max()] = _LAST
    visit = np.arange(rows.height) - bought
    time, paid = time[visit], bought | np.append(bought[1:], False)
    receipt = np.cumsum(paid & ~bought)
    receipt_id = draw.hex_ids(rng, int(receipt[-1]) + 1, _HASH)[receipt]
    clicks = rows[visit].with_columns(bought=bought, _paid=paid, _time=time, _receipt=receipt_id)
    referrer = draw.hex_ids(market.stream("referrers"), _REFERRERS, _HASH)
    return draw.table(_clicks(referrer), rng, clicks)[np.argsort(time, kind="stable")]
