"""Where the labels of points go, so that none covers another or a point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

NEAR = 1
"""A label no further above or below its point needs no line to it."""

_LETTER, _LINE, _STEP = 7.0, 17.0, 19
_MOST = 12
"""Steps away from the point that are tried."""

Box = tuple[float, float, float, float]
Point = tuple[float, float]


def labels(
    points: Sequence[Point], texts: Sequence[str], width: float, height: float
) -> list[tuple[int, int]]:
    """Return how far right of and below its point each label's near end is.

    Parameters
    ----------
    points : sequence of (x, y)
        In pixels of a picture of `width` and `height`, from its upper left corner.
    """
    taken: list[Box] = [(x - 7, y - 7, x + 7, y + 7) for x, y in points]
    found: dict[int, tuple[int, int]] = {}
    # From the right: lines to labels further left then pass none of those that are there.
    for i in sorted(range(len(points)), key=lambda i: -points[i][0]):
        point, text = points[i], texts[i]
        others = taken[:i] + taken[i + 1 :]
        free = (
            (place, box)
            for place, box in _tried(point, len(text) * _LETTER)
            if _inside(box, width, height) and not any(_overlap(box, other) for other in others)
        )
        place, box = next(free, ((11, 0), taken[i]))
        taken.append(box)
        found[i] = place
    return [found[i] for i in range(len(points))]


def _tried(point: Point, wide: float) -> Iterator[tuple[tuple[int, int], Box]]:
    """Yield the places of a label: beside its point, then above and below, first to the right."""
    away = [sign * step * _STEP for step in range(1, _MOST) for sign in (-1, 1)]
    places = [(11, 0), (-11, 0), *((11, down) for down in away), *((-11, down) for down in away)]
    for right, down in places:
        x, y = point[0] + right, point[1] + down
        left = x if right > 0 else x - wide
        yield (right, down), (left, y - _LINE / 2, left + wide, y + _LINE / 2)


def _inside(box: Box, width: float, height: float) -> bool:
    return box[0] >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= height


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
