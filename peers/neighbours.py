"""Neighbours of the peers: matrices in, similarities of items or scores of users out.

Runs under an interpreter of its own and imports none of our code:

    .venv-neighbours/bin/python peers/neighbours.py < matrices.json > found.json

The document in is a list of matrices as recommending.py reads them; the one out is, for each,
name -> a dense matrix of rows: of items × items without their diagonals, or of users × items with
null where there is no score.
"""

import json
import sys
import warnings

import numpy as np
import pandas as pd
import similaripy
from lenskit.data import ItemList, RecQuery, from_interactions_df
from lenskit.knn import ItemKNNScorer, UserKNNScorer
from recbole.model.general_recommender.itemknn import ComputeSimilarity
from scipy.sparse import csr_matrix
from sklearn.preprocessing import normalize

FEW = 10
SIMILARITIES = {
    "cosine": (similaripy.cosine, {"shrink": 3}),
    "asymmetric": (similaripy.asymmetric_cosine, {"alpha": 0.2, "shrink": 3}),
    "dot": (similaripy.dot_product, {}),
    "jaccard": (similaripy.jaccard, {"shrink": 3}),
    "dice": (similaripy.dice, {"shrink": 3}),
    "tversky": (similaripy.tversky, {"alpha": 0.3, "beta": 1.2, "shrink": 3}),
    "rp3beta": (similaripy.rp3beta, {"alpha": 0.6, "beta": 0.4}),
}
LEAST = 0.23


def of_similaripy(items: csr_matrix) -> dict:
    found = {}
    for name, (similarity, settings) in SIMILARITIES.items():
        every = similarity(items, k=items.shape[0], verbose=False, **settings)
        found[name] = without_itself(every)
    # As Elliot does it, of neighbours that are not cut: which of equal ones are kept may differ.
    shares = normalize(csr_matrix(without_itself(every)), norm="l1", axis=1)
    return found | {"rp3beta, normalized": shares.toarray()}


def of_recbole(matrix: csr_matrix) -> dict:
    return {
        f"recbole {k}": ComputeSimilarity(matrix, topk=k, shrink=3)
        .compute_similarity()[1]
        .toarray()
        for k in (matrix.shape[1], FEW)
    }


def of_lenskit(matrix: csr_matrix) -> dict:
    user, item = matrix.nonzero()
    data = from_interactions_df(pd.DataFrame({"user_id": user, "item_id": item}))
    every = max(matrix.shape)
    found = {}
    for kind, scorer in (("item", ItemKNNScorer), ("user", UserKNNScorer)):
        model = scorer(feedback="implicit", max_nbrs=every, min_sim=LEAST)
        model.train(data)
        found[f"lenskit {kind}"] = scores_of(model, data, matrix.shape)
    return found


def scores_of(model, data, shape: tuple[int, int]) -> np.ndarray:
    """Score all items for every user, NaN where the user has none."""
    every = ItemList(item_ids=np.arange(shape[1]))
    scores = np.full(shape, np.nan)
    for user in data.users.ids():
        # User kNN that is given the user's items does not divide similarities by their length.
        own = data.user_row(user) if isinstance(model, ItemKNNScorer) else None
        query = RecQuery(user_id=user, user_items=own)
        scores[user] = model(query, every).scores()
    return scores


def without_itself(similar) -> np.ndarray:
    dense = similar.toarray()
    np.fill_diagonal(dense, 0.0)
    return dense


def all_models(given: dict) -> dict:
    user, item = np.array(given["pairs"]).T
    shape = (given["users"], given["items"])
    matrix = csr_matrix((np.ones(len(user)), (user, item)), shape=shape)
    found = of_similaripy(matrix.T.tocsr()) | of_recbole(matrix) | of_lenskit(matrix)
    return {name: as_lists(rows) for name, rows in found.items()}


def as_lists(rows: np.ndarray) -> list:
    return np.where(np.isnan(rows), None, rows.astype(object)).tolist()


def main() -> None:
    warnings.simplefilter("ignore")
    json.dump([all_models(given) for given in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
