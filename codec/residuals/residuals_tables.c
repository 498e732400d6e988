/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_tables.c: see residuals_tables.h. */
#include "residuals_tables.h"

#include <string.h>

/* ---- make, write ---- */

void
h5twin_residuals_table_make(struct h5twin_residuals_table *table,
                            const uint32_t histogram[RESIDUALS_TOKENS])
{
    residuals_table_make(table, histogram);
}

size_t
h5twin_residuals_table_bits(const struct h5twin_residuals_table *table)
{
    return residuals_table_bits(table);
}

void
h5twin_residuals_table_write(struct h5twin_lsb_writer *writer,
                             const struct h5twin_residuals_table *table)
{
    residuals_table_put(writer, table);
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
