/* SPDX-License-Identifier: BSD-3-Clause
 * test_cascade_kernels.c: the loops of cascade in every instruction set against those in plain C:
 * lengths around those of vectors and blocks, all orders, all maps, and memory that ends where the
 * arrays do. */
#include "cascade/cascade_kernels.h"
#include "isa.h"

#include "page_guard.h"

#include <stdlib.h>
#include <string.h>

static const size_t lengths[] = {0,  1,  2,  3,  7,  8,   9,   15,  16,  17,  31,
                                 32, 33, 63, 64, 65, 129, 257, 512, 600, 4096};
#define MOST_LENGTH 4096u

static const struct h5twin_cascade_kernels *plain, *other;

static void
with_each_variant(void (*check)(unsigned wide, size_t count))
{
    plain = h5twin_cascade_kernels_for(h5twin_isa_level_at(0)->isa);
    for (unsigned i = 1; h5twin_isa_level_at(i) != NULL; i++) {
        other = h5twin_cascade_kernels_for(h5twin_isa_level_at(i)->isa);
        for (unsigned wide = 0; wide < 2; wide++) {
            for (size_t k = 0; k < TEST_LENGTH(lengths); k++) {
                check(wide, lengths[k]);
            }
        }
    }
}

static unsigned
lane_bits(unsigned wide)
{
    return wide ? 64 : 32;
}

static size_t
lanes_size(unsigned wide, size_t count)
{
    return count * (wide ? 8 : 4);
}

/* Lanes of all sizes, some of them 0. */
static void
fill_lanes(void *lanes, unsigned wide, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t random = test_random(&seed);
        const unsigned bits = (unsigned)(random >> 32) % (lane_bits(wide) + 1);
        uint64_t lane = bits == 0 ? 0 : test_random(&seed) >> (64 - bits);
        lane = random % 2 != 0 ? 0 - lane : lane;
        if (wide) {
            ((uint64_t *)lanes)[i] = lane;
        } else {
            ((uint32_t *)lanes)[i] = (uint32_t)lane;
        }
    }
}

/* The same lanes twice: those of `other` lie at an edge of accessible memory. */
struct twins {
    size_t size;
    enum test_edge edge;
    uint8_t *plain, *other;
};

static struct twins
twins_new(size_t size, const void *from, enum test_edge edge)
{
    struct twins twins = {.size = size, .edge = edge, .plain = test_alloc(size + 1)};
    twins.other = test_edge_alloc(size, edge);
    if (size != 0) {
        if (from != NULL) {
            memcpy(twins.plain, from, size);
        } else {
            memset(twins.plain, 0, size);
        }
        memcpy(twins.other, twins.plain, size);
    }
    return twins;
}

static void
twins_check(struct twins *twins)
{
    assert_memory_equal(twins->plain, twins->other, twins->size);
    test_edge_free(twins->other, twins->size, twins->edge);
    free(twins->plain);
}

/* ---- survey ---- */

static void
check_survey(unsigned wide, size_t count)
{
    static uint8_t words[8 * MOST_LENGTH];
    for (unsigned size = wide ? 8 : 1; size <= lane_bits(wide) / 8; size *= 2) {
        for (unsigned pattern = 0; pattern < TEST_PATTERN_COUNT; pattern++) {
            test_fill(words, sizeof words, size, pattern, count);
            uint64_t fill = 0; /* not a word perhaps, or the one in the middle */
            memcpy(&fill, words + count / 2 * size, pattern % 2 == 0 ? size : 0);
            uint8_t *const source = test_page_copy(words, count * size);
            struct twins samples =
                twins_new(lanes_size(wide, count) + CASCADE_KERNEL_SLACK, NULL, TEST_AT_END);
            struct h5twin_cascade_counts counts[2] = {{.fill = fill}, {.fill = fill}};
            const size_t found =
                plain->survey[wide](samples.plain, &counts[0], source, count, size);
            assert_int_equal(other->survey[wide](samples.other, &counts[1], source, count, size),
                             found);
            assert_int_equal(counts[1].fill_count, counts[0].fill_count);
            assert_int_equal(counts[1].others, counts[0].others);
            assert_int_equal(counts[1].sampled, counts[0].sampled);
            const size_t used = lanes_size(wide, found);
            memset(samples.plain + used, 0, samples.size - used);
            memset(samples.other + used, 0, samples.size - used);
            twins_check(&samples);
            test_page_free(source, count * size);
        }
    }
}

static void
test_surveys_are_alike(void **state)
{
    (void)state;
    with_each_variant(check_survey);
}

/* ---- differences ---- */

static void
check_rows(unsigned wide, size_t count)
{
    uint64_t lanes[MOST_LENGTH];
    fill_lanes(lanes, wide, count, count + wide);
    for (unsigned order = 0; order <= CASCADE_MAX_ORDER; order++) {
        for (enum test_edge edge = 0; edge < TEST_EDGES; edge++) {
            struct twins forward = twins_new(lanes_size(wide, count), lanes, edge);
            struct twins back = twins_new(lanes_size(wide, count), lanes, edge);
            plain->row_forward[wide](forward.plain, count, order);
            other->row_forward[wide](forward.other, count, order);
            plain->rows_back[wide](back.plain, count, 1, order);
            other->rows_back[wide](back.other, count, 1, order);
            twins_check(&forward);
            twins_check(&back);
        }
    }
}

/* Several rows of a length, and what is left for no row. */
static void
check_many_rows(unsigned wide, size_t length)
{
    static uint64_t lanes[40 * 130];
    if (length == 0 || length > 130) {
        return;
    }
    for (size_t row_count = 7; row_count <= 40; row_count += 11) {
        fill_lanes(lanes, wide, row_count * length, length);
        for (unsigned order = 0; order <= CASCADE_MAX_ORDER; order++) {
            struct twins back = twins_new(lanes_size(wide, row_count * length), lanes, TEST_AT_END);
            plain->rows_back[wide](back.plain, length, row_count, order);
            other->rows_back[wide](back.other, length, row_count, order);
            twins_check(&back);
        }
    }
}

static void
test_rows_are_differenced_alike(void **state)
{
    (void)state;
    with_each_variant(check_rows);
    with_each_variant(check_many_rows);
}

static void
check_axes(unsigned wide, size_t count)
{
    uint64_t lanes[MOST_LENGTH], kept[CASCADE_MAX_ORDER * 600];
    if (count > 600) {
        return;
    }
    fill_lanes(lanes, wide, count, count + wide);
    fill_lanes(kept, wide, CASCADE_MAX_ORDER * count, count + wide + 7);
    for (unsigned order = 0; order <= CASCADE_MAX_ORDER; order++) {
        for (unsigned active = 0; active <= order; active++) {
            for (unsigned way = 0; way < 2; way++) {
                struct twins row = twins_new(lanes_size(wide, count), lanes, TEST_AT_END);
                struct twins history =
                    twins_new(lanes_size(wide, order * count), kept, TEST_AT_END);
                if (way == 0) {
                    plain->axis_forward[wide](row.plain, history.plain, count, count, order,
                                              active);
                    other->axis_forward[wide](row.other, history.other, count, count, order,
                                              active);
                } else {
                    plain->axis_back[wide](row.plain, history.plain, count, count, order, active);
                    other->axis_back[wide](row.other, history.other, count, count, order, active);
                }
                twins_check(&row);
                twins_check(&history);
            }
        }
    }
}

static void
test_slower_axes_are_differenced_alike(void **state)
{
    (void)state;
    with_each_variant(check_axes);
}

/* ---- residuals ---- */

/* Masks with nothing, something, much and all in them. */
static size_t
fill_mask(uint8_t *mask, size_t count, unsigned kind)
{
    uint64_t seed = count + kind;
    size_t masked = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t random = test_random(&seed) >> 40;
        mask[i] = kind == 0 ? 0 : kind == 1 ? random % 16 == 0 : kind == 2 ? random % 4 != 0 : 1;
        masked += mask[i];
    }
    return masked;
}
#define MASK_KINDS 4u

static void
check_zigzag(unsigned wide, size_t count)
{
    uint64_t lanes[MOST_LENGTH];
    uint8_t mask[MOST_LENGTH + 1];
    fill_lanes(lanes, wide, count, count + wide);
    for (unsigned kind = 0; kind <= MASK_KINDS; kind++) { /* the last: no mask */
        const uint8_t *const masked = kind == MASK_KINDS ? NULL : mask;
        const size_t unmasked = count - (masked == NULL ? 0 : fill_mask(mask, count, kind));
        for (unsigned bits = wide ? 64 : 8; bits <= lane_bits(wide); bits *= 2) {
            /* a vector more than the words may be overwritten */
            struct twins words =
                twins_new(lanes_size(wide, unmasked) + CASCADE_KERNEL_SLACK, NULL, TEST_AT_END);
            const size_t kept = plain->zigzag[wide](words.plain, lanes, masked, count, bits);
            assert_int_equal(other->zigzag[wide](words.other, lanes, masked, count, bits), kept);
            assert_int_equal(kept, unmasked);
            memset(words.plain + lanes_size(wide, kept), 0, CASCADE_KERNEL_SLACK);
            memset(words.other + lanes_size(wide, kept), 0, CASCADE_KERNEL_SLACK);
            twins_check(&words);
        }
        for (enum test_edge edge = 0; edge < TEST_EDGES; edge++) {
            struct twins back = twins_new(lanes_size(wide, count), lanes, edge);
            plain->unzigzag[wide](back.plain, masked, count, unmasked);
            other->unzigzag[wide](back.other, masked, count, unmasked);
            twins_check(&back);
        }
    }
}

static void
test_zigzag_is_alike(void **state)
{
    (void)state;
    with_each_variant(check_zigzag);
}

/* ---- masks ---- */

static void
check_masks(unsigned wide, size_t count)
{
    static uint64_t lanes[MOST_LENGTH];
    uint8_t mask[MOST_LENGTH + 1];
    for (unsigned kind = 0; kind < MASK_KINDS; kind++) {
        const size_t unmasked = count - fill_mask(mask, count, kind);
        uint8_t *const guarded = test_page_copy(mask, count);
        fill_lanes(lanes, wide, count, count + kind);
        for (unsigned size = wide ? 8 : 1; size <= lane_bits(wide) / 8; size *= 2) {
            const uint64_t fill = UINT64_C(0x8182838485868788) >> (64 - 8 * size);
            struct twins filled = twins_new(count * size, lanes, TEST_AT_END);
            struct twins marks = twins_new(count, NULL, TEST_AT_END);
            plain->fill[wide](filled.plain, guarded, count, size, fill);
            other->fill[wide](filled.other, guarded, count, size, fill);
            plain->mark[wide](marks.plain, filled.plain, count, size, fill);
            other->mark[wide](marks.other, filled.other, count, size, fill);
            twins_check(&filled);
            twins_check(&marks);
        }
        for (enum test_edge edge = 0; edge < TEST_EDGES; edge++) {
            struct twins picked = twins_new(lanes_size(wide, count), lanes, edge);
            assert_int_equal(plain->pick[wide](picked.plain, picked.plain, guarded, count),
                             unmasked);
            assert_int_equal(other->pick[wide](picked.other, picked.other, guarded, count),
                             unmasked);
            const size_t used = lanes_size(wide, unmasked);
            assert_memory_equal(picked.other, picked.plain, used);
            /* and back */
            memmove(picked.plain + picked.size - used, picked.plain, used);
            memmove(picked.other + picked.size - used, picked.other, used);
            plain->spread[wide](picked.plain, guarded, count, unmasked, 99);
            other->spread[wide](picked.other, guarded, count, unmasked, 99);
            twins_check(&picked);
        }
        for (unsigned order = 0; order <= CASCADE_MAX_ORDER; order++) {
            struct twins row = twins_new(lanes_size(wide, count), lanes, TEST_AT_END);
            struct twins changes = twins_new(lanes_size(wide, count), NULL, TEST_AT_END);
            assert_int_equal(
                plain->extrapolate[wide](row.plain, changes.plain, guarded, count, order),
                unmasked != count);
            assert_int_equal(
                other->extrapolate[wide](row.other, changes.other, guarded, count, order),
                unmasked != count);
            twins_check(&row);
            twins_check(&changes);
        }
        test_page_free(guarded, count);
    }
}

static void
test_masks_are_alike(void **state)
{
    (void)state;
    with_each_variant(check_masks);
}

static void
check_look_up(unsigned wide, size_t count)
{
    static uint64_t indices[MOST_LENGTH], table[200];
    uint8_t mask[MOST_LENGTH + 1];
    fill_lanes(table, wide, TEST_LENGTH(table), 5);
    for (unsigned size = wide ? 8 : 1; size <= lane_bits(wide) / 8; size *= 2) {
        for (size_t known = 1; known <= TEST_LENGTH(table); known += 199) {
            uint64_t seed = count;
            for (size_t i = 0; i < count; i++) {
                const uint64_t index = test_random(&seed) % known;
                if (wide) {
                    indices[i] = index;
                } else {
                    ((uint32_t *)indices)[i] = (uint32_t)(index + (size == 1 ? 256 : 0));
                }
            }
            uint8_t *const from = test_page_copy(table, lanes_size(wide, known));
            for (unsigned kind = 0; kind <= MASK_KINDS; kind++) {
                const uint8_t *const masked = kind == MASK_KINDS ? NULL : mask;
                (void)fill_mask(mask, count, kind % MASK_KINDS);
                for (unsigned damaged = 0; damaged < 2 && damaged <= count; damaged++) {
                    struct twins words = twins_new(count * size, NULL, TEST_AT_END);
                    const size_t missing = known == 1 ? damaged : 0;
                    const bool is_good = plain->look_up[wide](
                        words.plain, indices, from, known - missing, masked, count, size, 7);
                    assert_int_equal(other->look_up[wide](words.other, indices, from,
                                                          known - missing, masked, count, size, 7),
                                     is_good);
                    if (!is_good) {
                        memcpy(words.other, words.plain, words.size); /* anything */
                    }
                    twins_check(&words);
                }
            }
            test_page_free(from, lanes_size(wide, known));
        }
    }
}

static void
test_words_are_looked_up_alike(void **state)
{
    (void)state;
    with_each_variant(check_look_up);
}

/* ---- values ---- */

/* Floats around a common exponent, with zeros and what the soft map makes exceptions of. */
static void
fill_floats(uint8_t *words, unsigned wide, size_t count, unsigned kind, unsigned trailing,
            uint64_t seed)
{
    const unsigned mantissa = wide ? 52 : 23, middle = wide ? 1023 : 127;
    for (size_t i = 0; i < count; i++) {
        const uint64_t random = test_random(&seed);
        const uint64_t exponent = kind == 0   ? middle
                                  : kind == 1 ? middle - random % 12
                                  : kind == 2 ? middle - random % (2 * mantissa)
                                              : random % (2 * middle + 2);
        uint64_t word = (random >> 63) << (lane_bits(wide) - 1) | exponent << mantissa |
                        (test_random(&seed) & ((UINT64_C(1) << mantissa) - 1));
        word = word >> trailing << trailing;
        word = kind >= 2 && random >> 8 & 1 && random % 16 == 0 ? 0 : word;
        memcpy(words + lanes_size(wide, i), &word, wide ? 8 : 4);
    }
}
#define FLOAT_KINDS 4u

static struct h5twin_cascade_map
soft_map(unsigned wide, unsigned trailing, int change)
{
    return (struct h5twin_cascade_map){.map = CASCADE_SOFT,
                                       .word_bits = lane_bits(wide),
                                       .trailing = trailing,
                                       .exponent = (unsigned)((wide ? 1023 : 127) + change)};
}

/* Words and the codes of them, the remainders of a segment there and back, and damaged ones. */
static void
check_segment(unsigned wide, size_t count, const uint8_t *words,
              const struct h5twin_cascade_map *map)
{
    static uint64_t codes[MOST_LENGTH];
    static uint8_t exceptions[2][8 * MOST_LENGTH + CASCADE_KERNEL_SLACK];
    const size_t words_size = lanes_size(wide, count);
    size_t found[2];
    uint8_t *const source = test_page_copy(words, words_size);
    const size_t bound = 9 * MOST_LENGTH + CASCADE_KERNEL_SLACK;
    uint8_t *const bits = test_alloc(bound);
    struct twins both = twins_new(words_size, NULL, TEST_AT_END); /* their codes, too */
    const size_t size = plain->soft_remainders[wide](bits, exceptions[0], &found[0], both.plain,
                                                     source, count, map);
    uint8_t *const others = test_page_alloc(size + CASCADE_KERNEL_SLACK);
    assert_int_equal(other->soft_remainders[wide](others, exceptions[1], &found[1], both.other,
                                                  source, count, map),
                     size);
    assert_int_equal(
        other->soft_remainders[wide](others, exceptions[1], &found[1], NULL, source, count, map),
        size);
    assert_memory_equal(others, bits, size);
    assert_int_equal(found[1], found[0]);
    assert_memory_equal(exceptions[1], exceptions[0], lanes_size(wide, found[0]));
    test_page_free(others, size + CASCADE_KERNEL_SLACK);

    plain->codes[wide](codes, source, count, map);
    assert_memory_equal(both.plain, codes, words_size);
    twins_check(&both);
    assert_int_equal(other->soft_bits[wide](codes, count, h5twin_cascade_fraction(map)),
                     plain->soft_bits[wide](codes, count, h5twin_cascade_fraction(map)));
    memcpy(bits + size, exceptions[0], lanes_size(wide, found[0]));
    const size_t whole = size + lanes_size(wide, found[0]);
    for (unsigned damage = 0; damage < 4; damage++) {
        /* as it is; a bit changed; cut short; too long */
        const size_t segment_size = damage == 2   ? whole - (whole != 0)
                                    : damage == 3 ? whole + (wide ? 8 : 4)
                                                  : whole;
        uint8_t *const segment = test_page_copy(bits, segment_size);
        if (damage == 1 && size != 0) {
            segment[size - 1] ^= 0x80;
        }
        struct twins back = twins_new(words_size, NULL, TEST_AT_END);
        const bool good =
            plain->soft_values[wide](back.plain, codes, count, map, segment, segment_size);
        assert_int_equal(
            other->soft_values[wide](back.other, codes, count, map, segment, segment_size), good);
        if (damage == 0) {
            assert_true(good);
            assert_memory_equal(back.plain, words, words_size);
        }
        if (!good) {
            memcpy(back.other, back.plain, words_size); /* anything */
        }
        twins_check(&back);
        test_page_free(segment, segment_size);
    }
    free(bits);
    test_page_free(source, words_size);
}

static void
check_soft(unsigned wide, size_t count)
{
    static uint8_t words[8 * MOST_LENGTH];
    for (unsigned kind = 0; kind < FLOAT_KINDS; kind++) {
        const unsigned most_trailing = wide ? 50 : 21;
        for (unsigned trailing = 0; trailing <= most_trailing; trailing += most_trailing / 3) {
            fill_floats(words, wide, count, kind, trailing, count + kind);
            for (int change = -4; change <= 8; change += 4) {
                const struct h5twin_cascade_map map = soft_map(wide, trailing, change);
                check_segment(wide, count, words, &map);
            }
        }
    }
}

static void
test_soft_segments_are_alike(void **state)
{
    (void)state;
    with_each_variant(check_soft);
}

static void
check_codes(unsigned wide, size_t count)
{
    static uint8_t words[8 * MOST_LENGTH];
    test_fill(words, sizeof words, wide ? 8 : 4, TEST_SPECIAL, count);
    for (unsigned bits = wide ? 64 : 8; bits <= lane_bits(wide); bits *= 2) {
        for (unsigned kind = CASCADE_IDENTITY; kind <= CASCADE_SOFT; kind++) {
            for (unsigned trailing = 0; trailing < bits; trailing += 5) {
                struct h5twin_cascade_map map = {
                    .map = kind, .word_bits = bits, .trailing = trailing};
                map.exponent = kind == CASCADE_SOFT ? bits == 64 ? 1023 : 127 : 0;
                if (kind == CASCADE_SOFT &&
                    !h5twin_cascade_soft_fits(bits, trailing, map.exponent)) {
                    continue;
                }
                uint8_t *const source = test_page_copy(words, count * bits / 8);
                struct twins codes = twins_new(lanes_size(wide, count), NULL, TEST_AT_END);
                plain->codes[wide](codes.plain, source, count, &map);
                other->codes[wide](codes.other, source, count, &map);
                if (kind != CASCADE_SOFT) {
                    struct twins back = twins_new(count * bits / 8, NULL, TEST_AT_END);
                    plain->values[wide](back.plain, codes.plain, count, &map);
                    other->values[wide](back.other, codes.plain, count, &map);
                    twins_check(&back);
                }
                twins_check(&codes);
                test_page_free(source, count * bits / 8);
            }
        }
    }
}

static void
test_codes_and_values_are_alike(void **state)
{
    (void)state;
    with_each_variant(check_codes);
}

/* ---- search ---- */

static void
check_costs(unsigned wide, size_t count)
{
    uint64_t lanes[CASCADE_TILE_VALUES + CASCADE_MAX_ORDER];
    if (count > CASCADE_TILE_VALUES) {
        return;
    }
    for (size_t halo = 0; halo <= CASCADE_MAX_ORDER; halo++) {
        fill_lanes(lanes, wide, halo + count, count + halo);
        uint8_t *const row = test_page_copy(lanes, lanes_size(wide, halo + count));
        for (unsigned bits = wide ? 64 : 8; bits <= lane_bits(wide); bits *= 2) {
            for (unsigned most = 0; most <= CASCADE_MAX_ORDER; most++) {
                for (unsigned in_groups = 0; in_groups < 2; in_groups++) {
                    uint64_t costs[2][CASCADE_MAX_ORDER + 1] = {{0}};
                    plain->row_costs[wide](costs[0], row, halo, count, most, bits, in_groups);
                    other->row_costs[wide](costs[1], row, halo, count, most, bits, in_groups);
                    assert_memory_equal(costs[1], costs[0], sizeof costs[0]);
                }
            }
        }
        test_page_free(row, lanes_size(wide, halo + count));
    }
}

static void
test_costs_are_alike(void **state)
{
    (void)state;
    with_each_variant(check_costs);
}

/* ---- short rows ---- */

#define SHORT_ROWS 23u
#define MOST_ORDER 6u

/* Many short rows at once, as one after the other. */
static void
check_short_rows(unsigned wide, size_t length)
{
    uint64_t lanes[SHORT_ROWS * 33], sums[MOST_ORDER * 33];
    const size_t row = lanes_size(wide, length);
    if (length == 0 || length > 33) {
        return;
    }
    for (unsigned trial = 0; trial < (MOST_ORDER + 1) * 9; trial++) {
        const unsigned order = trial % (MOST_ORDER + 1), index = trial / (MOST_ORDER + 1);
        const unsigned some = 1 + index % 4; /* fewer than the passes, or not */
        const unsigned count = trial % 2 == 0 ? SHORT_ROWS : some;
        fill_lanes(lanes, wide, SHORT_ROWS * length, trial);
        fill_lanes(sums, wide, MOST_ORDER * length, trial + 1);
        struct twins rows = twins_new(count * row, lanes, TEST_AT_END);
        struct twins history = twins_new(order * row, sums, TEST_AT_END);
        if (order < length) {
            plain->rows_back[wide](rows.plain, length, count, order);
            other->short_rows_back[wide](rows.other, length, count, order);
        }
        for (unsigned i = 0; i < count && order != 0; i++) {
            plain->axis_back[wide](rows.plain + i * row, history.plain, length, length, order,
                                   index + i < order ? index + i : order);
        }
        other->short_axis_back[wide](rows.other, history.other, length, some, order, index);
        other->short_axis_back[wide](rows.other + some * row, history.other, length, count - some,
                                     order, index + some);
        twins_check(&history);
        twins_check(&rows);
    }
}

static void
test_short_rows_are_as_others(void **state)
{
    (void)state;
    with_each_variant(check_short_rows);
}

/* ---- references ---- */

#define BLOCK      CASCADE_REFERENCE_BLOCK
#define REFERENCES 11u

/* A block with as many lanes before it as the largest lag reaches, masked in one case of two, and
 * from none to all of the references at once. */
static void
check_reference_bits(unsigned wide, size_t count)
{
    static const uint32_t references[REFERENCES] = {
        0, 32 << 1, 33 << 1 | 1, 129 << 1, 32 << 1 | 1, 0, 1, 129 << 1 | 1, 64 << 1, 33 << 1, 0};
    uint64_t lanes[129 + BLOCK];
    uint8_t mask[BLOCK];
    if (count > BLOCK) {
        return;
    }
    fill_lanes(lanes, wide, 129 + count, count);
    for (size_t i = 0; i < BLOCK; i++) {
        mask[i] = i % 5 == count % 5;
    }
    uint8_t *const source = test_page_copy(lanes, lanes_size(wide, 129 + count));
    uint8_t *const masked = test_page_copy(mask, count);
    const uint8_t *const block = source + lanes_size(wide, 129);
    for (unsigned bits = wide ? 64 : 8; bits <= lane_bits(wide); bits *= 2) {
        for (unsigned i = 0; i < 2 * (REFERENCES + 1); i++) {
            const size_t tried = i / 2, size = tried * sizeof(uint32_t);
            const uint8_t *const marks = i % 2 == 0 ? NULL : masked;
            uint8_t *const entries = test_page_copy(references, size);
            struct twins sums = twins_new(size, NULL, TEST_AT_END);
            plain->reference_bits[wide]((uint32_t *)sums.plain, block, references, tried, marks,
                                        count, bits);
            other->reference_bits[wide]((uint32_t *)sums.other, block, (uint32_t *)entries, tried,
                                        marks, count, bits);
            twins_check(&sums);
            test_page_free(entries, size);
        }
    }
    test_page_free(masked, count);
    test_page_free(source, lanes_size(wide, 129 + count));
}

static void
test_references_cost_alike(void **state)
{
    (void)state;
    with_each_variant(check_reference_bits);
}

/* A block's lanes by those before it, in their order or mirrored. */
static void
check_added_references(unsigned wide, size_t count)
{
    uint64_t lanes[129 + BLOCK];
    uint8_t mask[BLOCK];
    const size_t lags[] = {1, 2, 31, 32, 33, 97};
    if (count == 0 || count > BLOCK) {
        return;
    }
    fill_lanes(lanes, wide, 129 + count, count);
    for (size_t i = 0; i < BLOCK; i++) {
        mask[i] = i % 3 == count % 3;
    }
    uint8_t *const masked = test_page_copy(mask, count);
    for (unsigned trial = 0; trial < 8 * TEST_LENGTH(lags); trial++) {
        const bool mirrored = trial % 2 != 0, negative = trial / 2 % 2 != 0;
        const uint8_t *const marks = trial / 4 % 2 != 0 ? masked : NULL;
        const size_t lag = lags[trial / 8] + (mirrored || lags[trial / 8] >= count ? 0 : count);
        struct twins sums = twins_new(lanes_size(wide, 129 + count), lanes, TEST_AT_END);
        const size_t at = lanes_size(wide, 129);
        (mirrored ? other->add_mirrored : other->add_reference)[wide](sums.other + at, lag,
                                                                      negative, marks, count);
        for (size_t i = 0; i < count; i++) { /* by the definition */
            const size_t from = 129 - lag + (mirrored ? 0 - i : i);
            uint64_t sum = wide ? lanes[from] : ((const uint32_t *)lanes)[from];
            sum = marks != NULL && marks[i] ? 0 : negative ? 0 - sum : sum;
            if (wide) {
                ((uint64_t *)(void *)sums.plain)[129 + i] += sum;
            } else {
                ((uint32_t *)(void *)sums.plain)[129 + i] += (uint32_t)sum;
            }
        }
        twins_check(&sums);
    }
    test_page_free(masked, count);
}

static void
test_references_are_added_alike(void **state)
{
    (void)state;
    with_each_variant(check_added_references);
    for (size_t count = 0; count <= BLOCK; count++) { /* and in plain C */
        other = plain;
        check_added_references(0, count);
        check_added_references(1, count);
    }
}

#define SLOTS 64u

/* Votes for few or many distances, some of them not allowed, some for slots without a place. */
static void
check_votes(unsigned wide, size_t count)
{
    const uint32_t begins[] = {0, 32, 4096, (UINT32_C(1) << 24) - 32};
    uint64_t random = count;
    if (count > BLOCK || wide != 0) {
        return;
    }
    for (unsigned trial = 0; trial < 200; trial++) {
        const uint32_t begin = begins[trial % 4], spread = 1u << trial % 23;
        uint32_t last_places[SLOTS + 1], slots[BLOCK], lags[2][CASCADE_VOTES];
        for (unsigned i = 0; i <= SLOTS; i++) {
            const uint32_t place = (begin + BLOCK - (uint32_t)test_random(&random) % spread);
            last_places[i] = test_random(&random) % 4 == 0 || place > begin + BLOCK
                                 ? 0
                                 : place << 1 | (test_random(&random) & 1);
        }
        for (unsigned i = 0; i < BLOCK; i++) {
            slots[i] = (uint32_t)test_random(&random) % (2 * (SLOTS + 1));
        }
        plain->votes(lags[0], slots, (unsigned)count, last_places, SLOTS, begin);
        other->votes(lags[1], slots, (unsigned)count, last_places, SLOTS, begin);
        assert_memory_equal(lags[1], lags[0], sizeof lags[0]);
    }
}

static void
test_votes_are_alike(void **state)
{
    (void)state;
    with_each_variant(check_votes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_surveys_are_alike),
        cmocka_unit_test(test_rows_are_differenced_alike),
        cmocka_unit_test(test_slower_axes_are_differenced_alike),
        cmocka_unit_test(test_zigzag_is_alike),
        cmocka_unit_test(test_masks_are_alike),
        cmocka_unit_test(test_words_are_looked_up_alike),
        cmocka_unit_test(test_soft_segments_are_alike),
        cmocka_unit_test(test_costs_are_alike),
        cmocka_unit_test(test_codes_and_values_are_alike),
        cmocka_unit_test(test_short_rows_are_as_others),
        cmocka_unit_test(test_references_cost_alike),
        cmocka_unit_test(test_references_are_added_alike),
        cmocka_unit_test(test_votes_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
