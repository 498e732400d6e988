/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_gate.c: see cascade_gate.h. */
#include "cascade_gate.h"

#include <string.h>

/* Whether any candidate can come to promise something by so many positions more. */
static bool
may_promise(const struct cascade_gate *gate, const int32_t gains[CASCADE_MOST_FLIPS], unsigned left)
{
    int32_t most = gains[0];
    for (unsigned candidate = 1; candidate < 4 * gate->shape.rank; candidate++) {
        most = gains[candidate] > most ? gains[candidate] : most;
    }
    return cascade_flip_promises(gate, most + CASCADE_GATE_GAIN * (int32_t)left);
}

uint32_t
h5twin_cascade_promised_flips(const struct cascade_gate *gate)
{
    const unsigned positions = cascade_gate_positions(gate);
    int32_t gains[CASCADE_MOST_FLIPS] = {0};
    uint32_t promised = 0;
    for (unsigned i = 0; i < positions && may_promise(gate, gains, positions - i); i++) {
        int own[CASCADE_MOST_FLIPS];
        cascade_gate_look(gate, cascade_gate_place(gate, i), own);
        for (unsigned candidate = 0; candidate < CASCADE_MOST_FLIPS; candidate++) {
            gains[candidate] += own[candidate];
        }
    }
    for (unsigned candidate = 0; candidate < CASCADE_MOST_FLIPS; candidate++) {
        promised |= (uint32_t)cascade_flip_promises(gate, gains[candidate]) << candidate;
    }
    return promised;
}

/* The most frequent one of some words; of equals the smallest. None if all are different. */
static uint64_t
fill_word(const struct cascade_gate *gate, unsigned positions, bool *has_fill)
{
    uint64_t words[CASCADE_REPEATS_FILLS], fill = 0;
    unsigned most = 1;
    for (unsigned i = 0; i < CASCADE_REPEATS_FILLS; i++) {
        words[i] = cascade_gate_word(
            gate, cascade_repeats_place(gate, i * positions / CASCADE_REPEATS_FILLS));
    }
    for (unsigned i = 0; i < CASCADE_REPEATS_FILLS; i++) {
        unsigned count = 0;
        for (unsigned k = 0; k < CASCADE_REPEATS_FILLS; k++) {
            count += words[k] == words[i];
        }
        if (count > most || (count == most && count > 1 && words[i] < fill)) {
            most = count;
            fill = words[i];
        }
    }
    *has_fill = most > 1;
    return fill;
}

bool
h5twin_cascade_promises_copies(const struct cascade_gate *gate)
{
    const unsigned positions = cascade_repeats_positions(gate->value_count);
    uint64_t seen[1u << (CASCADE_REPEATS_BITS - 6)];
    uint32_t counted = 0, repeated = 0, hashes = 0;
    bool has_fill;
    if (positions == 0) {
        return false;
    }
    const uint64_t fill = fill_word(gate, positions, &has_fill);
    memset(seen, 0, sizeof seen);
    for (unsigned i = 0; i < positions; i++) {
        const uint32_t p = cascade_repeats_place(gate, i);
        const uint64_t word = cascade_gate_word(gate, p);
        if (!has_fill || word != fill) {
            const uint32_t hash = cascade_repeats_hash(word);
            hashes += (uint32_t)(~seen[hash / 64] >> hash % 64 & 1);
            seen[hash / 64] |= UINT64_C(1) << hash % 64;
            repeated += cascade_is_repeated(gate, p, word);
            counted++;
        }
    }
    return cascade_copies_promise(counted, repeated, hashes);
}

uint32_t
h5twin_cascade_flips_of_slab(uint32_t flips, const struct h5twin_cascade_shape *array,
                             const struct h5twin_cascade_shape *slab)
{
    if (slab->rank != array->rank) {
        return flips >> 4;
    }
    return slab->extent[0] == array->extent[0] ? flips : flips & ~UINT32_C(15);
}
