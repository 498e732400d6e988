/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_describe.c: one line on a stream: segments and the two ratios of the publication, of the
 * payload alone: raw, and with each block rounded up to memory accesses of 32 bytes (MAG). */
#include "bit_stream_msb.h"
#include "common/number.h"
#include "e2mc.h"

#include <stdio.h>

struct summary {
    size_t segments, delta, raw, constant;
    uint64_t payload_size; /* bytes of blocks, at the stream's granule */
    uint64_t access_size;  /* the same, each block rounded up to 32 bytes */
};

static void
add_block(struct summary *summary, uint64_t size)
{
    summary->payload_size += size;
    summary->access_size += (size + 31) / 32 * 32;
}

/* Add what the metadata of one checked segment header say. */
static void
summarize_segment(struct summary *summary, const struct h5twin_e2mc_header *header,
                  const uint8_t *src, size_t src_size)
{
    const struct h5twin_e2mc_geometry *const geometry = &header->geometry;
    const size_t block_size = h5twin_e2mc_block_size(geometry);
    const size_t meta_begin = H5TWIN_E2MC_HEADER_BYTES + header->book_size;
    struct h5twin_bit_reader_msb meta = {.src = src + meta_begin,
                                         .src_size = src_size - meta_begin};
    summary->segments++;
    if (header->kind == H5TWIN_E2MC_CONSTANT) {
        summary->constant++;
        add_block(summary, h5twin_e2mc_word_size(geometry));
        return;
    }
    summary->delta += header->stride != 0;
    summary->raw += header->kind == H5TWIN_E2MC_RAW;
    for (size_t begin = 0; begin < header->raw_size; begin += block_size) {
        const size_t left = header->raw_size - begin;
        const size_t size = left < block_size ? left : block_size;
        const unsigned stored = h5twin_e2mc_meta_stored(geometry);
        const unsigned value =
            header->kind == H5TWIN_E2MC_RAW
                ? stored
                : (unsigned)h5twin_bit_get_msb(&meta, h5twin_e2mc_meta_bits(geometry));
        add_block(summary, h5twin_e2mc_payload_size(geometry, value, size));
    }
}

size_t
h5twin_e2mc_describe(const struct h5twin_job *job, const uint8_t *src, size_t src_size, char *text,
                     size_t capacity)
{
    (void)job;
    struct h5twin_e2mc_header header;
    struct summary summary = {0};
    if (h5twin_e2mc_header_read(&header, src, src_size) != H5TWIN_OK) {
        return 0;
    }
    if (header.kind != H5TWIN_E2MC_SEGMENTS) {
        summarize_segment(&summary, &header, src, src_size);
    } else {
        size_t offset = H5TWIN_E2MC_HEADER_BYTES + header.book_size;
        for (size_t index = 0; index < header.book_size / 4; index++) {
            struct h5twin_e2mc_header segment;
            const size_t begin = offset;
            if (h5twin_e2mc_next_segment(&header, index, src, src_size, &offset, &segment) !=
                H5TWIN_OK) {
                return 0;
            }
            summarize_segment(&summary, &segment, src + begin, offset - begin);
        }
    }
    const double raw = (double)header.raw_size;
    char ratio[H5TWIN_NUMBER_TEXT], access_ratio[H5TWIN_NUMBER_TEXT];
    h5twin_number_write_ratio(ratio,
                              raw / (double)(summary.payload_size == 0 ? 1 : summary.payload_size));
    h5twin_number_write_ratio(access_ratio,
                              raw / (double)(summary.access_size == 0 ? 1 : summary.access_size));
    return (size_t)snprintf(
        text, capacity,
        "s%u %u way%s, %zu segment%s (%zu delta, %zu constant, %zu raw), raw CR %s, "
        "CR at MAG 32 B %s",
        h5twin_e2mc_symbol_bits(&header.geometry), 1u << header.geometry.way_log2,
        header.geometry.way_log2 == 0 ? "" : "s", summary.segments,
        summary.segments == 1 ? "" : "s", summary.delta, summary.constant, summary.raw, ratio,
        access_ratio);
}
