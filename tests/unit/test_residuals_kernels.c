/* SPDX-License-Identifier: BSD-3-Clause
 * test_residuals_kernels.c: kernels of rANS streams in every instruction set against those in plain
 * C: blocks of all lengths, of words of all sizes, few and many different tokens; and that what is
 * read or written ends where memory does. */
#include "page_guard.h"
#include "support.h"

#include "isa.h"
#include "residuals/residuals_kernels.h"

#include <math.h>
#include <string.h>

static const struct h5twin_residuals_kernels *
kernels_at(unsigned level)
{
    return h5twin_residuals_kernels_for(h5twin_isa_level_at(level)->isa);
}

/* A block of words below 2^bits, most of them much smaller if `steep`. */
struct block {
    unsigned count;
    uint32_t narrow[RESIDUALS_BLOCK];
    uint64_t wide[RESIDUALS_BLOCK];
};

static struct block
make_block(unsigned count, unsigned bits, bool steep, uint64_t *state)
{
    struct block block = {.count = count};
    for (unsigned i = 0; i < count; i++) {
        const unsigned most = steep ? (unsigned)(test_random(state) % (bits + 1)) : bits;
        const uint64_t word = most == 0 ? 0 : test_random(state) >> (64 - most);
        block.wide[i] = word;
        block.narrow[i] = (uint32_t)(most > 32 ? word >> (most - 32) : word);
    }
    return block;
}

static const void *
words_of(const struct block *block, bool wide)
{
    return wide ? (const void *)block->wide : (const void *)block->narrow;
}

/* ---- analyse, tokens, extra bits ---- */

struct analysis {
    struct h5twin_residuals_block found;
    uint32_t counts[RESIDUALS_CLASSES];
    uint32_t histograms[RESIDUALS_CLASSES][RESIDUALS_TOKENS];
    uint8_t tokens[RESIDUALS_BLOCK];
    uint8_t extra[8 * RESIDUALS_BLOCK + 16];
    size_t extra_size;
};

static void
analyse(struct analysis *analysis, const struct h5twin_residuals_kernels *kernels,
        const struct block *block, bool wide, unsigned shift)
{
    memset(analysis, 0, sizeof *analysis);
    const void *const words = words_of(block, wide);
    for (unsigned round = 0; round < 2; round++) { /* the second one adds to counts */
        analysis->found =
            kernels->analyse[wide](analysis->histograms, analysis->counts, words, block->count);
    }
    kernels->tokens[wide](analysis->tokens, words, block->count, shift);
    struct h5twin_lsb_writer writer = h5twin_lsb_writer_open(analysis->extra);
    h5twin_lsb_put(&writer, 5, 3);
    kernels->put_extra[wide](&writer, words, block->count, shift);
    h5twin_lsb_put(&writer, 5, 3);
    uint8_t *const end = h5twin_lsb_writer_close(&writer);
    analysis->extra_size = (size_t)(end - analysis->extra);
    memset(end, 0, sizeof analysis->extra - analysis->extra_size);
}

static void
test_blocks_are_taken_apart_alike(void **state)
{
    (void)state;
    static struct analysis wanted, found;
    uint64_t random = 1;
    for (unsigned trial = 0; trial < 4000; trial++) {
        const bool wide = trial % 2 != 0, steep = trial / 2 % 2 != 0;
        const unsigned bits = trial / 4 % (wide ? 65 : 33);
        const unsigned count = trial % 3 == 0 ? RESIDUALS_BLOCK : 1 + trial * 7 % RESIDUALS_BLOCK;
        const unsigned shift = trial % 5 == 0 ? bits / 2 : 0;
        const struct block block = make_block(count, bits, steep, &random);
        analyse(&wanted, kernels_at(0), &block, wide, shift);
        for (unsigned i = 1; h5twin_isa_level_at(i) != NULL; i++) {
            analyse(&found, kernels_at(i), &block, wide, shift);
            if (memcmp(&wanted, &found, sizeof wanted) != 0) {
                fail_msg("%s differs: %u words of %u bits, shift %u", h5twin_isa_level_at(i)->name,
                         count, bits, shift);
            }
        }
    }
}

/* ---- model ---- */

/* Logarithms are rounded down to one of 4096: sums lie below those of real numbers by no more. */
static void
test_counts_have_the_same_entropy(void **state)
{
    (void)state;
    uint64_t random = 9;
    for (unsigned trial = 0; trial < 2000; trial++) {
        uint32_t histogram[RESIDUALS_TOKENS] = {0};
        double wanted = 0, all = 0;
        const unsigned used = trial % (RESIDUALS_TOKENS + 1);
        for (unsigned i = 0; i < used; i++) {
            const unsigned drop = (unsigned)(test_random(&random) % 33);
            const uint32_t count = drop == 32 ? 0 : (uint32_t)test_random(&random) >> drop;
            histogram[trial % 3 == 0 ? RESIDUALS_TOKENS - 1 - i : i] = count;
            wanted += count == 0 ? 0 : count * log2(count);
            all += count;
        }
        const uint64_t in_c = kernels_at(0)->entropy(histogram);
        assert_true((double)in_c / 4096 <= wanted * (1 + 1e-12));
        assert_true((double)in_c / 4096 >= (wanted - all / 4096 * 1.001) * (1 - 1e-12));
        for (unsigned i = 1; h5twin_isa_level_at(i) != NULL; i++) {
            assert_int_equal(kernels_at(i)->entropy(histogram), in_c);
        }
    }
}

/* ---- states ---- */

/* Tokens below `alphabet`, with a table made of them. */
struct coded {
    uint32_t states[RESIDUALS_LANES];
    uint8_t units[4 * RESIDUALS_LANES + 2 * RESIDUALS_BLOCK]; /* what put may overwrite, first */
    size_t size;
};

static void
put(struct coded *coded, const struct h5twin_residuals_kernels *kernels, unsigned lanes,
    const uint8_t *tokens, unsigned count, const struct h5twin_residuals_symbols *symbols)
{
    memset(coded, 0, sizeof *coded);
    for (unsigned lane = 0; lane < RESIDUALS_LANES; lane++) {
        coded->states[lane] = RESIDUALS_LEAST_STATE + 977 * lane * lane * lane;
    }
    uint8_t *const end = coded->units + sizeof coded->units;
    coded->size = (size_t)(end - kernels->put(end, coded->states, lanes, tokens, count, symbols));
    memset(coded->units, 0, sizeof coded->units - coded->size);
}

static void
test_tokens_go_into_states_and_back_alike(void **state)
{
    (void)state;
    static uint32_t look_up[RESIDUALS_PROB];
    uint64_t random = 2;
    for (unsigned trial = 0; trial < 2000; trial++) {
        const unsigned alphabet = 1 + trial * 11 % RESIDUALS_TOKENS, lanes = trial % 4 ? 32 : 4;
        const unsigned count = trial % 3 == 0 ? RESIDUALS_BLOCK : 1 + trial * 7 % RESIDUALS_BLOCK;
        uint8_t tokens[RESIDUALS_BLOCK], back[RESIDUALS_BLOCK];
        uint32_t histogram[RESIDUALS_TOKENS] = {0};
        for (unsigned i = 0; i < count; i++) {
            const uint64_t any = test_random(&random);
            tokens[i] = (uint8_t)((any >> 8) % (any % 3 == 0 ? alphabet : 1 + alphabet / 4));
            histogram[tokens[i]]++;
        }
        struct h5twin_residuals_table table;
        struct h5twin_residuals_symbols symbols;
        h5twin_residuals_table_make(&table, histogram);
        h5twin_residuals_symbols_make(&symbols, &table);
        h5twin_residuals_table_look_up(look_up, &table);
        struct coded wanted, found;
        put(&wanted, kernels_at(0), lanes, tokens, count, &symbols);
        for (unsigned i = 0; h5twin_isa_level_at(i) != NULL; i++) {
            const struct h5twin_residuals_kernels *const kernels = kernels_at(i);
            put(&found, kernels, lanes, tokens, count, &symbols);
            if (memcmp(&wanted, &found, sizeof wanted) != 0) {
                fail_msg("%s differs: %u tokens of %u", h5twin_isa_level_at(i)->name, count,
                         alphabet);
            }
            struct h5twin_residuals_units units = {.at = found.units + sizeof found.units -
                                                         found.size,
                                                   .end = found.units + sizeof found.units};
            assert_true(kernels->take(back, count, found.states, lanes, &table, look_up, &units));
            assert_ptr_equal(units.at, units.end);
            assert_memory_equal(back, tokens, count);
        }
    }
}

/* Of a stream that ends too soon, every variant says so, or takes what is there. */
static void
test_cut_streams_are_refused_alike(void **state)
{
    (void)state;
    static uint32_t look_up[RESIDUALS_PROB];
    uint64_t random = 3;
    for (unsigned trial = 0; trial < 1000; trial++) {
        uint8_t tokens[RESIDUALS_BLOCK], back[RESIDUALS_BLOCK];
        uint32_t histogram[RESIDUALS_TOKENS] = {0};
        for (unsigned i = 0; i < RESIDUALS_BLOCK; i++) {
            tokens[i] = (uint8_t)(test_random(&random) % (1 + trial % RESIDUALS_TOKENS));
            histogram[tokens[i]]++;
        }
        struct h5twin_residuals_table table;
        struct h5twin_residuals_symbols symbols;
        struct coded coded;
        h5twin_residuals_table_make(&table, histogram);
        h5twin_residuals_symbols_make(&symbols, &table);
        h5twin_residuals_table_look_up(look_up, &table);
        put(&coded, kernels_at(0), RESIDUALS_LANES, tokens, RESIDUALS_BLOCK, &symbols);
        const size_t cut = coded.size < 2 ? 0 : 2 * (test_random(&random) % (coded.size / 2 + 1));
        uint8_t *const units = test_page_copy(coded.units + sizeof coded.units - coded.size, cut);
        for (unsigned i = 0; h5twin_isa_level_at(i) != NULL; i++) {
            uint32_t states[RESIDUALS_LANES];
            struct h5twin_residuals_units at = {.at = units, .end = units + cut};
            memcpy(states, coded.states, sizeof states);
            const bool good = kernels_at(i)->take(back, RESIDUALS_BLOCK, states, RESIDUALS_LANES,
                                                  &table, look_up, &at);
            assert_int_equal(good, cut == coded.size);
            if (good) {
                assert_memory_equal(back, tokens, RESIDUALS_BLOCK);
            }
        }
        test_page_free(units, cut);
    }
}

/* Words come back from their tokens and extra bits, whose string ends where memory does. */
static void
test_tokens_become_words_again(void **state)
{
    (void)state;
    uint64_t random = 4;
    for (unsigned trial = 0; trial < 3000; trial++) {
        const bool wide = trial % 2 != 0;
        const unsigned bits = trial / 4 % (wide ? 65 : 33), skip = trial % 9;
        const unsigned count = trial % 3 == 0 ? RESIDUALS_BLOCK : 1 + trial * 7 % RESIDUALS_BLOCK;
        const struct block block = make_block(count, bits, trial / 2 % 2 != 0, &random);
        const struct h5twin_residuals_kernels *const in_c = kernels_at(0);
        uint8_t tokens[RESIDUALS_BLOCK], extra[8 * RESIDUALS_BLOCK + 16];
        struct h5twin_lsb_writer writer = h5twin_lsb_writer_open(extra);
        h5twin_lsb_put(&writer, 0, skip);
        in_c->tokens[wide](tokens, words_of(&block, wide), count, 0);
        in_c->put_extra[wide](&writer, words_of(&block, wide), count, 0);
        const size_t end_bit = 8 * (size_t)(writer.at - extra) + writer.pending_bits;
        const size_t size = (size_t)(h5twin_lsb_writer_close(&writer) - extra);
        uint8_t *const string = test_page_copy(extra, size);
        uint8_t *const words = test_page_alloc((wide ? 8u : 4u) * count);
        for (unsigned i = 0; h5twin_isa_level_at(i) != NULL; i++) {
            struct h5twin_lsb_reader reader = h5twin_lsb_reader_open(string, size);
            reader.bit = skip;
            kernels_at(i)->expand[wide](words, tokens, count, &reader);
            if (memcmp(words, words_of(&block, wide), (wide ? 8u : 4u) * count) != 0 ||
                reader.bit != end_bit) {
                fail_msg("%s differs: %u words of %u bits", h5twin_isa_level_at(i)->name, count,
                         bits);
            }
        }
        test_page_free(words, (wide ? 8u : 4u) * count);
        test_page_free(string, size);
    }
}

/* ---- packed ---- */

#define SUPERS 3u

static void
check_packed(const void *words, size_t count, bool wide, const char *isa,
             const struct h5twin_residuals_kernels *kernels)
{
    const size_t word = wide ? 8 : 4, groups = SUPERS * RESIDUALS_GROUPS;
    const struct h5twin_residuals_kernels *const in_c = kernels_at(0);
    uint8_t widths[2][SUPERS * RESIDUALS_GROUPS], packed[2][8 * SUPERS * RESIDUALS_BLOCK];
    memset(widths, 1, sizeof widths);
    in_c->widths[wide](widths[0], words, count);
    kernels->widths[wide](widths[1], words, count);
    assert_memory_equal(widths[0], widths[1], groups);
    const size_t size = in_c->pack[wide](packed[0], sizeof packed[0], words, count, widths[0]);
    for (size_t room = 0; room < 80; room += 13) { /* behind what is packed */
        uint8_t *const dst = test_page_alloc(size + room);
        if (kernels->pack[wide](dst, size + room, words, count, widths[0]) != size ||
            memcmp(dst, packed[0], size) != 0) {
            fail_msg("%s packs %zu words otherwise", isa, count);
        }
        test_page_free(dst, size + room);
    }
    uint8_t *const src = test_page_copy(packed[0], size);
    size_t at = 0;
    for (size_t super = 0; super * RESIDUALS_BLOCK < count; super++) {
        uint64_t back[RESIDUALS_BLOCK];
        const size_t left = count - super * RESIDUALS_BLOCK;
        kernels->unpack[wide](back, widths[0] + super * RESIDUALS_GROUPS, src + at, size - at);
        if (memcmp(back, (const uint8_t *)words + super * RESIDUALS_BLOCK * word,
                   (left < RESIDUALS_BLOCK ? left : RESIDUALS_BLOCK) * word) != 0) {
            fail_msg("%s unpacks otherwise, %zu words", isa, count);
        }
        for (unsigned group = 0; group < RESIDUALS_GROUPS; group++) {
            at += 2 * (size_t)widths[0][super * RESIDUALS_GROUPS + group];
        }
    }
    test_page_free(src, size);
}

static void
test_groups_are_packed_alike(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (unsigned trial = 0; trial < 600; trial++) {
        const bool wide = trial % 2 != 0;
        const size_t count = 1 + test_random(&random) % (SUPERS * RESIDUALS_BLOCK);
        uint64_t words[SUPERS * RESIDUALS_BLOCK];
        unsigned bits = 0;
        for (size_t i = 0; i < count; i++) {
            bits = i % RESIDUALS_GROUP == 0 ? (unsigned)(test_random(&random) % (wide ? 65 : 33))
                                            : bits;
            const uint64_t word = bits == 0 ? 0 : test_random(&random) >> (64 - bits);
            if (wide) {
                words[i] = word;
            } else {
                ((uint32_t *)words)[i] = (uint32_t)word;
            }
        }
        for (unsigned i = 0; h5twin_isa_level_at(i) != NULL; i++) {
            check_packed(words, count, wide, h5twin_isa_level_at(i)->name, kernels_at(i));
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_taken_apart_alike),
        cmocka_unit_test(test_counts_have_the_same_entropy),
        cmocka_unit_test(test_tokens_go_into_states_and_back_alike),
        cmocka_unit_test(test_cut_streams_are_refused_alike),
        cmocka_unit_test(test_tokens_become_words_again),
        cmocka_unit_test(test_groups_are_packed_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
