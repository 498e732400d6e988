/* SPDX-License-Identifier: BSD-3-Clause
 * replace.c: see replace.h. */
#include "replace.h"

#include "messages.h"
#include "posix.h"

#include <string.h>

#ifdef _WIN32

bool
h5twin_replace_check(const char *path, struct stat *before)
{
    (void)before;
    h5twin_fail("%s cannot be replaced on this system: write another file and rename it.", path);
    return false;
}

bool
h5twin_replace_ready(const char *path, const struct stat *before, int file)
{
    (void)before;
    (void)file;
    return h5twin_replace_check(path, NULL);
}

#else

#    include <sys/file.h>

#    if defined __linux__ && !defined F_SETLEASE
#        define F_SETLEASE 1024 /* of Linux, beyond what POSIX names */
#    endif

/* Linux gives a lease for reading only on a file that nobody has open for writing. It is given back
 * at once. HDF5 itself holds a lock on what it writes; `is_locked_here`: this process has one. */
static bool
is_being_written(const char *path, bool is_locked_here)
{
    bool written = false;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return true;
    }
    if (!is_locked_here && flock(file, LOCK_EX | LOCK_NB) != 0) {
        written = errno == EWOULDBLOCK;
    }
#    ifdef __linux__
    if (fcntl(file, F_SETLEASE, F_RDLCK) == 0) {
        fcntl(file, F_SETLEASE, F_UNLCK);
    } else {
        written = written || errno == EAGAIN;
    }
#    endif
    close(file);
    return written;
}

static bool
fail_written(const char *path)
{
    h5twin_fail("%s is open in another program, which may write it: end that program first.", path);
    return false;
}

bool
h5twin_replace_check(const char *path, struct stat *before)
{
    if (stat(path, before) != 0 || !S_ISREG(before->st_mode)) {
        h5twin_fail("%s is no regular file, so it cannot be replaced.", path);
        return false;
    }
    if (before->st_nlink > 1) {
        h5twin_fail("%s has %lu names (hard links), of which the others would keep the old file: "
                    "write another file, or remove them.",
                    path, (unsigned long)before->st_nlink);
        return false;
    }
    return !is_being_written(path, false) || fail_written(path);
}

bool
h5twin_replace_ready(const char *path, const struct stat *before, int file)
{
    struct stat now, own;
    if (stat(path, &now) != 0 || now.st_dev != before->st_dev || now.st_ino != before->st_ino ||
        now.st_size != before->st_size || now.st_nlink != before->st_nlink ||
        now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != before->st_mtim.tv_nsec) {
        h5twin_fail("%s was changed meanwhile, so it is left as it is: try again.", path);
        return false;
    }
    if (is_being_written(path, true)) {
        return fail_written(path);
    }
    if (fstat(file, &own) != 0 || ((own.st_uid != now.st_uid || own.st_gid != now.st_gid) &&
                                   fchown(file, now.st_uid, now.st_gid) != 0)) {
        h5twin_fail("%s cannot keep its owner (%s), so it is left as it is: let its owner do this, "
                    "or write another file.",
                    path, strerror(errno));
        return false;
    }
    return true;
}

#endif
