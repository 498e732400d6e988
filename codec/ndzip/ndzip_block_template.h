/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_block_template.h: the stages of coding a block, for one word width and instruction set.
 *
 * Included once per width (see word_names.h) by each ndzip_block*.c, with these defined:
 *   TRANSPOSE(words)  bit_transpose.h for this width
 *   PACK(dst, columns, head)     append the nonzero ones of WORD_BITS columns at dst; returns the
 *                                number; may write SPARE more words than WORD_BITS
 *   EXPAND(columns, head, src)   the inverse; returns the number of columns taken; may read
 *                                and fill SPARE more words than WORD_BITS
 *   COLUMNS_MATCH(columns, head) optional: whether exactly those columns are nonzero
 *   FIND_HEADS(twos, negabinary, cube, group_count)  optional: heads by both mappings
 *   TRANSFORM16, INVERSE16       optional: transform and inverse_transform, rows of 16 and at most
 *                                16 of them in a plane: a clipped block of two axes may have 64
 *   LOAD_ROW(row, src, count)    optional: load a row, rotate, difference
 *   STORE_ROW(dst, row, count)   optional: sum along a row, rotate, store
 *
 * Stages of encoding: load (rotate, difference along the rows), difference along the other axes,
 * heads, pack. Of decoding: heads, unpack, sum along the other axes, store (sum along the rows,
 * rotate). Loops run over whole rows or groups, so that compilers turn them into vectors. */

#define GROUPS_PER_BLOCK (NDZIP_BLOCK_ELEMENTS / WORD_BITS)
/* 256 rows of a 3-D block over 128 or 64 groups. */
#define ROWS_PER_GROUP (WORD_BITS / 16u)

#include "ndzip_groups_template.h"
#include "ndzip_rows_template.h"

static inline size_t
NAME(gather_raw)(uint8_t *restrict dst, const struct h5twin_ndzip_grid *grid,
                 const unsigned extent[3], const uint8_t *restrict src)
{
    const size_t row_size = extent[2] * WORD_BYTES;
    for (size_t row = 0; row < (size_t)extent[0] * extent[1]; row++) {
        const size_t z = row / extent[1], y = row % extent[1];
        const size_t first = (z * grid->extent[1] + y) * grid->extent[2];
        memcpy(dst + row * row_size, src + first * WORD_BYTES, row_size);
    }
    return row_size * extent[1] * extent[0];
}

static inline void
NAME(scatter_raw)(uint8_t *restrict dst, const struct h5twin_ndzip_grid *grid,
                  const unsigned extent[3], const uint8_t *restrict src)
{
    const size_t row_size = extent[2] * WORD_BYTES;
    for (size_t row = 0; row < (size_t)extent[0] * extent[1]; row++) {
        const size_t z = row / extent[1], y = row % extent[1];
        const size_t first = (z * grid->extent[1] + y) * grid->extent[2];
        memcpy(dst + first * WORD_BYTES, src + row * row_size, row_size);
    }
}

/* Heads as they are, then the columns of all groups. */
static size_t
NAME(encode_reference)(const WORD *restrict cube, uint8_t *restrict dst, size_t writable,
                       uint32_t *entry, struct h5twin_ndzip_rows *next)
{
    uint8_t *at = dst + GROUPS_PER_BLOCK * WORD_BYTES;
    for (size_t group = 0; group < GROUPS_PER_BLOCK; group++) {
        _Alignas(64) WORD codes[WORD_BITS + SPARE];
        WORD head = 0;
        h5twin_ndzip_rows_prefetch(next, ROWS_PER_GROUP);
        for (size_t i = 0; i < WORD_BITS; i++) {
            codes[i] = NAME(h5twin_ndzip_map)(cube[group * WORD_BITS + i], H5TWIN_NDZIP_ONES);
            head |= codes[i];
        }
        NAME(h5twin_store)(dst + group * WORD_BYTES, head);
        if (head != 0) {
            at = NAME(pack_group)(at, dst + writable, codes, head);
        }
    }
    *entry = (uint32_t)((size_t)(at - dst) / WORD_BYTES);
    return (size_t)(at - dst);
}

/* The better mapping, the shorter form of the heads; 0 if that is no shorter than count words. */
static size_t
NAME(encode_extended)(const WORD *restrict cube, unsigned count, uint8_t *restrict dst,
                      size_t writable, uint32_t *entry, struct h5twin_ndzip_rows *next)
{
    const unsigned group_count = (count + WORD_BITS - 1) / WORD_BITS;
    WORD twos[GROUPS_PER_BLOCK] = {0}, negabinary[GROUPS_PER_BLOCK] = {0};
#ifdef FIND_HEADS
    FIND_HEADS(twos, negabinary, cube, group_count);
#else
    NAME(find_heads)(twos, cube, group_count, H5TWIN_NDZIP_TWOS);
    NAME(find_heads)(negabinary, cube, group_count, H5TWIN_NDZIP_NEGABINARY);
#endif
    const size_t twos_count = NAME(count_bits)(twos, group_count);
    const size_t negabinary_count = NAME(count_bits)(negabinary, group_count);
    const bool is_twos = twos_count <= negabinary_count;
    const WORD *const heads = is_twos ? twos : negabinary;
    const size_t column_count = is_twos ? twos_count : negabinary_count;

    WORD differences[GROUPS_PER_BLOCK + SPARE],
        tops[(GROUPS_PER_BLOCK + WORD_BITS - 1) / WORD_BITS];
    const unsigned top_count = NAME(difference_heads)(differences, tops, heads, group_count);
    const size_t packed_count = top_count + NAME(count_bits)(tops, top_count);
    const bool is_packed = packed_count < group_count;
    const size_t word_count = (is_packed ? packed_count : group_count) + column_count;
    if (word_count >= count) {
        return 0;
    }
    *entry = (uint32_t)word_count | (is_twos ? 0 : NDZIP_ENTRY_NEGABINARY) |
             (is_packed ? NDZIP_ENTRY_PACKED : 0);
    const uint8_t *const end = dst + writable;
    if (is_packed) {
        dst = NAME(store_words)(dst, tops, top_count);
        for (size_t top = 0; top < top_count; top++) {
            dst = NAME(pack_group)(dst, end, differences + top * WORD_BITS, tops[top]);
        }
    } else {
        dst = NAME(store_words)(dst, heads, group_count);
    }
    NAME(pack_groups)
    (dst, end, cube, heads, group_count, is_twos ? H5TWIN_NDZIP_TWOS : H5TWIN_NDZIP_NEGABINARY,
     next);
    return word_count * WORD_BYTES;
}

static size_t
NAME(encode_block)(const struct h5twin_ndzip_grid *grid, size_t index, uint8_t *restrict dst,
                   size_t writable, const uint8_t *restrict array, uint32_t *entry)
{
    const struct h5twin_ndzip_block block = h5twin_ndzip_block_at(grid, index);
    const uint8_t *const src = array + block.first * WORD_BYTES;
    _Alignas(64) WORD cube[NDZIP_BLOCK_ELEMENTS];
    struct h5twin_ndzip_rows next = h5twin_ndzip_rows_of(grid, index + 1, array);
    NAME(transform)(cube, grid, block.extent, src);
    if (grid->layout == H5TWIN_NDZIP_REFERENCE) {
        return NAME(encode_reference)(cube, dst, writable, entry, &next);
    }
    memset(cube + block.count, 0, (-block.count % WORD_BITS) * sizeof(WORD));
    const size_t size = NAME(encode_extended)(cube, block.count, dst, writable, entry, &next);
    if (size != 0) {
        return size;
    }
    *entry = block.count;
    return NAME(gather_raw)(dst, grid, block.extent, src);
}

/* Read the heads that entry says to be packed; *src moves past them. */
static bool
NAME(unpack_heads)(WORD *restrict heads, unsigned group_count, const uint8_t **src,
                   const uint8_t *end)
{
    const unsigned top_count = (group_count + WORD_BITS - 1) / WORD_BITS;
    WORD tops[(GROUPS_PER_BLOCK + WORD_BITS - 1) / WORD_BITS];
    if ((size_t)(end - *src) < top_count * WORD_BYTES) {
        return false;
    }
    for (size_t top = 0; top < top_count; top++) {
        tops[top] = NAME(h5twin_load)(*src + WORD_BYTES * top);
    }
    *src += top_count * WORD_BYTES;
    if (NAME(count_bits)(tops, top_count) > (size_t)(end - *src) / WORD_BYTES) {
        return false;
    }
    WORD before = 0;
    for (size_t top = 0; top < top_count; top++) {
        WORD differences[WORD_BITS + SPARE];
        if (!NAME(unpack_group)(differences, tops[top], src, end)) {
            return false;
        }
        for (size_t i = 0; i < WORD_BITS; i++) {
            const size_t group = top * WORD_BITS + i;
            if (group >= group_count) {
                if (differences[i] != 0) {
                    return false;
                }
                continue;
            }
            before ^= differences[i];
            heads[group] = before;
        }
    }
    return true;
}

static enum h5twin_status
NAME(decode_block)(const struct h5twin_ndzip_grid *grid, size_t index, uint32_t entry,
                   uint8_t *restrict array, const uint8_t *restrict src, size_t src_size)
{
    const struct h5twin_ndzip_block block = h5twin_ndzip_block_at(grid, index);
    const bool is_reference = grid->layout == H5TWIN_NDZIP_REFERENCE;
    const unsigned group_count = (block.count + WORD_BITS - 1) / WORD_BITS;
    const uint8_t *at = src;
    const uint8_t *const end = src + src_size;
    _Alignas(64) WORD cube[NDZIP_BLOCK_ELEMENTS];
    WORD heads[GROUPS_PER_BLOCK];
    uint8_t *const dst = array + block.first * WORD_BYTES;
    struct h5twin_ndzip_rows next = h5twin_ndzip_rows_of(grid, index + 1, array);
    if (!is_reference && entry == block.count) {
        NAME(scatter_raw)(dst, grid, block.extent, src);
        return H5TWIN_OK;
    }
    if (!is_reference && (entry & NDZIP_ENTRY_PACKED) != 0) {
        if (!NAME(unpack_heads)(heads, group_count, &at, end)) {
            return H5TWIN_ERR_CORRUPT;
        }
    } else {
        if (src_size < group_count * WORD_BYTES) {
            return H5TWIN_ERR_CORRUPT;
        }
        for (size_t group = 0; group < group_count; group++) {
            heads[group] = NAME(h5twin_load)(src + WORD_BYTES * group);
        }
        at += WORD_BYTES * group_count;
    }
    if (NAME(count_bits)(heads, group_count) * WORD_BYTES != (size_t)(end - at)) {
        return H5TWIN_ERR_CORRUPT;
    }
    const enum h5twin_ndzip_mapping mapping = is_reference ? H5TWIN_NDZIP_ONES
                                              : (entry & NDZIP_ENTRY_NEGABINARY) != 0
                                                  ? H5TWIN_NDZIP_NEGABINARY
                                                  : H5TWIN_NDZIP_TWOS;
    if (!NAME(unpack_groups)(cube, heads, group_count, mapping, at, end, &next)) {
        return H5TWIN_ERR_CORRUPT;
    }
    WORD beyond = 0;
    for (size_t i = block.count; i < group_count * WORD_BITS; i++) {
        beyond |= cube[i];
    }
    if (beyond != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    NAME(inverse_transform)(dst, grid, block.extent, cube);
    return H5TWIN_OK;
}

#undef ROWS_PER_GROUP
#undef GROUPS_PER_BLOCK
#undef VECTOR_ROW
#undef WORD_BITS
