/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_header.c: the first bytes of a coded payload; FORMAT.md section 1. */
#include "lattice_header_core.h"

/* ---- numbers of 7 bits a byte ---- */

size_t
h5twin_lattice_varint_write(uint8_t *dst, uint32_t value)
{
    size_t size = 0;
    while (value >= 0x80u) {
        dst[size++] = (uint8_t)(value | 0x80u);
        value >>= 7;
    }
    dst[size++] = (uint8_t)value;
    return size;
}

enum h5twin_status
h5twin_lattice_varint_read(uint32_t *value, const uint8_t *src, size_t src_size, size_t *at)
{
    return lattice_varint_get(value, src, src_size, at);
}

/* ---- writing ---- */

size_t
h5twin_lattice_header_write(uint8_t *dst, const struct lattice_header *header)
{
    const struct lattice_map *const map = &header->map;
    const struct lattice_shape *const shape = &header->shape;
    const unsigned extras = (map->has_limit[0] ? LATTICE_EXTRA_LOWER : 0u) |
                            (map->has_limit[1] ? LATTICE_EXTRA_UPPER : 0u) |
                            (lattice_is_folded(&header->folds) ? LATTICE_EXTRA_FOLDS : 0u);
    dst[0] = extras != 0 ? LATTICE_EXTENDED : LATTICE_CODED;
    dst[1] = (uint8_t)((map->wide ? LATTICE_FLAG_WIDE : 0u) |
                       (map->relative ? LATTICE_FLAG_RELATIVE : 0u) |
                       header->choice.predictor << LATTICE_PREDICTOR_SHIFT |
                       (header->choice.cubic ? LATTICE_FLAG_CUBIC : 0u) |
                       (header->has_specials ? LATTICE_FLAG_SPECIALS : 0u) |
                       (shape->axes - 1) << LATTICE_AXES_SHIFT);
    dst[2] = (uint8_t)header->choice.arg;
    h5twin_store16(dst + 3, (uint16_t)map->grid);
    h5twin_store16(dst + 5, (uint16_t)map->width);
    size_t size = LATTICE_FIXED_BYTES;
    for (unsigned axis = LATTICE_AXES + 1 - shape->axes; axis < LATTICE_AXES; axis++) {
        size += h5twin_lattice_varint_write(dst + size, (uint32_t)shape->extent[axis]);
    }
    if (extras != 0) {
        dst[size++] = (uint8_t)extras;
    }
    if ((extras & LATTICE_EXTRA_FOLDS) != 0) {
        const unsigned *const kind = header->folds.kind;
        h5twin_store16(dst + size,
                       (uint16_t)(kind[0] | kind[1] << 4 | kind[2] << 8 | kind[3] << 12));
        size += 2;
    }
    for (unsigned upper = 0; upper < 2; upper++) {
        if (map->has_limit[upper]) {
            h5twin_store_word(dst + size, lattice_word_of_number(map->limit[upper], map->word_size),
                              map->word_size);
            size += map->word_size;
        }
    }
    return size;
}

/* ---- reading ---- */

enum h5twin_status
h5twin_lattice_header_read(struct lattice_header *header, unsigned word_size, size_t count,
                           const uint8_t *src, size_t src_size, size_t *used)
{
    return lattice_header_get(header, word_size, count, src, src_size, used);
}
