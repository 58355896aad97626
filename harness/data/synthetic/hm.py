"""H&M: transactions, articles, customers and a sample submission, from 2018-09-20 to 2020-09-22."""

from datetime import date, timedelta

import numpy as np
import polars as pl
from numpy.random import Generator

from harness.core.arrays import Int64
from harness.data.synthetic import words
from harness.data.synthetic.columns import article_ids, fields, hex_ids, pick, skewed, sometimes
from harness.data.synthetic.market import Block, Market
from harness.data.synthetic.rules import Rules
from harness.data.synthetic.write import Folder

START = date(2018, 9, 20)

RULES = Rules(
    name="hm", days=734, shares=(26, 15, 13, 7, 4, 7, 9, 9, 8, 2), hidden=0.0, crowd=2250,
    opens=0.75, baskets=7.0, pieces=0.05, again=0.04, loyal=0.7, activity=0.8, zipf=0.4, stock=0.3,
    ahead=0, preview=0.0, fade=18.0, spread=0.5, wave=0.9, period=12.0,
)  # fmt: skip

ARTICLE_COLUMNS = (
    "article_id", "product_code", "prod_name", "product_type_no", "product_type_name",
    "product_group_name", "graphical_appearance_no", "graphical_appearance_name",
    "colour_group_code", "colour_group_name", "perceived_colour_value_id",
    "perceived_colour_value_name", "perceived_colour_master_id", "perceived_colour_master_name",
    "department_no", "department_name", "index_code", "index_name", "index_group_no",
    "index_group_name", "section_no", "section_name", "garment_group_no", "garment_group_name",
    "detail_desc",
)  # fmt: skip

_PRODUCT = (*ARTICLE_COLUMNS[3:6], *ARTICLE_COLUMNS[22:24], *ARTICLE_COLUMNS[14:16])
_LOOK, _COLOUR, _INDEX = ARTICLE_COLUMNS[6:8], ARTICLE_COLUMNS[8:14], ARTICLE_COLUMNS[16:22]
_DISCOUNTS = (1.0, 0.8, 0.6, 0.5)
_DATES = [(START + timedelta(days=day)).isoformat() for day in range(RULES.days)]
_PRICES = [
    repr(cents * rate // 1 / 100 * (1 / 590))
    for cents in range(99, 9999, 100)
    for rate in _DISCOUNTS
]
_LIST = 12
_SLICE = 100_000


def write(market: Market, folder: Folder) -> None:
    """Write the four files of the competition."""
    customer = hex_ids(market.stream("customer ids"), market.users, 64)
    article = article_ids(market.stream("article ids"), market.items)
    price = skewed(market.stream("prices"), market.items, len(_PRICES) // len(_DISCOUNTS), 2.0)
    with folder.csv("transactions_train") as table:
        for block in market.blocks():
            rng = market.stream("receipts", block.week)
            table.append(_transactions(block, rng, customer, article, price))
    folder.write("articles", _articles(market, article))
    customer = customer.sort()
    folder.write("customers", _customers(market.stream("customers"), customer))
    folder.write_all("sample_submission", _sample(customer, article).iter_slices(_SLICE))


def _transactions(
    block: Block, rng: Generator, customer: pl.Series, article: pl.Series, price: Int64
) -> pl.DataFrame:
    baskets = int(block.basket[-1]) + 1
    discount = skewed(rng, baskets, len(_DISCOUNTS), 3.0)[block.basket]
    channel = (1 + (rng.random(baskets) < 0.7))[block.basket]
    frame = pl.DataFrame(
        {
            "t_dat": pick(_DATES, block.day),
            "customer_id": customer[block.user],
            "article_id": article[block.item],
            "price": pick(_PRICES, price[block.item] * len(_DISCOUNTS) + discount),
            "sales_channel_id": channel,
        }
    )
    # The competition's file stands by date and customer, so that a basket's rows are together.
    return frame.sort("t_dat", "customer_id", maintain_order=True)


def _articles(market: Market, article: pl.Series) -> pl.DataFrame:
    rng, count = market.stream("articles"), market.items
    number = article.cast(pl.Int64).to_numpy()
    style = np.cumsum(np.diff(number // 1000, prepend=0) > 0) - 1
    name, fabric, cut = (
        pick(values, skewed(rng, count, len(values), 1.0)[style], "")
        for values in (words.NAMES, words.FABRICS, words.CUTS)
    )
    thing = fields(words.PRODUCTS, skewed(rng, count, len(words.PRODUCTS), 1.5)[style], _PRODUCT)
    columns = {
        "article_id": article,
        "product_code": article.str.slice(0, 7),
        "prod_name": name,
        **thing,
        **fields(words.LOOKS, skewed(rng, count, len(words.LOOKS)), _LOOK),
        **fields(words.COLOURS, (number + style) % len(words.COLOURS), _COLOUR),
        **fields(words.INDEXES, market.appeal.group, _INDEX),
        "detail_desc": sometimes(
            rng, thing["product_type_name"] + " in " + fabric + " with " + cut + ".", 0.996
        ),
    }
    return pl.DataFrame(columns).select(ARTICLE_COLUMNS)


def _customers(rng: Generator, customer: pl.Series) -> pl.DataFrame:
    count = len(customer)
    news = rng.random(count) < 0.35
    post = hex_ids(rng, max(1, count // 40), 64)
    member = pick(("ACTIVE", "PRE-CREATE", "LEFT CLUB"), skewed(rng, count, 3, 12.0))
    letters = np.where(news, 1, skewed(rng, count, 3, 20.0) % 3)
    return pl.DataFrame(
        {
            "customer_id": customer,
            "FN": pick(("1", None), ~news),
            "Active": pick(("1", None), ~(news & (rng.random(count) < 0.97))),
            "club_member_status": sometimes(rng, member, 0.995),
            "fashion_news_frequency": pick(("NONE", "Regularly", "Monthly"), letters),
            "age": sometimes(rng, pl.Series(17 + skewed(rng, count, 70)), 0.988),
            "postal_code": post[skewed(rng, count, len(post), 3.0)],
        }
    )


def _sample(customer: pl.Series, article: pl.Series) -> pl.DataFrame:
    best = " ".join(article[-_LIST:].to_list())
    return pl.DataFrame({"customer_id": customer}).with_columns(prediction=pl.lit(best))
