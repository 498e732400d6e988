/* SPDX-License-Identifier: BSD-3-Clause
 * sleek.cu: SLEEK on a GPU: one thread block per block of 16 KiB, one warp per four subchunks.
 *
 * A subchunk of 512 bytes is exactly one 128-bit load of a warp. Encoders pack codes subchunk by
 * subchunk into shared memory, while one warp looks for the block's place in the payload; each lane
 * joins its codes and makes whole 32-bit words, so nothing is combined by atomics. Decoders stage
 * the stored block in shared memory and unpack from there. Both sum the checksum of what lies
 * there. Source  SLEEK (Texas State University, 2026), section III; FORMAT.md. */
#include "../common/bit_pack.cuh"
#include "../common/block_rows.cuh"
#include "../common/blocks.cuh"
#include "sleek_search.cuh"
#include "sleek_words.cuh"

#define THREADS  256u /* 8 warps x 4 subchunks: 4 loads under way in each lane */
#define WARPS    (THREADS / 32u)
#define PER_WARP (SLEEK_SUBCHUNKS / WARPS)

/* ---- encode ---- */

/* 32 bits of a subchunk's string of codes, from a bit position on. */
template <typename word>
static __device__ __forceinline__ uint32_t
collect_bits(const word *codes, uint32_t position, uint32_t width, uint32_t reciprocal)
{
    const uint32_t at = h5twin_gpu_field_at(position, reciprocal);
    return h5twin_gpu_collect_bits(codes, SLEEK_SUBCHUNK_BYTES / (uint32_t)sizeof(word), width, at,
                                   position - at * width);
}

/* Make a subchunk's string of codes, which is whole words: of each lane's by itself, unless those
 * are so short that a word has more than two. slot: shared memory of 512 bytes. Called by a warp.
 */
template <typename word>
static __device__ __forceinline__ void
pack_subchunk(uint32_t *dst, uint4 codes, uint4 *slot, uint32_t width, word)
{
    const uint32_t lane = threadIdx.x % 32u, bits = 16 / (uint32_t)sizeof(word) * width;
    if (bits >= 32) {
        word words[16 / sizeof(word)];
        uint64_t string[2];
        h5twin_row_split(words, codes);
        h5twin_gpu_join_codes(string, words, width);
        h5twin_gpu_pack_strings(dst, 0, string, bits);
    } else if (bits != 0) { /* a word for each lane at most */
        slot[lane] = codes;
        __syncwarp();
        if (lane < bits) {
            dst[lane] = collect_bits(reinterpret_cast<const word *>(slot), 32 * lane, width,
                                     h5twin_gpu_width_reciprocal(width));
        }
        __syncwarp();
    }
}

/* Shared memory: 4 KiB for codes (a subchunk per warp), then for the checksum, 16 KiB of packed
 * ones and 284 bytes; 4 blocks where there are 100 KiB. */
template <typename word>
static __global__ void
__launch_bounds__(THREADS) sleek_encode_kernel(struct h5twin_block_tiles tiles)
{
    H5TWIN_SHARED(uint4, slots, WARPS * 32u); /* more than H5TWIN_CRC_STATE_LINES */
    H5TWIN_SHARED(uint4, packed_lines, H5TWIN_BLOCK_BYTES / 16u);
    H5TWIN_SHARED(uint32_t, widths, SLEEK_SUBCHUNKS);
    H5TWIN_SHARED(uint32_t, offsets, SLEEK_SUBCHUNKS);
    H5TWIN_SHARED(uint64_t, place, 1);
    H5TWIN_SHARED(uint32_t, stored, 1);
    const uint32_t lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    const struct h5twin_block_tile tile = h5twin_block_tile_claim(&tiles);
    const uint32_t block_size = tile.block_size;
    const uint8_t *const src = h5twin_block_src(&tiles, &tile);
    const uint32_t bound = tiles.batch.d_parameters[tile.chunk] >> 8;

    /* load and map: all loads first, so that they are under way together */
    uint4 codes[PER_WARP];
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < PER_WARP; i++) {
        const uint32_t at = (warp * PER_WARP + i) * SLEEK_SUBCHUNK_BYTES + 16 * lane;
        codes[i] = h5twin_row_load(src, at, block_size);
    }
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < PER_WARP; i++) {
        codes[i] = codes_of(codes[i], bound, (word)0);
        const uint32_t width = width_of(codes[i], (word)0);
        if (lane == 0) {
            widths[warp * PER_WARP + i] = width;
        }
    }
    __syncthreads();

    if (warp == 0) {
        const uint32_t size = h5twin_sleek_packed_bytes(sizeof(word), widths[lane]);
        const uint32_t offset = SLEEK_OVERHEAD_BYTES - 2u + h5twin_warp_exclusive_sum(size);
        const uint32_t packed_size = __shfl_sync(H5TWIN_ALL_LANES, offset + size, 31) + 2u;
        offsets[lane] = offset;
        if (lane == 0) {
            stored[0] = packed_size < block_size ? packed_size : block_size;
        }
    }
    __syncthreads();

    /* pack; meanwhile the first warp looks for the place, and packs its subchunks afterwards */
    uint8_t *const packed = reinterpret_cast<uint8_t *>(packed_lines);
    const bool raw = stored[0] == block_size;
    if (warp == 0) {
        const uint64_t start = h5twin_blocks_place(&tiles, tile.number, stored[0]);
        if (lane == 0) {
            place[0] = start;
        }
        if (!raw && lane < SLEEK_SUBCHUNKS / 2) {
            h5twin_gpu_store16(packed + 2 * lane, widths[2 * lane] | widths[2 * lane + 1] << 8);
        }
    }
    if (!raw) {
        uint4 *const slot = slots + warp * 32;
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < PER_WARP; i++) {
            const uint32_t subchunk = warp * PER_WARP + i;
            pack_subchunk(reinterpret_cast<uint32_t *>(packed + offsets[subchunk]), codes[i], slot,
                          widths[subchunk], (word)0);
        }
        if (threadIdx.x == THREADS - 1) {
            h5twin_gpu_store16(packed + stored[0] - 2, block_size);
        }
    }
    __syncthreads();
    h5twin_block_write(&tiles, &tile, place[0], raw ? src : packed, stored[0], slots);
}

/* ---- decode ---- */

/* What a block's words are. */
enum class stored_as { raw, lossless, lossy };

/* A lane's words of a subchunk that begins at a bit of staged words. */
template <enum stored_as kind, typename word>
static __device__ __forceinline__ uint4
unpack(const uint32_t *staged, uint32_t start_bit, uint32_t width, uint32_t bound, word)
{
    const uint32_t count = 16 / (uint32_t)sizeof(word);
    const uint32_t bit = start_bit + count * (threadIdx.x % 32u) * width;
    word words[count];
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < count; i++) {
        words[i] = h5twin_staged_field(staged, bit + i * width, width, (word)0);
    }
    if (kind != stored_as::raw) {
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < count; i++) {
            words[i] = word_of(words[i], kind == stored_as::lossless ? 0u : bound);
        }
    }
    return h5twin_row_join(words);
}

/* A warp's words of a block, to their places in the array. */
template <enum stored_as kind, typename word>
static __device__ __forceinline__ void
unpack_block(uint8_t *dst, const uint32_t *staged, const uint32_t *start_bits,
             const uint32_t *widths, uint32_t block_size, uint32_t bound, word)
{
    const uint32_t lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    H5TWIN_UNROLL
    for (uint32_t i = 0; i < PER_WARP; i++) {
        const uint32_t subchunk = warp * PER_WARP + i;
        const uint32_t at = subchunk * SLEEK_SUBCHUNK_BYTES + 16 * lane;
        if (at < block_size) {
            h5twin_row_store(
                dst, at, block_size,
                unpack<kind>(staged, start_bits[subchunk], widths[subchunk], bound, (word)0));
        }
    }
}

/* Check a packed block's header and trailer by one warp, and write the bit at which each subchunk
 * starts in the staged bytes. Raw blocks are subchunks of full width. */
template <typename word>
static __device__ __forceinline__ bool
read_widths(uint32_t *widths, uint32_t *start_bits, const uint8_t *stored, uint32_t skip,
            uint32_t stored_size, uint32_t block_size)
{
    const uint32_t lane = threadIdx.x % 32u, full_width = 8 * (uint32_t)sizeof(word);
    if (stored_size == block_size) {
        widths[lane] = full_width;
        start_bits[lane] = 8 * (skip + lane * SLEEK_SUBCHUNK_BYTES);
        return true;
    }
    if (stored_size < SLEEK_OVERHEAD_BYTES) {
        return false;
    }
    const uint32_t width = stored[lane];
    const uint32_t trailer = stored[stored_size - 2] | (uint32_t)stored[stored_size - 1] << 8;
    const uint32_t size = h5twin_sleek_packed_bytes(sizeof(word), width);
    const uint32_t offset = h5twin_warp_exclusive_sum(size);
    const uint32_t sum = __shfl_sync(H5TWIN_ALL_LANES, offset + size, 31);
    widths[lane] = width;
    start_bits[lane] = 8 * (skip + SLEEK_SUBCHUNKS + offset);
    return __all_sync(H5TWIN_ALL_LANES, width <= full_width) && trailer == block_size &&
           stored_size == SLEEK_OVERHEAD_BYTES + sum;
}

/* Shared memory: 16 KiB + 32 bytes of stored block, 1 KiB for the checksum and 260 bytes: 5 blocks
 * where a multiprocessor has 100 KiB. */
template <typename word>
static __global__ void
__launch_bounds__(THREADS) sleek_decode_kernel(struct h5twin_block_tiles tiles)
{
    H5TWIN_SHARED(uint4, staged, H5TWIN_STAGED_LINES);
    H5TWIN_SHARED(uint4, states, H5TWIN_CRC_STATE_LINES);
    H5TWIN_SHARED(uint32_t, widths, SLEEK_SUBCHUNKS);
    H5TWIN_SHARED(uint32_t, start_bits, SLEEK_SUBCHUNKS);
    H5TWIN_SHARED(uint32_t, good, 1);
    const uint32_t lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    const struct h5twin_block_tile tile = h5twin_block_tile_at(&tiles, blockIdx.x);
    struct h5twin_stored_block found;
    if (!h5twin_block_find(&tiles, &tile, &found)) {
        return;
    }
    const uint32_t block_size = tile.block_size, stored_size = found.size;
    const uint32_t bound = tiles.batch.d_parameters[tile.chunk] >> 8;
    uint8_t *const dst = h5twin_block_dst(&tiles, &tile);

    const uint32_t skip = h5twin_stage(staged, found.src, stored_size);
    __syncthreads();
    if (warp == 0) {
        const uint8_t *const stored = reinterpret_cast<const uint8_t *>(staged) + skip;
        const bool ok =
            read_widths<word>(widths, start_bits, stored, skip, stored_size, block_size);
        if (lane == 0) {
            good[0] = ok;
            if (!ok) {
                h5twin_gpu_fail(&tiles.batch.d_status[tile.chunk], H5TWIN_ERR_CORRUPT);
            }
        }
    }
    __syncthreads();
    if (good[0] == 0) {
        return;
    }
    const uint32_t *const words = reinterpret_cast<const uint32_t *>(staged);
    if (stored_size == block_size) {
        unpack_block<stored_as::raw>(dst, words, start_bits, widths, block_size, 0, (word)0);
    } else if (bound == 0) {
        unpack_block<stored_as::lossless>(dst, words, start_bits, widths, block_size, 0, (word)0);
    } else {
        unpack_block<stored_as::lossy>(dst, words, start_bits, widths, block_size, bound, (word)0);
    }
    h5twin_block_sum(&tiles, &tile, &found, staged, skip, states);
}

/* sleek.c's check_parameter. */
struct sleek_parameter_check {
    uint32_t word_size, is_float;
    __device__ uint32_t
    operator()(const struct h5twin_gpu_batch &batch, size_t chunk) const
    {
        return h5twin_sleek_parameter_is_valid(batch.d_parameters[chunk], word_size, is_float)
                   ? H5TWIN_OK
                   : H5TWIN_ERR_CORRUPT;
    }
};

/* ---- launchers ---- */

static size_t
scratch_size(const struct h5twin_job *job, size_t chunk_count, bool decoding)
{
    size_t size = 0, parts[2];
    h5twin_block_tiles_scratch(&size, parts, job->raw_size, chunk_count);
    if (!decoding && sleek_must_search(job)) {
        h5twin_gpu_part(&size, chunk_count, sizeof(struct sleek_search));
    }
    return size == SIZE_MAX ? 0 : size;
}

static enum h5twin_status
encode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    size_t offset = 0;
    const struct h5twin_block_tiles tiles =
        h5twin_block_tiles_make(batch, &offset, job->raw_size, SLEEK_HEADER_BYTES);
    const unsigned tile_count = (unsigned)(batch->chunk_count * tiles.block_count);
    const bool must_search = sleek_must_search(job);
    struct sleek_search *const searches =
        reinterpret_cast<struct sleek_search *>(batch->d_scratch + offset);
    const size_t searches_size = must_search ? batch->chunk_count * sizeof *searches : 0;
    if (!h5twin_blocks_begin_encode(&tiles, searches_size, stream) ||
        (must_search && !sleek_search_exponents(job, batch, searches, stream))) {
        return H5TWIN_ERR_DEVICE;
    }
    if (tile_count != 0) {
        H5TWIN_LAUNCH_WORDS(sleek_encode_kernel, job->word_size, tile_count, THREADS, 0, stream)
        (tiles);
    }
    return h5twin_gpu_accepted() ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

static enum h5twin_status
decode(const struct h5twin_job *job, const struct h5twin_gpu_batch *batch, cudaStream_t stream)
{
    size_t offset = 0;
    const struct h5twin_block_tiles tiles =
        h5twin_block_tiles_make(batch, &offset, job->raw_size, SLEEK_HEADER_BYTES);
    const unsigned tile_count = (unsigned)(batch->chunk_count * tiles.block_count);
    const struct sleek_parameter_check check = {job->word_size, job->kind == H5TWIN_FLOAT};
    if (!h5twin_blocks_begin_decode(&tiles, stream, check)) {
        return H5TWIN_ERR_DEVICE;
    }
    if (tile_count != 0) {
        H5TWIN_LAUNCH_WORDS(sleek_decode_kernel, job->word_size, tile_count, THREADS, 0, stream)
        (tiles);
    }
    return h5twin_gpu_accepted() ? H5TWIN_OK : H5TWIN_ERR_DEVICE;
}

static uint64_t
summed_from(const struct h5twin_job *job)
{
    return h5twin_blocks_begin(SLEEK_HEADER_BYTES, h5twin_block_count(job->raw_size));
}

extern "C" const struct h5twin_gpu_codec h5twin_sleek_gpu = {scratch_size, encode, decode,
                                                             summed_from};
