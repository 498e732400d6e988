/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_slab_encode.c: see cascade_slab_encode.h.
 *
 * A body is made as planned; then, where the effort asks for it, again with references, and the
 * smaller one is taken.
 * Source  FORMAT.md sections 2 to 8. */
#include "cascade_slab_encode.h"

#include "../common/bytes.h"
#include "../common/residuals.h"
#include "cascade_arena.h"
#include "cascade_dictionary.h"
#include "cascade_differences.h"
#include "cascade_mask.h"
#include "cascade_references.h"

#include <stdlib.h>
#include <string.h>

#define SEGMENT         CASCADE_REMAINDER_SEGMENT
#define REFERENCE_BYTES (2 + 4 * CASCADE_MAX_LAGS)

struct encoder {
    const struct h5twin_cascade_plan *plan;
    const struct h5twin_cascade_effort_plan *effort;
    h5twin_isa isa;
    const struct h5twin_cascade_kernels *kernels;
    unsigned threads;
    bool keeps_memory;
    unsigned word_size, wide;
    struct h5twin_cascade_shape shape;
    size_t value_count, unmasked;
    const uint8_t *words;
    uint8_t *mask; /* NULL: none */
    struct h5twin_cascade_dictionary dictionary;
    struct h5twin_cascade_references references;
    struct cascade_arena arena;
    void *lanes;   /* codes, differences */
    void *rests;   /* of differences with references */
    void *finder;  /* scratch of who finds those */
    void *stream;  /* words of a residual stream */
    void *scratch; /* of it */
    uint8_t *history;
    uint8_t *remainders;   /* of the soft map; */
    size_t remainder_size; /* bytes */
    uint8_t *best, *trial; /* bodies */
};

/* Where the next remainder segment goes. */
struct remainders {
    const uint8_t *words; /* those not masked */
    size_t left;
    uint8_t *sizes, *at;
};

/* How one body is made. */
struct way {
    struct h5twin_cascade_map map;
    unsigned order[CASCADE_MAX_RANK];
    bool refers;
};

size_t
h5twin_cascade_slab_bound(size_t value_count, unsigned word_size)
{
    return 2 + value_count * word_size + 1;
}

static enum h5twin_residuals_way
coding(const struct encoder *encoder)
{
    return encoder->effort->packed ? H5TWIN_RESIDUALS_PACKED : H5TWIN_RESIDUALS_RANS;
}

/* ---- sections ---- */

/* Write the words of `stream` as a section; returns its end. */
static uint8_t *
put_section(const struct encoder *encoder, uint8_t *dst, const void *words, size_t count,
            unsigned word_bits)
{
    const struct h5twin_residuals how = {
        .word_bits = word_bits,
        .threads = encoder->threads,
        .isa = encoder->isa,
        .scratch = encoder->scratch,
    };
    const size_t size = h5twin_residuals_encode(&how, coding(encoder), dst + 4, words, count);
    h5twin_store32(dst, (uint32_t)size);
    dst += 4 + size;
    if (size % 2 != 0) {
        *dst++ = 0;
    }
    return dst;
}

static size_t
section_bound(const struct encoder *encoder, size_t count, unsigned word_bits)
{
    return 4 + h5twin_residuals_bound(coding(encoder), count, word_bits) + 1;
}

static uint8_t *
put_mask(const struct encoder *encoder, uint8_t *dst)
{
    const size_t nibble_count = (encoder->value_count + CASCADE_MASK_NIBBLE - 1) / 4;
    h5twin_store64(dst, encoder->plan->fill);
    h5twin_cascade_mask_nibbles(encoder->stream, encoder->mask, &encoder->shape,
                                encoder->plan->mask_axis);
    return put_section(encoder, dst + 8, encoder->stream, nibble_count, 32);
}

static uint8_t *
put_dictionary(const struct encoder *encoder, uint8_t *dst)
{
    const size_t count = encoder->dictionary.key_count;
    const uint64_t *const gaps = encoder->dictionary.keys;
    h5twin_store32(dst, (uint32_t)count);
    h5twin_store16(dst + 4, (uint16_t)encoder->plan->dictionary_order);
    if (encoder->wide) {
        encoder->kernels->zigzag[1](encoder->stream, gaps, NULL, count, 64);
    } else {
        uint32_t *const words = encoder->stream;
        for (size_t i = 0; i < count; i++) {
            words[i] = h5twin_zigzag32(
                h5twin_cascade_sign_extend32((uint32_t)gaps[i], 8 * encoder->word_size));
        }
    }
    return put_section(encoder, dst + 6, encoder->stream, count, encoder->wide ? 64 : 32);
}

static uint8_t *
put_references(const struct encoder *encoder, uint8_t *dst)
{
    const struct h5twin_cascade_references *const references = &encoder->references;
    *dst++ = (uint8_t)references->entry_count;
    *dst++ = (uint8_t)references->rounds;
    for (unsigned i = 0; i < references->entry_count; i++, dst += 4) {
        h5twin_store32(dst, references->entry[i]);
    }
    return put_section(encoder, dst, references->index,
                       cascade_reference_blocks(encoder->value_count), 32);
}

static uint8_t *
put_residuals(const struct encoder *encoder, uint8_t *dst, const void *residuals)
{
    const size_t count = encoder->kernels->zigzag[encoder->wide](
        encoder->stream, residuals, encoder->mask, encoder->value_count, 8 * encoder->word_size);
    return put_section(encoder, dst, encoder->stream, count, encoder->wide ? 64 : 32);
}

/* ---- remainders ---- */

static size_t
remainder_bound(size_t count, unsigned word_size)
{
    const size_t segment_bound = 2 + SEGMENT * (8 * (size_t)word_size + 1) / 8 + 1;
    return (count / SEGMENT + 1) * segment_bound + CASCADE_KERNEL_SLACK;
}

static struct remainders
remainders_open(const struct encoder *encoder, const uint8_t *words, uint8_t *dst)
{
    const size_t segment_count = (encoder->unmasked + SEGMENT - 1) / SEGMENT;
    return (struct remainders){
        .words = words, .left = encoder->unmasked, .sizes = dst, .at = dst + 2 * segment_count};
}

/* The remainders of the next segment, and its codes unless NULL; returns how many values it has. */
static size_t
next_remainders(const struct encoder *encoder, struct remainders *remainders,
                const struct h5twin_cascade_map *map, void *codes)
{
    const size_t count = remainders->left < SEGMENT ? remainders->left : SEGMENT;
    uint8_t exceptions[8 * SEGMENT + CASCADE_KERNEL_SLACK];
    size_t exception_count;
    size_t size = encoder->kernels->soft_remainders[encoder->wide](
        remainders->at, exceptions, &exception_count, codes, remainders->words, count, map);
    memcpy(remainders->at + size, exceptions, exception_count * encoder->word_size);
    size += exception_count * encoder->word_size;
    h5twin_store16(remainders->sizes, (uint16_t)size);
    remainders->words += count * encoder->word_size;
    remainders->sizes += 2;
    remainders->at += size;
    remainders->left -= count;
    return count;
}

/* Those of a slab without a mask are made with its codes, and only copied. */
static uint8_t *
put_remainders(const struct encoder *encoder, uint8_t *dst, const struct h5twin_cascade_map *map)
{
    if (encoder->mask == NULL) {
        memcpy(dst, encoder->remainders, encoder->remainder_size);
        return dst + encoder->remainder_size;
    }
    /* the residuals in `stream` are written already */
    encoder->kernels->pick[encoder->wide](encoder->stream, encoder->words, encoder->mask,
                                          encoder->value_count);
    struct remainders remainders = remainders_open(encoder, encoder->stream, dst);
    while (remainders.left != 0) {
        (void)next_remainders(encoder, &remainders, map, NULL);
    }
    return remainders.at;
}

/* ---- bodies ---- */

/* Codes of a row, by a map or the dictionary. */
static void
row_codes(const struct encoder *encoder, const struct way *way, void *lanes, size_t begin,
          size_t row)
{
    if (!encoder->plan->has_dictionary) {
        encoder->kernels->codes[encoder->wide](lanes, encoder->words + begin * encoder->word_size,
                                               row, &way->map);
    } else if (encoder->wide) {
        for (size_t i = 0; i < row; i++) {
            ((uint64_t *)lanes)[i] = encoder->dictionary.ranks[begin + i];
        }
    } else {
        memcpy(lanes, encoder->dictionary.ranks + begin, row * sizeof(uint32_t));
    }
}

/* Differences of all codes. Soft codes come with their remainders, if there is no mask. */
static void
make_differences(struct encoder *encoder, const struct way *way)
{
    struct h5twin_cascade_differences differences = {
        .kernels = encoder->kernels, .wide = encoder->wide, .shape = encoder->shape};
    const size_t row = encoder->shape.extent[encoder->shape.rank - 1];
    const size_t lane = cascade_lane_size(encoder->word_size);
    const bool by_segments = way->map.map == CASCADE_SOFT && encoder->mask == NULL;
    struct remainders remainders = remainders_open(encoder, encoder->words, encoder->remainders);
    size_t coded = 0; /* by segments */
    memcpy(differences.order, way->order, sizeof differences.order);
    h5twin_cascade_differences_begin(&differences, encoder->history);
    for (size_t begin = 0; begin < encoder->value_count; begin += row) {
        uint8_t *const lanes = (uint8_t *)encoder->lanes + begin * lane;
        while (by_segments && coded < begin + row) {
            coded += next_remainders(encoder, &remainders, &way->map,
                                     (uint8_t *)encoder->lanes + coded * lane);
        }
        if (!by_segments) {
            row_codes(encoder, way, lanes, begin, row);
        }
        if (encoder->mask != NULL) {
            h5twin_cascade_row_forward_masked(&differences, lanes, encoder->mask + begin);
        } else {
            h5twin_cascade_row_forward(&differences, lanes);
        }
    }
    if (by_segments) {
        encoder->remainder_size = (size_t)(remainders.at - encoder->remainders);
    }
}

static uint8_t *
put_head(const struct encoder *encoder, uint8_t *dst, const struct way *way)
{
    const struct h5twin_cascade_plan *const plan = encoder->plan;
    unsigned orders = 0;
    for (unsigned axis = 0; axis < encoder->shape.rank; axis++) {
        orders |= way->order[axis] << (4 * axis);
    }
    dst[0] = CASCADE_CODED;
    dst[1] = (uint8_t)((plan->has_mask ? CASCADE_MASK : 0) |
                       (plan->has_dictionary ? CASCADE_DICTIONARY : 0) |
                       (way->refers ? CASCADE_REFERENCES : 0) | way->map.map << CASCADE_MAP_SHIFT);
    dst[2] = (uint8_t)way->map.trailing;
    dst[3] = (uint8_t)plan->mask_axis;
    h5twin_store16(dst + 4, (uint16_t)way->map.exponent);
    h5twin_store16(dst + 6, (uint16_t)orders);
    return dst + CASCADE_SLAB_HEAD_BYTES;
}

static struct h5twin_cascade_finding
finding_of(const struct encoder *encoder)
{
    return (struct h5twin_cascade_finding){
        .kernels = encoder->kernels,
        .word_size = encoder->word_size,
        .shape = &encoder->shape,
        .lanes = encoder->lanes,
        .mask = encoder->mask,
        .scratch = encoder->finder,
        .all = encoder->effort->all_references,
    };
}

/* Make a body; returns its size, 0 if references were asked for and none were found. */
static size_t
make_body(struct encoder *encoder, const struct way *way, uint8_t *body)
{
    const void *residuals = encoder->lanes;
    make_differences(encoder, way);
    if (way->refers) {
        const struct h5twin_cascade_finding finding = finding_of(encoder);
        h5twin_cascade_references_find(&encoder->references, &finding, encoder->rests);
        if (encoder->references.entry_count == 0) {
            return 0;
        }
        residuals = encoder->rests;
    }
    uint8_t *at = put_head(encoder, body, way);
    if (encoder->mask != NULL) {
        at = put_mask(encoder, at);
    }
    if (encoder->plan->has_dictionary) {
        at = put_dictionary(encoder, at);
    }
    if (way->refers) {
        at = put_references(encoder, at);
    }
    at = put_residuals(encoder, at, residuals);
    if (way->map.map == CASCADE_SOFT) {
        uint8_t *const begin = at;
        at = put_remainders(encoder, at, &way->map);
        encoder->remainder_size = (size_t)(at - begin);
    }
    if ((at - body) % 2 != 0) {
        *at++ = 0;
    }
    return (size_t)(at - body);
}

/* ---- candidates for references ---- */

/* Orders of a candidate, from those of the plan. */
enum how { ALL_ZERO, AT_MOST_ONE, FASTEST_ONE, SECOND_ONE, PLANNED };

struct candidate {
    bool planned_map; /* else monotone */
    enum how how;
};

#define MOST_CANDIDATES 9u

static const struct candidate candidates[MOST_CANDIDATES] = {
    {true, PLANNED},     {false, AT_MOST_ONE}, {false, FASTEST_ONE},
    {false, ALL_ZERO},   {false, SECOND_ONE},  {true, ALL_ZERO},
    {true, FASTEST_ONE}, {true, AT_MOST_ONE},  {true, SECOND_ONE}};

static struct way
way_of_candidate(const struct encoder *encoder, const struct candidate *candidate)
{
    const struct h5twin_cascade_plan *const plan = encoder->plan;
    const unsigned rank = encoder->shape.rank;
    struct way way = {.map = plan->map, .refers = true};
    if (!candidate->planned_map && !plan->has_dictionary && way.map.map == CASCADE_SOFT) {
        way.map.map = CASCADE_MONOTONE;
        way.map.exponent = 0;
    }
    for (unsigned axis = 0; axis < rank; axis++) {
        const unsigned planned = plan->order[axis];
        const bool is_long = encoder->shape.extent[axis] > 1;
        switch (candidate->how) {
        case ALL_ZERO:
            break;
        case AT_MOST_ONE:
            way.order[axis] = planned < 1 ? planned : 1;
            break;
        case FASTEST_ONE:
            way.order[axis] = axis + 1 == rank && is_long;
            break;
        case SECOND_ONE:
            way.order[axis] = axis + 2 == rank && is_long;
            break;
        case PLANNED:
            way.order[axis] = planned;
            break;
        }
    }
    return way;
}

/* The different ones of the first candidates; returns their number. */
static unsigned
list_ways(const struct encoder *encoder, struct way ways[MOST_CANDIDATES], unsigned count)
{
    unsigned listed = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct way way = way_of_candidate(encoder, &candidates[i]);
        bool is_new = true;
        for (unsigned k = 0; k < listed; k++) {
            is_new &= way.map.map != ways[k].map.map ||
                      memcmp(way.order, ways[k].order, sizeof way.order) != 0;
        }
        if (is_new) {
            ways[listed++] = way;
        }
    }
    return listed;
}

/* ---- references on a part of the slab ---- */

#define LEAST_PART    65536u /* values */
#define PART_SHARE    4u     /* or one of four, */
#define LEAST_INDICES 4u     /* and so many of the slowest axis */

/* What an encoder of the middle of the slab has. Its lanes are where the rests will be. */
static struct encoder
part_of(const struct encoder *encoder, size_t *begin)
{
    struct encoder part = *encoder;
    const size_t plane = cascade_stride(&encoder->shape, 0), extent = encoder->shape.extent[0];
    const size_t share = encoder->value_count / PART_SHARE;
    size_t indices = ((share < LEAST_PART ? LEAST_PART : share) + plane - 1) / plane;
    indices = indices < LEAST_INDICES ? LEAST_INDICES : indices;
    indices = indices < extent ? indices : extent;
    *begin = (extent - indices) / 2 * plane;
    part.shape.extent[0] = indices;
    part.value_count = indices * plane;
    part.words += *begin * encoder->word_size;
    part.mask = encoder->mask == NULL ? NULL : encoder->mask + *begin;
    part.dictionary.ranks =
        encoder->dictionary.ranks == NULL ? NULL : encoder->dictionary.ranks + *begin;
    part.lanes = encoder->rests;
    return part;
}

/* What a way is expected to take, in bits of the sampled blocks. The slab's lanes are the plan's.
 */
static struct h5twin_cascade_promise
promise_of(struct encoder *encoder, const struct way *way, bool is_planned)
{
    size_t begin;
    struct encoder part = part_of(encoder, &begin);
    if (is_planned) {
        part.lanes = (uint8_t *)encoder->lanes + begin * cascade_lane_size(encoder->word_size);
    } else {
        make_differences(&part, way);
    }
    const struct h5twin_cascade_finding finding = finding_of(&part);
    struct h5twin_cascade_promise promise =
        h5twin_cascade_references_promise(&encoder->references, &finding);
    if (way->map.map == CASCADE_SOFT) {
        promise.bits += 8 * (uint64_t)encoder->remainder_size * CASCADE_REFERENCE_BLOCK *
                        promise.sampled / encoder->value_count;
    }
    return promise;
}

/* Make a body with references; a smaller one becomes the best. */
static void
try_way(struct encoder *encoder, const struct way *way, size_t *best_size)
{
    const size_t size = make_body(encoder, way, encoder->trial);
    if (size != 0 && size < *best_size) {
        uint8_t *const swapped = encoder->best;
        encoder->best = encoder->trial;
        encoder->trial = swapped;
        *best_size = size;
    }
}

#define FEW_CANDIDATES       3u
#define LEAST_PROMISE        100u /* one of so many bits */
#define LEAST_PROMISE_OF_ALL 400u /* with the most effort, */
#define TRIED_OF_ALL         3u   /* which tries so many */
#define LARGE_PROMISE        8u   /* all are tried */

/* Put ways that promise enough into the order of what they promise; returns how many are to be
 * tried. */
static unsigned
sort_promising(struct encoder *encoder, struct way *ways, unsigned count)
{
    const bool all = encoder->effort->all_references;
    struct {
        struct way way;
        uint64_t bits;
    } sorted[MOST_CANDIDATES];
    const uint64_t least_promise = all ? LEAST_PROMISE_OF_ALL : LEAST_PROMISE;
    const unsigned most = all ? TRIED_OF_ALL : 1;
    unsigned sorted_count = 0;
    uint64_t limit = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct h5twin_cascade_promise promise = promise_of(encoder, &ways[i], i == 0);
        const uint64_t bits = promise.bits - promise.saved;
        if (promise.saved > promise.bits / LARGE_PROMISE) {
            return count;
        }
        limit = i == 0 ? promise.bits - promise.bits / least_promise : limit;
        unsigned at = sorted_count;
        for (; at > 0 && bits < sorted[at - 1].bits; at--) {
            sorted[at] = sorted[at - 1];
        }
        if (bits < limit) {
            sorted[at].way = ways[i];
            sorted[at].bits = bits;
            sorted_count++;
        }
        if (!all && sorted_count == 0 && encoder->plan->map.map == CASCADE_SOFT) {
            break; /* the other map takes more, and what repeats does so in both */
        }
    }
    for (unsigned i = 0; i < sorted_count; i++) {
        ways[i] = sorted[i].way;
    }
    return sorted_count < most ? sorted_count : most;
}

/* Try references where they promise something. */
static void
try_references(struct encoder *encoder, size_t *best_size)
{
    const bool all = encoder->effort->all_references;
    struct way ways[MOST_CANDIDATES];
    const unsigned count = list_ways(encoder, ways, all ? MOST_CANDIDATES : FEW_CANDIDATES);
    const unsigned tried = sort_promising(encoder, ways, count);
    for (unsigned i = 0; i < tried; i++) {
        try_way(encoder, &ways[i], best_size);
    }
}

/* ---- all together ---- */

static size_t
body_bound(const struct encoder *encoder)
{
    const struct h5twin_cascade_plan *const plan = encoder->plan;
    const size_t count = encoder->value_count;
    const unsigned lane_bits = encoder->wide ? 64 : 32;
    size_t size = CASCADE_SLAB_HEAD_BYTES + section_bound(encoder, count, lane_bits) + 1;
    if (plan->has_mask) {
        size += 8 + section_bound(encoder, count / 4 + 1, 32);
    }
    if (plan->has_dictionary) {
        size += 6 + section_bound(encoder, encoder->dictionary.key_count, lane_bits);
    }
    if (encoder->effort->references) {
        size += REFERENCE_BYTES + section_bound(encoder, cascade_reference_blocks(count), 32);
    }
    if (plan->map.map == CASCADE_SOFT) {
        size += remainder_bound(count, encoder->word_size);
    }
    return size;
}

static enum h5twin_status
open_arena(struct encoder *encoder)
{
    const size_t count = encoder->value_count;
    const size_t lanes_size = count * cascade_lane_size(encoder->word_size);
    const bool refers = encoder->effort->references;
    size_t history_size =
        h5twin_cascade_history_size(&encoder->shape, encoder->plan->order, encoder->wide);
    /* Candidates may have order 1 on the second fastest axis where the plan has 0. */
    history_size +=
        encoder->shape.extent[encoder->shape.rank - 1] * cascade_lane_size(encoder->word_size);
    const struct cascade_piece pieces[] = {
        {&encoder->lanes, lanes_size},
        {&encoder->stream, lanes_size + CASCADE_ALIGNMENT},
        {&encoder->scratch,
         h5twin_residuals_encode_scratch(coding(encoder), count, encoder->threads)},
        {&encoder->history, history_size},
        {&encoder->remainders, encoder->mask == NULL && encoder->plan->map.map == CASCADE_SOFT
                                   ? remainder_bound(count, encoder->word_size)
                                   : 0},
        {&encoder->best, body_bound(encoder)},
        {&encoder->rests, refers ? lanes_size : 0},
        {&encoder->finder,
         refers ? h5twin_cascade_references_scratch(count, encoder->word_size) : 0},
        {&encoder->references.index, refers ? 4 * cascade_reference_blocks(count) : 0},
        {&encoder->trial, refers ? body_bound(encoder) : 0},
    };
    return cascade_arena_open_pieces(&encoder->arena, pieces, sizeof pieces / sizeof pieces[0],
                                     encoder->keeps_memory)
               ? H5TWIN_OK
               : H5TWIN_ERR_MEMORY;
}

/* A slab whose words are all the same, or which does not shrink. */
static size_t
put_words(uint8_t *dst, const uint8_t *words, size_t size, unsigned kind)
{
    dst[0] = (uint8_t)kind;
    dst[1] = 0;
    memcpy(dst + 2, words, size);
    if (size % 2 != 0) {
        dst[2 + size] = 0;
    }
    return 2 + size + size % 2;
}

static size_t
encode_coded(struct encoder *encoder, uint8_t *dst)
{
    const struct h5twin_cascade_plan *const plan = encoder->plan;
    struct way way = {.map = plan->map};
    memcpy(way.order, plan->order, sizeof way.order);
    size_t size = make_body(encoder, &way, encoder->best);
    if (encoder->effort->references) {
        try_references(encoder, &size);
    }
    const size_t raw_size = encoder->value_count * encoder->word_size;
    if (size >= 2 + raw_size) {
        return put_words(dst, encoder->words, raw_size, CASCADE_RAW);
    }
    memcpy(dst, encoder->best, size);
    return size;
}

/* The mask, made anew from the plan. */
static enum h5twin_status
make_mask(struct encoder *encoder)
{
    if (!encoder->plan->has_mask) {
        return H5TWIN_OK;
    }
    encoder->mask = malloc(encoder->value_count);
    if (encoder->mask == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    encoder->kernels->mark[encoder->wide](encoder->mask, encoder->words, encoder->value_count,
                                          encoder->word_size, encoder->plan->fill);
    encoder->unmasked -= h5twin_cascade_mask_count(encoder->mask, encoder->value_count);
    return H5TWIN_OK;
}

static enum h5twin_status
make_dictionary(struct encoder *encoder)
{
    if (!encoder->plan->has_dictionary) {
        return H5TWIN_OK;
    }
    bool pays; /* it did when the plan was made */
    const enum h5twin_status status = h5twin_cascade_dictionary_make(
        &encoder->dictionary, encoder->words, encoder->value_count, &encoder->plan->map,
        encoder->mask, encoder->unmasked, &pays);
    if (status == H5TWIN_OK) {
        h5twin_cascade_dictionary_gaps(encoder->dictionary.keys, encoder->dictionary.key_count,
                                       encoder->plan->dictionary_order);
    }
    return status;
}

enum h5twin_status
h5twin_cascade_slab_encode(const struct h5twin_cascade_plan *plan,
                           const struct h5twin_cascade_effort_plan *effort,
                           const struct h5twin_cascade_shape *shape, unsigned word_size,
                           h5twin_isa isa, unsigned threads, bool keeps_memory, uint8_t *dst,
                           const uint8_t *words, size_t *dst_size)
{
    if (plan->is_constant) {
        *dst_size = put_words(dst, words, word_size, CASCADE_CONSTANT);
        return H5TWIN_OK;
    }
    struct encoder encoder = {
        .plan = plan,
        .effort = effort,
        .isa = isa,
        .kernels = h5twin_cascade_kernels_for(isa),
        .threads = threads,
        .keeps_memory = keeps_memory,
        .word_size = word_size,
        .wide = cascade_wide(word_size),
        .shape = *shape,
        .value_count = cascade_count(shape),
        .unmasked = cascade_count(shape),
        .words = words,
    };
    enum h5twin_status status = make_mask(&encoder);
    if (status == H5TWIN_OK) {
        status = make_dictionary(&encoder);
    }
    if (status == H5TWIN_OK) {
        status = open_arena(&encoder);
    }
    if (status == H5TWIN_OK) {
        *dst_size = encode_coded(&encoder, dst);
        cascade_arena_close(&encoder.arena);
    }
    h5twin_cascade_dictionary_free(&encoder.dictionary);
    free(encoder.mask);
    return status;
}
