/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_loaded.c: see hdf5_loaded.h. */
#include "hdf5_loaded.h"

#include "hdf5_declarations.h"
#include "messages.h"
#include "shared_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define H5TWIN_DEFINE(type, name, parameters) type(*name) parameters;
H5TWIN_HDF5_CALLS(H5TWIN_DEFINE)
#undef H5TWIN_DEFINE

#define H5TWIN_DEFINE(name) hid_t *h5twin_##name;
H5TWIN_HDF5_IDS(H5TWIN_DEFINE)
#undef H5TWIN_DEFINE

#ifdef H5TWIN_COMMAND_IN_LIBRARY

#    define WITHOUT_HDF5 "there is no HDF5 here to open it with: `pip install h5py` brings one."

static void *(*finder)(void);

#else

#    define WITHOUT_HDF5                                                                           \
        "this h5twin was built without HDF5: set H5TWIN_HDF5 to the file of an HDF5 library, or "  \
        "build it again where HDF5 1.10.5 or newer is installed."

static void *
open_named(void)
{
    const char *const path = getenv("H5TWIN_HDF5");
    return path == NULL ? NULL : h5twin_shared_open(path);
}

static void *(*finder)(void) = open_named;

#endif

void
h5twin_command_use_hdf5(void *(*find)(void))
{
    finder = find;
}

/* Later releases call what 1.10 knows as NAME either so, or NAME1. */
static void *
find_symbol(void *library, const char *name)
{
    char first_version[64];
    snprintf(first_version, sizeof first_version, "%s1", name);
    void *const symbol = h5twin_shared_symbol(library, name);
    return symbol != NULL ? symbol : h5twin_shared_symbol(library, first_version);
}

/* NULL, or the name of what is missing. */
static const char *
find_all(void *library)
{
    void *symbol;
    const char *missing = NULL;
    /* memcpy: C has no conversion from a data pointer to a function pointer. */
#define FIND(type, name, parameters)                                                               \
    symbol = find_symbol(library, #name);                                                          \
    memcpy(&name, &symbol, sizeof symbol);                                                         \
    missing = symbol == NULL ? #name : missing;
    H5TWIN_HDF5_CALLS(FIND)
#undef FIND
#define FIND(name)                                                                                 \
    h5twin_##name = h5twin_shared_symbol(library, #name);                                          \
    missing = h5twin_##name == NULL ? #name : missing;
    H5TWIN_HDF5_IDS(FIND)
#undef FIND
    return missing;
}

herr_t (*h5twin_hdf5_chunk_iter)(hid_t, hid_t, h5twin_chunk_taker, void *);

/* 1.12 has a call of this name with other types. */
static void
find_newer(void *library)
{
    unsigned major = 0, minor = 0, release = 0;
    void *const symbol = h5twin_shared_symbol(library, "H5Dchunk_iter");
    if (H5get_libversion(&major, &minor, &release) >= 0 &&
        (major > 1 || (major == 1 && minor >= 14))) {
        memcpy(&h5twin_hdf5_chunk_iter, &symbol, sizeof symbol);
    }
}

static bool loaded;

bool
h5twin_hdf5_is_loaded(void)
{
    return loaded;
}

bool
h5twin_hdf5_load(const char *path)
{
    if (loaded) {
        return true;
    }
    void *const library = finder == NULL ? NULL : finder();
    if (library == NULL) {
        h5twin_fail("%s is an HDF5 file, and %s", path, WITHOUT_HDF5);
        return false;
    }
    const char *const missing = find_all(library);
    loaded = missing == NULL && H5open() >= 0;
    if (loaded) {
        find_newer(library);
    }
    if (!loaded) {
        h5twin_fail("%s cannot be opened: the HDF5 that is loaded %s%s: install a newer one (in "
                    "Python, a newer h5py).",
                    path, missing == NULL ? "does not start" : "is too old, it lacks ",
                    missing == NULL ? "" : missing);
    }
    return loaded;
}
