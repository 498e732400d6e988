/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_block_encode.h: the compressed form of one block; FORMAT.md 6. */
#ifndef H5TWIN_E2MC_BLOCK_ENCODE_H
#define H5TWIN_E2MC_BLOCK_ENCODE_H

#include "e2mc.h"
#include "e2mc_way_encode.h"

/* Bytes of dst below, whatever the codes are. */
size_t h5twin_e2mc_block_bound(const struct h5twin_e2mc_geometry *geometry);

/* Code size bytes (whole words, at most a block); returns the size of the compressed form. */
size_t h5twin_e2mc_block_encode(const struct h5twin_e2mc_coder *coder, uint8_t *dst,
                                const uint8_t *words, size_t size);

#endif
