/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_decode_box.c: a box of any bytes as a chunk, whose magic, version and checksum are made
 * right first. The first four bytes say how the array is cut into elements and dims, which box of
 * it is asked for, and by which strides it goes to its place. What h5twin_decode reads is what the
 * box must hold; what it refuses must be refused if the box is all of the array. */
#include "fuzz.h"

#include "common/bytes.h"
#include "specs.h"

static uint64_t state;

static uint64_t
below(uint64_t count)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % count;
}

/* A divisor of count, 1 to 100. */
static uint64_t
divisor(uint64_t count)
{
    uint64_t wanted = 1 + below(100);
    while (count % wanted != 0) {
        wanted--;
    }
    return wanted;
}

/* Cut raw_size bytes; at least 1. */
static void
choose_box(struct h5twin_box *box, size_t raw_size)
{
    static const uint32_t sizes[] = {4, 8, 1, 2, 3, 12, 16, 24};
    const uint32_t size = sizes[below(8)];
    memset(box, 0, sizeof *box);
    box->element_size = raw_size % size == 0 ? size : 1;
    uint64_t count = raw_size / box->element_size;
    box->rank = 1 + (uint32_t)below(4);
    for (uint32_t axis = box->rank; axis-- > 1; count /= box->dims[axis]) {
        box->dims[axis] = divisor(count);
    }
    box->dims[0] = count;
    const bool is_whole = below(3) == 0;
    for (uint32_t axis = 0; axis < box->rank; axis++) {
        box->start[axis] = is_whole ? 0 : below(box->dims[axis]);
        const uint64_t most = box->dims[axis] - box->start[axis];
        box->count[axis] = is_whole ? most : below(most + 1);
    }
}

/* Strides with gaps; returns the bytes that are reached. */
static size_t
choose_strides(struct h5twin_box *box)
{
    size_t size = box->element_size;
    const uint64_t gap = below(3);
    for (uint32_t axis = box->rank; axis-- > 0;) {
        size += gap == 0 ? 0 : (size_t)below(gap);
        box->dst_strides[axis] = (int64_t)size;
        size *= (size_t)box->count[axis];
    }
    return size;
}

static void
compare(const uint8_t *dst, const struct h5twin_box *box, const uint8_t *array)
{
    uint64_t total = 1;
    for (uint32_t axis = 0; axis < box->rank; axis++) {
        total *= box->count[axis];
    }
    for (uint64_t number = 0; number < total; number++) {
        uint64_t rest = number, place = 0, scale = 1, at = 0;
        for (uint32_t axis = box->rank; axis-- > 0; rest /= box->count[axis]) {
            const uint64_t index = rest % box->count[axis];
            place += (box->start[axis] + index) * scale;
            scale *= box->dims[axis];
            at += index * (uint64_t)box->dst_strides[axis];
        }
        FUZZ_REQUIRE(memcmp(dst + at, array + place * box->element_size, box->element_size) == 0);
    }
}

static void
check(const uint8_t *chunk, size_t chunk_size, size_t raw_size)
{
    uint8_t *const array = malloc(raw_size);
    FUZZ_REQUIRE(array != NULL);
    size_t array_size;
    const enum h5twin_status expected =
        h5twin_decode(NULL, array, raw_size, chunk, chunk_size, &array_size);
    struct h5twin_box box;
    choose_box(&box, raw_size);
    const size_t room = choose_strides(&box);
    if (room <= 4 * FUZZ_LARGEST) {
        uint8_t *const dst = malloc(room == 0 ? 1 : room);
        FUZZ_REQUIRE(dst != NULL);
        const struct h5twin_exec exec = {.threads = 1 + (uint32_t)below(2)};
        const enum h5twin_status status = h5twin_decode_box(&exec, dst, &box, chunk, chunk_size);
        const bool is_whole = memcmp(box.count, box.dims, sizeof box.dims) == 0;
        FUZZ_REQUIRE(status == expected || (expected != H5TWIN_OK && !is_whole));
        if (expected == H5TWIN_OK) {
            compare(dst, &box, array);
        }
        free(dst);
    }
    free(array);
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size)
{
    static const uint8_t start[5] = {'H', '5', 'T', 'W', 1};
    if (input_size < FUZZ_SELECTOR + 24) {
        return 0;
    }
    state = h5twin_load32(input);
    const size_t chunk_size = input_size - FUZZ_SELECTOR;
    uint8_t *const chunk = fuzz_copy(input + FUZZ_SELECTOR, chunk_size);
    memcpy(chunk, start, sizeof start);
    test_reseal(chunk, chunk_size);
    struct h5twin_info info;
    if (h5twin_inspect(chunk, chunk_size, &info) == H5TWIN_OK && info.raw_size != 0 &&
        info.raw_size <= FUZZ_LARGEST) {
        check(chunk, chunk_size, (size_t)info.raw_size);
    }
    free(chunk);
    return 0;
}
