/* SPDX-License-Identifier: BSD-3-Clause
 * fake_hdf5.c: as much of an HDF5 library as a plugin sees of the one that loads it. FAKE_VERSION
 * is 2 or 3. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

int H5Epush2(void);
int H5Pappend_filter(void);
const void *fake_load(const char *plugin);

int
H5Epush2(void)
{
    return -1;
}

#if FAKE_VERSION >= 3
int
H5Pappend_filter(void)
{
    return -1;
}
#endif

/* What the plugin gives to this library. */
const void *
fake_load(const char *plugin)
{
    const void *(*get_info)(void);
    void *const handle = dlopen(plugin, RTLD_LAZY | RTLD_LOCAL);
    void *const symbol = handle == NULL ? NULL : dlsym(handle, "H5PLget_plugin_info");
    if (symbol == NULL) {
        return NULL;
    }
    memcpy(&get_info, &symbol, sizeof symbol); /* C has no such conversion */
    const void *const info = get_info();       /* no tail call: this function is the caller */
    return info == (const void *)handle ? NULL : info;
}
