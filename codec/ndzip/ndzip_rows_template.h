/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_rows_template.h: part of ndzip_block_template.h, which names the parameters: a block's
 * elements to residuals, rows without gaps, and back. */

static inline void
NAME(load_row)(WORD *restrict row, const uint8_t *restrict src, size_t count)
{
#ifdef LOAD_ROW
    LOAD_ROW(row, src, count);
#else
    row[0] = NAME(h5twin_rotate_left)(NAME(h5twin_load)(src), 1);
    for (size_t i = 1; i < count; i++) {
        /* Each word is loaded and rotated twice, so that no lane waits for the one before. */
        row[i] = NAME(h5twin_rotate_left)(NAME(h5twin_load)(src + WORD_BYTES * i), 1) -
                 NAME(h5twin_rotate_left)(NAME(h5twin_load)(src + WORD_BYTES * i - WORD_BYTES), 1);
    }
#endif
}

/* Shorter rows than this are no work for vectors that are cut to size: a load of one waits for all
 * that was stored into it. Zen 4 decodes rows of three words 3 times as fast without. */
#define VECTOR_ROW (64u / (WORD_BITS / 8))

static inline void
NAME(store_plain_row)(uint8_t *restrict dst, const WORD *restrict row, size_t count)
{
    WORD sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += row[i];
        NAME(h5twin_store)(dst + WORD_BYTES * i, NAME(h5twin_rotate_left)(sum, WORD_BITS - 1));
    }
}

/* The short rows of whole 3-D blocks: the sums stay in registers, the rest is vectors. */
static inline void
NAME(store_row16)(uint8_t *restrict dst, const WORD *restrict row)
{
    WORD sums[16];
    sums[0] = row[0];
    for (size_t i = 1; i < 16; i++) {
        sums[i] = sums[i - 1] + row[i];
    }
    for (size_t i = 0; i < 16; i++) {
        NAME(h5twin_store)(dst + WORD_BYTES * i, NAME(h5twin_rotate_left)(sums[i], WORD_BITS - 1));
    }
}

static inline void
NAME(store_row)(uint8_t *restrict dst, const WORD *restrict row, size_t count)
{
#ifdef STORE_ROW
    if (count >= VECTOR_ROW) {
        STORE_ROW(dst, row, count);
        return;
    }
#endif
    if (count == 16) {
        NAME(store_row16)(dst, row);
    } else {
        NAME(store_plain_row)(dst, row, count);
    }
}

static inline void
NAME(subtract_row)(WORD *restrict row, const WORD *restrict before, size_t count)
{
    if (count == 16) {
        for (size_t i = 0; i < 16; i++) {
            row[i] -= before[i];
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        row[i] -= before[i];
    }
}

static inline void
NAME(add_row)(WORD *restrict row, const WORD *restrict before, size_t count)
{
    if (count == 16) {
        for (size_t i = 0; i < 16; i++) {
            row[i] += before[i];
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        row[i] += before[i];
    }
}

/* Residuals of a block (h5twin_ndzip_residual), rows without gaps: along one axis after
 * the other. */
static inline void
NAME(transform)(WORD *restrict cube, const struct h5twin_ndzip_grid *grid, const unsigned extent[3],
                const uint8_t *restrict src)
{
    const size_t row_stride = (size_t)grid->extent[2] * WORD_BYTES;
    const size_t plane_stride = grid->extent[1] * row_stride;
    const size_t row = extent[2], plane = extent[1] * row;
#ifdef TRANSFORM16
    if (row == 16 && extent[1] <= 16) {
        TRANSFORM16(cube, src, row_stride, plane_stride, extent);
        return;
    }
#endif
    for (size_t z = 0; z < extent[0]; z++) {
        WORD *const at = cube + z * plane;
        for (size_t y = 0; y < extent[1]; y++) {
            NAME(load_row)(at + y * row, src + z * plane_stride + y * row_stride, row);
        }
        for (size_t y = extent[1]; y-- > 1;) {
            NAME(subtract_row)(at + y * row, at + (y - 1) * row, row);
        }
    }
    for (size_t z = extent[0]; z-- > 1;) {
        NAME(subtract_row)(cube + z * plane, cube + (z - 1) * plane, plane);
    }
}

static inline void
NAME(inverse_transform)(uint8_t *restrict dst, const struct h5twin_ndzip_grid *grid,
                        const unsigned extent[3], WORD *restrict cube)
{
    const size_t row_stride = (size_t)grid->extent[2] * WORD_BYTES;
    const size_t plane_stride = grid->extent[1] * row_stride;
    const size_t row = extent[2], plane = extent[1] * row;
#ifdef INVERSE16
    if (row == 16 && extent[1] <= 16) {
        INVERSE16(dst, cube, row_stride, plane_stride, extent);
        return;
    }
#endif
    for (size_t z = 0; z < extent[0]; z++) {
        WORD *const at = cube + z * plane;
        if (z > 0) {
            NAME(add_row)(at, at - plane, plane);
        }
    }
    for (size_t z = 0; z < extent[0]; z++) {
        WORD *const at = cube + z * plane;
        for (size_t y = 0; y < extent[1]; y++) {
            if (y > 0) {
                NAME(add_row)(at + y * row, at + (y - 1) * row, row);
            }
            NAME(store_row)(dst + z * plane_stride + y * row_stride, at + y * row, row);
        }
    }
}
