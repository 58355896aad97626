"""Recommend with the peers: matrices in, each model's best items with their scores out.

Runs under the peers' interpreter and imports none of our code:

    .venv-peers/bin/python peers/recommending.py < matrices.json > lists.json

The document in is a list of matrices, {"users", "items", "pairs": [[user, item], …]}; the one out
is, for each, model -> {"items": a list a user, "scores": the same}. Items that a user has are left
out. A nearest-neighbour model of few neighbours also gives "similar": of each item the similarities
that it keeps, itself aside.
"""

import json
import os
import sys
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd
from implicit.als import AlternatingLeastSquares
from implicit.nearest_neighbours import BM25Recommender, CosineRecommender, TFIDFRecommender
from rectools import Columns
from rectools.dataset import Dataset
from rectools.models import EASEModel, PureSVDModel
from scipy.sparse import csr_matrix

K = 10
NEIGHBOURS = 20
FACTORS = 8


def of_implicit(model, matrix: csr_matrix) -> dict:
    model.fit(matrix, show_progress=False)
    users = np.arange(matrix.shape[0])
    found = [
        model.recommend(user, matrix[user], N=K, filter_already_liked_items=True) for user in users
    ]
    return {
        "items": [items.tolist() for items, _ in found],
        "scores": [scores.tolist() for _, scores in found],
    }


def of_few(model, matrix: csr_matrix) -> list[list[float]]:
    """Return the similarities that each item keeps, largest first, without its own."""
    model.fit(matrix, show_progress=False)
    kept = []
    for item, row in enumerate(model.similarity):
        others = row.data[row.indices != item]
        kept.append(np.sort(others[others > 0])[::-1][:NEIGHBOURS].tolist())
    return kept


def of_weights(weights: np.ndarray, matrix: csr_matrix) -> dict:
    """Rank all items by x B, with the weights B that a model has learnt."""
    scores = np.where(matrix.toarray() > 0, -np.inf, matrix @ weights)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :K]
    found = np.take_along_axis(scores, best, axis=1)
    return {
        "items": [row[kept].tolist() for row, kept in zip(best, found > -np.inf, strict=True)],
        "scores": [row[row > -np.inf].tolist() for row in found],
    }


def of_rectools(model, matrix: csr_matrix) -> dict:
    dataset = learn(model, matrix)
    users = np.unique(matrix.nonzero()[0])
    found = model.recommend(users, dataset, k=K, filter_viewed=True)
    by_user = dict(list(found.sort_values(Columns.Rank).groupby(Columns.User)))
    empty = found.head(0)
    frames = [by_user.get(user, empty) for user in range(matrix.shape[0])]
    return {
        "items": [frame[Columns.Item].tolist() for frame in frames],
        "scores": [frame[Columns.Score].tolist() for frame in frames],
    }


def learn(model, matrix: csr_matrix) -> Dataset:
    user, item = matrix.nonzero()
    rows = pd.DataFrame({Columns.User: user, Columns.Item: item, Columns.Weight: 1.0})
    rows[Columns.Datetime] = "2020-01-01"
    dataset = Dataset.construct(rows)
    model.fit(dataset)
    return dataset


def weights_of(model, matrix: csr_matrix) -> np.ndarray:
    """Return what a model of RecTools has learnt, in the order of the matrix's items."""
    dataset = learn(model, matrix)
    own = dataset.item_id_map.convert_to_internal(np.arange(matrix.shape[1]))
    return model.weight[np.ix_(own, own)]


def all_models(given: dict) -> dict:
    user, item = np.array(given["pairs"]).T
    shape = (given["users"], given["items"])
    matrix = csr_matrix((np.ones(len(user)), (user, item)), shape=shape)
    every = given["items"]
    als = AlternatingLeastSquares(factors=FACTORS, random_state=42, num_threads=1)
    ease = EASEModel(regularization=5.0)
    return {
        "cosine": of_implicit(CosineRecommender(K=every), matrix),
        "tfidf": of_implicit(TFIDFRecommender(K=every), matrix),
        "bm25": of_implicit(BM25Recommender(K=every), matrix),
        # The item itself takes one of implicit's neighbours.
        "similar": {
            "cosine": of_few(CosineRecommender(K=NEIGHBOURS + 1), matrix),
            "tfidf": of_few(TFIDFRecommender(K=NEIGHBOURS + 1), matrix),
        },
        "als": of_implicit(als, matrix.astype(np.float32)),
        "ease as listed": of_rectools(ease, matrix),
        "ease": of_weights(weights_of(ease, matrix), matrix),
        "pure_svd": of_rectools(PureSVDModel(factors=FACTORS), matrix),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    json.dump([all_models(given) for given in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
