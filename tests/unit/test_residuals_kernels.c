/* SPDX-License-Identifier: BSD-3-Clause
 * test_residuals_kernels.c: kernels of rANS streams in every instruction set against those in plain
 * C: blocks of all lengths, of words of all sizes, few and many different tokens. */
#include "support.h"

#include "common/residuals_kernels.h"
#include "isa.h"

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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_taken_apart_alike),
        cmocka_unit_test(test_tokens_go_into_states_and_back_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
