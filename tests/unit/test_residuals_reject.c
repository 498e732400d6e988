/* SPDX-License-Identifier: BSD-3-Clause
 * test_residuals_reject.c: every rule of residual streams (codec/residuals/RESIDUALS.md, section 4)
 * by a stream that breaks it alone, with every instruction set. */
#include "isa.h"
#include "residuals/residuals.h"
#include "residuals/residuals_core.h"

#include "page_guard.h"
#include "rules.h"

#include <stdlib.h>
#include <string.h>

#include "../../decoders/cascade.c"

/* RESIDUALS.md, the example: 12 words with rANS, and packed: map 1, top 5, one group of step 0. */
static const uint8_t example_rans[32] = {
    0x02, 0x00, 0x10, 0x00, 0x7B, 0x99, 0x1D, 0x00, 0xF0, 0x9C, 0x00, 0x00, 0x04, 0x01, 0xC0, 0xDA,
    0x11, 0x00, 0xA0, 0x71, 0xEE, 0x00, 0x20, 0xBC, 0x23, 0x00, 0xA0, 0xE7, 0x11, 0x00, 0x04, 0x00};
static const uint8_t example_packed[19] = {0x01, 0x01, 0x05, 0xF8, 0xFF, 0xFF, 0xFF,
                                           0xFF, 0xFF, 0x01, 0x08, 0x00, 0x06, 0x08,
                                           0x80, 0x02, 0x00, 0x00, 0x00};

/* What decoders/cascade.c says. */
static bool
plainly_decodes(size_t count, unsigned word_bits, const uint8_t *stream, size_t size)
{
    uint64_t *const words = test_alloc(8 * count);
    struct work work = {.at = test_alloc(WORK_PER_VALUE * count + WORK_BESIDE)};
    struct bytes src = {stream, stream + size};
    const bool is_good = read_residuals(words, count, word_bits, &src, work);
    free(words);
    free(work.at);
    return is_good;
}

/* What all instruction sets say, which is the same. Both the stream and the words end at a page
 * that cannot be touched. */
static enum h5twin_status
decode(size_t count, unsigned word_bits, const uint8_t *stream, size_t size)
{
    const size_t words_size = count * (word_bits / 8);
    uint8_t *const words = test_page_alloc(words_size);
    uint8_t *const src = test_page_copy(stream, size);
    enum h5twin_status first = H5TWIN_OK;
    for (unsigned at = 0; h5twin_isa_level_at(at) != NULL; at++) {
        size_t used;
        const struct h5twin_residuals how = {
            .word_bits = word_bits,
            .threads = 1,
            .isa = h5twin_isa_level_at(at)->isa,
            .scratch = test_alloc(h5twin_residuals_decode_scratch(count) + 1),
        };
        const enum h5twin_status status =
            h5twin_residuals_decode(&how, words, count, src, size, &used);
        free(how.scratch);
        first = at == 0 ? status : first;
        assert_int_equal(status, first);
    }
    assert_int_equal(plainly_decodes(count, word_bits, src, size), first == H5TWIN_OK);
    test_page_free(words, words_size);
    test_page_free(src, size);
    return first;
}

/* ---- a good stream, bits of one field set to another value ---- */

struct damage {
    const char *what;
    size_t bit;
    unsigned width;
    uint32_t value;
    enum h5twin_status status;
    unsigned count;     /* words, 12 if not given */
    unsigned word_bits; /* 32 if not given */
    unsigned more;      /* zero bytes at the end */
};

static void
check_damage(const uint8_t *stream, size_t size, const struct damage *damage)
{
    uint8_t damaged[64] = {0};
    memcpy(damaged, stream, size);
    for (unsigned i = 0; i < damage->width; i++) {
        const size_t bit = damage->bit + i;
        damaged[bit / 8] =
            (uint8_t)((damaged[bit / 8] & ~(1u << bit % 8)) | (damage->value >> i & 1u) << bit % 8);
    }
    const enum h5twin_status status =
        decode(damage->count == 0 ? 12 : damage->count,
               damage->word_bits == 0 ? 32 : damage->word_bits, damaged, size + damage->more);
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
        {"nothing", 0, 0, 0, H5TWIN_OK, 0, 0, 0},
        {"nothing, 16 words", 0, 0, 0, H5TWIN_OK, 16, 0, 0},
        {"nothing, 64 bits", 0, 0, 0, H5TWIN_OK, 0, 64, 0},
        {RULE("method"), 0, 8, 5, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {RULE("map-unused"), 8, 8, 3, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {ALSO("map-unused"), 8, 8, 0x81, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {RULE("map-empty"), 8, 8, 0, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {RULE("top"), 16, 8, 0, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {ALSO("top"), 16, 8, 33, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {ALSO("top"), 16, 8, 65, H5TWIN_ERR_CORRUPT, 0, 64, 0},
        {RULE("steps"), 24, 3, 5, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {ALSO("steps"), 24, 3, 6, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {RULE("groups-cut"), 16, 8, 6, H5TWIN_ERR_SRC_SHORT, 0, 0, 0},
        {ALSO("groups-cut"), 16, 8, 6, H5TWIN_ERR_SRC_SHORT, 0, 0, 1},
        {RULE("word-beyond"), 8 * 9 + 5 * 12, 5, 1, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {ALSO("word-beyond"), 8 * 9 + 5 * 15, 5, 1, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {RULE("group-beyond"), 27, 3, 4, H5TWIN_ERR_CORRUPT, 0, 0, 2},
        {ALSO("group-beyond"), 27, 3, 4, H5TWIN_ERR_CORRUPT, 16, 0, 2},
    };
    static const uint8_t widths[30] = {4, 1, 5, [18] = 0x01, 0x08};
    static const struct damage width_damages[] = {
        {"a group of 5 bits with method 4", 0, 0, 0, H5TWIN_OK, 0, 0, 0},
        {RULE("width"), 16, 8, 33, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {ALSO("width"), 16, 8, 65, H5TWIN_ERR_CORRUPT, 0, 64, 0},
        {ALSO("group-beyond"), 24, 8, 1, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {ALSO("group-beyond"), 24, 8, 1, H5TWIN_ERR_CORRUPT, 16, 0, 2},
        {ALSO("groups-cut"), 16, 8, 8, H5TWIN_ERR_SRC_SHORT, 0, 0, 0},
    };
    for (size_t i = 0; i < TEST_LENGTH(damages); i++) {
        check_damage(example_packed, sizeof example_packed, &damages[i]);
    }
    for (size_t i = 0; i < TEST_LENGTH(width_damages); i++) {
        check_damage(widths, sizeof widths, &width_damages[i]);
    }
}

/* Bit positions in the example, of which byte 1 begins the header. */
static void
test_each_check_of_rans_streams(void **state)
{
    (void)state;
    static const struct damage damages[] = {
        {"nothing", 0, 0, 0, H5TWIN_OK, 0, 0, 0},
        {ALSO("kinds-above"), 8, 7, 1, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {"shift where there are none: the table moves", 15, 1, 1, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {ALSO("symbol-above"), 16, 8, 72, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {ALSO("top-symbol"), 24, 8, 17, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {RULE("frequency-length"), 32, 7, 0x6F, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {RULE("header-padding"), 8 * 13 + 7, 1, 1, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {ALSO("state-first"), 8 * 14 + 16, 8, 0, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {RULE("state-last"), 8 * 14, 1, 1, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {RULE("extra-padding"), 8 * 30 + 3, 1, 1, H5TWIN_ERR_CORRUPT, 0, 0, 0},
        {RULE("extra-left"), 8 * 31, 1, 1, H5TWIN_ERR_CORRUPT, 0, 0, 0},
    };
    for (size_t i = 0; i < TEST_LENGTH(damages); i++) {
        check_damage(example_rans, sizeof example_rans, &damages[i]);
    }
}

/* ---- streams that only their header tells from good ones, written field by field ---- */

#define MOST_BLOCKS 40u
#define OF_LAST     188u /* words in the last block */

struct fields {
    uint8_t bytes[512];
    size_t bit;
};

static void
put_field(struct fields *fields, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++, fields->bit++) {
        fields->bytes[fields->bit / 8] |=
            (uint8_t)((i < 64 ? value >> i & 1 : 0) << fields->bit % 8);
    }
}

/* A table of symbols of which one has all: `last` others of frequency 0. */
static void
put_lone_symbol(struct fields *fields, unsigned last, unsigned top)
{
    put_field(fields, last, 8);
    put_field(fields, top, 8);
    if (last != 0 || top != 0) {
        put_field(fields, 7, 7);                        /* length 0 */
        put_field(fields, 0, last == 0 ? 0 : last - 1); /* and the same again */
    }
}

struct head {
    const char *what;
    enum h5twin_status status;
    unsigned blocks;    /* 3 if not given, all of `kind` */
    unsigned kinds;     /* 1 if not given */
    unsigned tables;    /* 1 if not given, of the first kinds; the others share the last one */
    unsigned shift;     /* of all kinds, and 1 more: 0 for none */
    unsigned last, top; /* of each table */
    unsigned kind;      /* of every block, and 1 more: 1 if not given */
    bool are_coded;     /* the kinds, with as many units, which are written */
    uint64_t units;
    unsigned number_bits; /* of the number of segments less 1 */
    uint64_t segments;
    unsigned widths[3]; /* of the columns, and what each segment has there */
    uint64_t columns[3];
    uint8_t padding;   /* behind the header, if that is odd */
    unsigned more;     /* bytes behind the states */
    uint8_t last_byte; /* the last of them */
};

static void
check_head(const struct head *head)
{
    struct fields fields = {.bytes = {2}, .bit = 8};
    const unsigned blocks = head->blocks == 0 ? 3 : head->blocks;
    const unsigned kinds = head->kinds == 0 ? 1 : head->kinds;
    const unsigned tables = head->tables == 0 ? 1 : head->tables;
    put_field(&fields, kinds - 1, 7);
    put_field(&fields, head->shift != 0, 1);
    for (unsigned kind = 0; kind < kinds; kind++) {
        put_field(&fields, head->shift - 1, head->shift == 0 ? 0 : 6);
        put_field(&fields, kind < tables, kind != 0);
    }
    for (unsigned table = 0; table < tables; table++) {
        put_lone_symbol(&fields, head->last, head->top);
    }
    put_field(&fields, head->are_coded, 1);
    if (head->are_coded) {
        put_lone_symbol(&fields, 1, 1); /* kind 1 has all but what kind 0 has: nothing */
        put_field(&fields, h5twin_bit_length64(head->units), 6);
        put_field(&fields, head->units, h5twin_bit_length64(head->units));
    }
    for (unsigned block = 0; !head->are_coded && block < blocks; block++) {
        put_field(&fields, head->kind == 0 ? 1 : head->kind - 1, h5twin_bit_length32(kinds));
    }
    put_field(&fields, head->number_bits, 6);
    put_field(&fields, head->segments, head->number_bits);
    for (unsigned i = 0; i < 3; i++) {
        put_field(&fields, head->widths[i], 6);
    }
    for (uint64_t i = 0; i < 3; i++) {
        for (uint64_t s = i == 0; s <= head->segments && s < 4; s++) {
            put_field(&fields, head->columns[i], head->widths[i]);
        }
    }
    size_t size = (fields.bit + 15) / 16 * 2;
    fields.bytes[size - 1] |= head->padding;
    for (unsigned lane = 0; lane < 4; lane++, size += 4) {
        fields.bytes[size + 2] = 1;
    }
    if (head->are_coded) { /* those were of the kinds */
        size += 2 * head->units;
        for (unsigned lane = 0; lane < 4; lane++, size += 4) {
            fields.bytes[size + 2] = 1;
        }
    }
    size += head->more;
    fields.bytes[size - 1] |= head->last_byte;
    const enum h5twin_status status =
        decode((blocks - 1) * RESIDUALS_BLOCK + OF_LAST, 32, fields.bytes, size);
    if (status != head->status) {
        print_error("%s: status %d\n", head->what, (int)status);
    }
    assert_int_equal(status, head->status);
}

#define BAD   .status = H5TWIN_ERR_CORRUPT
#define SHORT .status = H5TWIN_ERR_SRC_SHORT

static void
test_each_check_of_rans_headers(void **state)
{
    (void)state;
    static const struct head heads[] = {
        {.what = "nothing", .status = H5TWIN_OK},
        {"nothing, coded kinds", H5TWIN_OK, .are_coded = true},
        {"as many kinds as blocks", H5TWIN_OK, .kinds = 3},
        {RULE("kinds-above"), BAD, .kinds = 4},
        {"32 tables", H5TWIN_OK, .blocks = MOST_BLOCKS, .kinds = 32, .tables = 32},
        {RULE("tables-above"), BAD, .blocks = MOST_BLOCKS, .kinds = 33, .tables = 33},
        {RULE("shift"), BAD, .shift = 33},
        {RULE("kind"), BAD, .kinds = 2, .kind = 4},
        {"the last symbol", H5TWIN_OK, .last = 71},
        {RULE("symbol-above"), BAD, .last = 72},
        {RULE("top-symbol"), BAD, .top = 1},
        {RULE("kind-units-above"), BAD, .are_coded = true, .units = 4},
        {RULE("kind-units-left"), BAD, .are_coded = true, .units = 1},
        {RULE("number-zero"), BAD, .number_bits = 1},
        {"2 segments", H5TWIN_OK, .kind = 1, .number_bits = 1, .segments = 1, .widths = {1},
         .columns = {1}},
        {ALSO("number-zero"), BAD, .kind = 1, .number_bits = 2, .segments = 1, .widths = {1},
         .columns = {1}},
        {RULE("number-long"), BAD, .number_bits = 41, .segments = UINT64_C(1) << 40},
        {RULE("segments-above"), BAD, .number_bits = 2, .segments = 3, .widths = {1},
         .columns = {1}},
        {RULE("segment-empty"), BAD, .kind = 1, .number_bits = 1, .segments = 1},
        {RULE("segment-last"), BAD, .kind = 1, .number_bits = 1, .segments = 1, .widths = {2},
         .columns = {3}},
        {RULE("column"), BAD, .widths = {33}},
        {ALSO("column"), BAD, .widths = {0, 33}},
        {ALSO("column"), BAD, .widths = {0, 0, 33}},
        {RULE("units-above"), BAD, .widths = {0, 10}, .columns = {0, 701}},
        {RULE("units-cut"), SHORT, .widths = {0, 10}, .columns = {0, 600}},
        {RULE("extra-cut"), SHORT, .widths = {0, 0, 32}, .columns = {0, 0, UINT32_MAX}},
        {RULE("units-left"), BAD, .widths = {0, 1}, .columns = {0, 1}, .more = 2},
        {ALSO("extra-left"), BAD, .widths = {0, 0, 1}, .columns = {0, 0, 1}, .more = 2},
        {RULE("parts-of-none"), BAD, .kind = 1, .widths = {0, 0, 1}, .columns = {0, 0, 1},
         .more = 2},
        {"a header of odd size", H5TWIN_OK, .shift = 1},
        {RULE("header-byte"), BAD, .shift = 1, .padding = 1},
        {"low bits", H5TWIN_OK, .shift = 2, .more = 32 + 32 + 24},
        {RULE("low-cut"), SHORT, .shift = 2, .more = 32 + 32 + 23},
        {RULE("low-padding"), BAD, .shift = 2, .more = 32 + 32 + 24, .last_byte = 0x10},
        {"an odd number of low bytes", H5TWIN_OK, .shift = 4, .more = 96 + 96 + 71 + 1},
        {RULE("low-byte"), BAD, .shift = 4, .more = 96 + 96 + 71 + 1, .last_byte = 1},
    };
    for (size_t i = 0; i < TEST_LENGTH(heads); i++) {
        check_head(&heads[i]);
    }
}

/* ---- tables and states ---- */

/* 5 symbols: 273 (the top), 3584, 224, 14 and 1 of 4096; 5 words, of which the first is symbol 4
 * and so takes its lane from `first` to first div 4096, which is less than 2^16, and the unit. From
 * 15 * 2^16 + 16 symbol 0 leads to 2^16. */
static enum h5twin_status
decode_from(uint32_t first)
{
    static const unsigned lengths[4][2] = {{12, 3}, {8, 3}, {4, 3}, {1, 0}};
    struct fields fields = {.bytes = {2}, .bit = 16};
    put_field(&fields, 4, 8);
    put_field(&fields, 0, 8);
    for (unsigned i = 0; i < 4; i++) {
        put_field(&fields, 7 | lengths[i][0] << 3, 7);
        put_field(&fields, 6, lengths[i][1]);
    }
    put_field(&fields, 1 << 1, 2);             /* plain kinds, 1 */
    put_field(&fields, 1 << 12 | 1 << 24, 25); /* one segment; a column of units: 1 */
    fields.bit = (fields.bit + 15) / 16 * 16;
    put_field(&fields, first, 32);
    for (unsigned lane = 1; lane < 4; lane++) {
        put_field(&fields, 15 * 65536 + 16, 32);
    }
    put_field(&fields, 16, 16);
    return decode(5, 32, fields.bytes, fields.bit / 8);
}

/* Of a state below 2^16 an encoder that gives units out too early could still begin. */
static void
test_first_states_are_at_least_65536(void **state)
{
    (void)state;
    test_refused(RULE("state-first"), decode_from(15 * 4096 + 4095));
}

/* Two symbols of 2048 leave the third, the top, nothing; 4 words of the first. */
static void
test_the_top_has_a_frequency(void **state)
{
    (void)state;
    for (unsigned smaller = 0; smaller < 2; smaller++) {
        struct fields fields = {.bytes = {2}, .bit = 16};
        put_field(&fields, 2, 8);
        put_field(&fields, 2, 8);
        put_field(&fields, 7 | 12 << 3, 10);                  /* 2048 */
        put_field(&fields, smaller ? 1 : 0, smaller ? 3 : 1); /* 1920 or 2048 */
        put_field(&fields, smaller ? 7 : 0, 3);
        put_field(&fields, 1 << 1, 2);
        put_field(&fields, 0, 24);
        fields.bit = (fields.bit + 15) / 16 * 16;
        for (unsigned lane = 0; lane < 4; lane++) {
            put_field(&fields, 2 * 65536, 32);
        }
        const enum h5twin_status status = decode(4, 32, fields.bytes, fields.bit / 8);
        if (smaller) {
            assert_int_equal(status, H5TWIN_OK);
        } else {
            test_refused(RULE("top-frequency"), status);
        }
    }
}

static void
test_no_words_have_the_method_of_zeros_only(void **state)
{
    (void)state;
    for (uint8_t method = 0; method < 8; method++) {
        const uint8_t stream[9] = {method};
        const enum h5twin_status status = decode(0, 32, stream, sizeof stream);
        if (method == 0) {
            assert_int_equal(status, H5TWIN_OK);
        } else {
            test_refused(RULE("method-of-none"), status);
        }
    }
    test_refused(RULE("method-cut"), decode(0, 32, NULL, 0));
}

/* The examples, cut within each part. */
static void
test_parts_lie_within_the_source(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        const uint8_t *stream;
        size_t size;
    } cuts[] = {
        {ALSO("method-cut"), example_packed, 0},  {RULE("map-cut"), example_packed, 1},
        {RULE("widths-cut"), example_packed, 8},  {ALSO("widths-cut"), example_packed, 2},
        {ALSO("groups-cut"), example_packed, 18}, {RULE("header-cut"), example_rans, 13},
        {ALSO("header-cut"), example_rans, 1},    {RULE("states-cut"), example_rans, 29},
        {ALSO("states-cut"), example_rans, 14},   {ALSO("extra-cut"), example_rans, 31},
    };
    for (size_t i = 0; i < TEST_LENGTH(cuts); i++) {
        const enum h5twin_status status = decode(12, 32, cuts[i].stream, cuts[i].size);
        if (status != H5TWIN_ERR_SRC_SHORT) {
            fail_msg("%s: status %d", cuts[i].rule, (int)status);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_check_of_packed_streams),
        cmocka_unit_test(test_each_check_of_rans_streams),
        cmocka_unit_test(test_each_check_of_rans_headers),
        cmocka_unit_test(test_first_states_are_at_least_65536),
        cmocka_unit_test(test_the_top_has_a_frequency),
        cmocka_unit_test(test_no_words_have_the_method_of_zeros_only),
        cmocka_unit_test(test_parts_lie_within_the_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
