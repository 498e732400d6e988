/* SPDX-License-Identifier: BSD-3-Clause
 * lanes_fields.h: fields of different widths from and to a string of bits, a vector of them at
 * once.
 *
 * Bits as in bit_stream_lsb.h. A running sum of the widths gives every field its place. Reading:
 * all fields of a vector lie in as many bytes; two permutes fetch the two words that each lies in,
 * a double shift aligns it. Writing: fields are joined in vectors as far as 56 bits, which are put
 * one after the other. */
#ifndef H5TWIN_COMMON_LANES_FIELDS_H
#define H5TWIN_COMMON_LANES_FIELDS_H

#include "bit_stream_lsb.h"
#include "lanes.h"

#define WORD_BITS 32
#include "lanes_fields_template.h"
#undef WORD_BITS
#define WORD_BITS 64
#include "lanes_fields_template.h"
#undef WORD_BITS

/* ---- writing ---- */

struct h5twin_field_writer {
    uint8_t *at;      /* where the first byte goes that is not complete; 8 bytes are overwritten */
    uint64_t pending; /* its bits */
    unsigned bits;    /* how many: below 8 */
};

static inline struct h5twin_field_writer
h5twin_field_writer_open(uint8_t *dst)
{
    return (struct h5twin_field_writer){dst, 0, 0};
}

/* Goes on where the other one is; 8 bytes behind it are overwritten. */
static inline struct h5twin_field_writer
h5twin_field_writer_from(const struct h5twin_lsb_writer *writer)
{
    h5twin_store64(writer->at, writer->pending);
    return (struct h5twin_field_writer){
        .at = writer->at + writer->pending_bits / 8,
        .pending = writer->pending >> (writer->pending_bits & 56),
        .bits = writer->pending_bits & 7,
    };
}

static inline struct h5twin_lsb_writer
h5twin_field_writer_back(const struct h5twin_field_writer *writer)
{
    return (struct h5twin_lsb_writer){writer->at, writer->pending, writer->bits};
}

/* The end of the string: what is pending is already there. */
static inline uint8_t *
h5twin_field_writer_end(const struct h5twin_field_writer *writer)
{
    return writer->at + (writer->bits != 0);
}

/* A field of up to 56 bits. */
static inline void
h5twin_field_put(struct h5twin_field_writer *writer, uint64_t field, unsigned width)
{
    const uint64_t pending = writer->pending | field << writer->bits;
    const unsigned bits = writer->bits + width;
    h5twin_store64(writer->at, pending);
    writer->at += bits / 8;
    writer->pending = pending >> (bits & 56);
    writer->bits = bits & 7;
}

/* An even number of fields of up to 64 bits each, most of them much narrower. */
H5TWIN_LANES_INLINE void
h5twin_field_put_all(struct h5twin_field_writer *writer, const uint64_t *field,
                     const uint64_t *width, unsigned count)
{
    uint64_t room = 0;
    for (unsigned i = 0; i < count; i += 2) {
        room |= 56 - (width[i] + width[i + 1]); /* negative: they do not fit together */
    }
    if (__builtin_expect((int64_t)room >= 0, 1)) {
        for (unsigned i = 0; i < count; i += 2) {
            h5twin_field_put(writer, field[i] | field[i + 1] << width[i],
                             (unsigned)(width[i] + width[i + 1]));
        }
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        const unsigned low = width[i] > 56 ? 32 : (unsigned)width[i];
        h5twin_field_put(writer, field[i] & ((UINT64_C(1) << low) - 1), low);
        h5twin_field_put(writer, field[i] >> low, (unsigned)width[i] - low);
    }
}

/* Fields below 2^width. */
H5TWIN_LANES_INLINE void
v_put_fields32(struct h5twin_field_writer *writer, v32 fields, v32 widths)
{
    const v64 low = (v64)fields & UINT32_MAX, low_width = (v64)widths & UINT32_MAX;
    const v64 pairs = low | v_up64((v64)fields >> 32, low_width);
    const v64 pair_widths = low_width + ((v64)widths >> 32);
    uint64_t field[LANES64], width[LANES64];
    v_store64(field, pairs);
    v_store64(width, pair_widths);
    h5twin_field_put_all(writer, field, width, LANES64);
}

H5TWIN_LANES_INLINE void
v_put_fields64(struct h5twin_field_writer *writer, v64 fields, v64 widths)
{
    uint64_t field[LANES64], width[LANES64];
    v_store64(field, fields);
    v_store64(width, widths);
    h5twin_field_put_all(writer, field, width, LANES64);
}

#endif
