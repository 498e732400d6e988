/* SPDX-License-Identifier: BSD-3-Clause
 * vol_hdf5.h: the functions of the calling HDF5 that the connector needs, and its error stack.
 *
 * H5VL functions are there from 1.12 on, which a filter must not depend on: so they have a table
 * beside that of filter/hdf5_caller.h. */
#ifndef H5TWIN_VOL_HDF5_H
#define H5TWIN_VOL_HDF5_H

#include "hdf5_caller.h"

/* X(return type, name, parameters). All are in every HDF5 that has connectors. */
#define H5TWIN_VOL_FUNCTIONS(X)                                                                    \
    X(int, H5get_libversion, (unsigned *major, unsigned *minor, unsigned *release))                \
    X(h5twin_hid, H5VLget_connector_id_by_name, (const char *name))                                \
    X(int, H5VLclose, (h5twin_hid connector))                                                      \
    X(int, H5VLintrospect_get_conn_cls,                                                            \
      (void *object, h5twin_hid connector, int level, const void **class_found))                   \
    X(h5twin_hid, H5VLwrap_register, (void *object, int type))                                     \
    X(int, H5Idec_ref, (h5twin_hid id))                                                            \
    X(h5twin_hid, H5Dget_create_plist, (h5twin_hid dataset))                                       \
    X(int, H5Pclose, (h5twin_hid plist))                                                           \
    X(int, H5Pget_layout, (h5twin_hid plist))                                                      \
    X(int, H5Pget_chunk, (h5twin_hid plist, int rank, uint64_t dims[]))                            \
    X(int, H5Pget_nfilters, (h5twin_hid plist))                                                    \
    X(int, H5Pget_filter2,                                                                         \
      (h5twin_hid plist, unsigned index, unsigned *flags, size_t *cd_count, unsigned cd_values[],  \
       size_t name_size, char name[], unsigned *filter_config))                                    \
    X(int64_t, H5Sget_select_npoints, (h5twin_hid space))                                          \
    X(int64_t, H5Eget_num, (h5twin_hid stack))                                                     \
    X(h5twin_hid, H5Eget_current_stack, (void))                                                    \
    X(int, H5Eset_current_stack, (h5twin_hid stack))                                               \
    X(int, H5Eclose_stack, (h5twin_hid stack))                                                     \
    X(int, H5Eclear2, (h5twin_hid stack))                                                          \
    X(int, H5Eauto_is_v2, (h5twin_hid stack, unsigned *is_v2))                                     \
    X(int, H5Eget_auto2, (h5twin_hid stack, h5twin_vol_print * print, void **data))                \
    X(int, H5Eset_auto2, (h5twin_hid stack, h5twin_vol_print print, void *data))

typedef int (*h5twin_vol_print)(h5twin_hid stack, void *data);

struct h5twin_vol_hdf5 {
#define H5TWIN_VOL_DECLARE(type, name, parameters) type(*name) parameters;
    H5TWIN_VOL_FUNCTIONS(H5TWIN_VOL_DECLARE)
#undef H5TWIN_VOL_DECLARE
};

/* Find them in the library. False if one is missing. */
bool h5twin_vol_hdf5_find(struct h5twin_vol_hdf5 *functions, const struct h5twin_hdf5 *hdf5);

/* What a program may see of the error stack, set aside while HDF5 is called on our own account:
 * those calls clear it, leave messages on it, and print them. */
struct h5twin_vol_errors {
    h5twin_hid stack;       /* the messages; negative: none */
    h5twin_vol_print print; /* what prints errors, and its data */
    void *data;
};

void h5twin_vol_errors_hold(const struct h5twin_vol_hdf5 *functions,
                            struct h5twin_vol_errors *errors);

/* Let the program have them back. Or, with `new_stack` not negative, let it have that one's
 * messages instead; it is closed. */
void h5twin_vol_errors_release(const struct h5twin_vol_hdf5 *functions,
                               struct h5twin_vol_errors *errors, h5twin_hid new_stack);

#endif
