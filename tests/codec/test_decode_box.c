/* SPDX-License-Identifier: BSD-3-Clause
 * test_decode_box.c: a box of a chunk is what the whole chunk decodes to, cut by a slow loop: for
 * every codec and spec, types, byte orders, shapes around the sides of blocks, strides of the
 * destination and numbers of threads; and damaged chunks are refused as h5twin_decode does. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 20261124;

static uint64_t
below(uint64_t count)
{
    return count == 0 ? 0 : test_random(&random_state) % count;
}

/* ---- specs: those of the other tests, then those of each codec's list ---- */

static char specs[160][200];
static unsigned spec_count;

static void
add_spec(const char *spec)
{
    for (unsigned i = 0; i < spec_count; i++) {
        if (strcmp(specs[i], spec) == 0) {
            return;
        }
    }
    assert_true(spec_count < TEST_LENGTH(specs) && strlen(spec) < sizeof specs[0]);
    snprintf(specs[spec_count++], sizeof specs[0], "%s", spec);
}

static int
find_specs(void **state)
{
    (void)state;
    const char *spec;
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        add_spec(spec);
    }
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        char path[512], line[512];
        snprintf(path, sizeof path, "%s/%s/specs.txt", H5TWIN_CODEC_DIR, h5twin_codec_at(i)->name);
        FILE *const file = fopen(path, "r"); /* there is none of a codec outside the tree */
        while (file != NULL && fgets(line, sizeof line, file) != NULL) {
            line[strcspn(line, "\t\n")] = '\0';
            if (test_spec_is_wanted(line)) {
                add_spec(line);
            }
        }
        if (file != NULL) {
            fclose(file);
        }
    }
    return spec_count == 0 ? -1 : 0;
}

/* ---- a chunk, and what it decodes to ---- */

struct chunk {
    const char *spec, *type;
    struct h5twin_params params;
    uint8_t *bytes;
    size_t size;
    uint8_t *array; /* decoded */
    size_t array_size;
};

static bool
make_chunk(struct chunk *chunk, const char *spec, const char *type, const char *dims,
           enum test_pattern pattern, bool big_endian)
{
    *chunk = (struct chunk){.spec = spec, .type = type};
    if (test_params(&chunk->params, spec, type, dims) != H5TWIN_OK) {
        return false;
    }
    chunk->params.big_endian = big_endian;
    const uint32_t element = chunk->params.element_size;
    size_t size = element;
    for (uint32_t axis = 0; axis < chunk->params.rank; axis++) {
        size *= (size_t)chunk->params.dims[axis];
    }
    const size_t capacity = h5twin_bound(&chunk->params, size);
    if (capacity == 0) {
        return false;
    }
    uint8_t *const original = test_alloc(size);
    const unsigned word =
        element == 1 || element == 2 || element == 4 || element == 8 ? element : 4;
    test_fill(original, size, word, pattern, size);
    if (big_endian) {
        for (size_t at = 0; at + word <= size; at += word) {
            for (unsigned i = 0; i < word / 2; i++) {
                const uint8_t byte = original[at + i];
                original[at + i] = original[at + word - 1 - i];
                original[at + word - 1 - i] = byte;
            }
        }
    }
    chunk->bytes = test_alloc(capacity);
    assert_int_equal(
        h5twin_encode(&chunk->params, NULL, chunk->bytes, capacity, original, size, &chunk->size),
        H5TWIN_OK);
    chunk->array = test_alloc(size);
    assert_int_equal(
        h5twin_decode(NULL, chunk->array, size, chunk->bytes, chunk->size, &chunk->array_size),
        H5TWIN_OK);
    assert_int_equal(chunk->array_size, size);
    free(original);
    return true;
}

static void
free_chunk(struct chunk *chunk)
{
    free(chunk->bytes);
    free(chunk->array);
}

/* ---- boxes ---- */

/* ROWS: of all other axes all, so that whole pieces of the stream are decoded where they belong. */
enum kind { WHOLE, EMPTY, ONE, PLANE, ANY, ROWS, KINDS };

static struct h5twin_box
random_box(const struct h5twin_params *params, enum kind kind)
{
    struct h5twin_box box = {.element_size = params->element_size, .rank = params->rank};
    const uint32_t chosen = (uint32_t)below(params->rank);
    for (uint32_t axis = 0; axis < params->rank; axis++) {
        const uint64_t extent = params->dims[axis];
        box.dims[axis] = extent;
        box.start[axis] = kind == WHOLE ? 0 : below(extent);
        box.count[axis] = kind == WHOLE   ? extent
                          : kind == EMPTY ? below(extent + 1 - box.start[axis])
                          : kind == ONE   ? 1
                                          : 1 + below(extent - box.start[axis]);
        if (kind == PLANE || (kind == ANY && below(3) == 0)) {
            box.start[axis] = axis == chosen ? box.start[axis] : 0;
            box.count[axis] = axis == chosen ? 1 : extent;
        }
        if (kind == ROWS) {
            box.start[axis] = axis == 0 ? below(extent / 4 + 1) : 0;
            box.count[axis] = extent - box.start[axis];
        }
    }
    if (kind == EMPTY && params->rank > 0) {
        box.count[chosen] = 0;
    }
    return box;
}

/* Bytes that the destination needs before and from its first element on. */
struct reach {
    size_t before, after;
};

/* Strides: dense, or with gaps, in any order of axes, some of them backwards. */
static struct reach
set_strides(struct h5twin_box *box, bool dense)
{
    uint32_t order[H5TWIN_BOX_MAX_RANK];
    for (uint32_t i = 0; i < box->rank; i++) {
        order[i] = box->rank - 1 - i;
    }
    for (uint32_t i = box->rank; !dense && i > 1; i--) {
        const uint32_t other = (uint32_t)below(i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
    struct reach reach = {.after = box->element_size};
    size_t size = box->element_size; /* of all axes so far */
    for (uint32_t i = 0; i < box->rank; i++) {
        const uint32_t axis = order[i];
        const size_t stride = size + (dense ? 0 : (size_t)below(4));
        const bool is_backwards = !dense && below(4) == 0;
        box->dst_strides[axis] = is_backwards ? -(int64_t)stride : (int64_t)stride;
        const size_t length = box->count[axis] == 0 ? 0 : (size_t)(box->count[axis] - 1) * stride;
        *(is_backwards ? &reach.before : &reach.after) += length;
        size = stride * (size_t)(box->count[axis] == 0 ? 1 : box->count[axis]);
    }
    return reach;
}

/* The slow way: element by element. */
static void
cut(uint8_t *dst, const struct h5twin_box *box, const uint8_t *array)
{
    uint64_t total = 1;
    for (uint32_t axis = 0; axis < box->rank; axis++) {
        total *= box->count[axis];
    }
    for (uint64_t number = 0; number < total; number++) {
        uint64_t rest = number, place = 0, scale = 1;
        int64_t at = 0;
        for (uint32_t axis = box->rank; axis-- > 0;) {
            const uint64_t index = rest % box->count[axis];
            rest /= box->count[axis];
            place += (box->start[axis] + index) * scale;
            scale *= box->dims[axis];
            at += (int64_t)index * box->dst_strides[axis];
        }
        memcpy(dst + at, array + place * box->element_size, box->element_size);
    }
}

static const char *
name_of(const struct h5twin_box *box)
{
    static char text[400];
    size_t used = 0;
    for (uint32_t axis = 0; axis < box->rank && used < sizeof text - 100; axis++) {
        used += (size_t)snprintf(text + used, sizeof text - used, " [%u+%u of %u, stride %d]",
                                 (unsigned)box->start[axis], (unsigned)box->count[axis],
                                 (unsigned)box->dims[axis], (int)box->dst_strides[axis]);
    }
    return text;
}

/* Decode a box with these strides; if expected is not NULL, that is what the array is. */
static enum h5twin_status
decode(const struct chunk *chunk, const struct h5twin_box *box, struct reach reach,
       const uint8_t *array, unsigned threads)
{
    const size_t size = reach.before + reach.after;
    struct test_guarded dst = test_guarded_new(size, (unsigned)below(64));
    memset(dst.at, 0xA5, size);
    const struct h5twin_exec exec = {.threads = threads};
    const enum h5twin_status status =
        h5twin_decode_box(&exec, dst.at + reach.before, box, chunk->bytes, chunk->size);
    test_guarded_check(&dst);
    if (array != NULL && status == H5TWIN_OK) {
        uint8_t *const expected = test_alloc(size);
        memset(expected, 0xA5, size);
        cut(expected + reach.before, box, array);
        if (memcmp(expected, dst.at, size) != 0) {
            fail_msg("%s, %s, %u threads:%s differs", chunk->spec, chunk->type, threads,
                     name_of(box));
        }
        free(expected);
    }
    test_guarded_free(&dst);
    return status;
}

static void
check_boxes(const struct chunk *chunk, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const enum kind kind = (enum kind)(i % KINDS);
        struct h5twin_box box = random_box(&chunk->params, kind);
        const struct reach reach = set_strides(&box, kind == ROWS || below(3) == 0);
        const enum h5twin_status status =
            decode(chunk, &box, reach, chunk->array, 1 + (unsigned)below(4));
        if (status != H5TWIN_OK) {
            fail_msg("%s, %s:%s: %s", chunk->spec, chunk->type, name_of(&box),
                     h5twin_status_message(status));
        }
    }
}

static const struct {
    const char *type, *dims;
} shapes[] = {
    {"f32", "1"},         {"f32", "7"},          {"f32", "4095"},         {"f32", "4097"},
    {"f32", "10000"},     {"f64", "2049"},       {"f64", "20000"},        {"f64", "1x4096x1"},
    {"f32", "63x65"},     {"f32", "130x70"},     {"f64", "64x128"},       {"f64", "31x200"},
    {"f32", "15x17x16"},  {"f32", "33x18x40"},   {"f64", "32x16x48"},     {"f64", "17x1x33"},
    {"f32", "3x5x17x20"}, {"f64", "2x3x4x5x30"}, {"f32", "2x2x2x2x2x70"}, {"u8", "37x41x43"},
    {"u8", "1"},          {"i16", "19x20x31"},   {"u32", "50x51"},        {"i64", "9x10x11"},
    {"b24", "11x12x13"},  {"b128", "9x33x7"},    {"b24", "5000"},         {"f32", "2x1x3"},
};

static void
test_boxes_of_every_spec_and_shape(void **state)
{
    (void)state;
    uint64_t chunks = 0;
    for (unsigned s = 0; s < spec_count; s++) {
        for (size_t i = 0; i < TEST_LENGTH(shapes); i++) {
            for (unsigned order = 0; order < 2; order++) {
                const enum test_pattern pattern =
                    (enum test_pattern)((i + s + order) % TEST_PATTERN_COUNT);
                struct chunk chunk;
                const bool is_word = shapes[i].type[0] != 'b' && strcmp(shapes[i].type, "u8") != 0;
                if ((order == 1 && !is_word) || !make_chunk(&chunk, specs[s], shapes[i].type,
                                                            shapes[i].dims, pattern, order == 1)) {
                    continue;
                }
                check_boxes(&chunk, 20 / TEST_SLOWNESS);
                free_chunk(&chunk);
                chunks++;
            }
        }
    }
    print_message("%u specs, %llu chunks\n", spec_count, (unsigned long long)chunks);
    assert_true(chunks > spec_count);
}

/* Several slabs, segments and threads. */
static void
test_boxes_of_large_chunks(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"f32", "40x110x120"}, {"f64", "30x90x100"}, {"f32", "1100x500"}, {"f64", "300000"}};
    for (unsigned s = 0; s < spec_count; s++) {
        const size_t i = s % TEST_LENGTH(cases);
        for (size_t k = 0; k < (TEST_SLOWNESS == 1 ? 2u : 1u); k++) {
            const char *const *const at = cases[(i + k) % TEST_LENGTH(cases)];
            struct chunk chunk;
            if (make_chunk(&chunk, specs[s], at[0], at[1], k == 0 ? TEST_SMOOTH : TEST_STEPS,
                           (s + k) % 2 == 0)) {
                check_boxes(&chunk, 2 * KINDS);
                free_chunk(&chunk);
            }
        }
    }
}

/* Elements may be cut otherwise than those that were encoded: the array is what counts. */
static void
test_other_elements_of_the_same_array(void **state)
{
    (void)state;
    for (unsigned s = 0; s < spec_count; s++) {
        for (unsigned order = 0; order < 2; order++) {
            struct chunk chunk;
            if (!make_chunk(&chunk, specs[s], "f32", "30x50x24", TEST_SMOOTH, order == 1)) {
                continue;
            }
            static const char *const views[][2] = {
                {"u8", "30x50x96"}, {"b96", "30x50x8"}, {"i16", "1500x48"}, {"f64", "18000"}};
            for (size_t i = 0; i < TEST_LENGTH(views); i++) {
                struct chunk other = chunk;
                assert_int_equal(test_params(&other.params, "sleek", views[i][0], views[i][1]),
                                 H5TWIN_OK);
                other.params.element_size = i == 1 ? 12 : other.params.element_size;
                check_boxes(&other, 2 * KINDS);
            }
            free_chunk(&chunk);
        }
    }
}

static void
test_refusals(void **state)
{
    (void)state;
    struct chunk chunk;
    assert_true(make_chunk(&chunk, specs[0], "f32", "10x20", TEST_SMOOTH, false));
    const uint64_t dims[] = {10, 20}, start[] = {1, 2}, count[] = {3, 4};
    float dst[12];
    struct h5twin_box box;
    h5twin_box_set(&box, 4, 2, dims, start, count);
    assert_int_equal(box.dst_strides[0], 16);
    assert_int_equal(box.dst_strides[1], 4);
    assert_int_equal(h5twin_decode_box(NULL, dst, &box, chunk.bytes, chunk.size), H5TWIN_OK);
    assert_memory_equal(dst, chunk.array + (20 + 2) * 4, 16);
    assert_int_equal(h5twin_decode_box(NULL, NULL, &box, chunk.bytes, chunk.size), H5TWIN_ERR_ARG);
    assert_int_equal(h5twin_decode_box(NULL, dst, NULL, chunk.bytes, chunk.size), H5TWIN_ERR_ARG);
    assert_int_equal(h5twin_decode_box(NULL, dst, &box, NULL, chunk.size), H5TWIN_ERR_ARG);
    struct h5twin_box bad = box;
    bad.start[1] = 17; /* 17 + 4 > 20 */
    assert_int_equal(h5twin_decode_box(NULL, dst, &bad, chunk.bytes, chunk.size), H5TWIN_ERR_DIMS);
    bad = box;
    bad.start[1] = UINT64_MAX;
    assert_int_equal(h5twin_decode_box(NULL, dst, &bad, chunk.bytes, chunk.size), H5TWIN_ERR_DIMS);
    bad = box;
    bad.count[0] = UINT64_MAX;
    assert_int_equal(h5twin_decode_box(NULL, dst, &bad, chunk.bytes, chunk.size), H5TWIN_ERR_DIMS);
    bad = box;
    bad.dims[0] = 11;
    assert_int_equal(h5twin_decode_box(NULL, dst, &bad, chunk.bytes, chunk.size), H5TWIN_ERR_DIMS);
    bad = box;
    bad.dims[0] = UINT64_MAX / 80 + 11; /* the product wraps to the right size */
    assert_int_equal(h5twin_decode_box(NULL, dst, &bad, chunk.bytes, chunk.size), H5TWIN_ERR_DIMS);
    bad = box;
    bad.element_size = 0;
    assert_int_equal(h5twin_decode_box(NULL, dst, &bad, chunk.bytes, chunk.size),
                     H5TWIN_ERR_ELEMENT);
    bad = box;
    bad.rank = H5TWIN_BOX_MAX_RANK + 1;
    assert_int_equal(h5twin_decode_box(NULL, dst, &bad, chunk.bytes, chunk.size), H5TWIN_ERR_DIMS);
    bad = box;
    bad.count[1] = 0; /* nothing is asked for: no destination is needed, but a whole chunk */
    assert_int_equal(h5twin_decode_box(NULL, NULL, &bad, chunk.bytes, chunk.size), H5TWIN_OK);
    chunk.bytes[chunk.size - 1] ^= 1;
    assert_int_equal(h5twin_decode_box(NULL, NULL, &bad, chunk.bytes, chunk.size),
                     H5TWIN_ERR_CHECKSUM);
    free_chunk(&chunk);
    /* No array at all. */
    assert_true(make_chunk(&chunk, specs[0], "f32", "7", TEST_SMOOTH, false));
    size_t empty_size;
    uint8_t empty[64];
    assert_int_equal(h5twin_encode(&chunk.params, NULL, chunk.bytes,
                                   h5twin_bound(&chunk.params, 28), NULL, 0, &empty_size),
                     H5TWIN_OK);
    const uint64_t no_dims[] = {0, 20}, no_start[] = {0, 2};
    h5twin_box_set(&box, 4, 2, no_dims, no_start, no_dims);
    box.count[1] = 3;
    assert_int_equal(h5twin_decode_box(NULL, empty, &box, chunk.bytes, empty_size), H5TWIN_OK);
    free_chunk(&chunk);
    /* One element is an array of no dims. */
    assert_true(make_chunk(&chunk, specs[0], "f64", "1", TEST_SMOOTH, false));
    h5twin_box_set(&box, 8, 0, NULL, NULL, NULL);
    assert_int_equal(h5twin_decode_box(NULL, empty, &box, chunk.bytes, chunk.size), H5TWIN_OK);
    assert_memory_equal(empty, chunk.array, 8);
    free_chunk(&chunk);
}

/* A damaged chunk: with the old checksum as h5twin_decode says; with a right one never a crash, the
 * same refusal if all is read, and the same values if h5twin_decode finds nothing wrong. */
static void
check_damaged(struct chunk *chunk, bool reseal)
{
    uint8_t *const kept = test_alloc(chunk->size);
    memcpy(kept, chunk->bytes, chunk->size);
    const unsigned changes = 1 + (unsigned)below(3);
    const size_t kept_size = chunk->size;
    for (unsigned i = 0; i < changes; i++) {
        const size_t near = below(2) == 0 && chunk->size > 200 ? 200 : chunk->size;
        chunk->bytes[24 + below(near - 24)] ^= (uint8_t)(1u << below(8));
    }
    if (below(8) == 0) {
        chunk->size -= 1 + below(chunk->size - 24);
    }
    if (reseal && chunk->size >= 24) {
        test_reseal(chunk->bytes, chunk->size);
    }
    size_t size;
    uint8_t *const array = test_alloc(chunk->array_size);
    const enum h5twin_status expected =
        h5twin_decode(NULL, array, chunk->array_size, chunk->bytes, chunk->size, &size);
    struct h5twin_box box = random_box(&chunk->params, WHOLE);
    struct reach reach = set_strides(&box, false);
    const uint8_t *const good = expected == H5TWIN_OK ? array : NULL;
    assert_int_equal(decode(chunk, &box, reach, good, 1 + (unsigned)below(2)), expected);
    for (unsigned i = 0; i < 4; i++) {
        box = random_box(&chunk->params, (enum kind)(1 + i));
        reach = set_strides(&box, i % 2 == 0);
        const enum h5twin_status status = decode(chunk, &box, reach, good, 1);
        if (!reseal || expected == H5TWIN_OK) {
            assert_int_equal(status, expected);
        }
    }
    free(array);
    memcpy(chunk->bytes, kept, kept_size);
    chunk->size = kept_size;
    free(kept);
}

static void
test_damaged_chunks(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"f32", "30x33x35"}, {"f64", "20x18x34"}, {"f32", "300x129"}, {"f64", "9000"}};
    for (unsigned s = 0; s < spec_count; s++) {
        for (size_t i = 0; i < TEST_LENGTH(cases); i++) {
            struct chunk chunk;
            if (!make_chunk(&chunk, specs[s], cases[i][0], cases[i][1],
                            i % 2 == 0 ? TEST_SMOOTH : TEST_STEPS, false)) {
                continue;
            }
            for (unsigned k = 0; k < 24 / TEST_SLOWNESS && chunk.size > 25; k++) {
                check_damaged(&chunk, k % 4 != 0);
            }
            free_chunk(&chunk);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes_of_every_spec_and_shape),
        cmocka_unit_test(test_boxes_of_large_chunks),
        cmocka_unit_test(test_other_elements_of_the_same_array),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_damaged_chunks),
    };
    return cmocka_run_group_tests(tests, find_specs, NULL);
}
