/* SPDX-License-Identifier: BSD-3-Clause
 * call_fault_shim.c: HDF5, memory and files that fail, for any program: LD_PRELOAD this.
 *
 * A place is where the program itself calls one of these functions, told by the address that the
 * call returns to. Calls from libraries are not looked at.
 *
 *   H5TWIN_CALL_LOG=PATH   one line for each place that is reached: OFFSET NAME
 *   H5TWIN_CALL_FAIL=OFFSET the call there fails without being made
 *   H5TWIN_CALL_TURN=N     not its first time, 0, but its time N
 *   H5TWIN_CALL_ROOM=BYTES memory that is asked for at once beyond that ends the program with 97
 *
 * HDF5's functions fail with -1 or a size of 0 and without a word on its error stack. For glibc,
 * and for calling conventions that pass integers and pointers alike and in registers. */
#define _GNU_SOURCE
#include "hdf5_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLACES    8192 /* a power of two */
#define EXIT_ROOM 97

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

/* ---- the program ---- */

static uintptr_t base, first, last; /* of its code */
static long fail_offset = -1, fail_turn, room = -1;
static const char *log_path;
static atomic_bool ready;

static int
find_program(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0) {
            first = base + part->p_vaddr;
            last = first + part->p_memsz;
        }
    }
    return 1; /* the first one is the program */
}

static long
number_of(const char *variable, long otherwise)
{
    const char *const text = getenv(variable);
    return text == NULL ? otherwise : strtol(text, NULL, 10);
}

__attribute__((constructor)) static void
begin(void)
{
    log_path = getenv("H5TWIN_CALL_LOG");
    fail_offset = number_of("H5TWIN_CALL_FAIL", -1);
    fail_turn = number_of("H5TWIN_CALL_TURN", 0);
    room = number_of("H5TWIN_CALL_ROOM", -1);
    dl_iterate_phdr(find_program, NULL);
    atomic_store(&ready, true);
}

/* ---- places ---- */

static atomic_flag busy = ATOMIC_FLAG_INIT;
static long offsets[PLACES]; /* 0: none */
static long turns;           /* of the one that fails */

/* Whether it is the first call from there. A full table takes none for the first. */
static bool
is_new(long offset)
{
    for (size_t i = 0; i < PLACES; i++) {
        long *const place = &offsets[((size_t)offset + i) % PLACES];
        if (*place == offset) {
            return false;
        }
        if (*place == 0) {
            *place = offset;
            return true;
        }
    }
    return false;
}

static void
log_place(const char *name, long offset)
{
    char line[96];
    const int length = snprintf(line, sizeof line, "%ld %s\n", offset, name);
    const int file = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file >= 0) {
        (void)!write(file, line, (size_t)length);
        close(file);
    }
}

static bool
must_fail(const char *name, const void *back)
{
    const uintptr_t address = (uintptr_t)back;
    if (!atomic_load(&ready) || address < first || address >= last) {
        return false;
    }
    const int error = errno;
    const long offset = (long)(address - base);
    bool fails = false;
    while (atomic_flag_test_and_set(&busy)) {
    }
    if (log_path != NULL && is_new(offset)) {
        log_place(name, offset);
    }
    if (offset == fail_offset) {
        fails = turns++ == fail_turn;
    }
    atomic_flag_clear(&busy);
    errno = error;
    return fails;
}

/* ---- functions of integers and pointers ---- */

#define EIGHT int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f, int64_t g, int64_t h

typedef int64_t (*eight_function)(EIGHT);

/* The function that the program would have called. POSIX says that this cast is sound. */
#define NEXT(type, name) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))

/* Under the name of an assembler label, so that no header's declaration contradicts. */
#define WRAP(name, failure, error)                                                                 \
    int64_t shim_##name(EIGHT) __asm__(#name);                                                     \
    int64_t shim_##name(EIGHT)                                                                     \
    {                                                                                              \
        if (must_fail(#name, __builtin_return_address(0))) {                                       \
            errno = error;                                                                         \
            return failure;                                                                        \
        }                                                                                          \
        return NEXT(eight_function, #name)(a, b, c, d, e, f, g, h);                                \
    }

/* Sizes are 0 where they cannot be told. */
#define FAILURE(type) (strcmp(#type, "hsize_t") == 0 || strcmp(#type, "size_t") == 0 ? 0 : -1)
#define WRAP_HDF5(type, name, parameters)                                                          \
    WRAP(name, FAILURE(type), errno)                                                               \
    WRAP(name##1, FAILURE(type), errno) /* its name where there are several versions */
#define H5Pset_chunk_cache H5Pset_chunk_cache_of_integers
H5TWIN_HDF5_CALLS(WRAP_HDF5)
#undef H5Pset_chunk_cache

typedef int (*chunk_cache_function)(int64_t plist, size_t places, size_t size, double preemption);

int shim_chunk_cache(int64_t plist, size_t places, size_t size,
                     double preemption) __asm__("H5Pset_chunk_cache");
int
shim_chunk_cache(int64_t plist, size_t places, size_t size, double preemption)
{
    return must_fail("H5Pset_chunk_cache", __builtin_return_address(0))
               ? -1
               : NEXT(chunk_cache_function, "H5Pset_chunk_cache")(plist, places, size, preemption);
}

WRAP(open64, -1, EIO)
WRAP(stat64, -1, EIO)
WRAP(fstat64, -1, EIO)
WRAP(link, -1, EIO)
WRAP(fchmod, -1, EIO)
WRAP(realpath, 0, EIO)
WRAP(fopen64, 0, EIO)
WRAP(fseeko64, -1, EIO)
WRAP(ftello64, -1, EIO)
WRAP(fread, 0, EIO)

/* ---- memory ---- */

static bool
must_lack(const char *name, const void *back, size_t size)
{
    const uintptr_t address = (uintptr_t)back;
    if (room >= 0 && size > (size_t)room && address >= first && address < last) {
        _exit(EXIT_ROOM);
    }
    if (!must_fail(name, back)) {
        return false;
    }
    errno = ENOMEM;
    return true;
}

void *
malloc(size_t size)
{
    return must_lack("malloc", __builtin_return_address(0), size) ? NULL : __libc_malloc(size);
}

void *
calloc(size_t count, size_t size)
{
    return must_lack("calloc", __builtin_return_address(0), size * count)
               ? NULL
               : __libc_calloc(count, size);
}

void *
realloc(void *old, size_t size)
{
    return must_lack("realloc", __builtin_return_address(0), size) ? NULL
                                                                   : __libc_realloc(old, size);
}
