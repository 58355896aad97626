"""The dictionaries of the tools in trec_eval's tradition."""

from tools import Exam, top


def qrels(exam: Exam, gain=lambda grade: grade) -> dict[str, dict[str, int]]:
    """Return the gain of every truth item; rows that repeat an item become one."""
    return {user: {item: gain(g) for item, g in rows} for user, rows in exam["truth"].items()}


def run(exam: Exam, whole: bool = False) -> dict[str, dict[str, float]]:
    """Return the scores, or those of the places, falling; a repeated item has its first.

    Lists are cut at k unless they are wanted whole, as tools with a cut-off of their own take them.
    """
    lists = exam["lists"] if whole else top(exam)
    return exam["scores"] or {user: _falling(items) for user, items in lists.items()}


def _falling(items: list[str]) -> dict[str, float]:
    placed = list(enumerate(items))
    return {item: float(len(items) - place) for place, item in reversed(placed)}
