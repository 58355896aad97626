"""Cases to score: many at random, and a few literal ones that show where tools part.

A case is plain JSON: k; lists, user -> items, best first; truth, user -> [item, grade] rows;
train, [user, item] rows; catalogue, the items that may be recommended; attributes, item -> numbers;
and scores, user -> item -> score, or null where the lists have none.
"""

from collections.abc import Iterator

import numpy as np

ODD_ITEMS = ["00", "01", "1.0", "1e3", "-1", "+1", "nan", "None", "true", "x-y", "x_y", "x.y"]
ITEMS = [*ODD_ITEMS, *"01aAbBeéßЖ中#"]
TRAIN = [["p", "a"], ["q", "a"], ["q", "b"], ["r", "c"]]
ATTRIBUTES = {"a": [1, 0], "b": [0, 1], "c": [1, 1], "d": [3, 4]}


def literal(
    lists: dict[str, str | dict[str, float]], truth: dict[str, str | dict[str, int]], k: int
) -> dict:
    """Return a case whose items are letters: words, or letters with scores and with grades."""
    scored = any(isinstance(word, dict) for word in lists.values())
    graded = {
        user: [[i, rows[i] if isinstance(rows, dict) else 1] for i in rows]
        for user, rows in truth.items()
    }
    return {
        "k": k,
        "lists": {user: list(word) for user, word in lists.items()},
        "scores": lists if scored else None,
        "truth": graded,
        "train": TRAIN,
        "catalogue": list("abcd"),
        "attributes": ATTRIBUTES,
    }


def at_random(seed: int, number: int) -> Iterator[dict]:
    """Yield cases; a third each has repeats, lists of many lengths, repeated truth, grades."""
    for rng in np.random.default_rng(seed).spawn(number):
        yield _draw(rng)


def _draw(rng: np.random.Generator) -> dict:
    k, n_users = int(rng.integers(1, 13)), int(rng.integers(1, 31))
    catalogue = rng.permutation(ITEMS)[: rng.integers(4, len(ITEMS) + 1)].tolist()
    users = [f"u{number:02}" for number in rng.permutation(n_users)]
    repeats, ragged, repeated_truth, graded = rng.random(4) < 1 / 3
    length = rng.integers(1, k + 4, n_users) if ragged else np.full(n_users, k + 1)
    lists = {
        user: _items(rng, catalogue, n, repeats) for user, n in zip(users, length, strict=True)
    }
    truth = {user: _truth(rng, catalogue, repeated_truth, graded) for user in users}
    _remove_some(rng, lists, truth)
    return {
        "k": k,
        "lists": lists,
        "scores": None,
        "truth": truth,
        "train": [
            [f"t{u}", item] for u in range(rng.integers(2, 9)) for item in _train(rng, catalogue)
        ],
        "catalogue": catalogue,
        "attributes": {item: [1, *rng.integers(-3, 4, 2).tolist()] for item in catalogue},
    }


def _items(rng: np.random.Generator, catalogue: list[str], n: int, repeats: bool) -> list[str]:
    """Draw a list; without repeats it cannot be longer than the catalogue."""
    size = n if repeats else min(n, len(catalogue))
    return rng.choice(catalogue, size, replace=bool(repeats)).tolist()


def _truth(rng: np.random.Generator, catalogue: list[str], repeats: bool, graded: bool) -> list:
    """Draw from one to 15 rows; grades from 0 to 4, the first above 0, or all 1."""
    n = int(rng.integers(1, min(15, len(catalogue)) + 1))
    items = rng.choice(catalogue, n, replace=bool(repeats and not graded)).tolist()
    grades = rng.integers(0, 5, n) if graded else np.ones(n, int)
    grades[0] = max(grades[0], 1)
    return [[item, int(grade)] for item, grade in zip(items, grades, strict=True)]


def _remove_some(rng: np.random.Generator, lists: dict, truth: dict) -> None:
    """In a third of the cases each, users lose their list, get an empty one, or lose the truth."""
    gone, empty, unknown = rng.random(3) < 1 / 3
    for user in list(truth)[1:]:  # one user keeps both
        chance = rng.random(3)
        if empty and chance[0] < 0.2:
            lists[user] = []
        if gone and chance[1] < 0.2:
            del lists[user]
        elif unknown and chance[2] < 0.2:
            del truth[user]


def _train(rng: np.random.Generator, catalogue: list[str]) -> list[str]:
    """Draw a training user's items, some of them bought again."""
    return rng.choice(catalogue, int(rng.integers(1, 2 * len(catalogue)))).tolist()
