/* SPDX-License-Identifier: BSD-3-Clause
 * fcm_match.h: the part of fcm.c that works within a partition. */
#ifndef H5TWIN_FPCOMPRESS_FCM_MATCH_H
#define H5TWIN_FPCOMPRESS_FCM_MATCH_H

#include "../common/bytes.h"
#include "fpcompress.h"

/* A position with its hash, multiplied by an odd number: one to one, and even in its top bits. */
struct fcm_place {
    uint32_t key;
    uint32_t position;
};

/* The top `bits` bits of key << used_bits; bits may be 0. */
static inline uint32_t
fcm_key_slot(uint32_t key, unsigned used_bits, unsigned bits)
{
    return (uint32_t)((uint64_t)(uint32_t)(key << used_bits) >> (32 - bits));
}

static inline uint64_t
fcm_word_at(const uint8_t *src, size_t position)
{
    return h5twin_load64(src + 8 * position);
}

/* Positions whose hashes begin with the same used_bits bits, ascending; they are moved about. */
struct fcm_partition {
    struct fcm_place *places;
    size_t count;
    unsigned used_bits;
};

/* For each of these places the distance to the latest equal word among the last four places of the
 * same hash; where there is none, distances stays as it is. Positions and distances in words. */
enum h5twin_status h5twin_fcm_match_partition(uint32_t *restrict distances,
                                              const uint8_t *restrict src,
                                              const struct fcm_partition *partition);

#endif
