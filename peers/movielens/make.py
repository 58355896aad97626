"""Write ratings.csv beside this file: MovieLens' columns, made up and seeded.

Films are rated in one go, as there: several of a user's ratings have the same second.
"""

import csv
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
USERS, FILMS, START = 90, 160, 1_000_000_000


def ratings(draw: np.random.Generator) -> list[tuple[int, int, float, int]]:
    """Return (user, film, rating, second): popular films more often, five and more a user."""
    appeal = 1 / np.arange(1, FILMS + 1)
    rows = []
    for user in range(1, USERS + 1):
        size = int(draw.integers(5, 60))
        films = 1 + draw.choice(FILMS, size, replace=False, p=appeal / appeal.sum())
        stars = draw.integers(4, 11, size) / 2
        seconds = START + 50_000 * user + np.sort(draw.integers(0, size // 2, size))
        rows += list(zip([user] * size, films, stars, seconds, strict=True))
    return rows


if __name__ == "__main__":
    with (HERE / "ratings.csv").open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(["userId", "movieId", "rating", "timestamp"])
        writer.writerows(ratings(np.random.default_rng(7)))
