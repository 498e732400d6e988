/* SPDX-License-Identifier: BSD-3-Clause
 * test_residuals.c: codec/residuals/residuals.h: streams by hand, and arrays there and back with
 * every instruction set and number of threads; damage anywhere does no harm. */
#include "isa.h"
#include "residuals/residuals.h"
#include "residuals/residuals_core.h"

#include "page_guard.h"

#include <stdlib.h>
#include <string.h>

/* RESIDUALS.md, the example: 12 words with rANS. */
static const uint32_t example_words[12] = {1, 0, 2, 0, 0, 3, 0, 1, 0, 20, 0, 0};
static const uint8_t example_rans[32] = {
    0x02, 0x00, 0x10, 0x00, 0x7B, 0x99, 0x1D, 0x00, 0xF0, 0x9C, 0x00, 0x00, 0x04, 0x01, 0xC0, 0xDA,
    0x11, 0x00, 0xA0, 0x71, 0xEE, 0x00, 0x20, 0xBC, 0x23, 0x00, 0xA0, 0xE7, 0x11, 0x00, 0x04, 0x00};
/* The same, packed: map 1, top 5, one group of step 0. */
static const uint8_t example_packed[19] = {0x01, 0x01, 0x05, 0xF8, 0xFF, 0xFF, 0xFF,
                                           0xFF, 0xFF, 0x01, 0x08, 0x00, 0x06, 0x08,
                                           0x80, 0x02, 0x00, 0x00, 0x00};

static h5twin_isa isa; /* under test */

/* It is that of one thread, and a sixteenth and 128 bytes off at most. */
static void
check_estimate(const struct h5twin_residuals *how, const void *words, size_t count, size_t size)
{
    struct h5twin_residuals alone = *how;
    alone.threads = 1;
    const uint64_t bits = h5twin_residuals_rans_estimate(how, words, count);
    const uint64_t bytes = bits / 8;
    assert_int_equal(bits, h5twin_residuals_rans_estimate(&alone, words, count));
    assert_in_range(size + 128, bytes - bytes / 16, bytes + bytes / 16 + 256);
}

static size_t
encode(enum h5twin_residuals_way way, const void *words, size_t count, unsigned word_bits,
       unsigned threads, uint8_t **stream)
{
    const size_t capacity = h5twin_residuals_bound(way, count, word_bits);
    const struct h5twin_residuals how = {
        .word_bits = word_bits,
        .threads = threads,
        .isa = isa,
        .scratch = test_alloc(h5twin_residuals_encode_scratch(way, count, threads) + 1),
    };
    uint8_t *const room = test_page_alloc(capacity);
    const size_t size = h5twin_residuals_encode(&how, way, room, words, count);
    assert_true(size <= capacity);
    if (way == H5TWIN_RESIDUALS_RANS && count > 0) {
        check_estimate(&how, words, count, size);
    }
    *stream = test_alloc(size);
    memcpy(*stream, room, size);
    test_page_free(room, capacity);
    free(how.scratch);
    return size;
}

/* Both the stream and the words end at a page that cannot be touched. */
static enum h5twin_status
decode(void *words, size_t count, unsigned word_bits, unsigned threads, const uint8_t *stream,
       size_t size, size_t *used)
{
    const size_t words_size = count * (word_bits / 8);
    uint8_t *const guarded_words = test_page_alloc(words_size);
    uint8_t *const guarded_stream = test_page_copy(stream, size);
    const struct h5twin_residuals how = {
        .word_bits = word_bits,
        .threads = threads,
        .isa = isa,
        .scratch = test_alloc(h5twin_residuals_decode_scratch(count) + 1),
    };
    const enum h5twin_status status =
        h5twin_residuals_decode(&how, guarded_words, count, guarded_stream, size, used);
    if (words_size != 0) { /* words may be NULL then */
        memcpy(words, guarded_words, words_size);
    }
    test_page_free(guarded_words, words_size);
    test_page_free(guarded_stream, size);
    free(how.scratch);
    return status;
}

static void
check_example(enum h5twin_residuals_way way, const uint8_t *expected, size_t expected_size)
{
    uint8_t *stream;
    uint32_t words[12];
    size_t used;
    const size_t size = encode(way, example_words, 12, 32, 1, &stream);
    assert_int_equal(size, expected_size);
    assert_memory_equal(stream, expected, size);
    assert_int_equal(decode(words, 12, 32, 1, expected, size, &used), H5TWIN_OK);
    assert_int_equal(used, size);
    assert_memory_equal(words, example_words, sizeof words);
    free(stream);
}

static void
test_examples_both_ways(void **state)
{
    (void)state;
    for (unsigned at = 0; h5twin_isa_level_at(at) != NULL; at++) {
        isa = h5twin_isa_level_at(at)->isa;
        check_example(H5TWIN_RESIDUALS_RANS, example_rans, sizeof example_rans);
        check_example(H5TWIN_RESIDUALS_PACKED, example_packed, sizeof example_packed);
    }
}

/* ---- arrays there and back ---- */

enum shape { SAME_LENGTH, ANY_LENGTH, BY_BLOCK, RARE, RUNS_OF_ZERO, NARROW, TINY, SHAPES };

static unsigned
length_for(enum shape shape, size_t i, unsigned word_bits, unsigned most, uint64_t random)
{
    switch (shape) {
    case SAME_LENGTH:
        return most;
    case ANY_LENGTH:
        return (unsigned)(random % (most + 1));
    case BY_BLOCK:
        return (unsigned)(i / 256 % (word_bits + 1));
    case RARE:
        return random % 8 == 0 ? most : 0;
    case RUNS_OF_ZERO:
        return i / 700 % 3 != 0 ? 0 : (unsigned)(i / 300 % (most + 1));
    case NARROW:
        return most < 6 ? most : most - (unsigned)(random % 6);
    default:
        return (unsigned)(random % 3);
    }
}

static void
fill_words(void *words, size_t count, unsigned word_bits, enum shape shape, uint64_t seed)
{
    uint64_t state = seed;
    const unsigned most = (unsigned)(test_random(&state) % (word_bits + 1));
    for (size_t i = 0; i < count; i++) {
        const unsigned length = length_for(shape, i, word_bits, most, test_random(&state));
        const uint64_t word = length == 0 ? 0 : test_random(&state) >> (64 - length);
        if (word_bits == 64) {
            ((uint64_t *)words)[i] = word;
        } else {
            ((uint32_t *)words)[i] = (uint32_t)word;
        }
    }
}

/* All variants and numbers of threads write the stream of the scalar one, and read it. */
static void
check_array(enum h5twin_residuals_way way, const void *words, size_t count, unsigned word_bits)
{
    uint8_t *expected, *stream;
    void *const back = test_alloc(count * (word_bits / 8));
    isa = h5twin_isa_level_at(0)->isa;
    const size_t size = encode(way, words, count, word_bits, 1, &expected);
    for (unsigned at = 0; h5twin_isa_level_at(at) != NULL; at++) {
        isa = h5twin_isa_level_at(at)->isa;
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            size_t used;
            assert_int_equal(encode(way, words, count, word_bits, threads, &stream), size);
            assert_memory_equal(stream, expected, size);
            free(stream);
            assert_int_equal(decode(back, count, word_bits, threads, expected, size, &used),
                             H5TWIN_OK);
            assert_int_equal(used, size);
            assert_memory_equal(back, words, count * (word_bits / 8));
        }
    }
    free(expected);
    free(back);
}

static void
test_arrays_come_back_with_every_variant_and_thread_count(void **state)
{
    (void)state;
    static const size_t counts[] = {0,   1,   15,  16,   17,   31,   32,   33,    255,
                                    256, 257, 511, 1000, 4096, 8191, 9000, 70000, 300001};
    for (size_t i = 0; i < TEST_LENGTH(counts); i++) {
        uint64_t *const words = test_alloc(counts[i] * 8);
        for (unsigned shape = 0; shape < SHAPES; shape++) {
            for (unsigned word_bits = 32; word_bits <= 64; word_bits += 32) {
                fill_words(words, counts[i], word_bits, (enum shape)shape, 100 * i + shape);
                check_array(H5TWIN_RESIDUALS_PACKED, words, counts[i], word_bits);
                check_array(H5TWIN_RESIDUALS_RANS, words, counts[i], word_bits);
            }
        }
        free(words);
    }
}

/* The largest words, which take all extra bits there are, alone and among zeros. */
static void
test_extreme_words_come_back(void **state)
{
    (void)state;
    static uint64_t words[3000];
    static uint32_t words32[3000];
    for (size_t every = 1; every <= 1000; every *= 10) {
        for (size_t i = 0; i < TEST_LENGTH(words); i++) {
            words[i] = i % every == 0 ? UINT64_MAX : 0;
            words32[i] = (uint32_t)words[i];
        }
        for (unsigned way = H5TWIN_RESIDUALS_PACKED; way <= H5TWIN_RESIDUALS_RANS; way++) {
            check_array((enum h5twin_residuals_way)way, words, TEST_LENGTH(words), 64);
            check_array((enum h5twin_residuals_way)way, words32, TEST_LENGTH(words32), 32);
        }
    }
}

/* ---- damage ---- */

/* Cut short at every length: never accepted, and nothing beyond is read. */
static void
check_cuts(const uint8_t *stream, size_t size, size_t count, unsigned word_bits)
{
    void *const words = test_alloc(count * 8);
    size_t used;
    for (size_t cut = 0; cut < size; cut += size < 400 ? 1 : 101) {
        assert_int_not_equal(decode(words, count, word_bits, 1, stream, cut, &used), H5TWIN_OK);
    }
    free(words);
}

/* Every bit turned: any status, but inside the buffers, and the same with all variants. */
static void
check_flips(const uint8_t *stream, size_t size, size_t count, unsigned word_bits)
{
    uint8_t *const damaged = test_alloc(size);
    uint8_t *const words = test_alloc(count * 8), *const other = test_alloc(count * 8);
    memcpy(damaged, stream, size);
    for (size_t bit = 0; bit < 8 * size; bit += size < 400 ? 5 : 61) {
        size_t used, other_used;
        damaged[bit / 8] ^= (uint8_t)(1u << bit % 8);
        isa = h5twin_isa_level_at(0)->isa;
        const enum h5twin_status status = decode(words, count, word_bits, 1, damaged, size, &used);
        for (unsigned at = 1; h5twin_isa_level_at(at) != NULL; at++) {
            isa = h5twin_isa_level_at(at)->isa;
            assert_int_equal(decode(other, count, word_bits, 1, damaged, size, &other_used),
                             status);
            assert_int_equal(other_used, used);
            if (status == H5TWIN_OK) {
                assert_memory_equal(other, words, count * (word_bits / 8));
            }
        }
        damaged[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    isa = h5twin_isa_available();
    free(damaged);
    free(words);
    free(other);
}

static void
test_damaged_streams_do_no_harm(void **state)
{
    (void)state;
    static uint64_t words[5000];
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        for (unsigned word_bits = 32; word_bits <= 64; word_bits += 32) {
            for (unsigned way = H5TWIN_RESIDUALS_PACKED; way <= H5TWIN_RESIDUALS_RANS; way++) {
                const size_t count = shape % 2 == 0 ? 70 : 2000;
                uint8_t *stream;
                isa = h5twin_isa_available();
                fill_words(words, count, word_bits, (enum shape)shape, shape + 1);
                const size_t size =
                    encode((enum h5twin_residuals_way)way, words, count, word_bits, 1, &stream);
                check_cuts(stream, size, count, word_bits);
                check_flips(stream, size, count, word_bits);
                free(stream);
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_both_ways),
        cmocka_unit_test(test_arrays_come_back_with_every_variant_and_thread_count),
        cmocka_unit_test(test_extreme_words_come_back),
        cmocka_unit_test(test_damaged_streams_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
