/* SPDX-License-Identifier: BSD-3-Clause
 * test_ndzip_roundtrip.c: what is encoded decodes, in both layouts, at every edge of the block
 * grid, at unaligned addresses, on any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ndzip/ndzip.h"
#include "ndzip_support.h"

static struct h5twin_crc32c_span
no_crc_yet(void)
{
    return (struct h5twin_crc32c_span){.crc32c = h5twin_crc32c_scalar,
                                       .shift = h5twin_crc32c_shift_scalar};
}

/* The CRC is of the bytes that it says: all but the table and the tail, or none of a raw stream. */
static void
check_crc(const struct h5twin_crc32c_span *crc, const struct h5twin_job *job, const uint8_t *stream,
          size_t size)
{
    const struct h5twin_ndzip_grid grid = h5twin_ndzip_grid_of(job);
    if (grid.layout == H5TWIN_NDZIP_EXTENDED && size == job->raw_size) {
        assert_int_equal(crc->size, 0);
        return;
    }
    assert_int_equal(crc->size, size - grid.table_size - h5twin_ndzip_tail_size(job));
    if (crc->size != 0) {
        assert_int_equal(crc->begin, grid.table_size);
        assert_int_equal(crc->crc, h5twin_crc32c_scalar(0, stream + crc->begin, crc->size));
    }
}

/* Encode on 1 and more threads, decode on 1 and more, at addresses that are odd. Exact
 * allocations: a sanitizer sees one byte too many. */
static void
check_roundtrip(unsigned layout, unsigned word_size, unsigned rank, const uint64_t *dims,
                enum fill fill)
{
    const struct h5twin_codec *const codec = &h5twin_ndzip_codec;
    struct h5twin_job job = support_job(layout, word_size, rank, dims);
    assert_int_equal(codec->prepare(&job), H5TWIN_OK);
    uint8_t *const src = (uint8_t *)malloc(job.raw_size + 1) + 1;
    uint8_t *const back = (uint8_t *)malloc(job.raw_size + 1) + 1;
    support_fill(src, job.raw_size / word_size, word_size, fill);
    memset(src + job.raw_size - job.raw_size % word_size, 0xA5, job.raw_size % word_size);
    const size_t bound = codec->bound(&job);
    uint8_t *const first = (uint8_t *)malloc(bound + 1) + 1;
    uint8_t *const again = (uint8_t *)malloc(bound + 1) + 1;

    size_t size = 0, other_size = 0;
    assert_int_equal(codec->encode(&job, first, src, &size), H5TWIN_OK);
    assert_true(size <= bound);
    if (layout == H5TWIN_NDZIP_EXTENDED) {
        assert_true(size <= job.raw_size);
    }
    uint64_t raw_size = 0;
    assert_int_equal(codec->raw_size(&job, first, size, &raw_size), H5TWIN_OK);
    assert_int_equal(raw_size, job.raw_size);
    for (job.threads = 1; job.threads <= 8; job.threads++) {
        struct h5twin_crc32c_span crc = no_crc_yet();
        job.crc = &crc;
        memset(again, 0xEE, bound);
        assert_int_equal(codec->encode(&job, again, src, &other_size), H5TWIN_OK);
        assert_int_equal(other_size, size);
        assert_memory_equal(again, first, size);
        check_crc(&crc, &job, first, size);
        memset(back, 0x77, job.raw_size);
        /* An exact copy of the stream: a read behind its end is seen. */
        uint8_t *const stream = malloc(size + 1);
        memcpy(stream + 1, first, size);
        crc = no_crc_yet();
        assert_int_equal(codec->decode(&job, back, stream + 1, size), H5TWIN_OK);
        check_crc(&crc, &job, first, size);
        free(stream);
        assert_memory_equal(back, src, job.raw_size);
        if (job.raw_size < 4 * 16384 && job.threads == 2) {
            break; /* enough for arrays of a few blocks */
        }
    }
    free(src - 1);
    free(back - 1);
    free(first - 1);
    free(again - 1);
}

static void
check_all(unsigned rank, const uint64_t *dims)
{
    for (unsigned i = 0; i < 4 * FILL_COUNT; i++) {
        check_roundtrip(i & 1u, i & 2u ? 8 : 4, rank, dims, (enum fill)(i / 4));
    }
}

static void
test_one_axis_of_any_length(void **unused)
{
    (void)unused;
    static const uint64_t lengths[] = {1,    2,    31,   32,    33,    63,    64,
                                       65,   127,  128,  129,   4095,  4096,  4097,
                                       8191, 8192, 8193, 12300, 16383, 16384, 16385};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        check_all(1, &lengths[i]);
    }
}

static void
test_two_axes_around_the_block_side(void **unused)
{
    (void)unused;
    static const uint64_t sides[] = {1, 63, 64, 65, 129};
    for (unsigned i = 0; i < 25; i++) {
        check_all(2, (uint64_t[]){sides[i / 5], sides[i % 5]});
    }
}

static void
test_three_axes_around_the_block_side(void **unused)
{
    (void)unused;
    static const uint64_t sides[] = {1, 15, 16, 17, 33};
    for (unsigned i = 0; i < 125; i++) {
        check_all(3, (uint64_t[]){sides[i / 25], sides[i / 5 % 5], sides[i % 5]});
    }
}

static void
test_more_axes_merge_the_slowest(void **unused)
{
    (void)unused;
    check_all(4, (uint64_t[]){2, 3, 20, 17});
    check_all(5, (uint64_t[]){2, 1, 3, 20, 17});
    struct h5twin_job job = support_job(1, 4, 5, (uint64_t[]){2, 1, 3, 20, 17});
    assert_int_equal(h5twin_ndzip_codec.prepare(&job), H5TWIN_OK);
    assert_int_equal(job.extents[0], 6);
    assert_int_equal(job.extents[1], 20);
    assert_int_equal(job.extents[2], 17);
    assert_int_equal(job.parameter, 0x301);
}

static void
test_unknown_shapes_are_one_row_with_a_tail(void **unused)
{
    (void)unused;
    static const uint64_t sizes[] = {0, 1, 3, 4, 5, 7, 8, 9, 16383, 16385, 32771, 70001};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        check_all(0, &sizes[i]);
    }
}

static void
test_many_blocks_on_many_threads(void **unused)
{
    (void)unused;
    check_all(3, (uint64_t[]){17, 100, 75});
    check_all(2, (uint64_t[]){257, 500});
    check_all(3, (uint64_t[]){15, 120, 130}); /* no block */
    check_all(2, (uint64_t[]){2100, 63});
    check_all(2, (uint64_t[]){1100, 127}); /* as much in blocks as not */
}

static void
test_unused_extents_lead_and_are_one(void **unused)
{
    (void)unused;
    struct h5twin_job job = support_job(0, 8, 2, (uint64_t[]){3, 5});
    assert_int_equal(h5twin_ndzip_codec.prepare(&job), H5TWIN_OK);
    assert_int_equal(job.extents[0], 1);
    assert_int_equal(job.extents[1], 3);
    assert_int_equal(job.extents[2], 5);
    assert_int_equal(job.parameter, 0x200);
}

static void
test_arrays_of_four_gibi_words_are_too_big(void **unused)
{
    (void)unused;
    struct h5twin_job job = support_job(1, 4, 2, (uint64_t[]){65536, 65536});
    assert_int_equal(h5twin_ndzip_codec.prepare(&job), H5TWIN_ERR_TOO_BIG);
    job = support_job(1, 4, 2, (uint64_t[]){65535, 65536});
    assert_int_equal(h5twin_ndzip_codec.prepare(&job), H5TWIN_OK);
    assert_true(h5twin_ndzip_codec.bound(&job) >= job.raw_size);
    /* The reference layout's worst case no longer fits its 32-bit offsets. */
    job = support_job(0, 4, 2, (uint64_t[]){65535, 65536});
    assert_int_equal(h5twin_ndzip_codec.prepare(&job), H5TWIN_ERR_TOO_BIG);
    job = support_job(0, 4, 2, (uint64_t[]){60000, 65536});
    assert_int_equal(h5twin_ndzip_codec.prepare(&job), H5TWIN_OK);
    job = support_job(1, 4, 1, (uint64_t[]){UINT64_C(1) << 33});
    assert_int_equal(h5twin_ndzip_codec.prepare(&job), H5TWIN_ERR_TOO_BIG);
}

/* The example of FORMAT.md: 1-D, 4098 values 1.0, 1.5, 0.5 (4094 times), 2.0, -2.0. */
static void
test_worked_example_is_as_documented(void **unused)
{
    (void)unused;
    static float values[4098];
    for (unsigned i = 0; i < 4098; i++) {
        values[i] = 0.5f;
    }
    values[0] = 1.0f, values[1] = 1.5f, values[4096] = 2.0f, values[4097] = -2.0f;
    static uint8_t dst[20000];
    size_t size;
    struct h5twin_job job = support_job(0, 4, 1, (uint64_t[]){4098});
    assert_int_equal(h5twin_ndzip_codec.prepare(&job), H5TWIN_OK);
    assert_int_equal(h5twin_ndzip_codec.encode(&job, dst, (const uint8_t *)values, &size), 0);
    assert_int_equal(size, 652);
    static const uint8_t begin[] = {0xA0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0};
    assert_memory_equal(dst, begin, sizeof begin);

    job = support_job(1, 4, 1, (uint64_t[]){4098});
    assert_int_equal(h5twin_ndzip_codec.prepare(&job), H5TWIN_OK);
    assert_int_equal(h5twin_ndzip_codec.encode(&job, dst, (const uint8_t *)values, &size), 0);
    static const uint32_t words[] = {
        0x0002600C,                                     /* 12 words, both flags; 2 words, raw */
        0x83800000, 0,          0,          0,          /* heads of the heads */
        0xC0000000, 0xC0000000, 0xC0000000, 0xC0000000, /* the heads' columns */
        0x80000000, 0xA0000000, 0xE0000000, 0x60000000, /* columns 0, 6, 7, 8 */
        0x40000000, 0xC0000000,                         /* the raw block */
    };
    assert_int_equal(size, sizeof words);
    assert_memory_equal(dst, words, sizeof words);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_axis_of_any_length),
        cmocka_unit_test(test_two_axes_around_the_block_side),
        cmocka_unit_test(test_three_axes_around_the_block_side),
        cmocka_unit_test(test_more_axes_merge_the_slowest),
        cmocka_unit_test(test_unknown_shapes_are_one_row_with_a_tail),
        cmocka_unit_test(test_many_blocks_on_many_threads),
        cmocka_unit_test(test_unused_extents_lead_and_are_one),
        cmocka_unit_test(test_arrays_of_four_gibi_words_are_too_big),
        cmocka_unit_test(test_worked_example_is_as_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
