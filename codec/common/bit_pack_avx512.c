/* SPDX-License-Identifier: BSD-3-Clause
 * bit_pack_avx512.c: bit_pack.h with AVX-512 VBMI and VBMI2, one 64-byte vector at a time.
 *
 * Eight 64-bit (sixteen 32-bit) words of width w are w (2 w) whole bytes, so every vector starts on
 * a byte. Unpacking: two permutes fetch for each lane the two stream words that its bits lie in, a
 * double shift aligns them. Packing, lanes of w bits each (32-bit words are first joined in pairs):
 *
 *     join pairs of lanes in 128-bit quarters       4 quarters of 2 w bits
 *     and shift each by its target's bit in a byte  0, 2, 4 or 6
 *     permute the bytes of quarters 0, 2 and 1, 3   to where they belong
 *     OR the two, as neighbours may share a byte
 *
 * Joining: the first lane moves up against the second, then both move down together, by what the
 * shift leaves of 64 - w. That must not be negative: a few widths above 58 join first and shift
 * then. Quarters 0 and 2 share a byte for w = 1, and two w bits shifted by 6 exceed a quarter for
 * w = 63: these two stay with plain C, like the words after the last whole vector.
 *
 * On Zen 4 shifts and permutes are what there is least of, one vector a cycle. */
#include "bit_pack.h"

#include "word_names.h"

#include <immintrin.h>

#define LANES32 16u
#define LANES64 8u

/* The first size (0..64) bytes. */
static __mmask64
first_bytes(unsigned size)
{
    return _bzhi_u64(~UINT64_C(0), size);
}

/* ---- packing ---- */

/* Where the parts of a vector of eight words go; the same for all vectors of one width. */
struct pack_plan {
    unsigned size;        /* bytes of a packed vector */
    __m512i up;           /* 64 - width in each first lane, 0 in each second one */
    __m512i down;         /* 64 - width - shift */
    __m512i shift;        /* per quarter: bits to its target within the byte; */
    __m512i unshift;      /* 64 - shift; these two only if */
    int shifts_apart;     /* down would be negative: it is 64 - width instead */
    __m512i even, odd;    /* byte permutes of quarters 0 and 2, 1 and 3 */
    __mmask64 even_bytes; /* that these set */
    __mmask64 odd_bytes;
};

/* What of a plan is known of each width when compiling: made anew for each call it took half the
 * time of packing 512 bytes. */
struct pack_layout {
    uint8_t even[64], odd[64];
    uint64_t even_bytes, odd_bytes;
    uint64_t unused[6];
};

/* The byte where quarter q begins, and masks of the bytes below one and of a quarter there. */
#define AT(w, q)      (2u * (q) * (w) / 8u)
#define BELOW(at)     ((UINT64_C(1) << (at)) - 1u)
#define QUARTER(at)   (UINT64_C(0xFFFF) << (at))
#define EVEN(w, byte) (uint8_t)((byte) < AT(w, 2) ? (byte) : (byte) + 32u - AT(w, 2)),
#define ODD(w, byte)                                                                               \
    (uint8_t)((byte) < AT(w, 3) ? (byte) + 16u - AT(w, 1) : (byte) + 48u - AT(w, 3)),
#define EIGHT_BYTES(F, w, byte)                                                                    \
    F(w, (byte) + 0u)                                                                              \
    F(w, (byte) + 1u)                                                                              \
    F(w, (byte) + 2u)                                                                              \
    F(w, (byte) + 3u) F(w, (byte) + 4u) F(w, (byte) + 5u) F(w, (byte) + 6u) F(w, (byte) + 7u)
#define ALL_BYTES(F, w)                                                                            \
    EIGHT_BYTES(F, w, 0u)                                                                          \
    EIGHT_BYTES(F, w, 8u)                                                                          \
    EIGHT_BYTES(F, w, 16u)                                                                         \
    EIGHT_BYTES(F, w, 24u)                                                                         \
    EIGHT_BYTES(F, w, 32u) EIGHT_BYTES(F, w, 40u) EIGHT_BYTES(F, w, 48u) EIGHT_BYTES(F, w, 56u)
#define LAYOUT(w)                                                                                  \
    {{ALL_BYTES(EVEN, w)},                                                                         \
     {ALL_BYTES(ODD, w)},                                                                          \
     (QUARTER(0) & BELOW(AT(w, 2))) | QUARTER(AT(w, 2)),                                           \
     (QUARTER(AT(w, 1)) & BELOW(AT(w, 3))) | QUARTER(AT(w, 3)),                                    \
     {0}},
#define EIGHT_WIDTHS(w)                                                                            \
    LAYOUT((w) + 0u)                                                                               \
    LAYOUT((w) + 1u)                                                                               \
    LAYOUT((w) + 2u)                                                                               \
    LAYOUT((w) + 3u) LAYOUT((w) + 4u) LAYOUT((w) + 5u) LAYOUT((w) + 6u) LAYOUT((w) + 7u)
static const _Alignas(64) struct pack_layout layouts[65] = {
    EIGHT_WIDTHS(0u) EIGHT_WIDTHS(8u) EIGHT_WIDTHS(16u) EIGHT_WIDTHS(24u) EIGHT_WIDTHS(32u)
        EIGHT_WIDTHS(40u) EIGHT_WIDTHS(48u) EIGHT_WIDTHS(56u) LAYOUT(64u)};

/* Bits from a byte boundary to each quarter's target, by width % 4. */
static const uint64_t quarter_shifts[4][8] = {
    {0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 2, 2, 4, 4, 6, 6},
    {0, 0, 4, 4, 0, 0, 4, 4},
    {0, 0, 6, 6, 4, 4, 2, 2},
};

static inline struct pack_plan
plan_packing(unsigned width_bits)
{
    const struct pack_layout *const layout = &layouts[width_bits];
    const __m512i shift = _mm512_loadu_si512(quarter_shifts[width_bits % 4]);
    const __m512i unused = _mm512_set1_epi64(64 - (long long)width_bits);
    const int shifts_apart = width_bits > 58 && width_bits % 4 != 0;
    return (struct pack_plan){
        .size = width_bits,
        .up = _mm512_maskz_mov_epi64(0x55, unused),
        .down = shifts_apart ? unused : _mm512_sub_epi64(unused, shift),
        .shift = shift,
        .unshift = _mm512_sub_epi64(_mm512_set1_epi64(64), shift),
        .shifts_apart = shifts_apart,
        .even = _mm512_loadu_si512(layout->even),
        .odd = _mm512_loadu_si512(layout->odd),
        .even_bytes = layout->even_bytes,
        .odd_bytes = layout->odd_bytes,
    };
}

/* Eight words below 2^width, as plan->size bytes followed by zeros. */
static inline __m512i
pack_vector(const struct pack_plan *plan, __m512i words)
{
    const __m512i seconds = _mm512_bsrli_epi128(words, 8);
    __m512i quarters = _mm512_shrdv_epi64(_mm512_sllv_epi64(words, plan->up), seconds, plan->down);
    if (plan->shifts_apart) {
        const __m512i firsts = _mm512_bslli_epi128(quarters, 8);
        /* Counts of 64 give 0, as they should. */
        quarters = _mm512_or_si512(_mm512_sllv_epi64(quarters, plan->shift),
                                   _mm512_srlv_epi64(firsts, plan->unshift));
    }
    return _mm512_or_si512(_mm512_maskz_permutexvar_epi8(plan->even_bytes, plan->even, quarters),
                           _mm512_maskz_permutexvar_epi8(plan->odd_bytes, plan->odd, quarters));
}

/* Store a packed vector: all 64 bytes where there is room, since what is too much will be
 * overwritten. Masked stores are far slower (Zen 4: 15 % of all encoding). */
static inline void
store_vector(uint8_t *dst, const uint8_t *end, unsigned size, __m512i packed)
{
    if (end - dst >= 64) {
        _mm512_storeu_si512(dst, packed);
    } else {
        _mm512_mask_storeu_epi8(dst, first_bytes(size), packed);
    }
}

static size_t
pack32(uint8_t *restrict dst, size_t writable, const uint32_t *restrict src, size_t count,
       unsigned width_bits)
{
    if (width_bits == 0) {
        return 0;
    }
    const size_t whole = count - count % LANES32;
    const struct pack_plan plan = plan_packing(2 * width_bits);
    /* Pairs are joined like lanes are. */
    const __m512i down = _mm512_set1_epi64(32 - (long long)width_bits);
    const __m512i up = _mm512_maskz_mov_epi32(0x5555, down);
    uint8_t *at = dst;
    for (size_t i = 0; i < whole; i += LANES32, at += plan.size) {
        const __m512i words = _mm512_loadu_si512(src + i);
        const __m512i pairs = _mm512_srlv_epi64(_mm512_sllv_epi32(words, up), down);
        store_vector(at, dst + writable, plan.size, pack_vector(&plan, pairs));
    }
    if (whole != count) {
        at += h5twin_bit_pack32(at, src + whole, count - whole, width_bits);
    }
    return (size_t)(at - dst);
}

static size_t
pack64(uint8_t *restrict dst, size_t writable, const uint64_t *restrict src, size_t count,
       unsigned width_bits)
{
    if (width_bits <= 1 || width_bits == 63) {
        return h5twin_bit_pack64(dst, src, count, width_bits);
    }
    const size_t whole = count - count % LANES64;
    const struct pack_plan plan = plan_packing(width_bits);
    uint8_t *at = dst;
    for (size_t i = 0; i < whole; i += LANES64, at += plan.size) {
        const __m512i words = _mm512_loadu_si512(src + i);
        store_vector(at, dst + writable, plan.size, pack_vector(&plan, words));
    }
    if (whole != count) {
        at += h5twin_bit_pack64(at, src + whole, count - whole, width_bits);
    }
    return (size_t)(at - dst);
}

/* ---- unpacking ---- */

static inline __m512i
load_vector(const uint8_t *src, const uint8_t *end, unsigned size)
{
    return end - src >= 64 ? _mm512_loadu_si512(src)
                           : _mm512_maskz_loadu_epi8(first_bytes(size), src);
}

#define WORD_BITS 32
#include "bit_unpack_avx512_template.h"
#define WORD_BITS 64
#include "bit_unpack_avx512_template.h"

const struct h5twin_bit_pack_kernels h5twin_bit_pack_kernels_avx512 = {
    .pack32 = pack32,
    .pack64 = pack64,
    .unpack32 = unpack32,
    .unpack64 = unpack64,
};
