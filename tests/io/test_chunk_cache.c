/* SPDX-License-Identifier: BSD-3-Clause
 * test_chunk_cache.c: parts out of the cache are those of the chunk that is asked for now: after
 * any reads, of chunks that were written anew or damaged, or have the same checksum, with little
 * room, from many threads, and in a forked child. What is judged by is the array that was encoded.
 */
#include "chunk_cache.h"
#include "support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#    include <sys/wait.h>
#    include <unistd.h>
#endif

#define ROWS    24u
#define COLUMNS 500u
#define VALUES  (ROWS * COLUMNS)
#define BYTES   (VALUES * sizeof(float))

static const uint64_t dims[] = {ROWS, COLUMNS};

struct chunk {
    float values[VALUES];
    uint8_t *bytes;
    size_t size;
};

static struct chunk *
make_chunk(const char *spec, float first)
{
    struct chunk *const chunk = test_alloc(sizeof *chunk);
    for (unsigned i = 0; i < VALUES; i++) {
        chunk->values[i] = first + (float)(i % 977) / 4;
    }
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    assert_int_equal(h5twin_params_parse(&params, spec, NULL), H5TWIN_OK);
    h5twin_params_set_array(&params, H5TWIN_FLOAT, sizeof(float), 2, dims);
    const size_t capacity = h5twin_bound(&params, BYTES);
    chunk->bytes = test_alloc(capacity);
    assert_int_equal(
        h5twin_encode(&params, NULL, chunk->bytes, capacity, chunk->values, BYTES, &chunk->size),
        H5TWIN_OK);
    return chunk;
}

static void
free_chunk(struct chunk *chunk)
{
    free(chunk->bytes);
    free(chunk);
}

/* One row (axis 0) or column. */
static enum h5twin_status
read_line(struct h5twin_chunk_cache *cache, const struct chunk *chunk, unsigned axis,
          uint64_t index, float *line)
{
    struct h5twin_box box;
    const uint64_t start[] = {axis == 0 ? index : 0, axis == 0 ? 0 : index};
    const uint64_t count[] = {axis == 0 ? 1 : ROWS, axis == 0 ? COLUMNS : 1};
    h5twin_box_set(&box, sizeof(float), 2, dims, start, count);
    struct h5twin_plan plan;
    const enum h5twin_status status = h5twin_plan_for_chunk(&plan, chunk->bytes, chunk->size);
    return status != H5TWIN_OK
               ? status
               : h5twin_chunk_cache_read(cache, &plan, NULL, line, &box, chunk->bytes, chunk->size);
}

static bool
line_is_right(const struct chunk *chunk, unsigned axis, uint64_t index, const float *line)
{
    const size_t count = axis == 0 ? COLUMNS : ROWS;
    for (size_t i = 0; i < count; i++) {
        const size_t at = axis == 0 ? index * COLUMNS + i : i * COLUMNS + index;
        if (line[i] != chunk->values[at]) {
            return false;
        }
    }
    return true;
}

static void
check_line(struct h5twin_chunk_cache *cache, const struct chunk *chunk, unsigned axis,
           uint64_t index)
{
    float line[COLUMNS];
    assert_int_equal(read_line(cache, chunk, axis, index, line), H5TWIN_OK);
    assert_true(line_is_right(chunk, axis, index, line));
}

static void
test_parts_become_copies(void **state)
{
    (void)state;
    const char *spec;
    for (unsigned s = 0; (spec = test_spec_at(s)) != NULL; s++) {
        if (strstr(spec, "abs") != NULL || strstr(spec, "noa") != NULL ||
            strstr(spec, "rel") != NULL) {
            continue; /* gives other values back */
        }
        struct chunk *const chunk = make_chunk(spec, 1);
        struct h5twin_chunk_cache *const cache = h5twin_chunk_cache_new(10 * BYTES);
        assert_non_null(cache);
        for (unsigned i = 0; i < 60; i++) {
            check_line(cache, chunk, i % 2, i * 7 % (i % 2 == 0 ? ROWS : COLUMNS));
        }
        const struct h5twin_chunk_cache_counts counts = h5twin_chunk_cache_counts(cache);
        assert_int_equal(counts.copied + counts.decoded + counts.kept,
                         counts.decoded == 0 && counts.kept == 0 ? 0 : 60);
        struct h5twin_info info;
        assert_int_equal(h5twin_inspect(chunk->bytes, chunk->size, &info), H5TWIN_OK);
        if (!info.stored_raw) { /* a column takes all blocks, or nearly */
            assert_int_equal(counts.kept, 1);
            assert_int_equal(counts.kept_bytes, BYTES);
            assert_true(counts.copied >= 20);
        }
        h5twin_chunk_cache_free(cache);
        free_chunk(chunk);
    }
}

static void
keep(struct h5twin_chunk_cache *cache, const struct chunk *chunk)
{
    const uint64_t kept = h5twin_chunk_cache_counts(cache).kept;
    for (unsigned i = 0; i < 50 && h5twin_chunk_cache_counts(cache).kept == kept; i++) {
        check_line(cache, chunk, 1, i);
    }
    assert_int_equal(h5twin_chunk_cache_counts(cache).kept, kept + 1);
}

static void
test_stored_bytes_are_the_identity(void **state)
{
    (void)state;
    struct chunk *const first = make_chunk("cascade", 1), *const second = make_chunk("cascade", 2);
    struct h5twin_chunk_cache *const cache = h5twin_chunk_cache_new(10 * BYTES);
    float line[COLUMNS];
    keep(cache, first);
    check_line(cache, second, 0, 3); /* written anew */
    check_line(cache, first, 0, 3);  /* and back */
    const uint64_t copied = h5twin_chunk_cache_counts(cache).copied;
    check_line(cache, first, 0, 5);
    assert_int_equal(h5twin_chunk_cache_counts(cache).copied, copied + 1);
    /* Bytes changed, frame and size as they were: damage, not a copy of what is kept. */
    for (size_t at = 24; at < first->size; at += 1 + first->size / 50) {
        first->bytes[at] ^= 4;
        assert_int_equal(read_line(cache, first, 0, 5, line), H5TWIN_ERR_CHECKSUM);
        first->bytes[at] ^= 4;
    }
    check_line(cache, first, 0, 5);
    h5twin_chunk_cache_forget(cache);
    assert_int_equal(h5twin_chunk_cache_counts(cache).kept_bytes, 0);
    check_line(cache, first, 0, 5);
    h5twin_chunk_cache_free(cache);
    free_chunk(first);
    free_chunk(second);
}

/* Two chunks of the same size, frame and checksum, as one in 2^32 pairs is: the first is kept, the
 * second is not taken for it. */
static void
test_equal_checksums(void **state)
{
    (void)state;
    struct chunk *const first = make_chunk("sleek", 1), *const second = make_chunk("sleek", 1);
    assert_int_equal(first->size, second->size);
    /* Of a block that is stored raw, four bytes make up for any change before them. */
    struct h5twin_chunk_cache *const cache = h5twin_chunk_cache_new(10 * BYTES);
    keep(cache, first);
    second->bytes[second->size - 9] ^= 1;
    uint32_t solution = 0, columns[32], base;
    const size_t at = second->size - 6;
    uint32_t wanted;
    memcpy(&wanted, first->bytes + 20, 4);
    /* The checksum is linear in the bits of these four bytes: solve for them. */
    test_reseal(second->bytes, second->size);
    memcpy(&base, second->bytes + 20, 4);
    for (unsigned bit = 0; bit < 32; bit++) {
        second->bytes[at + bit / 8] ^= (uint8_t)(1u << bit % 8);
        test_reseal(second->bytes, second->size);
        memcpy(&columns[bit], second->bytes + 20, 4);
        columns[bit] ^= base;
        second->bytes[at + bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    uint32_t masks[32], left = base ^ wanted;
    for (unsigned bit = 0; bit < 32; bit++) {
        masks[bit] = 1u << bit;
    }
    for (unsigned row = 0; row < 32; row++) {
        unsigned pivot = row;
        while (pivot < 32 && (columns[pivot] >> row & 1u) == 0) {
            pivot++;
        }
        assert_true(pivot < 32);
        const uint32_t column = columns[pivot], mask = masks[pivot];
        columns[pivot] = columns[row];
        masks[pivot] = masks[row];
        columns[row] = column;
        masks[row] = mask;
        for (unsigned other = 0; other < 32; other++) {
            if (other != row && (columns[other] >> row & 1u) != 0) {
                columns[other] ^= column;
                masks[other] ^= mask;
            }
        }
        if ((left >> row & 1u) != 0) {
            left ^= column;
            solution ^= mask;
        }
    }
    assert_int_equal(left, 0);
    for (unsigned byte = 0; byte < 4; byte++) {
        second->bytes[at + byte] ^= (uint8_t)(solution >> 8 * byte);
    }
    test_reseal(second->bytes, second->size);
    assert_memory_equal(second->bytes, first->bytes, 24);
    const uint64_t copied = h5twin_chunk_cache_counts(cache).copied;
    float line[COLUMNS], alone[COLUMNS];
    const enum h5twin_status expected = read_line(NULL, second, 0, ROWS - 1, alone);
    assert_int_equal(read_line(cache, second, 0, ROWS - 1, line), expected);
    if (expected == H5TWIN_OK) {
        assert_memory_equal(line, alone, sizeof line);
    }
    assert_int_equal(h5twin_chunk_cache_counts(cache).copied, copied);
    h5twin_chunk_cache_free(cache);
    free_chunk(first);
    free_chunk(second);
}

static void
test_a_bad_box_is_refused_kept_or_not(void **state)
{
    (void)state;
    struct chunk *const chunk = make_chunk("cascade", 1);
    struct h5twin_chunk_cache *const cache = h5twin_chunk_cache_new(10 * BYTES);
    float line[COLUMNS];
    for (unsigned round = 0; round < 2; round++) {
        assert_int_equal(read_line(cache, chunk, 0, ROWS, line), H5TWIN_ERR_DIMS);
        assert_int_equal(read_line(cache, chunk, 0, 0, NULL), H5TWIN_ERR_ARG);
        if (round == 0) {
            keep(cache, chunk);
        }
    }
    h5twin_chunk_cache_free(cache);
    free_chunk(chunk);
}

static void
test_memory_is_bounded(void **state)
{
    (void)state;
    struct chunk *chunks[6];
    for (unsigned i = 0; i < 6; i++) {
        chunks[i] = make_chunk("cascade", (float)i);
    }
    struct chunk *const other = make_chunk("cascade", 100);
    const size_t limits[] = {0, BYTES - 1, BYTES, 2 * BYTES + BYTES / 2};
    for (size_t k = 0; k < TEST_LENGTH(limits); k++) {
        struct h5twin_chunk_cache *const cache = h5twin_chunk_cache_new(limits[k]);
        for (unsigned i = 0; i < 300; i++) {
            check_line(cache, chunks[i % 6], i % 2, i % ROWS);
            assert_true(h5twin_chunk_cache_counts(cache).kept_bytes <= limits[k]);
        }
        const struct h5twin_chunk_cache_counts counts = h5twin_chunk_cache_counts(cache);
        const size_t fit = limits[k] / BYTES;
        /* In turns, those that fit stay: nothing is decoded as a whole to be driven out. */
        assert_int_equal(counts.kept, fit);
        assert_int_equal(counts.kept_bytes, fit * BYTES);
        /* Once others are read, they make room. */
        if (fit > 0) {
            keep(cache, other);
            assert_true(h5twin_chunk_cache_counts(cache).kept_bytes <= limits[k]);
        }
        h5twin_chunk_cache_free(cache);
    }
    free_chunk(other);
    for (unsigned i = 0; i < 6; i++) {
        free_chunk(chunks[i]);
    }
}

/* Less room drops the oldest arrays at once; none is kept beyond it, and more is used again. */
static void
test_the_limit_may_change(void **state)
{
    (void)state;
    struct chunk *chunks[4];
    struct h5twin_chunk_cache *const cache = h5twin_chunk_cache_new(4 * BYTES);
    for (unsigned i = 0; i < 4; i++) {
        chunks[i] = make_chunk("cascade", (float)i);
        keep(cache, chunks[i]);
    }
    const size_t limits[] = {2 * BYTES + 1, BYTES, BYTES - 1, 0};
    for (size_t k = 0; k < TEST_LENGTH(limits); k++) {
        h5twin_chunk_cache_set_limit(cache, limits[k]);
        assert_int_equal(h5twin_chunk_cache_counts(cache).kept_bytes, limits[k] / BYTES * BYTES);
        if (k == 0) { /* the one that was used last */
            const uint64_t copied = h5twin_chunk_cache_counts(cache).copied;
            check_line(cache, chunks[3], 0, 7);
            assert_int_equal(h5twin_chunk_cache_counts(cache).copied, copied + 1);
        }
        for (unsigned i = 0; i < 40; i++) {
            check_line(cache, chunks[i % 4], i % 2, i % ROWS);
            assert_true(h5twin_chunk_cache_counts(cache).kept_bytes <= limits[k]);
        }
    }
    h5twin_chunk_cache_set_limit(cache, BYTES);
    for (unsigned i = 0; i < 3; i++) {
        check_line(cache, chunks[1], 1, i);
    }
    assert_int_equal(h5twin_chunk_cache_counts(cache).kept_bytes, BYTES);
    h5twin_chunk_cache_set_limit(NULL, 1);
    h5twin_chunk_cache_free(cache);
    for (unsigned i = 0; i < 4; i++) {
        free_chunk(chunks[i]);
    }
}

static void
test_many_chunks(void **state)
{
    (void)state;
    struct h5twin_chunk_cache *const cache = h5twin_chunk_cache_new(3 * BYTES);
    for (unsigned i = 0; i < 3000 / TEST_SLOWNESS; i++) { /* more than it knows of */
        struct chunk *const chunk = make_chunk("sleek", (float)i);
        check_line(cache, chunk, 0, i % ROWS);
        check_line(cache, chunk, 1, i % COLUMNS);
        free_chunk(chunk);
    }
    assert_true(h5twin_chunk_cache_counts(cache).kept_bytes <= 3 * BYTES);
    h5twin_chunk_cache_free(cache);
    /* No cache at all. */
    struct chunk *const chunk = make_chunk("sleek", 1);
    check_line(NULL, chunk, 1, 4);
    h5twin_chunk_cache_forget(NULL);
    h5twin_chunk_cache_free(NULL);
    free_chunk(chunk);
}

/* ---- threads ---- */

#define THREADS 4u

struct reader {
    struct h5twin_chunk_cache *cache;
    struct chunk *const *chunks;
    uint64_t seed;
    unsigned wrong;
};

static void *
read_many(void *context)
{
    struct reader *const reader = context;
    for (unsigned i = 0; i < 400 / TEST_SLOWNESS; i++) {
        const uint64_t random = test_random(&reader->seed);
        const unsigned axis = random % 2;
        const uint64_t index = random / 16 % (axis == 0 ? ROWS : COLUMNS);
        const struct chunk *const chunk = reader->chunks[random / 1024 % 5];
        float line[COLUMNS];
        reader->wrong += read_line(reader->cache, chunk, axis, index, line) != H5TWIN_OK ||
                         !line_is_right(chunk, axis, index, line);
        if (i % 97 == 0) {
            h5twin_chunk_cache_forget(reader->cache);
        }
    }
    return NULL;
}

/* There is room for some only. */
static void
test_threads(void **state)
{
    (void)state;
    struct chunk *chunks[5];
    for (unsigned i = 0; i < 5; i++) {
        chunks[i] = make_chunk(i % 2 == 0 ? "sleek" : "cascade", (float)i);
    }
    struct h5twin_chunk_cache *const cache = h5twin_chunk_cache_new(2 * BYTES);
    pthread_t threads[THREADS];
    struct reader readers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        readers[i] = (struct reader){.cache = cache, .chunks = chunks, .seed = i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, read_many, &readers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(readers[i].wrong, 0);
    }
#ifndef _WIN32
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        test_child_begin(60);
        struct reader reader = {.cache = cache, .chunks = chunks, .seed = 9};
        read_many(&reader);
        _exit(reader.wrong == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
#endif
    h5twin_chunk_cache_free(cache);
    for (unsigned i = 0; i < 5; i++) {
        free_chunk(chunks[i]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_become_copies),
        cmocka_unit_test(test_stored_bytes_are_the_identity),
        cmocka_unit_test(test_equal_checksums),
        cmocka_unit_test(test_a_bad_box_is_refused_kept_or_not),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_the_limit_may_change),
        cmocka_unit_test(test_many_chunks),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
