/* SPDX-License-Identifier: BSD-3-Clause
 * new_file.h: a file that comes to be as a whole: written under a name that nobody else has, beside
 * its place, then synced and renamed. A failure at any time leaves what was there before. */
#ifndef H5TWIN_TOOLS_NEW_FILE_H
#define H5TWIN_TOOLS_NEW_FILE_H

#include <limits.h>
#include <stdbool.h>

struct h5twin_new_file {
    int file; /* open for reading and writing from begin to the end */
    bool replace;
    char path[PATH_MAX];   /* of the new file */
    char target[PATH_MAX]; /* what it will be called */
};

/* Create the file, empty, with the mode bits of what is there, else with those that the umask
 * leaves. A link is followed, so that it stays one. False, and errno, if that fails; EEXIST if
 * something is there and not to be replaced. */
bool h5twin_new_file_begin(struct h5twin_new_file *file, const char *path, bool replace);

/* To the disk, then to its place. On a failure the file is removed: false, and errno. */
bool h5twin_new_file_commit(struct h5twin_new_file *file);

/* Remove it. errno stays. */
void h5twin_new_file_abandon(struct h5twin_new_file *file);

/* Until the end of the process or unguard: signals that end the process (SIGINT, SIGTERM, SIGHUP)
 * remove the file first; writing beyond a limit of the file size fails instead of ending it. */
void h5twin_new_file_guard(const struct h5twin_new_file *file);
void h5twin_new_file_unguard(void);

#endif
