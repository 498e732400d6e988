/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_tables_core.h: a table of frequencies of residual streams, and how it is read, for C
 * and CUDA.
 * Source  RESIDUALS.md section 4. */
#ifndef H5TWIN_COMMON_RESIDUALS_TABLES_CORE_H
#define H5TWIN_COMMON_RESIDUALS_TABLES_CORE_H

#include "../common/bit_stream_lsb.h"
#include "residuals_core.h"

#include <stdbool.h>

#define RESIDUALS_FIRST_LENGTH     7  /* bit length that the first difference refers to */
#define RESIDUALS_MANTISSA_BITS    3u /* stored below a frequency's highest bit */
#define RESIDUALS_LENGTH_BITS_MOST 12u

/* Frequencies that sum to 4096. */
struct h5twin_residuals_table {
    uint16_t frequency[RESIDUALS_TOKENS];
    uint16_t start[RESIDUALS_TOKENS + 1]; /* sums of those before */
    unsigned top;                         /* the symbol that gets what the others leave */
};

H5TWIN_HD void
residuals_table_sum_up(struct h5twin_residuals_table *table)
{
    table->start[0] = 0;
    for (unsigned i = 0; i < RESIDUALS_TOKENS; i++) {
        table->start[i + 1] = (uint16_t)(table->start[i] + table->frequency[i]);
    }
}

H5TWIN_HD unsigned
residuals_mantissa_bits(unsigned length)
{
    const unsigned below = length == 0 ? 0 : length - 1;
    return below < RESIDUALS_MANTISSA_BITS ? below : RESIDUALS_MANTISSA_BITS;
}

/* ---- make ---- */

/* Bits, times 4096, of `sum` symbols, with an estimate for their table; entropy is the sum of
 * count log2(count), used the number of different ones, all below `end`. */
H5TWIN_HD uint64_t
residuals_cost_of(uint64_t sum, uint64_t entropy, unsigned used, unsigned end)
{
    const uint64_t table_bits = 20 + 5 * used + (end - used);
    return sum == 0 ? 0 : sum * h5twin_residual_log2(sum) - entropy + (table_bits << 12);
}

/* To four significant bits, half up. */
H5TWIN_HD uint32_t
residuals_round(uint32_t frequency)
{
    const unsigned length = h5twin_bit_length32(frequency);
    if (length <= RESIDUALS_MANTISSA_BITS + 1) {
        return frequency;
    }
    const unsigned drop = length - RESIDUALS_MANTISSA_BITS - 1;
    return (frequency + (1u << (drop - 1))) >> drop << drop;
}

/* The frequency of a symbol that is not the top one, before all are known to fit. */
H5TWIN_HD uint32_t
residuals_share(uint32_t count, uint64_t sum)
{
    const uint32_t share = (uint32_t)((uint64_t)count * RESIDUALS_PROB / sum);
    return residuals_round(share == 0 ? 1 : share);
}

/* The next smaller number of four significant bits, but not below 1. */
H5TWIN_HD uint32_t
residuals_step_down(uint32_t frequency)
{
    const unsigned length = h5twin_bit_length32(frequency);
    if (length <= RESIDUALS_MANTISSA_BITS + 1) {
        return frequency > 1 ? frequency - 1 : 1;
    }
    const unsigned drop = length - RESIDUALS_MANTISSA_BITS - 1;
    const bool is_power = (frequency & (frequency - 1)) == 0;
    return frequency - (1u << (is_power ? drop - 1 : drop));
}

H5TWIN_HD unsigned
residuals_first_largest(const struct h5twin_residuals_table *table)
{
    unsigned found = RESIDUALS_TOKENS;
    for (unsigned i = 0; i < RESIDUALS_TOKENS; i++) {
        if (i != table->top &&
            (found == RESIDUALS_TOKENS || table->frequency[i] > table->frequency[found])) {
            found = i;
        }
    }
    return found;
}

/* h5twin_residuals_table_make of residuals_tables.h. */
H5TWIN_HD void
residuals_table_make(struct h5twin_residuals_table *table,
                     const uint32_t histogram[RESIDUALS_TOKENS])
{
    uint64_t sum = 0;
    uint32_t others = 0;
    memset(table, 0, sizeof *table);
    for (unsigned i = 0; i < RESIDUALS_TOKENS; i++) {
        sum += histogram[i];
        table->top = histogram[i] > histogram[table->top] ? i : table->top;
    }
    for (unsigned i = 0; i < RESIDUALS_TOKENS; i++) {
        if (histogram[i] != 0 && i != table->top) {
            table->frequency[i] = (uint16_t)residuals_share(histogram[i], sum);
            others += table->frequency[i];
        }
    }
    while (others > RESIDUALS_PROB - 1) {
        uint16_t *const largest = &table->frequency[residuals_first_largest(table)];
        const uint32_t smaller = residuals_step_down(*largest);
        others -= *largest - smaller;
        *largest = (uint16_t)smaller;
    }
    table->frequency[table->top] = (uint16_t)(RESIDUALS_PROB - others);
    residuals_table_sum_up(table);
}

/* ---- write ---- */

/* A prefix code, or one and the bits that follow it. */
struct residuals_field {
    uint32_t bits;
    unsigned width_bits;
};

H5TWIN_HD struct residuals_field
residuals_field_make(uint32_t bits, unsigned width_bits)
{
    struct residuals_field field;
    field.bits = bits;
    field.width_bits = width_bits;
    return field;
}

H5TWIN_HD struct residuals_field
residuals_field_of_length(int length, int previous)
{
    const int change = length - previous;
    const unsigned code = (unsigned)(change < 0 ? -2 * change - 1 : 2 * change);
    if (code == 0) {
        return residuals_field_make(0, 1);
    }
    if (code <= 2) {
        return residuals_field_make(1 | (code - 1) << 2, 3);
    }
    if (code <= 6) {
        return residuals_field_make(3 | (code - 3) << 3, 5);
    }
    return residuals_field_make(7 | (uint32_t)length << 3, 7);
}

H5TWIN_HD unsigned
residuals_last_symbol(const struct h5twin_residuals_table *table)
{
    unsigned last = RESIDUALS_TOKENS - 1;
    while (table->frequency[last] == 0) {
        last--; /* frequencies sum to 4096: there is one */
    }
    return last;
}

/* What a table has of a symbol that is not the top one: how its bit length differs from that of the
 * symbol before, and the bits below the frequency's highest. */
H5TWIN_HD struct residuals_field
residuals_field_of_symbol(const struct h5twin_residuals_table *table, unsigned symbol)
{
    const unsigned skipped = symbol != 0 && table->top == symbol - 1; /* the top has no field */
    const int previous = symbol == skipped
                             ? RESIDUALS_FIRST_LENGTH
                             : (int)h5twin_bit_length32(table->frequency[symbol - 1 - skipped]);
    const uint32_t frequency = table->frequency[symbol];
    const unsigned length = h5twin_bit_length32(frequency);
    const unsigned mantissa = residuals_mantissa_bits(length);
    struct residuals_field field = residuals_field_of_length((int)length, previous);
    if (mantissa != 0) {
        field.bits |= (frequency >> (length - 1 - mantissa) & ((1u << mantissa) - 1))
                      << field.width_bits;
        field.width_bits += mantissa;
    }
    return field;
}

/* h5twin_residuals_table_bits of residuals_tables.h. */
H5TWIN_HD size_t
residuals_table_bits(const struct h5twin_residuals_table *table)
{
    const unsigned last = residuals_last_symbol(table);
    size_t bits = 16;
    for (unsigned i = 0; i <= last; i++) {
        bits += i != table->top ? residuals_field_of_symbol(table, i).width_bits : 0;
    }
    return bits;
}

/* h5twin_residuals_table_write of residuals_tables.h. */
H5TWIN_HD void
residuals_table_put(struct h5twin_lsb_writer *writer, const struct h5twin_residuals_table *table)
{
    const unsigned last = residuals_last_symbol(table);
    h5twin_lsb_put(writer, last, 8);
    h5twin_lsb_put(writer, table->top, 8);
    for (unsigned i = 0; i <= last; i++) {
        if (i != table->top) {
            const struct residuals_field field = residuals_field_of_symbol(table, i);
            h5twin_lsb_put(writer, field.bits, field.width_bits);
        }
    }
}

/* ---- read ---- */

#define RESIDUALS_FIELD_BITS_MOST 10u /* of a symbol: a code of up to 7, and a mantissa */

/* A symbol's field, the first bits of `window`, behind one of bit length `previous`. */
struct residuals_symbol_field {
    int length; /* maybe out of range */
    uint32_t frequency;
    unsigned width_bits;
};

H5TWIN_HD struct residuals_symbol_field
residuals_symbol_field_get(uint64_t window, int previous)
{
    const unsigned code = (unsigned)(window >> 3);
    struct residuals_symbol_field field;
    if ((window & 1) == 0) {
        field.length = previous;
        field.width_bits = 1;
    } else if ((window & 2) == 0) {
        field.length = (window & 4) == 0 ? previous - 1 : previous + 1;
        field.width_bits = 3;
    } else if ((window & 4) == 0) { /* by two or three, as residuals_field_of_length tells */
        const int change = 3 + (int)(code & 3);
        field.length = change % 2 != 0 ? previous - (change + 1) / 2 : previous + change / 2;
        field.width_bits = 5;
    } else {
        field.length = (int)(code & 15);
        field.width_bits = 7;
    }
    field.frequency = 0;
    if (field.length > 0 && field.length <= (int)RESIDUALS_LENGTH_BITS_MOST) {
        const unsigned mantissa = residuals_mantissa_bits((unsigned)field.length);
        const uint32_t low = (uint32_t)(window >> field.width_bits) & ((1u << mantissa) - 1);
        field.frequency = (1u << mantissa | low) << ((unsigned)field.length - 1 - mantissa);
        field.width_bits += mantissa;
    }
    return field;
}

/* h5twin_residuals_table_read of residuals_tables.h, but for the sums. */
H5TWIN_HD bool
residuals_frequencies_get(struct h5twin_lsb_reader *reader, struct h5twin_residuals_table *table,
                          unsigned alphabet)
{
    memset(table, 0, sizeof *table);
    const unsigned last = (unsigned)h5twin_lsb_get(reader, 8);
    table->top = (unsigned)h5twin_lsb_get(reader, 8);
    if (last >= alphabet || table->top > last) {
        return false;
    }
    uint32_t others = 0;
    int previous = RESIDUALS_FIRST_LENGTH;
    uint64_t window = 0;
    unsigned window_bits = 0; /* of the window, which are left */
    for (unsigned i = 0; i <= last; i++) {
        if (i == table->top) {
            continue;
        }
        if (window_bits < RESIDUALS_FIELD_BITS_MOST) {
            reader->bit -= window_bits; /* they are read again: loads are what takes time */
            window = h5twin_lsb_get(reader, 64);
            window_bits = 64;
        }
        const struct residuals_symbol_field field = residuals_symbol_field_get(window, previous);
        if (field.length < 0 || field.length > (int)RESIDUALS_LENGTH_BITS_MOST) {
            return false;
        }
        table->frequency[i] = (uint16_t)field.frequency;
        others += field.frequency;
        previous = field.length;
        window >>= field.width_bits;
        window_bits -= field.width_bits;
    }
    reader->bit -= window_bits;
    if (others > RESIDUALS_PROB - 1) {
        return false;
    }
    table->frequency[table->top] = (uint16_t)(RESIDUALS_PROB - others);
    return true;
}

/* h5twin_residuals_table_read of residuals_tables.h. */
H5TWIN_HD bool
residuals_table_get(struct h5twin_lsb_reader *reader, struct h5twin_residuals_table *table,
                    unsigned alphabet)
{
    const bool good = residuals_frequencies_get(reader, table, alphabet);
    if (good) {
        residuals_table_sum_up(table);
    }
    return good;
}

#endif
