/* SPDX-License-Identifier: BSD-3-Clause
 * test_gfc_reject.c: streams that contradict GFC's FORMAT.md are refused, and no stream makes the
 * decoder leave its buffers (run it with the address sanitizer). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/bytes.h"
#include "gfc_cases.h"
#include "rules.h"
#include "support.h"

#define VALUES 5000 /* three chunks of 1696, 1696 and 1632 values with pads */

struct stream {
    uint8_t *at;
    size_t size;
    size_t raw_size;
    unsigned word_size;
    unsigned dimensionality;
};

static struct stream
make_stream(unsigned word_size)
{
    struct stream stream = {
        .raw_size = VALUES * (size_t)word_size, .word_size = word_size, .dimensionality = 3};
    uint8_t *const src = malloc(stream.raw_size);
    case_fill(src, stream.raw_size, word_size, 5);
    stream.at = malloc(stream.raw_size * 2);
    stream.size = case_encode(stream.at, src, stream.raw_size, word_size, 3, 3, 1);
    free(src);
    return stream;
}

/* Decode a copy that ends where its memory ends. */
static enum h5twin_status
decode(const struct stream *stream, size_t size)
{
    const struct h5twin_params params = case_params(stream->word_size, stream->dimensionality);
    uint8_t *const src = malloc(size + (size == 0)), *const dst = malloc(stream->raw_size);
    memcpy(src, stream->at, size);
    const enum h5twin_status status =
        h5twin_decode_payload(&params, NULL, dst, stream->raw_size, src, size);
    uint64_t raw_size;
    if (status == H5TWIN_OK) {
        assert_int_equal(h5twin_payload_raw_size(&params, src, size, &raw_size), H5TWIN_OK);
        assert_int_equal(raw_size, stream->raw_size);
    }
    free(src);
    free(dst);
    return status;
}

static void
expect_with_byte(struct stream *stream, size_t offset, uint8_t value, enum h5twin_status expected)
{
    const uint8_t before = stream->at[offset];
    stream->at[offset] = value;
    assert_int_equal(decode(stream, stream->size), expected);
    stream->at[offset] = before;
    assert_int_equal(decode(stream, stream->size), H5TWIN_OK);
}

static void
header_fields_out_of_range(void **state)
{
    (void)state;
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        struct stream stream = make_stream(word_size);
        expect_with_byte(&stream, 0, 0, H5TWIN_ERR_CORRUPT);
        expect_with_byte(&stream, 1, 0, H5TWIN_ERR_CORRUPT);
        expect_with_byte(&stream, 2, 0, H5TWIN_ERR_CORRUPT);
        expect_with_byte(&stream, 2, 4, H5TWIN_ERR_CORRUPT); /* not what the frame says */
        stream.at[2] = 33;
        stream.dimensionality = 33; /* the frame agrees, as far as options can say it */
        assert_int_not_equal(decode(&stream, stream.size), H5TWIN_OK);
        stream.at[2] = 3;
        stream.dimensionality = 3;
        expect_with_byte(&stream, 6, 0x80, H5TWIN_ERR_CORRUPT); /* N negative */
        expect_with_byte(&stream, 6, 0x7F, H5TWIN_ERR_CORRUPT); /* N huge */
        expect_with_byte(&stream, 3, (uint8_t)(stream.at[3] - 1), H5TWIN_ERR_CORRUPT);
        free(stream.at);
    }
}

/* 33 in the stream and in its frame, which no options could say. */
static void
a_dimensionality_above_32_in_both_places(void **state)
{
    (void)state;
    const struct h5twin_params params = case_params(8, 32);
    uint8_t src[8 * VALUES] = {0}, chunk[16 * VALUES], *const dst = malloc(sizeof src);
    size_t size, back_size;
    assert_int_equal(h5twin_encode(&params, NULL, chunk, sizeof chunk, src, sizeof src, &size),
                     H5TWIN_OK);
    assert_int_equal(chunk[6], 0); /* not raw */
    for (uint8_t dimensionality = 32; dimensionality <= 33; dimensionality++) {
        chunk[16] = chunk[24 + 2] = dimensionality;
        test_reseal(chunk, size);
        assert_int_equal(h5twin_decode(NULL, dst, sizeof src, chunk, size, &back_size),
                         dimensionality == 32 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT);
    }
    free(dst);
}

static void
chunk_sizes_that_no_chunk_has(void **state)
{
    (void)state;
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        struct stream stream = make_stream(word_size);
        for (size_t chunk = 0; chunk < 3; chunk++) {
            const size_t entry = 7 + 4 * chunk;
            expect_with_byte(&stream, entry + 3, 0x80, H5TWIN_ERR_CORRUPT);
            expect_with_byte(&stream, entry + 2, 1, H5TWIN_ERR_CORRUPT);
            expect_with_byte(&stream, entry + 1, 0, H5TWIN_ERR_CORRUPT);
            uint8_t *const low = stream.at + entry;
            expect_with_byte(&stream, entry, (uint8_t)(*low - 1), H5TWIN_ERR_CORRUPT);
            assert_int_not_equal(*low, 255);
            stream.at[entry]++;
            assert_int_not_equal(decode(&stream, stream.size), H5TWIN_OK);
            stream.at[entry]--;
        }
        free(stream.at);
    }
}

static void
an_empty_chunk_with_bytes(void **state)
{
    (void)state;
    const uint8_t src[8 * 8] = {0};
    struct stream stream = {
        .at = calloc(1, 100), .raw_size = sizeof src, .word_size = 8, .dimensionality = 1};
    stream.size = case_encode(stream.at, src, sizeof src, 8, 1, 2, 1);
    assert_int_equal(decode(&stream, stream.size), H5TWIN_OK);
    stream.at[11] = 1;
    assert_int_equal(decode(&stream, stream.size + 1), H5TWIN_ERR_CORRUPT);
    free(stream.at);
}

static void
streams_cut_short_and_with_bytes_too_many(void **state)
{
    (void)state;
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        struct stream stream = make_stream(word_size);
        for (size_t size = 0; size < stream.size; size += 1 + size / 64) {
            assert_int_equal(decode(&stream, size), H5TWIN_ERR_SRC_SHORT);
        }
        assert_int_equal(decode(&stream, stream.size - 1), H5TWIN_ERR_SRC_SHORT);
        for (size_t extra = 1; extra <= 2 * (size_t)word_size; extra++) {
            assert_int_equal(decode(&stream, stream.size + extra), H5TWIN_ERR_CORRUPT);
        }
        free(stream.at);
    }
}

static void
codes_above_four_in_streams_of_32_bit_words(void **state)
{
    (void)state;
    for (uint8_t code = 5; code <= 7; code++) {
        uint8_t bytes[11 + 16 + 7] = {1, 1, 1, 32, 0, 0, 0, (uint8_t)(16 + code)};
        const struct h5twin_params params = case_params(4, 1);
        uint8_t dst[128];
        bytes[11] = code;
        assert_int_equal(
            h5twin_decode_payload(&params, NULL, dst, sizeof dst, bytes, (size_t)27 + code),
            H5TWIN_ERR_CORRUPT);
        bytes[11] = 4;
        bytes[7] = 20;
        assert_int_equal(h5twin_decode_payload(&params, NULL, dst, sizeof dst, bytes, 31),
                         H5TWIN_OK);
    }
}

static void
nibbles_that_claim_more_or_fewer_bytes_than_the_chunk_has(void **state)
{
    (void)state;
    const struct h5twin_params params = case_params(8, 1);
    uint8_t bytes[11 + 16 + 9] = {1, 1, 1, 32, 0, 0, 0, 16 + 8};
    uint8_t dst[256];
    bytes[11] = 0x70;
    assert_int_equal(h5twin_decode_payload(&params, NULL, dst, sizeof dst, bytes, 35), H5TWIN_OK);
    bytes[11] = 0x71;
    assert_int_equal(h5twin_decode_payload(&params, NULL, dst, sizeof dst, bytes, 35),
                     H5TWIN_ERR_CORRUPT);
    bytes[11] = 0x60;
    assert_int_equal(h5twin_decode_payload(&params, NULL, dst, sizeof dst, bytes, 35),
                     H5TWIN_ERR_CORRUPT);
}

/* What a stream of one chunk says its array has; of its chunk no byte is looked at, or there. */
static enum h5twin_status
raw_size_of(uint32_t value_count, uint32_t stored_size)
{
    const struct h5twin_params params = case_params(4, 1);
    const size_t size = 11 + (size_t)stored_size;
    uint8_t *const stream = test_alloc(size);
    uint64_t raw_size = 0;
    memcpy(stream, (const uint8_t[]){1, 1, 1}, 3);
    h5twin_store32(stream + 3, value_count);
    h5twin_store32(stream + 7, stored_size);
    const enum h5twin_status status = h5twin_payload_raw_size(&params, stream, size, &raw_size);
    assert_int_equal(raw_size, status == H5TWIN_OK ? 4 * (uint64_t)value_count : 0);
    free(stream);
    return status;
}

static void
counts_and_sizes_of_31_bits(void **state)
{
    const uint32_t most = UINT32_C(1) << 31;
    (void)state;
    assert_int_equal(raw_size_of(most - 1, most / 32 * 16), H5TWIN_OK);
    test_refused(RULE("count-above"), raw_size_of(most, most / 32 * 16));
    /* As many subchunks as take 2^31 bytes if each has 144. */
    const uint32_t value_count = (most / 144 + 1) * 32;
    assert_int_equal(raw_size_of(value_count, most - 1), H5TWIN_OK);
    test_refused(RULE("stored-above"), raw_size_of(value_count, most));
}

/* Any answer is right: the sanitizers watch. Some damage must get past the header, though. */
static void
random_damage_stays_within_its_buffers(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        struct stream stream = make_stream(word_size);
        uint8_t *const intact = malloc(stream.size);
        unsigned decoded = 0;
        memcpy(intact, stream.at, stream.size);
        for (unsigned trial = 0; trial < 3000; trial++) {
            const size_t limit = trial % 2 == 0 ? 60 : stream.size;
            for (unsigned damage = 0; damage <= trial % 3; damage++) {
                stream.at[case_random(&seed) % limit] = (uint8_t)case_random(&seed);
            }
            const size_t cut = trial % 8 == 7 ? seed % 100 : 0;
            decoded += decode(&stream, stream.size - cut) == H5TWIN_OK;
            memcpy(stream.at, intact, stream.size);
        }
        assert_in_range(decoded, 300, 2700);
        free(intact);
        free(stream.at);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_fields_out_of_range),
        cmocka_unit_test(a_dimensionality_above_32_in_both_places),
        cmocka_unit_test(chunk_sizes_that_no_chunk_has),
        cmocka_unit_test(an_empty_chunk_with_bytes),
        cmocka_unit_test(streams_cut_short_and_with_bytes_too_many),
        cmocka_unit_test(codes_above_four_in_streams_of_32_bit_words),
        cmocka_unit_test(nibbles_that_claim_more_or_fewer_bytes_than_the_chunk_has),
        cmocka_unit_test(counts_and_sizes_of_31_bits),
        cmocka_unit_test(random_damage_stays_within_its_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
