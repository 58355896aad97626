"""Where the tools' metrics are ours: for which users, and over whom each tool averages."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """What one user was given, and the items that are right, repeated rows included."""

    whole: list[str]
    true: list[str]
    k: int
    train: list[list[str]]

    @property
    def listed(self) -> list[str]:
        """The first k positions."""
        return self.whole[: self.k]


def answer(case: dict, user: str) -> Answer:
    """Return one user's answer; who has no list has an empty one."""
    true = [item for item, grade in case["truth"].get(user, []) if grade > 0]
    return Answer(case["lists"].get(user, []), true, case["k"], case["train"])


# For which users a tool's metric is ours.


def anyone(_: Answer) -> bool:
    return True


def listed_once(a: Answer) -> bool:
    return _once(a.listed)


def true_once(a: Answer) -> bool:
    return _once(a.true)


def all_once(a: Answer) -> bool:
    return _once(a.listed) and _once(a.true)


def once_behind_k_too(a: Answer) -> bool:
    return _once(a.whole) and _once(a.true)


def trained(a: Answer) -> bool:
    return {item for _, item in a.train}.issuperset(a.listed)


def trained_and_full(a: Answer) -> bool:
    return trained(a) and len(a.listed) in (0, a.k)


def _once(items: list[str]) -> bool:
    return len(set(items)) == len(items)


# Over whom a tool averages.


def truth(case: dict) -> set[str]:
    return set(case["truth"])


def lists(case: dict) -> set[str]:
    """Users with a list, be it empty."""
    return set(case["lists"])


def filled_lists(case: dict) -> set[str]:
    return {user for user, items in case["lists"].items() if items}


def truth_and_list(case: dict) -> set[str]:
    return truth(case) & lists(case)


def truth_and_filled_list(case: dict) -> set[str]:
    return truth(case) & filled_lists(case)


def early_hit(case: dict) -> set[str]:
    """Users with a hit among their first min(R, k) positions."""
    return {user for user in truth_and_list(case) if _has_early_hit(answer(case, user))}


def pair_of_items(case: dict) -> set[str]:
    return {user for user in lists(case) if len(set(answer(case, user).listed)) > 1}


def _has_early_hit(a: Answer) -> bool:
    return not set(a.true).isdisjoint(a.listed[: len(a.true)])


_TREC = "MAP(divisor=trec) Precision Recall HitRate MRR RPrecision NDCG(gain=linear)"
_IDEAL_RETRIEVED = (
    "NDCG(ideal=retrieved) NDCG(gain=linear,ideal=retrieved) NDCG(gain=exponential,ideal=retrieved)"
)
_ALIKE = (
    ("ir_measures", _TREC, listed_once, truth),
    ("pytrec_eval", f"{_TREC} NDCG", listed_once, truth_and_list),
    ("ranx", f"{_TREC} F1 NDCG(gain=exponential)", listed_once, truth),
    ("ml_metrics", "MAP MAP(divisor=trec) MAP(divisor=retrieved)", true_once, truth),
    ("rectools", "MAP(divisor=k) Precision", all_once, truth),
    ("rectools", "MAP(divisor=trec) Recall F1 NDCG", once_behind_k_too, truth),
    ("rectools", "HitRate MRR", anyone, truth),
    ("rectools", "Novelty", trained, filled_lists),
    ("rectools", "Popularity ILD", anyone, filled_lists),
    ("replay", "MAP NDCG", all_once, truth),
    ("replay", "Precision Recall HitRate MRR", anyone, truth),
    ("replay", "Novelty", trained_and_full, lists),
    ("recommenders", "MAP MAP(divisor=trec)", all_once, truth_and_filled_list),
    ("recommenders", "Precision Recall", all_once, truth_and_filled_list),
    ("recommenders", "RPrecision", all_once, early_hit),
    ("recommenders", "NDCG NDCG(gain=linear)", once_behind_k_too, truth),
    ("recommenders", "NDCG(gain=exponential)", once_behind_k_too, truth),
    ("recommenders", "ILD", listed_once, pair_of_items),
    ("sklearn", "MAP(divisor=hits)", listed_once, truth),
    ("sklearn", "NDCG NDCG(gain=linear) NDCG(gain=exponential)", listed_once, truth),
    ("sklearn", _IDEAL_RETRIEVED, listed_once, truth),
)
ALIKE = {
    (tool, text): (where, averaged)
    for tool, texts, where, averaged in _ALIKE
    for text in texts.split()
}


def _always(_: dict) -> bool:
    return True


def _catalogue_is_trained(case: dict) -> bool:
    return {item for _, item in case["train"]} == set(case["catalogue"])


ALIKE_OF_ALL_LISTS: dict[tuple[str, str], Callable[[dict], bool]] = {
    ("rectools", "Coverage"): _always,
    ("replay", "Coverage"): _catalogue_is_trained,
    ("recommenders", "Coverage"): _catalogue_is_trained,
    ("inequality", "Gini"): _always,
    ("sklearn", "MicroRecall"): _always,
}

# Other definitions under the same name; test_differences.py shows how they differ.
NOT_ALIKE = {("rectools", "RPrecision"), ("recommenders", "Novelty")}
