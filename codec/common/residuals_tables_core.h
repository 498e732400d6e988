/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_tables_core.h: a table of frequencies of residual streams, and how it is read, for C
 * and CUDA.
 * Source  RESIDUALS.md section 4. */
#ifndef H5TWIN_COMMON_RESIDUALS_TABLES_CORE_H
#define H5TWIN_COMMON_RESIDUALS_TABLES_CORE_H

#include "bit_stream_lsb.h"
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

/* The next bit length, maybe out of range. */
H5TWIN_HD int
residuals_length_get(struct h5twin_lsb_reader *reader, int previous)
{
    if (h5twin_lsb_get(reader, 1) == 0) {
        return previous;
    }
    if (h5twin_lsb_get(reader, 1) == 0) {
        return h5twin_lsb_get(reader, 1) == 0 ? previous - 1 : previous + 1;
    }
    if (h5twin_lsb_get(reader, 1) == 0) {
        const int code = 3 + (int)h5twin_lsb_get(reader, 2);
        return code % 2 != 0 ? previous - (code + 1) / 2 : previous + code / 2;
    }
    return (int)h5twin_lsb_get(reader, 4);
}

/* h5twin_residuals_table_read of residuals_tables.h. */
H5TWIN_HD bool
residuals_table_get(struct h5twin_lsb_reader *reader, struct h5twin_residuals_table *table,
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
    for (unsigned i = 0; i <= last; i++) {
        if (i == table->top) {
            continue;
        }
        const int length = residuals_length_get(reader, previous);
        if (length < 0 || length > (int)RESIDUALS_LENGTH_BITS_MOST) {
            return false;
        }
        if (length != 0) {
            const unsigned mantissa = residuals_mantissa_bits((unsigned)length);
            const uint32_t high = 1u << mantissa | (uint32_t)h5twin_lsb_get(reader, mantissa);
            table->frequency[i] = (uint16_t)(high << ((unsigned)length - 1 - mantissa));
        }
        others += table->frequency[i];
        previous = length;
    }
    if (others > RESIDUALS_PROB - 1) {
        return false;
    }
    table->frequency[table->top] = (uint16_t)(RESIDUALS_PROB - others);
    residuals_table_sum_up(table);
    return true;
}

#endif
