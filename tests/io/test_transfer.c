/* SPDX-License-Identifier: BSD-3-Clause
 * test_transfer.c: io/transfer.h against a plain reference: elements are gathered, padded and
 * scattered one by one, and chunks are what h5twin_encode makes of them. Random arrays, boxes,
 * strides, ranks and threads; every failure of a store; windows of one chunk. */
#define _GNU_SOURCE
#include "support.h"

#include "io/transfer.h"
#include "pool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_RANK    H5TWIN_TRANSFER_MAX_RANK
#define MAX_ELEMENT 24u
#define MOST_VALUES 6000u /* of an array */
#define ROUNDS      (TEST_SLOWNESS == 1 ? 400u : 60u)

/* ---- an array in chunks, the plain way ---- */

struct blob {
    enum h5twin_chunk_state state;
    uint8_t *bytes;
    size_t size;
};

struct array {
    struct h5twin_params params;
    size_t element_size;
    unsigned rank;
    uint64_t dims[MAX_RANK], chunk[MAX_RANK], grid[MAX_RANK]; /* grid: chunks along each dim */
    size_t value_count, chunk_count, chunk_values;
    uint8_t fill[MAX_ELEMENT];
    const void *fill_or_none;
    struct blob *blobs; /* by number of the chunk, row-major */
};

static size_t
product(unsigned rank, const uint64_t *extents)
{
    size_t values = 1;
    for (unsigned axis = 0; axis < rank; axis++) {
        values *= (size_t)extents[axis];
    }
    return values;
}

static void
to_coordinates(unsigned rank, const uint64_t *extents, size_t number, uint64_t *at)
{
    for (unsigned axis = rank; axis-- > 0;) {
        at[axis] = number % extents[axis];
        number /= (size_t)extents[axis];
    }
}

static size_t
to_number(unsigned rank, const uint64_t *extents, const uint64_t *at)
{
    size_t number = 0;
    for (unsigned axis = 0; axis < rank; axis++) {
        number = number * (size_t)extents[axis] + (size_t)at[axis];
    }
    return number;
}

static void
set_shape(struct array *array, unsigned rank, const uint64_t *dims, const uint64_t *chunk)
{
    array->rank = rank;
    for (unsigned axis = 0; axis < rank; axis++) {
        array->dims[axis] = dims[axis];
        array->chunk[axis] = chunk[axis];
        array->grid[axis] = (dims[axis] + chunk[axis] - 1) / chunk[axis];
    }
    array->value_count = product(rank, dims);
    array->chunk_count = product(rank, array->grid);
    array->chunk_values = product(rank, chunk);
    array->blobs = test_alloc((array->chunk_count + 1) * sizeof *array->blobs);
    for (size_t i = 0; i < array->chunk_count; i++) {
        array->blobs[i] = (struct blob){.state = H5TWIN_CHUNK_ABSENT};
    }
}

/* The parameters that a filter has: at most 8 dims, the slowest merged. */
static void
set_params(struct array *array, const char *spec, enum h5twin_kind kind, uint32_t value_size)
{
    uint64_t dims[MAX_RANK + 1];
    unsigned rank = 0;
    const unsigned excess = array->rank >= H5TWIN_MAX_RANK ? array->rank - H5TWIN_MAX_RANK + 1 : 0;
    for (unsigned axis = 0; axis < array->rank; axis++) {
        if (axis > 0 && axis <= excess) {
            dims[rank - 1] *= array->chunk[axis];
        } else {
            dims[rank++] = array->chunk[axis];
        }
    }
    dims[rank - 1] *= array->element_size / value_size;
    h5twin_params_init(&array->params, H5TWIN_SLEEK);
    assert_int_equal(h5twin_params_parse(&array->params, spec, NULL), H5TWIN_OK);
    h5twin_params_set_array(&array->params, kind, value_size, rank, dims);
}

static void
array_free(struct array *array)
{
    for (size_t i = 0; i < array->chunk_count; i++) {
        free(array->blobs[i].bytes);
    }
    free(array->blobs);
}

/* The chunk of a number as it should be stored: values of the array, and padding. */
static void
gather_chunk(const struct array *array, const uint8_t *values, size_t number, uint8_t *chunk)
{
    uint64_t of_chunk[MAX_RANK], in_chunk[MAX_RANK], at[MAX_RANK];
    to_coordinates(array->rank, array->grid, number, of_chunk);
    for (size_t i = 0; i < array->chunk_values; i++) {
        bool is_inside = true;
        to_coordinates(array->rank, array->chunk, i, in_chunk);
        for (unsigned axis = 0; axis < array->rank; axis++) {
            at[axis] = of_chunk[axis] * array->chunk[axis] + in_chunk[axis];
            is_inside = is_inside && at[axis] < array->dims[axis];
        }
        memcpy(chunk + i * array->element_size,
               is_inside ? values + to_number(array->rank, array->dims, at) * array->element_size
                         : array->fill,
               array->element_size);
    }
}

static struct blob
encode_chunk(const struct array *array, const uint8_t *chunk)
{
    const size_t raw_size = array->chunk_values * array->element_size;
    const size_t capacity = h5twin_bound(&array->params, raw_size);
    struct blob blob = {.state = H5TWIN_CHUNK_ENCODED, .bytes = test_alloc(capacity)};
    assert_int_equal(
        h5twin_encode(&array->params, NULL, blob.bytes, capacity, chunk, raw_size, &blob.size),
        H5TWIN_OK);
    return blob;
}

static void
decode_blob(const struct array *array, const struct blob *blob, uint8_t *chunk)
{
    const size_t raw_size = array->chunk_values * array->element_size;
    size_t size = raw_size;
    if (blob->state == H5TWIN_CHUNK_ENCODED) {
        assert_int_equal(h5twin_decode(NULL, chunk, raw_size, blob->bytes, blob->size, &size),
                         H5TWIN_OK);
    } else if (blob->state == H5TWIN_CHUNK_RAW) {
        memcpy(chunk, blob->bytes, raw_size);
    } else {
        for (size_t i = 0; i < array->chunk_values; i++) {
            memcpy(chunk + i * array->element_size, array->fill, array->element_size);
        }
    }
    assert_int_equal(size, raw_size);
}

/* ---- a store that notices what it should not see ---- */

enum call { PUT, FIND, GET, CALLS };

struct store {
    struct array *array;
    pthread_t caller;
    size_t calls[CALLS];
    size_t fails_at[CALLS]; /* that call of its kind, from 1 on; 0: none */
    size_t last_put, last_find;
    bool starts_another; /* each put makes a transfer of its own */
};

#define STORE_STATUS H5TWIN_ERR_DEVICE /* one that no other cause gives */

static size_t
store_enter(struct store *store, const uint64_t *offset, enum call call, bool *fails)
{
    uint64_t at[MAX_RANK];
    const struct array *const array = store->array;
    assert_true(pthread_equal(store->caller, pthread_self()));
    for (unsigned axis = 0; axis < array->rank; axis++) {
        assert_int_equal(offset[axis] % array->chunk[axis], 0);
        at[axis] = offset[axis] / array->chunk[axis];
        assert_in_range(at[axis], 0, array->grid[axis] - 1);
    }
    *fails = ++store->calls[call] == store->fails_at[call];
    return to_number(array->rank, array->grid, at);
}

static void transfer_another(void);

static enum h5twin_status
put(void *context, const uint64_t *offset, const void *chunk, size_t size)
{
    struct store *const store = context;
    bool fails;
    const size_t number = store_enter(store, offset, PUT, &fails);
    if (fails) {
        return STORE_STATUS;
    }
    assert_true(store->last_put == SIZE_MAX || number > store->last_put); /* in order */
    store->last_put = number;
    struct blob *const blob = &store->array->blobs[number];
    free(blob->bytes);
    *blob = (struct blob){H5TWIN_CHUNK_ENCODED, test_alloc(size), size};
    memcpy(blob->bytes, chunk, size);
    if (store->starts_another) {
        transfer_another();
        assert_memory_equal(blob->bytes, chunk, size);
    }
    return H5TWIN_OK;
}

static enum h5twin_status
find(void *context, const uint64_t *offset, enum h5twin_chunk_state *state, size_t *size)
{
    struct store *const store = context;
    bool fails;
    const size_t number = store_enter(store, offset, FIND, &fails);
    if (fails) {
        return STORE_STATUS;
    }
    assert_true(store->last_find == SIZE_MAX || number > store->last_find);
    store->last_find = number;
    *state = store->array->blobs[number].state;
    *size = store->array->blobs[number].size;
    return H5TWIN_OK;
}

static enum h5twin_status
get(void *context, const uint64_t *offset, void *chunk, size_t size)
{
    struct store *const store = context;
    bool fails;
    const struct blob *const blob = &store->array->blobs[store_enter(store, offset, GET, &fails)];
    if (fails) {
        return STORE_STATUS;
    }
    assert_int_equal(size, blob->size);
    assert_true(blob->state == H5TWIN_CHUNK_ENCODED || blob->state == H5TWIN_CHUNK_RAW);
    memcpy(chunk, blob->bytes, size);
    return H5TWIN_OK;
}

static struct store
store_of(struct array *array)
{
    return (struct store){
        .array = array, .caller = pthread_self(), .last_put = SIZE_MAX, .last_find = SIZE_MAX};
}

static struct h5twin_chunk_store
calls_of(struct store *store)
{
    return (struct h5twin_chunk_store){.context = store, .put = put, .find = find, .get = get};
}

/* ---- a box in memory ---- */

struct box {
    uint64_t start[MAX_RANK], count[MAX_RANK];
    ptrdiff_t strides[MAX_RANK];
    uint8_t *block; /* everything around is guard bytes */
    size_t block_size;
    uint8_t *first; /* the box's first element */
};

#define GUARD 0xA7

/* Axes in any order, gaps between elements, directions reversed. */
static void
place_box(const struct array *array, struct box *box, uint64_t *random, bool is_plain)
{
    unsigned order[MAX_RANK];
    const unsigned rank = array->rank;
    for (unsigned axis = 0; axis < rank; axis++) {
        order[axis] = axis;
    }
    for (unsigned i = rank; !is_plain && i-- > 1;) {
        const unsigned k = (unsigned)(test_random(random) % (i + 1)), kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
    size_t size = array->element_size, first = 0;
    for (unsigned i = rank; i-- > 0;) {
        const unsigned axis = order[i];
        const size_t gap = is_plain ? 0 : (size_t)(test_random(random) % 4 == 0) * 8;
        const size_t step = size + gap;
        const size_t extent = box->count[axis] == 0 ? 1 : (size_t)box->count[axis];
        box->strides[axis] = (ptrdiff_t)step;
        if (!is_plain && test_random(random) % 4 == 0) {
            box->strides[axis] = -(ptrdiff_t)step;
            first += step * (extent - 1);
        }
        size = step * extent;
    }
    box->block_size = size;
    box->block = test_alloc(size + 1);
    memset(box->block, GUARD, size);
    box->first = box->block + first;
}

static uint8_t *
element_of(const struct array *array, const struct box *box, const uint64_t *at)
{
    ptrdiff_t place = 0;
    for (unsigned axis = 0; axis < array->rank; axis++) {
        place += (ptrdiff_t)at[axis] * box->strides[axis];
    }
    return box->first + place;
}

/* One element after the other between the box in memory and an array of the same dims as `array`.
 */
static void
copy_box(const struct array *array, const struct box *box, uint8_t *values, bool to_memory)
{
    const size_t count = product(array->rank, box->count);
    for (size_t i = 0; i < count; i++) {
        uint64_t in_box[MAX_RANK], at[MAX_RANK];
        to_coordinates(array->rank, box->count, i, in_box);
        for (unsigned axis = 0; axis < array->rank; axis++) {
            at[axis] = box->start[axis] + in_box[axis];
        }
        uint8_t *const value =
            values + to_number(array->rank, array->dims, at) * array->element_size;
        uint8_t *const element = element_of(array, box, in_box);
        memcpy(to_memory ? element : value, to_memory ? value : element, array->element_size);
    }
}

static struct h5twin_transfer
describe(const struct array *array, const struct box *box, const struct h5twin_exec *exec)
{
    return (struct h5twin_transfer){.params = &array->params,
                                    .element_size = array->element_size,
                                    .rank = array->rank,
                                    .dims = array->dims,
                                    .chunk = array->chunk,
                                    .start = box->start,
                                    .count = box->count,
                                    .strides = box->strides,
                                    .fill = array->fill_or_none,
                                    .exec = exec};
}

/* ---- random cases ---- */

static const char *const specs[] = {
    "sleek", "sleek:abs=0.01", "fpcompress",       "ndzip",   "gfc",
    "e2mc",  "cascade",        "lattice:abs=0.01", "lattice", "lattice:noa=1e-3",
};

static uint64_t
below(uint64_t *random, uint64_t limit)
{
    return test_random(random) % limit;
}

static void
random_shape(struct array *array, uint64_t *random, unsigned rank)
{
    uint64_t dims[MAX_RANK], chunk[MAX_RANK];
    size_t left = MOST_VALUES / 4, of_chunk = MOST_VALUES / 4;
    for (unsigned axis = 0; axis < rank; axis++) {
        const size_t most = axis + 1 == rank ? left : 12;
        dims[axis] =
            1 + below(random, (left < most ? left : most) < 1 ? 1 : (left < most ? left : most));
        left /= (size_t)dims[axis];
        chunk[axis] = 1 + below(random, dims[axis] + (below(random, 4) == 0 ? 3 : 0));
        if (chunk[axis] > of_chunk) {
            chunk[axis] = 1;
        }
        of_chunk /= (size_t)chunk[axis];
    }
    set_shape(array, rank, dims, chunk);
}

static void
random_array(struct array *array, uint64_t *random, unsigned rank)
{
    static const struct {
        enum h5twin_kind kind;
        uint32_t value_size;
        size_t element_size;
    } elements[] = {{H5TWIN_FLOAT, 4, 4},  {H5TWIN_FLOAT, 8, 8}, {H5TWIN_FLOAT, 4, 12},
                    {H5TWIN_FLOAT, 8, 24}, {H5TWIN_OTHER, 1, 1}, {H5TWIN_INTEGER, 2, 2}};
    const unsigned element = (unsigned)below(random, TEST_LENGTH(elements));
    const char *spec;
    do {
        spec = specs[below(random, TEST_LENGTH(specs))];
    } while (!test_spec_is_wanted(spec));
    *array = (struct array){.element_size = elements[element].element_size};
    random_shape(array, random, rank);
    set_params(array, spec, elements[element].kind, elements[element].value_size);
    if (below(random, 2) == 0) {
        for (size_t i = 0; i < array->element_size; i++) {
            array->fill[i] = (uint8_t)below(random, 64); /* finite floats */
        }
        array->fill_or_none = array->fill;
    }
}

/* The array's chunks, each as a store may have it. */
static void
random_store(struct array *array, uint64_t *random, const uint8_t *values)
{
    const size_t raw_size = array->chunk_values * array->element_size;
    for (size_t i = 0; i < array->chunk_count; i++) {
        struct blob *const blob = &array->blobs[i];
        uint8_t *const chunk = test_alloc(raw_size);
        gather_chunk(array, values, i, chunk);
        if (below(random, 4) == 0) { /* padding that somebody else has written */
            test_fill(chunk, raw_size, 4, TEST_SMOOTH, i);
        }
        const uint64_t kind = below(random, 8);
        if (kind == 0) {
            *blob = (struct blob){H5TWIN_CHUNK_RAW, chunk, raw_size};
            continue;
        }
        *blob = kind == 1   ? (struct blob){.state = H5TWIN_CHUNK_ABSENT}
                : kind == 2 ? (struct blob){.state = H5TWIN_CHUNK_SKIPPED}
                            : encode_chunk(array, chunk);
        free(chunk);
    }
}

/* What reading everything gives, one element after the other; skipped ones stay as they are. */
static void
decode_all(const struct array *array, uint8_t *values)
{
    uint8_t *const chunk = test_alloc(array->chunk_values * array->element_size);
    for (size_t number = 0; number < array->chunk_count; number++) {
        uint64_t of_chunk[MAX_RANK], in_chunk[MAX_RANK], at[MAX_RANK];
        if (array->blobs[number].state == H5TWIN_CHUNK_SKIPPED) {
            continue;
        }
        decode_blob(array, &array->blobs[number], chunk);
        to_coordinates(array->rank, array->grid, number, of_chunk);
        for (size_t i = 0; i < array->chunk_values; i++) {
            bool is_inside = true;
            to_coordinates(array->rank, array->chunk, i, in_chunk);
            for (unsigned axis = 0; axis < array->rank; axis++) {
                at[axis] = of_chunk[axis] * array->chunk[axis] + in_chunk[axis];
                is_inside = is_inside && at[axis] < array->dims[axis];
            }
            if (is_inside) {
                memcpy(values + to_number(array->rank, array->dims, at) * array->element_size,
                       chunk + i * array->element_size, array->element_size);
            }
        }
    }
    free(chunk);
}

static void
random_box(const struct array *array, struct box *box, uint64_t *random, bool is_of_chunks)
{
    for (unsigned axis = 0; axis < array->rank; axis++) {
        const uint64_t dim = array->dims[axis], chunk = array->chunk[axis];
        if (is_of_chunks) {
            const uint64_t first = below(random, array->grid[axis]);
            const uint64_t last = first + below(random, array->grid[axis] - first);
            const uint64_t end = (last + 1) * chunk < dim ? (last + 1) * chunk : dim;
            box->start[axis] = first * chunk;
            box->count[axis] = end - box->start[axis];
        } else {
            box->start[axis] = below(random, dim);
            box->count[axis] = 1 + below(random, dim - box->start[axis]);
        }
    }
    place_box(array, box, random, below(random, 3) == 0);
}

static unsigned
random_rank(uint64_t *random)
{
    return below(random, 12) == 0 ? MAX_RANK : 1 + (unsigned)below(random, H5TWIN_MAX_RANK);
}

static const size_t windows[] = {0, 1, 5000, 100000};

/* Chunks that the box touches, as they should be afterwards: what was there, written over. */
static void
check_written(const struct array *array, const struct array *before, const struct box *box,
              uint8_t *values, bool keeps_old)
{
    const size_t raw_size = array->chunk_values * array->element_size;
    uint8_t *const chunk = test_alloc(raw_size);
    copy_box(array, box, values, false);
    for (size_t number = 0; number < array->chunk_count; number++) {
        uint64_t of_chunk[MAX_RANK], in_chunk[MAX_RANK], at[MAX_RANK];
        bool is_touched = false;
        if (keeps_old) {
            decode_blob(array, &before->blobs[number], chunk);
        } else {
            gather_chunk(array, values, number, chunk);
        }
        to_coordinates(array->rank, array->grid, number, of_chunk);
        for (size_t i = 0; i < array->chunk_values; i++) {
            bool is_in_box = true;
            to_coordinates(array->rank, array->chunk, i, in_chunk);
            for (unsigned axis = 0; axis < array->rank; axis++) {
                at[axis] = of_chunk[axis] * array->chunk[axis] + in_chunk[axis];
                is_in_box = is_in_box && at[axis] >= box->start[axis] &&
                            at[axis] < box->start[axis] + box->count[axis];
            }
            if (is_in_box) {
                is_touched = true;
                memcpy(chunk + i * array->element_size,
                       values + to_number(array->rank, array->dims, at) * array->element_size,
                       array->element_size);
            }
        }
        const struct blob *const found = &array->blobs[number];
        if (!is_touched) {
            assert_int_equal(found->state, before->blobs[number].state);
            assert_int_equal(found->size, before->blobs[number].size);
            continue;
        }
        const struct blob wanted = encode_chunk(array, chunk);
        assert_int_equal(found->state, H5TWIN_CHUNK_ENCODED);
        assert_int_equal(found->size, wanted.size);
        assert_memory_equal(found->bytes, wanted.bytes, wanted.size);
        free(wanted.bytes);
    }
    free(chunk);
}

/* A copy of the array with its chunks. */
static struct array
array_copy(const struct array *array)
{
    struct array copy = *array;
    copy.blobs = test_alloc((array->chunk_count + 1) * sizeof *copy.blobs);
    for (size_t i = 0; i < array->chunk_count; i++) {
        copy.blobs[i] = array->blobs[i];
        if (copy.blobs[i].bytes != NULL) {
            copy.blobs[i].bytes = test_alloc(copy.blobs[i].size);
            memcpy(copy.blobs[i].bytes, array->blobs[i].bytes, copy.blobs[i].size);
        }
    }
    return copy;
}

static void
check_write(uint64_t seed, bool keeps_old)
{
    uint64_t random = seed;
    struct array array;
    struct box box;
    random_array(&array, &random, random_rank(&random));
    if (array.fill_or_none == NULL) {
        array.fill_or_none = below(&random, 2) == 0 ? NULL : array.fill; /* zeros, said or not */
    }
    const size_t size = array.value_count * array.element_size;
    uint8_t *const values = test_alloc(size);
    test_fill(values, size, 4, TEST_SMOOTH, seed);
    if (keeps_old) {
        random_store(&array, &random, values);
    }
    random_box(&array, &box, &random, !keeps_old);
    test_fill(values, size, 4, (enum test_pattern)below(&random, TEST_PATTERN_COUNT), seed + 1);
    copy_box(&array, &box, values, true);
    struct array before = array_copy(&array);
    const struct h5twin_exec exec = {.threads = 1 + (uint32_t)below(&random, 8)};
    struct h5twin_transfer transfer = describe(&array, &box, &exec);
    transfer.window = windows[below(&random, TEST_LENGTH(windows))];
    struct store store = store_of(&array);
    struct h5twin_chunk_store calls = calls_of(&store);
    if (!keeps_old) {
        calls.find = NULL;
        calls.get = NULL;
    }
    struct h5twin_transfer_failure failure;
    memset(&failure, 7, sizeof failure);
    assert_int_equal(h5twin_transfer_write(&transfer, &calls, box.first, &failure), H5TWIN_OK);
    assert_int_equal(failure.status, H5TWIN_OK);
    assert_int_equal(failure.cause, H5TWIN_TRANSFER_NOTHING);
    check_written(&array, &before, &box, values, keeps_old);
    free(box.block);
    free(values);
    array_free(&before);
    array_free(&array);
}

static void
test_written_chunks_are_those_of_encode(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        check_write(1000 + round, false);
    }
}

static void
test_what_is_not_written_over_stays(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        check_write(50000 + round, true);
    }
}

static void
test_boxes_are_read_and_nothing_else_is_touched(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t random = 90000 + round;
        struct array array;
        struct box box;
        random_array(&array, &random, random_rank(&random));
        const size_t size = array.value_count * array.element_size;
        uint8_t *const values = test_alloc(size);
        test_fill(values, size, 4, TEST_SMOOTH, round);
        random_store(&array, &random, values);
        random_box(&array, &box, &random, below(&random, 2) == 0);
        uint8_t *const expected = test_alloc(box.block_size), *const block = box.block;
        memset(values, GUARD, size); /* of what is skipped */
        decode_all(&array, values);
        memset(expected, GUARD, box.block_size);
        box.first = expected + (box.first - block);
        copy_box(&array, &box, values, true);
        box.first = block + (box.first - expected);
        const struct h5twin_exec exec = {.threads = 1 + (uint32_t)below(&random, 8)};
        struct h5twin_transfer transfer = describe(&array, &box, &exec);
        transfer.window = windows[below(&random, TEST_LENGTH(windows))];
        transfer.params = NULL;
        struct store store = store_of(&array);
        const struct h5twin_chunk_store calls = calls_of(&store);
        assert_int_equal(h5twin_transfer_read(&transfer, &calls, box.first, NULL), H5TWIN_OK);
        assert_memory_equal(block, expected, box.block_size);
        assert_int_equal(store.calls[PUT], 0);
        free(expected);
        free(block);
        free(values);
        array_free(&array);
    }
}

/* ---- arrays large enough for threads ---- */

#define SIDE 256u /* chunks of 256 KiB */

/* rows x 1 chunks of SIDE x SIDE floats; the last one cut. */
static void
make_large(struct array *array, unsigned chunks, const char *spec, uint8_t **values,
           struct box *box)
{
    *array = (struct array){.element_size = 4};
    set_shape(array, 2, (uint64_t[]){(uint64_t)chunks * SIDE - 3, SIDE}, (uint64_t[]){SIDE, SIDE});
    set_params(array, spec, H5TWIN_FLOAT, 4);
    const size_t size = array->value_count * 4;
    *values = test_alloc(size);
    test_fill(*values, size, 4, TEST_SMOOTH, chunks);
    *box = (struct box){.count = {array->dims[0], SIDE}, .strides = {4 * SIDE, 4}};
    box->first = *values;
}

static void
transfer_another(void)
{
    struct array array;
    struct box box;
    uint8_t *values;
    make_large(&array, 3, "ndzip", &values, &box);
    struct store store = store_of(&array);
    struct h5twin_chunk_store calls = calls_of(&store);
    const struct h5twin_transfer transfer = describe(&array, &box, NULL);
    assert_int_equal(h5twin_transfer_write(&transfer, &calls, values, NULL), H5TWIN_OK);
    free(values);
    array_free(&array);
}

static void
check_large(unsigned chunks, unsigned threads, size_t window, bool starts_another)
{
    struct array array;
    struct box box;
    uint8_t *values;
    make_large(&array, chunks, "ndzip", &values, &box);
    const struct h5twin_exec exec = {.threads = threads};
    struct h5twin_transfer transfer = describe(&array, &box, &exec);
    transfer.window = window;
    struct store store = store_of(&array);
    store.starts_another = starts_another;
    const struct h5twin_chunk_store calls = calls_of(&store);
    assert_int_equal(h5twin_transfer_write(&transfer, &calls, values, NULL), H5TWIN_OK);
    assert_int_equal(store.calls[PUT], chunks);
    uint8_t *const chunk = test_alloc(SIDE * SIDE * 4);
    for (size_t number = 0; number < chunks; number++) {
        gather_chunk(&array, values, number, chunk);
        const struct blob wanted = encode_chunk(&array, chunk);
        assert_int_equal(array.blobs[number].size, wanted.size);
        assert_memory_equal(array.blobs[number].bytes, wanted.bytes, wanted.size);
        free(wanted.bytes);
    }
    uint8_t *const back = test_alloc(array.value_count * 4);
    store = store_of(&array);
    assert_int_equal(h5twin_transfer_read(&transfer, &calls, back, NULL), H5TWIN_OK);
    assert_memory_equal(back, values, array.value_count * 4);
    free(back);
    free(chunk);
    free(values);
    array_free(&array);
}

static void
test_threads_and_windows_do_not_change_chunks(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads++) {
        for (unsigned chunks = 1; chunks <= 21; chunks += 5) {
            check_large(chunks, threads, 0, false);
            check_large(chunks, threads, 1, false);                     /* one after the other */
            check_large(chunks, threads, (size_t)threads << 20, false); /* not all at once */
        }
    }
}

static void
test_a_store_may_start_a_transfer(void **state)
{
    (void)state;
    check_large(9, 4, 0, true);
}

static void
test_a_million_tiny_chunks(void **state)
{
    (void)state;
    const size_t count = 1000000 / TEST_SLOWNESS;
    struct array array = {.element_size = 4};
    struct box box = {.count = {count * 4}, .strides = {4}};
    set_shape(&array, 1, (uint64_t[]){count * 4}, (uint64_t[]){4});
    set_params(&array, "sleek", H5TWIN_FLOAT, 4);
    uint8_t *const values = test_alloc(count * 16), *const back = test_alloc(count * 16);
    test_fill(values, count * 16, 4, TEST_SMOOTH, 3);
    struct store store = store_of(&array);
    const struct h5twin_chunk_store calls = calls_of(&store);
    const struct h5twin_transfer transfer =
        describe(&array, &box, &(struct h5twin_exec){.threads = 4});
    assert_int_equal(h5twin_transfer_write(&transfer, &calls, values, NULL), H5TWIN_OK);
    assert_int_equal(store.calls[PUT], count);
    for (size_t number = 0; number < count; number += 997) {
        const struct blob wanted = encode_chunk(&array, values + 16 * number);
        assert_int_equal(array.blobs[number].size, wanted.size);
        assert_memory_equal(array.blobs[number].bytes, wanted.bytes, wanted.size);
        free(wanted.bytes);
    }
    assert_int_equal(h5twin_transfer_read(&transfer, &calls, back, NULL), H5TWIN_OK);
    assert_memory_equal(back, values, count * 16);
    free(back);
    free(values);
    array_free(&array);
}

/* ---- failures ---- */

static void
assert_failure(const struct h5twin_transfer_failure *failure, enum h5twin_status status,
               enum h5twin_transfer_cause cause, size_t chunk)
{
    assert_int_equal(failure->status, status);
    assert_int_equal(failure->cause, cause);
    assert_true(failure->has_offset);
    assert_int_equal(failure->offset[0], chunk * SIDE);
    assert_int_equal(failure->offset[1], 0);
}

/* Each call of a store fails once. */
static void
test_a_failing_store_ends_the_transfer(void **state)
{
    (void)state;
    struct array array;
    struct box box;
    uint8_t *values;
    make_large(&array, 12, "sleek", &values, &box);
    uint8_t *const back = test_alloc(array.value_count * 4);
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        const struct h5twin_exec exec = {.threads = threads};
        const struct h5twin_transfer transfer = describe(&array, &box, &exec);
        struct h5twin_transfer_failure failure;
        for (size_t at = 1; at <= 12; at++) {
            struct store store = store_of(&array);
            struct h5twin_chunk_store calls = calls_of(&store);
            store.fails_at[PUT] = at;
            assert_int_equal(h5twin_transfer_write(&transfer, &calls, values, &failure),
                             STORE_STATUS);
            assert_failure(&failure, STORE_STATUS, H5TWIN_TRANSFER_STORE, at - 1);
            assert_int_equal(store.calls[PUT], at); /* none behind it */
            for (enum call call = FIND; call <= GET; call++) {
                store = store_of(&array);
                calls = calls_of(&store);
                assert_int_equal(h5twin_transfer_write(&transfer, &calls, values, NULL), H5TWIN_OK);
                store = store_of(&array);
                store.fails_at[call] = at;
                assert_int_equal(h5twin_transfer_read(&transfer, &calls, back, &failure),
                                 STORE_STATUS);
                assert_failure(&failure, STORE_STATUS, H5TWIN_TRANSFER_STORE, at - 1);
                assert_memory_equal(back, values, (at - 1) * SIDE * SIDE * 4);
            }
        }
        for (enum call call = FIND; call <= GET; call++) { /* of the chunk at the edge */
            struct store store = store_of(&array);
            const struct h5twin_chunk_store calls = calls_of(&store);
            store.fails_at[call] = 1;
            assert_int_equal(h5twin_transfer_write(&transfer, &calls, values, &failure),
                             STORE_STATUS);
            assert_failure(&failure, STORE_STATUS, H5TWIN_TRANSFER_STORE, 11);
            assert_int_equal(store.calls[PUT], 11);
        }
    }
    assert_true(test_pool_works());
    free(back);
    free(values);
    array_free(&array);
}

static void
test_damaged_chunks_are_named(void **state)
{
    (void)state;
    struct array array;
    struct box box;
    uint8_t *values;
    make_large(&array, 12, "ndzip", &values, &box);
    uint8_t *const back = test_alloc(array.value_count * 4);
    const struct h5twin_exec exec = {.threads = 4};
    const struct h5twin_transfer transfer = describe(&array, &box, &exec);
    struct store store = store_of(&array);
    const struct h5twin_chunk_store calls = calls_of(&store);
    assert_int_equal(h5twin_transfer_write(&transfer, &calls, values, NULL), H5TWIN_OK);
    for (size_t first = 0; first < 12; first += 3) {
        struct h5twin_transfer_failure failure;
        for (size_t i = first; i < 12;
             i += 2) { /* the first one is named, whichever is met first */
            array.blobs[i].bytes[array.blobs[i].size / 2] ^= 1;
        }
        store = store_of(&array);
        assert_int_equal(h5twin_transfer_read(&transfer, &calls, back, &failure),
                         H5TWIN_ERR_CHECKSUM);
        assert_failure(&failure, H5TWIN_ERR_CHECKSUM, H5TWIN_TRANSFER_DECODING, first);
        for (size_t i = first; i < 12; i += 2) {
            array.blobs[i].bytes[array.blobs[i].size / 2] ^= 1;
        }
    }
    /* Others' chunks: of another size, of none, raw ones that are cut, larger than any. */
    const struct blob kept = array.blobs[5];
    struct array other;
    struct box other_box;
    uint8_t *other_values;
    make_large(&other, 1, "ndzip", &other_values, &other_box);
    set_params(&other, "ndzip", H5TWIN_FLOAT, 4);
    other.chunk_values = 100;
    const struct blob small = encode_chunk(&other, values);
    uint8_t *const long_bytes = test_alloc(SIDE * SIDE * 4 + 1000);
    memset(long_bytes, 0, SIDE * SIDE * 4 + 1000);
    const struct {
        struct blob blob;
        enum h5twin_status status;
    } wrong[] = {{small, H5TWIN_ERR_CORRUPT},
                 {{H5TWIN_CHUNK_ENCODED, long_bytes, 0}, H5TWIN_ERR_SRC_SHORT},
                 {{H5TWIN_CHUNK_ENCODED, long_bytes, 500}, H5TWIN_ERR_MAGIC},
                 {{H5TWIN_CHUNK_ENCODED, long_bytes, SIDE * SIDE * 4 + 1000}, H5TWIN_ERR_CORRUPT},
                 {{H5TWIN_CHUNK_RAW, long_bytes, SIDE * SIDE * 4 - 1}, H5TWIN_ERR_CORRUPT},
                 {{H5TWIN_CHUNK_RAW, long_bytes, SIDE * SIDE * 4 + 1}, H5TWIN_ERR_CORRUPT}};
    for (unsigned i = 0; i < TEST_LENGTH(wrong); i++) {
        struct h5twin_transfer_failure failure;
        array.blobs[5] = wrong[i].blob;
        store = store_of(&array);
        assert_int_equal(h5twin_transfer_read(&transfer, &calls, back, &failure), wrong[i].status);
        assert_failure(&failure, wrong[i].status, H5TWIN_TRANSFER_DECODING, 5);
    }
    array.blobs[5] = kept;
    free(long_bytes);
    free(small.bytes);
    free(other_values);
    array_free(&other);
    free(back);
    free(values);
    array_free(&array);
}

static bool
accept_none(const void *context, const struct h5twin_info *info)
{
    (void)context;
    return info->raw_size == 0;
}

static void
test_the_store_may_refuse_a_chunk(void **state)
{
    (void)state;
    struct array array;
    struct box box;
    uint8_t *values;
    struct h5twin_transfer_failure failure;
    make_large(&array, 6, "gfc", &values, &box);
    const struct h5twin_transfer transfer = describe(&array, &box, NULL);
    struct store store = store_of(&array);
    struct h5twin_chunk_store calls = calls_of(&store);
    assert_int_equal(h5twin_transfer_write(&transfer, &calls, values, NULL), H5TWIN_OK);
    calls.accept = accept_none;
    store = store_of(&array);
    assert_int_equal(h5twin_transfer_read(&transfer, &calls, values, &failure), H5TWIN_ERR_CORRUPT);
    assert_failure(&failure, H5TWIN_ERR_CORRUPT, H5TWIN_TRANSFER_DECODING, 0);
    free(values);
    array_free(&array);
}

/* ---- requests ---- */

static void
test_wrong_requests_are_refused_before_the_store_is_called(void **state)
{
    (void)state;
    uint64_t dims[] = {10, 10}, chunk[] = {4, 4}, start[] = {0, 0}, count[] = {10, 10};
    ptrdiff_t strides[] = {40, 4};
    float values[100] = {0};
    struct array array = {.element_size = 4};
    set_shape(&array, 2, dims, chunk);
    set_params(&array, "sleek", H5TWIN_FLOAT, 4);
    const struct h5twin_transfer right = {.params = &array.params,
                                          .element_size = 4,
                                          .rank = 2,
                                          .dims = dims,
                                          .chunk = chunk,
                                          .start = start,
                                          .count = count,
                                          .strides = strides};
    struct store store = store_of(&array);
    const struct h5twin_chunk_store calls = calls_of(&store);
    for (unsigned i = 0; i < 19; i++) {
        struct h5twin_transfer transfer = right;
        struct h5twin_chunk_store some = calls;
        const void *memory = values;
        enum h5twin_status wanted = H5TWIN_ERR_ARG;
        bool is_of_write = true, is_of_read = true;
        ptrdiff_t zero_strides[] = {0, 4};
        uint64_t far[] = {3, 8}, many[] = {8, 10}, zeros[] = {4, 0};
        uint64_t around[] = {UINT64_MAX - 1, 2}; /* and back to the begin */
        uint64_t huge[] = {UINT64_MAX / 2, 4}, in_between[] = {2, 0}, few[] = {8, 10};
        struct h5twin_params params = array.params;
        switch (i) {
        case 0:
            transfer.rank = 0;
            break;
        case 1:
            transfer.rank = 33;
            break;
        case 2:
            transfer.element_size = 0;
            break;
        case 3:
            transfer.start = far;
            break;
        case 4:
            transfer.chunk = zeros;
            break;
        case 5:
            transfer.chunk = huge;
            wanted = H5TWIN_ERR_TOO_BIG;
            break;
        case 6:
            transfer.strides = NULL;
            break;
        case 7:
            memory = NULL;
            break;
        case 8:
            some.get = NULL;
            break;
        case 9:
            some.find = NULL;
            break;
        case 10:
            some.put = NULL;
            is_of_read = false;
            break;
        case 11:
            transfer.params = NULL;
            is_of_read = false;
            break;
        case 12:
            params.codec = (enum h5twin_codec_id)77;
            transfer.params = &params;
            wanted = H5TWIN_ERR_CODEC;
            is_of_read = false;
            break;
        case 13:
            transfer.strides = zero_strides;
            is_of_write = false;
            break;
        case 14: /* not all of its chunks, and no way to know the rest */
            transfer.start = in_between;
            transfer.count = few;
            some.find = NULL;
            some.get = NULL;
            is_of_read = false;
            break;
        case 15:
            transfer.count = many;
            transfer.start = far;
            break;
        case 16:
            transfer.dims = NULL;
            break;
        case 17:
            transfer.count = around;
            transfer.start = far;
            break;
        default:
            transfer.count = NULL;
            break;
        }
        struct h5twin_transfer_failure failure;
        if (is_of_write) {
            assert_int_equal(h5twin_transfer_write(&transfer, &some, memory, &failure), wanted);
            assert_int_equal(failure.status, wanted);
            assert_int_equal(failure.cause, H5TWIN_TRANSFER_REQUEST);
            assert_false(failure.has_offset);
        }
        if (is_of_read) {
            assert_int_equal(
                h5twin_transfer_read(&transfer, &some, memory == NULL ? NULL : values, &failure),
                wanted);
            assert_int_equal(failure.cause, H5TWIN_TRANSFER_REQUEST);
        }
    }
    assert_int_equal(h5twin_transfer_write(NULL, &calls, values, NULL), H5TWIN_ERR_ARG);
    assert_int_equal(h5twin_transfer_read(&right, NULL, values, NULL), H5TWIN_ERR_ARG);
    assert_int_equal(store.calls[PUT] + store.calls[FIND] + store.calls[GET], 0);
    array_free(&array);
}

static void
test_an_empty_box_is_nothing_to_do(void **state)
{
    (void)state;
    struct array array = {.element_size = 8};
    set_shape(&array, 2, (uint64_t[]){5, 5}, (uint64_t[]){2, 2});
    set_params(&array, "sleek", H5TWIN_FLOAT, 8);
    const struct box box = {.start = {5, 2}, .count = {0, 2}, .strides = {16, 8}};
    const struct h5twin_transfer transfer = describe(&array, &box, NULL);
    struct store store = store_of(&array);
    const struct h5twin_chunk_store calls = calls_of(&store);
    assert_int_equal(h5twin_transfer_write(&transfer, &calls, NULL, NULL), H5TWIN_OK);
    assert_int_equal(h5twin_transfer_read(&transfer, &calls, NULL, NULL), H5TWIN_OK);
    assert_int_equal(store.calls[PUT] + store.calls[FIND] + store.calls[GET], 0);
    array_free(&array);
}

static void
test_one_element_may_be_written_everywhere(void **state)
{
    (void)state;
    struct array array = {.element_size = 8};
    set_shape(&array, 2, (uint64_t[]){50, 7}, (uint64_t[]){8, 4});
    set_params(&array, "cascade", H5TWIN_FLOAT, 8);
    double value = 2.5, values[50 * 7];
    for (size_t i = 0; i < TEST_LENGTH(values); i++) {
        values[i] = value;
    }
    const struct box box = {.count = {50, 7}};
    const struct h5twin_transfer transfer = describe(&array, &box, NULL);
    struct store store = store_of(&array);
    struct h5twin_chunk_store calls = calls_of(&store);
    assert_int_equal(h5twin_transfer_write(&transfer, &calls, &value, NULL), H5TWIN_OK);
    for (size_t number = 0; number < array.chunk_count; number++) {
        uint8_t chunk[8 * 4 * 8];
        gather_chunk(&array, (const uint8_t *)values, number, chunk);
        const struct blob wanted = encode_chunk(&array, chunk);
        assert_int_equal(array.blobs[number].size, wanted.size);
        assert_memory_equal(array.blobs[number].bytes, wanted.bytes, wanted.size);
        free(wanted.bytes);
    }
    array_free(&array);
}

/* ---- processes and threads ---- */

static void
test_a_forked_child_transfers_alone(void **state)
{
    (void)state;
    check_large(9, 4, 0, false); /* the pool exists */
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        test_child_begin(120);
        check_large(9, 4, 0, false);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void *
transfer_often(void *unused)
{
    (void)unused;
    for (unsigned round = 0; round < 3; round++) {
        check_large(7, 3, 0, false);
    }
    return NULL;
}

static void
test_callers_side_by_side(void **state)
{
    (void)state;
    pthread_t callers[3];
    for (unsigned i = 0; i < TEST_LENGTH(callers); i++) {
        assert_int_equal(pthread_create(&callers[i], NULL, transfer_often, NULL), 0);
    }
    for (unsigned i = 0; i < TEST_LENGTH(callers); i++) {
        assert_int_equal(pthread_join(callers[i], NULL), 0);
    }
}

static enum h5twin_status
put_and_cancel(void *context, const uint64_t *offset, const void *chunk, size_t size)
{
    pthread_cancel(pthread_self()); /* waits until the transfer has ended */
    pthread_testcancel();
    return put(context, offset, chunk, size);
}

static void *
transfer_cancelled(void *context)
{
    struct store *const store = context;
    struct box box = {.count = {store->array->dims[0], SIDE}, .strides = {4 * SIDE, 4}};
    const struct h5twin_transfer transfer =
        describe(store->array, &box, &(struct h5twin_exec){.threads = 4});
    struct h5twin_chunk_store calls = calls_of(store);
    calls.put = put_and_cancel;
    store->caller = pthread_self();
    uint8_t *const values = calloc(store->array->value_count, 4);
    h5twin_transfer_write(&transfer, &calls, values, NULL);
    free(values);
    pthread_testcancel();
    return NULL;
}

static void
test_a_cancelled_caller_ends_its_transfer(void **state)
{
    (void)state;
    struct array array;
    struct box box;
    uint8_t *values;
    make_large(&array, 8, "sleek", &values, &box);
    struct store store = store_of(&array);
    pthread_t caller;
    void *result;
    assert_int_equal(pthread_create(&caller, NULL, transfer_cancelled, &store), 0);
    assert_int_equal(pthread_join(caller, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(store.calls[PUT], 8);
    assert_true(test_pool_works());
    free(values);
    array_free(&array);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_chunks_are_those_of_encode),
        cmocka_unit_test(test_what_is_not_written_over_stays),
        cmocka_unit_test(test_boxes_are_read_and_nothing_else_is_touched),
        cmocka_unit_test(test_threads_and_windows_do_not_change_chunks),
        cmocka_unit_test(test_a_store_may_start_a_transfer),
        cmocka_unit_test(test_a_million_tiny_chunks),
        cmocka_unit_test(test_a_failing_store_ends_the_transfer),
        cmocka_unit_test(test_damaged_chunks_are_named),
        cmocka_unit_test(test_the_store_may_refuse_a_chunk),
        cmocka_unit_test(test_wrong_requests_are_refused_before_the_store_is_called),
        cmocka_unit_test(test_an_empty_box_is_nothing_to_do),
        cmocka_unit_test(test_one_element_may_be_written_everywhere),
        cmocka_unit_test(test_a_forked_child_transfers_alone),
        cmocka_unit_test(test_callers_side_by_side),
        cmocka_unit_test(test_a_cancelled_caller_ends_its_transfer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
