/* SPDX-License-Identifier: BSD-3-Clause
 * posix.h: what the command needs of POSIX. Windows has much of it under the same names; the rest
 * is in windows.c. */
#ifndef H5TWIN_TOOLS_POSIX_H
#define H5TWIN_TOOLS_POSIX_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef _WIN32

/* All that is opened here is bytes, without ends of lines. */
#    define O_CLOEXEC (_O_BINARY | _O_NOINHERIT)

/* As POSIX has them. A link cannot be made: ENOSYS, as on file systems without. */
int fchmod(int file, mode_t mode);
int fnmatch(const char *pattern, const char *text, int flags);
int fsync(int file);
int link(const char *path, const char *other);
ssize_t pread(int file, void *data, size_t size, off_t offset);
ssize_t pwrite(int file, const void *data, size_t size, off_t offset);
char *realpath(const char *path, char *resolved);

/* Over what is there, as POSIX does. */
int h5twin_rename(const char *path, const char *other);
#    define rename h5twin_rename

/* A rename is on the disk with its folder; here, at once. */
static inline bool
h5twin_sync_folder(const char *folder)
{
    (void)folder;
    return true;
}

/* Whether the name is that of a symbolic link. */
static inline bool
h5twin_is_link(const char *path)
{
    (void)path;
    return false;
}

/* Once, at the start: standard input and output are bytes, too. */
void h5twin_posix_begin(void);

/* Whether two names are of one file that exists. */
bool h5twin_same_file(const char *path, const char *other);

#else

#    include <fnmatch.h>

static inline void
h5twin_posix_begin(void)
{
}

static inline bool
h5twin_is_link(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/* Some file systems have no such call. */
static inline bool
h5twin_sync_folder(const char *folder)
{
    const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) {
        return true; /* may be written and not read */
    }
    const bool synced = fsync(file) == 0 || errno == EINVAL || errno == ENOSYS || errno == ENOTSUP;
    const int error = errno;
    close(file);
    errno = error;
    return synced;
}

static inline bool
h5twin_same_file(const char *path, const char *other)
{
    struct stat left, right;
    return stat(path, &left) == 0 && stat(other, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

#endif
#endif
