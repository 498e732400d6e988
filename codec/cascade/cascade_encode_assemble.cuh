/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode_assemble.cuh: the bytes of a slab whose residual streams are rANS codes. The twin
 * of cascade_slab_encode.c.
 *
 * Each stream's memory is the next one's, so a body is put together aside, section after section,
 * until it is complete or as large as the words themselves.
 * Source  FORMAT.md section 2. */
#ifndef H5TWIN_CASCADE_ENCODE_ASSEMBLE_CUH
#define H5TWIN_CASCADE_ENCODE_ASSEMBLE_CUH

#include "../residuals/residuals_rans_encode.cuh"
#include "cascade_encode_body.cuh"
#include "cascade_encode_refer.cuh"

#define CASCADE_HEAD_BYTES       8192u /* more than the tables of a stream take */
#define CASCADE_HEAD_BLOCK_BYTES 8u    /* and what else may stand before segments, of each block */

/* The part of a body that is written already. All threads hold the same one. */
struct cascade_assembly {
    uint8_t *begin, *at;
    uint64_t limit; /* bytes: bodies as large are of no use */
    bool fits;
};

/* Go on by so many bytes, or find that these are too many. */
static __device__ __forceinline__ bool
cascade_has_room(struct cascade_assembly *body, uint64_t size)
{
    body->fits = body->fits && (uint64_t)(body->at - body->begin) + size < body->limit;
    return body->fits;
}

static __device__ void
cascade_begin_counts(struct h5twin_residuals_rans_work *work)
{
    for (uint32_t i = threadIdx.x; i < RESIDUALS_CLASSES; i += blockDim.x) {
        work->blocks[i] = 0;
    }
    for (uint32_t i = threadIdx.x; i < RESIDUALS_CLASSES * RESIDUALS_TOKENS; i += blockDim.x) {
        work->tokens[i / RESIDUALS_TOKENS][i % RESIDUALS_TOKENS] = 0;
    }
    __syncthreads();
}

/* Write words as a section. */
template <typename word>
static __device__ __noinline__ void
cascade_put_section(struct cascade_assembly *body, struct h5twin_residuals_rans_memory memory,
                    const word *words, uint64_t word_count)
{
    if (!body->fits) {
        return;
    }
    uint8_t *const dst = body->at;
    cascade_begin_counts(memory.work);
    h5twin_residuals_rans_count(memory, words, word_count, 0, 1);
    __syncthreads();
    (void)h5twin_residuals_rans_model(memory, word_count);
    __syncthreads();
    h5twin_residuals_rans_put(memory, words, word_count, 0, 1);
    __syncthreads();
    const uint64_t size = h5twin_residuals_rans_head(memory, dst + 4, word_count);
    if (!cascade_has_room(body, 4 + size + size % 2)) {
        return;
    }
    h5twin_residuals_rans_write(memory, dst + 4, words, word_count, 0, 1);
    if (threadIdx.x == 0) {
        h5twin_store32(dst, (uint32_t)size);
        if (size % 2 != 0) {
            dst[4 + size] = 0;
        }
    }
    body->at += 4 + size + size % 2;
    __syncthreads();
}

/* ---- parts of a body ---- */

/* Those not masked next to each other, zigzagged: of residuals, where they are, all of them if
 * nothing is masked. */
template <typename lane>
static __device__ void
cascade_zigzag_residuals(const struct cascade_encode_work<lane> *work, lane *residuals)
{
    uint64_t rank = 0;
    for (uint64_t i = threadIdx.x; work->mask == nullptr && i < work->value_count;
         i += blockDim.x) {
        residuals[i] = cascade_zigzag_of(residuals[i], work->word_bits);
    }
    for (uint64_t base = 0; work->mask != nullptr && base < work->value_count; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        const bool counts = i < work->value_count && work->mask[i] == 0;
        const lane residual = counts ? residuals[i] : (lane)0;
        uint32_t step;
        /* has barriers: all residuals of this round are read, and none of them is written before */
        const uint32_t before = h5twin_block_exclusive_sum((uint32_t)counts, CASCADE_WARPS, &step);
        if (counts) {
            residuals[rank + before] = cascade_zigzag_of(residual, work->word_bits);
        }
        rank += step;
    }
    __syncthreads();
}

/* The words that have remainders, with a mask: next to each other in `kept`. */
template <typename lane>
static __device__ void
cascade_keep_words(struct cascade_encode_work<lane> *work, lane *kept)
{
    uint64_t rank = 0;
    work->kept = kept;
    for (uint64_t base = 0; work->mask != nullptr && base < work->value_count; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        const bool counts = i < work->value_count && work->mask[i] == 0;
        uint32_t step;
        const uint32_t before = h5twin_block_exclusive_sum((uint32_t)counts, CASCADE_WARPS, &step);
        if (counts) {
            kept[rank + before] = cascade_word_at(work, i);
        }
        rank += step;
    }
    __syncthreads();
}

template <typename lane>
static __device__ void
cascade_put_head(const struct cascade_encode_work<lane> *work, struct cascade_assembly *body,
                 bool refers)
{
    if (threadIdx.x == 0) {
        cascade_write_head(work, body->at);
        body->at[1] |= refers ? CASCADE_REFERENCES : 0;
    }
    body->at += CASCADE_SLAB_HEAD_BYTES;
}

/* The mask's words take the place of `held`. */
template <typename lane>
static __device__ void
cascade_put_mask(const struct cascade_encode_work<lane> *work, struct cascade_assembly *body)
{
    cascade_make_nibbles(work);
    if (threadIdx.x == 0) {
        h5twin_store64(body->at, work->fill);
    }
    body->at += 8;
    cascade_put_section(body, work->memory->rans, work->held,
                        (work->value_count + CASCADE_MASK_NIBBLE - 1) / CASCADE_MASK_NIBBLE);
}

template <typename lane>
static __device__ void
cascade_put_dictionary(const struct cascade_encode_work<lane> *work, struct cascade_assembly *body)
{
    if (!cascade_has_room(body, 6)) {
        return;
    }
    if (threadIdx.x == 0) {
        h5twin_store32(body->at, (uint32_t)work->key_count);
        h5twin_store16(body->at + 4, (uint16_t)work->key_order);
    }
    body->at += 6;
    cascade_put_section(body, work->memory->rans, work->c, work->key_count);
}

template <typename lane>
static __device__ void
cascade_put_references(const struct cascade_encode_work<lane> *work, struct cascade_assembly *body,
                       const struct cascade_entries *entries, const uint32_t *index)
{
    const uint32_t count = entries->count;
    if (!cascade_has_room(body, 2 + 4 * count)) {
        return;
    }
    if (threadIdx.x == 0) {
        body->at[0] = (uint8_t)count;
        body->at[1] = (uint8_t)entries->rounds;
    }
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        h5twin_store32(body->at + 2 + 4 * i, entries->entry[i]);
    }
    body->at += 2 + 4 * count;
    cascade_put_section(body, work->memory->rans, index,
                        (work->value_count + CASCADE_REFERENCE_BLOCK - 1) /
                            CASCADE_REFERENCE_BLOCK);
}

/* ---- a body ---- */

/* Make a coded body aside; returns its size, or that of the words if these are no larger. */
template <typename lane>
static __device__ uint64_t
cascade_assemble(struct cascade_encode_work<lane> *work, lane *fourth)
{
    const uint64_t raw_size = work->value_count * work->word_size;
    struct cascade_assembly body = {work->memory->body, work->memory->body, 2 + raw_size, true};
    struct cascade_residual_choice<lane> choice = {
    };
    uint64_t remainder_size = 0;
    if (work->map.map == CASCADE_SOFT) {
        cascade_keep_words(work, work->a);
        cascade_measure_segments(work, cascade_segment_count(work));
        remainder_size = cascade_place_remainders(work, cascade_segment_count(work));
    }
    cascade_choose_residuals(work, remainder_size, fourth, &choice);
    work->map = choice.way.map;
    for (uint32_t axis = 0; axis < CASCADE_MAX_RANK; axis++) {
        work->orders.axis[axis] = choice.way.order[axis];
    }
    cascade_put_head(work, &body, choice.entries != nullptr);
    if (work->mask != nullptr) {
        cascade_put_mask(work, &body);
    }
    if (work->key_count != 0) {
        cascade_put_dictionary(work, &body);
    }
    if (choice.entries != nullptr) {
        cascade_put_references(work, &body, choice.entries, choice.index);
    }
    cascade_zigzag_residuals(work, choice.residuals);
    cascade_put_section(&body, work->memory->rans, choice.residuals, work->unmasked);
    if (work->map.map == CASCADE_SOFT && cascade_has_room(&body, remainder_size)) {
        cascade_keep_words(work, choice.spare);
        cascade_write_remainders(work, body.at, cascade_segment_count(work));
        body.at += remainder_size;
    }
    uint64_t size = (uint64_t)(body.at - body.begin);
    if (size % 2 != 0) {
        if (threadIdx.x == 0) {
            *body.at = 0;
        }
        size++;
    }
    __syncthreads();
    return body.fits && size < body.limit ? size : 0;
}

#endif
