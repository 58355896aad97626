# cython: cdivision=True
"""BLAKE2b of rows of bytes (RFC 7693, without a key), and rows that are lists of texts."""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from harness.core._vector cimport blake_blocks

cdef enum:
    TOGETHER = 8  # rows that are hashed side by side
    BLOCK = 128
    NUMBER = 8  # bytes of a number, the lowest first

cdef uint64_t ALL = 0xFFFFFFFFFFFFFFFFu
cdef uint64_t[8] BEGIN = [
    0x6A09E667F3BCC908u, 0xBB67AE8584CAA73Bu, 0x3C6EF372FE94F82Bu, 0xA54FF53A5F1D36F1u,
    0x510E527FADE682D1u, 0x9B05688C2B3E6C1Fu, 0x1F83D9ABFB41BD6Bu, 0x5BE0CD19137E2179u,
]


def digests(const uint8_t[::1] text, const int64_t[::1] starts, uint8_t[:, ::1] out):
    """Write the digest of each row, text[starts[i]:starts[i + 1]]; `out` has 1 to 64 columns."""
    cdef Py_ssize_t row, rows = out.shape[0]
    cdef const uint8_t* bytes
    if not 1 <= out.shape[1] <= 64:
        raise ValueError(f"a digest has 1 to 64 bytes, not {out.shape[1]}")
    if starts.shape[0] != rows + 1:
        raise ValueError(f"{starts.shape[0]} starts of {rows} rows")
    with nogil:
        for row in range(rows):
            check(starts[row], starts[row + 1], text.shape[0])
        with cython.boundscheck(False):  # a text of nothing too
            bytes = &text[0]
        for row in range(0, rows, 8):
            few(bytes, starts, row, min(row + TOGETHER, rows), out)


cdef inline int check(int64_t start, int64_t stop, Py_ssize_t size) except -1 nogil:
    """Raise IndexError unless bytes lie within a text."""
    if not 0 <= start <= stop <= size:
        raise IndexError(f"bytes {start} to {stop} of {size}")
    return 0


@cython.boundscheck(False)
cdef void few(
    const uint8_t* text,
    const int64_t[::1] starts,
    Py_ssize_t row,
    Py_ssize_t stop,
    uint8_t[:, ::1] out,
) noexcept nogil:
    """Write the digests of up to eight rows from `row`; those that end earlier wait for the others."""
    cdef uint64_t[8][TOGETHER] states
    cdef uint64_t[16][TOGETHER] words
    cdef uint64_t[TOGETHER] counts, lasts, there
    cdef int64_t size, done = 0, longest = 0
    cdef Py_ssize_t i
    begin(states, out.shape[1])
    memset(words, 0, sizeof(words))
    for i in range(row, stop):
        longest = max(longest, starts[i + 1] - starts[i])
    while True:
        for i in range(TOGETHER):
            size = starts[row + i + 1] - starts[row + i] if row + i < stop else 0
            counts[i] = min(size, done + BLOCK)
            lasts[i] = ALL if size <= done + BLOCK else 0
            there[i] = ALL if size > done or done == 0 else 0
            if size > done:
                load(text + starts[row + i] + done, size - done, words, i)
        blake_blocks(states, words, counts, lasts, there)
        done += BLOCK
        if done >= longest:
            break
    for i in range(row, stop):
        finish(states, i - row, &out[i, 0], out.shape[1])


cdef inline void begin(uint64_t[TOGETHER]* states, Py_ssize_t size) noexcept nogil:
    """Write the state that digests of a size begin with."""
    cdef Py_ssize_t word, i
    for word in range(8):
        for i in range(TOGETHER):
            states[word][i] = BEGIN[word] ^ (0x01010000 ^ <uint64_t>size if word == 0 else 0)


cdef inline void load(
    const uint8_t* text, int64_t size, uint64_t[TOGETHER]* words, Py_ssize_t i
) noexcept nogil:
    """Write a block as the words of row i, zeros behind its end."""
    cdef uint64_t[16] block
    cdef Py_ssize_t word
    if size < BLOCK:
        memset(block, 0, BLOCK)
    memcpy(block, text, min(size, BLOCK))
    for word in range(16):
        words[word][i] = block[word]


cdef inline void finish(
    uint64_t[TOGETHER]* states, Py_ssize_t i, uint8_t* out, Py_ssize_t size
) noexcept nogil:
    """Write the digest of row i."""
    cdef uint64_t[8] digest
    cdef Py_ssize_t word
    for word in range(8):
        digest[word] = states[word][i]
    memcpy(out, digest, size)


def lengths(
    const int64_t[::1] starts,
    const int[::1] items,
    const int64_t[::1] ends,
    int64_t[::1] found,
):
    """Add the bytes that `write` needs for each list, items[ends[i]:ends[i + 1]]."""
    cdef Py_ssize_t row, at
    with nogil:
        for row in range(found.shape[0]):
            found[row] += NUMBER
            for at in range(ends[row], ends[row + 1]):
                found[row] += NUMBER + starts[items[at] + 1] - starts[items[at]]


def write(
    const uint8_t[::1] text,
    const int64_t[::1] starts,
    const int[::1] items,
    const int64_t[::1] ends,
    int64_t[::1] free,
    uint8_t[::1] out,
):
    """Write each list where its row has room, from free[i] on, and move that behind it.

    A list is the number of its texts, and each text's length in bytes and its bytes.
    """
    cdef Py_ssize_t row, at
    cdef int64_t start, size
    with nogil:
        for row in range(free.shape[0]):
            free[row] = put(ends[row + 1] - ends[row], out, free[row])
            for at in range(ends[row], ends[row + 1]):
                start = starts[items[at]]
                size = starts[items[at] + 1] - start
                check(start, start + size, text.shape[0])
                free[row] = put(size, out, free[row])
                check(free[row], free[row] + size, out.shape[0])
                if size > 0:
                    memcpy(&out[free[row]], &text[start], size)
                free[row] += size


cdef inline int64_t put(uint64_t number, uint8_t[::1] out, int64_t at) except -1 nogil:
    """Write a number; return the place behind it."""
    check(at, at + NUMBER, out.shape[0])
    memcpy(&out[at], &number, NUMBER)
    return at + NUMBER
