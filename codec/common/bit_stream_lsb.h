/* SPDX-License-Identifier: BSD-3-Clause
 * bit_stream_lsb.h: fields of any width in a string of bits, least significant bit first.
 *
 * Bit b of the string is bit b % 8 of byte b / 8, and a field's lowest bit comes first. The string
 * begins at a byte, and unused bits of its last byte are 0. Where all fields have one width,
 * bit_pack.h is faster. */
#ifndef H5TWIN_COMMON_BIT_STREAM_LSB_H
#define H5TWIN_COMMON_BIT_STREAM_LSB_H

#include "bytes.h"

#include <stddef.h>

struct h5twin_lsb_writer {
    uint8_t *at;           /* where the next whole byte goes */
    uint64_t pending;      /* bits not yet stored, the first lowest */
    unsigned pending_bits; /* below 64 */
};

struct h5twin_lsb_reader {
    const uint8_t *src;
    size_t src_size; /* bytes; reading beyond gives zeros */
    size_t bit;      /* position of the next field */
};

H5TWIN_HD struct h5twin_lsb_writer
h5twin_lsb_writer_open(uint8_t *dst)
{
    struct h5twin_lsb_writer writer;
    writer.at = dst;
    writer.pending = 0;
    writer.pending_bits = 0;
    return writer;
}

/* Append a field below 2^width_bits, 0..64 bits wide. Stores no byte before it is complete. */
H5TWIN_HD void
h5twin_lsb_put(struct h5twin_lsb_writer *writer, uint64_t field, unsigned width_bits)
{
    const unsigned before_bits = writer->pending_bits;
    const unsigned total_bits = before_bits + width_bits;
    writer->pending |= field << before_bits;
    writer->pending_bits = total_bits;
    if (total_bits >= 64) {
        h5twin_store64(writer->at, writer->pending);
        writer->at += 8;
        /* What did not fit; nothing was pending if all of 64 bits did. */
        writer->pending = before_bits == 0 ? 0 : field >> (64 - before_bits);
        writer->pending_bits = total_bits - 64;
    }
}

/* Append count fields, none of them wider than `widest` bits, at most 62. */
static inline void
h5twin_lsb_put_all(struct h5twin_lsb_writer *writer, const uint64_t *fields, const uint8_t *widths,
                   size_t count, unsigned widest)
{
    size_t i = 0;
    /* Four or two at once where they fit together. */
    for (; widest <= 16 && i + 4 <= count; i += 4) {
        const unsigned low_bits = widths[i] + widths[i + 1];
        const unsigned high_bits = widths[i + 2] + widths[i + 3];
        const uint64_t low = fields[i] | fields[i + 1] << widths[i];
        const uint64_t high = fields[i + 2] | fields[i + 3] << widths[i + 2];
        h5twin_lsb_put(writer, low | high << low_bits, low_bits + high_bits);
    }
    for (; widest <= 32 && i + 2 <= count; i += 2) {
        h5twin_lsb_put(writer, fields[i] | fields[i + 1] << widths[i], widths[i] + widths[i + 1]);
    }
    for (; i < count; i++) {
        h5twin_lsb_put(writer, fields[i], widths[i]);
    }
}

/* Store the bits still pending; returns the end of the string. */
H5TWIN_HD uint8_t *
h5twin_lsb_writer_close(struct h5twin_lsb_writer *writer)
{
    for (unsigned bit = 0; bit < writer->pending_bits; bit += 8) {
        *writer->at++ = (uint8_t)(writer->pending >> bit);
    }
    writer->pending = 0;
    writer->pending_bits = 0;
    return writer->at;
}

H5TWIN_HD struct h5twin_lsb_reader
h5twin_lsb_reader_open(const uint8_t *src, size_t src_size)
{
    struct h5twin_lsb_reader reader;
    reader.src = src;
    reader.src_size = src_size;
    reader.bit = 0;
    return reader;
}

/* The next field, 0..64 bits wide. */
H5TWIN_HD uint64_t
h5twin_lsb_get(struct h5twin_lsb_reader *reader, unsigned width_bits)
{
    const size_t byte = reader->bit / 8;
    const unsigned shift = (unsigned)(reader->bit % 8);
    reader->bit += width_bits;
    if (width_bits == 0 || byte >= reader->src_size) {
        return 0;
    }
    uint8_t copy[9];
    const uint8_t *window = reader->src + byte;
    const size_t left = reader->src_size - byte;
    if (left < sizeof copy) {
        memset(copy, 0, sizeof copy);
        memcpy(copy, window, left);
        window = copy;
    }
    const uint64_t field = h5twin_load64(window) >> shift | (uint64_t)window[8] << 1
                                                                                << (63 - shift);
    return field & (UINT64_MAX >> (64 - width_bits));
}

#endif
