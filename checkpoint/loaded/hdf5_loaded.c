/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_loaded.c: see hdf5.h beside it. */
#include "h5twin.h"
#include "h5twin_checkpoint.h"
#include "hdf5.h"

#include <dlfcn.h>
#include <string.h>

#define DEFINE(type, name, parameters) type(*name) parameters;
CHECKPOINT_HDF5_CALLS(DEFINE)
#undef DEFINE

#define DEFINE(name, variable) hid_t name;
CHECKPOINT_HDF5_IDS(DEFINE)
#undef DEFINE

static struct h5twin_hdf5_functions found;

void
h5twin_checkpoint_hdf5_functions(struct h5twin_hdf5_functions *functions)
{
    *functions = found;
}

/* What the Python package calls first (python/h5twin/checkpoints.py), with the handle of an object
 * that is linked with the HDF5 in use. NULL, or the name of what that HDF5 lacks. */
H5TWIN_CHECKPOINT_API const char *h5twin_checkpoint_use_hdf5(void *library);

const char *
h5twin_checkpoint_use_hdf5(void *library)
{
    void *symbol;
    const char *missing = NULL;
    /* memcpy: C has no conversion from a data pointer to a function pointer. */
#define FIND(type, name, parameters)                                                               \
    symbol = dlsym(library, #name);                                                                \
    memcpy(&name, &symbol, sizeof symbol);                                                         \
    missing = symbol == NULL ? #name : missing;
    CHECKPOINT_HDF5_CALLS(FIND)
#undef FIND
    if (missing != NULL || H5open() < 0) {
        return missing == NULL ? "a start without errors" : missing;
    }
#define FIND(name, variable)                                                                       \
    symbol = dlsym(library, #variable);                                                            \
    missing = symbol == NULL ? #variable : missing;                                                \
    name = symbol == NULL ? H5I_INVALID_HID : *(const hid_t *)symbol;
    CHECKPOINT_HDF5_IDS(FIND)
#undef FIND
    memset(&found, 0, sizeof found);
    found.size = sizeof found;
    memcpy(&symbol, &H5Dread, sizeof symbol);
    if (missing == NULL && h5twin_hdf5_find(&found, symbol) != H5TWIN_OK) {
        missing = "functions of version 1.10";
    }
    return missing;
}
