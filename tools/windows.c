/* SPDX-License-Identifier: BSD-3-Clause
 * windows.c: see posix.h. */
#include "posix.h"

#include <errno.h>
#include <io.h>
#include <stdio.h>
#include <string.h>
#include <windows.h>

/* ---- files ---- */

int
fchmod(int file, mode_t mode)
{
    (void)file;
    (void)mode; /* a new file is as its folder says */
    return 0;
}

int
fsync(int file)
{
    return _commit(file);
}

int
link(const char *path, const char *other)
{
    (void)path;
    (void)other;
    errno = ENOSYS;
    return -1;
}

ssize_t
pread(int file, void *data, size_t size, off_t offset)
{
    return lseek64(file, offset, SEEK_SET) < 0 ? -1 : read(file, data, (unsigned)size);
}

ssize_t
pwrite(int file, const void *data, size_t size, off_t offset)
{
    return lseek64(file, offset, SEEK_SET) < 0 ? -1 : write(file, data, (unsigned)size);
}

char *
realpath(const char *path, char *resolved)
{
    return access(path, F_OK) == 0 ? _fullpath(resolved, path, PATH_MAX) : NULL;
}

int
h5twin_rename(const char *path, const char *other)
{
    if (MoveFileExA(path, other, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) {
        return 0;
    }
    errno = GetLastError() == ERROR_ACCESS_DENIED ? EACCES : EIO;
    return -1;
}

/* Files have no numbers here. */
bool
h5twin_same_file(const char *path, const char *other)
{
    char *const left = realpath(path, NULL), *const right = realpath(other, NULL);
    const bool same = left != NULL && right != NULL && _stricmp(left, right) == 0;
    free(left);
    free(right);
    return same;
}

void
h5twin_posix_begin(void)
{
    _setmode(STDIN_FILENO, _O_BINARY);
    _setmode(STDOUT_FILENO, _O_BINARY);
}

/* ---- names ---- */

/* Whether c is one of those between [ and ]; *end is behind the ]. An open [ stands for itself. */
static bool
matches_set(const char *set, char c, const char **end)
{
    const bool negated = *set == '!' || *set == '^';
    const char *at = set + negated;
    bool found = false;
    do {
        if (*at == '\0') {
            *end = set;
            return c == '[';
        }
        const char last = at[1] == '-' && at[2] != ']' && at[2] != '\0' ? at[2] : *at;
        found = found || (c >= *at && c <= last);
        at += last != *at ? 3 : 1;
    } while (*at != ']');
    *end = at + 1;
    return found != negated;
}

int
fnmatch(const char *pattern, const char *text, int flags)
{
    for (; *pattern != '\0'; text++) {
        if (*pattern == '*') {
            const char *rest = text;
            while (fnmatch(pattern + 1, rest, flags) != 0 && *rest != '\0') {
                rest++;
            }
            return fnmatch(pattern + 1, rest, flags);
        }
        const char *next = pattern + 1;
        const bool matches =
            *text != '\0' &&
            (*pattern == '?' || (*pattern == '[' && matches_set(pattern + 1, *text, &next)) ||
             *pattern == *text);
        if (!matches) {
            return 1;
        }
        pattern = next;
    }
    return *text != '\0';
}
