/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_kernels.h: the loops of cascade, by instruction set (see isa.h).
 *
 * Where there are two of a kernel, [0] takes lanes of 32 and [1] of 64 bits. Arrays of lanes are
 * aligned for them, arrays of bytes need not be. */
#ifndef H5TWIN_CASCADE_KERNELS_H
#define H5TWIN_CASCADE_KERNELS_H

#include "../isa.h"
#include "cascade_map_core.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes that some kernels may overwrite beyond what they return. */
#define CASCADE_KERNEL_SLACK 64u

/* Whether a remainder segment may have so many bits: they are inside, padded with zeros, and whole
 * exceptions follow. */
static inline bool
cascade_segment_fits(const uint8_t *segment, size_t segment_size, size_t bits, unsigned word_size)
{
    const size_t bits_size = (bits + 7) / 8;
    return bits_size <= segment_size && (segment_size - bits_size) % word_size == 0 &&
           (bits % 8 == 0 || segment[bits_size - 1] >> (bits % 8) == 0);
}

/* What is counted of words, one of which is set apart. */
struct h5twin_cascade_counts {
    uint64_t fill;     /* that one */
    size_t fill_count; /* of it */
    uint64_t others;   /* OR of the others */
    size_t sampled;    /* of the others: how many are in the sample (h5twin_cascade_is_sampled) */
};

struct h5twin_cascade_kernels {
    /* ---- survey ---- */

    /* Add count words to the counts, and put those sampled in samples, as lanes, in order; returns
     * how many. samples has slack behind room for all. */
    size_t (*survey[2])(void *restrict samples, struct h5twin_cascade_counts *restrict counts,
                        const uint8_t *restrict words, size_t count, unsigned word_size);

    /* ---- masks: a byte for each value, 1 if it is the fill word ---- */

    void (*mark[2])(uint8_t *restrict mask, const uint8_t *restrict words, size_t count,
                    unsigned word_size, uint64_t fill);

    /* Masked words become the fill. */
    void (*fill[2])(uint8_t *restrict words, const uint8_t *restrict mask, size_t count,
                    unsigned word_size, uint64_t fill);

    /* The lanes (or words as wide) that are not masked, next to each other; returns how many. kept
     * has room for count, and may be lanes. */
    size_t (*pick[2])(void *kept, const void *lanes, const uint8_t *restrict mask, size_t count);

    /* The inverse, in place, for words as wide as lanes: those not masked lie at the end of the
     * count words. */
    void (*spread[2])(uint8_t *words, const uint8_t *restrict mask, size_t count, size_t unmasked,
                      uint64_t fill);

    /* Let masked lanes of a row go on as a polynomial of degree order - 1 through the `order` ones
     * before them (fewer at the begin). changes gets by how much each lane has become smaller;
     * false, and it gets nothing, if nothing is masked. */
    bool (*extrapolate[2])(void *restrict row, void *restrict changes, const uint8_t *restrict mask,
                           size_t count, unsigned order);

    /* ---- differences ---- */

    /* All passes along a row; and back, along rows one after the other. */
    void (*row_forward[2])(void *restrict row, size_t count, unsigned order);
    void (*rows_back[2])(void *restrict rows, size_t row_length, size_t row_count, unsigned order);

    /* One row's passes along a slower axis, of which the first `active` have a row before this one:
     * history holds `order` rows, history_stride lanes apart, and is moved on. */
    void (*axis_forward[2])(void *restrict row, void *restrict history, size_t history_stride,
                            size_t count, unsigned order, unsigned active);
    void (*axis_back[2])(void *restrict row, void *restrict history, size_t history_stride,
                         size_t count, unsigned order, unsigned active);

    /* The same for many rows of few lanes. Those of axis_back begin with the `index`th along the
     * slower axis. */
    void (*short_rows_back[2])(void *restrict rows, size_t row_length, size_t row_count,
                               unsigned order);
    void (*short_axis_back[2])(void *restrict rows, void *restrict history, size_t row_length,
                               size_t row_count, unsigned order, size_t index);

    /* ---- residuals ---- */

    /* The unmasked ones of count residuals as words of a residual stream, in place of words; mask
     * is a byte each, or NULL. Returns their number. word_bits: zigzag in so many bits. words has
     * slack behind them if there is a mask. */
    size_t (*zigzag[2])(void *restrict words, const void *restrict residuals,
                        const uint8_t *restrict mask, size_t count, unsigned word_bits);

    /* The inverse, in place: the words lie at the end of the count lanes; masked ones become 0. */
    void (*unzigzag[2])(void *lanes, const uint8_t *mask, size_t count, size_t unmasked);

    /* Add (negative: subtract from) the lanes that lie lag before, where there is no mask. */
    void (*add_reference[2])(void *lanes, size_t lag, bool negative, const uint8_t *restrict mask,
                             size_t count);

    /* The same of those from lag before the first one on, descending. */
    void (*add_mirrored[2])(void *lanes, size_t lag, bool negative, const uint8_t *restrict mask,
                            size_t count);

    /* Where the keys of residuals, their leading bits, stand in a table, times 2, plus 1 for a
     * negative residual (FORMAT.md section 11); behind all others if it is too short or masked. */
    void (*key_slots[2])(uint32_t *restrict slots, const void *restrict residuals,
                         const uint8_t *restrict mask, size_t count, unsigned word_bits);

    /* Elect lags, as lag * 2 + sign, 0 for none, for the block of `count` residuals from `begin`
     * on: by the distances to where their slots' keys were last, (place + 1) * 2 + sign. `none` is
     * the slot of those that have no key; slots has room for a whole block. */
    void (*votes)(uint32_t lag[CASCADE_VOTES], const uint32_t *restrict slots, unsigned count,
                  const uint32_t *restrict last_places, uint32_t none, uint32_t begin);

    /* Bits that count residuals, a whole block at most, take with each of so many references, lag *
     * 2 + sign; lag 0: without. */
    void (*reference_bits[2])(uint32_t *restrict bits, const void *lanes,
                              const uint32_t *restrict entries, size_t entry_count,
                              const uint8_t *restrict mask, size_t count, unsigned word_bits);

    /* ---- search ---- */

    /* Pass `order` along a row, not in place. */
    void (*difference[2])(void *restrict to, const void *restrict from, size_t count,
                          unsigned order);

    /* from[i] taken off to[i]. */
    void (*subtract[2])(void *restrict to, const void *restrict from, size_t count);

    /* What a row of `count` values, up to 64, costs after 0, 1, ..., most passes, by one of the
     * following two; before it lie `halo` values, up to 6, that do not count. */
    void (*row_costs[2])(uint64_t *restrict costs, const void *restrict row, size_t halo,
                         size_t count, unsigned most, unsigned word_bits, bool in_groups);

    /* Sum of the bit lengths of |residual| in words of so many bits; and that of packed groups of
     * 16, each as wide as its longest residual. */
    uint64_t (*lengths[2])(const void *restrict residuals, size_t count, unsigned word_bits);
    uint64_t (*group_lengths[2])(const void *restrict residuals, size_t count, unsigned word_bits);

    /* ---- values ---- */

    /* Codes of words of map->word_bits, by any map. */
    void (*codes[2])(void *restrict codes, const uint8_t *restrict words, size_t count,
                     const struct h5twin_cascade_map *restrict map);

    /* Words by their index in a table; masked ones are the fill. False if an index is not below
     * word_count; then the words are anything. */
    bool (*look_up[2])(uint8_t *restrict words, const void *restrict indices,
                       const void *restrict table, size_t word_count, const uint8_t *restrict mask,
                       size_t count, unsigned word_size, uint64_t fill);

    /* Words of codes; not by the soft map. */
    void (*values[2])(uint8_t *restrict words, const void *restrict codes, size_t count,
                      const struct h5twin_cascade_map *restrict map);

    /* Bits of the remainders of count soft codes. */
    size_t (*soft_bits[2])(const void *restrict codes, size_t count, unsigned fraction);

    /* Words of soft codes and a remainder segment, which is checked: false if it does not belong to
     * them, then the words are anything. */
    bool (*soft_values[2])(uint8_t *restrict words, const void *restrict codes, size_t count,
                           const struct h5twin_cascade_map *restrict map,
                           const uint8_t *restrict segment, size_t segment_size);

    /* Put the remainders of count words in bits from dst on, and the words that are exceptions in
     * exceptions; returns the bytes of the bits. dst and exceptions have slack behind them. codes
     * gets the codes unless it is NULL. */
    size_t (*soft_remainders[2])(uint8_t *restrict dst, uint8_t *restrict exceptions,
                                 size_t *restrict exception_count, void *restrict codes,
                                 const uint8_t *restrict words, size_t count,
                                 const struct h5twin_cascade_map *restrict map);
};

H5TWIN_DECLARE_VARIANTS(h5twin_cascade_kernels);

const struct h5twin_cascade_kernels *h5twin_cascade_kernels_for(h5twin_isa isa);

#endif
