/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_histogram16.h: histograms of 16-bit symbols; see e2mc_histogram.h. */
#ifndef H5TWIN_E2MC_HISTOGRAM16_H
#define H5TWIN_E2MC_HISTOGRAM16_H

#include "e2mc_histogram.h"

/* Count the symbols at symbols, symbols + word_size, ... of size bytes of words: fills low, counts,
 * distinct, small and large, which is not sorted yet. */
void h5twin_e2mc_count16(struct h5twin_e2mc_histogram *histogram, const uint8_t *symbols,
                         size_t size, size_t word_size);

/* Those that occur more often than `least`, and the first ties_listed of those that occur just as
 * often: in ascending order, count in the high half. Returns how many. */
size_t h5twin_e2mc_list16(const struct h5twin_e2mc_histogram *histogram, uint32_t least,
                          size_t ties_listed, uint64_t *listed);

#endif
