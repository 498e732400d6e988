/* SPDX-License-Identifier: BSD-3-Clause
 * fork_team.h: a team for h5twin_checkpoint.h of forked processes, so that its tests need no MPI. A
 * process that ends is noticed: the others' calls then fail, as nobody waits for it. */
#ifndef FORK_TEAM_H
#define FORK_TEAM_H

#include "h5twin_checkpoint.h"

#include <sys/types.h>

#define FORK_TEAM_MOST 16

/* Fork size - 1 children. Returns in each process with its rank; in rank 0 children[i] is the
 * process of rank i. False if that fails. */
bool fork_team_begin(struct h5twin_checkpoint_team *team, int size, pid_t children[FORK_TEAM_MOST]);

/* Rank 0: wait for all; how many ended with another status than 0. Others: exit with status. */
int fork_team_end(struct h5twin_checkpoint_team *team, const pid_t children[FORK_TEAM_MOST],
                  int status);

#endif
