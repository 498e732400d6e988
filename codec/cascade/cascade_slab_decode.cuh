/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_slab_decode.cuh: a slab, in steps: its sections in the order of the stream, by one block
 * of threads, then by any number of them the words of residuals, masked values and references,
 * differences along one axis after the other, values.
 *
 * The checks and statuses of cascade_slab_decode.c. Functions are called by all threads and return
 * the same to all of a block. A barrier or a launch lies between two steps; within one each
 * function leaves behind a barrier what the next one reads.
 * Source  FORMAT.md sections 2 to 8. */
#ifndef H5TWIN_CASCADE_SLAB_DECODE_CUH
#define H5TWIN_CASCADE_SLAB_DECODE_CUH

#include "cascade_axes.cuh"

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

/* Open the next section: a residual stream and its size. work->at goes behind it. */
template <typename lane>
static __device__ uint32_t
cascade_open_section(struct cascade_slab_work<lane> *work, uint64_t count, uint32_t word_bits,
                     uint64_t *size)
{
    if (cascade_left(work) < 4) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    *size = h5twin_load32(work->at);
    work->at += 4;
    if (cascade_left(work) < *size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    if (h5twin_residuals_open(work->stream, work->notes, work->at, *size, count, word_bits) !=
            H5TWIN_OK ||
        work->stream->used != *size) {
        return H5TWIN_ERR_CORRUPT; /* a stream cut short by its own size, too */
    }
    work->at += *size;
    return H5TWIN_OK;
}

template <typename lane, typename word>
static __device__ uint32_t
cascade_read_section(struct cascade_slab_work<lane> *work, word *words, uint64_t count,
                     bool zigzagged)
{
    uint64_t size;
    const uint32_t status = cascade_open_section(work, count, 8 * (uint32_t)sizeof(word), &size);
    if (status != H5TWIN_OK) {
        return status;
    }
    const bool good =
        h5twin_residuals_decode_part(work->stream, work->notes, words, zigzagged, 0, 1);
    return __syncthreads_or(!good) != 0 ? (uint32_t)H5TWIN_ERR_CORRUPT
                                        : cascade_skip_padding(work, size);
}

/* ---- mask ---- */

template <typename lane>
static __device__ __forceinline__ bool
cascade_is_masked(const struct cascade_slab_work<lane> *work, uint64_t index)
{
    return work->mask != nullptr && (work->mask[index] & 1u) != 0;
}

static __device__ __forceinline__ uint32_t
cascade_lanes_below(uint32_t lanes)
{
    return h5twin_popcount32(lanes & ((1u << threadIdx.x % 32u) - 1u));
}

/* The values of a block of 32 that are not masked, a bit each. Called by a warp. */
template <typename lane>
static __device__ __forceinline__ uint32_t
cascade_unmasked_lanes(const struct cascade_slab_work<lane> *work, uint32_t block)
{
    const uint64_t i = 32 * (uint64_t)block + threadIdx.x % 32u;
    return __ballot_sync(H5TWIN_ALL_LANES, i < work->value_count && !cascade_is_masked(work, i));
}

static __device__ __forceinline__ uint32_t
cascade_rank_blocks(uint64_t value_count)
{
    return (uint32_t)((value_count + 31) / 32);
}

/* Note how many values before each block of 32 are not masked, and count them. */
template <typename lane>
static __device__ void
cascade_note_ranks(struct cascade_slab_work<lane> *work)
{
    const uint32_t blocks = cascade_rank_blocks(work->value_count);
    uint32_t rank = 0;
    for (uint32_t block = threadIdx.x / 32u; block < blocks; block += CASCADE_WARPS) {
        const uint32_t lanes = cascade_unmasked_lanes(work, block);
        if (threadIdx.x % 32u == 0) {
            work->ranks[block] = h5twin_popcount32(lanes);
        }
    }
    __syncthreads();
    for (uint32_t base = 0; base < blocks; base += blockDim.x) {
        const uint32_t block = base + threadIdx.x;
        const uint32_t own = block < blocks ? work->ranks[block] : 0;
        uint32_t step;
        const uint32_t before = h5twin_block_exclusive_sum(own, CASCADE_WARPS, &step);
        if (block < blocks) {
            work->ranks[block] = rank + before;
        }
        rank += step;
    }
    work->unmasked = rank;
    __syncthreads();
}

/* Call visit.at(index, rank, counts) for each value of those that fall to block `part` of `parts`,
 * rank being the number of values before it that are not masked; counts: it is none of the masked
 * ones. A struct, as there are no lambdas. There is a mask. */
template <typename lane, typename Visit>
static __device__ void
cascade_each_ranked(const struct cascade_slab_work<lane> *work, const Visit &visit, uint32_t part,
                    uint32_t parts)
{
    const uint32_t blocks = cascade_rank_blocks(work->value_count);
    for (uint32_t block = part * CASCADE_WARPS + threadIdx.x / 32u; block < blocks;
         block += parts * CASCADE_WARPS) {
        const uint64_t i = 32 * (uint64_t)block + threadIdx.x % 32u;
        const uint32_t lanes = cascade_unmasked_lanes(work, block);
        if (i < work->value_count) {
            visit.at(i, work->ranks[block] + cascade_lanes_below(lanes),
                     (lanes >> threadIdx.x % 32u & 1u) != 0);
        }
    }
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
    cascade_note_ranks(work);
    return H5TWIN_OK;
}

/* ---- entries ---- */

/* A list of entries, which then ends at work->at, and how long their chains may be. */
template <typename lane>
static __device__ uint32_t
cascade_read_entries(struct cascade_slab_work<lane> *work, uint32_t *entry_count, uint32_t *rounds,
                     uint32_t most_rounds)
{
    if (cascade_left(work) < 2) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    *entry_count = work->at[0];
    *rounds = work->at[1];
    work->at += 2;
    if (*entry_count < 1 || *rounds < 1 || *rounds > most_rounds) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (cascade_left(work) < 4 * (uint64_t)*entry_count) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    work->at += 4 * *entry_count;
    return H5TWIN_OK;
}

/* ---- copies ---- */

/* The position that value i is a copy of, or CASCADE_NO_SOURCE. */
template <typename lane>
static __device__ uint32_t
cascade_copy_of(const struct cascade_slab_work<lane> *work, uint32_t i)
{
    const uint32_t number = work->copies[i];
    if (number == 0) {
        return CASCADE_NO_SOURCE;
    }
    const struct cascade_source source =
        cascade_source_of(h5twin_load32(work->copy_entries + 4 * (number - 1)), &work->shape);
    return cascade_source_at(&source, i);
}

/* Numbers of values, from sums of the words that were sent of those that are masked. */
struct cascade_number {
    uint8_t *numbers;
    const uint32_t *sums;
    uint32_t entry_count;
    __device__ __forceinline__ void
    at(uint64_t index, uint64_t rank, bool counts) const
    {
        numbers[index] = counts ? 0 : (uint8_t)(sums[index - rank] % (entry_count + 1));
    }
};

/* Whether the chain of some value has 2^rounds steps: each round doubles the steps that are made at
 * once. Lanes and residuals are free. */
template <typename lane>
static __device__ bool
cascade_has_deep_copies(const struct cascade_slab_work<lane> *work)
{
    uint32_t *from = reinterpret_cast<uint32_t *>(work->lanes);
    uint32_t *to = reinterpret_cast<uint32_t *>(work->residuals);
    bool goes_on = false;
    for (uint32_t i = threadIdx.x; i < work->value_count; i += blockDim.x) {
        from[i] = cascade_copy_of(work, i);
        goes_on |= from[i] != CASCADE_NO_SOURCE;
    }
    bool all_go_on = __syncthreads_or(goes_on) != 0;
    for (uint32_t round = 0; round < work->copy_rounds && all_go_on; round++) {
        goes_on = false;
        for (uint32_t i = threadIdx.x; i < work->value_count; i += blockDim.x) {
            const uint32_t source = from[i];
            to[i] = source == CASCADE_NO_SOURCE ? source : from[source];
            goes_on |= to[i] != CASCADE_NO_SOURCE;
        }
        all_go_on = __syncthreads_or(goes_on) != 0;
        uint32_t *const last = from;
        from = to;
        to = last;
    }
    return all_go_on;
}

/* The mask is there; its residuals' memory is free. */
template <typename lane>
static __device__ uint32_t
cascade_read_copies(struct cascade_slab_work<lane> *work)
{
    uint32_t *const words = reinterpret_cast<uint32_t *>(work->residuals);
    const uint64_t masked = work->value_count - work->unmasked;
    uint32_t status =
        cascade_read_entries(work, &work->copy_count, &work->copy_rounds, CASCADE_MAX_COPY_ROUNDS);
    if (status != H5TWIN_OK) {
        return status;
    }
    work->copy_entries = work->at - 4 * work->copy_count;
    status = cascade_read_section(work, words, masked, false);
    if (status != H5TWIN_OK) {
        return status;
    }
    __syncthreads();
    bool bad = false;
    for (uint64_t i = threadIdx.x; i < masked; i += blockDim.x) {
        bad |= words[i] > work->copy_count;
    }
    for (uint32_t i = threadIdx.x; i < work->copy_count; i += blockDim.x) {
        const uint32_t entry = h5twin_load32(work->copy_entries + 4 * i);
        bad |= (entry & 1u) != 0 || !cascade_is_good_entry(entry, &work->shape, work->version, 1);
    }
    if (__syncthreads_or(bad) != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (masked != 0) {
        const struct h5twin_lines line = {masked, masked, 1, 1, 1};
        h5twin_lines_sum(&line, words, 0, 1); /* below 2^32: 2^24 words up to 255 */
        __syncthreads();
    }
    const struct cascade_number number = {work->copies, words, work->copy_count};
    cascade_each_ranked(work, number, 0, 1);
    __syncthreads();
    return masked >> work->copy_rounds != 0 && cascade_has_deep_copies(work) ? H5TWIN_ERR_CORRUPT
                                                                             : H5TWIN_OK;
}

/* Copy, when all other words are there: each from where its chain ends. Lanes and residuals are
 * free.
 */
template <typename lane>
static __device__ void
cascade_make_copies(const struct cascade_slab_work<lane> *work)
{
    uint32_t *from = reinterpret_cast<uint32_t *>(work->lanes);
    uint32_t *to = reinterpret_cast<uint32_t *>(work->residuals);
    for (uint32_t i = threadIdx.x; i < work->value_count; i += blockDim.x) {
        const uint32_t source = cascade_copy_of(work, i);
        from[i] = source == CASCADE_NO_SOURCE ? i : source;
    }
    __syncthreads();
    for (bool goes_on = true; goes_on;) {
        bool moves = false;
        for (uint32_t i = threadIdx.x; i < work->value_count; i += blockDim.x) {
            to[i] = from[from[i]];
            moves |= to[i] != from[i];
        }
        goes_on = __syncthreads_or(moves) != 0;
        uint32_t *const last = from;
        from = to;
        to = last;
    }
    for (uint32_t i = threadIdx.x; i < work->value_count; i += blockDim.x) {
        if (from[i] != i) {
            h5twin_gpu_store_word(work->dst, i,
                                  h5twin_gpu_load_word(work->dst, from[i], work->word_size),
                                  work->word_size);
        }
    }
    __syncthreads();
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

/* The position that an entry leads to, or CASCADE_NO_SOURCE. Most entries are shifts. */
template <typename lane>
static __device__ __forceinline__ uint32_t
cascade_entry_source(const struct cascade_slab_work<lane> *work, uint32_t entry, uint32_t i)
{
    if (cascade_entry_kind(entry) == CASCADE_SHIFT) {
        const uint32_t number = cascade_entry_number(entry);
        return i < number ? CASCADE_NO_SOURCE : i - number;
    }
    const struct cascade_source source = cascade_source_of(entry, &work->shape);
    return cascade_source_at(&source, i);
}

/* Sources of values, with this bit if what they refer to refers to nothing itself. */
#define CASCADE_SOURCE_DONE 0x80000000u

/* The source of value i, whose block has the entry; checked before, so shifts have one. */
template <typename lane>
static __device__ __forceinline__ uint32_t
cascade_noted_source(const struct cascade_slab_work<lane> *work, const uint32_t *entries,
                     uint32_t entry, uint32_t i)
{
    if (i >= work->value_count || cascade_is_masked(work, i)) {
        return CASCADE_NO_SOURCE;
    }
    const uint32_t source = cascade_entry_source(work, entry, i);
    if (source == CASCADE_NO_SOURCE) {
        return source;
    }
    const uint32_t next = work->index[source / CASCADE_REFERENCE_BLOCK];
    const bool is_done =
        next == 0 || cascade_is_masked(work, source) ||
        (cascade_entry_kind(entries[next - 1]) != CASCADE_SHIFT &&
         cascade_entry_source(work, entries[next - 1], source) == CASCADE_NO_SOURCE);
    return is_done ? source | CASCADE_SOURCE_DONE : source;
}

/* Note the source of each value in residuals, which are free, and in depths, for each block, the
 * end of the blocks that must be done before it. */
template <typename lane>
static __device__ void
cascade_note_needs(const struct cascade_slab_work<lane> *work, const uint32_t *entries,
                   uint32_t block_count)
{
    uint32_t *const sources = reinterpret_cast<uint32_t *>(work->residuals);
    for (uint32_t block = threadIdx.x / 32u; block < block_count; block += CASCADE_WARPS) {
        const uint32_t i = block * CASCADE_REFERENCE_BLOCK + threadIdx.x % 32u;
        const uint32_t index = work->index[block];
        uint32_t source = CASCADE_NO_SOURCE, need = 0;
        if (index != 0) {
            source = cascade_noted_source(work, entries, entries[index - 1], i);
            need = __reduce_max_sync(H5TWIN_ALL_LANES, (source & CASCADE_SOURCE_DONE) != 0
                                                           ? 0
                                                           : source / CASCADE_REFERENCE_BLOCK + 1);
        }
        if (i < work->value_count) {
            sources[i] = source;
        }
        if (threadIdx.x % 32u == 0) {
            work->depths[block] = need;
        }
    }
    __syncthreads();
}

/* The end of the blocks from `begin` on that do not need each other. The next barrier must come
 * before the next call. */
template <typename lane>
static __device__ uint32_t
cascade_window_end(const struct cascade_slab_work<lane> *work, uint32_t begin, uint32_t block_count)
{
    H5TWIN_SHARED(uint32_t, end, 1);
    if (threadIdx.x == 0) {
        end[0] = begin + blockDim.x < block_count ? begin + blockDim.x : block_count;
    }
    __syncthreads();
    const uint32_t block = begin + threadIdx.x;
    if (block < block_count && work->depths[block] > begin) {
        atomicMin(end, block);
    }
    __syncthreads();
    return end[0];
}

/* Whether the chain of some value is too long; lanes are free for its steps. */
template <typename lane>
static __device__ bool
cascade_has_deep_values(const struct cascade_slab_work<lane> *work, uint32_t block_count)
{
    const uint32_t *const sources = reinterpret_cast<uint32_t *>(work->residuals);
    uint32_t *const steps = reinterpret_cast<uint32_t *>(work->lanes);
    bool is_deep = false;
    for (uint32_t begin = 0; begin < block_count;) {
        const uint32_t end = cascade_window_end(work, begin, block_count);
        for (uint32_t block = begin + threadIdx.x / 32u; block < end; block += CASCADE_WARPS) {
            const uint32_t i = block * CASCADE_REFERENCE_BLOCK + threadIdx.x % 32u;
            if (i >= work->value_count) {
                continue;
            }
            const uint32_t source = sources[i];
            const uint32_t before = (source & CASCADE_SOURCE_DONE) != 0 ? 0 : steps[source];
            const uint32_t own = source == CASCADE_NO_SOURCE ? 0 : 1 + before;
            steps[i] = own;
            is_deep |= own >> work->rounds != 0;
        }
        __syncthreads();
        begin = end;
    }
    return __syncthreads_or(is_deep) != 0;
}

template <typename lane>
static __device__ uint32_t
cascade_check_references(struct cascade_slab_work<lane> *work, const uint32_t *entries,
                         uint32_t block_count)
{
    bool bad = false, refers = false;
    for (uint32_t i = threadIdx.x; i < work->entry_count; i += blockDim.x) {
        bad |= !cascade_is_good_entry(entries[i], &work->shape, work->version,
                                      CASCADE_REFERENCE_BLOCK);
    }
    for (uint32_t block = threadIdx.x; block < block_count; block += blockDim.x) {
        const uint32_t index = work->index[block];
        bad |= index > work->entry_count ||
               (index != 0 && !cascade_entry_reaches(block, entries[index - 1]));
        refers |= index != 0;
    }
    if (__syncthreads_or(bad) != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (__syncthreads_or(refers) == 0) {
        work->entry_count = 0;
        return H5TWIN_OK;
    }
    cascade_note_needs(work, entries, block_count);
    return cascade_has_deep_values(work, block_count) ? H5TWIN_ERR_CORRUPT : H5TWIN_OK;
}

/* entries: in shared memory. */
template <typename lane>
static __device__ uint32_t
cascade_read_references(struct cascade_slab_work<lane> *work, uint32_t *entries)
{
    uint32_t status =
        cascade_read_entries(work, &work->entry_count, &work->rounds, CASCADE_MAX_ROUNDS);
    if (status != H5TWIN_OK) {
        return status;
    }
    const uint8_t *const sent = work->at - 4 * work->entry_count;
    for (uint32_t i = threadIdx.x; i < work->entry_count; i += blockDim.x) {
        entries[i] = h5twin_load32(sent + 4 * i);
    }
    const uint64_t block_count =
        (work->value_count + CASCADE_REFERENCE_BLOCK - 1) / CASCADE_REFERENCE_BLOCK;
    status = cascade_read_section(work, work->index, block_count, false);
    __syncthreads();
    return status == H5TWIN_OK ? cascade_check_references(work, entries, (uint32_t)block_count)
                               : status;
}

/* Turn what was sent into differences, where it is; a warp for each block of a window. */
template <typename lane>
static __device__ void
cascade_add_references(const struct cascade_slab_work<lane> *work, const uint32_t *entries)
{
    const uint32_t block_count =
        (uint32_t)((work->value_count + CASCADE_REFERENCE_BLOCK - 1) / CASCADE_REFERENCE_BLOCK);
    for (uint32_t begin = 0; begin < block_count;) {
        const uint32_t end = cascade_window_end(work, begin, block_count);
        for (uint32_t block = begin + threadIdx.x / 32u; block < end; block += CASCADE_WARPS) {
            const uint32_t index = work->index[block];
            if (index == 0) {
                continue;
            }
            const uint32_t i = block * CASCADE_REFERENCE_BLOCK + threadIdx.x % 32u;
            const uint32_t entry = entries[index - 1];
            const uint32_t from = i >= work->value_count || cascade_is_masked(work, i)
                                      ? CASCADE_NO_SOURCE
                                      : cascade_entry_source(work, entry, i);
            if (from != CASCADE_NO_SOURCE) {
                const lane source = work->lanes[from];
                const bool is_negative = (entry & 1u) != 0;
                work->lanes[i] += is_negative ? (lane)0 - source : source;
            }
        }
        __syncthreads();
        begin = end;
    }
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

/* The words of residuals that fall to block `part` of `parts`; whether they are right. */
template <typename lane>
static __device__ __forceinline__ bool
cascade_decode_residuals(const struct cascade_slab_work<lane> *work,
                         const struct h5twin_residuals_stream *stream, uint32_t part,
                         uint32_t parts)
{
    lane *const to = work->mask == nullptr ? work->lanes : work->residuals;
    return h5twin_residuals_decode_part(stream, work->notes, to, true, part, parts);
}

/* ---- words ---- */

/* Those that fall to block `part` of `parts`; the status. */
template <typename lane>
static __device__ uint32_t
cascade_write_words(const struct cascade_slab_work<lane> *work, uint32_t part, uint32_t parts)
{
    const uint32_t begin = part * CASCADE_THREADS + threadIdx.x, step = parts * CASCADE_THREADS;
    const bool has_words = (work->slab.tools & CASCADE_DICTIONARY) != 0;
    const uint64_t all = UINT64_MAX >> (64 - 8 * work->word_size);
    bool bad = false;
    if (!has_words && work->mask == nullptr && work->word_size == sizeof(lane)) {
        const struct h5twin_cascade_map map = work->slab.map;
        const lane *const codes = work->lanes;
        lane *const words = reinterpret_cast<lane *>(work->dst);
        const uint32_t count = (uint32_t)work->value_count;
        for (uint32_t i = begin; i < count; i += step) {
            words[i] = cascade_word_of(codes[i], &map);
        }
        __syncthreads();
        return H5TWIN_OK;
    }
    const uint64_t fill = work->fill, word_count = work->word_count;
    const bool is_lane = work->word_size == sizeof(lane);
    const struct h5twin_cascade_map map = work->slab.map;
    const lane *const codes = work->lanes, *const dictionary = work->words;
    const uint8_t *const mask = work->mask;
    uint8_t *const dst = work->dst;
    lane *const words = reinterpret_cast<lane *>(dst);
    const uint32_t count = (uint32_t)work->value_count, word_size = work->word_size;
    for (uint32_t i = begin; i < count; i += step) {
        const lane code = codes[i];
        uint64_t word = fill;
        if (mask == nullptr || (mask[i] & 1u) == 0) {
            const uint64_t index = code & all;
            if (!has_words) {
                word = cascade_word_of(code, &map);
            } else if (index < word_count) {
                word = dictionary[index];
            } else {
                bad = true;
            }
        }
        if (is_lane) {
            words[i] = (lane)word;
        } else {
            h5twin_gpu_store_word(dst, i, word, word_size);
        }
    }
    return __syncthreads_or(bad) != 0 ? H5TWIN_ERR_CORRUPT : H5TWIN_OK;
}

/* ---- soft values: segments of remainders ---- */

/* Words of `count` codes from a segment of `size` bytes, by a warp; false, for all lanes, if it is
 * not right. They go to array `words` of their own size. Each lane has four beside each other. */
template <typename lane>
static __device__ bool
cascade_convert_segment(lane *words, const lane *codes, uint32_t count, const uint8_t *segment,
                        uint64_t size, const struct h5twin_cascade_map *noted)
{
    const struct h5twin_cascade_map own = *noted, *const map = &own; /* stores leave it alone */
    const uint32_t thread = threadIdx.x % 32u, fraction = h5twin_cascade_fraction(map);
    const bool from_aligned = h5twin_gpu_is_aligned128(codes);
    const bool to_aligned = h5twin_gpu_is_aligned128(words);
    lane four[4];
    uint32_t own_bits = 0;
    for (uint32_t i = 4 * thread; i < count; i += 4 * 32) {
        h5twin_gpu_load_four(four, codes, i, count, from_aligned);
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < 4; k++) {
            own_bits += i + k < count ? cascade_soft_bits(four[k], fraction) : 0;
        }
    }
    const uint64_t bits = h5twin_warp_sum(own_bits), bits_size = (bits + 7) / 8;
    if (bits_size > size || (size - bits_size) % sizeof(lane) != 0 ||
        (bits % 8 != 0 && segment[bits_size - 1] >> (bits % 8) != 0)) {
        return false;
    }
    const uint64_t exception_count = (size - bits_size) / sizeof(lane);
    uint32_t bit, used = 0;
    const uint8_t *const grid = residuals_grid(segment, &bit);
    bool good = true;
    for (uint32_t base = 0; base < count; base += 4 * 32) {
        const uint32_t i = base + 4 * thread;
        uint32_t widths[4], width = 0, exceptions = 0;
        h5twin_gpu_load_four(four, codes, i, count, from_aligned);
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < 4; k++) {
            widths[k] = i + k < count ? cascade_soft_bits(four[k], fraction) : 0;
            width += widths[k];
        }
        const uint32_t before = h5twin_warp_exclusive_sum(width);
        uint32_t at = bit + before;
        H5TWIN_UNROLL
        for (uint32_t k = 0; k < 4; k++) {
            const lane code = four[k];
            const lane remainder = residuals_field(grid, at, widths[k], (lane)0);
            at += widths[k];
            exceptions |= (uint32_t)(code == 0 && remainder != 0) << k;
            four[k] = code == 0 ? (lane)0 : cascade_soft_word(code, remainder, map);
        }
        if (__any_sync(H5TWIN_ALL_LANES, exceptions != 0) != 0) {
            const uint32_t own = h5twin_popcount32(exceptions);
            const uint32_t ahead = h5twin_warp_exclusive_sum(own);
            uint64_t number = used + ahead;
            H5TWIN_UNROLL
            for (uint32_t k = 0; k < 4; k++) {
                if ((exceptions >> k & 1u) != 0) {
                    good &= number < exception_count;
                    four[k] =
                        (lane)h5twin_bits_at(segment + bits_size, size - bits_size,
                                             8 * sizeof(lane) * number, 8 * (uint32_t)sizeof(lane));
                    number++;
                }
            }
            used += __shfl_sync(H5TWIN_ALL_LANES, ahead + own, 31);
        }
        h5twin_gpu_store_four(words, four, i, count, to_aligned);
        bit += __shfl_sync(H5TWIN_ALL_LANES, before + width, 31);
    }
    return __all_sync(H5TWIN_ALL_LANES, good) != 0 && used == exception_count;
}

/* ---- soft values, with a mask ---- */

/* What a warp does with the values of a segment, which are not neighbours if some are masked: those
 * whose rank is from `first` on and before `end`, and the masked ones before each of them. */
template <typename lane, typename Visit>
static __device__ void
cascade_each_of_segment(const struct cascade_slab_work<lane> *work, uint64_t first, uint64_t end,
                        const Visit &visit)
{
    const uint32_t blocks = cascade_rank_blocks(work->value_count);
    const bool is_last = end == work->unmasked; /* has the masked ones behind it, too */
    uint32_t low = 0, high = blocks; /* the first block that begins at rank `first` or behind */
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (work->ranks[middle] < first) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (uint32_t block = low == 0 ? 0 : low - 1; block < blocks; block++) {
        const uint64_t i = 32 * (uint64_t)block + threadIdx.x % 32u;
        const uint32_t begin = work->ranks[block];
        if (begin >= end && !is_last) {
            return;
        }
        const uint32_t lanes = cascade_unmasked_lanes(work, block);
        const uint32_t rank = begin + cascade_lanes_below(lanes);
        if (i < work->value_count && rank >= first && (rank < end || is_last)) {
            visit.at(i, rank, (lanes >> threadIdx.x % 32u & 1u) != 0);
        }
    }
}

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

/* A segment of values `first` to `first + count` of those not masked, by a warp. */
template <typename lane>
static __device__ bool
cascade_convert_masked(const struct cascade_slab_work<lane> *work, uint64_t first, uint32_t count,
                       const uint8_t *segment, uint64_t size)
{
    const struct cascade_gather<lane> gather = {
        work->lanes, work->residuals
    };
    const struct cascade_restore<lane> restore = {
        work->dst, work->words, work->fill, work->word_size
    };
    cascade_each_of_segment(work, first, first + count, gather);
    __syncwarp();
    const bool good = cascade_convert_segment(work->words + first, work->residuals + first, count,
                                              segment, size, &work->slab.map);
    __syncwarp();
    if (good) {
        cascade_each_of_segment(work, first, first + count, restore);
    }
    return good;
}

/* ---- soft values: all segments ---- */

template <typename lane>
static __device__ __forceinline__ uint64_t
cascade_segment_count(const struct cascade_slab_work<lane> *work)
{
    return (work->unmasked + CASCADE_REMAINDER_SEGMENT - 1) / CASCADE_REMAINDER_SEGMENT;
}

/* Note in depths where each segment lies, by one block; *total is the bytes of all and of their
 * sizes. */
template <typename lane>
static __device__ uint32_t
cascade_place_segments(const struct cascade_slab_work<lane> *work, uint64_t *total)
{
    const uint64_t segment_count = cascade_segment_count(work);
    *total = 2 * segment_count;
    if (cascade_left(work) < *total) {
        return H5TWIN_ERR_SRC_SHORT;
    }
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
    return H5TWIN_OK;
}

/* The segments that fall to block `part` of `parts`; returns the first fault. */
template <typename lane>
static __device__ uint32_t
cascade_write_soft_words(const struct cascade_slab_work<lane> *work, uint32_t part, uint32_t parts)
{
    H5TWIN_SHARED(uint32_t, first_bad, 1);
    const uint64_t segment_count = cascade_segment_count(work), left_bytes = cascade_left(work);
    if (left_bytes < 2 * segment_count) {
        return CASCADE_NO_SLAB_FAULT; /* was found before */
    }
    if (threadIdx.x == 0) {
        first_bad[0] = CASCADE_NO_SLAB_FAULT;
    }
    __syncthreads();
    lane *const words = reinterpret_cast<lane *>(work->dst);
    for (uint64_t i = (uint64_t)(threadIdx.x / 32u) * parts + part; i < segment_count;
         i += (uint64_t)parts * CASCADE_WARPS) {
        const uint64_t size = h5twin_load16(work->at + 2 * i),
                       first = i * CASCADE_REMAINDER_SEGMENT;
        const uint64_t left = work->unmasked - first;
        const uint32_t count =
            left < CASCADE_REMAINDER_SEGMENT ? (uint32_t)left : CASCADE_REMAINDER_SEGMENT;
        const uint64_t place = work->depths[i];
        const bool is_short = place + size > left_bytes;
        const uint8_t *const segment = work->at + place;
        const bool good =
            !is_short && (work->mask != nullptr
                              ? cascade_convert_masked(work, first, count, segment, size)
                              : cascade_convert_segment(words + first, work->lanes + first, count,
                                                        segment, size, &work->slab.map));
        if (!good && threadIdx.x % 32u == 0) {
            atomicMin(first_bad,
                      cascade_fault(CASCADE_IN_VALUES, (uint32_t)i,
                                    is_short ? H5TWIN_ERR_SRC_SHORT : H5TWIN_ERR_CORRUPT));
        }
    }
    for (uint64_t i = (uint64_t)part * CASCADE_THREADS + threadIdx.x;
         work->unmasked == 0 && i < work->value_count; i += (uint64_t)parts * CASCADE_THREADS) {
        h5twin_gpu_store_word(work->dst, i, work->fill, work->word_size);
    }
    __syncthreads();
    const uint32_t bad = first_bad[0];
    __syncthreads();
    return bad;
}

/* ---- slabs ---- */

/* What is wrong behind `at`, where all parts of a slab have ended. */
template <typename lane>
static __device__ uint32_t
cascade_end_fault(const struct cascade_slab_work<lane> *work, const uint8_t *at)
{
    struct cascade_slab_work<lane> end = *work;
    end.at = at;
    const uint32_t status = cascade_skip_padding(&end, (uint64_t)(at - work->src));
    return cascade_fault(CASCADE_IN_END, 0,
                         status == H5TWIN_OK && end.at != end.end ? (uint32_t)H5TWIN_ERR_CORRUPT
                                                                  : status);
}

template <typename lane>
static __device__ uint32_t
cascade_open_coded(struct cascade_slab_work<lane> *work, uint32_t *entries, uint64_t *size)
{
    const uint32_t tools = work->slab.tools;
    uint32_t status = H5TWIN_OK;
    if ((tools & CASCADE_MASK) != 0) {
        status = cascade_read_mask(work);
    } else {
        work->mask = nullptr;
    }
    if (status == H5TWIN_OK && (tools & CASCADE_COPIES) != 0) {
        status = cascade_read_copies(work);
    }
    if (status == H5TWIN_OK && (tools & CASCADE_DICTIONARY) != 0) {
        status = cascade_read_dictionary(work);
    }
    if (status == H5TWIN_OK && (tools & CASCADE_REFERENCES) != 0) {
        status = cascade_read_references(work, entries);
    }
    if (status == H5TWIN_OK) {
        status = cascade_open_section(work, work->unmasked, 8 * (uint32_t)sizeof(lane), size);
    }
    return status;
}

/* Read all but the words of residuals. A fault in sections: there is nothing to go on with. Any
 * other lies behind: what comes before it is to be looked at first. */
template <typename lane>
static __device__ uint32_t
cascade_open_slab(struct cascade_slab_work<lane> *work, uint32_t *entries)
{
    size_t head_size = 0;
    uint64_t size = 0;
    uint32_t status = cascade_slab_get(&work->slab, &work->shape, work->version, work->word_size,
                                       work->src, (size_t)(work->end - work->src), &head_size);
    if (status != H5TWIN_OK) {
        return cascade_fault(CASCADE_IN_SECTIONS, 0, status);
    }
    work->at = work->src + head_size;
    if (work->slab.kind != CASCADE_CODED) {
        size = (work->slab.kind == CASCADE_CONSTANT ? 1 : work->value_count) * work->word_size;
        return cascade_left(work) < size
                   ? cascade_fault(CASCADE_IN_SECTIONS, 0, H5TWIN_ERR_SRC_SHORT)
                   : cascade_end_fault(work, work->at + size);
    }
    status = cascade_open_coded(work, entries, &size);
    if (status != H5TWIN_OK) {
        return cascade_fault(CASCADE_IN_SECTIONS, 0, status);
    }
    status = cascade_skip_padding(work, size);
    if (status != H5TWIN_OK) {
        return cascade_fault(CASCADE_IN_PADDING, 0, status);
    }
    return work->slab.map.map == CASCADE_SOFT ? CASCADE_NO_SLAB_FAULT
                                              : cascade_end_fault(work, work->at);
}

/* When the words of residuals are there: each to its place, and references; and where remainders
 * are. Returns a fault behind them. */
template <typename lane>
static __device__ uint32_t
cascade_join(const struct cascade_slab_work<lane> *work, const uint32_t *entries, uint32_t part,
             uint32_t parts)
{
    const bool is_alone = work->entry_count != 0; /* references are chains: one block adds them */
    if (work->mask != nullptr && (!is_alone || part == 0)) {
        const struct cascade_spread<lane> spread = {
            work->lanes, work->residuals
        };
        cascade_each_ranked(work, spread, is_alone ? 0 : part, is_alone ? 1 : parts);
        __syncthreads();
    }
    if (is_alone && part == 0) {
        const struct cascade_slab_work<lane> own = *work; /* stores leave it alone */
        cascade_add_references(&own, entries);
    }
    if (work->slab.map.map != CASCADE_SOFT || part != 0) {
        return CASCADE_NO_SLAB_FAULT;
    }
    uint64_t total;
    const uint32_t status = cascade_place_segments(work, &total);
    if (status != H5TWIN_OK) {
        return cascade_fault(CASCADE_IN_VALUES, 0, status);
    }
    return total > cascade_left(work) ? CASCADE_NO_SLAB_FAULT /* some segment is short */
                                      : cascade_end_fault(work, work->at + total);
}

/* Words, all the same or as they are. */
template <typename lane>
static __device__ void
cascade_copy_words(const struct cascade_slab_work<lane> *work, uint32_t part, uint32_t parts)
{
    const bool is_constant = work->slab.kind == CASCADE_CONSTANT;
    const uint32_t word_bits = 8 * work->word_size;
    const uint64_t stored = (is_constant ? 1 : work->value_count) * work->word_size;
    for (uint64_t i = (uint64_t)part * CASCADE_THREADS + threadIdx.x; i < work->value_count;
         i += (uint64_t)parts * CASCADE_THREADS) {
        const uint64_t from = is_constant ? 0 : i;
        h5twin_gpu_store_word(work->dst, i,
                              h5twin_bits_at(work->at, stored, from * word_bits, word_bits),
                              work->word_size);
    }
}

/* When codes are there: words. */
template <typename lane>
static __device__ uint32_t
cascade_write_values(const struct cascade_slab_work<lane> *work, uint32_t part, uint32_t parts)
{
    if (work->slab.kind != CASCADE_CODED) {
        cascade_copy_words(work, part, parts);
        return CASCADE_NO_SLAB_FAULT;
    }
    return work->slab.map.map == CASCADE_SOFT
               ? cascade_write_soft_words(work, part, parts)
               : cascade_fault(CASCADE_IN_VALUES, 0, cascade_write_words(work, part, parts));
}

/* All that follows when a slab is open, by one block; `behind`: what opening found. */
template <typename lane>
static __device__ uint32_t
cascade_finish_slab(const struct cascade_slab_work<lane> *work, const uint32_t *entries,
                    uint32_t behind)
{
    if (work->slab.kind == CASCADE_CODED) {
        const bool good = cascade_decode_residuals(work, work->stream, 0, 1);
        if (__syncthreads_or(!good) != 0) {
            return cascade_fault(CASCADE_IN_WORDS, 0, H5TWIN_ERR_CORRUPT);
        }
        const uint32_t fault = cascade_join(work, entries, 0, 1);
        behind = fault < behind ? fault : behind;
        for (uint32_t step = 0; step < work->shape.rank; step++) {
            cascade_sum_step(work, step, 0, 1);
            __syncthreads();
        }
    }
    const uint32_t fault = cascade_write_values(work, 0, 1);
    __syncthreads();
    behind = fault < behind ? fault : behind;
    if (behind == CASCADE_NO_SLAB_FAULT && (work->slab.tools & CASCADE_COPIES) != 0) {
        cascade_make_copies(work);
    }
    return behind;
}

#endif
