/* SPDX-License-Identifier: BSD-3-Clause
 * test_roundtrip.c: what goes in comes out, for every codec, element type, size, shape, byte order,
 * alignment and thread count; lossy modes within their bound.
 *
 * All tests walk test_spec_at(), so a codec is tested as soon as it is registered. */
#include "support.h"

#include "codec.h"

#include "common/values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const types[] = {"f32", "f64", "u8", "i16", "u32", "i64", "b24", "b128"};

static const size_t value_counts[] = {0,   1,   2,   3,    31,   32,   33,   63,    64,    65,
                                      127, 128, 129, 1023, 4095, 4096, 4097, 16383, 16384, 16385};
#define LARGEST_COUNT 16385u

static const uint64_t seed = 20240607;

/* What a test is about, for messages. */
struct subject {
    const char *spec, *type;
    size_t size;
};

#define require(condition, subject)                                                                \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fail_msg("%s on %zu bytes of %s: " #condition, (subject)->spec, (subject)->size,       \
                     (subject)->type);                                                             \
        }                                                                                          \
    } while (0)

static struct h5twin_params
params_of(const char *spec, const char *type, const char *dims)
{
    struct h5twin_params params;
    const enum h5twin_status status = test_params(&params, spec, type, dims);
    if (status != H5TWIN_OK) {
        fail_msg("%s: %s", spec, h5twin_status_message(status));
    }
    return params;
}

/* Words that test_fill should make for elements of this size. */
static unsigned
fill_word_size(const struct h5twin_params *params)
{
    const uint32_t size = params->element_size;
    return size == 1 || size == 2 || size == 4 || size == 8 ? size : 4;
}

/* ---- comparing ---- */

/* The absolute bound that these parameters promise for this array, whatever the value. */
static double
promised_bound(const struct h5twin_params *params, const uint8_t *values, size_t value_count)
{
    if (params->mode != H5TWIN_NOA) {
        return params->error_bound;
    }
    double min = INFINITY, max = -INFINITY;
    for (size_t i = 0; i < value_count; i++) {
        const double value = h5twin_value_at(values, i, params->element_size);
        if (isfinite(value)) {
            min = value < min ? value : min;
            max = value > max ? value : max;
        }
    }
    const double range = 0.5 * max - 0.5 * min; /* halves do not overflow */
    return min <= max ? 2 * (params->error_bound * range) : 0;
}

/* Whether decoded values are what the mode promises. */
static bool
is_faithful(const struct h5twin_params *params, const uint8_t *values, const uint8_t *decoded,
            size_t size)
{
    if (params->mode == H5TWIN_LOSSLESS || params->kind != H5TWIN_FLOAT) {
        return memcmp(values, decoded, size) == 0;
    }
    const unsigned word_size = params->element_size;
    const double bound = promised_bound(params, values, size / word_size);
    for (size_t i = 0; i < size / word_size; i++) {
        const double before = h5twin_value_at(values, i, word_size);
        const double after = h5twin_value_at(decoded, i, word_size);
        const bool same_bits =
            memcmp(values + i * word_size, decoded + i * word_size, word_size) == 0;
        const double share = params->mode == H5TWIN_REL ? fabs(before) : 1;
        if (!same_bits &&
            !(isfinite(before) && isfinite(after) && fabs(before - after) <= bound * share)) {
            return false;
        }
    }
    return memcmp(values + size / word_size * word_size, decoded + size / word_size * word_size,
                  size % word_size) == 0;
}

/* ---- one round trip, at odd addresses, between guards ---- */

static void
check_framed(const struct h5twin_params *params, const struct h5twin_exec *exec,
             const uint8_t *values, const struct subject *subject, unsigned misalignment)
{
    const size_t size = subject->size;
    const size_t capacity = h5twin_bound(params, size);
    require(capacity >= size + 24, subject);
    struct test_guarded chunk = test_guarded_new(capacity, misalignment);
    struct test_guarded back = test_guarded_new(size, misalignment ^ 3u);
    size_t chunk_size = 0, back_size = SIZE_MAX;
    require(h5twin_encode(params, exec, chunk.at, capacity, values, size, &chunk_size) == H5TWIN_OK,
            subject);
    test_guarded_check(&chunk);
    require(chunk_size <= size + 24, subject);

    struct h5twin_info info;
    require(h5twin_inspect(chunk.at, chunk_size, &info) == H5TWIN_OK, subject);
    require(info.codec == params->codec && info.raw_size == size, subject);
    require(h5twin_decode(exec, back.at, size, chunk.at, chunk_size, &back_size) == H5TWIN_OK,
            subject);
    test_guarded_check(&back);
    require(back_size == size, subject);
    require(is_faithful(params, values, back.at, size), subject);

    if (params->mode != H5TWIN_LOSSLESS) { /* what was decoded is a fixed point */
        uint8_t *const once = test_alloc(size);
        memcpy(once, back.at, size);
        require(h5twin_encode(params, exec, chunk.at, capacity, once, size, &chunk_size) ==
                    H5TWIN_OK,
                subject);
        require(h5twin_decode(exec, back.at, size, chunk.at, chunk_size, &back_size) == H5TWIN_OK,
                subject);
        require(memcmp(once, back.at, size) == 0, subject);
        free(once);
    }
    test_guarded_free(&chunk);
    test_guarded_free(&back);
}

static void
check_bare(const struct h5twin_params *params, const struct h5twin_exec *exec,
           const uint8_t *values, const struct subject *subject, unsigned misalignment)
{
    const size_t size = subject->size;
    const size_t capacity = h5twin_bound(params, size);
    struct test_guarded stream = test_guarded_new(capacity, misalignment);
    struct test_guarded back = test_guarded_new(size, misalignment ^ 5u);
    size_t stream_size = 0;
    uint64_t raw_size = 0;
    require(h5twin_encode_payload(params, exec, stream.at, capacity, values, size, &stream_size) ==
                H5TWIN_OK,
            subject);
    test_guarded_check(&stream);
    if (params->mode != H5TWIN_NOA) { /* its effective bound is in the frame only */
        require(h5twin_payload_raw_size(params, stream.at, stream_size, &raw_size) == H5TWIN_OK,
                subject);
        require(raw_size == size, subject);
        require(h5twin_decode_payload(params, exec, back.at, size, stream.at, stream_size) ==
                    H5TWIN_OK,
                subject);
        test_guarded_check(&back);
        require(is_faithful(params, values, back.at, size), subject);
    }
    test_guarded_free(&stream);
    test_guarded_free(&back);
}

/* ---- sizes, types, patterns ---- */

static void
check_sizes(const char *spec, const char *type, enum test_pattern pattern)
{
    struct h5twin_params params = params_of(spec, type, "-");
    const size_t largest = LARGEST_COUNT * (size_t)params.element_size;
    uint8_t *const values = test_alloc(largest + 8);
    for (size_t i = 0; i < TEST_LENGTH(value_counts); i++) {
        const size_t count = value_counts[i];
        const struct subject subject = {spec, type, count * params.element_size};
        const unsigned misalignment = (unsigned)i % 8;
        h5twin_params_set_array(&params, params.kind, params.element_size, count != 0,
                                (uint64_t[]){count});
        test_fill(values + misalignment, subject.size, fill_word_size(&params), pattern, seed);
        check_framed(&params, NULL, values + misalignment, &subject, misalignment);
        if (count != 0 && params.element_size % 4 == 0) {
            check_bare(&params, NULL, values + misalignment, &subject, misalignment);
        }
    }
    free(values);
}

static void
test_every_size_type_and_pattern_comes_back(void **state)
{
    (void)state;
    const char *spec;
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        for (unsigned type = 0; type < TEST_LENGTH(types); type++) {
            for (unsigned pattern = 0; pattern < TEST_PATTERN_COUNT; pattern++) {
                if ((i + type + pattern) % TEST_SLOWNESS == 0) {
                    check_sizes(spec, types[type], (enum test_pattern)pattern);
                }
            }
        }
    }
}

/* The caller may hand over any number of bytes, whatever the element size. */
static void
test_odd_byte_sizes_come_back(void **state)
{
    (void)state;
    uint8_t values[16384 + 40];
    const char *spec;
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        for (unsigned type = 0; type < TEST_LENGTH(types); type++) {
            const struct h5twin_params params = params_of(spec, types[type], "100");
            test_fill(values, sizeof values, fill_word_size(&params), TEST_SPECIAL, seed);
            for (size_t size = 0; size < sizeof values; size += size < 40 ? 1 : 16343) {
                for (size_t more = 0; more < (size < 40 ? 1u : 40u); more += 3) {
                    const struct subject subject = {spec, types[type], size + more};
                    if (subject.size <= sizeof values) {
                        check_framed(&params, NULL, values, &subject, 0);
                    }
                }
            }
        }
    }
}

/* ---- shapes ---- */

static const char *const shapes[] = {
    "17",        "5x7",       "1x5000",       "5000x1",       "63x65",
    "64x64",     "129x64",    "16x16x16",     "15x16x17",     "33x18x35",
    "1x64x64",   "64x1x64",   "64x64x1",      "1x1x1",        "3x16x16x16",
    "5x1x17x16", "3x4x5x6x7", "2x3x16x16x16", "1x1x40x1x1x9", "2x1x2x3x1x2x3x5",
};

static void
test_shapes_of_rank_1_to_8_come_back(void **state)
{
    (void)state;
    const char *spec;
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        for (unsigned shape = 0; shape < TEST_LENGTH(shapes); shape++) {
            for (unsigned type = 0; type < 2; type++) {
                const struct h5twin_params params = params_of(spec, types[type], shapes[shape]);
                struct subject subject = {spec, shapes[shape], params.element_size};
                for (uint32_t axis = 0; axis < params.rank; axis++) {
                    subject.size *= (size_t)params.dims[axis];
                }
                uint8_t *const values = test_alloc(subject.size);
                test_fill(values, subject.size, params.element_size,
                          shape % 2 == 0 ? TEST_SMOOTH : TEST_SPECIAL, seed);
                check_framed(&params, NULL, values, &subject, 0);
                free(values);
            }
        }
    }
}

/* ---- byte order ---- */

static void
reverse_words(uint8_t *dst, const uint8_t *src, size_t size, size_t word_size)
{
    for (size_t i = 0; i < size; i++) {
        dst[i / word_size * word_size + (word_size - 1 - i % word_size)] = src[i];
    }
}

/* Big-endian arrays come back as they were, and cost no byte more than little-endian ones. */
static void
test_big_endian_arrays_are_coded_as_little_endian_ones(void **state)
{
    (void)state;
    const char *spec;
    static const char *const swapped_types[] = {"f32", "f64", "i16", "i32", "i64"};
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        for (unsigned type = 0; type < TEST_LENGTH(swapped_types); type++) {
            struct h5twin_params params = params_of(spec, swapped_types[type], "6000");
            const size_t size = 6000 * (size_t)params.element_size;
            const struct subject subject = {spec, swapped_types[type], size};
            const size_t capacity = h5twin_bound(&params, size);
            uint8_t *const little = test_alloc(2 * size), *const big = little + size;
            uint8_t *const chunks = test_alloc(2 * capacity);
            uint8_t *const back = test_alloc(2 * size);
            size_t sizes[2], back_size;
            test_fill(little, size, params.element_size, TEST_SPECIAL, seed);
            reverse_words(big, little, size, params.element_size);
            require(h5twin_encode(&params, NULL, chunks, capacity, little, size, &sizes[0]) ==
                        H5TWIN_OK,
                    &subject);
            params.big_endian = true;
            require(h5twin_encode(&params, NULL, chunks + capacity, capacity, big, size,
                                  &sizes[1]) == H5TWIN_OK,
                    &subject);
            require(params.element_size < 4 || sizes[0] == sizes[1], &subject);
            require(h5twin_decode(NULL, back, size, chunks, sizes[0], &back_size) == H5TWIN_OK,
                    &subject);
            require(h5twin_decode(NULL, back + size, size, chunks + capacity, sizes[1],
                                  &back_size) == H5TWIN_OK,
                    &subject);
            reverse_words(big, back + size, size, params.element_size);
            require(memcmp(back, big, size) == 0, &subject);
            params.big_endian = false;
            require(is_faithful(&params, little, back, size), &subject);
            free(little);
            free(chunks);
            free(back);
        }
    }
}

/* ---- threads ---- */

/* Work for four threads, and a block cut short; whole words, as E2MC stores others raw. */
#define THREADS_SIZE ((size_t)4 * H5TWIN_BYTES_PER_THREAD + 16384 + 72)

/* Parts of all patterns, so that sizes differ from block to block; the first shrinks. */
static void
fill_parts(uint8_t *values, unsigned word_size)
{
    const size_t part_count = 3 * TEST_PATTERN_COUNT, part_size = THREADS_SIZE / part_count / 8 * 8;
    for (size_t part = 0; part < part_count; part++) {
        const size_t begin = part * part_size;
        const size_t end = part + 1 < part_count ? begin + part_size : THREADS_SIZE;
        test_fill(values + begin, end - begin, word_size,
                  (enum test_pattern)(part % TEST_PATTERN_COUNT), seed + part);
    }
}

static void
check_threads(const char *spec, const char *type, const uint8_t *values, uint8_t *back)
{
    const struct h5twin_params params = params_of(spec, type, "-");
    const struct subject subject = {spec, type, THREADS_SIZE};
    const size_t capacity = h5twin_bound(&params, THREADS_SIZE);
    uint8_t *const chunks = test_alloc(2 * capacity);
    size_t first_size = 0;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        const struct h5twin_exec exec = {.device = H5TWIN_DEVICE_CPU, .threads = threads};
        size_t chunk_size = 0, back_size = 0;
        uint8_t *const chunk = threads == 1 ? chunks : chunks + capacity;
        require(h5twin_encode(&params, &exec, chunk, capacity, values, THREADS_SIZE, &chunk_size) ==
                    H5TWIN_OK,
                &subject);
        first_size = threads == 1 ? chunk_size : first_size;
        require(chunk_size < THREADS_SIZE, &subject); /* the codec's bytes, not the raw fallback */
        require(chunk_size == first_size && memcmp(chunk, chunks, chunk_size) == 0, &subject);
        memset(back, 0x5A, THREADS_SIZE);
        require(h5twin_decode(&exec, back, THREADS_SIZE, chunk, chunk_size, &back_size) ==
                    H5TWIN_OK,
                &subject);
        require(is_faithful(&params, values, back, THREADS_SIZE), &subject);
    }
    free(chunks);
}

static void
test_bytes_do_not_depend_on_threads(void **state)
{
    (void)state;
    const char *spec;
    uint8_t *const values = test_alloc(THREADS_SIZE);
    uint8_t *const back = test_alloc(THREADS_SIZE);
    for (unsigned type = 0; type < 2; type++) {
        const unsigned word_size = type == 0 ? 4 : 8;
        fill_parts(values, word_size);
        for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
            check_threads(spec, types[type], values, back);
        }
        test_fill(values, THREADS_SIZE, word_size, TEST_STEPS, seed); /* few, short codes */
        for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
            check_threads(spec, types[type], values, back);
        }
    }
    free(values);
    free(back);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size_type_and_pattern_comes_back),
        cmocka_unit_test(test_odd_byte_sizes_come_back),
        cmocka_unit_test(test_shapes_of_rank_1_to_8_come_back),
        cmocka_unit_test(test_big_endian_arrays_are_coded_as_little_endian_ones),
        cmocka_unit_test(test_bytes_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
