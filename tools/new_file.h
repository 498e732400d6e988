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
    unsigned mode;         /* that it will have; until then nobody else may read it */
    char path[PATH_MAX];   /* of the new file */
    char target[PATH_MAX]; /* what it will be called */
};

/* Create the file, empty. In the end it has the mode bits of what is there, else those of `like`,
 * as far as the umask leaves them (NULL, or no file: all that it leaves). A link is followed, so
 * that it stays one. False, and errno, if that fails; EEXIST if something is there and not to be
 * replaced.
 *
 * Until commit or abandon, signals that end the process remove the file first, and writing beyond a
 * limit of the file size fails instead of ending it. So there is one such file at a time. */
bool h5twin_new_file_begin(struct h5twin_new_file *file, const char *path, const char *like,
                           bool replace);

/* A name under which a library opens this very file, whatever came to lie at its path meanwhile, if
 * the system has such names; else its path. */
#define H5TWIN_NEW_FILE_NAME PATH_MAX
const char *h5twin_new_file_name(const struct h5twin_new_file *file,
                                 char name[H5TWIN_NEW_FILE_NAME]);

/* The folder that a path is in. */
void h5twin_folder_of(const char *path, char folder[PATH_MAX]);

/* To the disk, then to its place, and the folder to the disk. On a failure the file is removed:
 * false, and errno. */
bool h5twin_new_file_commit(struct h5twin_new_file *file);

/* Remove it. errno stays. */
void h5twin_new_file_abandon(struct h5twin_new_file *file);

#endif
