"""Bytes and keys, for the compiled modules beside this one."""

cimport cython
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy

cdef extern from *:
    """
    #ifdef _MSC_VER
    #include <intrin.h>
    static __inline int zeros_below(uint64_t number) {
        unsigned long at; _BitScanForward64(&at, number); return (int)at;
    }
    #else
    static inline int zeros_below(uint64_t number) { return __builtin_ctzll(number); }
    #endif
    """
    int zeros_below(uint64_t number) noexcept nogil

cpdef enum:
    PAD = 64  # bytes behind the last of a buffer that may be read
    SHORT = 16  # bytes from which a text's key is made alone


cdef inline uint64_t eight(const uint8_t* place) noexcept nogil:
    """Return eight bytes as one number, the first of them lowest."""
    cdef uint64_t number
    memcpy(&number, place, 8)
    return number


cdef inline int check(const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop) except -1 nogil:
    """Raise IndexError unless PAD bytes can be read from every place before `stop`."""
    if start < 0 or stop > buffer.shape[0] - PAD:
        raise IndexError(f"bytes {start} to {stop} of a buffer of {buffer.shape[0]}")
    return 0


cdef inline void ends_of(
    const uint8_t* text, Py_ssize_t length, uint64_t* first, uint64_t* last
) noexcept nogil:
    """Write a text below SHORT bytes as `short_keys` takes it."""
    cdef uint64_t rest = eight(text + (length & 8))
    first[0] = eight(text)
    last[0] = <uint64_t>length << 56 | rest & ((<uint64_t>1 << (length & 7) * 8) - 1)


cdef inline uint64_t is_zero(uint64_t bytes) noexcept nogil:
    """Return a mark in the lowest byte that is zero, and perhaps in higher ones."""
    return (bytes - <uint64_t>0x0101010101010101u) & ~bytes & <uint64_t>0x8080808080808080u


cdef inline uint64_t repeated(uint8_t byte) noexcept nogil:
    return byte * <uint64_t>0x0101010101010101u


cdef inline bint same(const uint8_t* one, const uint8_t* other, Py_ssize_t length) noexcept nogil:
    """Return whether two texts of a length are the same; eight bytes can be read from any place."""
    cdef Py_ssize_t at = 0
    while at + 8 <= length:
        if eight(one + at) != eight(other + at):
            return False
        at += 8
    if at == length:
        return True
    return (eight(one + at) ^ eight(other + at)) << (8 * (8 - length + at)) == 0


cdef inline Py_ssize_t find(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, uint8_t wanted
) except -1 nogil:
    """Return the first place from `start` that holds a byte, or `stop`."""
    check(buffer, start, stop)
    return find_in(&buffer[0], start, stop, wanted, wanted)


cdef inline Py_ssize_t find_either(
    const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t stop, uint8_t one, uint8_t other
) except -1 nogil:
    """Return the first place from `start` that holds one of two bytes, or `stop`."""
    check(buffer, start, stop)
    return find_in(&buffer[0], start, stop, one, other)


cdef inline Py_ssize_t find_in(
    const uint8_t* bytes, Py_ssize_t start, Py_ssize_t stop, uint8_t one, uint8_t other
) noexcept nogil:
    """Do the same where eight bytes can be read from every place before `stop`."""
    cdef uint64_t ones = repeated(one), others = repeated(other), marks, found
    cdef Py_ssize_t at = start
    while at < stop:
        found = eight(bytes + at)
        marks = is_zero(found ^ ones) | is_zero(found ^ others)
        if marks != 0:
            return min(stop, at + (zeros_below(marks) >> 3))
        at += 8
    return stop


cdef inline uint64_t left(uint64_t number, int bits) noexcept nogil:
    """Return a number with its bits moved to the left, those that fall off at the right."""
    return number << bits | number >> (64 - bits)


cdef struct State:
    uint64_t a, b, c, d


cdef inline void mix(State* s) noexcept nogil:
    """Do a round of SipHash."""
    s.a += s.b
    s.c += s.d
    s.b = left(s.b, 13) ^ s.a
    s.d = left(s.d, 16) ^ s.c
    s.a = left(s.a, 32) + s.d
    s.c += s.b
    s.d = left(s.d, 21) ^ s.a
    s.b = left(s.b, 17) ^ s.c
    s.c = left(s.c, 32)


cdef inline int key(
    const uint8_t[::1] buffer,
    Py_ssize_t start,
    Py_ssize_t stop,
    uint64_t low,
    uint64_t high,
    uint64_t* found,
) except -1 nogil:
    """Write the key of the bytes from `start` to `stop`, two numbers, made with a secret."""
    check(buffer, start, stop)
    key_in(&buffer[0], start, stop, low, high, found)
    return 0


cdef inline void key_in(
    const uint8_t* bytes,
    Py_ssize_t start,
    Py_ssize_t stop,
    uint64_t low,
    uint64_t high,
    uint64_t* found,
) noexcept nogil:
    """Do the same where eight bytes can be read from every place before `stop`."""
    cdef State s
    cdef uint64_t last = <uint64_t>(stop - start) << 56, own
    cdef Py_ssize_t at = start
    s.a, s.b = low ^ <uint64_t>0x736F6D6570736575u, high ^ <uint64_t>0x646F72616E646F6Du
    s.c, s.d = low ^ <uint64_t>0x6C7967656E657261u, high ^ <uint64_t>0x7465646279746573u
    while at + 8 <= stop:
        own = eight(bytes + at)
        s.d ^= own
        mix(&s)
        s.a ^= own
        at += 8
    if at < stop:
        last |= eight(bytes + at) & ((<uint64_t>1 << (8 * (stop - at))) - 1)
    s.d ^= last
    mix(&s)
    s.a ^= last
    s.c ^= 0xFF
    mix(&s)
    mix(&s)
    mix(&s)
    found[0], found[1] = s.a ^ s.b ^ s.c ^ s.d, s.a ^ s.c
