/* SPDX-License-Identifier: BSD-3-Clause
 * test_cascade_reject.c: every rule of codec/cascade/FORMAT.md, section 8, by a stream that breaks
 * it; and damage anywhere, which must do no harm. */
#include "support.h"

#include "cascade_streams.h"
#include "page_guard.h"
#include "rules.h"

#include <stdlib.h>

#ifdef H5TWIN_TEST_ON_GPU /* see tests/simt */
bool test_gpu_is_missing(void);
#endif

/* An array of 64 words of 4 bytes, 2 x 32, in one coded slab with whatever tools. Everything a test
 * wants to damage has a field; what is right comes from good_slab(). */
struct slab {
    uint8_t version, word_log2, rank, zero;
    uint32_t slab_count, extent[2];
    uint8_t kind, tools, trailing, mask_axis;
    uint16_t exponent, orders;
    /* mask: the first four values */
    uint64_t fill;
    uint8_t nibbles[16];
    /* copies: words of the first four values */
    uint8_t copy_count, copy_rounds;
    uint32_t copy[2];
    uint8_t numbers[4];
    /* dictionary: gaps of words */
    uint32_t word_count;
    uint16_t dictionary_order;
    uint8_t gaps[64];
    /* references */
    uint8_t entry_count, rounds;
    uint32_t entry[2];
    uint8_t index[2];
    /* residuals */
    uint8_t residuals[64];
    unsigned residual_count;
    /* remainders: one segment */
    bool has_segment;
    uint16_t segment_size;
    uint8_t segment[64];
    unsigned more; /* bytes after the slab */
};

#define MASK       1u
#define DICTIONARY 2u
#define REFERENCES 4u
#define MONOTONE   8u
#define SOFT       16u
#define COPIES     32u

/* Entries. */
#define SHIFT(number)      (2u * (number))
#define FLIP(axis, number) (((axis) + 1u) << 26 | 2u * (number))

static struct slab
good_slab(unsigned tools)
{
    struct slab slab = {
        .version = (tools & COPIES) != 0 ? 2 : 1,
        .word_log2 = 2,
        .rank = 2,
        .slab_count = 1,
        .extent = {2, 32},
        .kind = 2,
        .tools = (uint8_t)tools,
        .orders = 0x10,
        .fill = 7,
        .copy_count = 1,
        .copy_rounds = 2,
        .copy = {SHIFT(1)},
        .numbers = {1}, /* and so the others */
        .word_count = 3,
        .dictionary_order = 1,
        .gaps = {2, 2, 4},
        .entry_count = 1,
        .rounds = 1,
        .entry = {2 * 32},
        .index = {0, 1},
        .residual_count = 64,
    };
    if ((tools & MASK) != 0) {
        slab.nibbles[0] = 15;
        slab.residual_count = 60;
    }
    if ((tools & SOFT) != 0) { /* all codes 0, all words 0: a bit of remainder each */
        slab.exponent = 130;
        slab.has_segment = true;
        slab.segment_size = (uint16_t)((slab.residual_count + 7) / 8);
    }
    return slab;
}

static struct stream
write_slab(const struct slab *slab)
{
    struct stream stream = {.size = 0};
    const uint8_t head[4] = {slab->version, slab->word_log2, slab->rank, slab->zero};
    put_bytes(&stream, head, sizeof head);
    put_number(&stream, slab->slab_count, 4);
    put_number(&stream, slab->extent[0], 4);
    put_number(&stream, slab->extent[1], 4);
    for (unsigned axis = 2; axis < slab->rank; axis++) {
        put_number(&stream, 1, 4);
    }
    const size_t directory = stream.size;
    put_number(&stream, 0, 4);
    const size_t begin = stream.size;
    const uint8_t slab_head[4] = {slab->kind, slab->tools, slab->trailing, slab->mask_axis};
    put_bytes(&stream, slab_head, sizeof slab_head);
    put_number(&stream, slab->exponent, 2);
    put_number(&stream, slab->orders, 2);
    if ((slab->tools & MASK) != 0) {
        put_number(&stream, slab->fill, 8);
        put_words(&stream, slab->nibbles, 16);
    }
    if ((slab->tools & COPIES) != 0) {
        put_number(&stream, slab->copy_count, 1);
        put_number(&stream, slab->copy_rounds, 1);
        for (unsigned i = 0; i < slab->copy_count && i < 2; i++) {
            put_number(&stream, slab->copy[i], 4);
        }
        put_words(&stream, slab->numbers, 4);
    }
    if ((slab->tools & DICTIONARY) != 0) {
        put_number(&stream, slab->word_count, 4);
        put_number(&stream, slab->dictionary_order, 2);
        put_words(&stream, slab->gaps, slab->word_count <= 64 ? slab->word_count : 64);
    }
    if ((slab->tools & REFERENCES) != 0) {
        put_number(&stream, slab->entry_count, 1);
        put_number(&stream, slab->rounds, 1);
        for (unsigned i = 0; i < slab->entry_count && i < 2; i++) {
            put_number(&stream, slab->entry[i], 4);
        }
        put_words(&stream, slab->index, 2);
    }
    put_words(&stream, slab->residuals, slab->residual_count);
    if (slab->has_segment) {
        put_number(&stream, slab->segment_size, 2);
        put_bytes(&stream, slab->segment, slab->segment_size);
    }
    put_number(&stream, 0, stream.size % 2);
    put_number(&stream, 0, slab->more);
    h5twin_store32(stream.bytes + directory, (uint32_t)(stream.size - begin));
    return stream;
}

static enum h5twin_status
decode_bytes(const uint8_t *bytes, size_t size, const char *type, const char *dims,
             size_t array_size)
{
    struct h5twin_params params;
    assert_int_equal(test_params(&params, "cascade", type, dims), H5TWIN_OK);
    uint8_t *const stream = test_page_copy(bytes, size);
    uint8_t *const array = test_page_alloc(array_size);
    const enum h5twin_status status = test_decode_payload(&params, array, array_size, stream, size);
    test_page_free(stream, size);
    test_page_free(array, array_size);
    return status;
}

static enum h5twin_status
decode_slab(const struct slab *slab)
{
    const struct stream stream = write_slab(slab);
    return decode_bytes(stream.bytes, stream.size, "f32", "2x32", 256);
}

static void
check_status(const char *rule, enum h5twin_status status, enum h5twin_status expected)
{
    if (status != expected) {
        fail_msg("%s: status %d, not %d", rule, (int)status, (int)expected);
    }
}

#define REFUSED(rule, slab) check_status(rule, decode_slab(&(slab)), H5TWIN_ERR_CORRUPT)
#define SHORT(rule, slab)   check_status(rule, decode_slab(&(slab)), H5TWIN_ERR_SRC_SHORT)

static void
test_what_is_damaged_here_is_good_otherwise(void **state)
{
    (void)state;
    static const unsigned tools[] = {0,
                                     MONOTONE,
                                     SOFT,
                                     MASK | MONOTONE,
                                     MASK | SOFT,
                                     DICTIONARY,
                                     DICTIONARY | MASK | MONOTONE,
                                     REFERENCES,
                                     REFERENCES | MASK | SOFT,
                                     REFERENCES | DICTIONARY,
                                     COPIES | MASK,
                                     COPIES | MASK | SOFT,
                                     COPIES | MASK | DICTIONARY | MONOTONE,
                                     COPIES | MASK | REFERENCES};
    for (size_t i = 0; i < TEST_LENGTH(tools); i++) {
        const struct slab slab = good_slab(tools[i]);
        assert_int_equal(decode_slab(&slab), H5TWIN_OK);
    }
}

static void
test_bad_headers_are_refused(void **state)
{
    (void)state;
    struct slab slab = good_slab(0);
    slab.version = 0;
    REFUSED(RULE("version-zero"), slab);
    slab.version = 3;
    check_status(RULE("version-newer"), decode_slab(&slab), H5TWIN_ERR_VERSION);
    slab = good_slab(0), slab.word_log2 = 3; /* not the frame's */
    REFUSED(RULE("word-size"), slab);
    slab = good_slab(0), slab.rank = 0;
    REFUSED(RULE("rank"), slab);
    slab.rank = 5;
    REFUSED(ALSO("rank"), slab);
    slab = good_slab(0), slab.zero = 1;
    REFUSED(RULE("byte-3"), slab);
    slab = good_slab(0), slab.extent[0] = slab.extent[1] = UINT32_C(1) << 16; /* above 2^31 */
    REFUSED(ALSO("values-above"), slab);
    slab = good_slab(0), slab.extent[0] = 3; /* not the caller's size */
    REFUSED(RULE("size"), slab);
    slab = good_slab(0), slab.extent[0] = 0;
    REFUSED(RULE("extent-zero"), slab);
    slab = good_slab(0), slab.slab_count = 0;
    REFUSED(RULE("slabs-zero"), slab);
    slab.slab_count = 3; /* more than indices */
    REFUSED(RULE("slabs-above"), slab);
    slab = good_slab(0), slab.slab_count = 2; /* the directory takes the slab's first bytes */
    assert_int_not_equal(decode_slab(&slab), H5TWIN_OK);

    slab = good_slab(0);
    struct stream stream = write_slab(&slab);
    const size_t directory = 16;
    h5twin_store32(stream.bytes + directory, (uint32_t)(stream.size - directory - 4 + 2));
    check_status(RULE("bodies-cut"), decode_bytes(stream.bytes, stream.size, "f32", "2x32", 256),
                 H5TWIN_ERR_SRC_SHORT);
    h5twin_store32(stream.bytes + directory, (uint32_t)(stream.size - directory - 4 - 2));
    check_status(RULE("bodies-behind"), decode_bytes(stream.bytes, stream.size, "f32", "2x32", 256),
                 H5TWIN_ERR_CORRUPT);
    check_status(RULE("header-cut"), decode_bytes(stream.bytes, 7, "f32", "2x32", 256),
                 H5TWIN_ERR_SRC_SHORT);
    check_status(RULE("extents-cut"), decode_bytes(stream.bytes, 15, "f32", "2x32", 256),
                 H5TWIN_ERR_SRC_SHORT);
    check_status(RULE("directory-cut"), decode_bytes(stream.bytes, 19, "f32", "2x32", 256),
                 H5TWIN_ERR_SRC_SHORT);
}

/* 2^24 values of a slab, said of 2^25 in one. */
static void
test_slabs_of_too_many_values_are_refused(void **state)
{
    (void)state;
    static const uint8_t header[20] = {1, 2, 1, 0, 1, 0, 0, 0, 0, 0, 0, 2, 4, 0, 0, 0, 1, 0, 0, 0};
    struct h5twin_params params;
    uint64_t raw_size;
    assert_int_equal(test_params(&params, "cascade", "f32", "33554432"), H5TWIN_OK);
    check_status(RULE("slab-values"),
                 h5twin_payload_raw_size(&params, header, sizeof header, &raw_size),
                 H5TWIN_ERR_CORRUPT);
}

/* 2^16 x 2^16 values in slabs of 2^24. */
static void
test_arrays_of_too_many_values_are_refused(void **state)
{
    (void)state;
    for (unsigned high = 0; high < 2; high++) { /* 2^15 or 2^16 rows, and so 2^31 or 2^32 values */
        uint8_t header[16 + 4 * 256] = {1, 2, 2, 0, 0, 1, 0, 0, 0, 0x80};
        struct h5twin_params params;
        uint64_t raw_size;
        header[9] = high ? 0 : 0x80;
        header[10] = (uint8_t)high;
        header[14] = 1;
        assert_int_equal(test_params(&params, "cascade", "f32", "1"), H5TWIN_OK);
        check_status(RULE("values-above"),
                     h5twin_payload_raw_size(&params, header, sizeof header, &raw_size),
                     high ? H5TWIN_ERR_CORRUPT : H5TWIN_OK);
    }
}

/* 64 words of 4 bytes in a coded slab of 258 bytes, as many as a raw one has, or 260. */
static void
test_coded_slabs_are_no_larger_than_raw_ones(void **state)
{
    (void)state;
    for (uint8_t more = 0; more < 2; more++) {
        struct stream stream = {.size = 0};
        const uint8_t residuals[18 + 230] = {4, 1, 29, 29, 28, (uint8_t)(28 + more)};
        put_bytes(&stream, (const uint8_t[16]){1, 2, 1, 0, 1, 0, 0, 0, 64}, 12);
        put_number(&stream, 258 + 2u * more, 4);
        put_bytes(&stream, (const uint8_t[8]){2}, 8);
        put_section(&stream, residuals, 246 + 2u * more);
        check_status(RULE("coded-larger"),
                     decode_bytes(stream.bytes, stream.size, "f32", "64", 256),
                     more ? H5TWIN_ERR_CORRUPT : H5TWIN_OK);
    }
}

static void
test_empty_arrays_have_one_form(void **state)
{
    (void)state;
    uint8_t empty[14] = {1, 2, 1};
    struct h5twin_params params;
    uint64_t raw_size;
    assert_int_equal(test_params(&params, "cascade", "f32", "-"), H5TWIN_OK);
    assert_int_equal(h5twin_payload_raw_size(&params, empty, 12, &raw_size), H5TWIN_OK);
    assert_int_equal(raw_size, 0);
    check_status(RULE("empty-behind"), h5twin_payload_raw_size(&params, empty, 13, &raw_size),
                 H5TWIN_ERR_CORRUPT);
    assert_int_equal(h5twin_payload_raw_size(&params, empty, 11, &raw_size), H5TWIN_ERR_SRC_SHORT);
    empty[4] = 1; /* a slab of nothing */
    check_status(RULE("empty-slabs"), h5twin_payload_raw_size(&params, empty, 12, &raw_size),
                 H5TWIN_ERR_CORRUPT);
}

/* Kinds, sizes, padding. */
static void
test_raw_and_constant_slabs_have_exact_sizes(void **state)
{
    (void)state;
    /* three bytes in one slab */
    static const uint8_t head[12] = {1, 0, 1, 0, 1, 0, 0, 0, 3, 0, 0, 0};
    static const struct {
        const char *rule;
        uint8_t body[8];
        uint8_t size;
        enum h5twin_status status;
    } bodies[] = {
        {"raw", {0, 0, 1, 2, 3, 0}, 6, H5TWIN_OK},
        {RULE("slab-padding"), {0, 0, 1, 2, 3, 1}, 6, H5TWIN_ERR_CORRUPT},
        {RULE("body-odd"), {0, 0, 1, 2, 3}, 5, H5TWIN_ERR_SRC_SHORT},
        {RULE("raw-size"), {0, 0, 1, 2, 3, 0, 0, 0}, 8, H5TWIN_ERR_CORRUPT},
        {ALSO("raw-size"), {0, 0, 1, 2}, 4, H5TWIN_ERR_SRC_SHORT},
        {RULE("tools-unused"), {0, 1, 1, 2, 3, 0}, 6, H5TWIN_ERR_CORRUPT},
        {"constant", {1, 0, 9, 0}, 4, H5TWIN_OK},
        {ALSO("slab-padding"), {1, 0, 9, 7}, 4, H5TWIN_ERR_CORRUPT},
        {ALSO("constant-size"), {1, 0}, 2, H5TWIN_ERR_SRC_SHORT},
        {ALSO("tools-unused"), {1, 8, 9, 0}, 4, H5TWIN_ERR_CORRUPT},
        {RULE("constant-size"), {1, 0, 9, 0, 0, 0}, 6, H5TWIN_ERR_CORRUPT},
        {RULE("kind"), {3, 0, 9, 0}, 4, H5TWIN_ERR_CORRUPT},
        {ALSO("body-odd"), {1}, 1, H5TWIN_ERR_SRC_SHORT},
        {ALSO("coded-larger"), {2, 0, 0, 0, 0, 0, 0, 0}, 8, H5TWIN_ERR_CORRUPT},
        {RULE("slab-cut"), {2, 0, 0, 0}, 4, H5TWIN_ERR_SRC_SHORT},
    };
    for (size_t i = 0; i < TEST_LENGTH(bodies); i++) {
        struct stream stream = {.size = 0};
        put_bytes(&stream, head, sizeof head);
        put_number(&stream, bodies[i].size, 4);
        put_bytes(&stream, bodies[i].body, bodies[i].size);
        check_status(bodies[i].rule, decode_bytes(stream.bytes, stream.size, "u8", "3", 3),
                     bodies[i].status);
    }
}

static void
test_bad_tools_and_maps_are_refused(void **state)
{
    (void)state;
    struct slab slab = good_slab(0);
    for (unsigned bit = 6; bit < 8; bit++) {
        slab.version = (uint8_t)(bit - 5);
        slab.tools = (uint8_t)(1u << bit);
        REFUSED(RULE("tools"), slab);
    }
    slab = good_slab(COPIES | MASK), slab.version = 1;
    REFUSED(RULE("copies-version"), slab);
    slab = good_slab(COPIES);
    REFUSED(RULE("copies-mask"), slab);
    slab = good_slab(MONOTONE | SOFT); /* map 3 */
    slab.has_segment = false;
    REFUSED(RULE("map"), slab);
    slab = good_slab(SOFT | DICTIONARY);
    REFUSED(RULE("soft-dictionary"), slab);
    slab = good_slab(MASK), slab.mask_axis = 3;
    REFUSED(RULE("mask-axis"), slab);
    slab = good_slab(0), slab.mask_axis = 1; /* without mask */
    REFUSED(RULE("mask-axis-unused"), slab);
    slab = good_slab(0), slab.trailing = 32;
    REFUSED(RULE("trailing"), slab);
    slab = good_slab(0), slab.exponent = 1; /* without the soft map */
    REFUSED(RULE("exponent-unused"), slab);
    slab = good_slab(SOFT), slab.trailing = 22; /* one bit of mantissa left */
    REFUSED(RULE("soft-trailing"), slab);
    slab = good_slab(SOFT), slab.exponent = 24; /* F + 1 */
    REFUSED(RULE("exponent"), slab);
    slab = good_slab(SOFT), slab.exponent = 256 + 24;
    REFUSED(ALSO("exponent"), slab);
}

/* Soft is for floats of 4 and 8 bytes only. */
static void
test_soft_bytes_are_refused(void **state)
{
    (void)state;
    static const uint8_t stream[] = {1,    0, 1, 0,   1, 0, 0, 0, 32, 0, 0, 0, 18, 0, 0, 0, 2,
                                     SOFT, 0, 0, 130, 0, 0, 0, 1, 0,  0, 0, 0, 0,  1, 0, 0, 0};
    check_status(RULE("soft-words"), decode_bytes(stream, sizeof stream, "u8", "32", 32),
                 H5TWIN_ERR_CORRUPT);
}

static void
test_bad_orders_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        uint16_t orders;
    } orders[] = {{RULE("order"), 0x70},
                  {ALSO("order"), 0xF0},
                  {RULE("order-extent"), 0x02},
                  {RULE("order-axis"), 0x100},
                  {ALSO("order-axis"), 0x1000}};
    for (size_t i = 0; i < TEST_LENGTH(orders); i++) {
        struct slab slab = good_slab(0);
        slab.orders = orders[i].orders;
        REFUSED(orders[i].rule, slab);
    }
}

/* The sizes of sections. */
static void
test_sections_must_fit_their_streams(void **state)
{
    (void)state;
    const struct slab slab = good_slab(0);
    struct stream stream = write_slab(&slab);
    const size_t section = 20 + 8, size = h5twin_load32(stream.bytes + section);
    for (int change = -2; change <= 2; change++) {
        h5twin_store32(stream.bytes + section, (uint32_t)(size + (size_t)change));
        const enum h5twin_status status =
            decode_bytes(stream.bytes, stream.size, "f32", "2x32", 256);
        assert_true(change == 0 ? status == H5TWIN_OK : status != H5TWIN_OK);
    }
    h5twin_store32(stream.bytes + section, UINT32_MAX);
    check_status(RULE("section-cut"), decode_bytes(stream.bytes, stream.size, "f32", "2x32", 256),
                 H5TWIN_ERR_SRC_SHORT);
    h5twin_store32(stream.bytes + section, (uint32_t)size);
    stream.bytes[section + 4] = 5; /* no such method */
    check_status(RULE("residuals"), decode_bytes(stream.bytes, stream.size, "f32", "2x32", 256),
                 H5TWIN_ERR_CORRUPT);
}

/* Two bytes of a section that its stream does not use. */
static void
test_sections_are_used_up(void **state)
{
    (void)state;
    struct slab slab = good_slab(0);
    slab.more = 2;
    struct stream stream = write_slab(&slab);
    const size_t section = 20 + 8;
    h5twin_store32(stream.bytes + section, h5twin_load32(stream.bytes + section) + 2);
    check_status(RULE("section-left"), decode_bytes(stream.bytes, stream.size, "f32", "2x32", 256),
                 H5TWIN_ERR_CORRUPT);
}

static void
test_bad_masks_are_refused(void **state)
{
    (void)state;
    struct slab slab = good_slab(MASK);
    slab.fill = UINT64_C(1) << 32;
    REFUSED(RULE("fill"), slab);
    slab = good_slab(MASK), slab.nibbles[0] = 16;
    REFUSED(RULE("mask-word"), slab);
    /* 63 values, and a bit for one more */
    slab = good_slab(MASK), slab.extent[0] = 1, slab.extent[1] = 63, slab.orders = 1;
    slab.residual_count = 59;
    for (uint8_t beyond = 0; beyond <= 8; beyond += 8) {
        slab.nibbles[15] = beyond;
        const struct stream stream = write_slab(&slab);
        check_status(RULE("mask-beyond"), decode_bytes(stream.bytes, stream.size, "f32", "63", 252),
                     beyond == 0 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT);
    }
}

static void
test_bad_dictionaries_are_refused(void **state)
{
    (void)state;
    struct slab slab = good_slab(DICTIONARY);
    slab.word_count = 0;
    REFUSED(RULE("dictionary-empty"), slab);
    slab = good_slab(DICTIONARY), slab.word_count = 65; /* more than values */
    REFUSED(RULE("dictionary-above"), slab);
    slab = good_slab(DICTIONARY | MASK), slab.word_count = 60;
    assert_int_equal(decode_slab(&slab), H5TWIN_OK);
    slab.word_count = 61; /* more than values that are not masked */
    REFUSED(ALSO("dictionary-above"), slab);
    slab = good_slab(DICTIONARY), slab.dictionary_order = 0;
    REFUSED(RULE("dictionary-order"), slab);
    slab.dictionary_order = 3;
    REFUSED(ALSO("dictionary-order"), slab);
    slab = good_slab(DICTIONARY), slab.residuals[63] = 6; /* index 3 of 3 words */
    REFUSED(RULE("code"), slab);
    slab.residuals[63] = 4;
    assert_int_equal(decode_slab(&slab), H5TWIN_OK);
    slab.residuals[63] = 1; /* index -1 */
    REFUSED(ALSO("code"), slab);
}

static void
test_bad_references_are_refused(void **state)
{
    (void)state;
    struct slab slab = good_slab(REFERENCES);
    slab.entry_count = 0;
    REFUSED(RULE("entries"), slab);
    slab.index[1] = 0; /* which no block needs */
    REFUSED(ALSO("entries"), slab);
    slab = good_slab(REFERENCES), slab.rounds = 0;
    REFUSED(RULE("rounds"), slab);
    slab.rounds = 21;
    REFUSED(ALSO("rounds"), slab);
    slab = good_slab(REFERENCES), slab.entry[0] = 2 * 31;
    REFUSED(RULE("lag"), slab);
    slab = good_slab(REFERENCES), slab.entry[0] = 2 * 33; /* before the first value */
    REFUSED(RULE("lag-before"), slab);
    slab = good_slab(REFERENCES), slab.entry_count = 2, slab.entry[1] = 2 * 32;
    assert_int_equal(decode_slab(&slab), H5TWIN_OK);
    slab.entry[1] = 2 * 31; /* of an entry that no block has */
    REFUSED(ALSO("lag"), slab);
    slab = good_slab(REFERENCES), slab.index[1] = 2;
    REFUSED(RULE("index"), slab);
    slab = good_slab(REFERENCES), slab.index[0] = 1; /* the first block has nothing before it */
    REFUSED(ALSO("lag-before"), slab);
    slab = good_slab(REFERENCES | MASK), slab.index[0] = 1; /* masked or not */
    REFUSED(ALSO("lag-before"), slab);
}

/* Flips lead where shifts may not; each entry is checked, whether a block has it or not. */
static void
test_bad_flips_are_refused(void **state)
{
    (void)state;
    struct slab slab = good_slab(REFERENCES);
    slab.version = 2;
    slab.index[0] = 1; /* which may have a flip */
    slab.entry[0] = FLIP(1, 63);
    assert_int_equal(decode_slab(&slab), H5TWIN_OK);
    slab.version = 1;
    REFUSED(RULE("entry-version"), slab);
    slab.version = 2, slab.entry[0] = FLIP(1, 64); /* no two indices have this sum */
    REFUSED(RULE("entry-number"), slab);
    slab.entry[0] = FLIP(0, 3);
    assert_int_equal(decode_slab(&slab), H5TWIN_OK);
    slab.entry[0] = FLIP(0, 4);
    REFUSED(ALSO("entry-number"), slab);
    slab.entry[0] = FLIP(2, 0); /* an axis that is not */
    REFUSED(RULE("entry-kind"), slab);
    slab.entry[0] = UINT32_C(1) << 31;
    REFUSED(ALSO("entry-kind"), slab);
    slab = good_slab(REFERENCES), slab.version = 2, slab.entry_count = 2;
    slab.entry[1] = FLIP(2, 0);
    REFUSED(ALSO("entry-kind"), slab);
}

static void
test_bad_copies_are_refused(void **state)
{
    (void)state;
    const struct slab good = good_slab(COPIES | MASK);
    struct slab slab = good;
    slab.copy_count = 0;
    REFUSED(RULE("copy-entries"), slab);
    slab = good, slab.copy_rounds = 0;
    REFUSED(RULE("copy-rounds"), slab);
    slab.copy_rounds = 26;
    REFUSED(ALSO("copy-rounds"), slab);
    slab.copy_rounds = 25;
    assert_int_equal(decode_slab(&slab), H5TWIN_OK);
    slab = good, slab.copy[0] |= 1;
    REFUSED(RULE("copy-sign"), slab);
    slab = good, slab.copy[0] = SHIFT(0);
    REFUSED(RULE("copy-shift"), slab);
    slab = good, slab.numbers[1] = 1; /* 1, 2 of 2, 0: ... */
    slab.copy_count = 2, slab.copy[1] = FLIP(1, 63);
    assert_int_equal(decode_slab(&slab), H5TWIN_OK);
    slab.numbers[1] = 3;
    REFUSED(RULE("copy-number"), slab);
    slab.numbers[1] = 1, slab.copy[1] = FLIP(1, 64);
    REFUSED(ALSO("entry-number"), slab);
    slab.copy[1] = FLIP(2, 0);
    REFUSED(ALSO("entry-kind"), slab);
    slab.copy[1] = FLIP(1, 63) | 1; /* of an entry that no value needs */
    REFUSED(ALSO("copy-sign"), slab);
}

/* The example of version 2 in FORMAT.md: 32 words, then the same backwards, each 1 or 2 more. */
static void
test_the_example_is_decoded(void **state)
{
    (void)state;
    static const uint8_t payload[140] = {
        0x02, 0x01, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x7C, 0x00,
        0x00, 0x00, 0x02, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x01, 0x7E, 0x00,
        0x00, 0x04, 0x0B, 0x00, 0x00, 0x00, 0x01, 0x01, 0x01, 0xF8, 0xFF, 0xFF, 0xFF, 0xFF,
        0xFF, 0x02, 0x00, 0x00, 0x5A, 0x00, 0x00, 0x00, 0x04, 0x01, 0x0F, 0x0F, 0x03, 0x03,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x96, 0x8C,
        0xD8, 0x8F, 0xB0, 0x67, 0x3E, 0x57, 0x3C, 0xF3, 0x16, 0xDE, 0xB8, 0x98, 0x2E, 0x77,
        0x37, 0xCB, 0x5D, 0xD6, 0xE3, 0x96, 0xF7, 0x04, 0x93, 0x45, 0xF1, 0x92, 0xDA, 0x68,
        0xB3, 0x88, 0x8B, 0x17, 0x97, 0xE9, 0xE5, 0xF6, 0x69, 0x4A, 0x69, 0xE4, 0xD9, 0x78,
        0x3E, 0x9F, 0xB9, 0xDB, 0xC6, 0x98, 0x2E, 0x87, 0x24, 0x3D, 0xE0, 0x27, 0x8D, 0x85,
        0x34, 0x88, 0xA2, 0x24, 0x4A, 0x12, 0x49, 0x92, 0x94, 0x24, 0x92, 0xA4, 0x44, 0x51};
    struct h5twin_params params;
    uint8_t array[128];
    assert_int_equal(test_params(&params, "cascade", "i16", "64"), H5TWIN_OK);
    assert_int_equal(test_decode_payload(&params, array, sizeof array, payload, sizeof payload),
                     H5TWIN_OK);
    assert_int_equal((int16_t)h5twin_load16(array), 1611);
    assert_int_equal((int16_t)h5twin_load16(array + 2), -4057);
    for (size_t i = 0; i < 32; i++) {
        const uint16_t more =
            (uint16_t)(h5twin_load16(array + 2 * (32 + i)) - h5twin_load16(array + 2 * (31 - i)));
        assert_true(more == 1 || more == 2);
    }
}

/* Values 1, 2, 3 are copies of the one before: 3 steps. */
static void
test_copies_must_be_as_short_as_said(void **state)
{
    (void)state;
    struct slab slab = good_slab(COPIES | MASK);
    slab.copy_rounds = 1;
    REFUSED(RULE("copy-steps"), slab);
    slab.numbers[1] = 1; /* 2 of 1: the fill word; then 1, 1 */
    slab.numbers[2] = 1;
    assert_int_equal(decode_slab(&slab), H5TWIN_ERR_CORRUPT);
    slab.numbers[3] = 1; /* fill, fill, copy, fill: 1 step */
    assert_int_equal(decode_slab(&slab), H5TWIN_OK);
    slab = good_slab(COPIES | MASK); /* three copies, each of the one before: 3 steps */
    slab.nibbles[0] = 14, slab.residual_count = 61;
    assert_int_equal(decode_slab(&slab), H5TWIN_OK);
    slab.copy_rounds = 1;
    assert_int_equal(decode_slab(&slab), H5TWIN_ERR_CORRUPT);
}

/* Three blocks, each of which refers to the one before, take 2 rounds; but 1
 * is enough if the middle one's source is masked. */
static void
test_chains_must_be_as_short_as_said(void **state)
{
    (void)state;
    for (unsigned masked = 0; masked < 2; masked++) {
        for (uint8_t rounds = 1; rounds <= 2; rounds++) {
            struct stream stream = {.size = 0};
            put_bytes(&stream, (const uint8_t[16]){1, 2, 1, 0, 1, 0, 0, 0, 96}, 12);
            const size_t directory = stream.size;
            put_number(&stream, 0, 4);
            put_bytes(&stream,
                      (const uint8_t[8]){2, (uint8_t)(REFERENCES | (masked ? MASK : 0)), 0, 0, 0, 0,
                                         0, 0},
                      8);
            uint8_t residuals[96] = {0}, nibbles[24] = {0};
            if (masked) { /* all of the second block */
                memset(nibbles + 8, 15, 8);
                put_number(&stream, 5, 8);
                put_words(&stream, nibbles, sizeof nibbles);
            }
            put_bytes(&stream, (const uint8_t[6]){1, rounds, 64}, 6);
            put_words(&stream, (const uint8_t[3]){0, 1, 1}, 3);
            put_words(&stream, residuals, masked ? 64 : 96);
            h5twin_store32(stream.bytes + directory, (uint32_t)(stream.size - directory - 4));
            /* depth by blocks is 2, which needs 2 rounds; by values 1 where the source is masked */
            const enum h5twin_status expected =
                rounds == 2 || masked ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
            check_status(RULE("steps"), decode_bytes(stream.bytes, stream.size, "f32", "96", 384),
                         expected);
        }
    }
}

static void
test_bad_remainders_are_refused(void **state)
{
    (void)state;
    struct slab slab = good_slab(SOFT);
    slab.segment_size = 7; /* 64 bits do not fit */
    REFUSED(RULE("remainder-cut"), slab);
    slab = good_slab(SOFT), slab.segment_size = 12; /* an exception that nobody asks for */
    REFUSED(RULE("remainder-left"), slab);
    slab.segment[0] = 1; /* but one value */
    assert_int_equal(decode_slab(&slab), H5TWIN_OK);
    slab.segment[0] = 3; /* or two, of which one is missing */
    REFUSED(ALSO("remainder-cut"), slab);
    slab = good_slab(SOFT), slab.segment_size = 10; /* half an exception */
    REFUSED(ALSO("remainder-left"), slab);
    slab = good_slab(SOFT | MASK), slab.segment[7] = 16; /* padding after 60 bits */
    REFUSED(RULE("remainder-padding"), slab);
    slab = good_slab(SOFT), slab.has_segment = false; /* no directory */
    SHORT(RULE("remainder-sizes"), slab);
}

static void
test_slabs_must_end_where_they_say(void **state)
{
    (void)state;
    struct slab slab = good_slab(0);
    slab.more = 2;
    REFUSED(RULE("slab-left"), slab);
    slab = good_slab(SOFT), slab.more = 2;
    REFUSED(ALSO("slab-left"), slab);
}

#ifndef H5TWIN_TEST_ON_GPU /* test_cascade_gpu.cpp damages payloads of its own */

/* ---- damage anywhere ---- */

/* Truncated, extended, and with every few bits turned: a status or other values. */
static void
damage(const char *spec, const char *type, const char *dims, const uint8_t *array,
       size_t array_size)
{
    struct h5twin_params params;
    size_t size;
    assert_int_equal(test_params(&params, spec, type, dims), H5TWIN_OK);
    const size_t capacity = h5twin_bound(&params, array_size);
    uint8_t *const stream = test_alloc(capacity);
    assert_int_equal(
        h5twin_encode_payload(&params, NULL, stream, capacity, array, array_size, &size),
        H5TWIN_OK);
    for (size_t cut = 0; cut < size; cut += 1 + size / 97) {
        assert_int_not_equal(decode_bytes(stream, cut, type, dims, array_size), H5TWIN_OK);
    }
    for (size_t bit = 0; bit < 8 * size; bit += bit < 1000 ? 3 : 8 * size / 61 + 1) {
        stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
        (void)decode_bytes(stream, size, type, dims, array_size);
        stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(stream);
}

static void
test_damage_anywhere_does_no_harm(void **state)
{
    (void)state;
    static uint8_t array[16 * 20 * 8];
    static const char *const specs[] = {"cascade:effort=fast", "cascade", "cascade:effort=max",
                                        "cascade:effort=quick"};
    for (unsigned pattern = 0; pattern < TEST_PATTERN_COUNT; pattern++) {
        for (unsigned i = 0; i < TEST_LENGTH(specs); i++) {
            test_fill(array, sizeof array, i % 2 ? 8 : 4, (enum test_pattern)pattern, i + 1);
            damage(specs[i], i % 2 ? "f64" : "f32", "16x20", array, (i % 2 ? 8u : 4u) * 320);
        }
    }
}

#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_damaged_here_is_good_otherwise),
        cmocka_unit_test(test_bad_headers_are_refused),
        cmocka_unit_test(test_slabs_of_too_many_values_are_refused),
        cmocka_unit_test(test_arrays_of_too_many_values_are_refused),
        cmocka_unit_test(test_coded_slabs_are_no_larger_than_raw_ones),
        cmocka_unit_test(test_empty_arrays_have_one_form),
        cmocka_unit_test(test_raw_and_constant_slabs_have_exact_sizes),
        cmocka_unit_test(test_bad_tools_and_maps_are_refused),
        cmocka_unit_test(test_soft_bytes_are_refused),
        cmocka_unit_test(test_bad_orders_are_refused),
        cmocka_unit_test(test_sections_must_fit_their_streams),
        cmocka_unit_test(test_sections_are_used_up),
        cmocka_unit_test(test_bad_masks_are_refused),
        cmocka_unit_test(test_bad_dictionaries_are_refused),
        cmocka_unit_test(test_bad_references_are_refused),
        cmocka_unit_test(test_bad_flips_are_refused),
        cmocka_unit_test(test_bad_copies_are_refused),
        cmocka_unit_test(test_the_example_is_decoded),
        cmocka_unit_test(test_copies_must_be_as_short_as_said),
        cmocka_unit_test(test_chains_must_be_as_short_as_said),
        cmocka_unit_test(test_bad_remainders_are_refused),
        cmocka_unit_test(test_slabs_must_end_where_they_say),
#ifndef H5TWIN_TEST_ON_GPU
        cmocka_unit_test(test_damage_anywhere_does_no_harm),
#endif
    };
#ifdef H5TWIN_TEST_ON_GPU
    if (test_gpu_is_missing()) {
        return TEST_SKIPPED;
    }
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
