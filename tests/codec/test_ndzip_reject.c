/* SPDX-License-Identifier: BSD-3-Clause
 * test_ndzip_reject.c: damaged streams fail or decode to something; no byte outside is touched
 * (buffers are exact, so a sanitizer sees it). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ndzip_support.h"
#include "rules.h"
#include "support.h"

struct sample {
    struct h5twin_job job;
    uint8_t *stream;
    size_t size;
    uint8_t *back;
};

static struct sample
make_sample(unsigned layout, unsigned word_size, unsigned rank, const uint64_t *dims,
            enum fill fill)
{
    struct sample sample = {.job = support_job(layout, word_size, rank, dims)};
    assert_int_equal(h5twin_ndzip_codec.prepare(&sample.job), H5TWIN_OK);
    uint8_t *const src = malloc(sample.job.raw_size);
    uint8_t *const dst = malloc(h5twin_ndzip_codec.bound(&sample.job));
    support_fill(src, sample.job.raw_size / word_size, word_size, fill);
    assert_int_equal(h5twin_ndzip_codec.encode(&sample.job, dst, src, &sample.size), H5TWIN_OK);
    sample.stream = malloc(sample.size);
    memcpy(sample.stream, dst, sample.size);
    sample.back = malloc(sample.job.raw_size);
    free(src);
    free(dst);
    return sample;
}

static void
free_sample(struct sample *sample)
{
    free(sample->stream);
    free(sample->back);
}

static enum h5twin_status
decode_copy(const struct sample *sample, size_t size)
{
    uint8_t *const copy = malloc(size + 1);
    memcpy(copy + 1, sample->stream, size);
    const enum h5twin_status status =
        h5twin_ndzip_codec.decode(&sample->job, sample->back, copy + 1, size);
    free(copy);
    return status;
}

static void
check_damage(unsigned layout, unsigned word_size, unsigned rank, const uint64_t *dims,
             enum fill fill)
{
    struct sample sample = make_sample(layout, word_size, rank, dims, fill);
    const size_t step = sample.size > 3000 ? 61 : 1;
    for (size_t size = 0; size < sample.size; size += step) {
        const enum h5twin_status status = decode_copy(&sample, size);
        assert_true(status == H5TWIN_ERR_CORRUPT || status == H5TWIN_ERR_SRC_SHORT);
    }
    for (size_t bit = 0; bit < 8 * sample.size; bit += bit < 9000 ? 1 : 487) {
        sample.stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
        const enum h5twin_status status = decode_copy(&sample, sample.size);
        assert_true(status == H5TWIN_OK || status == H5TWIN_ERR_CORRUPT ||
                    status == H5TWIN_ERR_SRC_SHORT);
        sample.stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(decode_copy(&sample, sample.size), H5TWIN_OK);
    /* One byte too many. */
    uint8_t *const longer = calloc(1, sample.size + 1);
    memcpy(longer, sample.stream, sample.size);
    assert_int_not_equal(
        h5twin_ndzip_codec.decode(&sample.job, sample.back, longer, sample.size + 1), H5TWIN_OK);
    free(longer);
    free_sample(&sample);
}

static void
test_damaged_streams_never_overrun(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned layout = i & 1u, word_size = i & 2u ? 8 : 4;
        check_damage(layout, word_size, 1, (uint64_t[]){4100}, FILL_ZERO);
        check_damage(layout, word_size, 1, (uint64_t[]){4100}, FILL_MIXED);
        check_damage(layout, word_size, 2, (uint64_t[]){64, 65}, FILL_SMOOTH);
        check_damage(layout, word_size, 3, (uint64_t[]){16, 17, 33}, FILL_SMOOTH);
        check_damage(layout, word_size, 3, (uint64_t[]){16, 17, 18}, FILL_NOISE);
    }
}

static void
test_a_changed_table_or_head_is_refused(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned layout = i & 1u, word_size = i & 2u ? 8 : 4;
        struct sample sample =
            make_sample(layout, word_size, 3, (uint64_t[]){16, 16, 48}, FILL_SMOOTH);
        const size_t entry_size = layout == H5TWIN_NDZIP_REFERENCE ? 4 : 2;
        for (size_t bit = 0; bit < 8 * 3 * entry_size; bit++) {
            sample.stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
            const enum h5twin_status status = decode_copy(&sample, sample.size);
            /* Another mapping is a valid stream of other values. */
            if (layout == H5TWIN_NDZIP_REFERENCE || bit % 16 != 13) {
                assert_int_not_equal(status, H5TWIN_OK);
            }
            sample.stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        /* The reference layout has no gap behind its table, or one that is not looked at. */
        const size_t table_size = (3 * entry_size + word_size - 1) / word_size * word_size;
        const size_t begin = layout == H5TWIN_NDZIP_REFERENCE ? table_size : 3 * entry_size;
        for (size_t bit = 8 * begin; bit < 8 * (table_size + word_size); bit++) {
            sample.stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_int_not_equal(decode_copy(&sample, sample.size), H5TWIN_OK);
            sample.stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        free_sample(&sample);
    }
}

/* 20 values fill less than one group of 32 or 64. Its last stored word has a bit for each place:
 * the lowest one of the code where signs change. */
static void
test_bits_behind_the_last_value_are_refused(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned word_size = i & 1u ? 8 : 4;
        struct sample sample = make_sample(H5TWIN_NDZIP_EXTENDED, word_size, 1, (uint64_t[]){20},
                                           i & 2u ? FILL_SIGNS : FILL_MIXED);
        assert_true(sample.size < 20 * word_size);
        unsigned accepted = 0;
        for (size_t bit = 8 * (sample.size - word_size); bit < 8 * sample.size; bit++) {
            sample.stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
            const enum h5twin_status status = decode_copy(&sample, sample.size);
            assert_true(status == H5TWIN_OK || status == H5TWIN_ERR_CORRUPT);
            accepted += status == H5TWIN_OK;
            sample.stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        assert_int_equal(accepted, 20);
        free_sample(&sample);
    }
}

static void
test_random_bytes_never_overrun(void **unused)
{
    (void)unused;
    uint64_t state = 12345;
    for (unsigned round = 0; round < 2000; round++) {
        const unsigned layout = round & 1u, word_size = round & 2u ? 8 : 4;
        struct h5twin_job job = support_job(layout, word_size, 3, (uint64_t[]){17, 16, 33});
        assert_int_equal(h5twin_ndzip_codec.prepare(&job), H5TWIN_OK);
        const size_t size = support_random(&state) % 4000;
        uint8_t *const stream = malloc(size + 1), *const back = malloc(job.raw_size);
        for (size_t i = 0; i < size; i++) {
            stream[i] = (uint8_t)(support_random(&state) >> 20);
        }
        assert_int_not_equal(h5twin_ndzip_codec.decode(&job, back, stream, size), H5TWIN_OK);
        free(stream);
        free(back);
    }
}

static void
test_impossible_shapes_are_refused(void **unused)
{
    (void)unused;
    struct sample sample = make_sample(1, 4, 3, (uint64_t[]){16, 16, 48}, FILL_SMOOTH);
    const struct h5twin_job good = sample.job;
    static const uint32_t parameters[] = {0x302,   0x3FF,      0x001, 0x401,
                                          0x10301, 0x80000301, 0x201, 0x101};
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        sample.job.parameter = parameters[i];
        assert_int_equal(decode_copy(&sample, sample.size), H5TWIN_ERR_CORRUPT);
    }
    sample.job = good;
    static const uint32_t extents[][3] = {{16, 16, 47},
                                          {0, 16, 48},
                                          {16, 16, 49},
                                          {65536, 65536, 1},
                                          {UINT32_MAX, UINT32_MAX, UINT32_MAX},
                                          {0, UINT32_MAX, UINT32_MAX}};
    for (size_t i = 0; i < sizeof extents / sizeof extents[0]; i++) {
        memcpy(sample.job.extents, extents[i], sizeof extents[i]);
        assert_int_equal(decode_copy(&sample, sample.size), H5TWIN_ERR_CORRUPT);
    }
    free_sample(&sample);
}

static void
test_a_short_stream_claims_no_large_array(void **unused)
{
    (void)unused;
    struct h5twin_job job = {.word_size = 8, .parameter = 0x301, .extents = {1000, 1000, 1000}};
    uint64_t size = 0;
    const uint8_t stream[100] = {0};
    assert_int_equal(h5twin_ndzip_codec.raw_size(&job, stream, sizeof stream, &size),
                     H5TWIN_ERR_SRC_SHORT);
    job.parameter = 0x300;
    assert_int_equal(h5twin_ndzip_codec.raw_size(&job, stream, sizeof stream, &size),
                     H5TWIN_ERR_SRC_SHORT);
    assert_int_equal(size, 0);
}

/* 2^32 words of 0, whose blocks take a word each. Nothing of them is decoded. */
static void
test_arrays_have_fewer_than_2_to_the_32_elements(void **unused)
{
    const size_t block_count = 1u << 20, size = 10 * block_count;
    uint8_t *const stream = calloc(block_count, 10), dst[1];
    (void)unused;
    assert_non_null(stream);
    for (size_t i = 0; i < block_count; i++) {
        stream[2 * i] = 0x01;
        stream[2 * i + 1] = 0x40; /* packed heads */
    }
    for (uint32_t extent = 65535; extent <= 65536; extent++) {
        const struct h5twin_job job = {.word_size = 8,
                                       .raw_size = (size_t)8 * 65536 * extent,
                                       .parameter = 0x201,
                                       .extents = {1, 65536, extent},
                                       .threads = 1};
        uint64_t raw_size = 0;
        assert_int_equal(h5twin_ndzip_codec.raw_size(&job, stream, size, &raw_size),
                         extent == 65535 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT);
        assert_int_equal(raw_size, extent == 65535 ? job.raw_size : 0);
        if (extent == 65536) {
            test_refused(RULE("elements"), h5twin_ndzip_codec.decode(&job, dst, stream, size));
        }
    }
    free(stream);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_streams_never_overrun),
        cmocka_unit_test(test_a_changed_table_or_head_is_refused),
        cmocka_unit_test(test_bits_behind_the_last_value_are_refused),
        cmocka_unit_test(test_arrays_have_fewer_than_2_to_the_32_elements),
        cmocka_unit_test(test_random_bytes_never_overrun),
        cmocka_unit_test(test_impossible_shapes_are_refused),
        cmocka_unit_test(test_a_short_stream_claims_no_large_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
