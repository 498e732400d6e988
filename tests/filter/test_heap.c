/* SPDX-License-Identifier: BSD-3-Clause
 * test_heap.c: chunk after chunk, the filter and HDF5 use the same memory again: no page of it
 * faults anew. Buffers as HDF5 has them, one more of a chunk's size beside them at times. Chunks
 * too large for the heap come back all the same.
 *
 * Page faults are counted with glibc's malloc only; another one may do as it likes. */
#define _DEFAULT_SOURCE /* getrusage, setenv */
#include "support.h"

#include "hdf5_abi.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#if defined(__GLIBC__) && !defined(H5TWIN_SANITIZED)
#    define IS_GLIBCS_HEAP true
#else
#    define IS_GLIBCS_HEAP false
#endif
#define MIB         ((size_t)1 << 20)
#define WARM_ROUNDS 3
#define ROUNDS      10
#define MOST_FAULTS 32 /* of a chunk: two buffers of 256 KiB have 128 pages */
#define LARGE       (81 * MIB)

/* Not of the heap, which learns from what is freed. */
static uint8_t raw_bytes[LARGE], packed_bytes[LARGE + MIB];

struct chunk {
    const struct h5twin_hdf5_class *filter;
    unsigned cd_values[H5TWIN_USER_CD_VALUES];
    unsigned cd_count;
    size_t raw_size, packed_size;
    uint8_t *raw, *packed;
};

/* A buffer of HDF5's, with what came from the program or the file in it. */
static void *
buffer_of(const uint8_t *bytes, size_t size)
{
    void *const buffer = malloc(size);
    assert_non_null(buffer);
    memcpy(buffer, bytes, size);
    return buffer;
}

static void
write_chunk(struct chunk *chunk)
{
    size_t buffer_size = chunk->raw_size;
    void *buffer = buffer_of(chunk->raw, chunk->raw_size);
    chunk->packed_size = chunk->filter->filter(0, chunk->cd_count, chunk->cd_values,
                                               chunk->raw_size, &buffer_size, &buffer);
    assert_true(chunk->packed_size != 0 && chunk->packed_size <= buffer_size);
    memcpy(chunk->packed, buffer, chunk->packed_size);
    free(buffer);
}

static void
read_chunk(struct chunk *chunk)
{
    size_t buffer_size = chunk->packed_size;
    void *buffer = buffer_of(chunk->packed, chunk->packed_size);
    assert_int_equal(chunk->filter->filter(H5TWIN_HDF5_FLAG_REVERSE, chunk->cd_count,
                                           chunk->cd_values, chunk->packed_size, &buffer_size,
                                           &buffer),
                     chunk->raw_size);
    assert_memory_equal(buffer, chunk->raw, chunk->raw_size);
    free(buffer);
}

static struct chunk
chunk_make(const char *spec, size_t size, enum test_pattern pattern)
{
    struct h5twin_params params;
    assert_int_equal(test_params(&params, spec, "f32", "-"), H5TWIN_OK);
    struct chunk chunk = {.filter = h5twin_hdf5_class(params.codec),
                          .raw_size = size,
                          .raw = raw_bytes,
                          .packed = packed_bytes};
    chunk.cd_count = h5twin_params_to_cd_values(&params, chunk.cd_values);
    test_fill(chunk.raw, size, 4, pattern, 1);
    memset(chunk.packed, 0, sizeof packed_bytes); /* its pages are there */
    return chunk;
}

static long
faults_now(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt;
}

/* Of ROUNDS chunks. */
static long
faults_of(void (*step)(struct chunk *chunk), struct chunk *chunk)
{
    for (int round = 0; round < WARM_ROUNDS; round++) {
        step(chunk);
    }
    const long before = faults_now();
    for (int round = 0; round < ROUNDS; round++) {
        step(chunk);
    }
    return faults_now() - before;
}

static void
test_buffers_of_chunks_do_not_fault_anew(void **state)
{
    (void)state;
    if (!IS_GLIBCS_HEAP) {
        skip();
    }
    static const size_t sizes[] = {MIB / 4, MIB, 4 * MIB, 17 * MIB, 32 * MIB, 64 * MIB};
    for (unsigned i = 0; i < TEST_LENGTH(sizes); i++) {
        const size_t size = sizes[i];
        for (enum test_pattern pattern = TEST_SMOOTH; pattern <= TEST_RANDOM; pattern++) {
            struct chunk chunk = chunk_make("sleek", size, pattern);
            assert_true(faults_of(write_chunk, &chunk) <= MOST_FAULTS * ROUNDS);
            assert_true(faults_of(read_chunk, &chunk) <= MOST_FAULTS * ROUNDS);
        }
    }
}

static void
test_chunks_too_large_for_the_heap_come_back(void **state)
{
    (void)state;
    static const enum test_pattern patterns[] = {TEST_ZERO, TEST_RANDOM};
    for (unsigned i = 0; i < TEST_LENGTH(patterns); i++) {
        struct chunk chunk = chunk_make("sleek", LARGE, patterns[i]);
        write_chunk(&chunk);
        assert_int_equal(chunk.packed_size > chunk.raw_size, patterns[i] == TEST_RANDOM);
        read_chunk(&chunk);
    }
}

int
main(void)
{
    setenv("H5TWIN_NUM_THREADS", "1", 1); /* others have heaps of their own */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffers_of_chunks_do_not_fault_anew),
        cmocka_unit_test(test_chunks_too_large_for_the_heap_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
