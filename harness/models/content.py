"""What is known of some items, carried to the items that are most like them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from harness.core.arrays import Floats, Int32
from harness.core.params import require_whole
from harness.models.products import as_matrix, itself, largest_products


def most_similar(
    features: csr_array[Any], items: Int32, among: Int32, neighbours: int
) -> csr_array[Any]:
    """Return the cosines of items with the most similar of other items.

    Parameters
    ----------
    features : csr_array, (n items, n features)
        Rows of length 1, as `harness.models.features.feature_matrix` makes them.
    items, among : int32 arrays, (n,) and (m,)
        Item positions, none twice in an array.
    neighbours : int
        How many others an item gets at most, ties by position in `among`; only cosines above 0.

    Returns
    -------
    csr_array of float64, (n, m)
        An item that is `among` the others has the similarity 1 with itself, whatever its features.

    Raises
    ------
    ValueError
        `neighbours` is no whole number above 0.

    Examples
    --------
    The first row and the second have the cosine 0.6, the third and the second 0.8.

    >>> rows = csr_array(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]))
    >>> most_similar(rows, np.array([0, 2]), np.array([1, 2]), 1).toarray().tolist()
    [[0.6, 0.0], [0.8, 1.0]]
    """
    require_whole(1, neighbours=neighbours)
    same = itself(items, among, features.shape[0])
    right = features[among].T.tocsr()
    columns, values = largest_products(
        features[items], right, min(neighbours, len(among)), exclude=same
    )
    return csr_array(as_matrix(columns, values, len(among)) + same)


def carried_means(values: Floats, similar: csr_array[Any]) -> Floats:
    """Return for each row the mean of its neighbours' values, weighted by similarity.

    Parameters
    ----------
    values : float64 array, (m,)
    similar : csr_array, (n, m)
        As `most_similar` gives it.

    Returns
    -------
    float64 array, (n,)
        NaN where a row has no neighbour.

    Examples
    --------
    (1·10 + 0.5·4) / 1.5 = 8

    >>> similar = csr_array(np.array([[1.0, 0.5], [0.0, 0.0]]))
    >>> carried_means(np.array([10.0, 4.0]), similar).tolist()
    [8.0, nan]
    """
    total = similar.sum(axis=1)
    means: Floats = np.full(len(total), np.nan)
    np.divide(similar @ values, total, out=means, where=total > 0)
    return means
