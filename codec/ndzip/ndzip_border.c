/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_border.c: between the array and the stream, the elements that lie in no block: ends of rows
 * and whole rows. In the stream they follow one another. */
#include "../common/ordered.h"
#include "../common/parallel.h"
#include "../common/prefetch.h"
#include "ndzip.h"

#include <string.h>

/* Ends of rows are short and lie at long strides, which no hardware prefetcher follows. */
#define PREFETCH_ROWS  8u
#define PREFETCH_BYTES 256u /* of a row; a longer one is read ahead without */

#define CRC_BYTES (16u * 1024u) /* summed at once: half a first-level cache */

struct border_copy {
    const struct h5twin_ndzip_grid *grid;
    uint8_t *dst;
    const uint8_t *src;
    bool to_array;
    h5twin_crc32c *crc32c; /* NULL: not wanted */
    size_t row_count;
    size_t begins[H5TWIN_MAX_RUNS + 1]; /* rows */
    uint32_t crcs[H5TWIN_MAX_RUNS];
};

static struct h5twin_ndzip_border_row
row_at(const struct h5twin_ndzip_grid *grid, size_t row)
{
    return h5twin_ndzip_border_row_at(grid, row / grid->extent[1], row % grid->extent[1]);
}

/* Byte of the border's stream where a row begins. */
static size_t
stream_begin(const struct border_copy *copy, size_t row)
{
    return row_at(copy->grid, row).before * copy->grid->word_size;
}

static void
prefetch_row(const struct border_copy *copy, size_t row)
{
    if (row < copy->row_count) {
        const struct h5twin_ndzip_border_row ahead = row_at(copy->grid, row);
        const uint8_t *const array = copy->to_array ? copy->dst : copy->src;
        const size_t size = ahead.count * copy->grid->word_size;
        h5twin_prefetch_bytes(array + ahead.first * copy->grid->word_size,
                              size < PREFETCH_BYTES ? size : 0);
    }
}

static void
copy_run(void *context, size_t run)
{
    struct border_copy *const copy = context;
    const size_t word_size = copy->grid->word_size;
    const size_t end = copy->begins[run + 1];
    const uint8_t *const stream = copy->to_array ? copy->src : copy->dst;
    size_t row = copy->begins[run];
    size_t summed = stream_begin(copy, row), copied = summed; /* bytes of the stream */
    uint32_t crc = 0;
    for (; row < end; row++) {
        const struct h5twin_ndzip_border_row border = row_at(copy->grid, row);
        const size_t in_array = border.first * word_size, size = border.count * word_size;
        prefetch_row(copy, row + PREFETCH_ROWS);
        memcpy(copy->dst + (copy->to_array ? in_array : copied),
               copy->src + (copy->to_array ? copied : in_array), size);
        copied += size;
        if (copy->crc32c != NULL && (copied - summed >= CRC_BYTES || row + 1 == end)) {
            crc = copy->crc32c(crc, stream + summed, copied - summed);
            summed = copied;
        }
    }
    copy->crcs[run] = crc;
}

size_t
h5twin_ndzip_copy_border(const struct h5twin_ndzip_grid *grid, uint8_t *dst, const uint8_t *src,
                         bool to_array, unsigned threads, struct h5twin_crc32c_span *crc,
                         size_t crc_begin)
{
    const size_t size = grid->border_count * grid->word_size;
    if (size == 0) {
        return 0;
    }
    if (threads > size / H5TWIN_BYTES_PER_THREAD + 1) {
        threads = (unsigned)(size / H5TWIN_BYTES_PER_THREAD + 1);
    }
    struct border_copy copy = {
        .grid = grid,
        .dst = dst,
        .src = src,
        .to_array = to_array,
        .crc32c = crc == NULL ? NULL : crc->crc32c,
        .row_count = (size_t)grid->extent[0] * grid->extent[1],
    };
    /* As if all elements were copied: those of the last rows are. */
    const size_t array_size = copy.row_count * grid->extent[2] * grid->word_size;
    const size_t run_count = h5twin_cut_runs(copy.begins, copy.row_count, array_size, threads);
    h5twin_parallel_for(threads, run_count, copy_run, &copy);
    for (size_t run = 0; run < run_count && copy.crc32c != NULL; run++) {
        const size_t next = copy.begins[run + 1];
        const size_t begin = stream_begin(&copy, copy.begins[run]);
        const size_t end = next == copy.row_count ? size : stream_begin(&copy, next);
        h5twin_crc32c_span_add(crc, crc_begin + begin, end - begin, copy.crcs[run]);
    }
    return size;
}
