/* SPDX-License-Identifier: BSD-3-Clause
 * folder.c: see folder.h. */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SERIAL_DIGITS 8 /* at least */

static const char *const endings[] = {
    [FOLDER_MASTER] = ".h5",   [FOLDER_TEMPORARY] = ".h5.tmp",
    [FOLDER_XDMF] = ".xmf",    [FOLDER_XDMF_TEMPORARY] = ".xmf.tmp",
    [FOLDER_PARTS] = ".parts",
};

static bool
failed(struct store_error *error, const char *step, int code)
{
    error->step = step;
    error->code = code;
    return false;
}

static char *
format(const char *pattern, ...)
{
    va_list arguments;
    va_start(arguments, pattern);
    const int length = vsnprintf(NULL, 0, pattern, arguments);
    va_end(arguments);
    char *const text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text != NULL) {
        va_start(arguments, pattern);
        vsnprintf(text, (size_t)length + 1, pattern, arguments);
        va_end(arguments);
    }
    return text;
}

char *
h5twin_folder_file(const struct folder *folder, uint64_t serial, enum h5twin_folder_file file)
{
    return format("%s/%s-%0*" PRIu64 "%s", folder->path, folder->name, SERIAL_DIGITS, serial,
                  endings[file]);
}

char *
h5twin_folder_part_name(const struct folder *folder, uint64_t serial, int rank)
{
    return format("%s-%0*" PRIu64 "%s/%d.h5", folder->name, SERIAL_DIGITS, serial,
                  endings[FOLDER_PARTS], rank);
}

char *
h5twin_folder_part(const struct folder *folder, uint64_t serial, int rank)
{
    return format("%s/%s-%0*" PRIu64 "%s/%d.h5", folder->path, folder->name, SERIAL_DIGITS, serial,
                  endings[FOLDER_PARTS], rank);
}

/* What a name in the folder is: false if it is not one of ours. Only what format() would write is
 * taken: leading zeros up to SERIAL_DIGITS, no sign, no blank. */
static bool
parse(const struct folder *folder, const char *name, uint64_t *serial,
      enum h5twin_folder_file *file)
{
    const size_t length = strlen(folder->name);
    if (strncmp(name, folder->name, length) != 0 || name[length] != '-') {
        return false;
    }
    const char *const digits = name + length + 1;
    const size_t count = strspn(digits, "0123456789");
    if (count < SERIAL_DIGITS || count > 19 || (count > SERIAL_DIGITS && digits[0] == '0')) {
        return false;
    }
    *serial = strtoull(digits, NULL, 10);
    for (*file = FOLDER_MASTER; *file <= FOLDER_PARTS; (*file)++) {
        if (strcmp(digits + count, endings[*file]) == 0) {
            return *serial > 0;
        }
    }
    return false;
}

bool
h5twin_folder_make(const char *path, struct store_error *error)
{
    struct stat there;
    if (mkdir(path, 0777) == 0) {
        return true;
    }
    const int code = errno;
    return (code == EEXIST && stat(path, &there) == 0 && S_ISDIR(there.st_mode)) ||
           failed(error, "make", code == EEXIST ? ENOTDIR : code);
}

/* Whether flock() failed because the file system has no locks. */
static bool
has_no_locks(void)
{
    return errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL;
}

int
h5twin_folder_lock(const struct folder *folder, struct store_error *error)
{
    char *const path = format("%s/.%s.lock", folder->path, folder->name);
    const int lock = path == NULL ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    const int code = path == NULL ? ENOMEM : errno;
    free(path);
    if (lock < 0) {
        failed(error, "make a lock in", code);
        return -1;
    }
    if (flock(lock, LOCK_EX | LOCK_NB) != 0 && !has_no_locks()) {
        failed(error, "lock", errno);
        close(lock);
        return -1;
    }
    return lock;
}

struct found {
    uint64_t serial;
    enum h5twin_folder_file file;
};

struct listing {
    struct found *found;
    size_t count, capacity;
};

static bool
add(struct listing *listing, struct found found)
{
    if (listing->count == listing->capacity) {
        const size_t capacity = 2 * listing->capacity + 16;
        struct found *const larger = realloc(listing->found, capacity * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        listing->found = larger;
        listing->capacity = capacity;
    }
    listing->found[listing->count++] = found;
    return true;
}

/* All names of ours. */
static bool
look(const struct folder *folder, struct listing *listing, struct store_error *error)
{
    *listing = (struct listing){.found = NULL};
    DIR *const names = opendir(folder->path);
    if (names == NULL) {
        return failed(error, "list", errno);
    }
    int code = 0;
    for (const struct dirent *name; code == 0 && (errno = 0, name = readdir(names)) != NULL;) {
        struct found found;
        if (parse(folder, name->d_name, &found.serial, &found.file) && !add(listing, found)) {
            code = ENOMEM;
        }
    }
    code = code == 0 ? errno : code;
    closedir(names);
    if (code != 0) {
        free(listing->found);
        *listing = (struct listing){.found = NULL};
        return failed(error, "list", code);
    }
    return true;
}

static int
newest_first(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a > b ? -1 : a < b;
}

bool
h5twin_folder_list(const struct folder *folder, uint64_t **serials, size_t *count,
                   struct store_error *error)
{
    struct listing listing;
    *serials = NULL;
    *count = 0;
    if (!look(folder, &listing, error)) {
        return false;
    }
    uint64_t *const list = malloc(listing.count * sizeof *list + 1);
    for (size_t i = 0; list != NULL && i < listing.count; i++) {
        if (listing.found[i].file == FOLDER_MASTER) {
            list[(*count)++] = listing.found[i].serial;
        }
    }
    free(listing.found);
    if (list == NULL) {
        return failed(error, "list", ENOMEM);
    }
    qsort(list, *count, sizeof *list, newest_first);
    *serials = list;
    return true;
}

bool
h5twin_folder_next_serial(const struct folder *folder, uint64_t *serial, struct store_error *error)
{
    struct listing listing;
    if (!look(folder, &listing, error)) {
        return false;
    }
    *serial = 1;
    for (size_t i = 0; i < listing.count; i++) {
        if (listing.found[i].serial >= *serial) {
            *serial = listing.found[i].serial + 1;
        }
    }
    free(listing.found);
    return true;
}

int
h5twin_folder_hold(const struct folder *folder, uint64_t serial)
{
    char *const path = h5twin_folder_file(folder, serial, FOLDER_MASTER);
    const int descriptor = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    struct stat held, named;
    bool is_held = descriptor >= 0 && (flock(descriptor, LOCK_SH) == 0 || has_no_locks());
    /* It may have been removed between open and lock. */
    is_held = is_held && fstat(descriptor, &held) == 0 && stat(path, &named) == 0 &&
              held.st_ino == named.st_ino && held.st_dev == named.st_dev;
    free(path);
    if (descriptor >= 0 && !is_held) {
        close(descriptor);
    }
    return is_held ? descriptor : -1;
}

/* The parts of a checkpoint, and the folder that they are in. */
static void
remove_parts(const struct folder *folder, uint64_t serial)
{
    char *const path = h5twin_folder_file(folder, serial, FOLDER_PARTS);
    DIR *const names = path == NULL ? NULL : opendir(path);
    for (const struct dirent *name; names != NULL && (name = readdir(names)) != NULL;) {
        const size_t digits = strspn(name->d_name, "0123456789");
        if (digits > 0 && strcmp(name->d_name + digits, ".h5") == 0) {
            unlinkat(dirfd(names), name->d_name, 0);
        }
    }
    if (names != NULL) {
        closedir(names);
        rmdir(path); /* stays if it holds what is not ours */
    }
    free(path);
}

static void
remove_file(const struct folder *folder, uint64_t serial, enum h5twin_folder_file file)
{
    char *const path = h5twin_folder_file(folder, serial, file);
    if (path != NULL) {
        unlink(path);
    }
    free(path);
}

bool
h5twin_folder_remove(const struct folder *folder, uint64_t serial, struct store_error *error)
{
    char *const path = h5twin_folder_file(folder, serial, FOLDER_MASTER);
    const int descriptor = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    bool removed = true;
    if (descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(descriptor); /* somebody reads it */
        free(path);
        return true;
    }
    if (path == NULL || (unlink(path) != 0 && errno != ENOENT)) {
        removed = failed(error, "remove", path == NULL ? ENOMEM : errno);
    } else {
        remove_file(folder, serial, FOLDER_XDMF);
        remove_parts(folder, serial);
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
    free(path);
    return removed;
}

void
h5twin_folder_discard(const struct folder *folder, uint64_t serial)
{
    char *const path = h5twin_folder_file(folder, serial, FOLDER_MASTER);
    const bool has_name = path == NULL || access(path, F_OK) == 0 || errno != ENOENT;
    free(path);
    if (has_name) {
        return;
    }
    remove_file(folder, serial, FOLDER_TEMPORARY);
    remove_file(folder, serial, FOLDER_XDMF_TEMPORARY);
    remove_file(folder, serial, FOLDER_XDMF);
    remove_parts(folder, serial);
}

void
h5twin_folder_clean(const struct folder *folder)
{
    struct listing listing;
    struct store_error error;
    if (!look(folder, &listing, &error)) {
        return;
    }
    for (size_t i = 0; i < listing.count; i++) {
        const struct found found = listing.found[i];
        bool complete = false;
        for (size_t k = 0; k < listing.count; k++) {
            complete |=
                listing.found[k].serial == found.serial && listing.found[k].file == FOLDER_MASTER;
        }
        if (found.file == FOLDER_TEMPORARY || found.file == FOLDER_XDMF_TEMPORARY) {
            remove_file(folder, found.serial, found.file);
        } else if (!complete && found.file == FOLDER_XDMF) {
            remove_file(folder, found.serial, found.file);
        } else if (!complete && found.file == FOLDER_PARTS) {
            remove_parts(folder, found.serial);
        }
    }
    free(listing.found);
}

uint64_t
h5twin_folder_size(const struct folder *folder, uint64_t serial)
{
    struct stat file;
    char *path = h5twin_folder_file(folder, serial, FOLDER_MASTER);
    uint64_t size = path != NULL && stat(path, &file) == 0 ? (uint64_t)file.st_size : 0;
    free(path);
    path = h5twin_folder_file(folder, serial, FOLDER_PARTS);
    DIR *const names = path == NULL ? NULL : opendir(path);
    for (const struct dirent *name; names != NULL && (name = readdir(names)) != NULL;) {
        if (fstatat(dirfd(names), name->d_name, &file, 0) == 0 && S_ISREG(file.st_mode)) {
            size += (uint64_t)file.st_size;
        }
    }
    if (names != NULL) {
        closedir(names);
    }
    free(path);
    return size;
}
