"""The compiled loops of resampling: weights drawn for many resamples, and sums under them.

A resample is a stream of SplitMix64 (Steele, Lea and Flood 2014) that starts at its own key, so
what it draws depends on nothing else. This module imports numba when a loop is first called.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.compiled import compiled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@compiled
def _mixed(state: Any) -> Any:
    """Return SplitMix64's output function."""
    state = (state ^ (state >> np.uint64(30))) * _FIRST
    state = (state ^ (state >> np.uint64(27))) * _SECOND
    return state ^ (state >> np.uint64(31))


@compiled
def draw_again(keys: Any, users: int, picks: int, weights: Any) -> None:
    """Write how often each user is drawn when every resample draws `picks` with replacement.

    Lemire 2019: 32 random bits times the number of users give a user without a division; the few
    products that would favour some users are drawn anew.
    """
    many = np.uint64(users)
    unfair = np.uint64(1 << 32) % many
    for i in range(len(keys)):
        state = keys[i]
        for user in range(users):
            weights[i, user] = 0
        left = picks
        while left > 0:
            state += _GOLDEN
            bits = _mixed(state)
            for _ in range(min(left, 2)):  # a number is two draws
                product = (bits >> _HALF) * many
                bits <<= _HALF
                if (product & _LOW) >= unfair:
                    # A user is drawn once on average: 255 times does not happen.
                    weights[i, np.int64(product >> _HALF)] += np.uint8(1)
                    left -= 1


@compiled
def draw_once(keys: Any, users: int, picks: int, weights: Any) -> None:
    """Write 1 for `picks` of the users, all sets of so many equally likely, 0 for the others."""
    many = np.uint64(users)
    unfair = np.uint64(1 << 32) % many
    fewer = min(picks, users - picks)  # chosen, or left out
    chosen = np.uint8(picks == fewer)
    for i in range(len(keys)):
        state = keys[i]
        for user in range(users):
            weights[i, user] = np.uint8(1) - chosen
        drawn = 0
        while drawn < fewer:
            state += _GOLDEN
            bits = _mixed(state)
            for _ in range(min(fewer - drawn, 2)):
                product = (bits >> _HALF) * many
                bits <<= _HALF
                one = np.int64(product >> _HALF)
                if (product & _LOW) >= unfair and weights[i, one] != chosen:
                    weights[i, one] = chosen
                    drawn += 1


@compiled
def add_weighted(
    rows: Any, indptr: Any, columns: Any, values: Any, weights: Any, sums: Any
) -> None:
    """Add Σ over users of weight · value to sums[column, resample]; `values` are rows of CSR."""
    lanes = len(weights)
    weight = np.empty(lanes)
    for row in range(len(rows)):
        for lane in range(lanes):
            weight[lane] = weights[lane, rows[row]]
        for t in range(indptr[row], indptr[row + 1]):
            value, column = values[t], columns[t]
            for lane in range(lanes):
                sums[column, lane] += value * weight[lane]


@compiled
def add_signed(keys: Any, rows: Any, indptr: Any, columns: Any, values: Any, sums: Any) -> None:
    """Add Σ over users of ±value to sums[column, lane]; a user's random bits are the signs."""
    lanes = sums.shape[1]
    sign = np.empty(lanes)
    for row in range(len(rows)):
        bits = _mixed(keys[0] + np.uint64(rows[row] + 1) * _GOLDEN)
        for lane in range(lanes):
            sign[lane] = 1.0 - 2.0 * np.float64((bits >> np.uint64(lane)) & np.uint64(1))
        for t in range(indptr[row], indptr[row + 1]):
            value, column = values[t], columns[t]
            for lane in range(lanes):
                sums[column, lane] += value * sign[lane]
