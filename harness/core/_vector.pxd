"""Loops that the compiler also makes for processors with AVX2, which is chosen when they are run.

Wider registers change no bit: each element has its own product and sum, rounded one after the
other, and counts are whole numbers.
"""

cimport cython
from libc.stdint cimport int32_t, uint8_t, uint64_t

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>

    /* glibc chooses; AddressSanitizer is not ready when it does. */
    #if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) \\
        && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
    #define FOR_EVERY_PROCESSOR __attribute__((unused, target_clones("avx2", "default")))
    #elif defined(__GNUC__)
    #define FOR_EVERY_PROCESSOR __attribute__((unused))
    #else
    #define FOR_EVERY_PROCESSOR
    #endif

    FOR_EVERY_PROCESSOR static void add_scaled_double(
        double *__restrict to, const double *__restrict from, double factor, ptrdiff_t n)
    {
        for (ptrdiff_t i = 0; i < n; i++) to[i] += factor * from[i];
    }

    FOR_EVERY_PROCESSOR static void add_scaled_float(
        float *__restrict to, const float *__restrict from, float factor, ptrdiff_t n)
    {
        for (ptrdiff_t i = 0; i < n; i++) to[i] += factor * from[i];
    }

    /* ±number to 64 sums: negative where a bit is set. */
    FOR_EVERY_PROCESSOR static void add_signed_by(double *__restrict to, double number, uint64_t bits)
    {
        uint64_t held;
        memcpy(&held, &number, sizeof held);
        for (int i = 0; i < 64; i++) {
            uint64_t changed = held ^ (bits << (63 - i) & (uint64_t)1 << 63);
            double term;
            memcpy(&term, &changed, sizeof term);
            to[i] += term;
        }
    }

    /* Flag where each of m numbers stands first among n; 64 are compared before one is looked for. */
    FOR_EVERY_PROCESSOR static int flag_ints(
        const int *numbers, ptrdiff_t n, const int *wanted, ptrdiff_t m, uint8_t *flags)
    {
        int found = 0;
        for (ptrdiff_t one = 0; one < m; one++) {
            const int number = wanted[one];
            for (ptrdiff_t start = 0; start < n; start += 64) {
                ptrdiff_t end = start + 64 < n ? start + 64 : n;
                int present = 0;
                for (ptrdiff_t i = start; i < end; i++) present |= numbers[i] == number;
                if (!present) continue;
                while (numbers[start] != number) start++;
                flags[start] = 1;
                found++;
                break;
            }
        }
        return found;
    }

    FOR_EVERY_PROCESSOR static ptrdiff_t count_byte(const uint8_t *bytes, ptrdiff_t n, uint8_t byte)
    {
        ptrdiff_t found = 0;
        for (ptrdiff_t i = 0; i < n; i++) found += bytes[i] == byte;
        return found;
    }

    /* Of n bytes, behind which one more can be read. */
    FOR_EVERY_PROCESSOR static void count_odd(
        const uint8_t *bytes, ptrdiff_t n, ptrdiff_t *returns, ptrdiff_t *nuls, ptrdiff_t *beyond)
    {
        ptrdiff_t alone = 0, zeros = 0, high = 0;
        for (ptrdiff_t i = 0; i < n; i++) {
            alone += (bytes[i] == 13) & (bytes[i + 1] != 10);
            zeros += bytes[i] == 0;
            high += bytes[i] >= 128;
        }
        *returns = alone; *nuls = zeros; *beyond = high;
    }
    """
    void add_scaled_double(double* to, const double* of, double factor, Py_ssize_t n) noexcept nogil
    void add_scaled_float(float* to, const float* of, float factor, Py_ssize_t n) noexcept nogil
    void add_signed_by(double* to, double number, uint64_t bits) noexcept nogil
    int flag_ints(
        const int* numbers, Py_ssize_t n, const int* wanted, Py_ssize_t m, uint8_t* flags
    ) noexcept nogil
    Py_ssize_t count_byte(const uint8_t* bytes, Py_ssize_t n, uint8_t byte) noexcept nogil
    void count_odd(
        const uint8_t* bytes, Py_ssize_t n, Py_ssize_t* returns, Py_ssize_t* nuls, Py_ssize_t* beyond
    ) noexcept nogil

ctypedef fused Real:
    float
    double


cdef inline void add_scaled(
    Real[::1] to, const Real[:, ::1] of, Py_ssize_t row, Py_ssize_t begin, Py_ssize_t n, Real factor
) noexcept nogil:
    """Add a piece of a row, scaled, to the first n numbers."""
    if Real is double:
        add_scaled_double(&to[0], &of[row, begin], factor, n)
    else:
        add_scaled_float(&to[0], &of[row, begin], factor, n)


cdef inline int flag(
    const int[:, ::1] lists, Py_ssize_t row, Py_ssize_t n,
    const int[::1] wanted, Py_ssize_t low, Py_ssize_t high, uint8_t[::1] flags
) noexcept nogil:
    """Flag where numbers stand first in the first n of a row; return how many do."""
    with cython.boundscheck(False):  # a row of nothing too
        return flag_ints(&lists[row, 0], n, &wanted[low], high - low, &flags[0])
