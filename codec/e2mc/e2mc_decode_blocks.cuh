/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_decode_blocks.cuh: a segment's blocks back to words, by a thread block: a thread per way,
 * then a warp per block for the sums. */
#ifndef H5TWIN_E2MC_DECODE_BLOCKS_CUH
#define H5TWIN_E2MC_DECODE_BLOCKS_CUH

#include "../common/store_word.cuh"
#include "../common/sums.cuh"
#include "e2mc_decode_book.cuh"
#include "e2mc_header_core.h"

/* ---- copies ---- */

/* size bytes from any address to one on 16 bytes, by `count` threads of which this is number `own`.
 */
static __device__ __forceinline__ void
copy_bytes(uint8_t *dst, const uint8_t *src, uint64_t size, uint32_t own, uint32_t count)
{
    const uint32_t skip = (uint32_t)(reinterpret_cast<uintptr_t>(src) & 3u);
    for (uint64_t at = 4 * (uint64_t)own; at < size; at += 4 * (uint64_t)count) {
        if (at + 4 <= size) {
            const uint32_t low = h5twin_gpu_load32(src + at - skip);
            const uint32_t high = skip == 0 ? 0u : h5twin_gpu_load32(src + at - skip + 4);
            h5twin_gpu_store32(dst + at, __funnelshift_r(low, high, 8 * skip));
        } else {
            for (uint64_t i = at; i < size; i++) {
                dst[i] = src[i];
            }
        }
    }
}

/* The same eight bytes over and over; whole words. */
static __device__ __forceinline__ void
fill_bytes(uint8_t *dst, uint64_t size, uint64_t word, uint32_t own, uint32_t count)
{
    const uint4 line =
        make_uint4((uint32_t)word, (uint32_t)(word >> 32), (uint32_t)word, (uint32_t)(word >> 32));
    for (uint64_t at = 16 * (uint64_t)own; at < size; at += 16 * (uint64_t)count) {
        if (at + 16 <= size) {
            h5twin_gpu_store128(dst + at, line);
        } else {
            for (uint64_t i = at; i < size; i++) {
                dst[i] = (uint8_t)(word >> 8 * (i % 8));
            }
        }
    }
}

/* ---- ways ---- */

/* What threads need to decode symbols. */
struct decoder {
    const struct book *book;
    const uint16_t *tables;
    const uint32_t *leaves;
};

/* The next symbol, of the given tree. */
static __device__ __forceinline__ uint32_t
next_symbol(const struct decoder *decoder, uint32_t tree_index, uint32_t table_bits,
            struct e2mc_bits *bits)
{
    const struct decode_tree *const tree = &decoder->book->trees[tree_index];
    const uint32_t window = e2mc_bits_peek(bits);
    const uint32_t entry =
        decoder->tables[(tree_index << table_bits) + (window >> (32u - table_bits))];
    uint32_t length = entry & 15u, leaf = entry >> 4;
    if (length == LONG_CODE) {
        length = h5twin_huffman_find_length(&tree->codes, window, table_bits + 1);
        leaf = h5twin_huffman_leaf(&tree->codes, window, length);
    }
    e2mc_bits_skip(bits, length);
    return leaf == tree->escape_leaf ? e2mc_bits_get(bits, tree->raw_bits) << tree->raw_shift
                                     : decoder->leaves[tree->leaf_begin + leaf];
}

/* word_count words from the bits to dst, on 16 bytes. */
static __device__ __forceinline__ void
decode_words(const struct decoder *decoder, struct e2mc_bits *bits, uint8_t *dst,
             uint32_t word_count)
{
    const struct h5twin_e2mc_geometry *const geometry = &decoder->book->geometry;
    const uint32_t symbol_bits = h5twin_e2mc_symbol_bits(geometry);
    const uint32_t tree_mask = decoder->book->tree_count - 1;
    const uint32_t table_bits = decoder->book->table_bits;
    const uint32_t size = word_count << geometry->word_log2;
    uint32_t tree = 0;
    for (uint32_t at = 0; at < size; at += 16) {
        const uint32_t left = size - at < 16 ? size - at : 16;
        uint32_t words[4] = {0, 0, 0, 0};
        H5TWIN_UNROLL
        for (uint32_t i = 0; i < 4; i++) {
            const uint32_t valid_bits = left > 4 * i ? 8 * (left - 4 * i) : 0;
            for (uint32_t filled = 0; filled < 32 && filled < valid_bits; filled += symbol_bits) {
                words[i] |= next_symbol(decoder, tree, table_bits, bits) << filled;
                tree = (tree + 1) & tree_mask;
            }
        }
        if (left == 16) {
            h5twin_gpu_store128(dst + at, make_uint4(words[0], words[1], words[2], words[3]));
        } else {
            H5TWIN_UNROLL
            for (uint32_t i = 0; i < 16; i++) {
                if (i < left) {
                    dst[at + i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
                }
            }
        }
    }
}

/* One way of a compressed block; false if it does not end where it must. dst is the block's. */
static __device__ __forceinline__ bool
decode_way(const struct decoder *decoder, const struct h5twin_e2mc_body *body, const uint8_t *form,
           uint32_t form_size, uint32_t way, uint8_t *dst, uint32_t raw_size)
{
    const struct h5twin_e2mc_geometry *const geometry = &decoder->book->geometry;
    const uint32_t ways = 1u << geometry->way_log2;
    const uint32_t pointer_bits = h5twin_e2mc_pointer_bits(geometry);
    const uint32_t least = (pointer_bits + 7) / 8;
    struct e2mc_bits bits;
    e2mc_bits_open(&bits, form, body->end);
    uint32_t begin = 0, end = form_size;
    if (way > 0) {
        e2mc_bits_seek(&bits, bits.start + (way - 1) * geometry->block_log2);
        begin = e2mc_bits_get(&bits, geometry->block_log2);
    }
    if (way + 1 < ways) {
        e2mc_bits_seek(&bits, bits.start + way * geometry->block_log2);
        end = e2mc_bits_get(&bits, geometry->block_log2);
    }
    if ((way > 0 && begin < least) || end < (way > 0 ? begin : least)) {
        return false;
    }
    const uint32_t per_way = (uint32_t)h5twin_e2mc_words_per_way(geometry);
    const uint32_t word_count = raw_size >> geometry->word_log2;
    const uint32_t first = way * per_way;
    const uint32_t left = word_count > first ? word_count - first : 0;
    e2mc_bits_seek(&bits, bits.start + (way == 0 ? pointer_bits : 8 * begin));
    decode_words(decoder, &bits, dst + ((size_t)first << geometry->word_log2),
                 left < per_way ? left : per_way);
    return e2mc_bits_position(&bits) <= bits.start + 8 * end;
}

/* ---- delta ---- */

static __device__ __forceinline__ uint64_t
load_word(const uint8_t *src, uint32_t size)
{
    uint64_t word = 0;
    for (uint32_t i = 0; i < size; i++) {
        word |= (uint64_t)src[i] << 8 * i;
    }
    return word;
}

/* Undo the delta of a block of raw_size bytes, by a warp: sums of words `stride` apart, 32 words at
 * a time. Wide: words of 8 bytes; sums of others have 32 bits. */
template <typename wide>
static __device__ __forceinline__ void
undo_delta_as(const struct h5twin_e2mc_geometry *geometry, uint8_t *dst, uint32_t raw_size,
              const uint8_t *anchors, uint32_t stride)
{
    const uint32_t lane = threadIdx.x % 32u, word_size = h5twin_e2mc_word_size(geometry);
    const uint32_t word_count = raw_size >> geometry->word_log2;
    wide before = 0; /* of the last 32 words */
    for (uint32_t base = 0; base < word_count; base += 32) {
        const uint32_t i = base + lane;
        wide sum = 0;
        if (i < word_count) {
            sum = i < stride ? (wide)load_word(anchors + (size_t)i * word_size, word_size)
                             : (wide)h5twin_e2mc_undelta(h5twin_gpu_load_word(dst, i, word_size), 0,
                                                         word_size);
        }
        for (uint32_t delta = stride; delta < 32; delta *= 2) {
            const wide below = __shfl_up_sync(H5TWIN_ALL_LANES, sum, delta);
            sum += lane >= delta ? below : 0u;
        }
        if (stride <= 32) {
            const uint32_t source = 32u - stride + lane % stride;
            sum += __shfl_sync(H5TWIN_ALL_LANES, before, (int)source);
        } else if (i >= stride && i < word_count) { /* decoded in an earlier round */
            sum += (wide)h5twin_gpu_load_word(dst, i - stride, word_size);
        }
        before = sum;
        if (i < word_count) {
            h5twin_gpu_store_word(dst, i, sum, word_size);
        }
        __syncwarp();
    }
}

static __device__ void
undo_delta(const struct h5twin_e2mc_geometry *geometry, uint8_t *dst, uint32_t raw_size,
           const uint8_t *anchors, uint32_t stride)
{
    if (geometry->word_log2 == 3) {
        undo_delta_as<uint64_t>(geometry, dst, raw_size, anchors, stride);
    } else {
        undo_delta_as<uint32_t>(geometry, dst, raw_size, anchors, stride);
    }
}

/* ---- segments ---- */

/* The blocks of one step: where their forms begin, and their metadata. */
struct step {
    uint64_t offset[THREADS];
    uint16_t value[THREADS];
};

/* The blocks of a step whose forms are inside the payload; false if a way is bad. */
static __device__ bool
decode_step(const struct decoder *decoder, const struct h5twin_e2mc_body *body,
            const struct step *step, uint64_t first_block, uint32_t block_count, uint8_t *dst,
            uint64_t raw_size, uint32_t stride)
{
    const struct h5twin_e2mc_geometry *const geometry = &decoder->book->geometry;
    const uint32_t stored = h5twin_e2mc_meta_stored(geometry);
    const uint32_t warp = threadIdx.x / 32u, lane = threadIdx.x % 32u;
    bool good = true;
    for (uint32_t task = threadIdx.x; task < block_count << geometry->way_log2; task += THREADS) {
        const uint32_t i = task >> geometry->way_log2;
        const uint32_t way = task & ((1u << geometry->way_log2) - 1u);
        const uint64_t block = first_block + i;
        const uint32_t size = (uint32_t)h5twin_e2mc_size_of_block(geometry, block, raw_size);
        const uint32_t form_size =
            (uint32_t)h5twin_e2mc_payload_size(geometry, step->value[i], size);
        if (step->value[i] != stored && !h5twin_e2mc_is_run(geometry, step->value[i]) &&
            step->offset[i] + form_size <= body->payload_size) {
            good &= decode_way(decoder, body, body->payload + step->offset[i], form_size, way,
                               dst + (block << geometry->block_log2), size);
        }
    }
    for (uint32_t i = warp; i < block_count; i += WARPS) {
        const uint64_t block = first_block + i;
        const uint32_t size = (uint32_t)h5twin_e2mc_size_of_block(geometry, block, raw_size);
        uint8_t *const to = dst + (block << geometry->block_log2);
        if (h5twin_e2mc_is_run(geometry, step->value[i])) {
            fill_bytes(to, size, decoder->book->run_word, lane, 32);
        } else if (step->value[i] == stored && step->offset[i] + size <= body->payload_size) {
            copy_bytes(to, body->payload + step->offset[i], size, lane, 32);
        }
    }
    if (stride == 0) {
        return good;
    }
    __syncthreads();
    for (uint32_t i = warp; i < block_count; i += WARPS) {
        const uint64_t block = first_block + i;
        if (step->value[i] != stored) {
            undo_delta(geometry, dst + (block << geometry->block_log2),
                       (uint32_t)h5twin_e2mc_size_of_block(geometry, block, raw_size),
                       body->anchors + block * ((uint64_t)stride << geometry->word_log2), stride);
        }
    }
    return good;
}

/* By all threads; the status. */
static __device__ uint32_t
decode_blocks(const struct decoder *decoder, const struct h5twin_e2mc_body *body, struct step *step,
              uint8_t *dst, uint64_t raw_size, uint32_t stride)
{
    const struct h5twin_e2mc_geometry *const geometry = &decoder->book->geometry;
    const uint64_t block_count = h5twin_e2mc_block_count(geometry, raw_size);
    const uint32_t meta_bits = h5twin_e2mc_meta_bits(geometry);
    uint64_t total = 0;
    bool good = true;
    for (uint64_t base = 0; base < block_count; base += THREADS) {
        const uint64_t block = base + threadIdx.x;
        uint64_t form_size = 0, sum;
        uint32_t value = 0;
        if (block < block_count) {
            struct h5twin_bit_reader_msb meta = {body->meta, (size_t)(body->anchors - body->meta),
                                                 block * meta_bits};
            value = (uint32_t)h5twin_bit_get_msb(&meta, meta_bits);
            form_size = h5twin_e2mc_payload_size(
                geometry, value, h5twin_e2mc_size_of_block(geometry, block, raw_size));
            good = good && (!h5twin_e2mc_is_run(geometry, value) || decoder->book->has_run != 0);
        }
        const uint64_t offset = total + h5twin_block_exclusive_sum(form_size, WARPS, &sum);
        step->offset[threadIdx.x] = offset;
        step->value[threadIdx.x] = (uint16_t)value;
        __syncthreads();
        const uint64_t left = block_count - base;
        good &= decode_step(decoder, body, step, base, (uint32_t)(left < THREADS ? left : THREADS),
                            dst, raw_size, stride);
        total += sum;
        __syncthreads();
    }
    const bool bad = __syncthreads_or(!good) != 0;
    return total > body->payload_size          ? (uint32_t)H5TWIN_ERR_SRC_SHORT
           : total < body->payload_size || bad ? (uint32_t)H5TWIN_ERR_CORRUPT
                                               : (uint32_t)H5TWIN_OK;
}

#endif
