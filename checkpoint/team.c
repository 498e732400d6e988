/* SPDX-License-Identifier: BSD-3-Clause
 * team.c: what processes tell each other. Without a team there is nothing to tell. */
#include "checkpoint.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static bool
lost(struct h5twin_checkpoints *checkpoints)
{
    h5twin_checkpoint_fail(checkpoints,
                           "The processes of the team could not reach each other: a call of "
                           "MPI failed, or a process is gone.");
    return false;
}

bool
h5twin_checkpoint_agree(struct h5twin_checkpoints *checkpoints, bool is_ok)
{
    const struct h5twin_checkpoint_team *const team = &checkpoints->team;
    if (team->size == 1) {
        return is_ok;
    }
    /* The first process that failed gives the largest number. */
    uint64_t from_end = is_ok ? 0 : (uint64_t)(team->size - team->rank);
    if (team->maximum(team->context, &from_end, 1) != 0) {
        return lost(checkpoints);
    }
    if (from_end == 0) {
        return true;
    }
    const int root = team->size - (int)from_end;
    char reason[MESSAGE_SIZE];
    memcpy(reason, checkpoints->message, sizeof reason);
    if (team->broadcast(team->context, reason, sizeof reason, root) != 0) {
        return lost(checkpoints);
    }
    reason[MESSAGE_SIZE - 1] = '\0';
    if (root != team->rank) {
        h5twin_checkpoint_fail(checkpoints, "Process %d: %.*s", root, MESSAGE_SIZE - 32, reason);
    }
    return false;
}

bool
h5twin_checkpoint_share(struct h5twin_checkpoints *checkpoints, void *bytes, size_t size)
{
    const struct h5twin_checkpoint_team *const team = &checkpoints->team;
    return team->size == 1 ||
           (size <= INT_MAX && team->broadcast(team->context, bytes, (int)size, 0) == 0) ||
           lost(checkpoints);
}

bool
h5twin_checkpoint_collect(struct h5twin_checkpoints *checkpoints, const void *bytes, size_t size,
                          void *all)
{
    const struct h5twin_checkpoint_team *const team = &checkpoints->team;
    if (team->size == 1) {
        memcpy(all, bytes, size);
        return true;
    }
    return (size <= INT_MAX && team->gather(team->context, bytes, (int)size, all) == 0) ||
           lost(checkpoints);
}
