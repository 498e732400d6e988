/* SPDX-License-Identifier: BSD-3-Clause
 * fault_shim.c: a disk that fails, for any program: LD_PRELOAD this.
 *
 * Calls that write, sync, cut or rename regular files are counted from 0 in the order of the
 * process.
 *
 *   H5TWIN_FAULT_AT=N         call N fails
 *   H5TWIN_FAULT_ALL_LATER=1  and all after it: the disk stays full
 *   H5TWIN_FAULT_ERROR=N      with this errno
 *   H5TWIN_FAULT_LOG=PATH     one line per call: its name
 *
 * Else they fail with ENOSPC, but for renames, which do so rarely, with EIO. For glibc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long call_count;

/* The function that the program would have called. POSIX says that this cast is sound. */
#define NEXT(type, name) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))

typedef ssize_t (*write_function)(int file, const void *data, size_t size);
typedef ssize_t (*pwrite_function)(int file, const void *data, size_t size, off_t offset);
typedef int (*truncate_function)(int file, off_t size);
typedef int (*sync_function)(int file);
typedef int (*fallocate_function)(int file, off_t offset, off_t size);
typedef int (*rename_function)(const char *from, const char *to);

static long
number_of(const char *variable)
{
    const char *const text = getenv(variable);
    return text == NULL ? -1 : strtol(text, NULL, 10);
}

static void
log_call(const char *name)
{
    const char *const path = getenv("H5TWIN_FAULT_LOG");
    const int file = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file >= 0) {
        char line[32];
        const int length = snprintf(line, sizeof line, "%s\n", name);
        (void)!NEXT(write_function, "write")(file, line, (size_t)length);
        close(file);
    }
}

/* Whether this call, the next one of the process, is to fail. */
static bool
must_fail(const char *name, int error)
{
    const long number = atomic_fetch_add(&call_count, 1), at = number_of("H5TWIN_FAULT_AT");
    log_call(name);
    if (at < 0 || number < at || (number > at && number_of("H5TWIN_FAULT_ALL_LATER") != 1)) {
        return false;
    }
    const long chosen = number_of("H5TWIN_FAULT_ERROR");
    errno = chosen > 0 ? (int)chosen : error;
    return true;
}

static bool
must_fail_on(int file, const char *name)
{
    struct stat status;
    return fstat(file, &status) == 0 && S_ISREG(status.st_mode) && must_fail(name, ENOSPC);
}

ssize_t
write(int file, const void *data, size_t size)
{
    return must_fail_on(file, "write") ? -1 : NEXT(write_function, "write")(file, data, size);
}

ssize_t
pwrite(int file, const void *data, size_t size, off_t offset)
{
    return must_fail_on(file, "pwrite") ? -1
                                        : NEXT(pwrite_function, "pwrite")(file, data, size, offset);
}

ssize_t
pwrite64(int file, const void *data, size_t size, off64_t offset)
{
    return must_fail_on(file, "pwrite") ? -1
                                        : NEXT(pwrite_function, "pwrite")(file, data, size, offset);
}

int
ftruncate(int file, off_t size)
{
    return must_fail_on(file, "ftruncate") ? -1 : NEXT(truncate_function, "ftruncate")(file, size);
}

int
ftruncate64(int file, off64_t size)
{
    return must_fail_on(file, "ftruncate") ? -1 : NEXT(truncate_function, "ftruncate")(file, size);
}

/* It returns the error. */
int
posix_fallocate(int file, off_t offset, off_t size)
{
    return must_fail_on(file, "fallocate")
               ? errno
               : NEXT(fallocate_function, "posix_fallocate")(file, offset, size);
}

int
fsync(int file)
{
    return must_fail_on(file, "fsync") ? -1 : NEXT(sync_function, "fsync")(file);
}

int
rename(const char *from, const char *to)
{
    return must_fail("rename", EIO) ? -1 : NEXT(rename_function, "rename")(from, to);
}
