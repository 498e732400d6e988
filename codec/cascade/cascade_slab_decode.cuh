/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_slab_decode.cuh: a slab, by one block of threads: its sections in the order of the
 * stream, then differences along one axis after the other.
 *
 * The checks and statuses of cascade_slab_decode.c. Functions are called by all threads and return
 * the same to all; each leaves behind a barrier what the next one reads.
 * Source  FORMAT.md sections 2 to 9. */
#ifndef H5TWIN_CASCADE_SLAB_DECODE_CUH
#define H5TWIN_CASCADE_SLAB_DECODE_CUH

#include "cascade_batch.cuh"

template <typename lane>
static __device__ __forceinline__ uint64_t
cascade_left(const struct cascade_slab_work<lane> *work)
{
    return (uint64_t)(work->end - work->at);
}

/* The padding byte after an odd size. */
template <typename lane>
static __device__ __forceinline__ uint32_t
cascade_skip_padding(struct cascade_slab_work<lane> *work, uint64_t size)
{
    if (size % 2 == 0) {
        return H5TWIN_OK;
    }
    if (cascade_left(work) == 0) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    return *work->at++ == 0 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

/* The next section: a residual stream and its size. */
template <typename lane, typename word>
static __device__ uint32_t
cascade_read_section(struct cascade_slab_work<lane> *work, word *words, uint64_t count,
                     bool zigzagged)
{
    if (cascade_left(work) < 4) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    const uint64_t size = h5twin_load32(work->at);
    work->at += 4;
    if (cascade_left(work) < size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    if (h5twin_residuals_open(work->stream, work->notes, work->at, size, count,
                              8 * (uint32_t)sizeof(word)) != H5TWIN_OK) {
        return H5TWIN_ERR_CORRUPT; /* a stream cut short by its own size, too */
    }
    const bool good =
        h5twin_residuals_decode_part(work->stream, work->notes, words, zigzagged, 0, 1);
    const bool fits = work->stream->used == size;
    if (__syncthreads_or(!good) != 0 || !fits) {
        return H5TWIN_ERR_CORRUPT;
    }
    work->at += size;
    return cascade_skip_padding(work, size);
}

/* ---- mask ---- */

template <typename lane>
static __device__ __forceinline__ bool
cascade_is_masked(const struct cascade_slab_work<lane> *work, uint64_t index)
{
    return work->mask != nullptr && (work->mask[index] & 1u) != 0;
}

template <typename lane>
static __device__ uint32_t
cascade_read_mask(struct cascade_slab_work<lane> *work)
{
    if (cascade_left(work) < 8) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    work->fill = h5twin_load64(work->at);
    work->at += 8;
    if (work->word_size < 8 && work->fill >> (8 * work->word_size) != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    uint32_t *const nibbles = reinterpret_cast<uint32_t *>(work->residuals);
    const uint64_t nibble_count = (work->value_count + CASCADE_MASK_NIBBLE - 1) / 4;
    const uint32_t status = cascade_read_section(work, nibbles, nibble_count, false);
    if (status != H5TWIN_OK) {
        return status;
    }
    bool bad = false;
    for (uint64_t i = threadIdx.x; i < 4 * nibble_count; i += blockDim.x) {
        const uint32_t nibble = nibbles[i / 4], bit = nibble >> (i % 4) & 1u;
        bad |= nibble > 15 || (i >= work->value_count && bit != 0);
        if (i < work->value_count) {
            work->mask[i] = (uint8_t)bit;
        }
    }
    if (__syncthreads_or(bad) != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (work->slab.mask_axis != 0) {
        const uint32_t axis = work->slab.mask_axis - 1;
        const struct h5twin_lines lines = {work->value_count, work->shape.extent[axis],
                                           cascade_stride(&work->shape, axis), 1, 0};
        h5twin_lines_sum(&lines, work->mask, 0, 1); /* of bits: the lowest one is their xor */
        __syncthreads();
    }
    uint64_t masked = 0;
    for (uint64_t i = threadIdx.x; i < work->value_count; i += blockDim.x) {
        masked += work->mask[i] & 1u;
    }
    work->unmasked -= residuals_block_sum(masked);
    return H5TWIN_OK;
}

/* ---- dictionary ---- */

template <typename lane>
static __device__ uint32_t
cascade_read_dictionary(struct cascade_slab_work<lane> *work)
{
    if (cascade_left(work) < 6) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    work->word_count = h5twin_load32(work->at);
    const uint32_t order = h5twin_load16(work->at + 4);
    work->at += 6;
    if (work->word_count < 1 || work->word_count > work->unmasked || order < 1 || order > 2) {
        return H5TWIN_ERR_CORRUPT;
    }
    const uint32_t status = cascade_read_section(work, work->words, work->word_count, true);
    if (status != H5TWIN_OK) {
        return status;
    }
    const struct h5twin_lines line = {work->word_count, work->word_count, 1, order, 1};
    h5twin_lines_sum(&line, work->words, 0, 1);
    __syncthreads();
    for (uint64_t i = threadIdx.x; i < work->word_count; i += blockDim.x) {
        work->words[i] = cascade_key_word(work->words[i], &work->slab.map);
    }
    __syncthreads();
    return H5TWIN_OK;
}

/* ---- references ---- */

/* Blocks that do not refer to each other: sources lie at least the least lag before. */
template <typename lane>
static __device__ __forceinline__ uint64_t
cascade_window(const struct cascade_slab_work<lane> *work)
{
    return work->least_lag / CASCADE_REFERENCE_BLOCK;
}

/* An upper bound of the length of the chains of each block; whether one is too long. */
template <typename lane>
static __device__ bool
cascade_has_deep_blocks(const struct cascade_slab_work<lane> *work, const uint32_t *entries,
                        uint64_t block_count)
{
    const uint64_t window = cascade_window(work);
    bool is_deep = false;
    for (uint64_t begin = 0; begin < block_count; begin += window) {
        const uint64_t end = begin + window < block_count ? begin + window : block_count;
        for (uint64_t block = begin + threadIdx.x; block < end; block += blockDim.x) {
            const uint32_t index = work->index[block];
            uint32_t depth = 0;
            if (index != 0) {
                const uint64_t first = block * CASCADE_REFERENCE_BLOCK - (entries[index - 1] >> 1);
                const uint64_t last = (block + 1) * CASCADE_REFERENCE_BLOCK < work->value_count
                                          ? first + CASCADE_REFERENCE_BLOCK - 1
                                          : work->value_count - 1 - (entries[index - 1] >> 1);
                const uint32_t a = work->depths[first / CASCADE_REFERENCE_BLOCK];
                const uint32_t b = work->depths[last / CASCADE_REFERENCE_BLOCK];
                depth = 1 + (a > b ? a : b);
            }
            work->depths[block] = depth;
            is_deep |= depth >> work->rounds != 0;
        }
        __syncthreads();
    }
    return __syncthreads_or(is_deep) != 0;
}

/* Whether the chain of some value is too long; lanes are free for its steps. */
template <typename lane>
static __device__ bool
cascade_has_deep_values(const struct cascade_slab_work<lane> *work, const uint32_t *entries,
                        uint64_t block_count)
{
    uint32_t *const steps = reinterpret_cast<uint32_t *>(work->lanes);
    const uint64_t window = cascade_window(work);
    bool is_deep = false;
    for (uint64_t begin = 0; begin < block_count; begin += window) {
        const uint64_t end = begin + window < block_count ? begin + window : block_count;
        for (uint64_t block = begin + threadIdx.x / 32u; block < end; block += CASCADE_WARPS) {
            const uint64_t i = block * CASCADE_REFERENCE_BLOCK + threadIdx.x % 32u;
            const uint32_t index = work->index[block];
            if (i < work->value_count) {
                const bool refers = index != 0 && !cascade_is_masked(work, i);
                const uint32_t own = refers ? 1 + steps[i - (entries[index - 1] >> 1)] : 0;
                steps[i] = own;
                is_deep |= own >> work->rounds != 0;
            }
        }
        __syncthreads();
    }
    return __syncthreads_or(is_deep) != 0;
}

template <typename lane>
static __device__ uint32_t
cascade_check_references(struct cascade_slab_work<lane> *work, const uint32_t *entries,
                         uint64_t block_count)
{
    H5TWIN_SHARED(uint32_t, least, 1);
    bool bad = false;
    if (threadIdx.x == 0) {
        least[0] = UINT32_MAX;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < work->entry_count; i += blockDim.x) {
        bad |= entries[i] >> 1 < CASCADE_REFERENCE_BLOCK;
    }
    for (uint64_t block = threadIdx.x; block < block_count; block += blockDim.x) {
        const uint32_t index = work->index[block];
        if (index > work->entry_count) {
            bad = true;
        } else if (index != 0) {
            const uint32_t lag = entries[index - 1] >> 1;
            bad |= lag > block * CASCADE_REFERENCE_BLOCK;
            atomicMin(least, lag);
        }
    }
    if (__syncthreads_or(bad) != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    work->least_lag = least[0] == UINT32_MAX ? 0 : least[0];
    __syncthreads();
    return work->least_lag != 0 && cascade_has_deep_blocks(work, entries, block_count) &&
                   cascade_has_deep_values(work, entries, block_count)
               ? H5TWIN_ERR_CORRUPT
               : H5TWIN_OK;
}

/* entries: in shared memory. */
template <typename lane>
static __device__ uint32_t
cascade_read_references(struct cascade_slab_work<lane> *work, uint32_t *entries)
{
    if (cascade_left(work) < 2) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    work->entry_count = work->at[0];
    work->rounds = work->at[1];
    work->at += 2;
    if (work->entry_count < 1 || work->rounds < 1 || work->rounds > CASCADE_MAX_ROUNDS) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (cascade_left(work) < 4 * (uint64_t)work->entry_count) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    for (uint32_t i = threadIdx.x; i < work->entry_count; i += blockDim.x) {
        entries[i] = h5twin_load32(work->at + 4 * i);
    }
    work->at += 4 * work->entry_count;
    const uint64_t block_count =
        (work->value_count + CASCADE_REFERENCE_BLOCK - 1) / CASCADE_REFERENCE_BLOCK;
    const uint32_t status = cascade_read_section(work, work->index, block_count, false);
    __syncthreads();
    return status == H5TWIN_OK ? cascade_check_references(work, entries, block_count) : status;
}

/* Turn what was sent into differences, where it is; a warp for each block of a window. */
template <typename lane>
static __device__ void
cascade_add_references(const struct cascade_slab_work<lane> *work, const uint32_t *entries)
{
    const uint64_t window = cascade_window(work);
    const uint64_t block_count =
        (work->value_count + CASCADE_REFERENCE_BLOCK - 1) / CASCADE_REFERENCE_BLOCK;
    for (uint64_t begin = 0; window != 0 && begin < block_count; begin += window) {
        const uint64_t end = begin + window < block_count ? begin + window : block_count;
        for (uint64_t block = begin + threadIdx.x / 32u; block < end; block += CASCADE_WARPS) {
            const uint64_t i = block * CASCADE_REFERENCE_BLOCK + threadIdx.x % 32u;
            const uint32_t index = work->index[block];
            if (index != 0 && i < work->value_count && !cascade_is_masked(work, i)) {
                const lane source = work->lanes[i - (entries[index - 1] >> 1)];
                work->lanes[i] += (entries[index - 1] & 1u) != 0 ? (lane)0 - source : source;
            }
        }
        __syncthreads();
    }
}

/* ---- values that are not masked, in their order ---- */

/* Call visit(index, rank) for each value, rank being the number of those before it that are not
 * masked. A struct, as there are no lambdas. */
template <typename lane, typename Visit>
static __device__ void
cascade_each_ranked(const struct cascade_slab_work<lane> *work, const Visit &visit)
{
    uint64_t rank = 0;
    for (uint64_t base = 0; base < work->value_count; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        const uint32_t counts = i < work->value_count && !cascade_is_masked(work, i);
        uint32_t step;
        const uint64_t before = rank + h5twin_block_exclusive_sum(counts, CASCADE_WARPS, &step);
        if (i < work->value_count) {
            visit.at(i, before, counts != 0);
        }
        rank += step;
    }
    __syncthreads();
}

template <typename lane> struct cascade_spread {
    lane *all;
    const lane *ranked;
    __device__ __forceinline__ void
    at(uint64_t index, uint64_t rank, bool counts) const
    {
        all[index] = counts ? ranked[rank] : (lane)0;
    }
};

template <typename lane> struct cascade_gather {
    const lane *all;
    lane *ranked;
    __device__ __forceinline__ void
    at(uint64_t index, uint64_t rank, bool counts) const
    {
        if (counts) {
            ranked[rank] = all[index];
        }
    }
};

template <typename lane> struct cascade_restore {
    uint8_t *dst;
    const lane *ranked;
    uint64_t fill;
    uint32_t word_size;
    __device__ __forceinline__ void
    at(uint64_t index, uint64_t rank, bool counts) const
    {
        h5twin_gpu_store_word(dst, index, counts ? ranked[rank] : fill, word_size);
    }
};

template <typename lane>
static __device__ uint32_t
cascade_read_residuals(struct cascade_slab_work<lane> *work, const uint32_t *entries)
{
    lane *const to = work->mask == nullptr ? work->lanes : work->residuals;
    const uint32_t status = cascade_read_section(work, to, work->unmasked, true);
    if (status != H5TWIN_OK) {
        return status;
    }
    if (work->mask != nullptr) {
        const struct cascade_spread<lane> spread = {
            work->lanes, work->residuals
        };
        cascade_each_ranked(work, spread);
    }
    if (work->entry_count != 0) {
        cascade_add_references(work, entries);
    }
    return H5TWIN_OK;
}

/* Differences back to codes. */
template <typename lane>
static __device__ void
cascade_sum_axes(const struct cascade_slab_work<lane> *work)
{
    for (uint32_t axis = work->shape.rank; axis-- > 0;) {
        const struct h5twin_lines lines = {work->value_count, work->shape.extent[axis],
                                           cascade_stride(&work->shape, axis),
                                           work->slab.order[axis], 1};
        h5twin_lines_sum(&lines, work->lanes, 0, 1);
        __syncthreads();
    }
}

/* ---- words ---- */

template <typename lane>
static __device__ uint32_t
cascade_write_words(const struct cascade_slab_work<lane> *work)
{
    const bool has_words = (work->slab.tools & CASCADE_DICTIONARY) != 0;
    const uint64_t all = UINT64_MAX >> (64 - 8 * work->word_size);
    bool bad = false;
    for (uint64_t i = threadIdx.x; i < work->value_count; i += blockDim.x) {
        const lane code = work->lanes[i];
        uint64_t word = work->fill;
        if (!cascade_is_masked(work, i)) {
            const uint64_t index = code & all;
            if (!has_words) {
                word = cascade_word_of(code, &work->slab.map);
            } else if (index < work->word_count) {
                word = work->words[index];
            } else {
                bad = true;
            }
        }
        h5twin_gpu_store_word(work->dst, i, word, work->word_size);
    }
    return __syncthreads_or(bad) != 0 ? H5TWIN_ERR_CORRUPT : H5TWIN_OK;
}

/* ---- soft values: segments of remainders ---- */

/* Words of `count` codes from a segment of `size` bytes, by a warp; false, for all lanes, if it is
 * not right. They go to array `words` of their own size. */
template <typename lane>
static __device__ bool
cascade_convert_segment(lane *words, const lane *codes, uint32_t count, const uint8_t *segment,
                        uint64_t size, const struct h5twin_cascade_map *map)
{
    const uint32_t thread = threadIdx.x % 32u, fraction = h5twin_cascade_fraction(map);
    uint64_t own_bits = 0;
    for (uint32_t i = thread; i < count; i += 32) {
        own_bits += cascade_soft_bits(codes[i], fraction);
    }
    const uint64_t bits = h5twin_warp_sum(own_bits), bits_size = (bits + 7) / 8;
    if (bits_size > size || (size - bits_size) % sizeof(lane) != 0 ||
        (bits % 8 != 0 && segment[bits_size - 1] >> (bits % 8) != 0)) {
        return false;
    }
    const uint64_t exception_count = (size - bits_size) / sizeof(lane);
    uint64_t bit = 0, used = 0;
    bool good = true;
    for (uint32_t base = 0; base < count; base += 32) {
        const bool active = base + thread < count;
        const lane code = active ? codes[base + thread] : (lane)0;
        const uint32_t width = active ? cascade_soft_bits(code, fraction) : 0;
        const uint32_t before = h5twin_warp_exclusive_sum(width);
        const lane remainder = (lane)h5twin_bits_at(segment, bits_size, bit + before, width);
        const bool is_exception = active && code == 0 && remainder != 0;
        const uint32_t exceptions = __ballot_sync(H5TWIN_ALL_LANES, is_exception);
        lane word = code == 0 ? (lane)0 : cascade_soft_word(code, remainder, map);
        if (is_exception) {
            const uint64_t number = used + h5twin_popcount32(exceptions & ((1u << thread) - 1u));
            good &= number < exception_count;
            word = (lane)h5twin_bits_at(segment + bits_size, size - bits_size,
                                        8 * sizeof(lane) * number, 8 * (uint32_t)sizeof(lane));
        }
        if (active) {
            words[base + thread] = word;
        }
        bit += __shfl_sync(H5TWIN_ALL_LANES, before + width, 31);
        used += h5twin_popcount32(exceptions);
    }
    return __all_sync(H5TWIN_ALL_LANES, good) != 0 && used == exception_count;
}

/* Note in depths where each segment lies; *total is the bytes of all. */
template <typename lane>
static __device__ void
cascade_place_segments(const struct cascade_slab_work<lane> *work, uint64_t segment_count,
                       uint64_t *total)
{
    *total = 0;
    for (uint64_t base = 0; base < segment_count; base += blockDim.x) {
        const uint64_t i = base + threadIdx.x;
        const uint64_t size = i < segment_count ? h5twin_load16(work->at + 2 * i) : 0;
        uint64_t step;
        const uint64_t place = *total + h5twin_block_exclusive_sum(size, CASCADE_WARPS, &step);
        if (i < segment_count) {
            work->depths[i] = (uint32_t)place;
        }
        *total += step;
    }
    __syncthreads();
}

template <typename lane>
static __device__ uint32_t
cascade_write_soft_words(struct cascade_slab_work<lane> *work)
{
    H5TWIN_SHARED(uint32_t, first_bad, 1); /* segment and, in the lowest bit, whether short */
    const uint64_t segment_count =
        (work->unmasked + CASCADE_REMAINDER_SEGMENT - 1) / CASCADE_REMAINDER_SEGMENT;
    if (cascade_left(work) < 2 * segment_count) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    uint64_t total;
    if (threadIdx.x == 0) {
        first_bad[0] = UINT32_MAX;
    }
    cascade_place_segments(work, segment_count, &total);
    const lane *codes = work->lanes;
    lane *words = reinterpret_cast<lane *>(work->dst);
    if (work->mask != nullptr) {
        const struct cascade_gather<lane> gather = {
            work->lanes, work->residuals
        };
        cascade_each_ranked(work, gather);
        codes = work->residuals;
        words = work->words;
    }
    const uint8_t *const segments = work->at + 2 * segment_count;
    for (uint64_t i = threadIdx.x / 32u; i < segment_count; i += CASCADE_WARPS) {
        const uint64_t size = h5twin_load16(work->at + 2 * i),
                       first = i * CASCADE_REMAINDER_SEGMENT;
        const uint64_t left = work->unmasked - first;
        const uint32_t count =
            left < CASCADE_REMAINDER_SEGMENT ? (uint32_t)left : CASCADE_REMAINDER_SEGMENT;
        const uint64_t place = work->depths[i];
        const bool is_short = place + size > (uint64_t)(work->end - segments);
        const bool good =
            !is_short && cascade_convert_segment(words + first, codes + first, count,
                                                 segments + place, size, &work->slab.map);
        if (!good && threadIdx.x % 32u == 0) {
            atomicMin(first_bad, (uint32_t)i << 1 | (uint32_t)is_short);
        }
    }
    __syncthreads();
    const uint32_t bad = first_bad[0];
    __syncthreads();
    if (bad != UINT32_MAX) {
        return (bad & 1u) != 0 ? H5TWIN_ERR_SRC_SHORT : H5TWIN_ERR_CORRUPT;
    }
    if (work->mask != nullptr) {
        const struct cascade_restore<lane> restore = {
            work->dst, work->words, work->fill, work->word_size
        };
        cascade_each_ranked(work, restore);
    }
    work->at = segments + total;
    return H5TWIN_OK;
}

/* ---- slabs ---- */

template <typename lane>
static __device__ uint32_t
cascade_decode_coded(struct cascade_slab_work<lane> *work)
{
    H5TWIN_SHARED(uint32_t, entries, CASCADE_MAX_LAGS);
    const uint32_t tools = work->slab.tools;
    uint32_t status = H5TWIN_OK;
    if ((tools & CASCADE_MASK) != 0) {
        status = cascade_read_mask(work);
    } else {
        work->mask = nullptr;
    }
    if (status == H5TWIN_OK && (tools & CASCADE_DICTIONARY) != 0) {
        status = cascade_read_dictionary(work);
    }
    if (status == H5TWIN_OK && (tools & CASCADE_REFERENCES) != 0) {
        status = cascade_read_references(work, entries);
    }
    if (status == H5TWIN_OK) {
        status = cascade_read_residuals(work, entries);
    }
    if (status != H5TWIN_OK) {
        return status;
    }
    cascade_sum_axes(work);
    return work->slab.map.map == CASCADE_SOFT ? cascade_write_soft_words(work)
                                              : cascade_write_words(work);
}

/* Words, all the same or as they are. */
template <typename lane>
static __device__ uint32_t
cascade_copy_words(struct cascade_slab_work<lane> *work, bool is_constant)
{
    const uint32_t word_bits = 8 * work->word_size;
    const uint64_t stored = (is_constant ? 1 : work->value_count) * work->word_size;
    if (cascade_left(work) < stored) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    for (uint64_t i = threadIdx.x; i < work->value_count; i += blockDim.x) {
        const uint64_t from = is_constant ? 0 : i;
        h5twin_gpu_store_word(work->dst, i,
                              h5twin_bits_at(work->at, stored, from * word_bits, word_bits),
                              work->word_size);
    }
    work->at += stored;
    return H5TWIN_OK;
}

/* Decode the slab whose shape, source and memory *work has. */
template <typename lane>
static __device__ uint32_t
cascade_decode_slab(struct cascade_slab_work<lane> *work)
{
    size_t head_size = 0;
    uint32_t status = cascade_slab_get(&work->slab, &work->shape, work->word_size, work->src,
                                       (size_t)(work->end - work->src), &head_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    work->at = work->src + head_size;
    status = work->slab.kind == CASCADE_CODED
                 ? cascade_decode_coded(work)
                 : cascade_copy_words(work, work->slab.kind == CASCADE_CONSTANT);
    if (status == H5TWIN_OK) {
        status = cascade_skip_padding(work, (uint64_t)(work->at - work->src));
    }
    return status == H5TWIN_OK && work->at != work->end ? (uint32_t)H5TWIN_ERR_CORRUPT : status;
}

#endif
