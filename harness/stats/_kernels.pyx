# cython: boundscheck=False
"""Loops over resamples of users; whole numbers wrap around, as SplitMix64 wants."""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t

from harness.core._vector cimport add_signed_by, add_weighed, draw_weights, mixed

cdef double ROUNDING = 1e-12


def add_drawn(
    uint64_t key,
    const uint64_t[::1] users,
    const uint16_t[:, ::1] below,
    const int64_t[::1] indptr,
    const int32_t[::1] columns,
    const double[::1] numbers,
    uint16_t[:, :, ::1] weights,
    int64_t[:, :, ::1] sums,
    int64_t[:, ::1] drawn,
):
    """Add Σ over users of weight · number to sums[kind, column, 0 to 63], Σ of weights to `drawn`.

    `users` are hashes; a weight follows from one and the key alone. `below` is 65,536 times the
    chance of a weight of 1, 2, … or more, (kinds, 1) or (kinds, 8). Rows of CSR, a row a user, hold
    whole numbers up to 2^48. Scratch memory, `weights`, (kinds, users at a time, 64), stays in the
    processor's nearest cache where these are few.
    """
    cdef Py_ssize_t start = 0, kind, user, n, low, high
    with nogil:
        while start < users.shape[0]:
            n = min(weights.shape[1], users.shape[0] - start)
            draw_weights(
                &users[start], key, n, &below[0, 0], below.shape[0], below.shape[1],
                &weights[0, 0, 0], &drawn[0, 0],
            )
            for kind in range(below.shape[0]):
                for user in range(n):
                    low, high = indptr[start + user], indptr[start + user + 1]
                    if high > low:
                        add_weighed(
                            <uint64_t*>&sums[kind, 0, 0],
                            &weights[0, 0, 0] + 64 * (n * kind + user),
                            &columns[low], &numbers[low], high - low,
                        )
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

    `users` are hashes; the signs follow from one and the key alone. CSR has a row a user.
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
    double[:, ::1] law,
):
    """Write mean, variance, third cumulant and the chance of no hit to law[0 to 3, case].

    They are of S = Σ over hits of at_rank[i] · at_hit[h]; held[m, h] is E[S^m; h hits so far]. A
    candidate of the N − i left is one of the r − h true ones left with the chance p; S then grows
    by g, and S^m by the binomial theorem. `held`, (4, len(at_hit) + 1), is scratch memory.
    """
    cdef Py_ssize_t case, i, h, m, most
    cdef double p, g, zero, one, two, three, mean, square, cube, var, third
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
            var = square - mean * mean
            third = cube - 3 * mean * square + 2 * (mean * mean * mean)
            if var < ROUNDING * mean * mean:  # all lists score the same; rounding must not hide it
                var = third = 0.0
            law[0, case], law[1, case], law[2, case], law[3, case] = mean, var, third, held[0, 0]
