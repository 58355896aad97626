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
    """Return the cosines of items with the most similar of other items, (items, among), float64.

    `features` are rows of length 1, `items` and `among` positions, none twice. An item gets at most
    `neighbours` others, ties by position in `among`, with cosines above 0 alone; one that is
    `among` them has the similarity 1 with itself, whatever its features.
    """
    require_whole(1, neighbours=neighbours)
    same = itself(items, among, features.shape[0])
    right = features[among].T.tocsr()
    columns, values = largest_products(
        features[items], right, min(neighbours, len(among)), exclude=same
    )
    return csr_array(as_matrix(columns, values, len(among)) + same)


def carried_means(values: Floats, similar: csr_array[Any]) -> Floats:
    """Return the mean of each row's neighbours' values, weighted by similarity; NaN without any."""
    total = similar.sum(axis=1)
    means: Floats = np.full(len(total), np.nan)
    np.divide(similar @ values, total, out=means, where=total > 0)
    return means
