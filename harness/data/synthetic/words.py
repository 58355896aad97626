"""Word lists of the three shops, as words.toml has them; the fields of a row belong together."""

import tomllib
from importlib.resources import files
from typing import Any

import polars as pl

_WORDS: dict[str, Any] = tomllib.loads(
    files("harness.data").joinpath("words.toml").read_text(encoding="utf-8")
)


def _table(name: str) -> pl.DataFrame:
    return pl.DataFrame(_WORDS[name]["rows"], schema=_WORDS[name]["columns"], orient="row")


PRODUCTS, LOOKS, COLOURS = _table("products"), _table("looks"), _table("colours")
INDEXES, GENRES, AREAS = _table("indexes"), _table("genres"), _table("areas")
FILM_NOUNS, FILM_ADJECTIVES = _table("film_nouns"), _table("film_adjectives")
NAMES, FABRICS, CUTS = _WORDS["names"], _WORDS["fabrics"], _WORDS["cuts"]
FILM_GENRES, COUNTRIES, PEOPLE = _WORDS["film_genres"], _WORDS["countries"], _WORDS["people"]
