/* SPDX-License-Identifier: BSD-3-Clause
 * test_fpcompress_reject.c: bare streams, which no checksum protects, cut at every length and with
 * every bit flipped: an error or other values, never an access outside the buffers (which are
 * exact, so that a sanitizer sees one). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fpcompress_cases.h"
#include "rules.h"
#include "support.h"

#include "codec.h"
#include "common/bytes.h"

#include <stdlib.h>
#include <string.h>

#define HEADER    8u
#define KEEP_COPY 64u /* keep_bits of RAZE and RARE: all bits of all words */
#define KEEP_NONE 65u /* no word */

static uint8_t *
encode(const struct h5twin_params *params, const uint8_t *src, size_t size, size_t *stream_size)
{
    const size_t capacity = h5twin_bound(params, size);
    uint8_t *const stream = malloc(capacity);
    assert_int_equal(h5twin_encode_payload(params, NULL, stream, capacity, src, size, stream_size),
                     H5TWIN_OK);
    return realloc(stream, *stream_size);
}

static void
check_refusal(enum h5twin_status status)
{
    assert_true(status == H5TWIN_ERR_CORRUPT || status == H5TWIN_ERR_SRC_SHORT);
}

static void
check_damage(const struct fpcompress_coder *coder, enum fpcompress_input input, size_t size,
             size_t bit_step)
{
    const struct h5twin_params params = fpcompress_params(coder);
    uint8_t *const src = malloc(size + 1), *const back = malloc(size + 1);
    size_t stream_size = 0;
    fpcompress_fill(src, size, coder->word_size, input);
    uint8_t *const stream = encode(&params, src, size, &stream_size);
    for (size_t cut = 0; cut < stream_size; cut += 1 + stream_size / 1500) {
        uint8_t *const exact = malloc(cut + 1);
        memcpy(exact + 1, stream, cut);
        check_refusal(h5twin_decode_payload(&params, NULL, back, size, exact + 1, cut));
        free(exact);
    }
    check_refusal(h5twin_decode_payload(&params, NULL, back, size - 1, stream, stream_size));
    for (size_t bit = 0; bit < 8 * stream_size; bit += bit_step) {
        stream[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        const enum h5twin_status status =
            h5twin_decode_payload(&params, NULL, back, size, stream, stream_size);
        if (status != H5TWIN_OK) {
            check_refusal(status);
        }
        stream[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    assert_int_equal(h5twin_decode_payload(&params, NULL, back, size, stream, stream_size),
                     H5TWIN_OK);
    free(src);
    free(back);
    free(stream);
}

static void
test_damaged_streams_are_harmless(void **state)
{
    (void)state;
    for (size_t c = 0; c < FPCOMPRESS_CODERS; c++) {
        for (int input = 0; input < INPUT_COUNT; input++) {
            check_damage(&fpcompress_coders[c], (enum fpcompress_input)input, 1200, 1);
            check_damage(&fpcompress_coders[c], (enum fpcompress_input)input, 20000, 61);
        }
    }
}

static void
test_noise_is_harmless(void **state)
{
    (void)state;
    uint64_t random = 5;
    uint8_t back[4096];
    for (unsigned round = 0; round < 40000; round++) {
        const struct fpcompress_coder *const coder = &fpcompress_coders[round % FPCOMPRESS_CODERS];
        const struct h5twin_params params = fpcompress_params(coder);
        const size_t header_size = coder->word_size;
        const bool doubled = round % FPCOMPRESS_CODERS == 3;
        const size_t block = header_size + 2;
        random = random * 6364136223846793005u + 1442695040888963407u;
        const size_t payload_size = 3 + (size_t)(random >> 40) % 400;
        const size_t size = 8 * ((size_t)(random >> 20) % 256 + 64);
        const size_t coded_size = doubled ? 2 * size : size;
        uint8_t *const stream = malloc(block + payload_size);
        /* A believable container around noise that ends in a believable size. */
        memset(stream, 0, block);
        stream[0] = (uint8_t)coded_size;
        stream[1] = (uint8_t)(coded_size >> 8);
        stream[header_size] = (uint8_t)payload_size;
        stream[header_size + 1] = (uint8_t)(payload_size >> 8);
        for (size_t i = 0; i < payload_size; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const uint8_t byte = (uint8_t)(random >> 56);
            stream[block + i] = (random >> 30) % 4 < round % 3 ? byte : (uint8_t)(byte % 4);
        }
        stream[block + payload_size - 2] = (uint8_t)(doubled ? payload_size : coded_size);
        stream[block + payload_size - 1] = (uint8_t)((doubled ? payload_size : coded_size) >> 8);
        const enum h5twin_status status =
            h5twin_decode_payload(&params, NULL, back, size, stream, block + payload_size);
        if (status != H5TWIN_OK) {
            check_refusal(status);
        }
        free(stream);
    }
}

/* A container with one block that is stored raw: what it holds goes straight to FCM. */
static enum h5twin_status
decode_distances(const uint64_t *words, size_t count, uint64_t *back)
{
    const struct h5twin_params params = fpcompress_params(&fpcompress_coders[3]);
    uint8_t stream[10 + 16 * 8] = {0};
    stream[0] = (uint8_t)(16 * count);
    stream[8] = (uint8_t)(16 * count);
    for (size_t i = 0; i < 16 * count; i++) {
        stream[10 + i] = (uint8_t)(words[i / 8] >> (8 * (i % 8)));
    }
    return h5twin_decode_payload(&params, NULL, back, 8 * count, stream, 10 + 16 * count);
}

static void
test_distances_before_the_first_value_are_refused(void **state)
{
    (void)state;
    uint64_t back[2];
    assert_int_equal(decode_distances((const uint64_t[]){7, 0, 0, 1}, 2, back), H5TWIN_OK);
    assert_true(back[0] == 7 && back[1] == 7);
    assert_int_equal(decode_distances((const uint64_t[]){7, 0, 1, 0}, 2, back), H5TWIN_ERR_CORRUPT);
    assert_int_equal(decode_distances((const uint64_t[]){7, 0, 0, 2}, 2, back), H5TWIN_ERR_CORRUPT);
    assert_int_equal(decode_distances((const uint64_t[]){7, 0, 0, UINT64_C(1) << 32}, 2, back),
                     H5TWIN_ERR_CORRUPT);
    assert_int_equal(decode_distances((const uint64_t[]){7, 0, 0, UINT64_MAX}, 2, back),
                     H5TWIN_ERR_CORRUPT);
}

static void
test_framed_chunks_with_any_flipped_bit_are_refused(void **state)
{
    (void)state;
    for (size_t c = 0; c < FPCOMPRESS_CODERS; c++) {
        const struct h5twin_params params = fpcompress_params(&fpcompress_coders[c]);
        uint8_t src[800], back[800];
        fpcompress_fill(src, sizeof src, fpcompress_coders[c].word_size, INPUT_RAMP);
        const size_t capacity = h5twin_bound(&params, sizeof src);
        uint8_t *const chunk = malloc(capacity);
        size_t size = 0, back_size = 0;
        assert_int_equal(h5twin_encode(&params, NULL, chunk, capacity, src, sizeof src, &size),
                         H5TWIN_OK);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            chunk[bit / 8] ^= (uint8_t)(1u << (bit % 8));
            assert_int_not_equal(h5twin_decode(NULL, back, sizeof back, chunk, size, &back_size),
                                 H5TWIN_OK);
            chunk[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        }
        free(chunk);
    }
}

/* DPratio of 8 zeros, 128 bytes with their distances: RAZE keeps nothing of them, RARE copies what
 * RAZE gave. So a block is RAZE's bytes, keep_bits, size; RARE's keep_bits, size. */
static void
test_ratio_blocks_have_no_byte_too_many(void **unused)
{
    (void)unused;
    static const struct {
        const char *what;
        uint8_t size, block[8];
        enum h5twin_status status;
    } blocks[] = {
        {"nothing", 6, {KEEP_NONE, 128, 0, KEEP_COPY, 3, 0}, H5TWIN_OK},
        {"copied, and a byte behind",
         7,
         {KEEP_NONE, 128, 0, 0, KEEP_COPY, 3, 0},
         H5TWIN_ERR_CORRUPT},
        {"zeros, and a byte", 7, {0, KEEP_NONE, 128, 0, KEEP_COPY, 4, 0}, H5TWIN_ERR_CORRUPT},
        {"a word less", 6, {KEEP_NONE, 120, 0, KEEP_COPY, 3, 0}, H5TWIN_ERR_CORRUPT},
    };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        uint8_t stream[HEADER + 2 + 8] = {128}, dst[64];
        struct h5twin_params params;
        stream[HEADER] = blocks[i].size;
        memcpy(stream + HEADER + 2, blocks[i].block, blocks[i].size);
        h5twin_params_init(&params, H5TWIN_FPCOMPRESS);
        h5twin_params_set_array(&params, H5TWIN_FLOAT, 8, 0, NULL);
        const enum h5twin_status status = h5twin_decode_payload(
            &params, NULL, dst, sizeof dst, stream, HEADER + 2 + (size_t)blocks[i].size);
        if (status != blocks[i].status) {
            print_error("%s: status %d\n", blocks[i].what, (int)status);
        }
        assert_int_equal(status, blocks[i].status);
    }
}

/* 2^31 words of 0, whose blocks take 6 bytes each. Nothing of them is decoded. */
static void
test_more_words_than_distances_reach_are_refused(void **state)
{
    const uint64_t raw_size = UINT64_C(8) << 31;
    const size_t block_count = (size_t)(2 * raw_size / 16384), size = HEADER + 8 * block_count;
    const struct h5twin_job job = {
        .word_size = 8, .raw_size = raw_size, .parameter = 2, .threads = 1};
    uint8_t *const stream = malloc(size), dst[1];
    (void)state;
    assert_non_null(stream);
    h5twin_store64(stream, 2 * raw_size);
    for (size_t i = 0; i < block_count; i++) {
        h5twin_store16(stream + HEADER + 2 * i, 6);
        memcpy(stream + HEADER + 2 * block_count + 6 * i,
               (const uint8_t[]){KEEP_NONE, 0, 64, KEEP_NONE, 3, 0}, 6);
    }
    test_refused(RULE("words-above"),
                 h5twin_codec_find(H5TWIN_FPCOMPRESS)->decode(&job, dst, stream, size));
    free(stream);
}

/* A bare stream of one raw block of so many bytes. */
static enum h5twin_status
raw_size_of(uint8_t coded_size, uint64_t *raw_size)
{
    const struct h5twin_params params = fpcompress_params(&fpcompress_coders[3]);
    uint8_t stream[HEADER + 2 + 32] = {coded_size, [HEADER] = coded_size};
    return h5twin_payload_raw_size(&params, stream, HEADER + 2 + (size_t)coded_size, raw_size);
}

static void
test_half_of_a_bare_stream_is_whole_values(void **state)
{
    uint64_t raw_size;
    (void)state;
    assert_int_equal(raw_size_of(32, &raw_size), H5TWIN_OK);
    assert_int_equal(raw_size, 16);
    assert_int_equal(raw_size_of(20, &raw_size), H5TWIN_OK); /* DPspeed */
    assert_int_equal(raw_size, 20);
    test_refused(RULE("half-a-value"), raw_size_of(24, &raw_size));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ratio_blocks_have_no_byte_too_many),
        cmocka_unit_test(test_more_words_than_distances_reach_are_refused),
        cmocka_unit_test(test_half_of_a_bare_stream_is_whole_values),
        cmocka_unit_test(test_damaged_streams_are_harmless),
        cmocka_unit_test(test_noise_is_harmless),
        cmocka_unit_test(test_distances_before_the_first_value_are_refused),
        cmocka_unit_test(test_framed_chunks_with_any_flipped_bit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
