/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_slab_encode.c: see cascade_slab_encode.h.
 * Source  FORMAT.md sections 2 to 8. */
#include "cascade_slab_encode.h"

#include "../common/bytes.h"
#include "../residuals/residuals.h"
#include "cascade_decide_core.h"
#include "cascade_dictionary.h"
#include "cascade_differences.h"
#include "cascade_mask.h"
#include "cascade_slab_encoder.h"

#include <stdlib.h>
#include <string.h>

#define SEGMENT         CASCADE_REMAINDER_SEGMENT
#define REFERENCE_BYTES (2 + 4 * CASCADE_MAX_LAGS)
#define FEW_KEYS        4096u /* of a dictionary, to begin with */
#define CLEAR_SAVING    8u    /* of the planned bits, one of so many */

/* Where the next remainder segment goes. */
struct remainders {
    const uint8_t *words; /* those not masked */
    size_t left;
    uint8_t *sizes, *at;
};

size_t
h5twin_cascade_slab_bound(size_t value_count, unsigned word_size)
{
    return 2 + value_count * word_size + 1;
}

static enum h5twin_residuals_way
coding(const struct cascade_encoder *encoder)
{
    return encoder->effort->packed ? H5TWIN_RESIDUALS_PACKED : H5TWIN_RESIDUALS_RANS;
}

/* ---- sections ---- */

/* Write the words of `stream` as a section; returns its end. */
static uint8_t *
put_section(const struct cascade_encoder *encoder, uint8_t *dst, const void *words, size_t count,
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

static const uint8_t *
end_of_section(const uint8_t *section)
{
    const size_t size = h5twin_load32(section);
    return section + 4 + size + size % 2;
}

static size_t
section_bound(const struct cascade_encoder *encoder, size_t count, unsigned word_bits)
{
    return 4 + h5twin_residuals_bound(coding(encoder), count, word_bits) + 1;
}

static uint8_t *
put_mask(const struct cascade_encoder *encoder, uint8_t *dst)
{
    const size_t nibble_count = (encoder->value_count + CASCADE_MASK_NIBBLE - 1) / 4;
    h5twin_store64(dst, encoder->plan->fill);
    h5twin_cascade_mask_nibbles(encoder->stream, encoder->mask, &encoder->shape,
                                encoder->plan->mask_axis);
    return put_section(encoder, dst + 8, encoder->stream, nibble_count, 32);
}

static uint8_t *
put_entries(uint8_t *dst, const uint32_t *entry, unsigned entry_count, unsigned rounds)
{
    *dst++ = (uint8_t)entry_count;
    *dst++ = (uint8_t)rounds;
    for (unsigned i = 0; i < entry_count; i++, dst += 4) {
        h5twin_store32(dst, entry[i]);
    }
    return dst;
}

static uint8_t *
put_copies(const struct cascade_encoder *encoder, uint8_t *dst)
{
    const struct h5twin_cascade_copies *const copies = encoder->plan->copies;
    uint32_t *const words = encoder->stream;
    unsigned last = 0;
    size_t count = 0;
    for (size_t i = 0; i < encoder->value_count; i++) {
        const unsigned number = copies->number[i];
        words[count] = number >= last ? number - last : number + copies->entry_count + 1 - last;
        count += encoder->mask[i]; /* else the next one comes here */
        last = encoder->mask[i] ? number : last;
    }
    dst = put_entries(dst, copies->entry, copies->entry_count, copies->rounds);
    return put_section(encoder, dst, words, count, 32);
}

static uint8_t *
put_dictionary(const struct cascade_encoder *encoder, uint8_t *dst)
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
put_references(const struct cascade_encoder *encoder, uint8_t *dst)
{
    const struct h5twin_cascade_references *const references = &encoder->references;
    dst = put_entries(dst, references->entry, references->entry_count, references->rounds);
    return put_section(encoder, dst, references->index,
                       cascade_reference_blocks(encoder->value_count), 32);
}

static uint8_t *
put_residuals(const struct cascade_encoder *encoder, uint8_t *dst, const void *residuals)
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
remainders_open(const struct cascade_encoder *encoder, const uint8_t *words, uint8_t *dst)
{
    const size_t segment_count = (encoder->unmasked + SEGMENT - 1) / SEGMENT;
    return (struct remainders){
        .words = words, .left = encoder->unmasked, .sizes = dst, .at = dst + 2 * segment_count};
}

/* The remainders of the next segment, and its codes unless NULL; returns how many values it has. */
static size_t
next_remainders(const struct cascade_encoder *encoder, struct remainders *remainders,
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

/* Those of a slab with a mask; others are made with its codes. */
static void
make_remainders(struct cascade_encoder *encoder, const struct h5twin_cascade_map *map)
{
    encoder->kernels->pick[encoder->wide](encoder->stream, encoder->words, encoder->mask,
                                          encoder->value_count);
    struct remainders remainders = remainders_open(encoder, encoder->stream, encoder->remainders);
    while (remainders.left != 0) {
        (void)next_remainders(encoder, &remainders, map, NULL);
    }
    encoder->remainder_size = (size_t)(remainders.at - encoder->remainders);
}

static uint8_t *
put_remainders(const struct cascade_encoder *encoder, uint8_t *dst)
{
    memcpy(dst, encoder->remainders, encoder->remainder_size);
    return dst + encoder->remainder_size;
}

/* ---- bodies ---- */

/* Codes of a row, by a map or the dictionary. */
static void
row_codes(const struct cascade_encoder *encoder, const struct cascade_way *way, void *lanes,
          size_t begin, size_t row)
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

/* Differences of all codes. Soft codes come with their remainders, if there is room for them. */
void
h5twin_cascade_make_differences(struct cascade_encoder *encoder, const struct cascade_way *way)
{
    struct h5twin_cascade_differences differences = {
        .kernels = encoder->kernels, .wide = encoder->wide, .shape = encoder->shape};
    const bool by_planes = encoder->mask == NULL && cascade_has_short_rows(&encoder->shape);
    const unsigned fastest = encoder->shape.rank - 1;
    const size_t lane = cascade_lane_size(encoder->word_size);
    const bool has_remainders = way->map.map == CASCADE_SOFT && encoder->remainders != NULL;
    const bool by_segments = has_remainders && encoder->mask == NULL;
    struct remainders remainders = {0};
    size_t coded = 0; /* by segments */
    if (by_segments) {
        remainders = remainders_open(encoder, encoder->words, encoder->remainders);
    }
    memcpy(differences.order, way->order, sizeof differences.order);
    if (by_planes) { /* the rows of a plane are one, differenced before */
        h5twin_cascade_shape_join_fastest(&differences.shape);
        differences.order[fastest - 1] = 0;
    }
    const size_t row = differences.shape.extent[differences.shape.rank - 1];
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
        if (by_planes) {
            h5twin_cascade_plane_forward(
                encoder->kernels, encoder->wide, lanes, encoder->shape.extent[fastest - 1],
                encoder->shape.extent[fastest], way->order[fastest], way->order[fastest - 1]);
        }
        if (encoder->mask != NULL) {
            h5twin_cascade_row_forward_masked(&differences, lanes, encoder->mask + begin);
        } else {
            h5twin_cascade_row_forward(&differences, lanes);
        }
    }
    if (by_segments) {
        encoder->remainder_size = (size_t)(remainders.at - encoder->remainders);
    } else if (has_remainders) {
        make_remainders(encoder, &way->map);
    }
}

static uint8_t *
put_head(const struct cascade_encoder *encoder, uint8_t *dst, const struct cascade_way *way)
{
    const struct h5twin_cascade_plan *const plan = encoder->plan;
    unsigned orders = 0;
    for (unsigned axis = 0; axis < encoder->shape.rank; axis++) {
        orders |= way->order[axis] << (4 * axis);
    }
    dst[0] = CASCADE_CODED;
    dst[1] = (uint8_t)((plan->has_mask ? CASCADE_MASK : 0) |
                       (plan->copies != NULL ? CASCADE_COPIES : 0) |
                       (plan->has_dictionary ? CASCADE_DICTIONARY : 0) |
                       (way->refers ? CASCADE_REFERENCES : 0) | way->map.map << CASCADE_MAP_SHIFT);
    dst[2] = (uint8_t)way->map.trailing;
    dst[3] = (uint8_t)plan->mask_axis;
    h5twin_store16(dst + 4, (uint16_t)way->map.exponent);
    h5twin_store16(dst + 6, (uint16_t)orders);
    return dst + CASCADE_SLAB_HEAD_BYTES;
}

/* Make a body of the residuals; returns its size. */
size_t
h5twin_cascade_make_body(const struct cascade_encoder *encoder, const struct cascade_way *way,
                         const void *residuals, uint8_t *body)
{
    uint8_t *at = put_head(encoder, body, way);
    if (encoder->mask != NULL) {
        at = put_mask(encoder, at);
    }
    if (encoder->plan->copies != NULL) {
        at = put_copies(encoder, at);
    }
    if (encoder->plan->has_dictionary) {
        at = put_dictionary(encoder, at);
    }
    if (way->refers) {
        at = put_references(encoder, at);
    }
    at = put_residuals(encoder, at, residuals);
    if (way->map.map == CASCADE_SOFT) {
        at = put_remainders(encoder, at);
    }
    if ((at - body) % 2 != 0) {
        *at++ = 0;
    }
    return (size_t)(at - body);
}

/* ---- all together ---- */

/* Whether references are looked for. */
static bool
refers(const struct cascade_encoder *encoder)
{
    return encoder->effort->references || encoder->flips != 0;
}

static size_t
body_bound(const struct cascade_encoder *encoder)
{
    const struct h5twin_cascade_plan *const plan = encoder->plan;
    const size_t count = encoder->value_count;
    const unsigned lane_bits = encoder->wide ? 64 : 32;
    size_t size = CASCADE_SLAB_HEAD_BYTES + section_bound(encoder, count, lane_bits) + 1;
    if (plan->has_mask) {
        size += 8 + section_bound(encoder, count / 4 + 1, 32);
    }
    if (plan->copies != NULL) {
        size += REFERENCE_BYTES + section_bound(encoder, count, 32);
    }
    if (plan->has_dictionary) {
        size += 6 + section_bound(encoder, encoder->dictionary.key_count, lane_bits);
    }
    if (refers(encoder)) {
        size += REFERENCE_BYTES + section_bound(encoder, cascade_reference_blocks(count), 32);
    }
    if (plan->map.map == CASCADE_SOFT) {
        size += remainder_bound(count, encoder->word_size);
    }
    return size;
}

static enum h5twin_status
open_arena(struct cascade_encoder *encoder)
{
    const size_t count = encoder->value_count;
    const size_t lanes_size = count * cascade_lane_size(encoder->word_size);
    const bool has_references = refers(encoder);
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
        {&encoder->remainders,
         encoder->plan->map.map == CASCADE_SOFT ? remainder_bound(count, encoder->word_size) : 0},
        {&encoder->best, body_bound(encoder)},
        {&encoder->rests, has_references ? lanes_size : 0},
        {&encoder->finder,
         has_references ? h5twin_cascade_references_scratch(count, encoder->word_size) : 0},
        {&encoder->references.index, has_references ? 4 * cascade_reference_blocks(count) : 0},
        {&encoder->others.index, has_references ? 4 * cascade_reference_blocks(count) : 0},
        {&encoder->trial, encoder->effort->all_references ? body_bound(encoder) : 0},
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

/* Make encoder->best; returns its size. */
static size_t
make_best(struct cascade_encoder *encoder)
{
    const struct h5twin_cascade_plan *const plan = encoder->plan;
    struct cascade_way way = {.map = plan->map};
    size_t size;
    memcpy(way.order, plan->order, sizeof way.order);
    if (encoder->effort->all_references) {
        size = h5twin_cascade_make_all(encoder, &way);
    } else if (refers(encoder)) {
        size = h5twin_cascade_make_promising(encoder, &way);
    } else {
        if (!encoder->has_planned) { /* from a body with flips */
            h5twin_cascade_make_differences(encoder, &way);
        }
        size = h5twin_cascade_make_body(encoder, &way, encoder->lanes, encoder->best);
    }
    return size;
}

/* Whether a coded body has flips among its references. */
static bool
has_flips(const uint8_t *body)
{
    const unsigned tools = body[1];
    if ((tools & CASCADE_REFERENCES) == 0) {
        return false;
    }
    const uint8_t *at = body + CASCADE_SLAB_HEAD_BYTES;
    if ((tools & CASCADE_MASK) != 0) {
        at = end_of_section(at + 8);
    }
    if ((tools & CASCADE_COPIES) != 0) {
        at = end_of_section(at + 2 + 4 * (size_t)at[0]);
    }
    if ((tools & CASCADE_DICTIONARY) != 0) {
        at = end_of_section(at + 6);
    }
    bool has = false;
    for (unsigned i = 0; i < at[0]; i++) {
        has |= cascade_entry_kind(h5twin_load32(at + 2 + 4 * i)) != CASCADE_SHIFT;
    }
    return has;
}

/* The version of a payload that has this body. */
static unsigned
version_of(const uint8_t *body)
{
    const bool is_new =
        body[0] == CASCADE_CODED && ((body[1] & CASCADE_COPIES) != 0 || has_flips(body));
    return is_new ? CASCADE_VERSION_FLIPS : CASCADE_VERSION;
}

/* With flips, if there are any to be tried; also without them, unless they clearly pay, or none was
 * found. The most effort leaves out neither. */
static size_t
encode_coded(struct cascade_encoder *encoder, uint8_t *dst)
{
    const size_t raw_size = encoder->value_count * encoder->word_size;
    const uint64_t cost = encoder->plan->cost - CASCADE_SLAB_BITS;
    size_t size = 2 + raw_size;
    bool goes_on = true;
    while (goes_on) {
        const size_t own_size = make_best(encoder);
        if (own_size < size) {
            memcpy(dst, encoder->best, own_size);
            size = own_size;
        }
        goes_on = encoder->flips != 0 &&
                  (encoder->effort->all_references ||
                   (has_flips(encoder->best) && !encoder->references.pays_clearly)) &&
                  8 * (uint64_t)size > cost - cost / CLEAR_SAVING;
        encoder->flips = 0;
    }
    return size < 2 + raw_size ? size : put_words(dst, encoder->words, raw_size, CASCADE_RAW);
}

/* The mask, made anew from the plan. */
static enum h5twin_status
make_mask(struct cascade_encoder *encoder)
{
    if (!encoder->plan->has_mask) {
        return H5TWIN_OK;
    }
    encoder->mask = malloc(encoder->value_count);
    if (encoder->mask == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    h5twin_cascade_plan_mask(encoder->mask, encoder->plan, encoder->kernels, encoder->words,
                             encoder->value_count, encoder->word_size);
    encoder->unmasked -= h5twin_cascade_mask_count(encoder->mask, encoder->value_count);
    return H5TWIN_OK;
}

/* The plan's dictionary, or the same anew. */
static enum h5twin_status
make_dictionary(struct cascade_encoder *encoder, struct h5twin_cascade_plan *plan)
{
    bool pays; /* it did when the plan was made */
    enum h5twin_status status = H5TWIN_OK;
    if (!plan->has_dictionary) {
        return H5TWIN_OK;
    }
    if (plan->dictionary.keys != NULL) {
        encoder->dictionary = plan->dictionary;
        plan->dictionary = (struct h5twin_cascade_dictionary){0};
    } else {
        status = h5twin_cascade_dictionary_make(
            &encoder->dictionary, encoder->words, encoder->value_count, &plan->map, encoder->mask,
            encoder->unmasked, FEW_KEYS, encoder->keeps_memory, &pays);
    }
    if (status == H5TWIN_OK) {
        h5twin_cascade_dictionary_gaps(encoder->dictionary.keys, encoder->dictionary.key_count,
                                       encoder->plan->dictionary_order);
    }
    return status;
}

enum h5twin_status
h5twin_cascade_slab_encode(struct h5twin_cascade_plan *plan,
                           const struct h5twin_cascade_effort_plan *effort, uint32_t flips,
                           const struct h5twin_cascade_shape *shape, unsigned word_size,
                           h5twin_isa isa, unsigned threads, bool keeps_memory, uint8_t *dst,
                           const uint8_t *words, size_t *dst_size, unsigned *version)
{
    *version = CASCADE_VERSION;
    if (plan->is_constant) {
        *dst_size = put_words(dst, words, word_size, CASCADE_CONSTANT);
        return H5TWIN_OK;
    }
    struct cascade_encoder encoder = {
        .plan = plan,
        .effort = effort,
        .flips = flips,
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
        status = make_dictionary(&encoder, plan);
    }
    if (status == H5TWIN_OK) {
        status = open_arena(&encoder);
    }
    if (status == H5TWIN_OK) {
        *dst_size = encode_coded(&encoder, dst);
        *version = version_of(dst);
        cascade_arena_close(&encoder.arena);
    }
    h5twin_cascade_dictionary_free(&encoder.dictionary);
    free(encoder.mask);
    return status;
}
