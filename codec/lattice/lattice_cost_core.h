/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_cost_core.h: what codes are estimated to cost, for C and CUDA: integers, in bits << 12.
 * Source  FORMAT.md section 8. */
#ifndef H5TWIN_LATTICE_COST_CORE_H
#define H5TWIN_LATTICE_COST_CORE_H

#include "../residuals/residuals_core.h"

#include <stdbool.h>

/* What costs are estimated by: blocks and groups of the residual stream. */
#define LATTICE_COST_BLOCK       256u
#define LATTICE_COST_GROUP       16u
#define LATTICE_COST_CAP         (UINT64_C(1) << 40)
#define LATTICE_PACKED_HEAD_BITS 56u /* of a block that is not all zero */
#define LATTICE_PACKED_STEPS     6u  /* bits that a group's width may lie below the widest one */

/* Samples of an array, values of one, and candidates that code the array where samples do not
 * decide. */
#define LATTICE_SAMPLES         8u
#define LATTICE_BALANCED_BUDGET 2048u
#define LATTICE_FAST_BUDGET     1024u
#define LATTICE_FINALISTS       2u

/* Arrays of so many values need no samples, but with the effort `fast`. */
#define LATTICE_SHORT (LATTICE_SAMPLES * LATTICE_BALANCED_BUDGET)

/* Shorter ones are soon coded by all candidates. */
#define LATTICE_SHORTEST 1024u

/* Interpolations that code a short array, of those that it has; and where estimates are too small
 * to tell much, or packed sizes count, which are others. */
#define LATTICE_SHORT_TRIES 3u
#define LATTICE_MANY_TRIES  6u

/* Whether interpolations of a short array are estimated before they code it. */
H5TWIN_HD bool
lattice_is_screened(bool is_fast, uint64_t count, unsigned interpolations)
{
    return count >= LATTICE_SHORTEST &&
           interpolations > (is_fast ? LATTICE_MANY_TRIES : LATTICE_SHORT_TRIES);
}

/* Whether the interpolation that has the least estimate but `place` codes a short array: the first,
 * the second if it costs at most a quarter more, and the third if it costs at most an eighth more;
 * the first six with `fast`, and if the least is below half a bit for each value. */
H5TWIN_HD bool
lattice_is_promising(bool is_fast, uint64_t count, unsigned place, uint64_t least, uint64_t cost)
{
    if (is_fast || least < count << 11) {
        return place < LATTICE_MANY_TRIES;
    }
    return place == 0 ||
           (place < LATTICE_SHORT_TRIES && cost - least <= (place == 1 ? least / 4 : least / 8));
}

/* How many of the candidates that samples chose code the array. */
H5TWIN_HD unsigned
lattice_finalists(bool is_fast, uint64_t count)
{
    return is_fast && count > LATTICE_SHORT ? 1 : LATTICE_FINALISTS;
}

/* Whether the costs of the two cheapest candidates on samples tell who is cheaper on the array:
 * they differ by more than an eighth, and the least is at least a sixteenth of a bit for each of
 * LATTICE_SHORT values (samples that cost almost nothing say little of the rest). Specials lie
 * anywhere, so with them samples do not tell. */
H5TWIN_HD bool
lattice_is_clear(uint64_t least, uint64_t next, bool has_specials)
{
    return !has_specials && least >= (uint64_t)(LATTICE_SHORT / 16) << 12 &&
           next - least > least / 8;
}

/* Whether estimates for blocks, of the two cheapest candidates, do not tell who takes less: then
 * `balanced` compares estimates for the streams. */
H5TWIN_HD bool
lattice_is_close(uint64_t least, uint64_t next, uint64_t count)
{
    return count <= LATTICE_SHORT || next - least < least / 16;
}

/* Bits that packing would take a block whose groups have these widths, without what depends on the
 * rest of the stream. */
H5TWIN_HD uint64_t
lattice_packed_cost(const unsigned *widths, unsigned groups)
{
    unsigned widest = 0;
    for (unsigned group = 0; group < groups; group++) {
        widest = widths[group] > widest ? widths[group] : widest;
    }
    if (widest == 0) {
        return 0;
    }
    uint64_t bits = LATTICE_PACKED_HEAD_BITS;
    const unsigned least = widest > LATTICE_PACKED_STEPS ? widest - LATTICE_PACKED_STEPS : 0;
    for (unsigned group = 0; group < groups; group++) {
        const unsigned bits_each = widths[group] > least ? widths[group] : least;
        bits += widths[group] == 0 ? 0 : LATTICE_COST_GROUP * bits_each;
    }
    return bits << 12;
}

/* `count` numbers of this sum, if they are geometrically distributed; own is count log2(count), the
 * others are the logarithms of count + sum and of the sum (of 1 if it is 0). */
H5TWIN_HD uint64_t
lattice_geometric_bits(uint64_t count, uint64_t sum, uint64_t own, uint64_t log_all,
                       uint64_t log_some)
{
    const uint64_t all = count + sum;
    const uint64_t bits = all * log_all - own - sum * log_some;
    const uint64_t most = (48 * count) << 12; /* where products would not fit */
    const uint64_t either = all >= UINT64_C(1) << 44 ? most : bits;
    return sum == 0 ? 0 : either;
}

H5TWIN_HD uint64_t
lattice_geometric_cost(uint64_t count, uint64_t sum)
{
    return lattice_geometric_bits(count, sum, count * h5twin_residual_log2(count),
                                  h5twin_residual_log2(count + sum),
                                  h5twin_residual_log2(sum + (sum == 0)));
}

#endif
