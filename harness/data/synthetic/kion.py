"""KION: film and series views with users and items, from 2021-03-13 to 2021-08-22."""

from datetime import date, timedelta

import numpy as np
import polars as pl
from numpy.random import Generator

from harness.core.arrays import Int64
from harness.data.synthetic import words
from harness.data.synthetic.columns import fields, number_ids, pick, skewed, sometimes
from harness.data.synthetic.market import Block, Market
from harness.data.synthetic.rules import Rules
from harness.data.synthetic.write import Folder

START = date(2021, 3, 13)

RULES = Rules(
    name="kion", days=163, shares=(22, 18, 12, 11, 10, 8, 6, 6, 4, 3), hidden=0.0, crowd=1500,
    opens=0.8, baskets=100.0, pieces=0.0, again=0.0, loyal=0.5, activity=1.0, zipf=1.0, stock=0.8,
    ahead=0, preview=0.0, fade=20.0, spread=1.0, wave=1.0, period=12.0,
)  # fmt: skip

_DATES = [(START + timedelta(days=day)).isoformat() for day in range(RULES.days)]
_AGES = ("age_25_34", "age_35_44", "age_18_24", "age_45_54", "age_55_64", "age_65_inf")
_INCOMES = ("income_20_40", "income_40_60", "income_60_90", "income_0_20", "income_90_150")


def write(market: Market, folder: Folder) -> None:
    """Write the three files of the data set."""
    user = number_ids(market.stream("user ids"), market.users)
    item = number_ids(market.stream("item ids"), market.items)
    length = 1200 + skewed(market.stream("lengths"), market.items, 7200, 1.5)
    with folder.csv("interactions") as table:
        for block in market.blocks():
            rng = market.stream("views", block.week)
            table.append(_views(block, rng, user, item, length))
    folder.write("items", _items(market, item))
    folder.write("users", _users(market.stream("users table"), user))


def _views(
    block: Block, rng: Generator, user: pl.Series, item: pl.Series, length: Int64
) -> pl.DataFrame:
    part = np.minimum(1.0, 1.15 * rng.random(block.user.size) ** 0.7)
    return pl.DataFrame(
        {
            "user_id": user[block.user],
            "item_id": item[block.item],
            "last_watch_dt": pick(_DATES, block.day),
            "total_dur": (part * length[block.item]).astype(np.int64),
            "watched_pct": np.floor(part * 100),
        }
    )


def _items(market: Market, item: pl.Series) -> pl.DataFrame:
    rng, count = market.stream("items table"), market.items
    noun = fields(words.FILM_NOUNS, skewed(rng, count, len(words.FILM_NOUNS), 1.0), ("ru", "en"))
    kind = fields(
        words.FILM_ADJECTIVES, skewed(rng, count, len(words.FILM_ADJECTIVES), 1.0), ("ru", "en")
    )
    title, original = kind["ru"] + " " + noun["ru"], kind["en"] + " " + noun["en"]
    genre = pick(words.FILM_GENRES, market.appeal.group)
    other = pick(words.FILM_GENRES, skewed(rng, count, len(words.FILM_GENRES)))
    director, actor, star = (
        pick(words.PEOPLE, skewed(rng, count, len(words.PEOPLE), 1.0)) for _ in range(3)
    )
    return pl.DataFrame(
        {
            "item_id": item,
            "content_type": pick(("film", "series"), skewed(rng, count, 2, 1.7)),
            "title": title,
            "title_orig": sometimes(rng, original, 0.7),
            "release_year": 2021.0 - skewed(rng, count, 60, 3.0),
            "genres": pl.select(
                pl.when(genre == other).then(genre).otherwise(genre + ", " + other)
            ).to_series(),
            "countries": pick(words.COUNTRIES, skewed(rng, count, len(words.COUNTRIES))),
            "for_kids": sometimes(rng, pl.Series(np.floor(rng.random(count) * 1.1)), 0.04),
            "age_rating": pick((16.0, 12.0, 18.0, 6.0, 0.0), skewed(rng, count, 5)),
            "studios": sometimes(
                rng, pick(("HBO", "Мосфильм", "Sony"), skewed(rng, count, 3)), 0.07
            ),
            "directors": director,
            "actors": actor + ", " + star,
            "keywords": noun["ru"].str.to_lowercase() + ", " + genre,
            "description": title + " ведёт героев туда, где всё начинается снова.",
        }
    )


def _users(rng: Generator, user: pl.Series) -> pl.DataFrame:
    count = len(user)
    return pl.DataFrame(
        {
            "user_id": user,
            "age": sometimes(rng, pick(_AGES, skewed(rng, count, len(_AGES), 1.4)), 0.98),
            "income": sometimes(rng, pick(_INCOMES, skewed(rng, count, len(_INCOMES))), 0.98),
            "sex": sometimes(rng, pick(("Ж", "М"), skewed(rng, count, 2, 1.0)), 0.98),
            "kids_flg": skewed(rng, count, 2, 2.0),
        }
    )
