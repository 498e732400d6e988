/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_layout.cuh: where segments and blocks go, and all of the stream that is not blocks;
 * FORMAT.md 2 to 4, 8.2 and 8.8. */
#ifndef H5TWIN_E2MC_LAYOUT_CUH
#define H5TWIN_E2MC_LAYOUT_CUH

#include "../common/copy.cuh"
#include "e2mc_sort.cuh"

/* Number in the batch of a segment's first block. */
static __device__ __forceinline__ uint64_t
e2mc_first_block(const struct e2mc_plan *plan, const struct e2mc_span *span)
{
    return span->chunk * plan->block_count +
           (span->segment << plan->segment_log2 >> plan->params.geometry.block_log2);
}

/* Offsets of the blocks, and which kind the segment becomes. A thread block per segment. */
static __global__ void
__launch_bounds__(E2MC_THREADS) e2mc_place_kernel(const struct e2mc_plan plan)
{
    const struct h5twin_e2mc_geometry *const geometry = &plan.params.geometry;
    const struct e2mc_span span = e2mc_span_of(&plan, blockIdx.x);
    if (e2mc_chunk_is_done(&plan, span.chunk)) {
        return;
    }
    uint32_t kind = H5TWIN_E2MC_RAW;
    uint64_t body = span.size, book_size = 0;
    if (!plan.is_raw && !e2mc_needs_trees(&plan, &span)) {
        kind = H5TWIN_E2MC_CONSTANT;
        body = h5twin_e2mc_word_size(geometry);
    } else if (!plan.is_raw) {
        const uint64_t block_count = h5twin_e2mc_block_count(geometry, span.size);
        const uint64_t first = e2mc_first_block(&plan, &span);
        uint64_t payload_size = 0;
        for (uint64_t base = 0; base < block_count; base += E2MC_THREADS) {
            const uint64_t block = base + threadIdx.x;
            const uint64_t own = block < block_count
                                     ? h5twin_e2mc_payload_size(
                                           geometry, plan.values[first + block],
                                           h5twin_e2mc_size_of_block(geometry, block, span.size))
                                     : 0;
            uint64_t more;
            const uint64_t before = payload_size + e2mc_exclusive_sum(own, &more);
            if (block < block_count) {
                plan.block_offsets[first + block] = (uint32_t)before;
            }
            payload_size += more;
        }
        for (unsigned tree = 0; tree < plan.tree_count; tree++) {
            book_size += plan.trees[span.item * plan.tree_count + tree].book_bits;
        }
        book_size = (book_size + 7) / 8;
        const uint64_t size =
            book_size + (block_count * h5twin_e2mc_meta_bits(geometry) + 7) / 8 +
            h5twin_e2mc_anchors_size(geometry, e2mc_stride_of(&plan, &span), span.size) +
            payload_size;
        if (size < span.size) {
            kind = H5TWIN_E2MC_CODED;
            body = size;
        }
    }
    if (threadIdx.x == 0) {
        span.state->kind = kind;
        span.state->book_size = kind == H5TWIN_E2MC_CODED ? (uint32_t)book_size : 0;
        span.state->stream_size = H5TWIN_E2MC_HEADER_BYTES + body;
    }
}

/* A header of this plan's geometry. */
static __device__ __forceinline__ void
e2mc_write_header(uint8_t *dst, const struct e2mc_plan *plan, uint32_t kind, uint64_t raw_size,
                  uint32_t book_size, unsigned stride)
{
    struct h5twin_e2mc_header header;
    header.kind = (enum h5twin_e2mc_kind)kind;
    header.geometry = plan->params.geometry;
    header.stride = stride;
    header.segment_log2 = kind == H5TWIN_E2MC_SEGMENTS ? plan->segment_log2 : 0;
    header.raw_size = (uint32_t)raw_size;
    header.book_size = book_size;
    h5twin_e2mc_header_write(dst, &header);
}

/* Offsets of the segments, the payload's size, and directory or header of the whole. A thread
 * block per chunk. */
static __global__ void
__launch_bounds__(E2MC_THREADS) e2mc_layout_kernel(const struct e2mc_plan plan)
{
    const uint64_t chunk = blockIdx.x;
    const unsigned word_log2 = plan.params.geometry.word_log2;
    uint8_t *const dst = plan.batch.d_dst + chunk * plan.batch.dst_stride;
    if (plan.batch.d_status[chunk] != 0) {
        return;
    }
    if (e2mc_chunk_is_done(&plan, chunk)) { /* constant, and long enough for segments */
        if (threadIdx.x == 0) {
            const uint64_t word = e2mc_any(&plan.chunks[chunk].seen);
            e2mc_write_header(dst, &plan, H5TWIN_E2MC_CONSTANT, plan.raw_size, 0, 0);
            for (unsigned i = 0; i < 1u << word_log2; i++) {
                dst[H5TWIN_E2MC_HEADER_BYTES + i] = (uint8_t)(word >> (8 * i));
            }
            plan.batch.d_dst_sizes[chunk] = H5TWIN_E2MC_HEADER_BYTES + (UINT64_C(1) << word_log2);
        }
        return;
    }
    struct e2mc_segment *const segments = plan.segments + chunk * plan.segment_count;
    uint64_t size = plan.is_segmented ? H5TWIN_E2MC_HEADER_BYTES + 4 * plan.segment_count : 0;
    for (uint64_t base = 0; base < plan.segment_count; base += E2MC_THREADS) {
        const uint64_t segment = base + threadIdx.x;
        const uint64_t own = segment < plan.segment_count ? segments[segment].stream_size : 0;
        uint64_t more;
        const uint64_t before = size + e2mc_exclusive_sum(own, &more);
        if (segment < plan.segment_count) {
            segments[segment].offset = before;
        }
        size += more;
    }
    const uint64_t raw_size = H5TWIN_E2MC_HEADER_BYTES + plan.raw_size;
    const bool is_raw = plan.is_segmented && size >= raw_size;
    for (uint64_t segment = threadIdx.x;
         plan.is_segmented && !is_raw && segment < plan.segment_count; segment += E2MC_THREADS) {
        h5twin_gpu_store32(dst + H5TWIN_E2MC_HEADER_BYTES + 4 * segment,
                           (uint32_t)segments[segment].stream_size);
    }
    if (threadIdx.x == 0) {
        if (plan.is_segmented) {
            e2mc_write_header(dst, &plan, is_raw ? H5TWIN_E2MC_RAW : H5TWIN_E2MC_SEGMENTS,
                              plan.raw_size, is_raw ? 0 : (uint32_t)(4 * plan.segment_count), 0);
        }
        plan.chunks[chunk].is_raw = is_raw;
        plan.batch.d_dst_sizes[chunk] = is_raw ? raw_size : size;
    }
}

/* Up to 8 bits of a tree's string. */
static __device__ __forceinline__ unsigned
e2mc_book_bits(const uint32_t *book, uint32_t position, unsigned bit_count)
{
    const uint64_t window = (uint64_t)book[position / 32u] << 32 | book[position / 32u + 1];
    return (unsigned)(window >> (64u - position % 32u - bit_count)) & ((1u << bit_count) - 1u);
}

/* The trees' strings one behind the other. */
static __device__ __forceinline__ void
e2mc_join_books(uint8_t *dst, const struct e2mc_plan *plan, const struct e2mc_span *span)
{
    const uint64_t first_tree = span->item * plan->tree_count;
    for (uint32_t i = threadIdx.x; i < span->state->book_size; i += E2MC_THREADS) {
        const uint32_t begin = 8 * i, end = begin + 8;
        uint32_t start = 0;
        unsigned byte = 0;
        for (unsigned tree = 0; tree < plan->tree_count && start < end; tree++) {
            const uint32_t tree_end = start + plan->trees[first_tree + tree].book_bits;
            const uint32_t from = start < begin ? begin : start;
            const uint32_t to = tree_end < end ? tree_end : end;
            if (from < to) {
                byte |= e2mc_book_bits(plan->books + (first_tree + tree) * plan->book_words,
                                       from - start, to - from)
                        << (end - to);
            }
            start = tree_end;
        }
        dst[i] = (uint8_t)byte;
    }
}

static __device__ __forceinline__ void
e2mc_write_meta(uint8_t *dst, const struct e2mc_plan *plan, const uint16_t *values,
                uint64_t block_count)
{
    const unsigned meta_bits = h5twin_e2mc_meta_bits(&plan->params.geometry);
    for (uint64_t i = threadIdx.x; 8 * i < block_count * meta_bits; i += E2MC_THREADS) {
        unsigned byte = 0;
        for (uint64_t block = 8 * i / meta_bits;
             block < block_count && block * meta_bits < 8 * i + 8; block++) {
            const int shift = (int)((int64_t)(8 * i + 8) - (int64_t)((block + 1) * meta_bits));
            byte |=
                shift >= 0 ? (unsigned)values[block] << shift : (unsigned)values[block] >> -shift;
        }
        dst[i] = (uint8_t)byte;
    }
}

static __device__ __forceinline__ void
e2mc_write_anchors(uint8_t *dst, const struct e2mc_plan *plan, const struct e2mc_span *span,
                   unsigned stride)
{
    const struct h5twin_e2mc_geometry *const geometry = &plan->params.geometry;
    const uint64_t size = h5twin_e2mc_anchors_size(geometry, stride, span->size);
    const uint32_t step = stride << geometry->word_log2;
    for (uint64_t i = threadIdx.x; i < size; i += E2MC_THREADS) {
        const uint64_t block = i / step;
        const uint64_t at = (block << geometry->block_log2) + (i - block * step);
        dst[i] = at < span->size ? span->src[at] : 0;
    }
}

/* Header, codebook, metadata and anchors of coded segments; raw ones and constants entirely. */
static __global__ void
__launch_bounds__(E2MC_THREADS) e2mc_finish_kernel(const struct e2mc_plan plan)
{
    const struct h5twin_e2mc_geometry *const geometry = &plan.params.geometry;
    const struct e2mc_span span = e2mc_span_of(&plan, blockIdx.x);
    if (e2mc_chunk_is_done(&plan, span.chunk)) {
        return;
    }
    uint8_t *const payload = plan.batch.d_dst + span.chunk * plan.batch.dst_stride;
    if (plan.chunks[span.chunk].is_raw != 0) {
        h5twin_gpu_copy(payload + H5TWIN_E2MC_HEADER_BYTES + (span.segment << plan.segment_log2),
                        span.src, span.size);
        return;
    }
    uint8_t *const stream = payload + span.state->offset;
    uint8_t *at = stream + H5TWIN_E2MC_HEADER_BYTES;
    const uint32_t kind = span.state->kind;
    const unsigned stride = kind == H5TWIN_E2MC_CODED ? e2mc_stride_of(&plan, &span) : 0;
    if (threadIdx.x == 0) {
        e2mc_write_header(stream, &plan, kind, span.size, span.state->book_size, stride);
    }
    if (kind != H5TWIN_E2MC_CODED) {
        h5twin_gpu_copy(at, span.src, span.state->stream_size - H5TWIN_E2MC_HEADER_BYTES);
        return;
    }
    const uint64_t block_count = h5twin_e2mc_block_count(geometry, span.size);
    e2mc_join_books(at, &plan, &span);
    at += span.state->book_size;
    e2mc_write_meta(at, &plan, plan.values + e2mc_first_block(&plan, &span), block_count);
    at += (block_count * h5twin_e2mc_meta_bits(geometry) + 7) / 8;
    e2mc_write_anchors(at, &plan, &span, stride);
}

#endif
