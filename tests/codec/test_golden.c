/* SPDX-License-Identifier: BSD-3-Clause
 * test_golden.c: the streams of the authors' own programs, byte for byte; see golden/README.md.
 *
 * Each test walks its table to the end and names the rows that failed before it fails. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_SHOWN 8u

static const struct h5twin_exec one_thread = {.device = H5TWIN_DEVICE_CPU, .threads = 1};
static const struct h5twin_exec three_threads = {.device = H5TWIN_DEVICE_CPU, .threads = 3};

/* Whether a row's spec is for this codec. */
static bool
is_for(const char *spec, const char *codec)
{
    const size_t length = strlen(codec);
    return strncmp(spec, codec, length) == 0 && (spec[length] == ':' || spec[length] == '\0');
}

static void
require_codec(const char *codec)
{
    if (h5twin_codec_by_name(codec) == NULL) {
        fail_msg("codec %s is not in this build", codec);
    }
}

static bool
has_sha256(const void *bytes, size_t size, const char *expected)
{
    char hex[65];
    test_sha256(hex, bytes, size);
    return strcmp(hex, expected) == 0;
}

/* Count a failed row and say so, for the first few. */
static void
report(unsigned *failed, char *const fields[], const char *what)
{
    if ((*failed)++ < ROWS_SHOWN) {
        print_error("%s %s (%s, %s): %s\n", fields[1], fields[0], fields[2], fields[3], what);
    }
}

/* ---- the streams ---- */

/* NULL if the array comes back from the chunk with this digest, else what went wrong. */
static const char *
check_frame(const struct h5twin_params *params, struct test_bytes input, const char *decoded_sha256)
{
    const size_t capacity = h5twin_bound(params, input.size);
    uint8_t *const chunk = test_alloc(capacity);
    uint8_t *const back = test_alloc(input.size);
    const char *what = NULL;
    size_t chunk_size = 0, back_size = 0;
    if (h5twin_encode(params, &three_threads, chunk, capacity, input.at, input.size, &chunk_size) !=
        H5TWIN_OK) {
        what = "cannot encode a framed chunk";
    } else if (chunk_size > input.size + 24) {
        what = "framed chunk larger than input + 24 bytes";
    } else if (h5twin_decode(&three_threads, back, input.size, chunk, chunk_size, &back_size) !=
                   H5TWIN_OK ||
               back_size != input.size) {
        what = "cannot decode the framed chunk";
    } else if (!has_sha256(back, back_size, decoded_sha256) &&
               memcmp(back, input.at, input.size) != 0) {
        /* A chunk that does not shrink is stored as it is, which is better than a lossy one. */
        what = "framed chunk decodes to other values";
    }
    free(chunk);
    free(back);
    return what;
}

static const char *
check_stream(const struct h5twin_params *params, struct test_bytes input, uint8_t *stream,
             size_t capacity, char *const fields[])
{
    size_t size = 0;
    enum h5twin_status status =
        h5twin_encode_payload(params, &one_thread, stream, capacity, input.at, input.size, &size);
    if (status != H5TWIN_OK) {
        return h5twin_status_message(status);
    }
    if (size != strtoull(fields[4], NULL, 10)) {
        return "encoded to another size";
    }
    if (!has_sha256(stream, size, fields[5])) {
        return "encoded to other bytes";
    }
    uint64_t raw_size = 0;
    status = h5twin_payload_raw_size(params, stream, size, &raw_size);
    if (status != H5TWIN_OK || raw_size != input.size) {
        return "the stream is said to have another size";
    }
    uint8_t *const back = test_alloc(input.size);
    status = h5twin_decode_payload(params, &one_thread, back, input.size, stream, size);
    const bool same = status == H5TWIN_OK && has_sha256(back, input.size, fields[6]);
    free(back);
    if (status != H5TWIN_OK) {
        return h5twin_status_message(status);
    }
    if (!same) {
        return "decoded to other values";
    }
    status = h5twin_encode_payload(params, &three_threads, stream, capacity, input.at, input.size,
                                   &size);
    if (status != H5TWIN_OK || !has_sha256(stream, size, fields[5])) {
        return "three threads encoded to other bytes";
    }
    return check_frame(params, input, fields[6]);
}

static void
check_row(char *const fields[], unsigned *failed)
{
    struct h5twin_params params;
    const enum h5twin_status status = test_params(&params, fields[1], fields[2], fields[3]);
    if (status != H5TWIN_OK) {
        report(failed, fields, h5twin_status_message(status));
        return;
    }
    char name[256];
    snprintf(name, sizeof name, "inputs/%s", fields[0]);
    const struct test_bytes input = test_golden_read(name);
    const size_t capacity = h5twin_bound(&params, input.size);
    uint8_t *const stream = test_alloc(capacity);
    const char *const what = check_stream(&params, input, stream, capacity, fields);
    if (what != NULL) {
        report(failed, fields, what);
    }
    free(stream);
    free(input.at);
}

/* All rows of a table that are of the codec. */
static void
check_table(const char *name, const char *codec)
{
    struct test_table table = test_table_open(name);
    char *fields[7];
    unsigned rows = 0, failed = 0;
    while (test_table_next(&table, fields, 7)) {
        if (is_for(fields[1], codec)) {
            rows++;
            check_row(fields, &failed);
        }
    }
    test_table_close(&table);
    assert_true(rows > 0);
    if (failed > 0) {
        fail_msg("%u of %u %s streams differ", failed, rows, codec);
    }
}

static void
test_streams_are_those_of_the_authors(void **state)
{
    require_codec(*state);
    check_table("manifest.tsv", *state);
}

static void
test_streams_are_our_own(void **state)
{
    require_codec(*state);
    check_table("own.tsv", *state);
}

/* ---- streams that we read but do not write, and streams that nobody should read ---- */

/* A bare stream that says itself how large its array is. Returns it, or NULL and the reason. */
static uint8_t *
decode_stored(const struct h5twin_params *params, const char *name, size_t *size,
              enum h5twin_status *status)
{
    const struct test_bytes stream = test_golden_read(name);
    uint64_t raw_size = 0;
    uint8_t *back = NULL;
    *status = h5twin_payload_raw_size(params, stream.at, stream.size, &raw_size);
    if (*status == H5TWIN_OK) {
        *size = (size_t)raw_size;
        back = test_alloc(*size);
        *status = h5twin_decode_payload(params, &one_thread, back, *size, stream.at, stream.size);
    }
    free(stream.at);
    if (*status != H5TWIN_OK) {
        free(back);
        return NULL;
    }
    return back;
}

static void
test_streams_of_others_are_decoded(void **state)
{
    (void)state;
    require_codec("gfc");
    require_codec("cascade");
    struct test_table table = test_table_open("decode_only.tsv");
    char *fields[5];
    unsigned failed = 0;
    while (test_table_next(&table, fields, 5)) {
        struct h5twin_params params;
        assert_int_equal(test_params(&params, fields[1], fields[2], fields[3]), H5TWIN_OK);
        char name[256];
        snprintf(name, sizeof name, "streams/%s", fields[0]);
        enum h5twin_status status;
        size_t size = 0;
        uint8_t *const back = decode_stored(&params, name, &size, &status);
        if (back == NULL) {
            report(&failed, fields, h5twin_status_message(status));
        } else if (!has_sha256(back, size, fields[4])) {
            report(&failed, fields, "decoded to other values");
        }
        free(back);
    }
    test_table_close(&table);
    assert_int_equal(failed, 0);
}

/* A damaged stream is refused when asked for its size, or then when decoded. */
static void
test_bad_streams_are_refused(void **state)
{
    (void)state;
    require_codec("e2mc");
    struct test_table table = test_table_open("bad.tsv");
    char *fields[3];
    unsigned failed = 0;
    while (test_table_next(&table, fields, 3)) {
        struct h5twin_params params;
        assert_int_equal(test_params(&params, fields[1], "f32", "-"), H5TWIN_OK);
        char name[256];
        snprintf(name, sizeof name, "bad/%s", fields[0]);
        enum h5twin_status status;
        size_t size = 0;
        free(decode_stored(&params, name, &size, &status));
        if (status != H5TWIN_ERR_CORRUPT && status != H5TWIN_ERR_SRC_SHORT &&
            status != H5TWIN_ERR_VERSION) {
            print_error("%s (%s): status %d\n", fields[0], fields[2], (int)status);
            failed++;
        }
    }
    test_table_close(&table);
    assert_int_equal(failed, 0);
}

/* ---- where SLEEK's reference breaks its bound, we do not follow ---- */

static bool
is_coded_losslessly(const struct h5twin_params *params, struct test_bytes input)
{
    struct h5twin_params lossless = *params;
    lossless.mode = H5TWIN_LOSSLESS;
    const size_t capacity = h5twin_bound(params, input.size);
    uint8_t *const streams = test_alloc(2 * capacity);
    uint8_t *const back = test_alloc(input.size);
    size_t size = 0, lossless_size = 0;
    const bool same =
        h5twin_encode_payload(params, NULL, streams, capacity, input.at, input.size, &size) ==
            H5TWIN_OK &&
        h5twin_encode_payload(&lossless, NULL, streams + capacity, capacity, input.at, input.size,
                              &lossless_size) == H5TWIN_OK &&
        size == lossless_size && memcmp(streams, streams + capacity, size) == 0 &&
        h5twin_decode_payload(params, NULL, back, input.size, streams, size) == H5TWIN_OK &&
        memcmp(back, input.at, input.size) == 0;
    free(streams);
    free(back);
    return same;
}

static void
test_sleek_exceptions_are_refused_or_lossless(void **state)
{
    (void)state;
    struct test_table table = test_table_open("exceptions.tsv");
    char *fields[6];
    unsigned failed = 0;
    while (test_table_next(&table, fields, 6)) {
        struct h5twin_params params;
        const enum h5twin_status status = test_params(&params, fields[1], fields[2], fields[3]);
        if (strcmp(fields[4], "refused") == 0) {
            if (status != H5TWIN_ERR_BOUND) {
                report(&failed, fields, "was not refused");
            }
            continue;
        }
        assert_int_equal(status, H5TWIN_OK);
        char name[256];
        snprintf(name, sizeof name, "inputs/%s", fields[0]);
        const struct test_bytes input = test_golden_read(name);
        if (!is_coded_losslessly(&params, input)) {
            report(&failed, fields, "was not coded losslessly");
        }
        free(input.at);
    }
    test_table_close(&table);
    assert_int_equal(failed, 0);
}

/* Tests of a codec's streams. */
static struct CMUnitTest
streams_of(char *codec, const char *name)
{
    return (struct CMUnitTest){
        .name = name, .test_func = test_streams_are_those_of_the_authors, .initial_state = codec};
}

static struct CMUnitTest
own_streams_of(char *codec, const char *name)
{
    return (struct CMUnitTest){
        .name = name, .test_func = test_streams_are_our_own, .initial_state = codec};
}

int
main(void)
{
    static char sleek[] = "sleek", fpcompress[] = "fpcompress", ndzip[] = "ndzip", gfc[] = "gfc",
                e2mc[] = "e2mc", cascade[] = "cascade", lattice[] = "lattice";
    const struct CMUnitTest tests[] = {
        streams_of(sleek, "test_sleek_streams_are_those_of_the_authors"),
        streams_of(fpcompress, "test_fpcompress_streams_are_those_of_the_authors"),
        streams_of(ndzip, "test_ndzip_streams_are_those_of_the_authors"),
        streams_of(gfc, "test_gfc_streams_are_those_of_the_authors"),
        streams_of(e2mc, "test_e2mc_streams_are_those_of_the_format"),
        streams_of(cascade, "test_cascade_streams_are_those_of_the_format"),
        streams_of(lattice, "test_lattice_streams_are_those_of_the_format"),
        own_streams_of(cascade, "test_cascade_streams_are_our_own"),
        own_streams_of(lattice, "test_lattice_streams_are_our_own"),
        cmocka_unit_test(test_streams_of_others_are_decoded),
        cmocka_unit_test(test_bad_streams_are_refused),
        cmocka_unit_test(test_sleek_exceptions_are_refused_or_lossless),
    };
    /* A codec without golden streams of its own kind is a codec that was forgotten. */
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const char *const name = h5twin_codec_at(i)->name;
        bool has_test = strcmp(name, "toy") == 0;
        for (size_t at = 0; at < sizeof tests / sizeof tests[0]; at++) {
            const char *const codec = tests[at].initial_state;
            has_test = has_test || (codec != NULL && strcmp(codec, name) == 0);
        }
        if (!has_test) {
            fprintf(stderr, "%s has no golden streams\n", name);
            return 1;
        }
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
