# cython: boundscheck=False
"""Loops over resamples of users; whole numbers wrap around, as SplitMix64 wants."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

from harness.core._vector cimport (
    add_scaled_double, add_signed_by, add_weighed, draw_ahead, draw_weights, mixed
)

cdef uint64_t GOLDEN = 0x9E3779B97F4A7C15u
cdef uint64_t LOW = 0xFFFFFFFFu
cdef enum:
    AHEAD = 64  # numbers that are made at once: none depends on another
    LANES = 64  # resamples whose sums are updated by one step
    FEW = 16  # users whose weights stay in the processor's nearest cache


def draw_once(
    const uint64_t[::1] keys,
    Py_ssize_t picks,
    const int64_t[::1] rows,
    uint8_t[::1] drawn,
    uint8_t[:, ::1] weights,
):
    """Write 1 for those among `picks` of the users, all sets of so many equally likely, else 0.

    Lemire 2019: 32 random bits times the number of users give a user without a division; the few
    products that would favour some users are drawn anew.

    Parameters
    ----------
    drawn : array, (users,)
        Scratch memory.
    """
    cdef Py_ssize_t users = drawn.shape[0]
    cdef uint64_t many = users, state
    cdef uint64_t unfair = (<uint64_t>1 << 32) % many
    cdef uint64_t high[AHEAD]
    cdef uint64_t low[AHEAD]
    cdef Py_ssize_t fewer = min(picks, users - picks)  # chosen, or left out
    cdef uint8_t chosen = picks == fewer
    cdef Py_ssize_t i, user, row, left
    cdef int each, states
    cdef bint both
    with nogil:
        for i in range(keys.shape[0]):
            state = keys[i]
            for user in range(users):
                drawn[user] = 1 - chosen
            left = fewer
            while left > 0:
                states, both = (AHEAD if left >= 2 * AHEAD else 1), left > 1
                draw_ahead(state, many, high, low, states)
                state += states * GOLDEN
                for each in range(states):
                    if (high[each] & LOW) >= unfair:
                        left -= drawn[high[each] >> 32] != chosen
                        drawn[high[each] >> 32] = chosen
                    if both and (low[each] & LOW) >= unfair:
                        left -= drawn[low[each] >> 32] != chosen
                        drawn[low[each] >> 32] = chosen
            for row in range(rows.shape[0]):
                weights[i, row] = drawn[rows[row]]


def add_weighted(
    const int64_t[::1] indptr,
    const int32_t[::1] columns,
    const double[::1] values,
    const uint8_t[:, ::1] weights,
    double[::1] weight,
    double[:, ::1] sums,
):
    """Add Σ over rows of weight · value to sums[column, resample]; `values` are rows of CSR.

    Parameters
    ----------
    weight : array, (resamples,)
        Scratch memory.
    """
    cdef Py_ssize_t lanes = weights.shape[0], row, lane, t
    with nogil:
        for row in range(indptr.shape[0] - 1):
            for lane in range(lanes):
                weight[lane] = weights[lane, row]
            for t in range(indptr[row], indptr[row + 1]):
                add_scaled_double(&sums[columns[t], 0], &weight[0], values[t], lanes)


def add_drawn(
    uint64_t key,
    const uint64_t[::1] users,
    const uint16_t[::1] below,
    const int64_t[::1] indptr,
    const int32_t[::1] columns,
    const double[::1] numbers,
    int64_t[:, ::1] sums,
    int64_t[::1] drawn,
):
    """Add Σ over users of weight · number to sums[column, 0 to 63], and Σ of weights to `drawn`.

    Parameters
    ----------
    users : array, (users,)
        Hashes; a weight follows from one and the key alone.
    below : array, (8,)
        65,536 times the chance of a weight of 1, 2, … or more.
    numbers : array
        Rows of CSR, a row a user; whole numbers up to 2^48.
    """
    cdef uint16_t weights[FEW * LANES]
    cdef uint16_t few[LANES]
    cdef Py_ssize_t start = 0, user, n, lane, low, high
    cdef uint64_t* to = <uint64_t*>&sums[0, 0]
    with nogil:
        while start < users.shape[0]:
            n = min(FEW, users.shape[0] - start)
            for lane in range(LANES):
                few[lane] = 0
            draw_weights(&users[start], key, n, &below[0], weights, few)
            for lane in range(LANES):
                drawn[lane] += few[lane]
            for user in range(n):
                low, high = indptr[start + user], indptr[start + user + 1]
                if high > low:
                    add_weighed(to, &weights[LANES * user], &columns[low], &numbers[low], high - low)
            start += n


def add_signed(
    uint64_t key,
    const uint64_t[::1] users,
    const int64_t[::1] indptr,
    const int32_t[::1] columns,
    const int64_t[::1] numbers,
    int64_t[:, ::1] sums,
):
    """Add Σ over users of ±number to sums[column, 0 to 63]; a user's random bits are the signs.

    Parameters
    ----------
    users : array, (users,)
        Hashes; the signs follow from one and the key alone.
    numbers : array
        Rows of CSR, a row a user.
    """
    cdef Py_ssize_t user, low, high
    cdef uint64_t* to = <uint64_t*>&sums[0, 0]
    with nogil:
        for user in range(users.shape[0]):
            low, high = indptr[user], indptr[user + 1]
            if high > low:
                add_signed_by(to, mixed(users[user] ^ key), &columns[low], &numbers[low], high - low)


def walk(
    const int64_t[::1] n,
    const int64_t[::1] r,
    const int64_t[::1] places,
    const double[::1] at_rank,
    const double[::1] at_hit,
    double[:, ::1] held,
    double[::1] third,
):
    """Write E[(S − E S)³] of S = Σ over hits of at_rank[i] · at_hit[h], case by case.

    held[m, h] is E[S^m; h hits so far]. A candidate of the N − i left is one of the r − h true
    ones left with the chance p; S then grows by g, and S^m by the binomial theorem.

    Parameters
    ----------
    held : array, (4, len(at_hit) + 1)
        Scratch memory.
    """
    cdef Py_ssize_t case, i, h, m, most
    cdef double p, g, zero, one, two, three, mean, square, cube
    with nogil:
        for case in range(n.shape[0]):
            held[:] = 0.0
            held[0, 0] = 1.0
            most = min(r[case], places[case])
            for i in range(places[case]):
                for h in range(min(i, most), -1, -1):
                    p = <double>(r[case] - h) / <double>(n[case] - i)
                    if h < most:
                        g = at_rank[i] * at_hit[h]
                        zero, one, two, three = held[0, h], held[1, h], held[2, h], held[3, h]
                        held[0, h + 1] += p * zero
                        held[1, h + 1] += p * (one + g * zero)
                        held[2, h + 1] += p * (two + 2 * g * one + g * g * zero)
                        held[3, h + 1] += p * (
                            three + 3 * g * two + 3 * g * g * one + g * g * g * zero
                        )
                    for m in range(4):
                        held[m, h] *= 1 - p
            mean = square = cube = 0.0
            for h in range(held.shape[1]):
                mean += held[1, h]
                square += held[2, h]
                cube += held[3, h]
            third[case] = cube - 3 * mean * square + 2 * (mean * mean * mean)
            if r[case] == 0 or r[case] == n[case]:
                third[case] = 0.0  # all lists score the same; rounding must not hide it
