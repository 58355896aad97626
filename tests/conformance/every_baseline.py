"""Every baseline, by default and with each parameter that changes what it lists."""

from typing import Any

from baselines.als import ALS
from baselines.blend import Blend
from baselines.bpr import BPR
from baselines.co_visitation import CoVisitation
from baselines.content_knn import ContentKNN
from baselines.content_popular import ContentPopular
from baselines.ease import EASE
from baselines.fill import Fill
from baselines.filter import Filter
from baselines.item_knn import ItemKNN
from baselines.nmf import NMF
from baselines.popular import Popular
from baselines.popular_by_segment import PopularBySegment
from baselines.pure_svd import PureSVD
from baselines.random_items import RandomItems
from baselines.ranker import Ranker
from baselines.repurchase import Repurchase
from baselines.repurchase_gaps import RepurchaseGaps
from baselines.rp3beta import RP3beta
from baselines.trending import Trending
from baselines.user_knn import UserKNN
from baselines.user_profile import UserProfile

ALL: dict[str, Any] = {"categories": ["genre"], "numbers": ["price"], "texts": ["text"]}
"""Columns of `example_train`'s table of items."""
OF_USERS: dict[str, Any] = {"user_categories": ["sex"], "user_numbers": ["age"]}
BASELINES = {
    "random": RandomItems(),
    "popular": Popular(),
    "popular, weights": Popular(weights={"event": 0.5}, window_days=8, half_life_days=4),
    "repurchase": Repurchase(),
    "repurchase, 1 day": Repurchase(window_days=1),
    "content popular": ContentPopular(**ALL),
    "content popular, 3 days": ContentPopular(
        numbers=["price"], neighbours=1, window_days=3, half_life_days=5, weights={"event": 0.5}
    ),
    "user profile": UserProfile(**ALL, half_life_days=2, weights={"event": 0.5}, counts=True),
    "user profile, categories": UserProfile(categories=["genre"], window_days=3),
    "content kNN": ContentKNN(**ALL),
    "content kNN, nearest": ContentKNN(texts=["text"], neighbours=1, carried=1, counts=True),
    "ranker": Ranker(**ALL, **OF_USERS, trees=3),
    "ranker, shortlist": Ranker(categories=["genre"], window_days=3, shortlist=4, trees=2, seed=5),
    "repurchase when due": RepurchaseGaps(),
    "repurchase when due, 1 day": RepurchaseGaps(horizon_days=1, window_days=1),
    "popular by segment": PopularBySegment("sex", half_life_days=2, weights={"event": 0.5}),
    "popular by bins": PopularBySegment("age", [25, 40], prior=1.5, window_days=None),
    "trending": Trending(),
    "trending, 1 day": Trending(window_days=1, damping=2, weights={"event": 0.5}),
    "co-visitation": CoVisitation(),
    "co-visitation, few neighbours": CoVisitation(4, 2, 3, neighbours=2),
    "co-visitation, nothing in the window": CoVisitation(window_days=0.5, basket_days=8),
    "fill": Fill([Repurchase(), RandomItems()]),
    "blend": Blend([Popular(), Repurchase(), RandomItems()], weights=[1, 2, 0.5], depth=3),
    "filter, seen": Filter([Popular()], seen=True),
    "filter, out of stock": Filter([RandomItems()], out_of_stock_days=3),
    "filter, nothing in stock": Filter([RandomItems()], out_of_stock_days=0.5),
    "filter, both, of a fill": Filter([Fill([Popular(), RandomItems()])], True, 2),
    "fill of blends": Fill([Blend([Repurchase(), Popular()]), Filter([RandomItems()], seen=True)]),
    "item kNN": ItemKNN(),
    "item kNN, one neighbour": ItemKNN(1, shrink=5, half_life_days=3),
    "item kNN, tf-idf": ItemKNN(similarity="tfidf", counts=True),
    "item kNN, BM25": ItemKNN(similarity="bm25", window_days=2),
    "item kNN, asymmetric": ItemKNN(similarity="asymmetric", alpha=0.2, weights={"event": 2}),
    "item kNN, inner products": ItemKNN(2, "dot", neighbours_of="candidate", normalize=True),
    "item kNN, Jaccard": ItemKNN(similarity="jaccard", shrink=1),
    "item kNN, dice": ItemKNN(2, "dice", min_similarity=0.4),
    "item kNN, Tversky": ItemKNN(similarity="tversky", alpha=0.2, beta=1.5, counts=True),
    "user kNN": UserKNN(),
    "user kNN, inner products": UserKNN(2, "dot", neighbours_of="voter"),
    "user kNN, Jaccard": UserKNN(similarity="jaccard", min_similarity=0.3, half_life_days=2),
    "user kNN, dice": UserKNN(2, "dice"),
    "user kNN, Tversky": UserKNN(similarity="tversky", alpha=2, beta=0, neighbours_of="voter"),
    "user kNN, nothing in the window": UserKNN(window_days=0.5),
    "RP3beta": RP3beta(neighbours=2, half_life_days=1),
    "RP3beta, of candidates": RP3beta(neighbours=2, neighbours_of="candidate", normalize=True),
    "RP3beta, no popularity": RP3beta(neighbours=3, beta=0),
    "EASE": EASE(regularization=1.0),
    "EASE, nothing in the window": EASE(window_days=0.5),
    "PureSVD": PureSVD(2),
    "PureSVD, all factors": PureSVD(),
    "PureSVD, nothing in the window": PureSVD(window_days=0.5),
    "NMF": NMF(2),
    "NMF, nothing in the window": NMF(window_days=0.5),
    "ALS": ALS(3),
    "ALS, nothing in the window": ALS(window_days=0.5),
    "BPR": BPR(3),
    "BPR, nothing in the window": BPR(window_days=0.5),
}
