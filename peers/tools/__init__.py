"""One module a tool. Each has `score(case)`: our metric text -> (value per user or None, mean)."""

from statistics import fmean

Case = dict  # as cases.py makes it: k, lists, truth, train, catalogue, attributes
Scores = dict[str, tuple[dict[str, float] | None, float]]


def averaged(per_user: dict[str, float]) -> tuple[dict[str, float], float]:
    """Return the values with their mean, for tools that leave averaging to the caller."""
    return per_user, fmean(per_user.values()) if per_user else 0.0


def top(case: Case) -> dict[str, list[str]]:
    """Return the lists cut at k, for metrics that take no cut-off."""
    return {user: items[: case["k"]] for user, items in case["lists"].items()}


def truth_items(case: Case) -> dict[str, list[str]]:
    """Return the items of a grade above 0, repeated rows included."""
    return {user: [item for item, g in rows if g > 0] for user, rows in case["truth"].items()}


def wanted(table: dict, case: Case) -> dict:
    """Return a tool's table, without gains where all grades are 1: it would say NDCG again."""
    graded = any(grade != 1 for rows in case["truth"].values() for _, grade in rows)
    return {text: entry for text, entry in table.items() if graded or "gain=" not in text}
