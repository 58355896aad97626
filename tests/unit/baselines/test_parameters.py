"""Parameters that no baseline takes: each is named with what is allowed, when it learns."""

from typing import Any

import pytest
from shops import Row, Table, shop

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
from baselines.ranker import Ranker
from baselines.repurchase import Repurchase
from baselines.repurchase_gaps import RepurchaseGaps
from baselines.rp3beta import RP3beta
from baselines.trending import Trending
from baselines.user_knn import UserKNN

ITEMS: Table = {"id": list("abc"), "genre": ["food", "spa", "spa"]}
AGES: Table = {"user": ["ann", "bob", "cid"], "age": ["30", "31", "55"]}
ROWS: list[Row] = [("ann", "a", 1), ("ann", "b", 2), ("bob", "a", 9), ("cid", "c", 3)]
GENRE = ["genre"]
TWO: Any = [Popular(), Popular()]
ABOVE_0 = "expected a number above 0"
FROM_0 = "expected a number, 0 or more"
FROM_1 = "expected a whole number, 1 or more"
TEXT: Any = "popular"
FRACTION: Any = 1.5
NUMBER: Any = 1
NAN = float("nan")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ALS(factors=FRACTION), f"factors is 1.5; {FROM_1}"),
        (ALS(alpha=0), f"alpha is 0; {ABOVE_0}"),
        (ALS(regularization=-1), f"regularization is -1; {FROM_0}"),
        (Blend(TWO, weights=[1]), r"weights is \[1\]; expected a list of 2, one for each model"),
        (Blend(TWO, weights=NUMBER), "weights is 1; expected a list of 2"),
        (Blend(TWO, weights=[1, 0]), "weights holds 0; expected numbers above 0"),
        (Blend(TWO, weights=[1, NAN]), "weights holds nan; expected numbers above 0"),
        (Blend(TWO, weights=[1, TEXT]), "weights holds 'popular'"),
        (Blend(TWO, depth=0), f"depth is 0; {FROM_1}"),
        (Blend(TWO, constant=-1), f"constant is -1; {FROM_0}"),
        (Blend([]), r"models is \[\]; expected a list"),
        (BPR(learning_rate=0), f"learning_rate is 0; {ABOVE_0}"),
        (CoVisitation(within_days=0), f"within_days is 0; {ABOVE_0}"),
        (CoVisitation(basket_days=0), f"basket_days is 0; {ABOVE_0}"),
        (CoVisitation(neighbours=0), f"neighbours is 0; {FROM_1}"),
        (ContentKNN(GENRE, neighbours=0), f"neighbours is 0; {FROM_1}"),
        (ContentKNN(GENRE, carried=0), f"carried is 0; {FROM_1}"),
        (ContentPopular(GENRE, neighbours=0), f"neighbours is 0; {FROM_1}"),
        (EASE(0), f"regularization is 0; {ABOVE_0}"),
        (Fill([]), r"models is \[\]; expected a list of one recommender or more"),
        (Fill([TEXT]), "models holds 'popular', which has no fit and recommend; .* in of"),
        (Fill(TWO[0]), r"models is Popular\(.*\); expected a list"),
        (Filter(TWO[:1]), "nothing is left out; set seen = true, out_of_stock_days, or both"),
        (Filter(TWO[:1], seen=NUMBER), "seen is 1; expected true or false"),
        (Filter(TWO[:1], out_of_stock_days=0), f"out_of_stock_days is 0; {ABOVE_0}"),
        (Filter([], seen=True), r"models is \[\]; expected a list"),
        (Filter(TWO, seen=True), "holds 2 recommenders; expected 1"),
        (ItemKNN(neighbours=0), f"neighbours is 0; {FROM_1}"),
        (ItemKNN(similarity="pearson"), "similarity is 'pearson'; allowed: cosine"),
        (ItemKNN(neighbours_of="user"), "is 'user'; allowed: item, candidate"),
        (ItemKNN(normalize=NUMBER), "normalize is 1; expected true or false"),
        (ItemKNN(min_similarity=-1), f"min_similarity is -1; {FROM_0}"),
        (NMF(2, iterations=0), f"iterations is 0; {FROM_1}"),
        (NMF(2, regularization=-1), f"regularization is -1; {FROM_0}"),
        (NMF(2, seed=-1), "seed is -1; expected a whole number, 0 or more"),
        (Popular(window_days=True), f"window_days is true; {ABOVE_0}"),
        (PureSVD(True), f"factors is true; {FROM_1}"),
        (Popular(values=True), "values = true weighs events by their values"),
        (PopularBySegment("height"), 'no column "height"; .*age'),
        (PopularBySegment("age", [40, 30]), r"bins is \[40, 30\]; expected rising edges"),
        (PopularBySegment("age", []), r"bins is \[\]; expected rising edges"),
        (PopularBySegment("user", [1]), 'column "user" holds "ann"; bins need numbers'),
        (PopularBySegment("age", prior=-1), f"prior is -1; {FROM_0}"),
        (PureSVD(0), f"factors is 0; {FROM_1}"),
        (Ranker(GENRE, neighbours=FRACTION), f"neighbours is 1.5; {FROM_1}"),
        (Ranker(GENRE, negatives=FRACTION), f"negatives is 1.5; {FROM_1}"),
        (Ranker(GENRE, shortlist=FRACTION), f"shortlist is 1.5; {FROM_1}"),
        (Ranker(GENRE, trees=FRACTION), f"trees is 1.5; {FROM_1}"),
        (Ranker(GENRE, window_days=0), f"window_days is 0; {ABOVE_0}"),
        (Repurchase(window_days=NAN), f"window_days is nan; {ABOVE_0}"),
        (RepurchaseGaps(horizon_days=0), f"horizon_days is 0; {FROM_1}"),
        (RepurchaseGaps(window_days=-2), f"window_days is -2; {ABOVE_0}"),
        (RP3beta(alpha=0), f"alpha is 0; {ABOVE_0}"),
        (RP3beta(beta=-1), f"beta is -1; {FROM_0}"),
        (RP3beta(neighbours_of="all"), "is 'all'; allowed: item, candidate"),
        (Trending(window_days=0), f"window_days is 0; {ABOVE_0}"),
        (Trending(prior=0), f"prior is 0; {ABOVE_0}"),
        (Trending(damping=-1), f"damping is -1; {FROM_0}"),
        (UserKNN(neighbours=FRACTION), f"neighbours is 1.5; {FROM_1}"),
        (UserKNN(neighbours_of="item"), "is 'item'; allowed: user, voter"),
    ],
)
def test_parameters_that_are_refused(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(shop(ROWS, "abc", ITEMS, AGES))
