"""Loops that the compiler also makes for processors with AVX2 or AVX-512; chosen when they run.

Wider registers change no bit: each element has its own product and sum, rounded one after the
other, and counts are whole numbers.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>
    #if defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    #endif

    /* glibc chooses; AddressSanitizer is not ready when it does. */
    #if defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && defined(__x86_64__) \\
        && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
    #define CLONED __attribute__((unused, target_clones("arch=x86-64-v4", "avx2", "default")))
    #elif defined(__GNUC__)
    #define CLONED __attribute__((unused))
    #else
    #define CLONED
    #endif

    #define ADD_SCALED(NAME, REAL) CLONED static void NAME( \\
        REAL *__restrict to, const REAL *__restrict from, REAL factor, ptrdiff_t n) \\
    { for (ptrdiff_t i = 0; i < n; i++) to[i] += factor * from[i]; }
    ADD_SCALED(add_scaled_double, double)
    ADD_SCALED(add_scaled_float, float)

    /* Each of n whole numbers, or its negative where a bit is set, to the 64 sums of its column. */
    CLONED static void add_signed_by(
        uint64_t *__restrict sums, uint64_t bits,
        const int32_t *columns, const int64_t *numbers, ptrdiff_t n)
    {
        uint64_t negative[64];
        for (int i = 0; i < 64; i++) negative[i] = 0 - (bits << (63 - i) >> 63);
        for (ptrdiff_t t = 0; t < n; t++) {
            uint64_t *__restrict to = sums + 64 * (ptrdiff_t)columns[t];
            const uint64_t number = (uint64_t)numbers[t];
            for (int i = 0; i < 64; i++) to[i] += (number ^ negative[i]) - negative[i];
        }
    }

    /* Each of n whole numbers times 64 weights, to the sums of its column. A product p is 2^51 at
     * most; 1.5 * 2^52 + p holds it in its lowest bits. */
    CLONED static void add_weighed(
        uint64_t *__restrict sums, const uint16_t *__restrict weights,
        const int32_t *columns, const double *numbers, ptrdiff_t n)
    {
        const double base = 6755399441055744.0;
        uint64_t below, held;
        double wide[64];
        memcpy(&below, &base, sizeof below);
        for (int i = 0; i < 64; i++) wide[i] = weights[i];
        for (ptrdiff_t t = 0; t < n; t++) {
            uint64_t *__restrict to = sums + 64 * (ptrdiff_t)columns[t];
            for (int i = 0; i < 64; i++) {
                double product = base + wide[i] * numbers[t];
                memcpy(&held, &product, sizeof held);
                to[i] += held - below;
            }
        }
    }

    /* Flag where each of m numbers stands first among n; 64 are compared before one is looked for. */
    CLONED static int flag_ints(
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

    /* SplitMix64's output function. */
    static inline uint64_t mixed(uint64_t bits)
    {
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
        return bits ^ bits >> 31;
    }

    /* How often each of n users is drawn in 64 resamples, of 16 random bits each, for every row of
     * `below`: 65,536 times the chance of 1, or of 1, 2, … 8 or more. `drawn` counts them. */
    CLONED static void draw_weights(
        const uint64_t *users, uint64_t key, ptrdiff_t n,
        const uint16_t *below, ptrdiff_t kinds, ptrdiff_t most,
        uint16_t *__restrict weights, int64_t *__restrict drawn)
    {
        for (ptrdiff_t user = 0; user < n; user++) {
            const uint64_t state = mixed(users[user] ^ key);
            uint64_t bits[16];
            uint16_t parts[64];
            for (int i = 0; i < 16; i++)
                bits[i] = mixed(state + (uint64_t)(i + 1) * 0x9E3779B97F4A7C15u);
            memcpy(parts, bits, sizeof parts);
            for (ptrdiff_t kind = 0; kind < kinds; kind++) {
                const uint16_t *chance = below + kind * most;
                uint16_t *own = weights + 64 * (n * kind + user);
                for (int i = 0; i < 64; i++) {
                    uint16_t weight = parts[i] < chance[0];
                    if (most > 1)
                        for (int t = 1; t < 8; t++) weight += parts[i] < chance[t];
                    own[i] = weight;
                }
            }
        }
        for (ptrdiff_t kind = 0; kind < kinds; kind++) {
            uint16_t few[64] = {0};
            for (ptrdiff_t user = 0; user < n; user++)
                for (int i = 0; i < 64; i++) few[i] += weights[64 * (n * kind + user) + i];
            for (int i = 0; i < 64; i++) drawn[64 * kind + i] += few[i];
        }
    }

    #define SIP_TURN(number, bits) ((number) << (bits) | (number) >> (64 - (bits)))
    #define SIP_ROUND(a, b, c, d) do { \
        a += b; c += d; b = SIP_TURN(b, 13) ^ a; d = SIP_TURN(d, 16) ^ c; a = SIP_TURN(a, 32) + d; \
        c += b; d = SIP_TURN(d, 21) ^ a; b = SIP_TURN(b, 17) ^ c; c = SIP_TURN(c, 32); } while (0)

    /* SipHash-1-3 of n texts below 16 bytes: the first 8 bytes, and the rest with the length on top. */
    CLONED static void short_keys(
        const uint64_t *__restrict first, const uint64_t *__restrict last, ptrdiff_t n,
        uint64_t low, uint64_t high, uint64_t *__restrict keys, uint64_t *__restrict others)
    {
        const uint64_t a0 = low ^ 0x736F6D6570736575u, b0 = high ^ 0x646F72616E646F6Du;
        const uint64_t c0 = low ^ 0x6C7967656E657261u, d0 = high ^ 0x7465646279746573u;
        for (ptrdiff_t i = 0; i < n; i++) {
            uint64_t a = a0, b = b0, c = c0, d = d0 ^ first[i];
            const uint64_t whole = -(uint64_t)(last[i] >> 59 & 1);  /* 8 bytes or more */
            SIP_ROUND(a, b, c, d);
            a ^= first[i];
            a = (a & whole) | (a0 & ~whole);
            b = (b & whole) | (b0 & ~whole);
            c = (c & whole) | (c0 & ~whole);
            d = ((d & whole) | (d0 & ~whole)) ^ last[i];
            SIP_ROUND(a, b, c, d);
            a ^= last[i];
            c ^= 0xFF;
            SIP_ROUND(a, b, c, d);
            SIP_ROUND(a, b, c, d);
            SIP_ROUND(a, b, c, d);
            keys[i] = a ^ b ^ c ^ d;
            others[i] = a ^ c;
        }
    }

    /* The same of n bytes, of which 8 can be read from every place. */
    static inline void key_in(
        const uint8_t *bytes, ptrdiff_t n, uint64_t low, uint64_t high, uint64_t *key)
    {
        uint64_t a = low ^ 0x736F6D6570736575u, b = high ^ 0x646F72616E646F6Du;
        uint64_t c = low ^ 0x6C7967656E657261u, d = high ^ 0x7465646279746573u;
        uint64_t eight, last = (uint64_t)n << 56;
        for (; n >= 8; n -= 8, bytes += 8) {
            memcpy(&eight, bytes, 8);
            d ^= eight;
            SIP_ROUND(a, b, c, d);
            a ^= eight;
        }
        if (n > 0) {
            memcpy(&eight, bytes, 8);
            last |= eight & (((uint64_t)1 << 8 * n) - 1);
        }
        d ^= last;
        SIP_ROUND(a, b, c, d);
        a ^= last;
        c ^= 0xFF;
        for (int i = 0; i < 3; i++) SIP_ROUND(a, b, c, d);
        key[0] = a ^ b ^ c ^ d;
        key[1] = a ^ c;
    }

    /* A bit for each of 64 bytes that is one of two; no compiler finds the instruction for it. */
    static inline uint64_t marks(const uint8_t *bytes, uint8_t one, uint8_t other)
    {
        uint64_t found = 0;
    #if defined(__SSE2__) || defined(_M_X64)
        const __m128i ones = _mm_set1_epi8((char)one), others = _mm_set1_epi8((char)other);
        for (int i = 0; i < 64; i += 16) {
            const __m128i some = _mm_loadu_si128((const __m128i *)(bytes + i));
            const __m128i same = _mm_or_si128(_mm_cmpeq_epi8(some, ones), _mm_cmpeq_epi8(some, others));
            found |= (uint64_t)(uint32_t)_mm_movemask_epi8(same) << i;
        }
    #else
        for (int i = 0; i < 64; i++)
            found |= (uint64_t)((bytes[i] == one) | (bytes[i] == other)) << i;
    #endif
        return found;
    }
    """
    void add_scaled_double(double* to, const double* of, double factor, Py_ssize_t n) noexcept nogil
    void add_scaled_float(float* to, const float* of, float factor, Py_ssize_t n) noexcept nogil
    void add_signed_by(
        uint64_t* sums, uint64_t bits, const int32_t* columns, const int64_t* numbers, Py_ssize_t n
    ) noexcept nogil
    void add_weighed(
        uint64_t* sums, const uint16_t* weights,
        const int32_t* columns, const double* numbers, Py_ssize_t n
    ) noexcept nogil
    uint64_t mixed(uint64_t bits) noexcept nogil
    int flag_ints(
        const int* numbers, Py_ssize_t n, const int* wanted, Py_ssize_t m, uint8_t* flags
    ) noexcept nogil
    void draw_weights(
        const uint64_t* users, uint64_t key, Py_ssize_t n,
        const uint16_t* below, Py_ssize_t kinds, Py_ssize_t most,
        uint16_t* weights, int64_t* drawn
    ) noexcept nogil
    void short_keys(
        const uint64_t* first, const uint64_t* last, Py_ssize_t n,
        uint64_t low, uint64_t high, uint64_t* keys, uint64_t* others
    ) noexcept nogil
    void key_in(
        const uint8_t* bytes, Py_ssize_t n, uint64_t low, uint64_t high, uint64_t* key
    ) noexcept nogil
    uint64_t marks(const uint8_t* bytes, uint8_t one, uint8_t other) noexcept nogil

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
