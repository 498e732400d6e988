/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_core.h: geometry and arithmetic of ndzip, compiled by C and CUDA.
 *
 * Source  Knorr, Thoman, Fahringer: ndzip (DCC 2021, SC 2021); FORMAT.md. */
#ifndef H5TWIN_NDZIP_CORE_H
#define H5TWIN_NDZIP_CORE_H

#include "../common/bits.h"
#include "../common/hd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum h5twin_ndzip_layout {
    H5TWIN_NDZIP_REFERENCE = 0, /* the authors' stream */
    H5TWIN_NDZIP_EXTENDED = 1,  /* clipped blocks, raw blocks, choice of mapping, packed heads */
};

#define NDZIP_BLOCK_ELEMENTS 4096u /* of a block that nothing clips, whatever its rank */
#define NDZIP_MAX_GROUPS     128u  /* of W residuals in a block: 4096 / 32 */

/* Table entry of the extended layout. A length equal to the element count means: stored raw. */
#define NDZIP_ENTRY_LENGTH     0x1FFFu /* words of the block, 1..4096 */
#define NDZIP_ENTRY_NEGABINARY 0x2000u
#define NDZIP_ENTRY_PACKED     0x4000u /* the heads are coded like a group */
#define NDZIP_ENTRY_RESERVED   0x8000u

/* ---- geometry: axes slowest first, unused leading axes have extent 1 ---- */

/* The frame's parameter word: layout and rank. */
H5TWIN_HD enum h5twin_ndzip_layout
h5twin_ndzip_layout_of(uint32_t parameter)
{
    return (enum h5twin_ndzip_layout)(parameter & 0xFFu);
}

H5TWIN_HD uint32_t
h5twin_ndzip_rank_of(uint32_t parameter)
{
    return parameter >> 8;
}

/* Whether the parameter and extents are ones that an encoder could have set. */
H5TWIN_HD bool
h5twin_ndzip_shape_fits(uint32_t parameter, unsigned word_size, const uint32_t extents[3])
{
    const uint32_t rank = h5twin_ndzip_rank_of(parameter);
    if ((parameter & 0xFFu) > H5TWIN_NDZIP_EXTENDED || rank < 1 || rank > 3) {
        return false;
    }
    uint64_t count = 1;
    for (unsigned axis = 0; axis < 3; axis++) {
        if (axis + rank < 3 && extents[axis] != 1) {
            return false;
        }
        count *= extents[axis];
        if (count > UINT32_MAX) {
            return false;
        }
    }
    return count <= SIZE_MAX / word_size;
}

/* Side of a block along axis 0..2 of an array of rank 1..3: 4096, 64 x 64, 16 x 16 x 16. */
H5TWIN_HD unsigned
h5twin_ndzip_side(unsigned rank, unsigned axis)
{
    if (axis + rank < 3u) {
        return 1u;
    }
    return rank == 1u ? 4096u : rank == 2u ? 64u : 16u;
}

struct h5twin_ndzip_grid {
    enum h5twin_ndzip_layout layout;
    unsigned word_size; /* bytes */
    uint32_t extent[3];
    uint32_t side[3];
    uint32_t blocks[3];    /* reference: whole blocks only; extended: the last one is clipped */
    uint32_t covered[3];   /* elements of each axis that lie in blocks */
    size_t element_count;  /* below 2^32 */
    size_t block_count;    /* product of blocks */
    size_t border_count;   /* elements in no block */
    size_t table_size;     /* bytes before block 0, a multiple of word_size */
    size_t block_capacity; /* words that no coded block exceeds */
};

/* One block. */
struct h5twin_ndzip_block {
    size_t first;       /* index of its first element in the array */
    size_t before;      /* elements in all blocks before it */
    unsigned extent[3]; /* 1..side */
    unsigned count;     /* elements, 1..4096 */
};

H5TWIN_HD struct h5twin_ndzip_grid
h5twin_ndzip_make_grid(enum h5twin_ndzip_layout layout, unsigned rank, unsigned word_size,
                       const uint32_t extents[3])
{
    struct h5twin_ndzip_grid grid;
    grid.layout = layout;
    grid.word_size = word_size;
    grid.element_count = 1;
    grid.block_count = 1;
    size_t covered_count = 1;
    for (unsigned axis = 0; axis < 3; axis++) {
        const uint32_t extent = extents[axis];
        const uint32_t side = h5twin_ndzip_side(rank, axis);
        grid.extent[axis] = extent;
        grid.side[axis] = side;
        grid.blocks[axis] = extent / side;
        grid.covered[axis] = grid.blocks[axis] * side;
        if (layout == H5TWIN_NDZIP_EXTENDED) {
            grid.blocks[axis] += extent % side != 0;
            grid.covered[axis] = extent;
        }
        grid.element_count *= extent;
        grid.block_count *= grid.blocks[axis];
        covered_count *= grid.covered[axis];
    }
    grid.border_count = grid.element_count - covered_count;
    const size_t entry_size = layout == H5TWIN_NDZIP_EXTENDED ? 2 : 4;
    const size_t table_words = (grid.block_count * entry_size + word_size - 1) / word_size;
    grid.table_size = table_words * word_size;
    const size_t bits = 8u * word_size;
    grid.block_capacity = layout == H5TWIN_NDZIP_EXTENDED
                              ? NDZIP_BLOCK_ELEMENTS
                              : NDZIP_BLOCK_ELEMENTS / bits * (bits + 1);
    return grid;
}

/* at: its number on each axis. */
H5TWIN_HD struct h5twin_ndzip_block
h5twin_ndzip_block_of(const struct h5twin_ndzip_grid *grid, const uint32_t at[3])
{
    struct h5twin_ndzip_block block;
    size_t origin[3];
    for (unsigned axis = 0; axis < 3; axis++) {
        origin[axis] = (size_t)at[axis] * grid->side[axis];
        const size_t left = grid->covered[axis] - origin[axis];
        block.extent[axis] = (unsigned)(left < grid->side[axis] ? left : grid->side[axis]);
    }
    block.count = block.extent[0] * block.extent[1] * block.extent[2];
    block.first = (origin[0] * grid->extent[1] + origin[1]) * grid->extent[2] + origin[2];
    /* Whole layers of blocks, then whole rows of blocks in this layer, then blocks of this row. */
    const size_t row = grid->covered[2];
    block.before = origin[0] * grid->covered[1] * row +
                   block.extent[0] * (origin[1] * row + block.extent[1] * origin[2]);
    return block;
}

/* That of block number `index`. */
H5TWIN_HD struct h5twin_ndzip_block
h5twin_ndzip_block_at(const struct h5twin_ndzip_grid *grid, size_t index)
{
    uint32_t at[3], rest = (uint32_t)index; /* fewer blocks than elements */
    for (unsigned axis = 3; axis-- > 0; rest /= grid->blocks[axis]) {
        at[axis] = rest % grid->blocks[axis];
    }
    return h5twin_ndzip_block_of(grid, at);
}

/* The part of a row of the array that lies in no block. */
struct h5twin_ndzip_border_row {
    size_t first;  /* index of its first element in the array */
    size_t count;  /* elements; may be 0 */
    size_t before; /* elements in no block before it */
};

H5TWIN_HD struct h5twin_ndzip_border_row
h5twin_ndzip_border_row_at(const struct h5twin_ndzip_grid *grid, size_t z, size_t y)
{
    const size_t width = grid->extent[2], cut_width = width - grid->covered[2];
    /* Rows of this plane above y, and planes before z, that are cut by blocks. */
    const size_t cut_planes = z < grid->covered[0] ? z : grid->covered[0];
    const size_t covered_rows = z < grid->covered[0] ? grid->covered[1] : 0;
    const size_t cut_rows = y < covered_rows ? y : covered_rows;
    const size_t cut_before = cut_planes * grid->covered[1] + cut_rows;
    struct h5twin_ndzip_border_row row;
    row.count = y < covered_rows ? cut_width : width;
    row.first = (z * grid->extent[1] + y) * width + (width - row.count);
    row.before = (z * grid->extent[1] + y) * width - cut_before * grid->covered[2];
    return row;
}

/* ---- what decoders check ---- */

/* Words of a block by its table entry (reference layout: the difference of two). */
H5TWIN_HD uint32_t
h5twin_ndzip_entry_length(const struct h5twin_ndzip_grid *grid, uint32_t entry)
{
    return grid->layout == H5TWIN_NDZIP_EXTENDED ? entry & NDZIP_ENTRY_LENGTH : entry;
}

/* Whether the entry is one that block number `index` can have. */
H5TWIN_HD bool
h5twin_ndzip_entry_is_valid(const struct h5twin_ndzip_grid *grid, size_t index, uint32_t entry)
{
    if (grid->layout == H5TWIN_NDZIP_REFERENCE) {
        /* A falling table gives lengths near 2^32. */
        return entry >= NDZIP_BLOCK_ELEMENTS / (8 * grid->word_size) &&
               entry <= grid->block_capacity;
    }
    const unsigned count = h5twin_ndzip_block_at(grid, index).count;
    const uint32_t length = entry & NDZIP_ENTRY_LENGTH;
    return (entry & NDZIP_ENTRY_RESERVED) == 0 && length >= 1 && (length < count || entry == count);
}

/* Whether a payload of src_size bytes, in the extended layout, is longer than the array, which
 * would be stored as it is then. */
H5TWIN_HD bool
h5twin_ndzip_is_too_long(const struct h5twin_ndzip_grid *grid, size_t tail_size, uint64_t src_size)
{
    return grid->layout == H5TWIN_NDZIP_EXTENDED &&
           src_size > (uint64_t)grid->element_count * grid->word_size + tail_size;
}

/* Bytes that a payload of src_size bytes has for blocks; false if it is too short for the rest. */
H5TWIN_HD bool
h5twin_ndzip_blocks_size(const struct h5twin_ndzip_grid *grid, size_t tail_size, size_t src_size,
                         size_t *blocks_size)
{
    const size_t border_size = grid->border_count * grid->word_size;
    if (src_size < tail_size || src_size - tail_size < border_size ||
        src_size - tail_size - border_size < grid->table_size) {
        return false;
    }
    *blocks_size = src_size - tail_size - border_size - grid->table_size;
    return true;
}

/* ---- prediction ---- */

/* The residual of element number `element` of a block of words that are rotated left by one, rows
 * without gaps: the element minus those before it on each axis, plus those before on two, minus the
 * one before on all three; none lies outside the block. Of 32-bit words it is the lower half. This
 * is the definition: encoders take differences along one axis after the other, GPUs from planes,
 * and test_ndzip_twin compares. */
H5TWIN_HD uint64_t
h5twin_ndzip_residual(const uint64_t *rotated, const unsigned extent[3], size_t element)
{
    const size_t row = extent[2], plane = extent[1] * row;
    const bool has[3] = {element >= plane, element % plane >= row, element % row >= 1};
    const size_t step[3] = {plane, row, 1};
    uint64_t residual = 0;
    for (unsigned subset = 0; subset < 8; subset++) {
        size_t back = 0;
        bool is_inside = true, is_odd = false;
        for (unsigned axis = 0; axis < 3; axis++) {
            if ((subset >> axis & 1u) != 0) {
                is_inside = is_inside && has[axis];
                is_odd = !is_odd;
                back += step[axis];
            }
        }
        if (is_inside) {
            residual += is_odd ? 0u - rotated[element - back] : rotated[element - back];
        }
    }
    return residual;
}

/* ---- values ---- */

/* How residuals become codes whose high bits are mostly zero in all of a group. */
enum h5twin_ndzip_mapping {
    H5TWIN_NDZIP_ONES,       /* sign bit kept, the others complemented if it is set */
    H5TWIN_NDZIP_TWOS,       /* sign bit and magnitude; the lowest number is "minus zero" */
    H5TWIN_NDZIP_NEGABINARY, /* digits to the base -2 */
};

#define NDZIP_NEGABINARY_MASK UINT64_C(0xAAAAAAAAAAAAAAAA) /* the digits of negative weight */

H5TWIN_HD uint32_t
h5twin_ndzip_map32(uint32_t residual, enum h5twin_ndzip_mapping mapping)
{
    const uint32_t sign = residual & UINT32_C(0x80000000);
    const uint32_t negative = 0u - (residual >> 31);
    if (mapping == H5TWIN_NDZIP_ONES) {
        return residual ^ (negative >> 1);
    }
    if (mapping == H5TWIN_NDZIP_TWOS) {
        return ((residual ^ negative) - negative) | sign;
    }
    return (residual + (uint32_t)NDZIP_NEGABINARY_MASK) ^ (uint32_t)NDZIP_NEGABINARY_MASK;
}

/* The first two mappings are their own inverse. */
H5TWIN_HD uint32_t
h5twin_ndzip_unmap32(uint32_t code, enum h5twin_ndzip_mapping mapping)
{
    if (mapping == H5TWIN_NDZIP_NEGABINARY) {
        return (code ^ (uint32_t)NDZIP_NEGABINARY_MASK) - (uint32_t)NDZIP_NEGABINARY_MASK;
    }
    return h5twin_ndzip_map32(code, mapping);
}

H5TWIN_HD uint64_t
h5twin_ndzip_map64(uint64_t residual, enum h5twin_ndzip_mapping mapping)
{
    const uint64_t sign = residual & UINT64_C(0x8000000000000000);
    const uint64_t negative = UINT64_C(0) - (residual >> 63);
    if (mapping == H5TWIN_NDZIP_ONES) {
        return residual ^ (negative >> 1);
    }
    if (mapping == H5TWIN_NDZIP_TWOS) {
        return ((residual ^ negative) - negative) | sign;
    }
    return (residual + NDZIP_NEGABINARY_MASK) ^ NDZIP_NEGABINARY_MASK;
}

H5TWIN_HD uint64_t
h5twin_ndzip_unmap64(uint64_t code, enum h5twin_ndzip_mapping mapping)
{
    if (mapping == H5TWIN_NDZIP_NEGABINARY) {
        return (code ^ NDZIP_NEGABINARY_MASK) - NDZIP_NEGABINARY_MASK;
    }
    return h5twin_ndzip_map64(code, mapping);
}

#endif
