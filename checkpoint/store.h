/* SPDX-License-Identifier: BSD-3-Clause
 * store.h: bytes into a file that is safe on the disk, by POSIX alone: any thread may do it. */
#ifndef H5TWIN_CHECKPOINT_STORE_H
#define H5TWIN_CHECKPOINT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What failed: a step, in words, and the system's errno, or 0 where it says nothing. */
struct store_error {
    const char *step; /* "write"; NULL: nothing failed */
    int code;
};

/* Make the file path, which must not exist, of size bytes; sync it to the disk; with verify, read
 * it back and compare. On failure nothing of it stays. */
bool h5twin_store_file(const char *path, const uint8_t *bytes, size_t size, bool verify,
                       struct store_error *error);

/* Sync a folder, so that the names in it survive a power failure. */
bool h5twin_store_sync_folder(const char *path, struct store_error *error);

/* Give the file a new name, in place of what had it, and sync their folder. */
bool h5twin_store_rename(const char *from, const char *to, const char *folder,
                         struct store_error *error);

#endif
