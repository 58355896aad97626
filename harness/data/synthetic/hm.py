"""H&M: transactions, articles, customers and a sample submission, from 2018-09-20 to 2020-09-22."""

from datetime import date

import numpy as np
import polars as pl

from harness.data.synthetic import draw, words
from harness.data.synthetic.draw import Columns, Tables
from harness.data.synthetic.market import Market, Rules

RULES = Rules(
    name="hm", days=734, shares=(26, 15, 13, 7, 4, 7, 9, 9, 8, 2), hidden=0.0, crowd=2250,
    opens=0.75, baskets=7.0, pieces=0.05, again=0.04, loyal=0.7, activity=0.8, zipf=0.4, stock=0.3,
    ahead=0, preview=0.0, fade=18.0, spread=0.5, wave=0.9, period=12.0,
)  # fmt: skip

_DISCOUNTS = (1.0, 0.8, 0.6, 0.5)
_PRICES = [
    repr(cents * rate // 1 / 100 * (1 / 590))
    for cents in range(99, 9999, 100)
    for rate in _DISCOUNTS
]
_LIST = 12
_SLICE = 100_000

_TRANSACTIONS: Columns = {
    "t_dat": draw.dates(date(2018, 9, 20), RULES.days),
    "customer_id": pl.col("customer_id"),
    "article_id": pl.col("article_id"),
    "_discount": draw.per_basket(draw.whole(len(_DISCOUNTS), 3.0)),
    "price": draw.lookup(_PRICES, pl.col("_price") * len(_DISCOUNTS) + pl.col("_discount")),
    "sales_channel_id": draw.per_basket(draw.chance(0.7, (1, 2))),
}

_STYLES: Columns = {
    "prod_name": draw.pick(words.NAMES, 1.0),
    "fabric": draw.pick(words.FABRICS, 1.0),
    "cut": draw.pick(words.CUTS, 1.0),
    "product": draw.whole(len(words.PRODUCTS), 1.5),
}

_ARTICLES: Columns = {
    "article_id": pl.col("article_id"),
    "product_code": pl.col("article_id").str.slice(0, 7),
    "prod_name": pl.col("prod_name"),
    **draw.fields(words.PRODUCTS[:, :3], "product"),
    "_look": draw.whole(len(words.LOOKS)),
    **draw.fields(words.LOOKS, "_look"),
    **draw.fields(words.COLOURS, "_colour"),
    **draw.fields(words.PRODUCTS[:, 5:], "product"),
    **draw.fields(words.INDEXES, "_group"),
    **draw.fields(words.PRODUCTS[:, 3:5], "product"),
    "detail_desc": draw.filled(
        0.996, pl.format("{} in {} with {}.", "product_type_name", "fabric", "cut")
    ),
}

_CUSTOMERS: Columns = {
    "customer_id": pl.col("customer_id"),
    "_member": draw.pick(("ACTIVE", "PRE-CREATE", "LEFT CLUB"), 12.0),
    "_letters": draw.pick(("NONE", "Regularly", "Monthly"), 20.0),
    "_active": draw.chance(0.97),
    "FN": pl.when("_news").then(pl.lit("1")),
    "Active": pl.when(pl.col("_news") & pl.col("_active")).then(pl.lit("1")),
    "club_member_status": draw.filled(0.995, pl.col("_member")),
    "fashion_news_frequency": pl.when("_news").then(pl.lit("Regularly")).otherwise("_letters"),
    "age": draw.filled(0.988, draw.whole(70, first=17)),
}


def tables(market: Market) -> Tables:
    """Make the four files of the competition."""
    customer = draw.hex_ids(market.stream("customer ids"), market.users, 64)
    article = draw.article_ids(market.stream("article ids"), market.items)
    prices = len(_PRICES) // len(_DISCOUNTS)
    price = draw.skewed(market.stream("prices"), market.items, prices)
    users = pl.DataFrame({"customer_id": customer})
    items = pl.DataFrame({"article_id": article, "_price": price})
    for week, rows in market.blocks(users, items):
        receipts = draw.table(_TRANSACTIONS, market.stream("receipts", week), rows)
        del rows  # before those of the next week are made
        # The competition's file stands by date and customer, so that a basket's rows are together.
        yield "transactions_train", receipts.sort("t_dat", "customer_id", maintain_order=True)
        del receipts
    yield "articles", _articles(market, article)
    customers = users.sort("customer_id")
    rng = market.stream("customers")
    news = pl.Series("_news", rng.random(market.users) < 0.35)
    post = draw.hex_ids(rng, max(1, market.users // 40), 64)
    columns = _CUSTOMERS | {"postal_code": draw.pick(post, 3.0)}
    yield "customers", draw.table(columns, rng, customers.hstack([news]))
    best = pl.lit(" ".join(article[-_LIST:]))
    for rows in customers.iter_slices(_SLICE):
        yield "sample_submission", rows.with_columns(prediction=best)


def _articles(market: Market, article: pl.Series) -> pl.DataFrame:
    rng, number = market.stream("articles"), article.cast(pl.Int64).to_numpy()
    style = np.cumsum(np.diff(number // 1000, prepend=0) > 0) - 1
    colour, group = (number + style) % len(words.COLOURS), market.appeal.group
    rows = pl.DataFrame({"article_id": article, "_colour": colour, "_group": group})
    styles = draw.table(_STYLES, rng, rows)
    return draw.table(_ARTICLES, rng, rows.hstack(styles[style]))
