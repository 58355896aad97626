"""The table of all metrics: what each is called, takes, means and cites, with a worked example.

The one place for these facts: the parser, ``harness list metrics`` and docs/metrics.md read it.
"""

from collections.abc import Mapping
from math import log2

from harness.metrics import beyond_accuracy, ranking
from harness.metrics.definition import Choice, Definition, Example, Names, Number

_LIST = {"ann": ["a", "x", "b", "y"]}
_TRUTH = {"ann": ["a", "b", "c"]}
_TRAIN = {"ann": ["a", "b"], "bob": ["a"], "cem": ["a"], "dee": ["a"]}
_TWO_LISTS = {"ann": ["a", "b"], "bob": ["a", "c"]}
_TWO_TRUTHS = {"ann": ["a"], "bob": ["d"]}
_FOUR_ITEMS = {"ann": ["a", "b", "c", "d"]}
_MANNING = "Manning, Raghavan, Schütze, Introduction to Information Retrieval 2008, section 8.4"

DEFINITIONS: Mapping[str, Definition] = {
    # Of a user's hits: `ranking`, and a chance value in harness/stats/chance_law.py.
    "MAP": Definition(
        ranking.average_precision,
        "AP@k = Σ_{i≤min(k,L)} P(i)·hit(i) / D; MAP@k is the mean over users",
        "benhamner/Metrics, ml_metrics/average_precision.py; H&M and Ponpare on Kaggle",
        (
            Example(_LIST, _TRUTH, "MAP@4", "(1/1 + 2/3) / min(3, 4)", 5 / 9),
            Example(_LIST, _TRUTH, "MAP(divisor=k)@4", "(1/1 + 2/3) / 4", 5 / 12),
        ),
        {"divisor": Choice(tuple(ranking.DIVISORS))},
    ),
    "Precision": Definition(
        ranking.precision,
        "hits / k",
        _MANNING,
        (Example(_LIST, _TRUTH, "Precision@4", "2 / 4", 1 / 2),),
    ),
    "Recall": Definition(
        ranking.recall,
        "hits / R",
        _MANNING,
        (Example(_LIST, _TRUTH, "Recall@4", "2 / 3", 2 / 3),),
    ),
    "F1": Definition(
        ranking.f1,
        "2·hits / (R + k), the harmonic mean of Precision and Recall",
        "van Rijsbergen, Information Retrieval 1979, chapter 7, at a cut-off",
        (Example(_LIST, _TRUTH, "F1@4", "2·2 / (3 + 4)", 4 / 7),),
    ),
    "SetF1": Definition(
        ranking.set_f1,
        "2·hits / (R + S), with S the number of different items in the list: the harmonic mean "
        "of hits / S and hits / R; 0 if both are 0",
        "van Rijsbergen, Information Retrieval 1979, chapter 7, of sets; Instacart Market Basket "
        "Analysis, Kaggle 2017 (mean F1)",
        (
            Example({"ann": ["a", "x"]}, _TRUTH, "SetF1", "2·1 / (3 + 2)", 2 / 5),
            Example({"ann": ["a", "x", "a"]}, _TRUTH, "SetF1", "2·1 / (3 + 2)", 2 / 5),
        ),
        cut="optional",
    ),
    "HitRate": Definition(
        ranking.hit_rate,
        "1 if hits > 0, else 0",
        "Deshpande, Karypis 2004, for any number of hits",
        (Example(_LIST, _TRUTH, "HitRate@4", "1, with 2 hits", 1.0),),
    ),
    "MRR": Definition(
        ranking.reciprocal_rank,
        "RR@k = 1 / rank of the first hit, else 0; MRR@k is the mean over users",
        "Voorhees, TREC-8 question answering track 1999",
        (Example({"ann": ["x", "b", "a"]}, _TRUTH, "MRR@3", "1 / 2", 1 / 2),),
        cut="optional",
    ),
    "NDCG": Definition(
        ranking.ndcg,
        "Σ_{i≤k} gain(i)/log2(i+1), divided by the same sum of the ideal list. The ideal list "
        "has the best min(R, k) true items; with ideal=retrieved, it has the hits of this list, "
        "best first. The gain of a hit is 1 (binary), its grade g (linear) or 2^g - 1 "
        "(exponential); the last two need grades",
        "Järvelin, Kekäläinen 2002, with the discount of Burges et al. 2005",
        (
            Example(
                _LIST,
                _TRUTH,
                "NDCG@4",
                "(1/log2(2) + 1/log2(4)) / (1/log2(2) + 1/log2(3) + 1/log2(4))",
                1.5 / (1.5 + 1 / log2(3)),
            ),
            Example(
                _LIST,
                {"ann": {"a": 1, "b": 3}},
                "NDCG(gain=exponential)@4",
                "(1/log2(2) + 7/log2(4)) / (7/log2(2) + 1/log2(3))",
                4.5 / (7 + 1 / log2(3)),
            ),
        ),
        {
            "ideal": Choice(("relevant", "retrieved")),
            "gain": Choice(("binary", "linear", "exponential")),
        },
    ),
    "RPrecision": Definition(
        ranking.r_precision,
        "hits among the first min(R, k) / R",
        f"{_MANNING}; trec_eval's Rprec of the list cut at k",
        (Example({"ann": ["a", "x", "y", "b"]}, _TRUTH, "RPrecision@4", "1 / 3", 1 / 3),),
        cut="optional",
    ),
    "pFound": Definition(
        ranking.p_found,
        "Σ_{i≤k} pLook_i·pRel_i, pLook_1 = 1, pLook_i = pLook_{i-1}·(1 - pRel_{i-1})·(1 - pBreak); "
        "pRel is the grade of a hit (1 without grades), else 0",
        "Gulin, Karpovich, Raskovalov, Segalovich, ROMIP 2009 (Yandex)",
        (
            Example(
                _LIST,
                {"ann": {"a": 0.4, "b": 0.5}},
                "pFound@4",
                "0.4 + (1 - 0.4)·0.85·0.85·0.5",
                0.4 + 0.6 * 0.85**2 * 0.5,
            ),
            Example({"ann": ["x", "b"]}, _TRUTH, "pFound(p_break=0.3)", "(1 - 0.3)·1", 0.7),
        ),
        {"p_break": Number(0.15, 0.0, 1.0)},
        cut="optional",
    ),
    # Of what a user's list is made of: `beyond_accuracy`, with what each needs to know.
    "Novelty": Definition(
        beyond_accuracy.novelty,
        "Σ_{i≤k} -log2 share(i) / L, with share(i) the share of training users that have the "
        "item; an item with share 0 adds 0",
        "Zhou et al. 2010 (mean self-information); Castells, Hurley, Vargas 2015",
        (
            Example(
                {"ann": ["a", "b"]},
                _TRUTH,
                "Novelty@2",
                "(-log2(4/4) - log2(1/4)) / 2",
                1.0,
                _TRAIN,
            ),
        ),
        range=(0.0, float("inf")),
        better="neither",
        needs="train",
        shares=True,
    ),
    "Popularity": Definition(
        beyond_accuracy.popularity,
        "Σ_{i≤k} count(i) / L, with count(i) the item's training events",
        "Abdollahpouri et al. 2019 (average recommendation popularity)",
        (Example({"ann": ["a", "b"]}, _TRUTH, "Popularity@2", "(4 + 1) / 2", 2.5, _TRAIN),),
        range=(0.0, float("inf")),
        better="neither",
        needs="train",
    ),
    "Serendipity": Definition(
        beyond_accuracy.serendipity,
        "(hits outside the k most popular training items) / k, ties by item id",
        "Ge, Delgado-Battenfeld, Jannach, RecSys 2010, with popularity as the primitive model",
        (
            Example(
                {"ann": ["a"]},
                _TRUTH,
                "Serendipity@1",
                "0 / 1 (a is most popular)",
                0.0,
                _TRAIN,
            ),
            Example({"ann": ["b"]}, _TRUTH, "Serendipity@1", "1 / 1", 1.0, _TRAIN),
        ),
        needs="train",
    ),
    "ILD": Definition(
        beyond_accuracy.diversity,
        "mean over the pairs i < j ≤ k of 1 - cos(i, j). A text attribute is one indicator per "
        "value; a number is used unchanged (a run reads its table of items as text). Fewer than "
        "two items give 0",
        "Ziegler et al. 2005; Smyth, McClave 2001, with the cosine",
        (
            Example(
                {"ann": ["a", "b"]},
                _TRUTH,
                "ILD@2",
                "1 - 1/2 (one of two attributes is the same)",
                0.5,
                attributes={
                    "item": ["a", "b"],
                    "kind": ["shirt", "shirt"],
                    "colour": ["red", "blue"],
                },
            ),
        ),
        {"attributes": Names()},
        range=(0.0, 2.0),
        needs="attributes",
    ),
    # Of all lists together: `value` makes one figure of the sums of all users.
    "TotalRecall": Definition(
        ranking.hits_of_all,
        "Σ hits / Σ min(R, k), both over all users; with several event types, their weighted sum "
        "(OTTO: clicks 0.1, carts 0.3, orders 0.6)",
        "OTTO Multi-Objective Recommender System, Kaggle 2022 (recall@20)",
        (
            Example(
                {"ann": ["a", "x"], "bob": ["y", "d"]},
                {"ann": ["a", "b", "c"], "bob": ["d"]},
                "TotalRecall@2",
                "(1 + 1) / (min(3, 2) + min(1, 2))",
                2 / 3,
            ),
        ),
        value=ranking.total_recall,
    ),
    "MicroRecall": Definition(
        ranking.hits_and_relevant,
        "Σ hits / Σ R, both over all users: micro-averaged recall. Each true item counts the "
        "same; in the mean of Recall, each user counts the same",
        "Manning, Raghavan, Schütze, Introduction to Information Retrieval 2008, section 13.6; "
        'scikit-learn, recall_score with average="micro"',
        (
            Example(
                {"ann": ["a", "x"], "bob": ["y", "d"]},
                {"ann": ["a", "b", "c"], "bob": ["d"]},
                "MicroRecall@2",
                "(1 + 1) / (3 + 1)",
                1 / 2,
            ),
        ),
        value=ranking.micro_recall,
    ),
    "Coverage": Definition(
        beyond_accuracy.exposure,
        "(candidates in at least one list) / candidates",
        "Herlocker et al. 2004, section 4.2; Ge et al. 2010 (catalogue coverage)",
        (Example(_TWO_LISTS, _TWO_TRUTHS, "Coverage@2", "3 / 4", 3 / 4, _FOUR_ITEMS),),
        value=beyond_accuracy.coverage,
        needs="candidates",
    ),
    "Gini": Definition(
        beyond_accuracy.exposure,
        "Σ_{i≤N} (2i - N - 1)·x_i / (N·Σ x), with x_i the number of lists that have candidate i, "
        "ascending",
        "Gini 1912; Fleder, Hosanagar 2009 (of recommendations)",
        (
            Example(
                _TWO_LISTS,
                _TWO_TRUTHS,
                "Gini@2",
                "(-3·0 - 1·1 + 1·1 + 3·2) / (4·4)",
                6 / 16,
                _FOUR_ITEMS,
            ),
        ),
        value=beyond_accuracy.gini,
        better="lower",
        needs="candidates",
    ),
}
