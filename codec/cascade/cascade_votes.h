/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_votes.h: what the differences of a block vote for, in plain C; see cascade_kernels.h.
 * Source  FORMAT.md section 11. */
#ifndef H5TWIN_CASCADE_VOTES_H
#define H5TWIN_CASCADE_VOTES_H

#include "cascade_kernels.h"
#include "cascade_refer_core.h"

#include <string.h>

#define POLL_SLOTS_LOG2 6u /* twice the differences */
#define POLL_MULTIPLIER UINT32_C(2654435769)

/* The lags that a block's differences vote for, and how often. */
struct cascade_poll {
    unsigned count;
    uint32_t lag[CASCADE_REFERENCE_BLOCK];
    unsigned votes[CASCADE_REFERENCE_BLOCK];
    uint8_t slot[1u << POLL_SLOTS_LOG2]; /* number of a lag + 1, by its hash */
};

static inline void
cascade_cast_vote(struct cascade_poll *poll, uint32_t lag)
{
    unsigned slot = lag * POLL_MULTIPLIER >> (32 - POLL_SLOTS_LOG2);
    while (poll->slot[slot] != 0 && poll->lag[poll->slot[slot] - 1] != lag) {
        slot = (slot + 1) % (1u << POLL_SLOTS_LOG2);
    }
    if (poll->slot[slot] == 0) {
        poll->lag[poll->count] = lag;
        poll->votes[poll->count] = 0;
        poll->slot[slot] = (uint8_t)++poll->count;
    }
    poll->votes[poll->slot[slot] - 1]++;
}

/* The most voted lags, smaller ones of equals first. */
static inline void
cascade_elect(const struct cascade_poll *poll, uint32_t lag[CASCADE_VOTES])
{
    unsigned votes[CASCADE_VOTES] = {0};
    memset(lag, 0, CASCADE_VOTES * sizeof *lag);
    for (unsigned i = 0; i < poll->count; i++) {
        unsigned at = CASCADE_VOTES;
        while (at > 0 && (poll->votes[i] > votes[at - 1] ||
                          (poll->votes[i] == votes[at - 1] && poll->lag[i] < lag[at - 1]))) {
            at--;
        }
        for (unsigned k = CASCADE_VOTES - 1; k > at; k--) {
            votes[k] = votes[k - 1];
            lag[k] = lag[k - 1];
        }
        if (at < CASCADE_VOTES) {
            votes[at] = poll->votes[i];
            lag[at] = poll->lag[i];
        }
    }
}

static inline void
h5twin_cascade_votes(uint32_t lag[CASCADE_VOTES], const uint32_t *restrict slots, unsigned count,
                     const uint32_t *restrict last_places, uint32_t none, uint32_t begin)
{
    struct cascade_poll poll = {.count = 0};
    for (unsigned i = 0; i < count; i++) {
        const uint32_t last = last_places[slots[i] >> 1];
        const uint32_t vote = cascade_vote_of(slots[i], last, none, begin, i);
        if (vote != 0) {
            cascade_cast_vote(&poll, vote);
        }
    }
    cascade_elect(&poll, lag);
}

#endif
