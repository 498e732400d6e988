/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_tables.c: see residuals_tables.h. */
#include "residuals_tables.h"

#include <string.h>

uint64_t
h5twin_residuals_histogram_cost(const uint32_t histogram[RESIDUALS_TOKENS])
{
    uint64_t sum = 0, entropy = 0;
    unsigned used = 0, end = 0;
    for (unsigned i = 0; i < RESIDUALS_TOKENS; i++) {
        if (histogram[i] != 0) {
            sum += histogram[i];
            entropy += (uint64_t)histogram[i] * h5twin_residual_log2(histogram[i]);
            used++;
            end = i + 1;
        }
    }
    if (sum == 0) {
        return 0;
    }
    const uint64_t table_bits = 20 + 5 * used + (end - used);
    return sum * h5twin_residual_log2(sum) - entropy + (table_bits << 12);
}

/* ---- make ---- */

/* To four significant bits, half up. */
static uint32_t
round_frequency(uint32_t frequency)
{
    const unsigned length = h5twin_bit_length32(frequency);
    if (length <= RESIDUALS_MANTISSA_BITS + 1) {
        return frequency;
    }
    const unsigned drop = length - RESIDUALS_MANTISSA_BITS - 1;
    return (frequency + (1u << (drop - 1))) >> drop << drop;
}

/* The next smaller number of four significant bits, but not below 1. */
static uint32_t
step_down(uint32_t frequency)
{
    const unsigned length = h5twin_bit_length32(frequency);
    if (length <= RESIDUALS_MANTISSA_BITS + 1) {
        return frequency > 1 ? frequency - 1 : 1;
    }
    const unsigned drop = length - RESIDUALS_MANTISSA_BITS - 1;
    const bool is_power = (frequency & (frequency - 1)) == 0;
    return frequency - (1u << (is_power ? drop - 1 : drop));
}

static unsigned
first_largest(const struct h5twin_residuals_table *table)
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

void
h5twin_residuals_table_make(struct h5twin_residuals_table *table,
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
            const uint32_t share = (uint32_t)((uint64_t)histogram[i] * RESIDUALS_PROB / sum);
            table->frequency[i] = (uint16_t)round_frequency(share == 0 ? 1 : share);
            others += table->frequency[i];
        }
    }
    while (others > RESIDUALS_PROB - 1) {
        uint16_t *const largest = &table->frequency[first_largest(table)];
        const uint32_t smaller = step_down(*largest);
        others -= *largest - smaller;
        *largest = (uint16_t)smaller;
    }
    table->frequency[table->top] = (uint16_t)(RESIDUALS_PROB - others);
    residuals_table_sum_up(table);
}

/* ---- write ---- */

/* A prefix code, and the bits below the frequency's highest that follow it. */
struct field {
    uint32_t bits;
    unsigned width_bits;
};

static struct field
field_of_length(int length, int previous)
{
    const int change = length - previous;
    const unsigned code = (unsigned)(change < 0 ? -2 * change - 1 : 2 * change);
    if (code == 0) {
        return (struct field){0, 1};
    }
    if (code <= 2) {
        return (struct field){1 | (code - 1) << 2, 3};
    }
    if (code <= 6) {
        return (struct field){3 | (code - 3) << 3, 5};
    }
    return (struct field){7 | (uint32_t)length << 3, 7};
}

static unsigned
last_symbol(const struct h5twin_residuals_table *table)
{
    unsigned last = RESIDUALS_TOKENS - 1;
    while (table->frequency[last] == 0) {
        last--; /* frequencies sum to 4096: there is one */
    }
    return last;
}

size_t
h5twin_residuals_table_bits(const struct h5twin_residuals_table *table)
{
    const unsigned last = last_symbol(table);
    size_t bits = 16;
    int previous = RESIDUALS_FIRST_LENGTH;
    for (unsigned i = 0; i <= last; i++) {
        if (i != table->top) {
            const unsigned length = h5twin_bit_length32(table->frequency[i]);
            bits +=
                field_of_length((int)length, previous).width_bits + residuals_mantissa_bits(length);
            previous = (int)length;
        }
    }
    return bits;
}

void
h5twin_residuals_table_write(struct h5twin_lsb_writer *writer,
                             const struct h5twin_residuals_table *table)
{
    const unsigned last = last_symbol(table);
    int previous = RESIDUALS_FIRST_LENGTH;
    h5twin_lsb_put(writer, last, 8);
    h5twin_lsb_put(writer, table->top, 8);
    for (unsigned i = 0; i <= last; i++) {
        if (i == table->top) {
            continue;
        }
        const uint32_t frequency = table->frequency[i];
        const unsigned length = h5twin_bit_length32(frequency);
        const unsigned mantissa = residuals_mantissa_bits(length);
        const struct field field = field_of_length((int)length, previous);
        h5twin_lsb_put(writer, field.bits, field.width_bits);
        if (mantissa != 0) {
            h5twin_lsb_put(writer, frequency >> (length - 1 - mantissa) & ((1u << mantissa) - 1),
                           mantissa);
        }
        previous = (int)length;
    }
}

/* ---- read ---- */

bool
h5twin_residuals_table_read(struct h5twin_lsb_reader *reader, struct h5twin_residuals_table *table,
                            unsigned alphabet)
{
    return residuals_table_get(reader, table, alphabet);
}

void
h5twin_residuals_table_look_up(uint32_t look_up[RESIDUALS_PROB],
                               const struct h5twin_residuals_table *table)
{
    for (unsigned i = 0; i < RESIDUALS_TOKENS; i++) {
        const uint32_t entry = i << 24 | (table->frequency[i] - 1u) << RESIDUALS_PROB_BITS;
        uint32_t *const slots = look_up + table->start[i];
        for (uint32_t offset = 0; offset < table->frequency[i]; offset++) {
            slots[offset] = entry | offset;
        }
    }
}

unsigned
h5twin_residuals_table_find(const struct h5twin_residuals_table *table, uint32_t slot)
{
    unsigned symbol = 0;
    while (slot >= table->start[symbol + 1]) {
        symbol++;
    }
    return symbol;
}
