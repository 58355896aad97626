"""Time neighbours chosen by item and by candidate.

``python benchmarks/neighbours.py``; a random matrix of users × items, cosines, in all threads.
"""

import statistics

import numpy as np
from measure import Bound, announce, bounds, interleaved, once, sized, spread, table
from scipy.sparse import csr_array

from harness.models.neighbours import ItemNeighbours
from harness.models.similarity import Documents, documents

USERS, ITEMS, ENTRIES = sized((100_000, 20_000, 5_000_000), (500, 100, 5_000))
NEIGHBOURS = 100
ROUNDS = sized(5, 1)


def main() -> None:
    announce()
    matrix = made_up()
    print(f"{USERS:,} users × {ITEMS:,} items, {matrix.nnz:,} entries; {NEIGHBOURS} neighbours.")
    print(f"Medians of {ROUNDS} rounds in turn.\n")
    chosen = neighbours(documents(matrix.T, "cosine", {}))
    table(
        ("", "seconds", "between"),
        [
            (name, f"{statistics.median(seconds):.2f}", spread(seconds))
            for name, seconds in chosen.items()
        ],
    )
    by_item, by_candidate = (statistics.median(chosen[of]) for of in ("by item", "by candidate"))
    bounds(Bound("by candidate ÷ by item", by_candidate / by_item, 1.5))


def made_up() -> csr_array:
    """Return users with items that are drawn alike, each pair once."""
    draw = np.random.default_rng(0)
    pairs = draw.integers(0, USERS, ENTRIES), draw.integers(0, ITEMS, ENTRIES)
    matrix = csr_array((np.ones(ENTRIES, np.float32), pairs), shape=(USERS, ITEMS))
    matrix.data[:] = 1
    return matrix


def neighbours(items: Documents) -> dict[str, list[float]]:
    every = np.arange(ITEMS, dtype=np.int32)
    calls = {
        f"by {of}{', normalized' if normalize else ''}": lambda of=of, normalize=normalize: once(
            lambda: ItemNeighbours(neighbours_of=of, normalize=normalize).item_votes(
                items, every, NEIGHBOURS
            )
        )
        for of in ("item", "candidate")
        for normalize in (False, True)
    }
    return interleaved(calls, ROUNDS)


if __name__ == "__main__":
    main()
