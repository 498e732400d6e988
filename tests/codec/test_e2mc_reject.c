/* SPDX-License-Identifier: BSD-3-Clause
 * test_e2mc_reject.c: damaged streams end in a status, not in a crash. Built with sanitizers, this
 * also shows that no byte outside the buffers is touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/bytes.h"
#include "e2mc_cases.h"

/* A stream in a buffer of exactly its size, and room for what it decodes to. */
struct stream {
    struct h5twin_params params;
    uint8_t *bytes;
    size_t size;
    uint8_t *dst;
    size_t dst_size;
};

static void
make_stream(struct stream *stream, const char *spec, unsigned word_size, size_t size, unsigned kind)
{
    char random_spec[300];
    if (spec == NULL) {
        random_params(&stream->params, word_size, random_spec);
    } else {
        h5twin_params_init(&stream->params, H5TWIN_E2MC);
        assert_int_equal(h5twin_params_parse(&stream->params, spec, NULL), H5TWIN_OK);
        h5twin_params_set_array(&stream->params, word_size < 4 ? H5TWIN_INTEGER : H5TWIN_FLOAT,
                                word_size, 0, NULL);
    }
    uint8_t *const src = malloc(size);
    fill_data(src, size, word_size, kind);
    const size_t capacity = h5twin_bound(&stream->params, size);
    uint8_t *const full = malloc(capacity);
    assert_int_equal(
        h5twin_encode_payload(&stream->params, NULL, full, capacity, src, size, &stream->size),
        H5TWIN_OK);
    stream->bytes = malloc(stream->size);
    memcpy(stream->bytes, full, stream->size);
    stream->dst = malloc(size);
    stream->dst_size = size;
    free(src);
    free(full);
}

static void
free_stream(struct stream *stream)
{
    free(stream->bytes);
    free(stream->dst);
}

static enum h5twin_status
decode(const struct stream *stream)
{
    uint64_t raw_size;
    h5twin_payload_raw_size(&stream->params, stream->bytes, stream->size, &raw_size);
    const enum h5twin_status status = h5twin_decode_payload(
        &stream->params, NULL, stream->dst, stream->dst_size, stream->bytes, stream->size);
    assert_true(status == H5TWIN_OK || status == H5TWIN_ERR_CORRUPT ||
                status == H5TWIN_ERR_SRC_SHORT);
    return status;
}

static void
every_shorter_stream_is_refused(void **unused)
{
    (void)unused;
    for (unsigned kind = 0; kind < DATA_KINDS; kind++) {
        struct stream stream;
        make_stream(&stream, kind % 2 ? "e2mc:pre=1,seg_log2=14" : "e2mc", 4, 20000, kind);
        const size_t size = stream.size;
        for (size_t cut = 0; cut < size; cut += 1 + cut / 500) {
            uint8_t *const bytes = malloc(cut + 1);
            memcpy(bytes + 1, stream.bytes, cut);
            struct stream shorter = stream;
            shorter.bytes = bytes + 1;
            shorter.size = cut;
            assert_int_not_equal(decode(&shorter), H5TWIN_OK);
            free(bytes);
        }
        free_stream(&stream);
    }
}

static void
a_longer_stream_is_refused(void **unused)
{
    (void)unused;
    for (unsigned kind = 0; kind < 2 * DATA_KINDS; kind++) {
        const bool segments = kind >= DATA_KINDS;
        struct stream stream;
        make_stream(&stream, segments ? "e2mc:seg_log2=14" : "e2mc", 4, 20000, kind % DATA_KINDS);
        stream.bytes = realloc(stream.bytes, stream.size + 1);
        stream.bytes[stream.size++] = 0;
        assert_int_equal(decode(&stream), H5TWIN_ERR_CORRUPT);
        free_stream(&stream);
    }
}

static void
a_size_that_differs_from_the_caller_s_is_refused(void **unused)
{
    (void)unused;
    struct stream stream;
    make_stream(&stream, "e2mc", 4, 20000, 2);
    stream.dst_size -= 4;
    assert_int_equal(decode(&stream), H5TWIN_ERR_CORRUPT);
    free_stream(&stream);
}

static void
every_flipped_bit_of_header_and_codebook_is_survived(void **unused)
{
    (void)unused;
    for (unsigned kind = 2; kind < DATA_KINDS; kind++) {
        struct stream stream;
        make_stream(&stream, kind % 2 ? "e2mc:symbol_bits=8,max_len=20" : "e2mc:seg_log2=14", 4,
                    17000, kind);
        const size_t end = stream.size < 300 ? stream.size : 300;
        for (size_t bit = 0; bit < 8 * end; bit++) {
            stream.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            decode(&stream); /* some flips are other valid streams: of the granule, say */
            stream.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_int_equal(decode(&stream), H5TWIN_OK);
        free_stream(&stream);
    }
}

static void
random_damage_to_random_streams_is_survived(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 500; i++) {
        const unsigned word_size = 1u << random_below(4);
        struct stream stream;
        make_stream(&stream, NULL, word_size, (1 + random_below(6000)) * (size_t)word_size,
                    2 + random_below(DATA_KINDS - 2));
        for (unsigned j = 0; j < 30; j++) {
            const size_t at =
                random_below((unsigned)(j % 2 == 0 || stream.size < 80 ? stream.size : 80));
            const uint8_t before = stream.bytes[at];
            stream.bytes[at] =
                (uint8_t)(j % 3 == 0 ? next_random() : before ^ 1u << random_below(8));
            decode(&stream);
            stream.bytes[at] = before;
        }
        free_stream(&stream);
    }
}

/* Byte 7 of the header is 0, the lowest bit of it as well. */
static void
the_reserved_byte_is_zero(void **state)
{
    (void)state;
    struct stream stream;
    make_stream(&stream, "e2mc", 4, 4096, 0);
    assert_int_equal(decode(&stream), H5TWIN_OK);
    for (unsigned bit = 0; bit < 8; bit++) {
        stream.bytes[7] = (uint8_t)(1u << bit);
        assert_int_equal(decode(&stream), H5TWIN_ERR_CORRUPT);
    }
    free_stream(&stream);
}

/* A byte of the code book that no tree uses, or behind the last block. */
static void
a_stream_has_no_byte_too_many(void **state)
{
    (void)state;
    for (unsigned behind = 0; behind < 2; behind++) {
        struct stream stream;
        make_stream(&stream, "e2mc", 4, 4096, 2);
        assert_int_equal(stream.bytes[1] & 15, 1 /* coded */);
        const size_t at = behind ? stream.size : 16 + (size_t)h5twin_load32(stream.bytes + 12);
        uint8_t *const longer = calloc(1, stream.size + 1);
        memcpy(longer, stream.bytes, at);
        memcpy(longer + at + 1, stream.bytes + at, stream.size - at);
        h5twin_store32(longer + 12, h5twin_load32(longer + 12) + !behind);
        free(stream.bytes);
        stream.bytes = longer;
        stream.size++;
        assert_int_equal(decode(&stream), H5TWIN_ERR_CORRUPT);
        free_stream(&stream);
    }
}

/* What becomes of a stream of 2-byte words made by hand. */
static enum h5twin_status
decode_made(const uint8_t *bytes, size_t size, size_t dst_size)
{
    struct stream stream = {.bytes = malloc(size), .size = size, .dst_size = dst_size};
    h5twin_params_init(&stream.params, H5TWIN_E2MC);
    h5twin_params_set_array(&stream.params, H5TWIN_INTEGER, 2, 0, NULL);
    memcpy(stream.bytes, bytes, size);
    stream.dst = malloc(dst_size + 8);
    const enum h5twin_status status = decode(&stream);
    free_stream(&stream);
    return status;
}

static enum h5twin_status
raw_size_of(const uint8_t *bytes, size_t size)
{
    struct h5twin_params params;
    uint64_t raw_size;
    h5twin_params_init(&params, H5TWIN_E2MC);
    h5twin_params_set_array(&params, H5TWIN_INTEGER, 2, 0, NULL);
    return h5twin_payload_raw_size(&params, bytes, size, &raw_size);
}

#define TWO_SEGMENTS (16 + 2 * 4 + 2 * 18) /* bytes: header, sizes, streams */

/* Two segments of 2^log2 bytes, each of one word of 16 bits that fills it. */
static void
put_two_segments(uint8_t bytes[TWO_SEGMENTS], unsigned log2)
{
    memset(bytes, 0, TWO_SEGMENTS);
    memcpy(bytes, (const uint8_t[]){0xE2, 0x13, 0x14, 0x07, 0, 0, (uint8_t)log2}, 7);
    h5twin_store32(bytes + 8, 2u << log2);
    h5twin_store32(bytes + 12, 2 * 4);
    for (unsigned i = 0; i < 2; i++) {
        uint8_t *const segment = bytes + 24 + 18 * i;
        h5twin_store32(bytes + 16 + 4 * i, 18);
        memcpy(segment, (const uint8_t[]){0xE2, 0x12, 0x14, 0x07}, 4);
        h5twin_store32(segment + 8, 1u << log2);
    }
}

/* Below 2^14 bytes they are refused, though all else fits. */
static void
segments_have_at_least_16_kib(void **state)
{
    (void)state;
    uint8_t bytes[TWO_SEGMENTS];
    for (unsigned log2 = 13; log2 <= 14; log2++) {
        put_two_segments(bytes, log2);
        assert_int_equal(decode_made(bytes, sizeof bytes, (size_t)2 << log2),
                         log2 < 14 ? H5TWIN_ERR_CORRUPT : H5TWIN_OK);
    }
}

/* Bytes 2 and 3 of their headers: other symbols, or other blocks, would decode as well. */
static void
segments_have_the_geometry_of_the_whole(void **state)
{
    (void)state;
    static const uint8_t others[] = {[2] = 0x13, [3] = 0x08};
    for (unsigned segment = 0; segment < 2; segment++) {
        for (unsigned field = 2; field <= 3; field++) {
            uint8_t bytes[TWO_SEGMENTS];
            put_two_segments(bytes, 14);
            assert_int_equal(decode_made(bytes, sizeof bytes, (size_t)2 << 14), H5TWIN_OK);
            bytes[24 + 18 * segment + field] = others[field];
            assert_int_equal(decode_made(bytes, sizeof bytes, (size_t)2 << 14), H5TWIN_ERR_CORRUPT);
        }
    }
}

static void
segments_have_at_most_1_gib(void **state)
{
    (void)state;
    for (unsigned log2 = 30; log2 <= 31; log2++) {
        uint8_t bytes[16 + 2 * 4] = {0xE2, 0x13, 0x14, 0x07, 0, 0, (uint8_t)log2};
        h5twin_store32(bytes + 8, (UINT32_C(1) << log2) + 2);
        h5twin_store32(bytes + 12, 2 * 4);
        assert_int_equal(raw_size_of(bytes, sizeof bytes),
                         log2 > 30 ? H5TWIN_ERR_CORRUPT : H5TWIN_OK);
    }
}

/* One word that fills an array of 0 or 2 bytes. */
static void
an_array_that_is_not_raw_has_words(void **state)
{
    (void)state;
    uint8_t bytes[18] = {0xE2, 0x12, 0x14, 0x07};
    assert_int_equal(raw_size_of(bytes, sizeof bytes), H5TWIN_ERR_CORRUPT);
    assert_int_equal(decode_made(bytes, sizeof bytes, 0), H5TWIN_ERR_CORRUPT);
    h5twin_store32(bytes + 8, 2);
    assert_int_equal(raw_size_of(bytes, sizeof bytes), H5TWIN_OK);
    assert_int_equal(decode_made(bytes, sizeof bytes, 2), H5TWIN_OK);
}

/* A tree of the escape alone: its one block may be stored, but not a run. */
static void
a_run_needs_first_leaves_that_are_symbols(void **state)
{
    (void)state;
    uint8_t bytes[16 + 3 + 1 + 128] = {0xE2, 0x11, 0x14, 0x07, 0, 0, 0,    0,    128, 0,
                                       0,    0,    3,    0,    0, 0, 0x80, 0x08, 0,   0xFE};
    assert_int_equal(decode_made(bytes, sizeof bytes, 128), H5TWIN_OK);
    bytes[19] = 0xFC;
    assert_int_equal(decode_made(bytes, 20, 128), H5TWIN_ERR_CORRUPT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_have_at_least_16_kib),
        cmocka_unit_test(segments_have_the_geometry_of_the_whole),
        cmocka_unit_test(segments_have_at_most_1_gib),
        cmocka_unit_test(an_array_that_is_not_raw_has_words),
        cmocka_unit_test(a_run_needs_first_leaves_that_are_symbols),
        cmocka_unit_test(a_stream_has_no_byte_too_many),
        cmocka_unit_test(the_reserved_byte_is_zero),
        cmocka_unit_test(every_shorter_stream_is_refused),
        cmocka_unit_test(a_longer_stream_is_refused),
        cmocka_unit_test(a_size_that_differs_from_the_caller_s_is_refused),
        cmocka_unit_test(every_flipped_bit_of_header_and_codebook_is_survived),
        cmocka_unit_test(random_damage_to_random_streams_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
