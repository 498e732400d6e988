/* SPDX-License-Identifier: BSD-3-Clause
 * folder.h: names in a folder of checkpoints, who may write there, and what is removed. No HDF5.
 *
 *     NAME-00000001.h5        a complete checkpoint
 *     NAME-00000001.xmf       what ParaView opens
 *     NAME-00000001.parts/    parts of a team's processes: 0.h5, 1.h5, ...
 *     NAME-00000002.h5.tmp    not yet complete, or left by a run that was killed
 *     .NAME.lock              locked by the program that writes */
#ifndef H5TWIN_CHECKPOINT_FOLDER_H
#define H5TWIN_CHECKPOINT_FOLDER_H

#include "store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct folder {
    const char *path, *name; /* the caller's */
};

enum h5twin_folder_file {
    FOLDER_MASTER,
    FOLDER_TEMPORARY,
    FOLDER_XDMF,
    FOLDER_XDMF_TEMPORARY,
    FOLDER_PARTS
};

/* The path of a checkpoint's file, malloc'ed. NULL: no memory. */
char *h5twin_folder_file(const struct folder *folder, uint64_t serial,
                         enum h5twin_folder_file file);

/* The path of a process's part. */
char *h5twin_folder_part(const struct folder *folder, uint64_t serial, int rank);

/* The same from the folder, as a checkpoint names it: "NAME-00000001.parts/3.h5". */
char *h5twin_folder_part_name(const struct folder *folder, uint64_t serial, int rank);

/* Make the folder, if it is not there. */
bool h5twin_folder_make(const char *path, struct store_error *error);

/* Take the right to write here until the descriptor is closed, or the process ends. -1: see error,
 * whose code is EWOULDBLOCK if another one has it. Where the file system has no locks none is
 * needed. */
int h5twin_folder_lock(const struct folder *folder, struct store_error *error);

/* Serial numbers of the complete checkpoints, newest first; malloc'ed, NULL if there is none. */
bool h5twin_folder_list(const struct folder *folder, uint64_t **serials, size_t *count,
                        struct store_error *error);

/* A number above those of all that is there, complete or not. */
bool h5twin_folder_next_serial(const struct folder *folder, uint64_t *serial,
                               struct store_error *error);

/* A descriptor that keeps this checkpoint from being removed; -1 if it is not there. */
int h5twin_folder_hold(const struct folder *folder, uint64_t serial);

/* Remove a checkpoint, unless somebody holds it or reads it with HDF5; the file that makes it
 * complete goes first. False only if it could not be removed. */
bool h5twin_folder_remove(const struct folder *folder, uint64_t serial, struct store_error *error);

/* Remove what belongs to no complete checkpoint. */
void h5twin_folder_clean(const struct folder *folder);

/* Remove what was written of a checkpoint that did not become complete. One whose file has its
 * final name stays, whatever failed after that: all of it is on the disk. */
void h5twin_folder_discard(const struct folder *folder, uint64_t serial);

/* Bytes of the checkpoint's files. */
uint64_t h5twin_folder_size(const struct folder *folder, uint64_t serial);

#endif
