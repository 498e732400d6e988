/* SPDX-License-Identifier: BSD-3-Clause
 * test_frame.c: chunks that were cut, changed or never were chunks. Each is an error and nothing
 * else: no crash, no byte written outside the destination, no size changed. */
#include "support.h"

#include "common/bytes.h"
#include "frame.h"

#include "../forgeries/forgeries.h"

#include <stdlib.h>
#include <string.h>

#define VALUE_COUNT 700u
#define UNTOUCHED   ((size_t)0x5EED)

struct chunk {
    uint8_t *at; /* exactly size bytes, so that a sanitizer sees a read beyond */
    size_t size;
    size_t raw_size;
};

static struct chunk
new_chunk_of(const char *spec, const char *type, const char *dims)
{
    struct h5twin_params params;
    assert_int_equal(test_params(&params, spec, type, dims), H5TWIN_OK);
    struct chunk chunk = {.raw_size = (size_t)params.dims[0] * params.element_size};
    const size_t capacity = h5twin_bound(&params, chunk.raw_size);
    uint8_t *const values = test_alloc(chunk.raw_size), *const room = test_alloc(capacity);
    test_fill(values, chunk.raw_size, params.element_size, TEST_STEPS, 1);
    assert_int_equal(
        h5twin_encode(&params, NULL, room, capacity, values, chunk.raw_size, &chunk.size),
        H5TWIN_OK);
    chunk.at = test_alloc(chunk.size);
    memcpy(chunk.at, room, chunk.size);
    free(values);
    free(room);
    return chunk;
}

/* A small chunk of this spec that is not stored raw; ndzip's reference layout wants 4096 values. */
static struct chunk
new_chunk(const char *spec, const char *type)
{
    struct chunk chunk = new_chunk_of(spec, type, "700");
    if ((chunk.at[6] & 1u) != 0) {
        free(chunk.at);
        chunk = new_chunk_of(spec, type, "4096");
    }
    assert_int_equal(chunk.at[6], 0);
    return chunk;
}

/* Decode into a guarded buffer of exactly raw_size bytes. */
static enum h5twin_status
decode(const uint8_t *src, size_t src_size, size_t raw_size)
{
    struct test_guarded back = test_guarded_new(raw_size, 0);
    size_t back_size = UNTOUCHED;
    const enum h5twin_status status =
        h5twin_decode(NULL, back.at, raw_size, src, src_size, &back_size);
    test_guarded_check(&back);
    if (status == H5TWIN_OK) {
        assert_true(back_size <= raw_size);
    } else {
        assert_int_equal(back_size, UNTOUCHED);
    }
    test_guarded_free(&back);
    return status;
}

/* Call check for a chunk of every spec and both precisions. */
static void
for_each_chunk(void (*check)(struct chunk *chunk))
{
    const char *spec;
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        for (unsigned wide = 0; wide < 2; wide++) {
            struct chunk chunk = new_chunk(spec, wide ? "f64" : "f32");
            assert_int_equal(decode(chunk.at, chunk.size, chunk.raw_size), H5TWIN_OK);
            check(&chunk);
            free(chunk.at);
        }
    }
}

/* ---- cut and changed ---- */

static void
check_cuts(struct chunk *chunk)
{
    for (size_t size = 0; size < chunk->size; size++) {
        uint8_t *const cut = test_alloc(size);
        memcpy(cut, chunk->at, size);
        const enum h5twin_status status = decode(cut, size, chunk->raw_size);
        assert_int_not_equal(status, H5TWIN_OK);
        if (size >= H5TWIN_FRAME_BYTES) { /* and with a checksum that fits */
            test_reseal(cut, size);
            assert_int_not_equal(decode(cut, size, chunk->raw_size), H5TWIN_OK);
        }
        free(cut);
    }
}

static void
test_a_chunk_cut_anywhere_is_refused(void **state)
{
    (void)state;
    for_each_chunk(check_cuts);
}

static void
check_appended_byte(struct chunk *chunk)
{
    uint8_t *const longer = test_alloc(chunk->size + 1);
    memcpy(longer, chunk->at, chunk->size);
    longer[chunk->size] = 0;
    assert_int_not_equal(decode(longer, chunk->size + 1, chunk->raw_size), H5TWIN_OK);
    test_reseal(longer, chunk->size + 1);
    assert_int_not_equal(decode(longer, chunk->size + 1, chunk->raw_size), H5TWIN_OK);
    free(longer);
}

static void
test_a_chunk_with_a_byte_too_many_is_refused(void **state)
{
    (void)state;
    for_each_chunk(check_appended_byte);
}

static void
check_flips(struct chunk *chunk)
{
    for (size_t bit = 0; bit < 8 * chunk->size; bit += TEST_SLOWNESS) {
        chunk->at[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        assert_int_not_equal(decode(chunk->at, chunk->size, chunk->raw_size), H5TWIN_OK);
        chunk->at[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
}

static void
test_every_flipped_bit_is_noticed(void **state)
{
    (void)state;
    for_each_chunk(check_flips);
}

/* The checksum stops accidents; a forged chunk must still stay inside its buffers. */
static void
check_resealed_flips(struct chunk *chunk)
{
    uint8_t *const forged = test_alloc(chunk->size);
    for (size_t bit = 0; bit < 8 * chunk->size; bit++) {
        memcpy(forged, chunk->at, chunk->size);
        forged[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        test_reseal(forged, chunk->size);
        (void)decode(forged, chunk->size, chunk->raw_size);
    }
    free(forged);
}

static void
test_forged_chunks_stay_inside_their_buffers(void **state)
{
    (void)state;
    for_each_chunk(check_resealed_flips);
}

/* ---- the frame's fields ---- */

/* Status of the chunk with one byte replaced and the checksum made to fit. */
static enum h5twin_status
status_with_byte(const struct chunk *chunk, size_t offset, uint8_t value)
{
    uint8_t *const forged = test_alloc(chunk->size);
    memcpy(forged, chunk->at, chunk->size);
    forged[offset] = value;
    test_reseal(forged, chunk->size);
    const enum h5twin_status status = decode(forged, chunk->size, chunk->raw_size);
    free(forged);
    return status;
}

static void
check_fields(struct chunk *chunk)
{
    assert_int_equal(status_with_byte(chunk, 0, 'h'), H5TWIN_ERR_MAGIC);
    assert_int_equal(status_with_byte(chunk, 4, 0), H5TWIN_ERR_CORRUPT);
    for (unsigned version = 2; version < 256; version++) {
        assert_int_equal(status_with_byte(chunk, 4, (uint8_t)version), H5TWIN_ERR_VERSION);
    }
    for (unsigned codec = 0; codec < 256; codec++) {
        if (h5twin_codec_by_id((enum h5twin_codec_id)codec) == NULL) {
            assert_int_equal(status_with_byte(chunk, 5, (uint8_t)codec), H5TWIN_ERR_VERSION);
        }
    }
    for (unsigned flags = 2; flags < 256; flags++) {
        assert_int_equal(status_with_byte(chunk, 6, (uint8_t)flags), H5TWIN_ERR_VERSION);
    }
    assert_int_not_equal(status_with_byte(chunk, 6, 1), H5TWIN_OK); /* not raw */
    for (unsigned size_log2 = 4; size_log2 < 16; size_log2++) {
        assert_int_equal(status_with_byte(chunk, 7, (uint8_t)size_log2), H5TWIN_ERR_CORRUPT);
    }
    for (unsigned kind = 3; kind < 8; kind++) {
        const uint8_t element = (uint8_t)((chunk->at[7] & 0x0Fu) | (kind << 4));
        assert_int_equal(status_with_byte(chunk, 7, element), H5TWIN_ERR_CORRUPT);
    }
    const uint8_t codec = chunk->at[5];
    const bool takes_small_words = codec == H5TWIN_E2MC || codec == H5TWIN_CASCADE;
    for (unsigned size_log2 = 0; !takes_small_words && size_log2 < 2; size_log2++) {
        assert_int_equal(status_with_byte(chunk, 7, (uint8_t)size_log2), H5TWIN_ERR_CORRUPT);
    }
    for (size_t reserved = 36; codec == H5TWIN_NDZIP && reserved < 40; reserved++) {
        assert_int_equal(status_with_byte(chunk, reserved, 1), H5TWIN_ERR_CORRUPT);
    }
}

static void
test_unknown_frame_fields_are_refused(void **state)
{
    (void)state;
    for_each_chunk(check_fields);
}

/* E2MC only repeats its stream for people. */
static void
check_parameter(struct chunk *chunk)
{
    const uint32_t own = h5twin_load32(chunk->at + 16);
    const uint8_t codec = chunk->at[5];
    const bool is_known = codec == H5TWIN_GFC || codec == H5TWIN_CASCADE || codec == H5TWIN_LATTICE;
    const uint32_t others[] = {UINT32_MAX, own + 1, own - 1};
    const size_t count = is_known ? TEST_LENGTH(others) : codec != H5TWIN_E2MC;
    for (size_t i = 0; i < count; i++) {
        h5twin_store32(chunk->at + 16, others[i]);
        test_reseal(chunk->at, chunk->size);
        const enum h5twin_status status = decode(chunk->at, chunk->size, chunk->raw_size);
        if (status != H5TWIN_ERR_CORRUPT) {
            fail_msg("codec %u, parameter %u", codec, (unsigned)others[i]);
        }
    }
}

static void
test_a_parameter_of_another_payload_is_refused(void **state)
{
    (void)state;
    for_each_chunk(check_parameter);
}

/* What follows from the frame alone in a raw chunk: 24 bytes and the array, parameter 0. */
static void
test_raw_chunks_have_one_form(void **state)
{
    (void)state;
    uint8_t chunk[24 + 8 + 1] = {'H', '5', 'T', 'W', 1, 1, 1, 2, 8};
    for (uint32_t codec = 0; codec < h5twin_codec_count(); codec++) {
        chunk[5] = (uint8_t)h5twin_codec_at(codec)->id;
        chunk[16] = 0;
        test_reseal(chunk, 32);
        assert_int_equal(decode(chunk, 32, 8), H5TWIN_OK);
        test_reseal(chunk, 33);
        assert_int_equal(decode(chunk, 33, 8), H5TWIN_ERR_CORRUPT);
        test_reseal(chunk, 31);
        assert_int_equal(decode(chunk, 31, 8), H5TWIN_ERR_SRC_SHORT);
        chunk[16] = 1;
        test_reseal(chunk, 32);
        assert_int_equal(decode(chunk, 32, 8), H5TWIN_ERR_CORRUPT);
    }
}

/* ---- the table "What a decoder refuses" of codec/FORMAT.md ---- */

static enum h5twin_status
status_of_forged(const struct forged_chunk *forged)
{
    static uint8_t chunk[FORGERY_BYTES];
    const size_t size = forged_chunk_make(forged, chunk);
    uint8_t *const exact = test_alloc(size);
    memcpy(exact, chunk, size);
    const enum h5twin_status status = decode(exact, size, 1024);
    free(exact);
    return status;
}

static void
test_each_rule_of_the_frame(void **state)
{
    (void)state;
    size_t count;
    const struct forged_chunk *const all = forged_chunks(&count);
    unsigned failed = 0;
    for (size_t i = 0; i < count; i++) {
        const enum h5twin_status status = status_of_forged(&all[i]);
        if (status != all[i].status) {
            print_error("%s: status %d, not %d\n", all[i].rule, (int)status, (int)all[i].status);
            failed++;
        }
    }
    assert_int_equal(failed, 0);
}

/* A caller may allocate what inspect says: it must not be talked into too much. */
static void
check_raw_size(struct chunk *chunk)
{
    const uint64_t lies[] = {0,
                             1,
                             4,
                             chunk->raw_size - 8,
                             chunk->raw_size + 8,
                             UINT64_C(1) << 31,
                             UINT64_C(1) << 32,
                             UINT64_C(1) << 40,
                             UINT64_C(1) << 63,
                             UINT64_MAX - 7,
                             UINT64_MAX};
    for (size_t i = 0; i < TEST_LENGTH(lies); i++) {
        for (uint8_t raw = 0; raw < 2; raw++) {
            struct h5twin_info info;
            uint8_t *const forged = test_alloc(chunk->size);
            memcpy(forged, chunk->at, chunk->size);
            forged[6] = raw;
            h5twin_store64(forged + 8, lies[i]);
            test_reseal(forged, chunk->size);
            assert_int_not_equal(h5twin_inspect(forged, chunk->size, &info), H5TWIN_OK);
            assert_int_not_equal(decode(forged, chunk->size, chunk->raw_size), H5TWIN_OK);
            free(forged);
        }
    }
}

static void
test_a_false_raw_size_is_refused_before_anyone_allocates(void **state)
{
    (void)state;
    for_each_chunk(check_raw_size);
}

/* ---- buffers ---- */

static void
check_capacity(struct chunk *chunk)
{
    assert_int_equal(decode(chunk->at, chunk->size, chunk->raw_size - 1), H5TWIN_ERR_DST_SMALL);
    assert_int_equal(decode(chunk->at, chunk->size, 0), H5TWIN_ERR_DST_SMALL);
    assert_int_equal(decode(chunk->at, chunk->size, chunk->raw_size + 100), H5TWIN_OK);
    size_t size;
    assert_int_equal(h5twin_decode(NULL, NULL, chunk->raw_size, chunk->at, chunk->size, &size),
                     H5TWIN_ERR_ARG);
    assert_int_equal(h5twin_decode(NULL, chunk->at, 0, NULL, 0, &size), H5TWIN_ERR_ARG);
}

static void
test_a_small_destination_is_refused_when_decoding(void **state)
{
    (void)state;
    for_each_chunk(check_capacity);
}

static void
test_a_small_destination_is_refused_when_encoding(void **state)
{
    (void)state;
    const char *spec;
    uint8_t values[4 * VALUE_COUNT];
    test_fill(values, sizeof values, 4, TEST_ZERO, 1);
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        struct h5twin_params params;
        assert_int_equal(test_params(&params, spec, "f32", "700"), H5TWIN_OK);
        const size_t capacity = h5twin_bound(&params, sizeof values);
        struct test_guarded dst = test_guarded_new(capacity, 0);
        size_t dst_size = UNTOUCHED;
        assert_int_equal(
            h5twin_encode(&params, NULL, dst.at, capacity - 1, values, sizeof values, &dst_size),
            H5TWIN_ERR_DST_SMALL);
        assert_int_equal(
            h5twin_encode_payload(&params, NULL, dst.at, 0, values, sizeof values, &dst_size),
            H5TWIN_ERR_DST_SMALL);
        assert_int_equal(dst_size, UNTOUCHED);
        test_guarded_check(&dst);
        test_guarded_free(&dst);
    }
}

static void
test_raw_chunks_add_24_bytes_and_are_checked_too(void **state)
{
    (void)state;
    const char *spec;
    uint8_t values[4 * VALUE_COUNT], back[sizeof values];
    test_fill(values, sizeof values, 4, TEST_RANDOM, 1);
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        struct h5twin_params params;
        assert_int_equal(test_params(&params, spec, "u32", "700"), H5TWIN_OK);
        const size_t capacity = h5twin_bound(&params, sizeof values);
        uint8_t *const chunk = test_alloc(capacity);
        size_t chunk_size = 0, back_size = 0;
        assert_int_equal(
            h5twin_encode(&params, NULL, chunk, capacity, values, sizeof values, &chunk_size),
            H5TWIN_OK);
        assert_int_equal(chunk_size, sizeof values + 24);
        assert_int_equal(h5twin_decode(NULL, back, sizeof back, chunk, chunk_size, &back_size),
                         H5TWIN_OK);
        assert_memory_equal(back, values, sizeof values);
        chunk[chunk_size - 1] ^= 1;
        assert_int_equal(h5twin_decode(NULL, back, sizeof back, chunk, chunk_size, &back_size),
                         H5TWIN_ERR_CHECKSUM);
        assert_int_not_equal(
            h5twin_decode(NULL, back, sizeof back, chunk, chunk_size - 1, &back_size), H5TWIN_OK);
        free(chunk);
    }
}

/* An array whose bound does not fit in size_t is refused, not wrapped around. */
static void
test_sizes_near_the_end_of_memory_are_refused(void **state)
{
    (void)state;
    const char *spec;
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        struct h5twin_params params;
        assert_int_equal(test_params(&params, spec, "f64", "-"), H5TWIN_OK);
        for (size_t less = 0; less < 64; less++) {
            assert_int_equal(h5twin_bound(&params, SIZE_MAX - less), 0);
        }
        const size_t bound = h5twin_bound(&params, SIZE_MAX / 2);
        assert_true(bound == 0 || bound > SIZE_MAX / 2);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_chunk_cut_anywhere_is_refused),
        cmocka_unit_test(test_a_chunk_with_a_byte_too_many_is_refused),
        cmocka_unit_test(test_every_flipped_bit_is_noticed),
        cmocka_unit_test(test_forged_chunks_stay_inside_their_buffers),
        cmocka_unit_test(test_unknown_frame_fields_are_refused),
        cmocka_unit_test(test_a_parameter_of_another_payload_is_refused),
        cmocka_unit_test(test_raw_chunks_have_one_form),
        cmocka_unit_test(test_each_rule_of_the_frame),
        cmocka_unit_test(test_a_false_raw_size_is_refused_before_anyone_allocates),
        cmocka_unit_test(test_a_small_destination_is_refused_when_decoding),
        cmocka_unit_test(test_a_small_destination_is_refused_when_encoding),
        cmocka_unit_test(test_raw_chunks_add_24_bytes_and_are_checked_too),
        cmocka_unit_test(test_sizes_near_the_end_of_memory_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
