/* SPDX-License-Identifier: BSD-3-Clause
 * shared_objects.c: see shared_objects.h. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* dladdr, RTLD_DEFAULT */
#endif
#include "shared_objects.h"

#include <stddef.h>
#include <string.h>

#ifdef _WIN32

#    include <windows.h>

#    define PSAPI_VERSION 2
#    include <psapi.h>

#    define MOST_OBJECTS 512

static HMODULE
find_module(const void *address, DWORD flags)
{
    HMODULE module = NULL;
    return GetModuleHandleExA(flags | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, address, &module)
               ? module
               : NULL;
}

const void *
h5twin_shared_base(const void *address)
{
    return find_module(address, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT);
}

bool
h5twin_shared_file(const void *address, char *path, size_t capacity)
{
    const HMODULE module = find_module(address, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT);
    const DWORD length = module == NULL ? 0 : GetModuleFileNameA(module, path, (DWORD)capacity);
    return length > 0 && length < capacity;
}

void *
h5twin_shared_object(const void *address)
{
    return find_module(address, 0);
}

void *
h5twin_shared_program(void)
{
    return GetModuleHandleA(NULL);
}

void *
h5twin_shared_open(const char *path)
{
    char full[MAX_PATH];
    const DWORD length = GetFullPathNameA(path, sizeof full, full, NULL);
    return length == 0 || length >= sizeof full
               ? NULL
               : LoadLibraryExA(full, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
}

void *
h5twin_shared_loaded(const char *name)
{
    return GetModuleHandleA(name);
}

void *
h5twin_shared_symbol(void *handle, const char *name)
{
    void *symbol;
    const FARPROC function = GetProcAddress(handle, name);
    memcpy(&symbol, &function, sizeof symbol);
    return symbol;
}

void *
h5twin_shared_symbol_anywhere(const char *name)
{
    HMODULE modules[MOST_OBJECTS];
    DWORD size = 0;
    void *symbol = NULL;
    if (!EnumProcessModules(GetCurrentProcess(), modules, sizeof modules, &size)) {
        return NULL;
    }
    size = size < sizeof modules ? size : sizeof modules;
    for (size_t i = 0; i < size / sizeof modules[0] && symbol == NULL; i++) {
        symbol = h5twin_shared_symbol(modules[i], name);
    }
    return symbol;
}

void
h5twin_shared_stay(void)
{
    static const char here;
    (void)find_module(&here, GET_MODULE_HANDLE_EX_FLAG_PIN);
}

#else

#    include <dlfcn.h>
#    include <unistd.h>

const void *
h5twin_shared_base(const void *address)
{
    Dl_info where;
    return dladdr(address, &where) != 0 ? where.dli_fbase : NULL;
}

/* The program itself is known by the name that it was called by. */
bool
h5twin_shared_file(const void *address, char *path, size_t capacity)
{
    Dl_info where;
    if (dladdr(address, &where) == 0 || where.dli_fname == NULL) {
        return false;
    }
#    ifdef __linux__
    if (where.dli_fname[0] != '/') {
        const ssize_t length = readlink("/proc/self/exe", path, capacity);
        if (length > 0 && (size_t)length < capacity) {
            path[length] = '\0';
            return true;
        }
        return false;
    }
#    endif
    const size_t length = strlen(where.dli_fname);
    if (length >= capacity) {
        return false;
    }
    memcpy(path, where.dli_fname, length + 1);
    return true;
}

void *
h5twin_shared_object(const void *address)
{
    Dl_info where;
    return dladdr(address, &where) != 0 ? dlopen(where.dli_fname, RTLD_NOLOAD | RTLD_LAZY) : NULL;
}

void *
h5twin_shared_program(void)
{
    return dlopen(NULL, RTLD_LAZY);
}

void *
h5twin_shared_open(const char *path)
{
    return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

void *
h5twin_shared_loaded(const char *name)
{
    return dlopen(name, RTLD_NOLOAD | RTLD_LAZY);
}

void *
h5twin_shared_symbol(void *handle, const char *name)
{
    return dlsym(handle, name);
}

void *
h5twin_shared_symbol_anywhere(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

/* Where the linker knows it, all of ours are linked with -z nodelete. */
void
h5twin_shared_stay(void)
{
#    ifdef __APPLE__
    static const char here;
    Dl_info where;
    if (dladdr(&here, &where) != 0) {
        (void)dlopen(where.dli_fname, RTLD_NOLOAD | RTLD_LAZY | RTLD_NODELETE);
    }
#    endif
}

#endif
