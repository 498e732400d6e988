/* SPDX-License-Identifier: BSD-3-Clause
 * files.c: see files.h. */
#include "files.h"

#include "messages.h"
#include "new_file.h"
#include "posix.h"

#include <errno.h>
#include <string.h>

#define LARGEST_TRANSFER (1u << 30)        /* Linux moves at most 2 GiB less a page in one call */
#define HEAD_BYTES       64                /* that tell whether it is a chunk */
#define FIRST_CAPACITY   ((size_t)1 << 20) /* of a pipe's buffer, doubled as it fills */

uint8_t *
h5twin_memory_get(size_t size, const char *purpose)
{
    uint8_t *const memory = malloc(size == 0 ? 1 : size);
    if (memory == NULL) {
        h5twin_fail("there is no memory for %zu bytes of %s.", size, purpose);
    }
    return memory;
}

/* Read until the buffer is full or the file ends. */
static bool
read_some(int file, uint8_t *data, size_t capacity, size_t *size)
{
    *size = 0;
    while (*size < capacity) {
        const size_t left = capacity - *size;
        const ssize_t count =
            read(file, data + *size, left < LARGEST_TRANSFER ? (unsigned)left : LARGEST_TRANSFER);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return false;
        }
        if (count == 0) {
            break;
        }
        *size += (size_t)count;
    }
    return true;
}

/* Read to the end behind the head, starting with a buffer that a regular file fits in at once. */
static bool
read_all(int file, const uint8_t *head, size_t head_size, size_t capacity, uint8_t **data,
         size_t *size)
{
    *size = head_size;
    *data = h5twin_memory_get(capacity, "input");
    if (*data != NULL) {
        memcpy(*data, head, head_size);
    }
    while (*data != NULL) {
        size_t count;
        if (!read_some(file, *data + *size, capacity - *size, &count)) {
            return false;
        }
        *size += count;
        if (*size < capacity) {
            return true;
        }
        uint8_t *const larger = capacity > PTRDIFF_MAX / 2 ? NULL : realloc(*data, 2 * capacity);
        if (larger == NULL) {
            errno = ENOMEM;
            return false;
        }
        *data = larger;
        capacity *= 2;
    }
    errno = ENOMEM;
    return false;
}

/* The first bytes again, before the rest. */
static bool
put_head(const uint8_t *head, size_t head_size, uint8_t **data, size_t *size)
{
    *data = h5twin_memory_get(head_size, "input");
    *size = head_size;
    if (*data != NULL) {
        memcpy(*data, head, head_size);
    }
    return *data != NULL;
}

bool
h5twin_file_read(const char *path, bool chunks_only, uint8_t **data, size_t *size)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    *data = NULL;
    const int file = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    bool read = false;
    if (file >= 0 && fstat(file, &status) == 0) {
        /* One byte more than the size, so that the end is seen without growing the buffer. */
        const bool regular = S_ISREG(status.st_mode) && (uintmax_t)status.st_size < SIZE_MAX;
        const size_t capacity = regular ? (size_t)status.st_size + 1 : FIRST_CAPACITY;
        uint8_t head[HEAD_BYTES];
        size_t head_size;
        struct h5twin_info info;
        read = read_some(file, head, sizeof head, &head_size);
        const bool is_whole = head_size < sizeof head;
        if (read && (is_whole ||
                     (chunks_only && h5twin_inspect(head, head_size, &info) == H5TWIN_ERR_MAGIC))) {
            read = put_head(head, head_size, data, size);
        } else if (read) {
            read = read_all(file, head, head_size,
                            capacity < 2 * sizeof head ? 2 * sizeof head : capacity, data, size);
        }
    }
    if (!read) {
        h5twin_fail("%s cannot be read: %s.", is_stdin ? "stdin" : path, strerror(errno));
        free(*data);
        *data = NULL;
    }
    if (file >= 0 && !is_stdin) {
        close(file);
    }
    return read;
}

static bool
write_all(int file, const uint8_t *data, size_t size)
{
    while (size > 0) {
        const ssize_t count =
            write(file, data, size < LARGEST_TRANSFER ? (unsigned)size : LARGEST_TRANSFER);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return false;
        }
        data += count;
        size -= (size_t)count;
    }
    return true;
}

/* Write to a new file and rename it. */
static bool
replace_file(const char *path, const char *like, const uint8_t *data, size_t size)
{
    struct h5twin_new_file file;
    if (!h5twin_new_file_begin(&file, path, like, true)) {
        return false;
    }
    if (!write_all(file.file, data, size)) {
        h5twin_new_file_abandon(&file);
        return false;
    }
    return h5twin_new_file_commit(&file);
}

static bool
write_special(const char *path, const uint8_t *data, size_t size)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    const bool written = write_all(file, data, size);
    const int error = errno;
    const bool closed = close(file) == 0;
    errno = written ? errno : error;
    return written && closed;
}

bool
h5twin_file_write(const char *path, const char *like, const uint8_t *data, size_t size)
{
    const bool is_stdout = strcmp(path, "-") == 0;
    struct stat status;
    bool written;
    if (is_stdout) {
        written = write_all(STDOUT_FILENO, data, size);
    } else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        written = write_special(path, data, size);
    } else {
        written = replace_file(path, like, data, size);
    }
    if (!written) {
        h5twin_fail("%s cannot be written: %s.", is_stdout ? "stdout" : path, strerror(errno));
    }
    return written;
}

bool
h5twin_file_check_new(const char *path)
{
    struct stat status;
    char folder[PATH_MAX];
    if (strcmp(path, "-") == 0) {
        return true;
    }
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode)) {
            h5twin_fail("%s is a folder: give the name of a file.", path);
            return false;
        }
        return true;
    }
    if (h5twin_is_link(path)) {
        h5twin_fail("%s is a link to nothing: remove it, or give another name.", path);
        return false;
    }
    h5twin_folder_of(path, folder);
    if (access(folder, W_OK) != 0) {
        h5twin_fail("%s cannot be written: %s.", path, strerror(errno));
        return false;
    }
    return true;
}

bool
h5twin_file_is_hdf5(const char *path)
{
    static const uint8_t signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};
    if (strcmp(path, "-") == 0) {
        return false;
    }
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    bool found = false;
    /* The signature stands at 0, 512, 1024, 2048... */
    for (off_t offset = 0; file >= 0 && !found; offset = offset == 0 ? 512 : 2 * offset) {
        uint8_t head[sizeof signature];
        if (pread(file, head, sizeof head, offset) != (ssize_t)sizeof head) {
            break;
        }
        found = memcmp(head, signature, sizeof head) == 0;
    }
    if (file >= 0) {
        close(file);
    }
    return found;
}

char *
h5twin_file_split(char *path)
{
    if (h5twin_file_is_hdf5(path)) {
        return NULL;
    }
    for (char *colon = strchr(path, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
        *colon = '\0';
        if (h5twin_file_is_hdf5(path)) {
            return colon + 1;
        }
        *colon = ':';
    }
    return NULL;
}

bool
h5twin_file_check(const char *path)
{
    if (access(path, R_OK) != 0) {
        h5twin_fail("%s cannot be read: %s.", path, strerror(errno));
        return false;
    }
    return true;
}
