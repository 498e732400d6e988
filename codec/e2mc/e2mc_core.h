/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_core.h: the formulas of E2MC streams, for C and CUDA: geometry of a stream, delta map,
 * sampling, the logarithm and the costs that decide how many symbols a tree lists.
 * Source  E2MC (IPDPS 2017); FORMAT.md 2, 4, 5 and 8, which fixes every integer here. */
#ifndef H5TWIN_E2MC_CORE_H
#define H5TWIN_E2MC_CORE_H

#include "../common/bits.h"
#include "../common/hd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define H5TWIN_E2MC_MAX_TREES       16u   /* 4-bit symbols in 8-byte words */
#define H5TWIN_E2MC_MAX_LISTED      4096u /* symbols per tree */
#define H5TWIN_E2MC_MAX_WAYS        8u
#define H5TWIN_E2MC_MAX_SYMBOL_CODE 20u /* bits of a code, raw form not counted */
#define H5TWIN_E2MC_SAMPLE_UNIT     128u
#define H5TWIN_E2MC_MIN_SAMPLE      16384u /* bytes */

/* ---- geometry: bytes 2 to 4 of a header ---- */

struct h5twin_e2mc_geometry {
    unsigned word_log2;    /* bytes, 0..3 */
    unsigned symbol_log2;  /* bits, 2..5 */
    unsigned way_log2;     /* 0..3 */
    unsigned block_log2;   /* bytes, 7..12 */
    unsigned granule_log2; /* bytes, 0..block_log2 - 1 */
};

H5TWIN_HD unsigned
h5twin_e2mc_word_size(const struct h5twin_e2mc_geometry *geometry)
{
    return 1u << geometry->word_log2;
}

H5TWIN_HD unsigned
h5twin_e2mc_symbol_bits(const struct h5twin_e2mc_geometry *geometry)
{
    return 1u << geometry->symbol_log2;
}

/* One tree for each symbol of a word. */
H5TWIN_HD unsigned
h5twin_e2mc_tree_count(const struct h5twin_e2mc_geometry *geometry)
{
    return 1u << (geometry->word_log2 + 3u - geometry->symbol_log2);
}

H5TWIN_HD size_t
h5twin_e2mc_block_size(const struct h5twin_e2mc_geometry *geometry)
{
    return (size_t)1 << geometry->block_log2;
}

H5TWIN_HD size_t
h5twin_e2mc_block_count(const struct h5twin_e2mc_geometry *geometry, size_t raw_size)
{
    return (raw_size + h5twin_e2mc_block_size(geometry) - 1) >> geometry->block_log2;
}

/* Bits of the pointers at the start of a compressed block. */
H5TWIN_HD unsigned
h5twin_e2mc_pointer_bits(const struct h5twin_e2mc_geometry *geometry)
{
    return geometry->block_log2 * ((1u << geometry->way_log2) - 1u);
}

H5TWIN_HD size_t
h5twin_e2mc_words_per_way(const struct h5twin_e2mc_geometry *geometry)
{
    return (size_t)1 << (geometry->block_log2 - geometry->word_log2 - geometry->way_log2);
}

/* ---- metadata: one value of meta_bits per block ---- */

H5TWIN_HD unsigned
h5twin_e2mc_meta_bits(const struct h5twin_e2mc_geometry *geometry)
{
    return geometry->block_log2 - geometry->granule_log2;
}

H5TWIN_HD unsigned
h5twin_e2mc_meta_stored(const struct h5twin_e2mc_geometry *geometry)
{
    return (1u << h5twin_e2mc_meta_bits(geometry)) - 1u;
}

/* Whether there is a value for run blocks: the one below meta_stored. */
H5TWIN_HD bool
h5twin_e2mc_has_runs(const struct h5twin_e2mc_geometry *geometry)
{
    return h5twin_e2mc_meta_bits(geometry) >= 5u;
}

H5TWIN_HD size_t
h5twin_e2mc_granules(const struct h5twin_e2mc_geometry *geometry, size_t size)
{
    return (size + ((size_t)1 << geometry->granule_log2) - 1) >> geometry->granule_log2;
}

/* What the metadata say of a block whose compressed form has this many bytes. */
H5TWIN_HD unsigned
h5twin_e2mc_block_value(const struct h5twin_e2mc_geometry *geometry, size_t compressed_size,
                        size_t raw_size)
{
    const unsigned stored = h5twin_e2mc_meta_stored(geometry);
    const size_t most_granules = stored - (h5twin_e2mc_has_runs(geometry) ? 1u : 0u);
    const size_t needed = h5twin_e2mc_granules(geometry, compressed_size);
    const size_t granules = needed == 0 ? 1 : needed;
    return granules >= h5twin_e2mc_granules(geometry, raw_size) || granules > most_granules
               ? stored
               : (unsigned)granules - 1u;
}

/* Whether it is the value of a run block. */
H5TWIN_HD bool
h5twin_e2mc_is_run(const struct h5twin_e2mc_geometry *geometry, unsigned value)
{
    return h5twin_e2mc_has_runs(geometry) && value + 1u == h5twin_e2mc_meta_stored(geometry);
}

/* Bytes in the payload of a block with this value. */
H5TWIN_HD size_t
h5twin_e2mc_payload_size(const struct h5twin_e2mc_geometry *geometry, unsigned value,
                         size_t raw_size)
{
    if (h5twin_e2mc_is_run(geometry, value)) {
        return 0;
    }
    const bool is_stored = value == h5twin_e2mc_meta_stored(geometry);
    return (is_stored ? h5twin_e2mc_granules(geometry, raw_size) : value + (size_t)1)
           << geometry->granule_log2;
}

/* ---- delta ---- */

H5TWIN_HD uint64_t
h5twin_e2mc_word_mask(unsigned word_size)
{
    return UINT64_MAX >> (64u - 8u * word_size);
}

/* Zigzag of word - before modulo 2^(8 word_size). */
H5TWIN_HD uint64_t
h5twin_e2mc_delta(uint64_t word, uint64_t before, unsigned word_size)
{
    if (word_size == 4u) { /* the same in half the register: twice as many in a vector */
        return h5twin_zigzag32((uint32_t)(word - before));
    }
    const unsigned unused_bits = 64u - 8u * word_size;
    return h5twin_zigzag64((uint64_t)((int64_t)((word - before) << unused_bits) >> unused_bits)) &
           h5twin_e2mc_word_mask(word_size);
}

H5TWIN_HD uint64_t
h5twin_e2mc_undelta(uint64_t code, uint64_t before, unsigned word_size)
{
    if (word_size == 4u) {
        return (uint32_t)before + h5twin_unzigzag32((uint32_t)code);
    }
    return (before + h5twin_unzigzag64(code)) & h5twin_e2mc_word_mask(word_size);
}

H5TWIN_HD size_t
h5twin_e2mc_anchors_size(const struct h5twin_e2mc_geometry *geometry, unsigned stride,
                         size_t raw_size)
{
    return h5twin_e2mc_block_count(geometry, raw_size) * ((size_t)stride << geometry->word_log2);
}

/* Estimate in 1/256 bit for deltas whose trees cost tree_cost, and their anchors. */
H5TWIN_HD uint64_t
h5twin_e2mc_delta_cost(const struct h5twin_e2mc_geometry *geometry, unsigned stride,
                       size_t raw_size, uint64_t tree_cost)
{
    return tree_cost + UINT64_C(256) * 8 * h5twin_e2mc_anchors_size(geometry, stride, raw_size);
}

/* ---- sampling ---- */

enum h5twin_e2mc_sampling {
    H5TWIN_E2MC_ALL = 0,
    H5TWIN_E2MC_SPREAD = 1,
    H5TWIN_E2MC_PREFIX = 2,
};

/* Which words a histogram sees. */
struct h5twin_e2mc_sample {
    enum h5twin_e2mc_sampling sampling;
    unsigned sample_log2; /* already lowered for short segments */
    uint32_t unit_count;
};

/* The k of "about one unit in 2^k", lowered until at least 16 KiB are seen. */
H5TWIN_HD unsigned
h5twin_e2mc_sample_log2(uint64_t unit_count, unsigned wanted_log2)
{
    unsigned log2 = wanted_log2;
    while (log2 > 0 && (unit_count >> log2) * H5TWIN_E2MC_SAMPLE_UNIT < H5TWIN_E2MC_MIN_SAMPLE) {
        log2--;
    }
    return log2;
}

/* Whether spread sampling sees this unit. */
H5TWIN_HD bool
h5twin_e2mc_unit_is_seen(uint32_t unit, unsigned sample_log2)
{
    return unit * UINT32_C(0x9E3779B1) < UINT64_C(1) << (32u - sample_log2);
}

/* The sample that params ask for. */
H5TWIN_HD struct h5twin_e2mc_sample
h5twin_e2mc_sample_of(enum h5twin_e2mc_sampling sampling, unsigned sample_log2, size_t size)
{
    const size_t units = (size + H5TWIN_E2MC_SAMPLE_UNIT - 1) / H5TWIN_E2MC_SAMPLE_UNIT;
    struct h5twin_e2mc_sample sample;
    sample.sampling = sampling;
    sample.sample_log2 =
        sampling == H5TWIN_E2MC_ALL ? 0 : h5twin_e2mc_sample_log2(units, sample_log2);
    sample.unit_count = (uint32_t)units;
    return sample;
}

/* Bytes at the beginning of a segment that hold all that is seen. */
H5TWIN_HD size_t
h5twin_e2mc_sample_end(const struct h5twin_e2mc_sample *sample, size_t size)
{
    const size_t units = sample->unit_count >> sample->sample_log2;
    const size_t end = (units == 0 ? 1 : units) * H5TWIN_E2MC_SAMPLE_UNIT;
    return sample->sampling == H5TWIN_E2MC_PREFIX && end < size ? end : size;
}

/* Weight of the symbols that a sample may have missed. once: symbols that it has once. */
H5TWIN_HD uint64_t
h5twin_e2mc_unseen(const struct h5twin_e2mc_sample *sample, uint64_t distinct, uint64_t once,
                   unsigned symbol_bits)
{
    return sample->sampling != H5TWIN_E2MC_ALL && (distinct >> symbol_bits) == 0 ? 1 + once : 0;
}

/* ---- tables of symbols ---- */

/* Places symbols in tables; not part of the format. Two rounds, so that neither the low nor the
 * high bits of floats alone decide. */
H5TWIN_HD uint32_t
h5twin_e2mc_hash(uint32_t symbol)
{
    const uint32_t hash = (symbol ^ (symbol >> 15)) * UINT32_C(0x2C1B3C6D);
    return (hash ^ (hash >> 12)) * UINT32_C(0x297A2D39);
}

/* ---- costs in 1/256 bit ---- */

/* 256 log2(x), x >= 1, below by at most 11. */
H5TWIN_HD uint64_t
h5twin_e2mc_lg(uint64_t x)
{
    static const uint8_t fraction[32] = {0,   11,  22,  33,  44,  54,  63,  73,  82,  92,  100,
                                         109, 118, 126, 134, 142, 150, 157, 165, 172, 179, 186,
                                         193, 200, 207, 213, 220, 226, 232, 238, 244, 250};
    const unsigned exponent = h5twin_bit_length64(x) - 1u;
    return 256u * exponent + fraction[((x << 5) >> exponent) & 31u];
}

/* Estimated length of a code for weight of total; no code is shorter than a bit. */
H5TWIN_HD uint64_t
h5twin_e2mc_code_cost(uint64_t lg_total, uint64_t weight)
{
    const uint64_t lg_weight = h5twin_e2mc_lg(weight);
    return lg_total < lg_weight + 256u ? 256u : lg_total - lg_weight;
}

/* Guess of what listing one symbol adds to the codebook. */
H5TWIN_HD uint64_t
h5twin_e2mc_listing_cost(unsigned symbol_bits)
{
    return 256u * (symbol_bits == 8u ? 4u : symbol_bits == 32u ? 12u : 8u);
}

/* What the cost of a tree depends on besides the counts of the symbols it lists. */
struct h5twin_e2mc_cost_terms {
    uint64_t total; /* symbols seen and weight of the unseen */
    uint64_t lg_total;
    uint64_t multiplier; /* words in the segment for one seen, rounded up */
    uint64_t raw_cost;   /* of a raw form: 256 R */
    uint64_t listing_cost;
};

H5TWIN_HD struct h5twin_e2mc_cost_terms
h5twin_e2mc_cost_terms_of(uint64_t seen, uint64_t unseen, uint64_t word_count, unsigned raw_bits,
                          unsigned symbol_bits)
{
    struct h5twin_e2mc_cost_terms terms;
    terms.total = seen + unseen;
    terms.lg_total = h5twin_e2mc_lg(terms.total);
    terms.multiplier = (word_count + seen - 1) / seen;
    terms.raw_cost = UINT64_C(256) * raw_bits;
    terms.listing_cost = h5twin_e2mc_listing_cost(symbol_bits);
    return terms;
}

/* Cost of a tree that lists nothing. */
H5TWIN_HD uint64_t
h5twin_e2mc_raw_tree_cost(const struct h5twin_e2mc_cost_terms *terms)
{
    return terms->multiplier * terms->total * terms->raw_cost;
}

/* Cost of a tree that lists `listed` > 0 symbols of which each symbol's count times its code cost
 * add up to listed_cost, and leaves symbols of weight rest to the escape. */
H5TWIN_HD uint64_t
h5twin_e2mc_tree_cost(const struct h5twin_e2mc_cost_terms *terms, uint64_t listed,
                      uint64_t listed_cost, uint64_t rest)
{
    if (rest == 0) {
        return listed == 1 ? terms->listing_cost
                           : terms->multiplier * listed_cost + listed * terms->listing_cost;
    }
    return terms->multiplier * listed_cost + listed * terms->listing_cost +
           terms->multiplier * rest *
               (h5twin_e2mc_code_cost(terms->lg_total, rest) + terms->raw_cost);
}

/* ---- raw form of symbols that are not listed ---- */

/* any: OR of all symbols. */
H5TWIN_HD unsigned
h5twin_e2mc_raw_shift(uint64_t any)
{
    return any == 0 ? 0 : h5twin_trailing_zeros64(any);
}

H5TWIN_HD unsigned
h5twin_e2mc_raw_bits(uint64_t any)
{
    return h5twin_bit_length64(any) - h5twin_e2mc_raw_shift(any);
}

/* ---- symbols per access ---- */

/* How many symbols (4, 2 or 1) can be written or read with one access of at_once bits, if the
 * symbols of tree i take at most longest[i] bits each. */
H5TWIN_HD unsigned
h5twin_e2mc_symbols_at_once(const unsigned *longest, unsigned tree_count, unsigned at_once)
{
    for (unsigned symbols = 4; symbols > 1; symbols /= 2) {
        bool fits = true;
        for (unsigned first = 0; first < tree_count; first += symbols) {
            unsigned bits = 0;
            for (unsigned i = 0; i < symbols; i++) {
                bits += longest[(first + i) % tree_count];
            }
            fits = fits && bits <= at_once;
        }
        if (fits) {
            return symbols;
        }
    }
    return 1;
}

#endif
