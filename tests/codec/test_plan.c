/* SPDX-License-Identifier: BSD-3-Clause
 * test_plan.c: a plan made once codes many chunks, as h5twin_encode and h5twin_decode do each
 * alone, and what is decided for it is decided once. */
#include "run/plan.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define VALUES 5000u
#define CHUNKS 3u

enum h5twin_status __wrap_h5twin_params_check(const struct h5twin_params *params);
enum h5twin_status __real_h5twin_params_check(const struct h5twin_params *params);
enum h5twin_status __wrap_h5twin_frame_read(const uint8_t *src, size_t src_size,
                                            struct h5twin_info *info);
enum h5twin_status __real_h5twin_frame_read(const uint8_t *src, size_t src_size,
                                            struct h5twin_info *info);

static unsigned params_checks, frame_reads;

enum h5twin_status
__wrap_h5twin_params_check(const struct h5twin_params *params)
{
    params_checks++;
    return __real_h5twin_params_check(params);
}

enum h5twin_status
__wrap_h5twin_frame_read(const uint8_t *src, size_t src_size, struct h5twin_info *info)
{
    frame_reads++;
    return __real_h5twin_frame_read(src, src_size, info);
}

static void
fill(float *values, unsigned chunk)
{
    for (unsigned i = 0; i < VALUES; i++) {
        values[i] = (float)(i % (97 + chunk)) / 8;
    }
}

static struct h5twin_params
params_for(const struct h5twin_codec_info *codec, bool big_endian)
{
    struct h5twin_params params;
    h5twin_params_init(&params, codec->id);
    h5twin_params_set_array(&params, H5TWIN_FLOAT, sizeof(float), 1, (uint64_t[]){VALUES});
    params.big_endian = big_endian;
    if (codec->lossy) {
        params.mode = H5TWIN_NOA; /* refines the job's parameter: the next chunk begins anew */
        params.error_bound = 1e-3;
    }
    return params;
}

static void
check_chunk(const struct h5twin_plan *plan, const struct h5twin_params *params, const float *values)
{
    const size_t size = VALUES * sizeof *values;
    uint8_t *const chunk = test_alloc(plan->bound), *const same = test_alloc(plan->bound);
    float *const back = test_alloc(size), *const expected = test_alloc(size);
    size_t chunk_size = 0, same_size = 0, back_size = 0;
    assert_int_equal(h5twin_encode(params, NULL, same, plan->bound, values, size, &same_size),
                     H5TWIN_OK);
    assert_int_equal(h5twin_decode(NULL, expected, size, same, same_size, &back_size), H5TWIN_OK);
    params_checks = 0;
    assert_int_equal(h5twin_plan_encode(plan, NULL, chunk, plan->bound - 1, values, &chunk_size),
                     H5TWIN_ERR_DST_SMALL);
    assert_int_equal(h5twin_plan_encode(plan, NULL, chunk, plan->bound, values, &chunk_size),
                     H5TWIN_OK);
    assert_int_equal(params_checks, 0);
    assert_int_equal(chunk_size, same_size);
    assert_memory_equal(chunk, same, same_size);
    struct h5twin_plan decoding;
    frame_reads = 0;
    assert_int_equal(h5twin_plan_for_chunk(&decoding, chunk, chunk_size), H5TWIN_OK);
    assert_int_equal(h5twin_plan_check_size(&decoding, chunk, chunk_size), H5TWIN_OK);
    assert_int_equal(decoding.info.raw_size, size);
    assert_int_equal(h5twin_plan_decode(&decoding, NULL, back, size, chunk, chunk_size, &back_size),
                     H5TWIN_OK);
    assert_int_equal(frame_reads, 1);
    assert_int_equal(back_size, size);
    assert_memory_equal(back, expected, size);
    chunk[chunk_size - 1] ^= 1;
    assert_int_equal(h5twin_plan_decode(&decoding, NULL, back, size, chunk, chunk_size, &back_size),
                     H5TWIN_ERR_CHECKSUM);
    free(chunk);
    free(same);
    free(back);
    free(expected);
}

static void
one_plan_codes_many_chunks(void **state)
{
    (void)state;
    float *const values = test_alloc(VALUES * sizeof *values);
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        for (unsigned big_endian = 0; big_endian < 2; big_endian++) {
            const struct h5twin_params params = params_for(h5twin_codec_at(i), big_endian != 0);
            struct h5twin_plan plan;
            assert_int_equal(h5twin_plan_for_params(&plan, &params, VALUES * sizeof *values, false),
                             H5TWIN_OK);
            assert_true(plan.bound <= h5twin_bound(&params, VALUES * sizeof *values));
            for (unsigned chunk = 0; chunk < CHUNKS; chunk++) {
                fill(values, chunk);
                check_chunk(&plan, &params, values);
            }
        }
    }
    free(values);
}

static void
each_call_decides_once(void **state)
{
    (void)state;
    float values[VALUES], back[VALUES];
    const struct h5twin_params params = params_for(h5twin_codec_at(0), false);
    const size_t capacity = h5twin_bound(&params, sizeof values);
    uint8_t *const chunk = test_alloc(capacity);
    size_t chunk_size, back_size;
    fill(values, 0);
    params_checks = 0;
    frame_reads = 0;
    assert_int_equal(
        h5twin_encode(&params, NULL, chunk, capacity, values, sizeof values, &chunk_size),
        H5TWIN_OK);
    assert_int_equal(params_checks, 1);
    assert_int_equal(h5twin_decode(NULL, back, sizeof back, chunk, chunk_size, &back_size),
                     H5TWIN_OK);
    assert_int_equal(frame_reads, 1);
    assert_int_equal(params_checks, 1);
    free(chunk);
}

static void
refusals_are_those_of_the_calls(void **state)
{
    (void)state;
    struct h5twin_plan plan;
    struct h5twin_params params = params_for(h5twin_codec_at(0), false);
    params.element_size = 0;
    assert_int_equal(h5twin_plan_for_params(&plan, &params, 16, false),
                     h5twin_params_check(&params));
    const uint8_t none[64] = {0};
    assert_int_equal(h5twin_plan_for_chunk(&plan, none, sizeof none), H5TWIN_ERR_MAGIC);
    assert_int_equal(h5twin_plan_for_chunk(&plan, none, 3), H5TWIN_ERR_SRC_SHORT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_plan_codes_many_chunks),
        cmocka_unit_test(each_call_decides_once),
        cmocka_unit_test(refusals_are_those_of_the_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
