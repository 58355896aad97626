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
def draw_again(keys: Any, picks: Any, rows: int, weights: Any) -> None:
    """Write how often each of `rows` is drawn when resample i draws picks[i] with replacement.

    Lemire 2019: 32 random bits times `rows` give a row without a division; the few products that
    would favour some rows are drawn anew.
    """
    many = np.uint64(rows)
    unfair = np.uint64(1 << 32) % many
    for i in range(len(keys)):
        state = keys[i]
        for j in range(rows):
            weights[i, j] = 0
        for _ in range(picks[i]):
            while True:
                state += _GOLDEN
                product = (_mixed(state) >> _HALF) * many
                if (product & _LOW) >= unfair:
                    break
            # A row is drawn once on average: 255 times does not happen.
            weights[i, np.int64(product >> _HALF)] += np.uint8(1)


@compiled
def draw_once(keys: Any, picks: Any, rows: int, weights: Any) -> None:
    """Write 1 for picks[i] of `rows`, each set of so many equally likely, and 0 for the others."""
    many = np.uint64(rows)
    unfair = np.uint64(1 << 32) % many
    for i in range(len(keys)):
        state = keys[i]
        fewer = min(picks[i], rows - picks[i])  # chosen, or left out
        chosen = np.uint8(picks[i] == fewer)
        for j in range(rows):
            weights[i, j] = np.uint8(1) - chosen
        drawn = 0
        while drawn < fewer:
            state += _GOLDEN
            product = (_mixed(state) >> _HALF) * many
            row = np.int64(product >> _HALF)
            if (product & _LOW) >= unfair and weights[i, row] != chosen:
                weights[i, row] = chosen
                drawn += 1


@compiled
def add_weighted(indptr: Any, columns: Any, values: Any, weights: Any, sums: Any) -> None:
    """Add Σ over rows of weight · value to sums[column, resample]; values are CSR."""
    lanes = len(weights)
    weight = np.empty(lanes)
    for row in range(len(indptr) - 1):
        for lane in range(lanes):
            weight[lane] = weights[lane, row]
        for t in range(indptr[row], indptr[row + 1]):
            value, column = values[t], columns[t]
            for lane in range(lanes):
                sums[column, lane] += value * weight[lane]


@compiled
def add_signed(keys: Any, indptr: Any, columns: Any, values: Any, sums: Any) -> None:
    """Add Σ over rows of ±value to sums[column, lane]; a row's random bits are its signs."""
    lanes = sums.shape[1]
    sign = np.empty(lanes)
    state = keys[0]
    for row in range(len(indptr) - 1):
        state += _GOLDEN
        bits = _mixed(state)
        for lane in range(lanes):
            sign[lane] = 1.0 - 2.0 * np.float64((bits >> np.uint64(lane)) & np.uint64(1))
        for t in range(indptr[row], indptr[row + 1]):
            value, column = values[t], columns[t]
            for lane in range(lanes):
                sums[column, lane] += value * sign[lane]
