/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_votes_lanes.h: what the differences of a block vote for, with vectors; as
 * cascade_votes.h.
 *
 * Each difference's lag is compared with all others: what it has of votes, above the lag's
 * complement, makes one number, whose largest is elected. */
#ifndef H5TWIN_CASCADE_VOTES_LANES_H
#define H5TWIN_CASCADE_VOTES_LANES_H

#include "../common/lanes.h"
#include "cascade_kernels.h"

#define CASCADE_LAG_BITS 25u /* of lag * 2 + sign: a slab has at most 2^24 values */
#define BLOCK_VECTORS    (CASCADE_REFERENCE_BLOCK / LANES32)

/* The largest of all lanes, which are below 2^31. */
H5TWIN_LANES_INLINE uint32_t
cascade_largest(const v32 votes[BLOCK_VECTORS])
{
    uint32_t lane[LANES32], largest = 0;
    v32 all = votes[0];
    for (unsigned part = 1; part < BLOCK_VECTORS; part++) {
        all = v_max32(all, votes[part]);
    }
    v_store32(lane, all);
    for (unsigned i = 0; i < LANES32; i++) {
        largest = lane[i] > largest ? lane[i] : largest;
    }
    return largest;
}

static inline void
h5twin_cascade_votes_lanes(uint32_t lag[CASCADE_VOTES], const uint32_t *restrict slots,
                           unsigned count, const uint32_t *restrict last_places, uint32_t none,
                           uint32_t begin)
{
    const uint32_t most = (UINT32_C(1) << CASCADE_LAG_BITS) - 1;
    uint32_t lags[CASCADE_REFERENCE_BLOCK];
    v32 votes[BLOCK_VECTORS], of[BLOCK_VECTORS], any = v_set32(0);
    for (unsigned part = 0; part < BLOCK_VECTORS; part++) {
        const unsigned at = part * LANES32, left = count > at ? count - at : 0;
        const v32 in = left >= LANES32 ? v_load32(slots + at) : v_load_first32(slots + at, left);
        const v32 slot = in >> 1, place = v_numbers32() + (begin + at + 1);
        const m32 has_key = m_and32(m_first32(left), m_not32(m_equal32(slot, v_set32(none))));
        /* those without a key look up any place */
        const v32 last = v_keep32(has_key, v_gather32(last_places, v_keep32(has_key, slot)));
        const v32 distance = place - (last >> 1);
        const m32 is_far =
            m_and32(m_nonzero32(last), m_greater32(distance, v_set32(CASCADE_REFERENCE_BLOCK - 1)));
        const m32 is_lag = m_and32(is_far, m_greater32(v_set32(begin + 1), distance));
        of[part] = v_keep32(is_lag, distance << 1 | ((last ^ in) & 1));
        votes[part] = v_set32(0);
        any |= of[part];
        v_store32(lags + at, of[part]);
    }
    memset(lag, 0, CASCADE_VOTES * sizeof *lag);
    if (m_is_none32(m_nonzero32(any))) {
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        for (unsigned part = 0; lags[i] != 0 && part < BLOCK_VECTORS; part++) {
            votes[part] =
                v_add_where32(m_equal32(of[part], v_set32(lags[i])), votes[part], v_set32(1));
        }
    }
    for (unsigned part = 0; part < BLOCK_VECTORS; part++) {
        votes[part] =
            v_keep32(m_nonzero32(of[part]), (votes[part] << CASCADE_LAG_BITS) + (most - of[part]));
    }
    for (unsigned i = 0; i < CASCADE_VOTES; i++) {
        const uint32_t best = cascade_largest(votes);
        if (best == 0) {
            return;
        }
        lag[i] = most - (best & most);
        for (unsigned part = 0; part < BLOCK_VECTORS; part++) {
            votes[part] = v_keep32(m_not32(m_equal32(of[part], v_set32(lag[i]))), votes[part]);
        }
    }
}

#undef BLOCK_VECTORS
#endif
