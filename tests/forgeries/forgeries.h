/* SPDX-License-Identifier: BSD-3-Clause
 * forgeries.h: streams that break one rule of a codec's FORMAT.md, each made of a good one by
 * replacing bytes in one place or one field of its frame. The table "What a decoder refuses" of the
 * FORMAT.md names the rules; docs/tests/test_rules.py compares the names. */
#ifndef H5TWIN_TESTS_FORGERIES_H
#define H5TWIN_TESTS_FORGERIES_H

#include "codec.h"
#include "rules.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a forgery: from byte `first` on `count` bytes are replaced by those that `text` is. */
#define AT(first, count, text) .at = (first), .removed = (count), .put = (text)

/* A payload and what its frame says. */
struct good_stream {
    enum h5twin_codec_id codec;
    enum h5twin_kind kind;
    unsigned word_size; /* bytes */
    size_t raw_size;    /* bytes of the array */
    uint32_t parameter;
    uint32_t extents[3]; /* 0, 0, 0 for codecs without */
    const char *payload; /* see forgery_bytes() */
};

struct forgery {
    const char *rule;             /* or what it is, if it is accepted */
    const struct good_stream *of; /* of its payload: */
    unsigned at, removed;         /* bytes; see AT() */
    const char *put;              /* NULL for none */
    /* Of its frame; 0 for no change. */
    uint32_t parameter_flips; /* bits */
    uint32_t extents[3];
    int raw_size_more; /* bytes */
    enum h5twin_kind kind;
    bool claims_no_size; /* the codec's raw_size() must refuse it, too */
};

/* Where a payload ends: for `at` and `removed`. */
#define FORGERY_END 1000000u

struct forgeries {
    const struct forgery *refused, *accepted;
    size_t refused_count, accepted_count;
};

/* Of a codec; none if it has no table here. */
const struct forgeries *forgeries_of(enum h5twin_codec_id codec);

extern const struct forgeries forgeries_sleek, forgeries_fpcompress, forgeries_ndzip, forgeries_gfc,
    forgeries_e2mc, forgeries_lattice;

#define FORGERIES(list, more)                                                                      \
    {                                                                                              \
        list, more, sizeof(list) / sizeof(list)[0], sizeof(more) / sizeof(more)[0]                 \
    }

/* Most bytes of a payload here. */
#define FORGERY_BYTES 20000u

/* Bytes as text, spaces for the eye: two hexadecimal digits are a byte; {0 1101} is a string of
 * bits, the first one the highest of its byte, filled up with zero bits; what stands in parentheses
 * is one piece; *9 repeats the byte, bit or piece before it, so that it is there 9 times. Returns
 * the number of bytes. */
size_t forgery_bytes(uint8_t dst[FORGERY_BYTES], const char *text);

/* The payload of a forgery; *job is filled for decoding it. Returns its size. */
size_t forgery_make(const struct forgery *forgery, struct h5twin_job *job,
                    uint8_t payload[FORGERY_BYTES]);

/* The good stream that it is made of, as a forgery in which nothing is replaced. */
struct forgery forgery_none(const struct forgery *forgery);

/* A whole chunk, in which bytes are replaced. */
struct forged_chunk {
    const char *rule; /* or what it is, if it is accepted */
    const char *chunk;
    unsigned at, removed;
    const char *put;
    enum h5twin_status status;
    bool is_unsealed; /* the checksum is that of the chunk as it was */
};

/* All, the good ones first. */
const struct forged_chunk *forged_chunks(size_t *count);

/* Its bytes, returned is how many. */
size_t forged_chunk_make(const struct forged_chunk *forged, uint8_t chunk[FORGERY_BYTES]);

#ifdef __cplusplus
}
#endif
#endif
