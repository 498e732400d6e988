/* SPDX-License-Identifier: BSD-3-Clause
 * replace.h: whether a file may be replaced by a new one of its name, and what the new one takes
 * over. */
#ifndef H5TWIN_TOOLS_REPLACE_H
#define H5TWIN_TOOLS_REPLACE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Before anything is written: a regular file with one name, that no program has open for writing,
 * as far as the system tells. *before is for h5twin_replace_ready(). False after a message. */
bool h5twin_replace_check(const char *path, struct stat *before);

/* At the end, with the new file open as `file`: whether the old one is as it was, and still not
 * open for writing; gives the new one its owner. False after a message. */
bool h5twin_replace_ready(const char *path, const struct stat *before, int file);

#endif
