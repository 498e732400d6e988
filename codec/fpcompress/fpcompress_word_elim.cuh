/* SPDX-License-Identifier: BSD-3-Clause
 * fpcompress_word_elim.cuh: RAZE and RARE on a GPU.
 *
 * Words are counted by bit length with one atomic addition per length and warp. A ballot gives 32
 * bits of the bitmap of full words, and sums over those give every word its rank. Full words and
 * what the others keep are first put in order, as words; then each thread makes whole words of the
 * string of low bits, holds them until all have read, and writes them over what was read. */
#ifndef H5TWIN_FPCOMPRESS_WORD_ELIM_CUH
#define H5TWIN_FPCOMPRESS_WORD_ELIM_CUH

#include "fpcompress_bitmap.cuh"

#define ELIM_WORDS    (H5TWIN_BLOCK_BYTES / 8u)
#define ELIM_PER      (ELIM_WORDS / FPC_THREADS) /* words of a thread, FPC_THREADS apart */
#define ELIM_TRAILER  3u
#define ELIM_LOW_BITS (ELIM_WORDS * 2 / FPC_THREADS) /* 32-bit words of low bits of a thread */

/* What the threads tell each other. */
struct elim_layout {
    uint32_t histogram[65];
    uint32_t keep_bits;
    uint32_t bitmap[ELIM_WORDS / 32];
    uint32_t ranks[ELIM_WORDS / 32]; /* full words before each 32 */
    uint32_t full_count;
    uint32_t size; /* encode: stored; decode: of the bitmap's coded form */
};

/* What differs between RAZE and RARE: the word that another is compared with. */
static __device__ __forceinline__ uint64_t
elim_difference(const uint64_t *words, uint32_t index, bool repeats)
{
    return words[index] ^ (repeats && index != 0 ? words[index - 1] : 0);
}

static __device__ __forceinline__ bool
elim_bit(const uint32_t *bitmap, uint32_t index)
{
    return ((bitmap[index / 32] >> index % 32) & 1u) != 0;
}

/* Full words before this one. */
static __device__ __forceinline__ uint32_t
elim_rank(const struct elim_layout *layout, uint32_t index)
{
    const uint32_t below = layout->bitmap[index / 32] & ((1u << index % 32) - 1u);
    return layout->ranks[index / 32] + h5twin_popcount32(below);
}

/* ---- encode ---- */

static __device__ __forceinline__ void
elim_count(struct elim_layout *layout, const uint64_t *words, uint32_t word_count, bool repeats)
{
    const uint32_t lane = threadIdx.x % 32u;
    if (threadIdx.x < 65) {
        layout->histogram[threadIdx.x] = 0;
    }
    __syncthreads();
    for (uint32_t i = 0; i < ELIM_PER; i++) {
        const uint32_t index = i * FPC_THREADS + threadIdx.x;
        uint32_t length = 65; /* none */
        if (index < word_count) {
            length = h5twin_bit_length64(elim_difference(words, index, repeats));
        }
        const uint32_t same = __match_any_sync(H5TWIN_ALL_LANES, length);
        if (length <= 64 && (same & ((1u << lane) - 1u)) == 0) {
            atomicAdd(&layout->histogram[length], h5twin_popcount32(same));
        }
    }
    __syncthreads();
}

/* h5twin_fpc_keep_bits by one warp: a lane weighs its number and that number + 32. */
static __device__ __forceinline__ uint32_t
elim_choose(const uint32_t histogram[65], uint32_t word_count)
{
    const uint32_t lane = threadIdx.x % 32u;
    const uint32_t low = histogram[lane], high = histogram[32 + lane];
    const uint32_t low_sum = low + h5twin_warp_exclusive_sum(low);
    const uint32_t low_total = __shfl_sync(H5TWIN_ALL_LANES, low_sum, 31);
    const uint32_t high_sum = low_total + high + h5twin_warp_exclusive_sum(high);
    if (histogram[0] == word_count) {
        return H5TWIN_FPC_KEEP_NONE;
    }
    /* At most 2^17, so that 63 - bits fits below: of equal savings the smallest number wins. */
    const uint32_t low_saving = h5twin_fpc_saving(lane, low_sum) << 6 | (63 - lane);
    const uint32_t high_saving = h5twin_fpc_saving(32 + lane, high_sum) << 6 | (31 - lane);
    const uint32_t best =
        __reduce_max_sync(H5TWIN_ALL_LANES, low_saving > high_saving ? low_saving : high_saving);
    return best >> 6 == 0 ? H5TWIN_FPC_KEEP_COPY : 63 - (best & 63u);
}

/* ranks and full_count from the bitmap, by one warp. */
static __device__ __forceinline__ void
elim_rank_all(struct elim_layout *layout)
{
    const uint32_t lane = threadIdx.x % 32u;
    const uint32_t even = h5twin_popcount32(layout->bitmap[2 * lane]);
    const uint32_t odd = h5twin_popcount32(layout->bitmap[2 * lane + 1]);
    const uint32_t below = h5twin_warp_exclusive_sum(even + odd);
    layout->ranks[2 * lane] = below;
    layout->ranks[2 * lane + 1] = below + even;
    if (lane == 31) {
        layout->full_count = below + even + odd;
    }
}

/* Word number `index` of a string of `count` fields of keep_bits (1..63) bits. */
static __device__ __forceinline__ uint32_t
elim_collect(const uint64_t *fields, uint32_t count, uint32_t keep_bits, uint32_t index)
{
    const uint32_t at = 32 * index / keep_bits;
    return h5twin_gpu_collect_bits(fields, count, keep_bits, at, 32 * index - at * keep_bits);
}

/* Full words, then the low bits of the others, to dst. */
static __device__ __forceinline__ void
elim_split(uint64_t *dst, const struct elim_layout *layout, const uint64_t *words,
           uint32_t word_count)
{
    const uint32_t keep_bits = layout->keep_bits, full_count = layout->full_count;
    for (uint32_t i = 0; i < ELIM_PER; i++) {
        const uint32_t index = i * FPC_THREADS + threadIdx.x;
        if (index < word_count) {
            const uint32_t rank = elim_rank(layout, index);
            if (elim_bit(layout->bitmap, index)) {
                dst[rank] = words[index];
            } else {
                dst[full_count + index - rank] = words[index] & h5twin_fpc_low_mask(keep_bits);
            }
        }
    }
    if (keep_bits == 0) {
        return;
    }
    __syncthreads();
    const uint32_t short_count = word_count - full_count;
    uint32_t low_bits[ELIM_LOW_BITS];
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < ELIM_LOW_BITS; i++) {
        const uint32_t index = i * FPC_THREADS + threadIdx.x;
        low_bits[i] = 0;
        if (32 * index < keep_bits * short_count) {
            low_bits[i] = elim_collect(dst + full_count, short_count, keep_bits, index);
        }
    }
    __syncthreads();
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < ELIM_LOW_BITS; i++) {
        const uint32_t index = i * FPC_THREADS + threadIdx.x;
        if (32 * index < keep_bits * short_count) {
            reinterpret_cast<uint32_t *>(dst + full_count)[index] = low_bits[i];
        }
    }
}

/* RAZE, or RARE if repeats, of src_size bytes at words, to dst. Returns the size; nothing is
 * written from `limit` (at most 16384) on. Called by all threads; dst may be read after it. */
static __device__ __forceinline__ uint32_t
elim_encode(uint64_t *dst, struct elim_layout *layout, const uint64_t *words, uint32_t src_size,
            uint32_t limit, bool repeats)
{
    const uint32_t lane = threadIdx.x % 32u, word_count = src_size / 8, tail_size = src_size % 8;
    uint8_t *const dst_bytes = reinterpret_cast<uint8_t *>(dst);
    elim_count(layout, words, word_count, repeats);
    if (threadIdx.x < 32) {
        const uint32_t keep_bits = elim_choose(layout->histogram, word_count);
        if (lane == 0) {
            layout->keep_bits = keep_bits;
        }
    }
    __syncthreads();
    const uint32_t keep_bits = layout->keep_bits;
    const uint32_t copied = keep_bits == H5TWIN_FPC_KEEP_COPY ? src_size : tail_size;
    uint32_t size = ELIM_TRAILER + copied;
    if (keep_bits < H5TWIN_FPC_KEEP_COPY) {
        for (uint32_t i = 0; i < ELIM_PER; i++) {
            const uint32_t index = i * FPC_THREADS + threadIdx.x;
            const bool is_full =
                index < word_count && elim_difference(words, index, repeats) >> keep_bits != 0;
            const uint32_t full = __ballot_sync(H5TWIN_ALL_LANES, is_full);
            if (lane == 0) {
                layout->bitmap[index / 32] = full;
            }
        }
        __syncthreads();
        struct fpc_bitmap bitmap = {};
        if (threadIdx.x < 32) {
            elim_rank_all(layout);
            bitmap = fpc_bitmap_shorten(
                h5twin_join64(layout->bitmap[2 * lane], layout->bitmap[2 * lane + 1]));
            if (lane == 0) {
                layout->size = fpc_bitmap_size(&bitmap);
            }
        }
        __syncthreads();
        const uint32_t short_count = word_count - layout->full_count;
        const uint32_t bitmap_at = 8 * layout->full_count + (keep_bits * short_count + 7) / 8;
        size += bitmap_at + layout->size;
        if (size < limit) {
            elim_split(dst, layout, words, word_count);
            __syncthreads(); /* the last word of low bits may reach behind them */
            if (threadIdx.x < 32) {
                fpc_bitmap_write(dst_bytes + bitmap_at, &bitmap);
            }
        }
    }
    if (size < limit) {
        const uint8_t *const src = reinterpret_cast<const uint8_t *>(words) + src_size - copied;
        uint8_t *const end = dst_bytes + size - ELIM_TRAILER;
        for (uint32_t i = threadIdx.x; i < copied; i += FPC_THREADS) {
            *(end - copied + i) = src[i];
        }
        if (threadIdx.x < ELIM_TRAILER) {
            end[threadIdx.x] =
                (uint8_t)(threadIdx.x == 0 ? keep_bits : src_size >> 8 * (threadIdx.x - 1));
        }
    }
    __syncthreads();
    return size;
}

/* ---- decode ---- */

/* The bitmap that ends at src + src_size, checked against the words there are, by one warp. */
static __device__ __forceinline__ bool
elim_read_bitmap(struct elim_layout *layout, const uint8_t *src, uint32_t src_size,
                 uint32_t word_count, uint32_t keep_bits)
{
    const uint32_t lane = threadIdx.x % 32u;
    uint64_t bytes;
    uint32_t left = src_size;
    if (!fpc_bitmap_read(&bytes, src, &left)) {
        return false;
    }
    const uint32_t valid = word_count > 64 * lane ? word_count - 64 * lane : 0;
    layout->bitmap[2 * lane] = (uint32_t)bytes;
    layout->bitmap[2 * lane + 1] = (uint32_t)(bytes >> 32);
    if (!__all_sync(H5TWIN_ALL_LANES, valid >= 64 || bytes >> valid == 0)) {
        return false;
    }
    elim_rank_all(layout);
    __syncwarp();
    const uint32_t full_count = layout->full_count;
    return left == 8 * full_count + (keep_bits * (word_count - full_count) + 7) / 8;
}

/* Words from full words and low bits; src begins at a byte of staged words. */
static __device__ __forceinline__ void
elim_merge(uint64_t *dst, const struct elim_layout *layout, const uint32_t *staged, uint32_t skip,
           uint32_t word_count, uint32_t keep_bits, bool repeats)
{
    const uint32_t low_begin = 8 * (skip + 8 * layout->full_count);
    for (uint32_t i = 0; i < ELIM_PER; i++) {
        const uint32_t index = i * FPC_THREADS + threadIdx.x;
        if (index < word_count) {
            const uint32_t rank = elim_rank(layout, index);
            if (elim_bit(layout->bitmap, index)) {
                dst[index] = h5twin_staged64(staged, 8 * (skip + 8 * rank));
            } else {
                /* Above the low bits are those of the last full word. */
                const uint64_t upper =
                    repeats && rank != 0 ? h5twin_staged64(staged, 8 * (skip + 8 * (rank - 1))) : 0;
                dst[index] = (upper & ~h5twin_fpc_low_mask(keep_bits)) |
                             h5twin_staged_field(staged, low_begin + (index - rank) * keep_bits,
                                                 keep_bits, (uint64_t)0);
            }
        }
    }
}

/* The inverse of elim_encode: src_size bytes, from byte `skip` of staged words on, to at most
 * `capacity` bytes at dst. Called by all threads; dst may be read after it. Returns the size,
 * UINT32_MAX for all if the bytes are damaged. */
static __device__ __forceinline__ uint32_t
elim_decode(uint64_t *dst, struct elim_layout *layout, uint32_t capacity, const uint32_t *staged,
            uint32_t skip, uint32_t src_size, bool repeats)
{
    const uint8_t *const src = reinterpret_cast<const uint8_t *>(staged) + skip;
    if (src_size < ELIM_TRAILER) {
        return UINT32_MAX;
    }
    uint32_t left = src_size - ELIM_TRAILER;
    const uint32_t keep_bits = src[left];
    const uint32_t size = src[left + 1] | (uint32_t)src[left + 2] << 8;
    const uint32_t word_count = size / 8;
    const uint32_t copied = keep_bits == H5TWIN_FPC_KEEP_COPY ? size : size % 8;
    if (keep_bits > H5TWIN_FPC_KEEP_NONE || size > capacity || left < copied) {
        return UINT32_MAX;
    }
    left -= copied;
    if (keep_bits >= H5TWIN_FPC_KEEP_COPY && left != 0) {
        return UINT32_MAX;
    }
    if (keep_bits < H5TWIN_FPC_KEEP_COPY) {
        const bool good =
            threadIdx.x >= 32 || elim_read_bitmap(layout, src, left, word_count, keep_bits);
        if (!__syncthreads_and(good)) {
            return UINT32_MAX;
        }
        elim_merge(dst, layout, staged, skip, word_count, keep_bits, repeats);
    } else if (keep_bits == H5TWIN_FPC_KEEP_NONE) {
        for (uint32_t i = threadIdx.x; i < word_count; i += FPC_THREADS) {
            dst[i] = 0;
        }
    }
    for (uint32_t i = threadIdx.x; i < copied; i += FPC_THREADS) {
        reinterpret_cast<uint8_t *>(dst)[size - copied + i] = src[left + i];
    }
    __syncthreads();
    return size;
}

#endif
