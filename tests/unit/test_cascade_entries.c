/* SPDX-License-Identifier: BSD-3-Clause
 * test_cascade_entries.c: where entries lead, and copies by them, against the words of
 * codec/cascade/FORMAT.md position by position. */
#include "cascade/cascade_copies.h"
#include "common/bytes.h"

#include "support.h"

#include <stdlib.h>
#include <string.h>

static const struct h5twin_cascade_shape shapes[] = {
    {1, {1}},       {1, {2}},        {1, {97}},     {2, {5, 33}},      {2, {33, 1}},
    {3, {4, 3, 9}}, {3, {2, 40, 3}}, {2, {64, 32}}, {4, {3, 4, 5, 6}}, {4, {2, 1, 7, 1}},
};

#define MOST_VALUES 2048u

/* By the definition: the index on each axis, one of them turned. */
static uint32_t
source_by_definition(const struct h5twin_cascade_shape *shape, unsigned kind, uint32_t number,
                     uint32_t p)
{
    if (kind == CASCADE_SHIFT) {
        return number <= p ? p - number : CASCADE_NO_SOURCE;
    }
    size_t index[CASCADE_MAX_RANK] = {0}, rest = p, place = 0;
    for (unsigned axis = shape->rank; axis-- > 0;) {
        index[axis] = rest % shape->extent[axis];
        rest /= shape->extent[axis];
    }
    if (number < index[kind - 1] || number - index[kind - 1] >= index[kind - 1]) {
        return CASCADE_NO_SOURCE;
    }
    index[kind - 1] = number - index[kind - 1];
    for (unsigned axis = 0; axis < shape->rank; axis++) {
        place = place * shape->extent[axis] + index[axis];
    }
    return (uint32_t)place;
}

/* Whether runs from `begin` to `end` name the same sources. */
static void
check_runs(const struct cascade_source *source, const uint32_t *expected, uint32_t begin,
           uint32_t end)
{
    uint32_t p = begin;
    struct cascade_source_run run;
    do {
        run = cascade_next_run(source, p, end);
        const uint32_t first = run.count == 0 ? end : run.begin;
        for (; p < first; p++) {
            assert_int_equal(expected[p], CASCADE_NO_SOURCE);
        }
        for (uint32_t k = 0; k < run.count; k++, p++) {
            assert_int_equal(run.is_mirrored ? run.source - k : run.source + k, expected[p]);
        }
    } while (run.count != 0);
}

static void
check_entry(const struct h5twin_cascade_shape *shape, unsigned kind, uint32_t number)
{
    static const uint32_t steps[] = {1, 7, 32, MOST_VALUES};
    const uint32_t count = (uint32_t)cascade_count(shape);
    const struct cascade_source source =
        cascade_source_of(cascade_entry_of(kind, number, number % 2 != 0), shape);
    uint32_t expected[MOST_VALUES];
    for (uint32_t p = 0; p < count; p++) {
        expected[p] = source_by_definition(shape, kind, number, p);
        assert_int_equal(cascade_source_at(&source, p), expected[p]);
        assert_true(expected[p] == CASCADE_NO_SOURCE || expected[p] < p);
    }
    for (unsigned i = 0; i < TEST_LENGTH(steps); i++) {
        for (uint32_t p = 0; p < count; p += steps[i]) {
            check_runs(&source, expected, p, p + steps[i] < count ? p + steps[i] : count);
        }
    }
}

static void
test_entries_lead_where_the_format_says(void **state)
{
    (void)state;
    for (unsigned i = 0; i < TEST_LENGTH(shapes); i++) {
        for (unsigned kind = 0; kind <= shapes[i].rank; kind++) {
            const size_t extent =
                kind == CASCADE_SHIFT ? cascade_count(&shapes[i]) : shapes[i].extent[kind - 1];
            for (uint32_t number = kind == CASCADE_SHIFT; number < 2 * extent; number++) {
                check_entry(&shapes[i], kind, number);
            }
        }
    }
}

/* The example of FORMAT.md. */
static void
test_the_example_is_right(void **state)
{
    (void)state;
    static const uint8_t bytes[4] = {0x0E, 0, 0, 4};
    const struct h5twin_cascade_shape shape = {1, {8}};
    const uint32_t entry = h5twin_load32(bytes);
    assert_int_equal(cascade_entry_kind(entry), 1);
    assert_int_equal(cascade_entry_number(entry), 7);
    const struct cascade_source source = cascade_source_of(entry, &shape);
    for (uint32_t p = 0; p < 8; p++) {
        assert_int_equal(cascade_source_at(&source, p), p < 4 ? CASCADE_NO_SOURCE : 7 - p);
    }
}

/* Random copies: words, numbers and steps one value after the other. */
static void
check_copies(const struct h5twin_cascade_shape *shape, unsigned word_size, uint64_t seed)
{
    const uint32_t count = (uint32_t)cascade_count(shape);
    uint8_t words[2][8 * MOST_VALUES], number[MOST_VALUES], mask[MOST_VALUES];
    uint32_t sent[MOST_VALUES], steps[MOST_VALUES], expected_steps[MOST_VALUES], most = 0;
    struct h5twin_cascade_copies copies = {
        .entry_count = 1 + (unsigned)(test_random(&seed) % 5), .rounds = 25, .number = number};
    unsigned last = 0, spread = 1 + (unsigned)(test_random(&seed) % 40);
    size_t masked = 0;
    for (unsigned i = 0; i < copies.entry_count; i++) {
        const unsigned kind = (unsigned)(test_random(&seed) % (shape->rank + 1));
        const uint64_t most_number =
            kind == CASCADE_SHIFT ? 1 + test_random(&seed) % count : 2 * shape->extent[kind - 1];
        copies.entry[i] = cascade_entry_of(
            kind, (uint32_t)(test_random(&seed) % most_number) + (kind == CASCADE_SHIFT), false);
    }
    test_fill(words[0], sizeof words[0], 1, TEST_RANDOM, seed);
    memcpy(words[1], words[0], sizeof words[0]);
    for (uint32_t i = 0; i < count; i++) {
        mask[i] = test_random(&seed) % 4 != 0;
        expected_steps[i] = 0;
        if (!mask[i]) {
            continue;
        }
        const unsigned step = test_random(&seed) % spread == 0
                                  ? (unsigned)(test_random(&seed) % (copies.entry_count + 1))
                                  : 0;
        sent[masked++] = step;
        last = (last + step) % (copies.entry_count + 1);
        if (last == 0) {
            continue;
        }
        const uint32_t entry = copies.entry[last - 1];
        const uint32_t from =
            source_by_definition(shape, cascade_entry_kind(entry), cascade_entry_number(entry), i);
        if (from != CASCADE_NO_SOURCE) {
            memcpy(words[0] + i * word_size, words[0] + from * word_size, word_size);
            expected_steps[i] = 1 + expected_steps[from];
            most = expected_steps[i] > most ? expected_steps[i] : most;
        }
    }
    assert_true(h5twin_cascade_copies_numbers(&copies, sent, mask, count));
    assert_int_equal(h5twin_cascade_copies_depth(&copies, shape, steps), most);
    assert_memory_equal(steps, expected_steps, count * sizeof *steps);
    h5twin_cascade_copies_make(&copies, shape, words[1], word_size);
    assert_memory_equal(words[1], words[0], sizeof words[0]);
    for (copies.rounds = 1; copies.rounds < 12; copies.rounds++) {
        assert_int_equal(h5twin_cascade_copies_check(&copies, shape, 2, masked, steps),
                         most >> copies.rounds == 0);
    }
}

static void
test_copies_are_made_one_after_the_other(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 60; seed++) {
        for (unsigned i = 0; i < TEST_LENGTH(shapes); i++) {
            check_copies(&shapes[i], 1u << seed % 4, seed);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entries_lead_where_the_format_says),
        cmocka_unit_test(test_the_example_is_right),
        cmocka_unit_test(test_copies_are_made_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
