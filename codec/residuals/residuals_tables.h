/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_tables.h: tables of frequencies of residual streams: make, cost, write, read.
 * Source  RESIDUALS.md section 4. */
#ifndef H5TWIN_COMMON_RESIDUALS_TABLES_H
#define H5TWIN_COMMON_RESIDUALS_TABLES_H

#include "residuals_tables_core.h"

/* Frequencies for the symbols counted, of which there is at least one. */
void h5twin_residuals_table_make(struct h5twin_residuals_table *table,
                                 const uint32_t histogram[RESIDUALS_TOKENS]);

/* Bits that writing the table takes. */
size_t h5twin_residuals_table_bits(const struct h5twin_residuals_table *table);
#define RESIDUALS_TABLE_MOST_BITS (16 + 10 * RESIDUALS_TOKENS)

void h5twin_residuals_table_write(struct h5twin_lsb_writer *writer,
                                  const struct h5twin_residuals_table *table);

/* Read a table of symbols below `alphabet`; false if it is none. What lies beyond the end of the
 * reader's source counts as zeros: the caller looks whether that was reached. */
bool h5twin_residuals_table_read(struct h5twin_lsb_reader *reader,
                                 struct h5twin_residuals_table *table, unsigned alphabet);

/* For a decoder: symbol << 24 | (frequency - 1) << 12 | offset of each of the 4096 slots. */
void h5twin_residuals_table_look_up(uint32_t look_up[RESIDUALS_PROB],
                                    const struct h5twin_residuals_table *table);

/* The symbol of a slot, 0..4095, by search. */
unsigned h5twin_residuals_table_find(const struct h5twin_residuals_table *table, uint32_t slot);

#endif
