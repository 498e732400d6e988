/* SPDX-License-Identifier: BSD-3-Clause
 * vol_plugin.c: what HDF5 looks for in the shared object of a connector. */
#include "h5twin_vol.h"
#include "vol_abi.h"

#include <limits.h>

#ifdef _WIN32
#    define EXPORTED __declspec(dllexport)
#else
#    define EXPORTED __attribute__((visibility("default")))
#endif

EXPORTED int H5PLget_plugin_type(void);
EXPORTED const void *H5PLget_plugin_info(void);

int
H5PLget_plugin_type(void)
{
    return H5TWIN_HDF5_PLUGIN_VOL;
}

/* What HDF5 gets where there is no class for it: one that it does not take. It answers with an
 * error of its own if there is none at all, and 1.10, which asks every plugin while it searches a
 * filter, then finds no other one either. To 1.10 this is the class of a filter with the number -1.
 */
static const struct h5twin_vol_class nothing = {.version = UINT_MAX, .value = -1, .name = ""};

const void *
H5PLget_plugin_info(void)
{
    const void *const mine = h5twin_vol_class(__builtin_return_address(0));
    return mine != NULL ? mine : &nothing;
}
