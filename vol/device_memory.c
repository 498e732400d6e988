/* SPDX-License-Identifier: BSD-3-Clause
 * device_memory.c: see device_memory.h. Types and numbers are those of CUDA's headers, which are
 * not needed. */
#include "device_memory.h"

#include "shared_objects.h"

#include <stdint.h>
#include <string.h>

enum { /* CUpointer_attribute, CUmemorytype, cudaMemoryType, cudaMemcpyKind */
       DRIVER_CONTEXT = 1,
       DRIVER_MEMORY_TYPE = 2,
       DRIVER_IS_MANAGED = 8,
       DRIVER_DEVICE = 2,
       RUNTIME_DEVICE = 2,
       RUNTIME_ANY_DIRECTION = 4,
};

/* The functions of the driver, which return 0 if all is well. */
struct driver {
    int (*attribute)(void *value, int attribute, uint64_t address);
    int (*to_host)(void *host, uint64_t device, size_t size);
    int (*to_device)(uint64_t device, const void *host, size_t size);
    int (*push)(void *context);
    int (*pop)(void **context);
};

struct runtime {
    int (*attributes)(void *attributes, const void *address);
    int (*copy)(void *dst, const void *src, size_t size, int kind);
};

/* Into a pointer to a function; memcpy, as C has no conversion to one. */
static bool
find(void *handle, const char *name, void *function)
{
    void *const symbol =
        handle == NULL ? h5twin_shared_symbol_anywhere(name) : h5twin_shared_symbol(handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool
find_driver(struct driver *driver)
{
#ifdef _WIN32
    void *const handle = h5twin_shared_loaded("nvcuda.dll");
#else
    void *const handle = h5twin_shared_loaded("libcuda.so.1");
#endif
    return handle != NULL && find(handle, "cuPointerGetAttribute", &driver->attribute) &&
           find(handle, "cuMemcpyDtoH_v2", &driver->to_host) &&
           find(handle, "cuMemcpyHtoD_v2", &driver->to_device) &&
           find(handle, "cuCtxPushCurrent_v2", &driver->push) &&
           find(handle, "cuCtxPopCurrent_v2", &driver->pop);
}

/* NVIDIA's own runtime loads the driver before it gives out memory: where there is no driver it is
 * not asked, as the question alone would start CUDA. */
static bool
find_runtime(struct runtime *runtime)
{
    char path[4096];
    void *const symbol = h5twin_shared_symbol_anywhere("cudaPointerGetAttributes");
    return symbol != NULL &&
           !(h5twin_shared_file(symbol, path, sizeof path) && strstr(path, "cudart") != NULL) &&
           find(NULL, "cudaPointerGetAttributes", &runtime->attributes) &&
           find(NULL, "cudaMemcpy", &runtime->copy);
}

static bool
is_of_driver(const struct driver *driver, const void *address)
{
    unsigned type = 0, is_managed = 0;
    /* CUDA that was not started, and an address that it does not know, are errors. */
    return driver->attribute(&type, DRIVER_MEMORY_TYPE, (uint64_t)(uintptr_t)address) == 0 &&
           type == DRIVER_DEVICE &&
           !(driver->attribute(&is_managed, DRIVER_IS_MANAGED, (uint64_t)(uintptr_t)address) == 0 &&
             (is_managed & 0xff) != 0);
}

bool
h5twin_is_device_memory(const void *address)
{
    struct driver driver;
    struct runtime runtime;
    if (address == NULL) {
        return false;
    }
    if (find_driver(&driver)) {
        return is_of_driver(&driver, address);
    }
    int attributes[64] = {0}; /* struct cudaPointerAttributes, whose first member is the type */
    return find_runtime(&runtime) && runtime.attributes(attributes, address) == 0 &&
           attributes[0] == RUNTIME_DEVICE;
}

/* One direction or the other, in the context that the memory is of. */
static bool
copy_by_driver(const struct driver *driver, void *host, uint64_t device, size_t size, bool to_host)
{
    void *context = NULL, *popped;
    const bool is_pushed = driver->attribute(&context, DRIVER_CONTEXT, device) == 0 &&
                           context != NULL && driver->push(context) == 0;
    const int error =
        to_host ? driver->to_host(host, device, size) : driver->to_device(device, host, size);
    if (is_pushed) {
        driver->pop(&popped);
    }
    return error == 0;
}

static bool
copy(void *host, const void *device, size_t size, bool to_host)
{
    struct driver driver;
    struct runtime runtime;
    if (size == 0) {
        return true;
    }
    if (find_driver(&driver)) {
        return copy_by_driver(&driver, host, (uint64_t)(uintptr_t)device, size, to_host);
    }
    void *target;
    memcpy(&target, &device, sizeof target);
    return find_runtime(&runtime) &&
           (to_host ? runtime.copy(host, device, size, RUNTIME_ANY_DIRECTION)
                    : runtime.copy(target, host, size, RUNTIME_ANY_DIRECTION)) == 0;
}

bool
h5twin_device_read(void *host, const void *device, size_t size)
{
    return copy(host, device, size, true);
}

bool
h5twin_device_write(void *device, const void *host, size_t size)
{
    void *source;
    memcpy(&source, &host, sizeof source);
    return copy(source, device, size, false);
}

bool
h5twin_device_enter(const void *address)
{
    struct driver driver;
    void *context = NULL;
    return find_driver(&driver) &&
           driver.attribute(&context, DRIVER_CONTEXT, (uint64_t)(uintptr_t)address) == 0 &&
           context != NULL && driver.push(context) == 0;
}

void
h5twin_device_leave(bool entered)
{
    struct driver driver;
    void *context;
    if (entered && find_driver(&driver)) {
        driver.pop(&context);
    }
}
