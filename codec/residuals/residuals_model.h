/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_model.h: how an encoder of rANS streams codes each class of blocks.
 *
 * All of it is integers that do not depend on the order in which blocks were counted.
 * Source  RESIDUALS.md section 6. */
#ifndef H5TWIN_COMMON_RESIDUALS_MODEL_H
#define H5TWIN_COMMON_RESIDUALS_MODEL_H

#include "residuals_kernels.h"
#include "residuals_tables.h"

/* What the blocks of an array were found to be. */
struct h5twin_residuals_counts {
    uint32_t blocks[RESIDUALS_CLASSES];                   /* of a class */
    uint32_t tokens[RESIDUALS_CLASSES][RESIDUALS_TOKENS]; /* only set if it has blocks */
};

struct h5twin_residuals_kind {
    uint8_t table;
    uint8_t shift;       /* bits */
    uint32_t block_bits; /* that a block is estimated to take, on the average */
};

struct h5twin_residuals_model {
    unsigned table_count;
    struct h5twin_residuals_table tables[RESIDUALS_TABLES];
    unsigned kind_count;
    struct h5twin_residuals_kind kinds[RESIDUALS_KINDS + 1]; /* from 1 on; 0: all zero */
    uint8_t kind_of_class[RESIDUALS_CLASSES];
    bool has_shifts;
    uint64_t total_bits; /* estimated */
};

/* Working memory. */
struct h5twin_residuals_groups {
    struct {
        unsigned first_class, end_class;
        uint64_t cost;        /* bits << 12 */
        uint64_t joined_cost; /* together with the next one */
        uint32_t tokens[RESIDUALS_TOKENS];
    } group[RESIDUALS_CLASSES];
};

/* At least one class above 0 has blocks. */
void h5twin_residuals_model_make(struct h5twin_residuals_model *model,
                                 const struct h5twin_residuals_counts *counts,
                                 struct h5twin_residuals_groups *groups,
                                 const struct h5twin_residuals_kernels *kernels);

#endif
