/* SPDX-License-Identifier: BSD-3-Clause
 * plugin.c: what HDF5 looks for in a shared object, built once per codec: HDF5 takes one filter
 * from each file. H5TWIN_PLUGIN_CODEC is the codec's number. With H5TWIN_HDF5_CLASS3 a library that
 * takes the third kind of class is given one. */
#include "h5twin.h"
#include "hdf5_abi.h"

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
    return H5TWIN_HDF5_PLUGIN_FILTER;
}

const void *
H5PLget_plugin_info(void)
{
#ifdef H5TWIN_HDF5_CLASS3
    return h5twin_hdf5_class_for(H5TWIN_PLUGIN_CODEC, __builtin_return_address(0));
#else
    return h5twin_hdf5_class(H5TWIN_PLUGIN_CODEC);
#endif
}
