/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_packed_encode.cuh: packed residual streams (residuals.h) written on a GPU. Bytes are
 * those of residuals_packed.c.
 *
 * A long stream, by any number of blocks of threads, in two launches:
 *
 *     measure       widths of groups, sizes of super-blocks added up; the last block decides
 *     write         a tile of super-blocks at a time; look-back tells where each tile goes
 *
 * A short one, by one block, with barriers between: widths, plan, write. Blocks are many there,
 * too, if the codec launches a kernel for each step.
 *
 * Bytes moved, for n words: n read for widths and n for packing, n / 16 bytes of widths written and
 * read twice, and the stream written; a short one's plan: 12 bytes of notes per 256 words more.
 * Source  RESIDUALS.md. */
#ifndef H5TWIN_COMMON_RESIDUALS_PACKED_ENCODE_CUH
#define H5TWIN_COMMON_RESIDUALS_PACKED_ENCODE_CUH

#include "residuals.cuh"

/* Super-blocks that are not all zero, and bytes of their groups with either method. */
struct residuals_packed_sums {
    uint64_t with_words, steps, widths;
};

/* A stream to be written. In memory that all threads see. */
struct h5twin_residuals_packed_plan {
    uint32_t method;
    uint32_t with_words; /* super-blocks that are not all zero */
    uint64_t heads;      /* offset of widths */
    uint64_t size;       /* of the stream */
};

/* What tiles of a long stream tell each other, in global memory; all 0 at first. */
struct h5twin_residuals_packed_tally {
    struct residuals_packed_sums sums;
    uint32_t measured, ticket; /* tiles that have added theirs; the next one to be written */
};

/* ---- widths ---- */

/* Bit lengths of the largest word of each group of 16 of a super-block, by a warp. */
template <typename word>
static __device__ __forceinline__ void
residuals_find_widths(uint8_t *widths, const word *words, uint64_t word_count, uint64_t super)
{
    const uint32_t lane = threadIdx.x % 32u;
    const bool is_aligned = h5twin_gpu_is_aligned128(words);
    H5TWIN_UNROLL
    for (uint32_t base = 0; base < RESIDUALS_BLOCK; base += 128) {
        const uint64_t i = super * RESIDUALS_BLOCK + base + 4 * lane;
        word four[4];
        h5twin_gpu_load_four(four, words, i, word_count, is_aligned);
        word all = four[0] | four[1] | four[2] | four[3];
        all |= __shfl_xor_sync(H5TWIN_ALL_LANES, all, 1);
        all |= __shfl_xor_sync(H5TWIN_ALL_LANES, all, 2);
        if (lane % 4 == 0) {
            widths[super * RESIDUALS_GROUPS + base / RESIDUALS_GROUP + lane / 4] =
                (uint8_t)h5twin_bit_length64(all);
        }
    }
}

/* Of all super-blocks, 16 widths for each, by block `part` of `parts`. */
template <typename word>
static __device__ void
h5twin_residuals_packed_widths(uint8_t *widths, const word *words, uint64_t word_count,
                               uint32_t part, uint32_t parts)
{
    const uint32_t warps = parts * residuals_warps();
    const uint64_t supers = residuals_block_count(word_count);
    for (uint64_t super = part * residuals_warps() + threadIdx.x / 32u; super < supers;
         super += warps) {
        residuals_find_widths(widths, words, word_count, super);
    }
}

/* ---- plan ---- */

/* The width that a group is packed with. */
static __device__ __forceinline__ uint32_t
residuals_packed_width(uint32_t method, uint32_t top, uint32_t width)
{
    return method == RESIDUALS_WIDTHS
               ? width
               : h5twin_residual_step_width(top, h5twin_residual_step(top, width));
}

/* What one super-block adds to the sums; widths begin at a multiple of 16 bytes. */
static __device__ __forceinline__ struct residuals_packed_sums
residuals_measure_super(const uint8_t *widths, uint64_t super)
{
    const uint4 all = h5twin_gpu_load128(widths + RESIDUALS_GROUPS * super);
    const uint32_t fours[4] = {all.x, all.y, all.z, all.w};
    uint32_t top = 0, steps = 0, plain = 0;
    H5TWIN_UNROLL
    for (uint32_t group = 0; group < RESIDUALS_GROUPS; group++) {
        const uint32_t width = fours[group / 4] >> 8 * (group % 4) & 255u;
        top = width > top ? width : top;
        plain += width;
    }
    H5TWIN_UNROLL
    for (uint32_t group = 0; group < RESIDUALS_GROUPS; group++) {
        steps += residuals_packed_width(RESIDUALS_STEPS, top,
                                        fours[group / 4] >> 8 * (group % 4) & 255u);
    }
    const struct residuals_packed_sums sums = {top != 0, 2 * steps, 2 * plain};
    return sums;
}

static __device__ __forceinline__ uint32_t
residuals_packed_bytes(uint32_t method, const struct residuals_packed_sums *sums)
{
    return (uint32_t)(method == RESIDUALS_WIDTHS ? sums->widths : sums->steps);
}

static __device__ __forceinline__ uint32_t
residuals_head_size(uint32_t method)
{
    return method == RESIDUALS_STEPS ? 1 + RESIDUALS_CUH_STEPS_BYTES : RESIDUALS_GROUPS;
}

/* Where the groups begin, of a plan that has its method. */
static __device__ __forceinline__ uint64_t
residuals_packed_groups(const struct h5twin_residuals_packed_plan *plan)
{
    return plan->heads + (uint64_t)residuals_head_size(plan->method) * plan->with_words;
}

/* The method, and all that follows from the sums over a whole stream. */
static __device__ __forceinline__ void
residuals_packed_decide(struct h5twin_residuals_packed_plan *plan,
                        const struct residuals_packed_sums *sums, uint64_t supers)
{
    const uint64_t steps = residuals_head_size(RESIDUALS_STEPS) * sums->with_words + sums->steps;
    const uint64_t widths = residuals_head_size(RESIDUALS_WIDTHS) * sums->with_words + sums->widths;
    plan->method = sums->with_words == 0 ? RESIDUALS_ZERO
                   : steps <= widths     ? RESIDUALS_STEPS
                                         : RESIDUALS_WIDTHS;
    plan->with_words = (uint32_t)sums->with_words;
    plan->heads = 1 + (supers + 7) / 8;
    plan->size =
        plan->method == RESIDUALS_ZERO ? 1 : plan->heads + (steps <= widths ? steps : widths);
}

/* Decide for a method and find where everything goes. By all threads of one block; *plan in memory
 * that all of them see. Notes: the place of each super-block's groups, and its number among those
 * with words. Returns the stream's size to all. */
static __device__ uint64_t
h5twin_residuals_packed_plan(struct h5twin_residuals_packed_plan *plan,
                             struct h5twin_residuals_notes notes, const uint8_t *widths,
                             uint64_t word_count)
{
    const uint64_t supers = residuals_block_count(word_count);
    struct residuals_packed_sums sums = {};
    for (uint64_t super = threadIdx.x; super < supers; super += blockDim.x) {
        const struct residuals_packed_sums own = residuals_measure_super(widths, super);
        sums.with_words += own.with_words;
        sums.steps += own.steps;
        sums.widths += own.widths;
    }
    sums.with_words = residuals_block_sum(sums.with_words);
    sums.steps = residuals_block_sum(sums.steps);
    sums.widths = residuals_block_sum(sums.widths);
    struct h5twin_residuals_packed_plan found = {};
    residuals_packed_decide(&found, &sums, supers);
    uint64_t at = residuals_packed_groups(&found), index = 0;
    for (uint64_t base = 0; found.method != RESIDUALS_ZERO && base < supers; base += blockDim.x) {
        const uint64_t super = base + threadIdx.x;
        struct residuals_packed_sums own = {};
        if (super < supers) {
            own = residuals_measure_super(widths, super);
        }
        uint32_t step_count, step_size;
        const uint32_t rank =
            h5twin_block_exclusive_sum((uint32_t)own.with_words, residuals_warps(), &step_count);
        const uint32_t before = h5twin_block_exclusive_sum(
            residuals_packed_bytes(found.method, &own), residuals_warps(), &step_size);
        if (super < supers) {
            notes.offsets[super] = own.with_words != 0 ? at + before : RESIDUALS_CUH_NONE;
            notes.first_block[super] = (uint32_t)(index + rank);
        }
        at += step_size;
        index += step_count;
    }
    if (threadIdx.x == 0) {
        *plan = found;
    }
    __syncthreads();
    return found.size;
}

/* ---- measure: a long stream's widths and plan ---- */

static __device__ __forceinline__ void
residuals_add(uint64_t *sum, uint64_t value)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(sum), (unsigned long long)value);
}

/* Widths of a tile, whose sums join those of all. Called by all threads of one block for each tile;
 * for the last one to do so it returns true, to all of them, and *plan, in global memory, is
 * complete. Readies states of tiles, for writing, in notes. */
template <typename word>
static __device__ bool
h5twin_residuals_packed_measure(struct h5twin_residuals_packed_plan *plan,
                                struct h5twin_residuals_packed_tally *tally,
                                struct h5twin_residuals_notes notes, uint8_t *widths,
                                const word *words, uint64_t word_count, uint64_t tile)
{
    const uint64_t supers = residuals_block_count(word_count), first = RESIDUALS_TILE * tile;
    for (uint32_t i = threadIdx.x / 32u; i < RESIDUALS_TILE; i += residuals_warps()) {
        if (first + i < supers) {
            residuals_find_widths(widths, words, word_count, first + i);
        }
    }
    __syncthreads();
    bool is_last = false;
    if (threadIdx.x < 32) {
        const uint64_t super = first + threadIdx.x;
        struct residuals_packed_sums own = {};
        if (threadIdx.x < RESIDUALS_TILE && super < supers) {
            own = residuals_measure_super(widths, super);
        }
        own.with_words = h5twin_warp_sum(own.with_words);
        own.steps = h5twin_warp_sum(own.steps);
        own.widths = h5twin_warp_sum(own.widths);
        if (threadIdx.x == 0) {
            notes.offsets[tile] = 0;
            residuals_add(&tally->sums.with_words, own.with_words);
            residuals_add(&tally->sums.steps, own.steps);
            residuals_add(&tally->sums.widths, own.widths);
            __threadfence();
            is_last =
                atomicAdd(&tally->measured, 1u) + 1 == h5twin_residuals_tile_count(word_count);
        }
    }
    if (is_last) {
        __threadfence();
        const struct residuals_packed_sums sums = {h5twin_gpu_flag_load(&tally->sums.with_words),
                                                   h5twin_gpu_flag_load(&tally->sums.steps),
                                                   h5twin_gpu_flag_load(&tally->sums.widths)};
        residuals_packed_decide(plan, &sums, supers);
    }
    return __syncthreads_or(is_last) != 0;
}

/* ---- write ---- */

/* Words of shared memory for the string of bits of a super-block, and one behind it. */
#define RESIDUALS_STRING_WORDS(word) (RESIDUALS_BLOCK * (uint32_t)sizeof(word) / 4 + 2)

/* Put a field into a string of bits in shared memory that holds zeros there. */
static __device__ __forceinline__ void
residuals_or_bits(uint32_t *string, uint32_t bit, uint64_t field, uint32_t width)
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

/* Copy a string of bits of `size` whole bytes to any address, by a warp; a word behind it may be
 * read. */
static __device__ __forceinline__ void
residuals_copy_string(uint8_t *dst, const uint32_t *string, uint32_t size)
{
    const uint32_t lane = threadIdx.x % 32u;
    const uint32_t to_whole = (uint32_t)(0u - (uintptr_t)dst) % 4;
    const uint32_t head = to_whole < size ? to_whole : size;
    const uint32_t whole = (size - head) / 4, tail = size - head - 4 * whole;
    if (lane < head) {
        dst[lane] = (uint8_t)(string[0] >> 8 * lane);
    }
    for (uint32_t i = lane; i < whole; i += 32) {
        h5twin_gpu_store32(dst + head + 4 * i, __funnelshift_r(string[i], string[i + 1], 8 * head));
    }
    if (lane < tail) {
        const uint32_t byte = head + 4 * whole + lane;
        dst[byte] = (uint8_t)(string[byte / 4] >> 8 * (byte % 4));
    }
}

/* The widths of a super-block with words, of which lane i has number i, by a warp. */
static __device__ __forceinline__ void
residuals_write_head(const struct h5twin_residuals_packed_plan *plan, uint8_t *dst, uint32_t index,
                     uint32_t width, uint32_t top)
{
    const uint32_t lane = threadIdx.x % 32u;
    uint8_t *const heads = dst + plan->heads;
    if (plan->method == RESIDUALS_WIDTHS) {
        if (lane < RESIDUALS_GROUPS) {
            heads[RESIDUALS_GROUPS * (uint64_t)index + lane] = (uint8_t)width;
        }
        return;
    }
    const uint64_t own = lane < RESIDUALS_GROUPS ? (uint64_t)h5twin_residual_step(top, width)
                                                       << (RESIDUALS_STEP_BITS * lane)
                                                 : 0;
    const uint64_t steps = (uint64_t)__reduce_or_sync(H5TWIN_ALL_LANES, (uint32_t)(own >> 32))
                               << 32 |
                           __reduce_or_sync(H5TWIN_ALL_LANES, (uint32_t)own);
    if (lane == 0) {
        heads[index] = (uint8_t)top;
    }
    if (lane < RESIDUALS_CUH_STEPS_BYTES) {
        heads[plan->with_words + RESIDUALS_CUH_STEPS_BYTES * (uint64_t)index + lane] =
            (uint8_t)(steps >> 8 * lane);
    }
}

/* The groups of a super-block, of which lane i has the width of number i, to `at`, by a warp. Up to
 * four words that fill 64 bits are joined before they are put into the string. string: in shared
 * memory. */
template <typename word>
static __device__ __forceinline__ void
residuals_write_groups(const struct h5twin_residuals_packed_plan *plan, uint8_t *at,
                       const word *words, uint32_t count, uint32_t own_width, uint32_t top,
                       uint32_t *string)
{
    const uint32_t lane = threadIdx.x % 32u;
    const bool is_aligned = h5twin_gpu_is_aligned128(words);
    const uint32_t packed =
        lane < RESIDUALS_GROUPS ? residuals_packed_width(plan->method, top, own_width) : 0;
    const uint32_t begin = RESIDUALS_GROUP * h5twin_warp_exclusive_sum(packed);
    const uint32_t bits =
        __shfl_sync(H5TWIN_ALL_LANES, begin + RESIDUALS_GROUP * packed, RESIDUALS_GROUPS - 1);
    for (uint32_t i = lane; i < bits / 32 + 2; i += 32) {
        string[i] = 0;
    }
    __syncwarp();
    H5TWIN_UNROLL
    for (uint32_t base = 0; base < RESIDUALS_BLOCK; base += 128) {
        const int group = (int)(base / RESIDUALS_GROUP + lane / 4);
        const uint32_t width = __shfl_sync(H5TWIN_ALL_LANES, packed, group);
        const uint32_t bit = __shfl_sync(H5TWIN_ALL_LANES, begin, group) + 4 * (lane % 4) * width;
        word four[4];
        h5twin_gpu_load_four(four, words, base + 4 * lane, count, is_aligned);
        if (width <= 16) {
            const uint64_t low = four[0] | (uint64_t)four[1] << width;
            const uint64_t high = four[2] | (uint64_t)four[3] << width;
            residuals_or_bits(string, bit, low | high << 2 * width, 4 * width);
        } else {
            H5TWIN_UNROLL
            for (uint32_t k = 0; k < 4; k++) {
                residuals_or_bits(string, bit + k * width, four[k], width);
            }
        }
    }
    __syncwarp();
    residuals_copy_string(at, string, bits / 8);
    __syncwarp(); /* all have read */
}

/* Method and map, eight super-blocks a byte. */
static __device__ __forceinline__ void
residuals_write_map(const struct h5twin_residuals_packed_plan *plan,
                    struct h5twin_residuals_notes notes, uint8_t *dst, uint64_t supers,
                    uint32_t part, uint32_t parts)
{
    const uint64_t thread = (uint64_t)part * blockDim.x + threadIdx.x;
    if (thread == 0) {
        dst[0] = (uint8_t)plan->method;
    }
    for (uint64_t byte = thread; plan->method != RESIDUALS_ZERO && byte < (supers + 7) / 8;
         byte += (uint64_t)parts * blockDim.x) {
        uint32_t bits = 0;
        for (uint32_t i = 0; i < 8 && 8 * byte + i < supers; i++) {
            bits |= (uint32_t)(notes.offsets[8 * byte + i] != RESIDUALS_CUH_NONE) << i;
        }
        dst[1 + byte] = (uint8_t)bits;
    }
}

/* A super-block with words, number `index` among those, its groups to `place`, by a warp. */
template <typename word>
static __device__ __forceinline__ void
residuals_write_super(const struct h5twin_residuals_packed_plan *plan, uint8_t *dst, uint64_t place,
                      uint32_t index, const uint8_t *widths, const word *words, uint64_t word_count,
                      uint64_t super, uint32_t *string)
{
    const uint32_t lane = threadIdx.x % 32u;
    const uint64_t begin = super * RESIDUALS_BLOCK, left = word_count - begin;
    const uint32_t width = lane < RESIDUALS_GROUPS ? widths[super * RESIDUALS_GROUPS + lane] : 0;
    const uint32_t top = __reduce_max_sync(H5TWIN_ALL_LANES, width);
    residuals_write_head(plan, dst, index, width, top);
    residuals_write_groups(plan, dst + place, words + begin,
                           left < RESIDUALS_BLOCK ? (uint32_t)left : RESIDUALS_BLOCK, width, top,
                           string);
}

/* Write what falls to block `part` of `parts` of a planned stream to dst, at any address. */
template <typename word>
static __device__ void
h5twin_residuals_packed_write(const struct h5twin_residuals_packed_plan *shared_plan,
                              struct h5twin_residuals_notes notes, const uint8_t *widths,
                              uint8_t *dst, const word *words, uint64_t word_count, uint32_t part,
                              uint32_t parts)
{
    H5TWIN_SHARED(uint32_t, strings, H5TWIN_RESIDUALS_MOST_WARPS * RESIDUALS_STRING_WORDS(word));
    uint32_t *const string = strings + threadIdx.x / 32u * RESIDUALS_STRING_WORDS(word);
    const uint32_t warps = parts * residuals_warps();
    const uint64_t supers = residuals_block_count(word_count);
    const struct h5twin_residuals_packed_plan own_plan = *shared_plan; /* stores leave it alone */
    const struct h5twin_residuals_packed_plan *const plan = &own_plan;
    residuals_write_map(plan, notes, dst, supers, part, parts);
    for (uint64_t super = part * residuals_warps() + threadIdx.x / 32u;
         plan->method != RESIDUALS_ZERO && super < supers; super += warps) {
        const uint64_t place = notes.offsets[super];
        if (place != RESIDUALS_CUH_NONE) {
            residuals_write_super(plan, dst, place, notes.first_block[super], widths, words,
                                  word_count, super, string);
        }
    }
}

/* ---- write: tiles of a long stream ---- */

/* The tile's part of the map, by a warp. */
static __device__ __forceinline__ void
residuals_write_tile_map(uint8_t *dst, uint64_t tile, uint64_t supers, bool has)
{
    const uint32_t bits = __ballot_sync(H5TWIN_ALL_LANES, has);
    const uint64_t byte = RESIDUALS_TILE / 8 * tile + threadIdx.x;
    if (threadIdx.x < RESIDUALS_TILE / 8 && byte < (supers + 7) / 8) {
        dst[1 + byte] = (uint8_t)(bits >> 8 * threadIdx.x);
    }
}

/* Write a tile of a measured stream to dst, at any address: whichever is next. Called by all
 * threads of one block for each tile. */
template <typename word>
static __device__ void
h5twin_residuals_packed_write_tile(const struct h5twin_residuals_packed_plan *shared_plan,
                                   struct h5twin_residuals_packed_tally *tally,
                                   struct h5twin_residuals_notes notes, const uint8_t *widths,
                                   uint8_t *dst, const word *words, uint64_t word_count)
{
    H5TWIN_SHARED(struct residuals_tile_places, places, 1);
    H5TWIN_SHARED(uint32_t, strings, H5TWIN_RESIDUALS_MOST_WARPS * RESIDUALS_STRING_WORDS(word));
    uint32_t *const string = strings + threadIdx.x / 32u * RESIDUALS_STRING_WORDS(word);
    const uint64_t supers = residuals_block_count(word_count);
    const struct h5twin_residuals_packed_plan own_plan = *shared_plan; /* stores leave it alone */
    const struct h5twin_residuals_packed_plan *const plan = &own_plan;
    const uint64_t tile = residuals_claim_tile(&tally->ticket), first = RESIDUALS_TILE * tile;
    if (tile == 0 && threadIdx.x == 0) {
        dst[0] = (uint8_t)plan->method;
    }
    if (plan->method == RESIDUALS_ZERO) {
        return;
    }
    if (threadIdx.x < 32) {
        struct residuals_packed_sums own = {};
        if (threadIdx.x < RESIDUALS_TILE && first + threadIdx.x < supers) {
            own = residuals_measure_super(widths, first + threadIdx.x);
        }
        const bool has = own.with_words != 0;
        (void)residuals_place_tile(places, notes.offsets, tile, residuals_packed_groups(plan), has,
                                   residuals_packed_bytes(plan->method, &own));
        residuals_write_tile_map(dst, tile, supers, has);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x / 32u; i < RESIDUALS_TILE; i += residuals_warps()) {
        if (places->place[i] != RESIDUALS_CUH_NONE) {
            residuals_write_super(plan, dst, places->place[i], places->index[i], widths, words,
                                  word_count, first + i, string);
        }
    }
}

#endif
