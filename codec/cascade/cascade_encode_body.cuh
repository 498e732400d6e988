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

/* Find the size of a stream. *used counts super-blocks of notes and widths. */
template <typename word>
static __device__ struct cascade_section
cascade_plan_section(const struct cascade_encode_memory *memory,
                     struct h5twin_residuals_packed_plan *plan, const word *words,
                     uint64_t word_count, uint64_t *used)
{
    struct cascade_section section = {};
    section.word_count = word_count;
    section.widths = memory->widths + RESIDUALS_GROUPS * *used;
    section.notes = h5twin_residuals_notes_from(memory->notes, *used);
    section.plan = plan;
    *used += residuals_block_count(word_count);
    h5twin_residuals_packed_widths(section.widths, words, word_count, 0, 1);
    __syncthreads();
    section.size =
        h5twin_residuals_packed_plan(section.plan, section.notes, section.widths, word_count);
    return section;
}

/* Returns its end. */
template <typename word>
static __device__ uint8_t *
cascade_write_section(const struct cascade_section *section, uint8_t *dst, const word *words)
{
    h5twin_residuals_packed_write(section->plan, section->notes, section->widths, dst + 4, words,
                                  section->word_count, 0, 1);
    if (threadIdx.x == 0) {
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
    for (uint64_t i = threadIdx.x; i < nibble_count; i += blockDim.x) {
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
static __device__ __forceinline__ uint32_t
cascade_segment_values(const struct cascade_encode_work<lane> *work, uint64_t segment)
{
    const uint64_t left = work->unmasked - segment * CASCADE_REMAINDER_SEGMENT;
    return left < CASCADE_REMAINDER_SEGMENT ? (uint32_t)left : CASCADE_REMAINDER_SEGMENT;
}

/* Bits and exceptions of each segment, a warp each. */
template <typename lane>
static __device__ void
cascade_measure_segments(const struct cascade_encode_work<lane> *work, uint64_t segment_count)
{
    const uint32_t thread = threadIdx.x % 32u, fraction = h5twin_cascade_fraction(&work->map);
    for (uint64_t i = threadIdx.x / 32u; i < segment_count; i += CASCADE_WARPS) {
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

/* Where each segment goes; returns the bytes of all, with those of their sizes. */
template <typename lane>
static __device__ uint64_t
cascade_place_remainders(const struct cascade_encode_work<lane> *work, uint64_t segment_count)
{
    uint64_t total = 2 * segment_count;
    cascade_measure_segments(work, segment_count);
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

/* Put a field into a string of bits in shared memory that holds zeros there. */
static __device__ __forceinline__ void
cascade_put_bits(uint32_t *string, uint32_t bit, uint64_t field, uint32_t width)
{
    const uint32_t shift = bit % 32;
    uint32_t *const at = string + bit / 32;
    if (width == 0) {
        return;
    }
    atomicOr(at, (uint32_t)(field << shift));
    if (shift + width > 32) {
        atomicOr(at + 1, (uint32_t)(field >> 1 >> (31 - shift)));
    }
    if (shift + width > 64) {
        atomicOr(at + 2, (uint32_t)(field >> 1 >> (63 - shift)));
    }
}

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
        cascade_put_bits(string, before, remainder, width);
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
    for (uint64_t i = threadIdx.x / 32u; i < segment_count; i += CASCADE_WARPS) {
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
    uint64_t segment_count; /* of remainders */
};

/* A body of words as they are. */
template <typename lane>
static __device__ __forceinline__ void
cascade_body_of_words(struct cascade_body<lane> *body, uint32_t kind, uint64_t words_size)
{
    body->kind = kind;
    body->size = 2 + words_size + words_size % 2;
}

/* Make all that a coded body has, and find its size. plans: in shared memory. */
template <typename lane>
static __device__ void
cascade_make_body(const struct cascade_encode_work<lane> *work, struct cascade_body<lane> *body,
                  struct h5twin_residuals_packed_plan *plans)
{
    const struct cascade_encode_memory *const memory = work->memory;
    uint64_t used = 0;
    body->kind = CASCADE_CODED;
    body->size = CASCADE_SLAB_HEAD_BYTES;
    if (work->mask == nullptr) {
        body->residual_words = cascade_plain_differences(work, true);
    } else {
        cascade_masked_differences(work);
        cascade_pick_unmasked(work, work->map.map == CASCADE_SOFT);
        body->residual_words = work->a;
        cascade_make_nibbles(work);
        body->mask = cascade_plan_section(memory, &plans[1], work->held,
                                          (work->value_count + CASCADE_MASK_NIBBLE - 1) / 4, &used);
        body->size += 8 + cascade_section_size(&body->mask);
    }
    if (work->key_count != 0) {
        body->dictionary = cascade_plan_section(memory, &plans[2], work->c, work->key_count, &used);
        body->size += 6 + cascade_section_size(&body->dictionary);
    }
    body->residuals =
        cascade_plan_section(memory, &plans[0], body->residual_words, work->unmasked, &used);
    body->size += cascade_section_size(&body->residuals);
    body->segment_count = 0;
    if (work->map.map == CASCADE_SOFT) {
        body->segment_count =
            (work->unmasked + CASCADE_REMAINDER_SEGMENT - 1) / CASCADE_REMAINDER_SEGMENT;
        body->size += cascade_place_remainders(work, body->segment_count);
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

template <typename lane>
static __device__ void
cascade_write_coded(const struct cascade_encode_work<lane> *work,
                    const struct cascade_body<lane> *body, uint8_t *dst)
{
    uint8_t *at = dst + CASCADE_SLAB_HEAD_BYTES;
    if (threadIdx.x == 0) {
        cascade_write_head(work, dst);
        dst[body->size - 1] = 0; /* the padding, if nothing else is there */
    }
    __syncthreads();
    if (work->mask != nullptr) {
        if (threadIdx.x == 0) {
            h5twin_store64(at, work->fill);
        }
        at = cascade_write_section(&body->mask, at + 8, work->held);
    }
    if (work->key_count != 0) {
        if (threadIdx.x == 0) {
            h5twin_store32(at, (uint32_t)work->key_count);
            h5twin_store16(at + 4, (uint16_t)work->key_order);
        }
        at = cascade_write_section(&body->dictionary, at + 6, work->c);
    }
    at = cascade_write_section(&body->residuals, at, body->residual_words);
    if (body->segment_count != 0) {
        cascade_write_remainders(work, at, body->segment_count);
    }
}

/* Write a body that was made, or the words themselves. */
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
    for (uint64_t i = threadIdx.x; i < words_size; i += blockDim.x) {
        dst[2 + i] = work->words[i];
    }
    if (threadIdx.x == 0) {
        dst[0] = (uint8_t)body->kind;
        dst[1] = 0;
        if (words_size % 2 != 0) {
            dst[2 + words_size] = 0;
        }
    }
}

#endif
