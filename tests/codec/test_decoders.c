/* SPDX-License-Identifier: BSD-3-Clause
 * test_decoders.c: the plain decoders of decoders/ against the library: golden arrays, arrays of
 * every pattern and shape, damaged chunks whose checksum was made right again, the forgeries of
 * lattice, and every field of the frame. (Forgeries of cascade: test_cascade_reject, by way of
 * test_decode_payload.) */
#include "lattice_cases.h"
#include "plain_decoder.h"

#include "../forgeries/forgeries.h"
#include "isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
is_ours(const char *spec)
{
    return strncmp(spec, "cascade", 7) == 0 || strncmp(spec, "lattice", 7) == 0;
}

/* A chunk of the array; free() it. */
static struct test_bytes
encode(const struct h5twin_params *params, const void *array, size_t size)
{
    const size_t capacity = h5twin_bound(params, size);
    struct test_bytes chunk = {.at = test_alloc(capacity)};
    assert_int_equal(h5twin_encode(params, NULL, chunk.at, capacity, array, size, &chunk.size),
                     H5TWIN_OK);
    return chunk;
}

static void
check_golden(const char *table_name)
{
    struct test_table table = test_table_open(table_name);
    char *fields[7];
    unsigned count = 0;
    while (test_table_next(&table, fields, TEST_LENGTH(fields))) {
        if (is_ours(fields[1])) {
            char name[300], hex[65];
            snprintf(name, sizeof name, "inputs/%s", fields[0]);
            const struct test_bytes input = test_golden_read(name);
            struct h5twin_params params;
            assert_int_equal(test_params(&params, fields[1], fields[2], fields[3]), H5TWIN_OK);
            const struct test_bytes chunk = encode(&params, input.at, input.size);
            assert_int_equal(test_plain_decoder(chunk.at, chunk.size), H5TWIN_OK);
            uint8_t *const array = test_alloc(input.size);
            size_t size;
            assert_int_equal(h5twin_decode(NULL, array, input.size, chunk.at, chunk.size, &size),
                             H5TWIN_OK);
            test_sha256(hex, array, size);
            assert_string_equal(hex, fields[6]);
            free(array);
            free(chunk.at);
            free(input.at);
            count++;
        }
    }
    test_table_close(&table);
    assert_int_not_equal(count, 0);
}

static void
test_golden(void **state)
{
    (void)state;
    check_golden("manifest.tsv");
    check_golden("own.tsv");
}

static void
test_kept_streams(void **state)
{
    (void)state;
    struct test_table table = test_table_open("decode_only.tsv");
    char *fields[5];
    unsigned count = 0;
    while (test_table_next(&table, fields, TEST_LENGTH(fields))) {
        if (is_ours(fields[1])) {
            char name[300];
            snprintf(name, sizeof name, "streams/%s", fields[0]);
            const struct test_bytes stream = test_golden_read(name);
            struct h5twin_params params;
            assert_int_equal(test_params(&params, fields[1], fields[2], fields[3]), H5TWIN_OK);
            size_t values = 1;
            for (unsigned axis = 0; axis < params.rank; axis++) {
                values *= (size_t)params.dims[axis];
            }
            test_plain_decoder_of_payload(
                params.codec, params.element_size, values * params.element_size,
                params.codec == H5TWIN_LATTICE ? (uint32_t)values : 0, stream.at, stream.size);
            free(stream.at);
            count++;
        }
    }
    test_table_close(&table);
    assert_int_not_equal(count, 0);
}

/* ---- damage ---- */

/* One to four changes, near the front or anywhere; sometimes the end is cut off, or bytes come to
 * it. The checksum is right again. */
static void
check_damaged(const struct test_bytes *chunk, uint64_t *seed)
{
    const size_t room = chunk->size + 8;
    uint8_t *const copy = test_alloc(room);
    size_t size = chunk->size;
    memcpy(copy, chunk->at, size);
    memset(copy + size, 0, 8);
    switch (test_random(seed) % 8) {
    case 0:
        size = 24 + (size_t)(test_random(seed) % (size - 23));
        break;
    case 1:
        size += (size_t)(1 + test_random(seed) % 8);
        break;
    default:
        break;
    }
    for (unsigned count = (unsigned)(1 + test_random(seed) % 4); count > 0; count--) {
        const size_t most = test_random(seed) % 2 != 0 && size > 100 ? 100 : size;
        const size_t at = 4 + (size_t)(test_random(seed) % (most - 4));
        copy[at] = test_random(seed) % 2 != 0 ? (uint8_t)test_random(seed)
                                              : copy[at] ^ (uint8_t)(1u << test_random(seed) % 8);
    }
    const bool is_other = copy[5] != H5TWIN_CASCADE && copy[5] != H5TWIN_LATTICE;
    copy[5] = is_other ? chunk->at[5] : copy[5]; /* other codecs are not read */
    test_reseal(copy, size);
    (void)test_plain_decoder(copy, size);
    free(copy);
}

static unsigned
damages(void)
{
    const char *const text = getenv("H5TWIN_DECODER_DAMAGES");
    return text == NULL ? 6 / TEST_SLOWNESS : (unsigned)atoi(text);
}

static void
check_array(const char *spec, const char *type, const char *dims, const uint8_t *array, size_t size,
            uint64_t *seed)
{
    struct h5twin_params params;
    if (test_params(&params, spec, type, dims) != H5TWIN_OK) {
        fail_msg("%s", spec);
    }
    params.big_endian = params.kind != H5TWIN_OTHER && test_random(seed) % 4 == 0;
    const struct test_bytes chunk = encode(&params, array, size);
    assert_int_equal(test_plain_decoder(chunk.at, chunk.size), H5TWIN_OK);
    for (unsigned i = 0; i < damages(); i++) {
        check_damaged(&chunk, seed);
    }
    free(chunk.at);
}

static void
test_patterns_and_shapes(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "cascade",
        "cascade:effort=fast",
        "cascade:effort=max",
        "lattice",
        "lattice:abs=1e-3",
        "lattice:noa=1e-4,effort=fast",
        "lattice:rel=1e-3",
        "lattice:abs=1e-2,effort=max,stable=no",
    };
    static const struct {
        const char *dims;
        size_t count;
    } shapes[] = {{"1", 1},         {"2", 2},        {"17", 17},         {"4097", 4097},
                  {"1x1x9", 9},     {"61x67", 4087}, {"16x17x18", 4896}, {"3x5x7x9x2", 1890},
                  {"2x9000", 18000}};
    static const char *const types[] = {"f32", "f64", "i8", "u16", "i32", "i64"};
    static const unsigned word_sizes[] = {4, 8, 1, 2, 4, 8};
    uint64_t seed = 7;
    for (unsigned i = 0; i < TEST_LENGTH(specs); i++) {
        for (unsigned k = 0; k < TEST_LENGTH(shapes); k++) {
            for (unsigned type = 0; type < TEST_LENGTH(types); type++) {
                const enum test_pattern pattern =
                    (enum test_pattern)(test_random(&seed) % TEST_PATTERN_COUNT);
                const size_t size = shapes[k].count * word_sizes[type];
                uint8_t *const array = test_alloc(size);
                test_fill(array, size, word_sizes[type], pattern, seed);
                check_array(specs[i], types[type], shapes[k].dims, array, size, &seed);
                free(array);
            }
        }
    }
}

/* Sizes that are no multiple of the word, and none at all. */
static void
test_odd_sizes(void **state)
{
    (void)state;
    uint64_t seed = 3;
    uint8_t array[1003];
    memset(array, 5, sizeof array);
    for (size_t size = 0; size < sizeof array; size += 1 + size / 3) {
        check_array("cascade", "f32", "-", array, size, &seed);
        check_array("lattice:abs=1", "f64", "-", array, size, &seed);
    }
}

/* Arrays that are hard for lattice, in all of its modes and predictors. */
static void
test_lattice_cases(void **state)
{
    (void)state;
    uint64_t seed = 11;
    const uint64_t count = lattice_case_count(500 / TEST_SLOWNESS);
    for (uint64_t number = 0; number < count; number++) {
        const struct lattice_case item = lattice_case_new(number);
        uint8_t *const payload = test_alloc(item.size + 1);
        size_t size;
        assert_int_equal(h5twin_lattice_encode(&item.settings, h5twin_isa_available(), payload,
                                               item.words, &item.shape, &size),
                         H5TWIN_OK);
        for (unsigned i = 0; i <= damages(); i++) {
            test_plain_decoder_of_payload(H5TWIN_LATTICE, item.settings.word_size, item.size,
                                          (uint32_t)item.shape.count, payload, size);
            const size_t at = (size_t)(test_random(&seed) % (i % 2 != 0 && size > 40 ? 40 : size));
            payload[at] ^= (uint8_t)(1u << test_random(&seed) % 8);
        }
        free(payload);
        free(item.words);
    }
}

/* ---- forgeries ---- */

static void
check_forgery(const struct forgery *forgery)
{
    static uint8_t payload[FORGERY_BYTES];
    struct h5twin_job job;
    const size_t size = forgery_make(forgery, &job, payload);
    test_plain_decoder_of_payload(H5TWIN_LATTICE, job.word_size, job.raw_size, job.parameter,
                                  payload, size);
}

static void
test_lattice_forgeries(void **state)
{
    (void)state;
    const struct forgeries *const all = forgeries_of(H5TWIN_LATTICE);
    assert_int_not_equal(all->refused_count, 0);
    for (size_t i = 0; i < all->refused_count; i++) {
        check_forgery(&all->refused[i]);
    }
    for (size_t i = 0; i < all->accepted_count; i++) {
        check_forgery(&all->accepted[i]);
    }
}

/* ---- the frame ---- */

/* Every value of every byte of the frame, but for other codecs; with the checksum right and not. */
static void
test_every_byte_of_the_frame(void **state)
{
    (void)state;
    static uint8_t array[4000];
    struct h5twin_params params;
    test_fill(array, sizeof array, 4, TEST_SMOOTH, 1);
    for (unsigned is_raw = 0; is_raw < 2; is_raw++) {
        assert_int_equal(test_params(&params, is_raw ? "cascade" : "lattice:abs=1e-2", "f32", "-"),
                         H5TWIN_OK);
        const struct test_bytes chunk = encode(&params, array, is_raw ? 4 : sizeof array);
        for (size_t at = 0; at < 24; at++) {
            for (unsigned value = 0; value < 256; value++) {
                const uint8_t kept = chunk.at[at];
                const bool is_codec = at == 5 && value >= 1 && value <= 7 && value != kept;
                chunk.at[at] = (uint8_t)value;
                if (!is_codec) {
                    if (at >= 8) {
                        (void)test_plain_decoder(chunk.at, chunk.size);
                    }
                    if (at < 20) {
                        test_reseal(chunk.at, chunk.size);
                        (void)test_plain_decoder(chunk.at, chunk.size);
                    }
                }
                chunk.at[at] = kept;
                test_reseal(chunk.at, chunk.size);
            }
        }
        for (size_t cut = 0; cut <= chunk.size; cut++) {
            (void)test_plain_decoder(chunk.at, cut);
        }
        free(chunk.at);
    }
}

/* A version that is not known yet is named as such, and so is another codec. */
static void
test_newer_versions(void **state)
{
    (void)state;
    enum { NEWER = 3, OTHER_CODEC = 5 };
    static uint8_t array[4000];
    static const size_t versions[] = {4, 24}; /* of the frame, of a payload of cascade */
    struct h5twin_params params;
    test_fill(array, sizeof array, 4, TEST_SMOOTH, 1);
    assert_int_equal(test_params(&params, "cascade", "f32", "-"), H5TWIN_OK);
    const struct test_bytes chunk = encode(&params, array, sizeof array);
    for (unsigned i = 0; i < TEST_LENGTH(versions); i++) {
        const uint8_t kept = chunk.at[versions[i]];
        chunk.at[versions[i]] = 99;
        test_reseal(chunk.at, chunk.size);
        assert_int_equal(test_plain_verdict(chunk.at, chunk.size), NEWER);
        chunk.at[versions[i]] = kept;
    }
    chunk.at[5] = H5TWIN_SLEEK;
    test_reseal(chunk.at, chunk.size);
    assert_int_equal(test_plain_verdict(chunk.at, chunk.size), OTHER_CODEC);
    free(chunk.at);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_kept_streams),
        cmocka_unit_test(test_patterns_and_shapes),
        cmocka_unit_test(test_odd_sizes),
        cmocka_unit_test(test_lattice_cases),
        cmocka_unit_test(test_lattice_forgeries),
        cmocka_unit_test(test_every_byte_of_the_frame),
        cmocka_unit_test(test_newer_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
