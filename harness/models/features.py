"""Attributes of items or users as numbers: rows whose products are cosines, and plain columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
import polars.selectors as cs
from scipy.sparse import csr_array, diags_array, hstack

from harness.core.arrays import Floats
from harness.core.errors import suggest
from harness.core.params import ParameterError, require_texts
from harness.data import attributes
from harness.models.base import Train

if TYPE_CHECKING:
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

Owner = Literal["items", "users"]

_FAR = 3.0
"""Standard deviations from the median, beyond which a number is no further away."""
_GRAIN = 2.0**24
"""Entries are whole multiples of 1/_GRAIN."""
_ID, _KNOWN = "\0id", "\0known"
_BLANK = ""
_MOST_CODES = 250
"""How many values of a category have a code of their own; trees bin into fewer than 256."""


def feature_matrix(groups: Mapping[str, csr_array[Any]]) -> csr_array[Any]:
    """Return what `feature_groups` gave side by side, as rows whose products are their cosines.

    Groups weigh the same, however many columns they have; two rows that know all groups have the
    mean of the groups' cosines as theirs. Rows have length 1, or no entries where nothing is known.
    Entries are rounded to 24 binary places, so that products of two rows are exact: neither the
    order of columns nor the machine can break a tie of two cosines.
    """
    return _exact(hstack(list(groups.values()), format="csr"))


def feature_groups(
    train: Train,
    owner: Owner = "items",
    *,
    categories: Sequence[str] = (),
    numbers: Sequence[str] = (),
    texts: Sequence[str] = (),
) -> dict[str, csr_array[Any]]:
    """Return a matrix of unit rows for each group of columns that is asked for.

    categories
        One column a value that the table holds.
    numbers
        A number x becomes z = (x − median) / s, where s is the interquartile range in units of
        the standard normal distribution's, cut off at ±3, and then the point (cos, sin) at the
        angle z·π/6. The product of two numbers is the cosine of their distance: 1 where they are
        equal, 1/2 at two standard deviations, 0 at three, −1 at six. A missing number is (0, 0).
    texts
        TF-IDF of the characters' 2- and 3-grams within words, 1 + log of their counts (Salton and
        Buckley, 1988). Japanese has no spaces between words, and most of its words have two or
        three characters; inflected and compound words of other languages share them too.

    `owner` is ``items`` or ``users``, whose table has the columns, at least one; ParameterError for
    no table, a column that is missing or empty, or a number that is none. What is fitted (values,
    medians, document frequencies) comes from the table alone, never from events. Columns of a group
    weigh the same.
    """
    asked = {"categories": categories, "numbers": numbers, "texts": texts}
    require_texts(**asked)
    if not any(asked.values()):
        raise ParameterError(
            f"no attributes of {owner}; name columns of their table with one or more of categories "
            '= ["…"], numbers = ["…"], texts = ["…"]'
        )
    encoders = {"categories": _one_hot, "numbers": _on_circles, "texts": _tf_idf}
    groups = {}
    for group, columns in asked.items():
        if columns:
            table = _columns(train, owner, columns)
            table = _numbers(table) if group == "numbers" else table.fill_null(_BLANK)
            encoder = encoders[group](table).fit(table)
            groups[group] = _exact(encoder.transform(_of_ids(train, owner, table)))
    return groups


def unit_rows(matrix: Any) -> csr_array[Any]:
    """Return a sparse matrix with rows of length 1; rows without entries stay so."""
    return divided_rows(matrix, np.sqrt(csr_array(matrix).power(2).sum(axis=1)))


def _exact(matrix: Any) -> csr_array[Any]:
    """Return unit rows whose products lose nothing: 2 · 24 binary places and a sum of at most 1."""
    rows = unit_rows(matrix)
    np.rint(rows.data * _GRAIN, out=rows.data)
    rows.data /= _GRAIN
    return rows


def divided_rows(matrix: Any, by: Floats) -> csr_array[Any]:
    """Return a sparse matrix with each row divided by a number; by 0 it becomes a row of zeros."""
    factor = np.zeros(len(by))
    np.divide(1.0, by, out=factor, where=by > 0)
    return csr_array(diags_array(factor) @ matrix)


def number_columns(train: Train, owner: Owner, columns: Sequence[str]) -> Floats:
    """Return columns of numbers as they stand in the table, (n, n columns); NaN where unknown."""
    return _of_ids(train, owner, _numbers(_columns(train, owner, columns))).to_numpy()


def category_columns(train: Train, owner: Owner, columns: Sequence[str]) -> Floats:
    """Return a code for each value of categories, (n, n columns); NaN where unknown.

    The most frequent value of a column has code 0, ties by value; the rarest, beyond 250 values,
    share the last code.
    """
    codes = []
    for column in _columns(train, owner, columns):
        counts = column.drop_nulls().alias("value").value_counts(name="times")
        values = counts.sort("times", "value", descending=[True, False])["value"]
        code = np.minimum(np.arange(len(values)), _MOST_CODES - 1).astype(np.float64)
        codes.append(column.replace_strict(values, code, default=np.nan))
    return _of_ids(train, owner, pl.DataFrame(codes)).to_numpy()


def _of_ids(train: Train, owner: Owner, columns: pl.DataFrame) -> pl.DataFrame:
    """Return columns of the table in the order of the ids; blank or NaN where an id has no row."""
    table_ids = _table(train, owner).to_series()
    ids = train.item_ids if owner == "items" else train.user_ids
    rows = pl.DataFrame([table_ids.alias(_ID), table_ids.is_not_null().alias(_KNOWN), *columns])
    known = attributes.of_ids(rows, ids)
    if len(known) > 0 and not known[_KNOWN].any():
        raise ParameterError(
            f'none of the {len(ids):,} ids of {owner}, such as "{ids[0]}", is in the column '
            f'"{table_ids.name}" of their table, which has {len(table_ids):,} rows; are both '
            "written the same way?"
        )
    return known.drop(_ID, _KNOWN).with_columns(
        cs.string().fill_null(_BLANK), cs.float().fill_null(np.nan)
    )


def _columns(train: Train, owner: Owner, names: Sequence[str]) -> pl.DataFrame:
    """Return columns of the table; null where a cell is blank."""
    table = _table(train, owner)
    available = table.columns[1:]
    for name in names:
        if name not in available:
            hint = suggest(name, available)
            near = f"; {hint}" if hint.startswith("did you mean") else ""
            raise ParameterError(
                f'the table of {owner} has no column "{name}"; there are '
                f"{', '.join(available)}{near}"
            )
    columns = table.select(pl.col(name).str.strip_chars().replace("", None) for name in names)
    for column in columns:
        if column.null_count() == len(column):
            raise ParameterError(f'the column "{column.name}" of the table of {owner} is empty')
    return columns


def _table(train: Train, owner: Owner) -> pl.DataFrame:
    table = train.items_table if owner == "items" else train.users_table
    if table is None:
        raise ParameterError(
            f"there is no table of attributes of {owner}; the layouts hm, ponpare and kion have "
            f'one; with layout = "table", [data] {owner} = "file" names it'
        )
    return table


def _numbers(columns: pl.DataFrame) -> pl.DataFrame:
    """Return columns as numbers, NaN where they are null; anything else must be finite."""
    values = columns.cast(pl.Float64, strict=False)
    for column, value in zip(columns, values, strict=True):
        wrong = column.filter(column.is_not_null() & ~value.is_finite().fill_null(False))
        if len(wrong) > 0:
            raise ParameterError(
                f'the column "{column.name}" holds "{wrong[0]}", which is not a number; leave '
                "the cell empty if there is no value, or name the column in categories"
            )
    return values.fill_null(np.nan)


def _one_hot(columns: pl.DataFrame) -> OneHotEncoder:
    from sklearn.preprocessing import OneHotEncoder

    known = [column.unique().sort().to_list() for column in columns]
    # A blank cell is a value that nobody knows: no column is 1.
    values = [[value for value in of_column if value != _BLANK] for of_column in known]
    return OneHotEncoder(categories=values, handle_unknown="ignore")


def _on_circles(_: pl.DataFrame) -> Pipeline:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, RobustScaler

    return make_pipeline(RobustScaler(unit_variance=True), FunctionTransformer(_points))


def _points(z: Floats) -> Floats:
    angle = np.clip(z, -_FAR, _FAR) * (np.pi / 2 / _FAR)
    points: Floats = np.nan_to_num(np.hstack([np.cos(angle), np.sin(angle)]))
    return points


def _tf_idf(columns: pl.DataFrame) -> ColumnTransformer:
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import TfidfVectorizer

    grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), sublinear_tf=True)
    names = enumerate(columns.columns)
    return ColumnTransformer([(f"{place}", grams, name) for place, name in names])
