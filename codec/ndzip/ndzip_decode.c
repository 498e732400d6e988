/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_decode.c: check shape and table, then blocks in parallel, each with its own checks. */
#include "../common/bytes.h"
#include "../common/ordered.h"
#include "ndzip.h"
#include "ndzip_block.h"

#include <string.h>

struct ndzip_decoder {
    struct h5twin_ndzip_grid grid;
    unsigned rank;
    h5twin_ndzip_decode_block *decode;
    const uint8_t *table;
    uint8_t *dst;
    /* For a box instead of dst: */
    const struct h5twin_box_runs *box;
    bool has_axes; /* the box is one of the extents: */
    struct h5twin_box_axes axes;
};

static bool
padding_is_zero(const struct h5twin_ndzip_grid *grid, const uint8_t *table)
{
    for (size_t i = 2 * grid->block_count; i < grid->table_size; i++) {
        if (table[i] != 0) {
            return false;
        }
    }
    return true;
}

/* Check the table, and its sizes against src_size. */
static enum h5twin_status
check_table(const struct h5twin_ndzip_grid *grid, const uint8_t *src, size_t src_size,
            size_t tail_size)
{
    size_t left;
    if (h5twin_ndzip_is_too_long(grid, tail_size, src_size)) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (!h5twin_ndzip_blocks_size(grid, tail_size, src_size, &left)) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    if (grid->layout == H5TWIN_NDZIP_EXTENDED && !padding_is_zero(grid, src)) {
        return H5TWIN_ERR_CORRUPT;
    }
    for (size_t index = 0; index < grid->block_count; index++) {
        const uint32_t entry = h5twin_ndzip_entry_at(grid, src, index);
        if (!h5twin_ndzip_entry_is_valid(grid, index, entry)) {
            return H5TWIN_ERR_CORRUPT;
        }
        const size_t size = (size_t)h5twin_ndzip_entry_length(grid, entry) * grid->word_size;
        if (size > left) {
            return H5TWIN_ERR_SRC_SHORT;
        }
        left -= size;
    }
    return left == 0 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

static size_t
stored_size_of(const void *context, size_t index)
{
    const struct ndzip_decoder *const decoder = context;
    const struct h5twin_ndzip_grid *const grid = &decoder->grid;
    return (size_t)h5twin_ndzip_entry_length(grid,
                                             h5twin_ndzip_entry_at(grid, decoder->table, index)) *
           grid->word_size;
}

static enum h5twin_status
decode_item(const void *context, size_t index, const uint8_t *src, size_t stored_size)
{
    const struct ndzip_decoder *const decoder = context;
    const uint32_t entry = h5twin_ndzip_entry_at(&decoder->grid, decoder->table, index);
    return decoder->decode(&decoder->grid, index, entry, decoder->dst, src, stored_size);
}

/* ---- of a box ---- */

/* A range of a block's indices on each axis. */
struct part {
    size_t begin[3], end[3];
};

static struct part
needed_part(const struct ndzip_decoder *decoder, const size_t origin[3],
            const struct h5twin_ndzip_block *block)
{
    struct part part;
    for (unsigned axis = 0; axis < 3; axis++) {
        const size_t from = decoder->axes.start[axis];
        const size_t to = from + decoder->axes.count[axis];
        const size_t block_end = origin[axis] + block->extent[axis];
        part.begin[axis] = (from > origin[axis] ? from : origin[axis]) - origin[axis];
        part.end[axis] = (to < block_end ? to : block_end);
        part.end[axis] = part.end[axis] > origin[axis] ? part.end[axis] - origin[axis] : 0;
    }
    return part;
}

static bool
is_empty(const struct part *part)
{
    return part->begin[0] >= part->end[0] || part->begin[1] >= part->end[1] ||
           part->begin[2] >= part->end[2];
}

/* The part of a block that lies in `words`, row by row without gaps, to where it goes. */
static void
put_part(const struct ndzip_decoder *decoder, const size_t origin[3],
         const struct h5twin_ndzip_block *block, const struct part *part, const uint8_t *words)
{
    const struct h5twin_box_axes *const axes = &decoder->axes;
    const size_t word_size = decoder->grid.word_size;
    const ptrdiff_t step = axes->dst_stride[2];
    const size_t count = part->end[2] - part->begin[2];
    for (size_t z = part->begin[0]; z < part->end[0]; z++) {
        for (size_t y = part->begin[1]; y < part->end[1]; y++) {
            const uint8_t *row =
                words +
                ((z * block->extent[1] + y) * block->extent[2] + part->begin[2]) * word_size;
            uint8_t *dst = decoder->box->dst +
                           (ptrdiff_t)(origin[0] + z - axes->start[0]) * axes->dst_stride[0] +
                           (ptrdiff_t)(origin[1] + y - axes->start[1]) * axes->dst_stride[1] +
                           (ptrdiff_t)(origin[2] + part->begin[2] - axes->start[2]) * step;
            if (step == (ptrdiff_t)word_size) {
                memcpy(dst, row, count * word_size);
                continue;
            }
            for (size_t x = 0; x < count; x++, row += word_size, dst += step) {
                memcpy(dst, row, word_size);
            }
        }
    }
}

/* Byte of the array where a row of a block begins. */
static size_t
row_at(const struct h5twin_ndzip_grid *grid, const struct h5twin_ndzip_block *block, size_t row)
{
    const size_t z = row / block->extent[1], y = row % block->extent[1];
    return (block->first + (z * grid->extent[1] + y) * grid->extent[2]) * grid->word_size;
}

static bool
needs_rows(const struct ndzip_decoder *decoder, const struct h5twin_ndzip_block *block)
{
    const size_t row_size = block->extent[2] * (size_t)decoder->grid.word_size;
    for (size_t row = 0; row < (size_t)block->extent[0] * block->extent[1]; row++) {
        if (h5twin_box_needs(decoder->box, row_at(&decoder->grid, block, row), row_size)) {
            return true;
        }
    }
    return false;
}

static void
put_rows(const struct ndzip_decoder *decoder, const struct h5twin_ndzip_block *block,
         const uint8_t *words)
{
    const size_t row_size = block->extent[2] * (size_t)decoder->grid.word_size;
    for (size_t row = 0; row < (size_t)block->extent[0] * block->extent[1]; row++) {
        h5twin_box_put(decoder->box, row_at(&decoder->grid, block, row), words + row * row_size,
                       row_size);
    }
}

/* Blocks do not look outside themselves: each is decoded as an array of its own. */
static enum h5twin_status
decode_item_of_box(const void *context, size_t index, const uint8_t *src, size_t stored_size)
{
    const struct ndzip_decoder *const decoder = context;
    const struct h5twin_ndzip_grid *const grid = &decoder->grid;
    const struct h5twin_ndzip_block block = h5twin_ndzip_block_at(grid, index);
    const size_t width = grid->extent[2], height = grid->extent[1];
    const size_t origin[3] = {block.first / width / height, block.first / width % height,
                              block.first % width};
    struct part part = {{0}, {0}};
    if (decoder->has_axes) {
        part = needed_part(decoder, origin, &block);
        if (is_empty(&part)) {
            return H5TWIN_OK;
        }
    } else if (!needs_rows(decoder, &block)) {
        return H5TWIN_OK;
    }
    uint8_t words[NDZIP_BLOCK_ELEMENTS * 8];
    const uint32_t extents[3] = {block.extent[0], block.extent[1], block.extent[2]};
    const struct h5twin_ndzip_grid alone =
        h5twin_ndzip_make_grid(grid->layout, decoder->rank, grid->word_size, extents);
    const enum h5twin_status status = decoder->decode(
        &alone, 0, h5twin_ndzip_entry_at(grid, decoder->table, index), words, src, stored_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    h5twin_box_turn(decoder->box, words, block.count * (size_t)grid->word_size);
    if (decoder->has_axes) {
        put_part(decoder, origin, &block, &part, words);
    } else {
        put_rows(decoder, &block, words);
    }
    return H5TWIN_OK;
}

/* Bytes of the array that are somewhere in the stream as they are. */
static void
put_stored(const struct h5twin_box_runs *box, size_t begin, const uint8_t *src, size_t size)
{
    uint8_t turned[1024]; /* whole words */
    if (box->swap_size == 0) {
        h5twin_box_put(box, begin, src, size);
        return;
    }
    for (size_t done = 0; done < size;) {
        const size_t some = size - done < sizeof turned ? size - done : sizeof turned;
        if (h5twin_box_needs(box, begin + done, some)) {
            memcpy(turned, src + done, some);
            h5twin_box_turn_and_put(box, begin + done, turned, some);
        }
        done += some;
    }
}

/* Elements in no block, row by row. */
static void
put_border(const struct h5twin_ndzip_grid *grid, const struct h5twin_box_runs *box,
           const uint8_t *src)
{
    const size_t word_size = grid->word_size;
    const size_t row_count = (size_t)grid->extent[0] * grid->extent[1];
    for (size_t at = h5twin_box_next(box, 0); at != H5TWIN_BOX_NONE;) {
        const size_t row = at / word_size / grid->extent[2];
        if (row >= row_count) {
            return; /* what is left is less than a word */
        }
        const struct h5twin_ndzip_border_row border =
            h5twin_ndzip_border_row_at(grid, row / grid->extent[1], row % grid->extent[1]);
        put_stored(box, border.first * word_size, src + border.before * word_size,
                   border.count * word_size);
        at = h5twin_box_next(box, (row + 1) * grid->extent[2] * word_size);
    }
}

/* ---- arrays and boxes ---- */

/* By this decoder, which has a dst or a box. */
static enum h5twin_status
decode(const struct h5twin_job *job, struct ndzip_decoder *decoder, const uint8_t *restrict src,
       size_t src_size)
{
    const struct h5twin_ndzip_kernels *const kernels = h5twin_ndzip_kernels_for(job->isa);
    const struct h5twin_box_runs *const box = decoder->box;
    if (!h5twin_ndzip_shape_is_valid(job)) {
        return H5TWIN_ERR_CORRUPT;
    }
    decoder->grid = h5twin_ndzip_grid_of(job);
    decoder->rank = h5twin_ndzip_rank_of(job->parameter);
    decoder->decode = job->word_size == 4 ? kernels->decode32 : kernels->decode64;
    decoder->table = src;
    const struct h5twin_ndzip_grid *const grid = &decoder->grid;
    if (grid->element_count != job->raw_size / job->word_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (grid->layout == H5TWIN_NDZIP_EXTENDED && src_size == job->raw_size) {
        if (box != NULL) {
            put_stored(box, 0, src, src_size);
        } else if (src_size != 0) {
            memcpy(decoder->dst, src, src_size);
        }
        return H5TWIN_OK;
    }
    const size_t tail_size = h5twin_ndzip_tail_size(job);
    enum h5twin_status status = check_table(grid, src, src_size, tail_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    if (box != NULL) {
        decoder->has_axes =
            tail_size == 0 && h5twin_box_regroup(box, job->extents, job->word_size, &decoder->axes);
    }
    const struct h5twin_ordered_decoder work = {
        .item_count = grid->block_count,
        .decoded_size = job->raw_size,
        .context = decoder,
        .stored_size = stored_size_of,
        .decode = box != NULL ? decode_item_of_box : decode_item,
        .crc = job->crc,
        .crc_begin = grid->table_size,
    };
    status = h5twin_ordered_decode(&work, job->threads, src + grid->table_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    const uint8_t *const tail = src + src_size - tail_size;
    const uint8_t *const rest = tail - grid->border_count * grid->word_size;
    if (box != NULL) {
        put_border(grid, box, rest);
        h5twin_box_put(box, job->raw_size - tail_size, tail, tail_size);
        return H5TWIN_OK;
    }
    h5twin_ndzip_copy_border(grid, decoder->dst, rest, true, job->threads, job->crc,
                             (size_t)(rest - src));
    if (tail_size != 0) {
        memcpy(decoder->dst + job->raw_size - tail_size, tail, tail_size);
    }
    return H5TWIN_OK;
}

enum h5twin_status
h5twin_ndzip_decode(const struct h5twin_job *job, uint8_t *restrict dst,
                    const uint8_t *restrict src, size_t src_size)
{
    struct ndzip_decoder decoder = {.dst = dst};
    return decode(job, &decoder, src, src_size);
}

enum h5twin_status
h5twin_ndzip_decode_box(const struct h5twin_job *job, const struct h5twin_box_runs *box,
                        const uint8_t *restrict src, size_t src_size)
{
    struct ndzip_decoder decoder = {.box = box};
    return decode(job, &decoder, src, src_size);
}
