/* SPDX-License-Identifier: BSD-3-Clause
 * toy_runs.h: the loop of toy, by instruction set (see isa.h). */
#ifndef H5TWIN_TOY_RUNS_H
#define H5TWIN_TOY_RUNS_H

#include "isa.h"

#include <stddef.h>

struct h5twin_toy_kernels {
    /* How many of `count` words (1 to 255) from src on, of word_size bytes, are like the first. */
    size_t (*run)(const uint8_t *src, size_t count, size_t word_size);
};

H5TWIN_DECLARE_VARIANTS(h5twin_toy_kernels);

const struct h5twin_toy_kernels *h5twin_toy_kernels_for(h5twin_isa isa);

#endif
