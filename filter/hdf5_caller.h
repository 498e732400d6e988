/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_caller.h: the functions of the HDF5 library that called us.
 *
 * The filter links no HDF5. A process may hold several (a wheel's, the system's, one inside the
 * executable) whose identifiers mean nothing to each other, so each callback asks here for the one
 * that it was called by, and uses that one only. */
#ifndef H5TWIN_HDF5_CALLER_H
#define H5TWIN_HDF5_CALLER_H

#include "h5twin.h"
#include "hdf5_abi.h"

/* X(group, return type, name, parameters). Only functions: a variable such as H5E_ERR_CLS_g may
 * live in the executable (copy relocation), where the library's own copy is stale. Versioned names
 * where a header would map a plain one. Groups are usable only as a whole. */
#define H5TWIN_HDF5_FUNCTIONS(X)                                                                   \
    X(PROPERTIES, h5twin_hid, H5Pget_filter_by_id2,                                                \
      (h5twin_hid plist, int id, unsigned *flags, size_t *cd_count, unsigned cd_values[],          \
       size_t name_size, char name[], unsigned *filter_config))                                    \
    X(PROPERTIES, int, H5Pmodify_filter,                                                           \
      (h5twin_hid plist, int id, unsigned flags, size_t cd_count, const unsigned cd_values[]))     \
    X(PROPERTIES, int, H5Pget_nfilters, (h5twin_hid plist))                                        \
    X(PROPERTIES, int, H5Pget_filter2,                                                             \
      (h5twin_hid plist, unsigned index, unsigned *flags, size_t *cd_count, unsigned cd_values[],  \
       size_t name_size, char name[], unsigned *filter_config))                                    \
    X(PROPERTIES, int, H5Pfill_value_defined, (h5twin_hid plist, int *status))                     \
    X(PROPERTIES, int, H5Pget_fill_time, (h5twin_hid plist, int *fill_time))                       \
    X(PROPERTIES, int, H5Pget_fill_value, (h5twin_hid plist, h5twin_hid type, void *value))        \
    X(PROPERTIES, int, H5Tget_class, (h5twin_hid type))                                            \
    X(PROPERTIES, size_t, H5Tget_size, (h5twin_hid type))                                          \
    X(PROPERTIES, int, H5Tget_order, (h5twin_hid type))                                            \
    X(PROPERTIES, size_t, H5Tget_precision, (h5twin_hid type))                                     \
    X(PROPERTIES, int, H5Tget_offset, (h5twin_hid type))                                           \
    X(FLOATS, int, H5Tget_fields,                                                                  \
      (h5twin_hid type, size_t * sign_at, size_t * exponent_at, size_t * exponent_bits,            \
       size_t * mantissa_at, size_t * mantissa_bits))                                              \
    X(FLOATS, size_t, H5Tget_ebias, (h5twin_hid type))                                             \
    X(FLOATS, int, H5Tget_norm, (h5twin_hid type))                                                 \
    X(PROPERTIES, h5twin_hid, H5Tget_super, (h5twin_hid type))                                     \
    X(PROPERTIES, int, H5Tget_nmembers, (h5twin_hid type))                                         \
    X(PROPERTIES, h5twin_hid, H5Tget_member_type, (h5twin_hid type, unsigned index))               \
    X(PROPERTIES, int, H5Tclose, (h5twin_hid type))                                                \
    X(PROPERTIES, int, H5Sget_simple_extent_ndims, (h5twin_hid space))                             \
    X(PROPERTIES, int, H5Sget_simple_extent_dims,                                                  \
      (h5twin_hid space, uint64_t dims[], uint64_t max_dims[]))                                    \
    X(ERRORS, h5twin_hid, H5Eregister_class,                                                       \
      (const char *class_name, const char *library_name, const char *version))                     \
    X(ERRORS, h5twin_hid, H5Ecreate_msg, (h5twin_hid class_id, int type, const char *text))        \
    X(ERRORS, int, H5Epush2,                                                                       \
      (h5twin_hid stack, const char *file, const char *function, unsigned line,                    \
       h5twin_hid class_id, h5twin_hid major, h5twin_hid minor, const char *format, ...))          \
    X(PAUSE, int, H5Eis_paused, (h5twin_hid stack, bool *is_paused))                               \
    X(PAUSE, h5twin_hid, H5Ecreate_stack, (void))                                                  \
    X(PAUSE, int, H5Eset_current_stack, (h5twin_hid stack))                                        \
    X(MEMORY, void *, H5allocate_memory, (size_t size, bool clear))                                \
    X(MEMORY, int, H5free_memory, (void *memory))

enum h5twin_hdf5_group {
    H5TWIN_HDF5_PROPERTIES, /* to read and change what a dataset is created with */
    H5TWIN_HDF5_FLOATS,     /* not in all programs that hold HDF5 in themselves */
    H5TWIN_HDF5_ERRORS,
    H5TWIN_HDF5_PAUSE, /* from 1.14.4 on */
    H5TWIN_HDF5_MEMORY,
    H5TWIN_HDF5_GROUPS /* their number */
};

/* One HDF5 library of this process. Constant once it can be seen, but for the error identifiers. */
struct h5twin_hdf5 {
    const void *base;               /* where it is loaded: what tells it from others */
    bool has[H5TWIN_HDF5_GROUPS];   /* all functions of the group were found */
    bool takes_class3;              /* it has parameters as text, and classes with them */
    _Atomic h5twin_hid error_class; /* 0 until the first message */
    _Atomic h5twin_hid error_major;
    _Atomic h5twin_hid error_minor;
#define H5TWIN_DECLARE(group, type, name, parameters) type(*name) parameters;
    H5TWIN_HDF5_FUNCTIONS(H5TWIN_DECLARE)
#undef H5TWIN_DECLARE
};

/* The library that holds return_address, an address in the code that called a callback. NULL if
 * out of memory or unknown; the groups in has[] may be missing, as when HDF5 is inside an
 * executable that does not export it. */
struct h5twin_hdf5 *h5twin_hdf5_of_caller(const void *return_address);

/* A function of that library which is in no group: NULL if it exports none of that name. Costs a
 * search in the library each time. */
void *h5twin_hdf5_symbol(const struct h5twin_hdf5 *hdf5, const char *name);

/* For the buffers that HDF5 frees, or gave us: its own allocator or the C library's, whichever it
 * expects. hdf5 may be NULL. */
void *h5twin_hdf5_allocate(const struct h5twin_hdf5 *hdf5, size_t size, bool clear);
void h5twin_hdf5_free(const struct h5twin_hdf5 *hdf5, void *memory);

/* Let the heap keep buffers of `size` bytes when they are freed, instead of giving their pages back
 * to the system each time; false if it is not known to do that for so many. Costs nothing but in
 * the first call for a larger size. */
bool h5twin_hdf5_heap_keeps(size_t size);

/* Push "h5twin CODEC: TEXT" on the error stack, if there is one. hdf5 may be NULL. */
void h5twin_hdf5_push_error(struct h5twin_hdf5 *hdf5, const char *function, const char *codec_name,
                            const char *text);

#endif
