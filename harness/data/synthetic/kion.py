"""KION: film and series views with users and items, from 2021-03-13 to 2021-08-22."""

from datetime import date

import polars as pl
from numpy.random import Generator

from harness.data.synthetic import draw, words
from harness.data.synthetic.draw import Columns, Tables
from harness.data.synthetic.market import Market, Rules

RULES = Rules(
    name="kion", days=163, shares=(22, 18, 12, 11, 10, 8, 6, 6, 4, 3), hidden=0.0, crowd=1500,
    opens=0.8, baskets=100.0, pieces=0.0, again=0.0, loyal=0.5, activity=1.0, zipf=1.0, stock=0.8,
    ahead=0, preview=0.0, fade=20.0, spread=1.0, wave=1.0, period=12.0,
)  # fmt: skip

_GENRE, _SECOND = pl.col("_genre"), pl.col("_second")
_AGES = ("age_25_34", "age_35_44", "age_18_24", "age_45_54", "age_55_64", "age_65_inf")
_INCOMES = ("income_20_40", "income_40_60", "income_60_90", "income_0_20", "income_90_150")

_VIEWS: Columns = {
    "_part": draw.fraction(0.7),
    "_watched": (1.15 * pl.col("_part")).clip(upper_bound=1.0),
    "user_id": pl.col("user_id"),
    "item_id": pl.col("item_id"),
    "last_watch_dt": draw.dates(date(2021, 3, 13), RULES.days),
    "total_dur": (pl.col("_watched") * pl.col("_length")).cast(pl.Int64),
    "watched_pct": (pl.col("_watched") * 100).floor(),
}

_ITEMS: Columns = {
    "_noun": draw.whole(len(words.FILM_NOUNS), 1.0),
    **draw.fields(words.FILM_NOUNS, "_noun"),
    "_adjective": draw.whole(len(words.FILM_ADJECTIVES), 1.0),
    **draw.fields(words.FILM_ADJECTIVES, "_adjective"),
    "_genre": draw.lookup(words.FILM_GENRES, "_group"),
    "_second": draw.pick(words.FILM_GENRES),
    "_director": draw.pick(words.PEOPLE, 1.0),
    "_actor": draw.pick(words.PEOPLE, 1.0),
    "_star": draw.pick(words.PEOPLE, 1.0),
    "item_id": pl.col("item_id"),
    "content_type": draw.pick(("film", "series"), 1.7),
    "title": pl.format("{} {}", "_adjective_ru", "_noun_ru"),
    "title_orig": draw.filled(0.7, pl.format("{} {}", "_adjective_en", "_noun_en")),
    "_age": draw.whole(60, 3.0),
    "release_year": 2021.0 - pl.col("_age"),
    "genres": pl.when(_GENRE == _SECOND).then(_GENRE).otherwise(_GENRE + ", " + _SECOND),
    "countries": draw.pick(words.COUNTRIES),
    "_for_kids": draw.fraction(),
    "for_kids": draw.filled(0.04, (pl.col("_for_kids") * 1.1).floor()),
    "age_rating": draw.pick((16.0, 12.0, 18.0, 6.0, 0.0)),
    "studios": draw.filled(0.07, draw.pick(("HBO", "Мосфильм", "Sony"))),
    "directors": pl.col("_director"),
    "actors": pl.format("{}, {}", "_actor", "_star"),
    "keywords": pl.format("{}, {}", pl.col("_noun_ru").str.to_lowercase(), "_genre"),
    "description": pl.col("title") + " ведёт героев туда, где всё начинается снова.",
}

_USERS: Columns = {
    "user_id": pl.col("user_id"),
    "age": draw.filled(0.98, draw.pick(_AGES, 1.4)),
    "income": draw.filled(0.98, draw.pick(_INCOMES)),
    "sex": draw.filled(0.98, draw.pick(("Ж", "М"), 1.0)),
    "kids_flg": draw.whole(2),
}


def tables(market: Market) -> Tables:
    """Make the three files of the data set."""
    users = pl.DataFrame({"user_id": _ids(market.stream("user ids"), market.users)})
    item = _ids(market.stream("item ids"), market.items)
    length = 1200 + draw.skewed(market.stream("lengths"), market.items, 7200, 1.5)
    items = pl.DataFrame({"item_id": item, "_length": length, "_group": market.appeal.group})
    for week, rows in market.blocks(users, items[:, :2]):
        yield "interactions", draw.table(_VIEWS, market.stream("views", week), rows)
        del rows  # before those of the next week are made
    yield "items", draw.table(_ITEMS, market.stream("items table"), items)
    yield "users", draw.table(_USERS, market.stream("users table"), users)


def _ids(rng: Generator, count: int) -> pl.Series:
    """Draw distinct whole numbers in no order; about a fifth of the range is unused, as in KION."""
    return pl.Series(rng.permutation(count + count // 5 + 1)[:count])
