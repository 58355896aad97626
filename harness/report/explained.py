"""One user's list as a table of places, and the same list under every convention."""

from __future__ import annotations

from harness.errors import printable
from harness.explanation import Explanation, Place
from harness.metrics.conventions import CONVENTIONS
from harness.report.sheet import Sheet

_SHOWN_TRUTH = 12


def sheets(found: Explanation, title: str) -> list[Sheet]:
    """Return the places, and what the list earns by every metric and convention.

    Parameters
    ----------
    title : str
        What holds the list: a file, or a model of a run.
    """
    return [_places(found, title), _metrics(found), _conventions(found)]


def _places(found: Explanation, title: str) -> Sheet:
    hits = [place for place in found.places if place.hit]
    shown = ", ".join(printable(item) for item in found.truth[:_SHOWN_TRUTH])
    more = len(found.truth) - _SHOWN_TRUTH
    beyond = len(found.truth) - found.candidates
    total = sum(place.precision for place in hits)
    return Sheet(
        ["rank", "item", "hit", "P(i)", "adds to AP", "discount"],
        [_row(place) for place in found.places],
        left=frozenset({1, 2}),
        heading=[
            f"paper  {printable(title)}",
            f"user   {printable(found.user)} · k = {found.k}",
            f"truth  R = {len(found.truth)}: {shown}" + (f" and {more} more" if more > 0 else ""),
            *([f"note   {beyond} of them could not be recommended"] if beyond else []),
            *([] if found.averaged else ["note   no true items: the user is not averaged"]),
            *([] if found.places else ["note   no list"]),
        ],
        footing=[
            f"AP@{found.k} = {' + '.join(f'{p.precision:.4f}' for p in hits) or '0'} over "
            f"D = min({len(found.truth)}, {found.k}) = {found.divisor}: "
            f"{total:.6f} / {max(found.divisor, 1)} = {total / max(found.divisor, 1):.6f}"
        ],
        kept=6,
        styles={"hit": "green", "repeated": "yellow"},
    )


def records(found: Explanation) -> list[dict[str, object]]:
    """Return one record a place with full figures; an empty one where there is no list."""
    places = [vars(place) for place in found.places] or [dict.fromkeys(Place.__annotations__)]
    return [{"user": found.user, "k": found.k, **place} for place in places]


def _row(place: Place) -> list[str]:
    word = "hit" if place.hit else "repeated" if place.repeat else ""
    return [
        str(place.rank),
        "–" if place.item is None else printable(place.item),
        word,
        f"{place.precision:.4f}",
        f"{place.contribution:.6f}" if place.hit else "",
        f"{place.discount:.4f}",
    ]


def _metrics(found: Explanation) -> Sheet:
    rows = [[name, f"{value:.6f}"] for name, value in found.metrics.items()]
    return Sheet(["metric", "value"], rows)


def _conventions(found: Explanation) -> Sheet:
    rows = [
        [
            name,
            "not counted" if value is None else f"{value:.6f}",
            *(CONVENTIONS[name].to_dict()[key] for key in ("tools", "divisor", "repeats")),
        ]
        for name, value in found.conventions.items()
    ]
    titles = ["convention", f"AP@{found.k}", "who prints it", "divisor D", "repeated item"]
    return Sheet(titles, rows, left=frozenset({0, 2, 3, 4}), kept=2, wrapped=frozenset({2, 3, 4}))
