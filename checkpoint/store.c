/* SPDX-License-Identifier: BSD-3-Clause
 * store.c: see store.h. */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE ((size_t)8 << 20) /* bytes that one call writes or reads */

static bool
failed(struct store_error *error, const char *step, int code)
{
    error->step = step;
    error->code = code;
    return false;
}

static bool
write_all(int descriptor, const uint8_t *bytes, size_t size, struct store_error *error)
{
    for (size_t at = 0; at < size;) {
        const ssize_t written =
            write(descriptor, bytes + at, size - at < PIECE ? size - at : PIECE);
        if (written > 0) {
            at += (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            return failed(error, "write", written == 0 ? ENOSPC : errno);
        }
    }
    return true;
}

/* Space is asked for before a byte is written, so that a full disk is known at once. File systems
 * that cannot promise any say so, and are written to all the same. */
static bool
reserve(int descriptor, size_t size, struct store_error *error)
{
    int code = 0;
    do {
        code = size == 0 ? 0 : posix_fallocate(descriptor, 0, (off_t)size);
    } while (code == EINTR);
    return code == 0 || code == EINVAL || code == EOPNOTSUPP || code == ENOSYS ||
           failed(error, "reserve space for", code);
}

static bool
sync_descriptor(int descriptor, struct store_error *error)
{
    while (fsync(descriptor) != 0) {
        if (errno != EINTR) {
            return failed(error, "sync to the disk", errno);
        }
    }
    return true;
}

static bool
same_bytes(int descriptor, const uint8_t *bytes, size_t size, uint8_t *room,
           struct store_error *error)
{
    for (size_t at = 0; at < size;) {
        const ssize_t got = read(descriptor, room, size - at < PIECE ? size - at : PIECE);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return failed(error, "read back", errno);
        }
        if (got == 0 || memcmp(room, bytes + at, (size_t)got) != 0) {
            return failed(error, "find the same bytes in", 0);
        }
        at += (size_t)got;
    }
    return true;
}

static bool
compare(const char *path, const uint8_t *bytes, size_t size, struct store_error *error)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return failed(error, "read back", errno);
    }
    (void)posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED); /* from the disk, not from memory */
    uint8_t *const room = malloc(size < PIECE ? size + 1 : PIECE);
    const bool same = room == NULL ? failed(error, "read back", ENOMEM)
                                   : same_bytes(descriptor, bytes, size, room, error);
    free(room);
    close(descriptor);
    return same;
}

bool
h5twin_store_file(const char *path, const uint8_t *bytes, size_t size, bool verify,
                  struct store_error *error)
{
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        return failed(error, "make", errno);
    }
    bool stored = reserve(descriptor, size, error) && write_all(descriptor, bytes, size, error) &&
                  sync_descriptor(descriptor, error);
    if (close(descriptor) != 0 && stored) {
        stored = failed(error, "close", errno);
    }
    stored = stored && (!verify || compare(path, bytes, size, error));
    if (!stored) {
        unlink(path);
    }
    return stored;
}

bool
h5twin_store_sync_folder(const char *path, struct store_error *error)
{
    const int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return failed(error, "open", errno);
    }
    bool synced = sync_descriptor(descriptor, error);
    if (!synced && (error->code == EINVAL || error->code == EROFS)) {
        synced = true; /* this file system has nothing to sync for a folder */
        *error = (struct store_error){.step = NULL};
    }
    close(descriptor);
    return synced;
}

bool
h5twin_store_rename(const char *from, const char *to, const char *folder, struct store_error *error)
{
    if (rename(from, to) != 0) {
        return failed(error, "rename", errno);
    }
    return h5twin_store_sync_folder(folder, error);
}
