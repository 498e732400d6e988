/* SPDX-License-Identifier: BSD-3-Clause
 * test_residuals.c: codec/common/residuals.h: streams by hand, arrays there and back with every
 * instruction set and number of threads, and every check of the decoder by a damaged stream. */
#include "common/residuals.h"
#include "common/residuals_core.h"
#include "isa.h"

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

/* ---- every check ---- */

/* A stream from a good one: bits of one field set to another value. */
struct damage {
    const char *what;
    size_t bit;
    unsigned width;
    uint32_t value;
    enum h5twin_status status;
};

static void
check_damage(const uint8_t *stream, size_t size, size_t count, const struct damage *damage)
{
    uint8_t damaged[64];
    uint32_t words[64];
    size_t used;
    memcpy(damaged, stream, size);
    for (unsigned i = 0; i < damage->width; i++) {
        const size_t bit = damage->bit + i;
        damaged[bit / 8] =
            (uint8_t)((damaged[bit / 8] & ~(1u << bit % 8)) | (damage->value >> i & 1u) << bit % 8);
    }
    const enum h5twin_status status = decode(words, count, 32, 1, damaged, size, &used);
    if (status != damage->status) {
        print_error("%s: status %d\n", damage->what, (int)status);
    }
    assert_int_equal(status, damage->status);
}

static void
test_each_check_of_packed_streams(void **state)
{
    (void)state;
    static const struct damage damages[] = {
        {"no such method", 0, 8, 5, H5TWIN_ERR_CORRUPT},
        {"unused bit of the map", 8, 8, 3, H5TWIN_ERR_CORRUPT},
        {"empty map", 8, 8, 0, H5TWIN_ERR_CORRUPT},
        {"top width 0", 16, 8, 0, H5TWIN_ERR_CORRUPT},
        {"top width 33", 16, 8, 33, H5TWIN_ERR_CORRUPT},
        {"width 0 by steps", 24, 3, 5, H5TWIN_ERR_CORRUPT},
        {"width below 0 by steps", 24, 3, 6, H5TWIN_ERR_CORRUPT},
        {"groups longer than the stream", 16, 8, 6, H5TWIN_ERR_SRC_SHORT},
        {"word beyond the end", 8 * 9 + 5 * 12, 5, 1, H5TWIN_ERR_CORRUPT},
        {"group beyond the end", 27, 3, 4, H5TWIN_ERR_CORRUPT},
    };
    static const uint8_t widths[30] = {4, 1, 5, [18] = 0x01, 0x08};
    static const struct damage width_damages[] = {
        {"width 33", 16, 8, 33, H5TWIN_ERR_CORRUPT},
        {"group beyond the end", 24, 8, 1, H5TWIN_ERR_CORRUPT},
        {"groups longer than the stream", 16, 8, 8, H5TWIN_ERR_SRC_SHORT},
    };
    isa = h5twin_isa_available();
    uint8_t longer[sizeof example_packed + 2] = {0};
    memcpy(longer, example_packed, sizeof example_packed);
    for (size_t i = 0; i < TEST_LENGTH(damages); i++) {
        /* A group beyond the end is not to be missed for its length. */
        const bool adds = damages[i].bit == 27;
        check_damage(adds ? longer : example_packed, adds ? sizeof longer : sizeof example_packed,
                     12, &damages[i]);
    }
    const struct damage none = {"a group of 5 bits with method 4", 0, 0, 0, H5TWIN_OK};
    check_damage(widths, sizeof widths, 12, &none);
    for (size_t i = 0; i < TEST_LENGTH(width_damages); i++) {
        check_damage(widths, sizeof widths, 12, &width_damages[i]);
    }
}

/* Bit positions in the example, of which byte 1 begins the header. */
static void
test_each_check_of_rans_streams(void **state)
{
    (void)state;
    static const struct damage damages[] = {
        {"more kinds than blocks", 8, 7, 1, H5TWIN_ERR_CORRUPT},
        {"shift where there are none: the table moves", 15, 1, 1, H5TWIN_ERR_CORRUPT},
        {"symbol beyond the alphabet", 16, 8, 72, H5TWIN_ERR_CORRUPT},
        {"top beyond the last symbol", 24, 8, 17, H5TWIN_ERR_CORRUPT},
        {"frequency of 13 bits", 32, 7, 0x6F, H5TWIN_ERR_CORRUPT},
        {"padding bits", 8 * 13 + 7, 1, 1, H5TWIN_ERR_CORRUPT},
        {"state below 2^16", 8 * 14 + 16, 8, 0, H5TWIN_ERR_CORRUPT},
        {"last state is not 2^16", 8 * 14, 1, 1, H5TWIN_ERR_CORRUPT},
        {"unused extra bit", 8 * 30 + 3, 1, 1, H5TWIN_ERR_CORRUPT},
        {"unused extra byte", 8 * 31, 1, 1, H5TWIN_ERR_CORRUPT},
    };
    isa = h5twin_isa_available();
    for (size_t i = 0; i < TEST_LENGTH(damages); i++) {
        check_damage(example_rans, sizeof example_rans, 12, &damages[i]);
    }
}

/* Streams that only their header tells from good ones, written field by field. */
struct fields {
    uint8_t bytes[64];
    size_t bit;
};

static void
put_field(struct fields *fields, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++, fields->bit++) {
        fields->bytes[fields->bit / 8] |= (uint8_t)((value >> i & 1) << fields->bit % 8);
    }
}

struct head {
    unsigned kinds;     /* 1 or 2, without shifts */
    int shift;          /* of all kinds, -1 for none */
    unsigned coded;     /* kinds are, with as many units */
    uint64_t units;     /* of the kinds */
    unsigned var_bits;  /* of the number of segments */
    uint64_t segments;  /* - 1 */
    unsigned widths[3]; /* of the columns */
    uint64_t columns[3];
    unsigned kind; /* of every block */
};

/* All words of 3 blocks have token 0: one table of one symbol, states of 2^16. */
static enum h5twin_status
decode_head(const struct head *head)
{
    struct fields fields = {.bytes = {2}, .bit = 8};
    static uint32_t words[700];
    size_t used;
    put_field(&fields, head->kinds - 1, 7);
    put_field(&fields, head->shift >= 0, 1);
    for (unsigned kind = 0; kind < head->kinds; kind++) {
        put_field(&fields, (uint64_t)head->shift, head->shift < 0 ? 0 : 6);
        put_field(&fields, 0, kind != 0);
    }
    put_field(&fields, 0, 16);
    put_field(&fields, head->coded, 1);
    if (head->coded) {
        put_field(&fields, 1 | 1 << 8, 16); /* kind 1 has all but what kind 0 has: nothing */
        put_field(&fields, 7, 3);
        put_field(&fields, 0, 4);
        put_field(&fields, head->units == 0 ? 0 : h5twin_bit_length64(head->units), 6);
        put_field(&fields, head->units, h5twin_bit_length64(head->units));
    } else {
        for (unsigned block = 0; block < 3; block++) {
            put_field(&fields, head->kind, head->kinds == 1 ? 1 : 2);
        }
    }
    put_field(&fields, head->var_bits, 6);
    put_field(&fields, head->segments, head->var_bits);
    for (unsigned i = 0; i < 3; i++) {
        put_field(&fields, head->widths[i], 6);
    }
    for (uint64_t i = 0; i < 3; i++) {
        for (uint64_t s = i == 0; s <= head->segments && s < 4; s++) {
            put_field(&fields, head->columns[i], head->widths[i]);
        }
    }
    size_t size = (fields.bit + 15) / 16 * 2;
    for (unsigned lane = 0; lane < (head->coded ? 8u : 4u); lane++, size += 4) {
        fields.bytes[size + 2] = 1;
    }
    return decode(words, 700, 32, 1, fields.bytes, size, &used);
}

static void
test_each_check_of_rans_headers(void **state)
{
    (void)state;
    isa = h5twin_isa_available();
    const struct head good = {.kinds = 1, .shift = -1, .kind = 1};
    const struct head coded = {.kinds = 1, .shift = -1, .coded = 1};
    assert_int_equal(decode_head(&good), H5TWIN_OK);
    assert_int_equal(decode_head(&coded), H5TWIN_OK);
    struct head bad = good;
    bad.kinds = 4;
    assert_int_equal(decode_head(&bad), H5TWIN_ERR_CORRUPT);
    bad = good, bad.shift = 32;
    assert_int_equal(decode_head(&bad), H5TWIN_ERR_CORRUPT);
    bad = good, bad.kinds = 2, bad.kind = 3;
    assert_int_equal(decode_head(&bad), H5TWIN_ERR_CORRUPT);
    bad = coded, bad.units = 4; /* more than blocks */
    assert_int_equal(decode_head(&bad), H5TWIN_ERR_CORRUPT);
    bad = coded, bad.units = 1; /* one that nothing asks for */
    assert_int_not_equal(decode_head(&bad), H5TWIN_OK);
    bad = good, bad.var_bits = 1; /* highest bit 0 */
    assert_int_equal(decode_head(&bad), H5TWIN_ERR_CORRUPT);
    bad = good, bad.var_bits = 41, bad.segments = UINT64_C(1) << 40;
    assert_int_equal(decode_head(&bad), H5TWIN_ERR_CORRUPT);
    bad = good, bad.var_bits = 2, bad.segments = 3; /* 4 segments of 3 blocks */
    bad.widths[0] = 1, bad.columns[0] = 1;
    assert_int_equal(decode_head(&bad), H5TWIN_ERR_CORRUPT);
    bad = good, bad.var_bits = 1, bad.segments = 1; /* a segment of no blocks, but the last */
    assert_int_equal(decode_head(&bad), H5TWIN_ERR_CORRUPT);
    bad.widths[0] = 2, bad.columns[0] = 3; /* no block left for the last one */
    assert_int_equal(decode_head(&bad), H5TWIN_ERR_CORRUPT);
    for (unsigned column = 0; column < 3; column++) {
        bad = good, bad.widths[column] = 33;
        assert_int_equal(decode_head(&bad), H5TWIN_ERR_CORRUPT);
    }
    bad = good, bad.widths[1] = 10, bad.columns[1] = 701; /* more units than words */
    assert_int_equal(decode_head(&bad), H5TWIN_ERR_CORRUPT);
    bad = good, bad.widths[1] = 10, bad.columns[1] = 600; /* beyond the end */
    assert_int_equal(decode_head(&bad), H5TWIN_ERR_SRC_SHORT);
    bad = good, bad.widths[2] = 32, bad.columns[2] = UINT32_MAX;
    assert_int_equal(decode_head(&bad), H5TWIN_ERR_SRC_SHORT);
    bad = good, bad.kind = 0, bad.widths[2] = 1, bad.columns[2] = 1; /* extra bits of no words */
    assert_int_equal(decode_head(&bad), H5TWIN_ERR_CORRUPT);
}

static void
test_no_words_have_the_method_of_zeros_only(void **state)
{
    (void)state;
    isa = h5twin_isa_available();
    size_t used;
    for (uint8_t method = 0; method < 8; method++) {
        const uint8_t stream[9] = {method};
        assert_int_equal(decode(NULL, 0, 32, 1, stream, sizeof stream, &used),
                         method == 0 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT);
    }
    assert_int_equal(decode(NULL, 0, 32, 1, NULL, 0, &used), H5TWIN_ERR_SRC_SHORT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_both_ways),
        cmocka_unit_test(test_arrays_come_back_with_every_variant_and_thread_count),
        cmocka_unit_test(test_extreme_words_come_back),
        cmocka_unit_test(test_damaged_streams_do_no_harm),
        cmocka_unit_test(test_each_check_of_packed_streams),
        cmocka_unit_test(test_each_check_of_rans_streams),
        cmocka_unit_test(test_each_check_of_rans_headers),
        cmocka_unit_test(test_no_words_have_the_method_of_zeros_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
