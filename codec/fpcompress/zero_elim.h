/* SPDX-License-Identifier: BSD-3-Clause
 * zero_elim.h: leave out zero bytes, or bytes like the one before, and say which in a bitmap.
 *
 * Bit j of a bitmap is bit j % 8 of byte j / 8. Bitmaps are themselves shortened by leaving out
 * repeated bytes, again and again, down to 4 bytes: the coder of FPcompress's RZE, RAZE and RARE.
 * All counts are in bytes and multiples of 8. */
#ifndef H5TWIN_COMMON_ZERO_ELIM_H
#define H5TWIN_COMMON_ZERO_ELIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define H5TWIN_BITMAP_MAX   2048u /* bytes, largest bitmap that bitmap_write and _read take */
#define H5TWIN_BITMAP_FINAL 4u    /* bytes of the last bitmap, stored as it is */

/* Copy the bytes that are not 0 to dst, in order, and set their bits among count bits of bitmap.
 * Returns how many there are. dst has room for count bytes; those behind the result are undefined.
 */
size_t h5twin_zero_elim(uint8_t *restrict dst, uint8_t *restrict bitmap,
                        const uint8_t *restrict src, size_t count);

/* The inverse: src has exactly as many bytes as bitmap has bits set among count. */
void h5twin_zero_restore(uint8_t *restrict dst, size_t count, const uint8_t *restrict bitmap,
                         const uint8_t *restrict src, size_t src_size);

/* The same with AVX2. */
size_t h5twin_zero_elim_avx2(uint8_t *restrict dst, uint8_t *restrict bitmap,
                             const uint8_t *restrict src, size_t count);
void h5twin_zero_restore_avx2(uint8_t *restrict dst, size_t count, const uint8_t *restrict bitmap,
                              const uint8_t *restrict src, size_t src_size);

/* The same with AVX-512 VBMI2. */
size_t h5twin_zero_elim_avx512(uint8_t *restrict dst, uint8_t *restrict bitmap,
                               const uint8_t *restrict src, size_t count);
void h5twin_zero_restore_avx512(uint8_t *restrict dst, size_t count, const uint8_t *restrict bitmap,
                                const uint8_t *restrict src, size_t src_size);

/* The same for bytes that differ from the one before; before the first is 0. */
size_t h5twin_repeat_elim(uint8_t *restrict dst, uint8_t *restrict bitmap,
                          const uint8_t *restrict src, size_t count);
void h5twin_repeat_restore(uint8_t *restrict dst, size_t count, const uint8_t *restrict bitmap,
                           const uint8_t *restrict src, size_t src_size);

/* Number of bits set in `size` bytes, a multiple of 4. */
size_t h5twin_bitmap_count(const uint8_t *bitmap, size_t size);

/* Whether no bit of the bitmap's `size` bytes stands for an item beyond the first item_count. */
bool h5twin_bitmap_ends(const uint8_t *bitmap, size_t size, size_t item_count);

/* Write a bitmap of bitmap_size (4 * 8^rounds, at most H5TWIN_BITMAP_MAX) bytes: the kept bytes of
 * the bitmap, of its bitmap, ... and the last 4-byte bitmap. dst has room for
 * H5TWIN_BITMAP_BOUND(bitmap_size) bytes. Returns the bytes written. */
#define H5TWIN_BITMAP_BOUND(bitmap_size) ((bitmap_size) + (bitmap_size) / 4 + 8)
size_t h5twin_bitmap_write(uint8_t *restrict dst, const uint8_t *restrict bitmap,
                           size_t bitmap_size);

/* The inverse, from the end of src backwards. Returns the bytes used, 0 if src is too short. */
size_t h5twin_bitmap_read(uint8_t *restrict bitmap, size_t bitmap_size, const uint8_t *restrict src,
                          size_t src_size);

/* The same with AVX2. */
size_t h5twin_repeat_elim_avx2(uint8_t *restrict dst, uint8_t *restrict bitmap,
                               const uint8_t *restrict src, size_t count);
void h5twin_repeat_restore_avx2(uint8_t *restrict dst, size_t count, const uint8_t *restrict bitmap,
                                const uint8_t *restrict src, size_t src_size);
size_t h5twin_bitmap_write_avx2(uint8_t *restrict dst, const uint8_t *restrict bitmap,
                                size_t bitmap_size);
size_t h5twin_bitmap_read_avx2(uint8_t *restrict bitmap, size_t bitmap_size,
                               const uint8_t *restrict src, size_t src_size);

/* The same with AVX-512 VBMI2. */
size_t h5twin_repeat_elim_avx512(uint8_t *restrict dst, uint8_t *restrict bitmap,
                                 const uint8_t *restrict src, size_t count);
void h5twin_repeat_restore_avx512(uint8_t *restrict dst, size_t count,
                                  const uint8_t *restrict bitmap, const uint8_t *restrict src,
                                  size_t src_size);
size_t h5twin_bitmap_write_avx512(uint8_t *restrict dst, const uint8_t *restrict bitmap,
                                  size_t bitmap_size);
size_t h5twin_bitmap_read_avx512(uint8_t *restrict bitmap, size_t bitmap_size,
                                 const uint8_t *restrict src, size_t src_size);

/* What the pairs of bitmap functions are made of. */
struct h5twin_repeat_coder {
    size_t (*elim)(uint8_t *restrict dst, uint8_t *restrict bitmap, const uint8_t *restrict src,
                   size_t count);
    void (*restore)(uint8_t *restrict dst, size_t count, const uint8_t *restrict bitmap,
                    const uint8_t *restrict src, size_t src_size);
};
size_t h5twin_bitmap_write_with(const struct h5twin_repeat_coder *coder, uint8_t *restrict dst,
                                const uint8_t *restrict bitmap, size_t bitmap_size);
size_t h5twin_bitmap_read_with(const struct h5twin_repeat_coder *coder, uint8_t *restrict bitmap,
                               size_t bitmap_size, const uint8_t *restrict src, size_t src_size);

#endif
