/* SPDX-License-Identifier: BSD-3-Clause
 * bit_stream_msb.h: write and read strings of bits, most significant bit first.
 *
 * The first bit of the string is bit 7 of the first byte; a field of several bits starts with its
 * highest. The writer stores 8 bytes at a time: its buffer needs 8 bytes more than the string. The
 * reader never touches a byte outside its buffer and gives zeros beyond the end; who must know
 * compares the position with the size. Exponential Golomb codes of order k stand here because they
 * are made of nothing but these two: q = value + 2^k in n = bit_length(q) bits, after n - 1 - k
 * zero bits. */
#ifndef H5TWIN_COMMON_BIT_STREAM_MSB_H
#define H5TWIN_COMMON_BIT_STREAM_MSB_H

#include "../common/bits.h"
#include "../common/bytes.h"
#include "../common/hd.h"

#include <stdbool.h>
#include <stddef.h>

/* Most bits of one put or one get. A writer holds up to 7 bits from before, a peek loses up to 7.
 */
#define H5TWIN_BITS_AT_ONCE 56u

/* ---- writer ---- */

struct h5twin_bit_writer_msb {
    uint8_t *at;           /* where the pending bits will be stored */
    uint64_t pending;      /* left-aligned, zeros below */
    unsigned pending_bits; /* 0..7 between calls */
};

/* bit_count 0..56, bits < 2^bit_count. */
H5TWIN_HD void
h5twin_bit_put_msb(struct h5twin_bit_writer_msb *writer, uint64_t bits, unsigned bit_count)
{
    const unsigned total_bits = writer->pending_bits + bit_count;
    /* Two shifts, because 64 - total_bits would be 64 for an empty field on an empty writer. */
    const uint64_t pending = writer->pending | ((bits << 1) << (63u - total_bits));
    h5twin_store64(writer->at, h5twin_bswap64(pending));
    writer->at += total_bits >> 3;
    writer->pending = pending << (total_bits & 56u);
    writer->pending_bits = total_bits & 7u;
}

/* Fill the last byte up with zeros; returns the end of the string. */
H5TWIN_HD uint8_t *
h5twin_bit_finish_msb(struct h5twin_bit_writer_msb *writer)
{
    if (writer->pending_bits != 0) {
        *writer->at++ = (uint8_t)(writer->pending >> 56);
        writer->pending = 0;
        writer->pending_bits = 0;
    }
    return writer->at;
}

/* Bits that the code takes. order 0..31, value < 2^32. */
H5TWIN_HD unsigned
h5twin_exp_golomb_bits(uint64_t value, unsigned order)
{
    return 2u * h5twin_bit_length64(value + (UINT64_C(1) << order)) - 1u - order;
}

H5TWIN_HD void
h5twin_exp_golomb_put(struct h5twin_bit_writer_msb *writer, uint64_t value, unsigned order)
{
    const uint64_t code = value + (UINT64_C(1) << order);
    const unsigned code_bits = h5twin_bit_length64(code);
    h5twin_bit_put_msb(writer, 0, code_bits - 1u - order);
    h5twin_bit_put_msb(writer, code, code_bits);
}

/* ---- reader ---- */

struct h5twin_bit_reader_msb {
    const uint8_t *src;
    size_t src_size;   /* bytes */
    uint64_t position; /* bits */
};

/* The eight bytes at src + offset, the first one highest; zeros beyond src_size. */
H5TWIN_HD uint64_t
h5twin_load64_msb_clamped(const uint8_t *src, size_t src_size, uint64_t offset)
{
    if (src_size >= 8 && offset <= src_size - 8) {
        return h5twin_bswap64(h5twin_load64(src + offset));
    }
    uint64_t word = 0;
    for (unsigned i = 0; i < 8 && offset + i < src_size; i++) {
        word |= (uint64_t)src[offset + i] << (56u - 8u * i);
    }
    return word;
}

/* The next bits, left-aligned; at least 57 of them count. */
H5TWIN_HD uint64_t
h5twin_bit_peek_msb(const struct h5twin_bit_reader_msb *reader)
{
    return h5twin_load64_msb_clamped(reader->src, reader->src_size, reader->position >> 3)
           << (reader->position & 7u);
}

/* bit_count 0..56. */
H5TWIN_HD uint64_t
h5twin_bit_get_msb(struct h5twin_bit_reader_msb *reader, unsigned bit_count)
{
    const uint64_t window = h5twin_bit_peek_msb(reader);
    reader->position += bit_count;
    return (window >> 1) >> (63u - bit_count);
}

/* False if bits were taken that are not there. */
H5TWIN_HD bool
h5twin_bit_reader_is_inside_msb(const struct h5twin_bit_reader_msb *reader)
{
    return reader->position <= 8u * (uint64_t)reader->src_size;
}

/* False if the value would not fit 33 bits: more than 32 - order leading zeros. */
H5TWIN_HD bool
h5twin_exp_golomb_get(struct h5twin_bit_reader_msb *reader, unsigned order, uint64_t *value)
{
    const unsigned zeros = 64u - h5twin_bit_length64(h5twin_bit_peek_msb(reader));
    if (zeros + order > 32u) {
        return false;
    }
    reader->position += zeros;
    *value = h5twin_bit_get_msb(reader, zeros + order + 1u) - (UINT64_C(1) << order);
    return true;
}

#endif
