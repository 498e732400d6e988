/* SPDX-License-Identifier: BSD-3-Clause
 * forgeries.c: see forgeries.h. */
#include "forgeries.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

const struct forgeries *
forgeries_of(enum h5twin_codec_id codec)
{
    static const struct forgeries none;
    switch (codec) {
    case H5TWIN_SLEEK:
        return &forgeries_sleek;
    case H5TWIN_FPCOMPRESS:
        return &forgeries_fpcompress;
    case H5TWIN_NDZIP:
        return &forgeries_ndzip;
    case H5TWIN_GFC:
        return &forgeries_gfc;
    case H5TWIN_E2MC:
        return &forgeries_e2mc;
    case H5TWIN_LATTICE:
        return &forgeries_lattice;
    default:
        return &none;
    }
}

/* ---- bytes from text ---- */

/* Units are bytes, or between braces bits, each in a byte of its own until they are packed. */
struct writer {
    const char *text;
    uint8_t *at, *end;
};

static _Noreturn void
is_wrong(const struct writer *writer)
{
    fail_msg("forgeries: what is \"%.20s\"?", writer->text);
    abort();
}

static void
put(struct writer *writer, const uint8_t *units, size_t count)
{
    if ((size_t)(writer->end - writer->at) < count) {
        is_wrong(writer);
    }
    memmove(writer->at, units, count);
    writer->at += count;
}

static uint8_t
digit(struct writer *writer)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *const found = *writer->text == '\0' ? NULL : strchr(digits, *writer->text);
    if (found == NULL) {
        is_wrong(writer);
    }
    writer->text++;
    return (uint8_t)(found - digits);
}

static void write_pieces(struct writer *writer, char last, bool are_bits);

static void
write_bits(struct writer *writer)
{
    static uint8_t bits[8 * FORGERY_BYTES];
    struct writer of_bits = {writer->text, bits, bits + sizeof bits};
    write_pieces(&of_bits, '}', true);
    const size_t count = (size_t)(of_bits.at - bits);
    for (size_t i = 0; i < count; i += 8) {
        uint8_t byte = 0;
        for (size_t bit = i; bit < i + 8; bit++) {
            byte = (uint8_t)(byte << 1 | (bit < count ? bits[bit] : 0));
        }
        put(writer, &byte, 1);
    }
    writer->text = of_bits.text;
}

/* One piece without its repetition. */
static void
write_piece(struct writer *writer, bool are_bits)
{
    if (*writer->text == '(') {
        writer->text++;
        write_pieces(writer, ')', are_bits);
    } else if (*writer->text == '{' && !are_bits) {
        writer->text++;
        write_bits(writer);
    } else {
        const uint8_t first = digit(writer);
        const uint8_t unit = are_bits ? first : (uint8_t)(first << 4 | digit(writer));
        put(writer, &unit, 1);
    }
}

static void
write_pieces(struct writer *writer, char last, bool are_bits)
{
    for (; *writer->text != last; writer->text += *writer->text == ' ') {
        if (*writer->text == ' ') {
            continue;
        }
        const uint8_t *const begin = writer->at;
        write_piece(writer, are_bits);
        const size_t size = (size_t)(writer->at - begin);
        if (*writer->text == '*') {
            char *rest;
            unsigned long times = strtoul(writer->text + 1, &rest, 10);
            writer->text = rest;
            for (; times > 1; times--) {
                put(writer, begin, size);
            }
        }
    }
    writer->text += last != '\0';
}

size_t
forgery_bytes(uint8_t dst[FORGERY_BYTES], const char *text)
{
    struct writer writer = {text, dst, dst + FORGERY_BYTES};
    write_pieces(&writer, '\0', false);
    return (size_t)(writer.at - dst);
}

/* ---- forgeries ---- */

static size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t
forgery_make(const struct forgery *forgery, struct h5twin_job *job, uint8_t payload[FORGERY_BYTES])
{
    static uint8_t good[FORGERY_BYTES], replaced[FORGERY_BYTES];
    const struct good_stream *const of = forgery->of;
    const size_t size = forgery_bytes(good, of->payload);
    const size_t at = smaller(forgery->at, size), removed = smaller(forgery->removed, size - at);
    const size_t put = forgery->put == NULL ? 0 : forgery_bytes(replaced, forgery->put);
    if (size - removed + put > FORGERY_BYTES) {
        fail_msg("forgeries: %s is too long", forgery->rule);
    }
    memcpy(payload, good, at);
    memcpy(payload + at, replaced, put);
    memcpy(payload + at + put, good + at + removed, size - at - removed);

    const bool are_given = forgery->extents[2] != 0;
    *job = (struct h5twin_job){
        .kind = forgery->kind != 0 ? forgery->kind : of->kind,
        .word_size = of->word_size,
        .raw_size = (size_t)((long long)of->raw_size + forgery->raw_size_more),
        .parameter = of->parameter ^ forgery->parameter_flips,
        .threads = 1,
        .isa = h5twin_isa_available(),
    };
    for (unsigned axis = 0; axis < 3; axis++) {
        const uint32_t extent = are_given ? forgery->extents[axis] : of->extents[axis];
        job->extents[axis] = of->extents[2] == 0 ? 1 : extent;
    }
    return size - removed + put;
}

struct forgery
forgery_none(const struct forgery *forgery)
{
    return (struct forgery){.rule = "a good stream", .of = forgery->of};
}
