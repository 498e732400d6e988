/* SPDX-License-Identifier: BSD-3-Clause
 * test_sleek_reject.c: damaged SLEEK streams give a status or other values, and never touch a byte
 * outside their buffers. Buffers end at a page that cannot be touched; run it under sanitizers. */
#include "common/bytes.h"
#include "h5twin.h"

#include "page_guard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VALUES 5000u /* two blocks, the second short */

struct stream {
    struct h5twin_params params;
    size_t raw_size;
    size_t size;
    uint8_t *bytes; /* guarded */
    uint8_t *dst;   /* guarded */
};

static void
make_stream(struct stream *stream, unsigned word_size, double bound, bool framed)
{
    uint8_t src[VALUES * 8];
    uint8_t packed[VALUES * 8 + 1000];
    uint64_t seed = 6;
    for (unsigned i = 0; i < VALUES; i++) {
        const double value = 3 * sin(i * 0.01) + (double)(test_random(&seed) % 1000) * 1e-5;
        const float narrow = (float)value;
        memcpy(src + i * word_size, word_size == 8 ? (const void *)&value : &narrow, word_size);
    }
    h5twin_params_init(&stream->params, H5TWIN_SLEEK);
    h5twin_params_set_array(&stream->params, H5TWIN_FLOAT, word_size, 0, NULL);
    stream->params.mode = bound > 0 ? H5TWIN_ABS : H5TWIN_LOSSLESS;
    stream->params.error_bound = bound;
    stream->raw_size = VALUES * word_size;
    assert_int_equal((framed ? h5twin_encode
                             : h5twin_encode_payload)(&stream->params, NULL, packed, sizeof packed,
                                                      src, stream->raw_size, &stream->size),
                     H5TWIN_OK);
    stream->bytes = test_page_copy(packed, stream->size);
    stream->dst = test_page_alloc(stream->raw_size);
}

static void
free_stream(struct stream *stream)
{
    test_page_free(stream->bytes, stream->size);
    test_page_free(stream->dst, stream->raw_size);
}

static enum h5twin_status
decode_bare(struct stream *stream, const uint8_t *src, size_t src_size)
{
    return h5twin_decode_payload(&stream->params, NULL, stream->dst, stream->raw_size, src,
                                 src_size);
}

static void
for_each_kind(void (*check)(struct stream *stream), bool framed)
{
    static const double bounds[] = {0, 1e-1, 1e-4};
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        for (unsigned i = 0; i < 3; i++) {
            struct stream stream;
            make_stream(&stream, word_size, bounds[i], framed);
            check(&stream);
            free_stream(&stream);
        }
    }
}

static void
check_truncations(struct stream *stream)
{
    assert_int_equal(decode_bare(stream, stream->bytes, stream->size), H5TWIN_OK);
    for (size_t size = 0; size < stream->size; size++) {
        uint8_t *const cut = test_page_copy(stream->bytes, size);
        assert_int_not_equal(decode_bare(stream, cut, size), H5TWIN_OK);
        test_page_free(cut, size);
    }
}

static void
test_every_truncation_is_refused(void **state)
{
    (void)state;
    for_each_kind(check_truncations, false);
}

/* Everything but the packed bits: size, table, widths and trailers, is covered by checks. */
static bool
is_checked_byte(const struct stream *stream, size_t at)
{
    const size_t blocks = (stream->raw_size + 16383) / 16384;
    const size_t start = 8 + 2 * blocks;
    const size_t first_size = h5twin_load16(stream->bytes + 8);
    return at < start || (first_size < 16384 && at < start + 32) ||
           (first_size < 16384 && at >= start + first_size - 2 && at < start + first_size);
}

static void
check_flips(struct stream *stream)
{
    for (size_t bit = 0; bit < 8 * stream->size; bit += TEST_SLOWNESS) {
        const bool checked = is_checked_byte(stream, bit / 8);
        stream->bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        const enum h5twin_status status = decode_bare(stream, stream->bytes, stream->size);
        stream->bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        assert_true(status == H5TWIN_OK
                        ? !checked
                        : status == H5TWIN_ERR_CORRUPT || status == H5TWIN_ERR_SRC_SHORT);
    }
}

static void
test_every_flipped_bit_is_refused_or_changes_values(void **state)
{
    (void)state;
    for_each_kind(check_flips, false);
}

static void
check_random_bytes(struct stream *stream)
{
    uint64_t seed = 7;
    for (unsigned round = 0; round < 3000; round++) {
        uint8_t saved[8];
        const size_t at = test_random(&seed) % (stream->size - 8);
        const size_t where = round % 2 == 0 ? at : at % 60; /* often in the headers */
        memcpy(saved, stream->bytes + where, sizeof saved);
        h5twin_store64(stream->bytes + where, test_random(&seed));
        const enum h5twin_status status = decode_bare(stream, stream->bytes, stream->size);
        assert_true(status == H5TWIN_OK || status == H5TWIN_ERR_CORRUPT ||
                    status == H5TWIN_ERR_SRC_SHORT);
        uint64_t raw_size;
        (void)h5twin_payload_raw_size(&stream->params, stream->bytes, stream->size, &raw_size);
        memcpy(stream->bytes + where, saved, sizeof saved);
    }
    assert_int_equal(decode_bare(stream, stream->bytes, stream->size), H5TWIN_OK);
}

static void
test_random_damage_never_escapes_the_buffers(void **state)
{
    (void)state;
    for_each_kind(check_random_bytes, false);
}

static void
check_other_sizes(struct stream *stream)
{
    const size_t sizes[] = {0, 1, stream->raw_size - stream->params.element_size,
                            stream->raw_size - 1};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(h5twin_decode_payload(&stream->params, NULL, stream->dst, sizes[i],
                                               stream->bytes, stream->size),
                         H5TWIN_ERR_CORRUPT);
    }
}

static void
test_a_stream_of_another_size_is_refused(void **state)
{
    (void)state;
    for_each_kind(check_other_sizes, false);
}

static void
check_framed_flips(struct stream *stream)
{
    size_t dst_size = 77;
    for (size_t bit = 0; bit < 8 * stream->size; bit += bit < 8 * 200 ? 1 : 13) {
        stream->bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        assert_int_not_equal(h5twin_decode(NULL, stream->dst, stream->raw_size, stream->bytes,
                                           stream->size, &dst_size),
                             H5TWIN_OK);
        struct h5twin_info info;
        (void)h5twin_inspect(stream->bytes, stream->size, &info);
        stream->bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    assert_int_equal(dst_size, 77);
    assert_int_equal(h5twin_decode(NULL, stream->dst, stream->raw_size - 1, stream->bytes,
                                   stream->size, &dst_size),
                     H5TWIN_ERR_DST_SMALL);
}

static void
test_every_flipped_bit_of_a_chunk_is_refused(void **state)
{
    (void)state;
    for_each_kind(check_framed_flips, true);
}

/* A block of 32 rows of 512 bytes, 128 words each: the first row's words in so many bits, the
 * others in none. Sizes agree. */
static enum h5twin_status
decode_width(uint8_t width_bits)
{
    static uint8_t bytes[8 + 2 + 32 + 16 * 64 + 2], array[16384];
    struct h5twin_params params;
    const size_t packed = 16 * (size_t)width_bits, stored = 32 + packed + 2;
    memset(bytes, 0, sizeof bytes);
    h5twin_store64(bytes, sizeof array);
    h5twin_store16(bytes + 8, (uint16_t)stored);
    bytes[10] = width_bits;
    h5twin_store16(bytes + 10 + 32 + packed, (uint16_t)sizeof array);
    h5twin_params_init(&params, H5TWIN_SLEEK);
    h5twin_params_set_array(&params, H5TWIN_FLOAT, 4, 0, NULL);
    return h5twin_decode_payload(&params, NULL, array, sizeof array, bytes, 10 + stored);
}

static void
test_widths_are_at_most_a_word(void **state)
{
    (void)state;
    assert_int_equal(decode_width(0), H5TWIN_OK);
    assert_int_equal(decode_width(32), H5TWIN_OK);
    assert_int_equal(decode_width(33), H5TWIN_ERR_CORRUPT);
    assert_int_equal(decode_width(64), H5TWIN_ERR_CORRUPT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widths_are_at_most_a_word),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_every_flipped_bit_is_refused_or_changes_values),
        cmocka_unit_test(test_random_damage_never_escapes_the_buffers),
        cmocka_unit_test(test_a_stream_of_another_size_is_refused),
        cmocka_unit_test(test_every_flipped_bit_of_a_chunk_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
