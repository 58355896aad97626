"""The dictionaries of the tools in trec_eval's tradition."""

from tools import Case, top


def qrels(case: Case, gain=lambda grade: grade) -> dict[str, dict[str, int]]:
    """Return the gain of every truth item; rows that repeat an item become one."""
    return {user: {item: gain(g) for item, g in rows} for user, rows in case["truth"].items()}


def run(case: Case, whole: bool = False) -> dict[str, dict[str, float]]:
    """Return the scores, or those of the positions, falling; a repeated item has its first.

    Lists are cut at k unless they are wanted whole, as tools with a cut-off of their own take them.
    """
    lists = case["lists"] if whole else top(case)
    return case["scores"] or {user: _falling(items) for user, items in lists.items()}


def _falling(items: list[str]) -> dict[str, float]:
    placed = list(enumerate(items))
    return {item: float(len(items) - place) for place, item in reversed(placed)}
