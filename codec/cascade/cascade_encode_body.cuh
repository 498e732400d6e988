/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_body.cuh: the bytes of a slab: sections, remainders, sizes. The twin of
 * cascade_slab_encode.c. All sizes are known before a byte is written.
 * Source  FORMAT.md section 2. */
#ifndef H5TWIN_CASCADE_ENCODE_BODY_CUH
#define H5TWIN_CASCADE_ENCODE_BODY_CUH

#include "cascade_encode_differences.cuh"

/* ---- sections ---- */

static __device__ __forceinline__ uint64_t
cascade_section_size(const struct cascade_section *section)
{
    return 4 + section->size + section->size % 2;
}

/* A stream's memory. *used counts super-blocks of notes and widths. */
static __device__ __forceinline__ struct cascade_section
cascade_open_section(const struct cascade_encode_memory *memory,
                     struct h5twin_residuals_packed_plan *plan, uint64_t word_count, uint64_t *used)
{
    struct cascade_section section = {};
    section.word_count = word_count;
    section.widths = memory->widths + RESIDUALS_GROUPS * *used;
    section.notes = h5twin_residuals_notes_from(memory->notes, *used);
    section.plan = plan;
    *used += residuals_block_count(word_count);
    return section;
}

/* Find the size of a stream whose widths are there. */
static __device__ __forceinline__ void
cascade_plan_section(struct cascade_section *section)
{
    section->size = h5twin_residuals_packed_plan(section->plan, section->notes, section->widths,
                                                 section->word_count);
}

/* What falls to block `part` of `parts`. Returns the section's end. */
template <typename word>
static __device__ uint8_t *
cascade_write_section(const struct cascade_section *section, uint8_t *dst, const word *words,
                      uint32_t part, uint32_t parts)
{
    h5twin_residuals_packed_write(section->plan, section->notes, section->widths, dst + 4, words,
                                  section->word_count, part, parts);
    if (part == 0 && threadIdx.x == 0) {
        h5twin_store32(dst, (uint32_t)section->size);
        if (section->size % 2 != 0) {
            dst[4 + section->size] = 0;
        }
    }
    return dst + cascade_section_size(section);
}

/* The words of the mask's stream, where `held` was. */
template <typename lane>
static __device__ void
cascade_make_nibbles(const struct cascade_encode_work<lane> *work)
{
    const uint64_t nibble_count = (work->value_count + CASCADE_MASK_NIBBLE - 1) / 4;
    for (uint64_t i = cascade_first_item(work); i < nibble_count; i += cascade_item_step(work)) {
        work->held[i] = cascade_sent_nibble(work, i, work->mask_axis);
    }
    __syncthreads();
}

/* ---- remainders ---- */

/* The words that have remainders: those not masked, in their order. */
template <typename lane>
static __device__ __forceinline__ lane
cascade_unmasked_word(const struct cascade_encode_work<lane> *work, uint64_t index)
{
    return work->mask != nullptr ? work->kept[index] : cascade_word_at(work, index);
}

template <typename lane>
static __device__ __forceinline__ uint64_t
cascade_segment_count(const struct cascade_encode_work<lane> *work)
{
    return (work->unmasked + CASCADE_REMAINDER_SEGMENT - 1) / CASCADE_REMAINDER_SEGMENT;
}

template <typename lane>
static __device__ __forceinline__ uint32_t
cascade_segment_values(const struct cascade_encode_work<lane> *work, uint64_t segment)
{
    const uint64_t left = work->unmasked - segment * CASCADE_REMAINDER_SEGMENT;
    return left < CASCADE_REMAINDER_SEGMENT ? (uint32_t)left : CASCADE_REMAINDER_SEGMENT;
}

/* Bits and exceptions of the segments that fall to a block, a warp each. */
template <typename lane>
static __device__ void
cascade_measure_segments(const struct cascade_encode_work<lane> *work, uint64_t segment_count)
{
    const uint32_t thread = threadIdx.x % 32u, fraction = h5twin_cascade_fraction(&work->map);
    for (uint64_t i = cascade_first_of_warp(work); i < segment_count;
         i += cascade_warp_step(work)) {
        const uint64_t begin = i * CASCADE_REMAINDER_SEGMENT;
        const uint32_t count = cascade_segment_values(work, i);
        uint64_t bits = 0, exceptions = 0;
        for (uint32_t k = thread; k < count; k += 32) {
            lane remainder;
            const lane code =
                cascade_soft_of(cascade_unmasked_word(work, begin + k), &work->map, &remainder);
            bits += cascade_soft_bits(code, fraction);
            exceptions += code == 0 && remainder != 0;
        }
        bits = h5twin_warp_sum(bits);
        exceptions = h5twin_warp_sum(exceptions);
        if (thread == 0) {
            work->memory->segment[0][i] = (uint32_t)bits;
            work->memory->segment[1][i] = (uint32_t)exceptions;
        }
    }
    __syncthreads();
}

template <typename lane>
static __device__ __forceinline__ uint32_t
cascade_segment_size(const struct cascade_encode_work<lane> *work, uint64_t segment)
{
    return (work->memory->segment[0][segment] + 7) / 8 +
           work->memory->segment[1][segment] * work->word_size;
}

/* Where each segment goes that was measured; returns the bytes of all, with those of their sizes.
 */
template <typename lane>
static __device__ uint64_t
cascade_place_remainders(const struct cascade_encode_work<lane> *work, uint64_t segment_count)
{
    uint64_t total = 2 * segment_count;
    for (uint64_t base = 0; base < segment_count; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        const uint32_t size = i < segment_count ? cascade_segment_size(work, i) : 0;
        uint32_t step;
        const uint64_t place = total + h5twin_block_exclusive_sum(size, CASCADE_WARPS, &step);
        if (i < segment_count) {
            work->memory->segment[2][i] = (uint32_t)place;
        }
        total += step;
    }
    __syncthreads();
    return total;
}

/* Of a warp's string of bits: 31 bits left over and 32 remainders of up to 53 bits. */
#define CASCADE_BIT_WORDS 64u

/* The bits and exceptions of a segment, by a warp. */
template <typename lane>
static __device__ void
cascade_write_segment(const struct cascade_encode_work<lane> *work, uint8_t *dst, uint64_t segment,
                      uint32_t *string)
{
    const uint32_t thread = threadIdx.x % 32u, fraction = h5twin_cascade_fraction(&work->map);
    const uint64_t begin = segment * CASCADE_REMAINDER_SEGMENT;
    const uint32_t count = cascade_segment_values(work, segment);
    uint8_t *exceptions = dst + (work->memory->segment[0][segment] + 7) / 8;
    uint32_t kept = 0, kept_bits = 0; /* of a word that is not full yet */
    for (uint32_t base = 0; base < count; base += 32) {
        const bool active = base + thread < count;
        const lane word = active ? cascade_unmasked_word(work, begin + base + thread) : (lane)0;
        lane remainder = 0;
        const lane code = active ? cascade_soft_of(word, &work->map, &remainder) : (lane)0;
        const uint32_t width = active ? cascade_soft_bits(code, fraction) : 0;
        const uint32_t before = kept_bits + h5twin_warp_exclusive_sum(width);
        const uint32_t end = __shfl_sync(H5TWIN_ALL_LANES, before + width, 31);
        for (uint32_t i = thread; i < CASCADE_BIT_WORDS; i += 32) {
            string[i] = i == 0 ? kept : 0;
        }
        __syncwarp();
        residuals_or_bits(string, before, remainder, width);
        __syncwarp();
        for (uint32_t i = thread; i < end / 32; i += 32) {
            h5twin_store32(dst + 4 * i, string[i]);
        }
        kept = string[end / 32];
        kept_bits = end % 32;
        dst += end / 32 * 4;
        __syncwarp(); /* all have read */
        const bool is_exception = active && code == 0 && remainder != 0;
        const uint32_t all = __ballot_sync(H5TWIN_ALL_LANES, is_exception);
        if (is_exception) {
            const uint32_t rank = h5twin_popcount32(all & ((1u << thread) - 1u));
            for (uint32_t byte = 0; byte < sizeof(lane); byte++) {
                exceptions[rank * sizeof(lane) + byte] = (uint8_t)(word >> 8 * byte);
            }
        }
        exceptions += h5twin_popcount32(all) * sizeof(lane);
    }
    if (thread < (kept_bits + 7) / 8) {
        dst[thread] = (uint8_t)(kept >> 8 * thread);
    }
}

template <typename lane>
static __device__ void
cascade_write_remainders(const struct cascade_encode_work<lane> *work, uint8_t *dst,
                         uint64_t segment_count)
{
    uint32_t *const string =
        reinterpret_cast<uint32_t *>(work->room) + CASCADE_BIT_WORDS * (threadIdx.x / 32u);
    for (uint64_t i = cascade_first_of_warp(work); i < segment_count;
         i += cascade_warp_step(work)) {
        if (threadIdx.x % 32u == 0) {
            h5twin_store16(dst + 2 * i, (uint16_t)cascade_segment_size(work, i));
        }
        cascade_write_segment(work, dst + work->memory->segment[2][i], i, string);
    }
}

/* ---- bodies ---- */

/* What is to be written. */
template <typename lane> struct cascade_body {
    uint32_t kind;
    uint64_t size; /* all of it */
    struct cascade_section residuals, mask, dictionary;
    const lane *residual_words;
    uint64_t segment_count, remainder_size; /* of remainders */
};

/* A body of words as they are. */
template <typename lane>
static __device__ __forceinline__ void
cascade_body_of_words(struct cascade_body<lane> *body, uint32_t kind, uint64_t words_size)
{
    body->kind = kind;
    body->size = 2 + words_size + words_size % 2;
}

/* Its sections and where their words are, of which there are `residual_words`. plans: in memory
 * that all threads see. */
template <typename lane>
static __device__ void
cascade_open_body(const struct cascade_encode_work<lane> *work, struct cascade_body<lane> *body,
                  struct h5twin_residuals_packed_plan *plans, const lane *residual_words)
{
    const struct cascade_encode_memory *const memory = work->memory;
    uint64_t used = 0;
    body->kind = CASCADE_CODED;
    body->residual_words = residual_words;
    if (work->mask != nullptr) {
        const uint64_t nibble_count = (work->value_count + CASCADE_MASK_NIBBLE - 1) / 4;
        body->mask = cascade_open_section(memory, &plans[1], nibble_count, &used);
    }
    if (work->key_count != 0) {
        body->dictionary = cascade_open_section(memory, &plans[2], work->key_count, &used);
    }
    body->residuals = cascade_open_section(memory, &plans[0], work->unmasked, &used);
    body->segment_count = work->map.map == CASCADE_SOFT ? cascade_segment_count(work) : 0;
}

/* What falls to a block of measuring it. */
template <typename lane>
static __device__ void
cascade_measure_body(const struct cascade_encode_work<lane> *work,
                     const struct cascade_body<lane> *body)
{
    const uint32_t part = work->part, parts = work->parts;
    h5twin_residuals_packed_widths(body->residuals.widths, body->residual_words,
                                   body->residuals.word_count, part, parts);
    if (work->mask != nullptr) {
        h5twin_residuals_packed_widths(body->mask.widths, work->held, body->mask.word_count, part,
                                       parts);
    }
    if (work->key_count != 0) {
        h5twin_residuals_packed_widths(body->dictionary.widths, work->c,
                                       body->dictionary.word_count, part, parts);
    }
    cascade_measure_segments(work, body->segment_count);
}

/* Find the size of a body that was measured. By one block of threads. */
template <typename lane>
static __device__ void
cascade_size_body(const struct cascade_encode_work<lane> *work, struct cascade_body<lane> *body)
{
    body->size = CASCADE_SLAB_HEAD_BYTES;
    if (work->mask != nullptr) {
        cascade_plan_section(&body->mask);
        body->size += 8 + cascade_section_size(&body->mask);
    }
    if (work->key_count != 0) {
        cascade_plan_section(&body->dictionary);
        body->size += 6 + cascade_section_size(&body->dictionary);
    }
    cascade_plan_section(&body->residuals);
    body->size += cascade_section_size(&body->residuals);
    if (body->segment_count != 0) {
        body->remainder_size = cascade_place_remainders(work, body->segment_count);
        body->size += body->remainder_size;
    }
    body->size += body->size % 2;
    const uint64_t raw_size = work->value_count * work->word_size;
    if (body->size >= 2 + raw_size) {
        cascade_body_of_words(body, CASCADE_RAW, raw_size);
    }
}

/* By one thread. */
template <typename lane>
static __device__ void
cascade_write_head(const struct cascade_encode_work<lane> *work, uint8_t *dst)
{
    uint32_t orders = 0;
    for (uint32_t axis = 0; axis < work->shape.rank; axis++) {
        orders |= work->orders.axis[axis] << (4 * axis);
    }
    dst[0] = CASCADE_CODED;
    dst[1] = (uint8_t)((work->mask != nullptr ? CASCADE_MASK : 0) |
                       (work->key_count != 0 ? CASCADE_DICTIONARY : 0) |
                       work->map.map << CASCADE_MAP_SHIFT);
    dst[2] = (uint8_t)work->map.trailing;
    dst[3] = (uint8_t)work->mask_axis;
    h5twin_store16(dst + 4, (uint16_t)work->map.exponent);
    h5twin_store16(dst + 6, (uint16_t)orders);
}

/* What falls to a block. */
template <typename lane>
static __device__ void
cascade_write_coded(const struct cascade_encode_work<lane> *work,
                    const struct cascade_body<lane> *body, uint8_t *dst)
{
    const uint32_t part = work->part, parts = work->parts;
    const bool is_first = part == 0 && threadIdx.x == 0;
    uint8_t *at = dst + CASCADE_SLAB_HEAD_BYTES;
    if (is_first) {
        cascade_write_head(work, dst);
    }
    if (work->mask != nullptr) {
        if (is_first) {
            h5twin_store64(at, work->fill);
        }
        at = cascade_write_section(&body->mask, at + 8, work->held, part, parts);
    }
    if (work->key_count != 0) {
        if (is_first) {
            h5twin_store32(at, (uint32_t)work->key_count);
            h5twin_store16(at + 4, (uint16_t)work->key_order);
        }
        at = cascade_write_section(&body->dictionary, at + 6, work->c, part, parts);
    }
    at = cascade_write_section(&body->residuals, at, body->residual_words, part, parts);
    if (body->segment_count != 0) {
        cascade_write_remainders(work, at, body->segment_count);
        at += body->remainder_size;
    }
    if (is_first && at != dst + body->size) {
        *at = 0;
    }
}

/* Write what falls to a block of a body that was made, or of the words themselves. */
template <typename lane>
static __device__ void
cascade_write_body(const struct cascade_encode_work<lane> *work,
                   const struct cascade_body<lane> *body, uint8_t *dst)
{
    if (body->kind == CASCADE_CODED) {
        cascade_write_coded(work, body, dst);
        return;
    }
    const uint64_t words_size =
        (body->kind == CASCADE_CONSTANT ? 1 : work->value_count) * work->word_size;
    for (uint64_t i = cascade_first_item(work); i < words_size; i += cascade_item_step(work)) {
        dst[2 + i] = work->words[i];
    }
    if (work->part == 0 && threadIdx.x == 0) {
        dst[0] = (uint8_t)body->kind;
        dst[1] = 0;
        if (words_size % 2 != 0) {
            dst[2 + words_size] = 0;
        }
    }
}

#endif
