/* SPDX-License-Identifier: BSD-3-Clause
 * checkpoint_folder.h: the checkpoints of a folder, FOLDER/checkpoint_STEP.h5.
 *
 * Newest is what was written last, by the serial number that each file has: not the highest step,
 * for a run may go back, nor what the file system's clock says. Files that are not complete
 * checkpoints are left alone. */
#ifndef CHECKPOINT_FOLDER_H
#define CHECKPOINT_FOLDER_H

#include "gray_scott_solver.h"

void checkpoint_folder_path(char *path, size_t capacity, const char *folder, uint64_t step);

/* How many complete checkpoints there are. */
size_t checkpoint_folder_count(const char *folder);

/* Whether the file at path is in the folder. */
bool checkpoint_folder_holds(const char *folder, const char *path);

/* The serial number of the newest one, 0 if there is none. */
uint64_t checkpoint_folder_newest(const char *folder);

/* Make *sim the state in the newest checkpoint that can be read, and path its name. -1 with the
 * reason on standard error. */
int checkpoint_folder_restart(const char *folder, struct gray_scott *sim, char *path,
                              size_t capacity);

/* Remove all checkpoints but the `keep` newest. */
void checkpoint_folder_prune(const char *folder, size_t keep);

#endif
