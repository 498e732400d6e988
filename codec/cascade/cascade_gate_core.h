/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_gate_core.h: whether an array is worth an encoder's search for flips and copies, by a few
 * positions of it; for C and CUDA.
 *
 * Most arrays are neither mirrored nor do they repeat words, and this says so in some microseconds.
 * All of it is sums of integers, so that every device decides alike.
 * Source  FORMAT.md section 12. */
#ifndef H5TWIN_CASCADE_GATE_CORE_H
#define H5TWIN_CASCADE_GATE_CORE_H

#include "../common/bytes.h"
#include "cascade_decide_core.h"
#include "cascade_entry_core.h"

#define CASCADE_GATE_POSITIONS 512u /* that are looked at, at most, */
#define CASCADE_GATE_FEW       128u /* or so many, for packed residuals */
#define CASCADE_GATE_VALUES    64u  /* values for each of them, if there are many */
#define CASCADE_GATE_LEAST     32u
#define CASCADE_REPEATS        1024u /* positions that are looked at for copies, at most, */
#define CASCADE_REPEATS_FILLS  64u   /* the first of which tell the fill word */
#define CASCADE_REPEATS_BITS   14u   /* of a hash of their words */
#define CASCADE_REPEATS_LEAST  3u    /* that are copies, */
#define CASCADE_REPEATS_SHARE  256u  /* and one of so many */
#define CASCADE_GATE_LOSS      6     /* bits at most that a position counts against a flip, */
#define CASCADE_GATE_GAIN      8     /* or for it */
#define CASCADE_FLIP_EXTENT    4u    /* of an axis that may have flips */
#define CASCADE_MOST_FLIPS     (4u * CASCADE_MAX_RANK)

/* The array, as it is cut into slabs. */
struct cascade_gate {
    const uint8_t *words;
    struct h5twin_cascade_shape shape;
    unsigned word_size;
    bool is_float;
    bool is_packed; /* the effort fast */
    uint32_t value_count;
};

/* Candidate c flips axis c / 4, with the sum of indices extent - 1 + (c / 2 & 1), negative if c is
 * odd. They are bits of a mask. */
H5TWIN_HD bool
cascade_flip_is_possible(const struct h5twin_cascade_shape *shape, unsigned candidate)
{
    const unsigned axis = candidate / 4;
    return axis < shape->rank && shape->extent[axis] >= CASCADE_FLIP_EXTENT &&
           shape->extent[axis] <= CASCADE_MAX_SLAB;
}

/* Its entry for differences of this order along the axis; the sign turns with each pass. */
H5TWIN_HD uint32_t
cascade_flip_entry(const struct h5twin_cascade_shape *shape, unsigned candidate, unsigned order)
{
    const uint32_t number =
        (uint32_t)shape->extent[candidate / 4] - 1 + (candidate / 2 & 1) + order;
    return cascade_entry_of(candidate / 4 + 1, number, ((candidate ^ order) & 1) != 0);
}

/* Candidates of the middle `indices` of the slowest axis, of `extent`: where one index more is left
 * behind them than before, a sum of extent - 1 becomes one of the indices, and that of extent would
 * be one more. */
H5TWIN_HD uint32_t
cascade_flips_of_part(uint32_t flips, size_t extent, size_t indices)
{
    const uint32_t slowest = flips & 15;
    return (extent - indices) % 2 == 0 ? flips : (flips & ~UINT32_C(15)) | (slowest << 2 & 12);
}

H5TWIN_HD unsigned
cascade_gate_positions(const struct cascade_gate *gate)
{
    const uint32_t most = gate->is_packed ? CASCADE_GATE_FEW : CASCADE_GATE_POSITIONS;
    const uint32_t share = gate->value_count / CASCADE_GATE_VALUES;
    if (share < CASCADE_GATE_LEAST) {
        return gate->value_count < CASCADE_GATE_LEAST ? gate->value_count : CASCADE_GATE_LEAST;
    }
    return share < most ? share : most;
}

H5TWIN_HD uint32_t
cascade_gate_place(const struct cascade_gate *gate, unsigned number)
{
    return (uint32_t)cascade_sample_place(gate->value_count, cascade_gate_positions(gate), number,
                                          true);
}

H5TWIN_HD uint64_t
cascade_gate_word(const struct cascade_gate *gate, uint32_t p)
{
    const uint8_t *const at = gate->words + (size_t)p * gate->word_size;
    switch (gate->word_size) {
    case 1:
        return *at;
    case 2:
        return h5twin_load16(at);
    case 4:
        return h5twin_load32(at);
    default:
        return h5twin_load64(at);
    }
}

/* A word as a signed number; of floats, in the order of their values. */
H5TWIN_HD uint64_t
cascade_gate_code(const struct cascade_gate *gate, uint32_t p)
{
    const unsigned unused = 64 - 8 * gate->word_size;
    const uint64_t word = cascade_gate_word(gate, p) << unused;
    const uint64_t sign = (uint64_t)0 - (word >> 63);
    const uint64_t code = gate->is_float ? word ^ (sign >> 1) : word;
    return (uint64_t)((int64_t)code >> unused);
}

H5TWIN_HD unsigned
cascade_gate_length(const struct cascade_gate *gate, uint64_t difference)
{
    return h5twin_bit_length64(
        h5twin_cascade_magnitude64(h5twin_cascade_sign_extend64(difference, 8 * gate->word_size)));
}

/* What a value takes by itself or by the ones before it: the least of the first differences along
 * the axes, with either sign, and of the second ones. index: its own on each axis. */
H5TWIN_HD unsigned
cascade_gate_bits(const struct cascade_gate *gate, uint32_t p, uint64_t code,
                  const uint32_t index[CASCADE_MAX_RANK])
{
    unsigned least = cascade_gate_length(gate, code);
    uint32_t stride = 1;
    for (unsigned axis = gate->shape.rank; axis-- > 0;) {
        if (index[axis] >= 1) {
            const uint64_t before = cascade_gate_code(gate, p - stride);
            const unsigned first = cascade_gate_length(gate, code - before);
            const unsigned sum = cascade_gate_length(gate, code + before);
            least = first < least ? first : least;
            least = sum < least ? sum : least;
            if (index[axis] >= 2) {
                const unsigned second = cascade_gate_length(
                    gate, code - 2 * before + cascade_gate_code(gate, p - 2 * stride));
                least = second < least ? second : least;
            }
        }
        stride *= (uint32_t)gate->shape.extent[axis];
    }
    return least;
}

/* What a flip gains that leaves so many of these bits, within limits, less the one that each
 * position must save on average; 0 where there is nothing to save. */
H5TWIN_HD int
cascade_gate_gain(unsigned bits, unsigned left)
{
    const int gain = (int)bits - (int)left - 1;
    return bits == 0 && left == 0      ? 0
           : gain < -CASCADE_GATE_LOSS ? -CASCADE_GATE_LOSS
           : gain > CASCADE_GATE_GAIN  ? CASCADE_GATE_GAIN
                                       : gain;
}

/* What each candidate gains at p. */
H5TWIN_HD void
cascade_gate_look(const struct cascade_gate *gate, uint32_t p, int gains[CASCADE_MOST_FLIPS])
{
    uint32_t index[CASCADE_MAX_RANK], rest = p, stride = 1;
    for (unsigned axis = gate->shape.rank; axis-- > 0;) {
        const uint32_t extent = (uint32_t)gate->shape.extent[axis];
        index[axis] = rest % extent;
        rest /= extent;
    }
    const uint64_t code = cascade_gate_code(gate, p);
    const unsigned bits = cascade_gate_bits(gate, p, code, index);
    for (unsigned candidate = 0; candidate < CASCADE_MOST_FLIPS; candidate++) {
        gains[candidate] = 0;
    }
    for (unsigned axis = gate->shape.rank; axis-- > 0;) {
        const uint32_t extent = (uint32_t)gate->shape.extent[axis], i = index[axis];
        for (unsigned more = 0; more < 2 && cascade_flip_is_possible(&gate->shape, 4 * axis);
             more++) {
            const uint32_t number = extent - 1 + more;
            if (i <= number && number < 2 * i) {
                const uint64_t other = cascade_gate_code(gate, p - (2 * i - number) * stride);
                for (unsigned negative = 0; negative < 2; negative++) {
                    gains[4 * axis + 2 * more + negative] = cascade_gate_gain(
                        bits,
                        cascade_gate_length(gate, negative != 0 ? code + other : code - other));
                }
            }
        }
        stride *= extent;
    }
}

/* Whether a candidate is tried that gains so much: packed residuals want more. */
H5TWIN_HD bool
cascade_flip_promises(const struct cascade_gate *gate, int32_t gain)
{
    const int32_t least = gate->is_packed ? (int32_t)cascade_gate_positions(gate) : 0;
    return gain > least;
}

/* ---- copies ---- */

H5TWIN_HD unsigned
cascade_repeats_positions(uint32_t value_count)
{
    const uint32_t share = value_count / CASCADE_GATE_VALUES;
    return share < CASCADE_REPEATS ? share : CASCADE_REPEATS;
}

H5TWIN_HD uint32_t
cascade_repeats_place(const struct cascade_gate *gate, unsigned number)
{
    return (uint32_t)cascade_sample_place(
        gate->value_count, cascade_repeats_positions(gate->value_count), number, true);
}

H5TWIN_HD uint32_t
cascade_repeats_hash(uint64_t word)
{
    return (uint32_t)(word * CASCADE_MULTIPLIER >> (64 - CASCADE_REPEATS_BITS));
}

/* Whether the word at p stands one index before on some axis, too. */
H5TWIN_HD bool
cascade_is_repeated(const struct cascade_gate *gate, uint32_t p, uint64_t word)
{
    bool is_repeated = false;
    uint32_t stride = 1;
    for (unsigned axis = gate->shape.rank; axis-- > 0;) {
        is_repeated |= p >= stride && cascade_gate_word(gate, p - stride) == word;
        stride *= (uint32_t)gate->shape.extent[axis];
    }
    return is_repeated;
}

/* Whether copies are looked for: of `counted` positions whose words are not the fill word so many
 * are repeated. Where words have few values, which `hashes` different hashes of them say,
 * repetitions mean nothing. */
H5TWIN_HD bool
cascade_copies_promise(uint32_t counted, uint32_t repeated, uint32_t hashes)
{
    return repeated >= CASCADE_REPEATS_LEAST && repeated >= counted / CASCADE_REPEATS_SHARE &&
           hashes >= counted - counted / 4;
}

#endif
