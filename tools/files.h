/* SPDX-License-Identifier: BSD-3-Clause
 * files.h: whole files in memory. "-" is stdin or stdout. Failures are told to the user here.
 * Units   sizes in bytes. */
#ifndef H5TWIN_TOOLS_FILES_H
#define H5TWIN_TOOLS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* malloc, never of 0 bytes; NULL after a message. */
uint8_t *h5twin_memory_get(size_t size, const char *purpose);

/* All of a file, which the caller frees; false after a message. With chunks_only no more than the
 * first bytes if they are not those of a chunk: a large file of another kind costs nothing. */
bool h5twin_file_read(const char *path, bool chunks_only, uint8_t **data, size_t *size);

/* Whether a file, or -, can be written there, as far as that is known before; else false after a
 * message. */
bool h5twin_file_check_new(const char *path);

/* Write a file as a whole: to a temporary name beside it, synced, then renamed, so that a failure
 * leaves what was there before, mode bits included; a new one is for nobody who may not read
 * `like`. Devices and pipes are written directly. False after a message. */
bool h5twin_file_write(const char *path, const char *like, const uint8_t *data, size_t size);

/* Whether the file starts as an HDF5 file does, also behind a user block. */
bool h5twin_file_is_hdf5(const char *path);

/* Whether a file, not -, is there for reading; false after a message. */
bool h5twin_file_check(const char *path);

/* "FILE.h5:DATASET": end path behind FILE.h5, and return where DATASET starts; NULL, and path as it
 * was, if it is no such thing. */
char *h5twin_file_split(char *path);

#endif
