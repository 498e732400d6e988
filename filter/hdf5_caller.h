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
    X(MEMORY, int, H5free_memory, (void *memory))                                                  \
    X(TRANSFERS, h5twin_hid, H5Dget_type, (h5twin_hid dataset))                                    \
    X(TRANSFERS, h5twin_hid, H5Dget_space, (h5twin_hid dataset))                                   \
    X(TRANSFERS, h5twin_hid, H5Dget_create_plist, (h5twin_hid dataset))                            \
    X(TRANSFERS, h5twin_hid, H5Dget_access_plist, (h5twin_hid dataset))                            \
    X(TRANSFERS, int, H5Dget_chunk_storage_size,                                                   \
      (h5twin_hid dataset, const uint64_t *offset, uint64_t *size))                                \
    X(TRANSFERS, int, H5Dget_chunk_info_by_coord,                                                  \
      (h5twin_hid dataset, const uint64_t *offset, unsigned *filter_mask, uint64_t *address,       \
       uint64_t *size))                                                                            \
    X(TRANSFERS, int, H5Dwrite_chunk,                                                              \
      (h5twin_hid dataset, h5twin_hid dxpl, uint32_t filter_mask, const uint64_t *offset,          \
       size_t size, const void *chunk))                                                            \
    X(TRANSFERS, int, H5Dwrite,                                                                    \
      (h5twin_hid dataset, h5twin_hid mem_type, h5twin_hid mem_space, h5twin_hid file_space,       \
       h5twin_hid dxpl, const void *buffer))                                                       \
    X(TRANSFERS, int, H5Dread,                                                                     \
      (h5twin_hid dataset, h5twin_hid mem_type, h5twin_hid mem_space, h5twin_hid file_space,       \
       h5twin_hid dxpl, void *buffer))                                                             \
    X(TRANSFERS, int, H5Pget_layout, (h5twin_hid plist))                                           \
    X(TRANSFERS, int, H5Pget_chunk, (h5twin_hid plist, int rank, uint64_t dims[]))                 \
    X(TRANSFERS, int, H5Pget_chunk_opts, (h5twin_hid plist, unsigned *options))                    \
    X(TRANSFERS, int, H5Pget_alloc_time, (h5twin_hid plist, int *alloc_time))                      \
    X(TRANSFERS, int, H5Pget_chunk_cache,                                                          \
      (h5twin_hid plist, size_t * slots, size_t * size, double *preemption))                       \
    X(TRANSFERS, ptrdiff_t, H5Pget_data_transform,                                                 \
      (h5twin_hid plist, char *expression, size_t capacity))                                       \
    X(TRANSFERS, int, H5Pclose, (h5twin_hid plist))                                                \
    X(TRANSFERS, int, H5Tequal, (h5twin_hid type, h5twin_hid other))                               \
    X(TRANSFERS, int, H5Tdetect_class, (h5twin_hid type, int type_class))                          \
    X(TRANSFERS, h5twin_hid, H5Screate_simple,                                                     \
      (int rank, const uint64_t dims[], const uint64_t max_dims[]))                                \
    X(TRANSFERS, int, H5Sselect_hyperslab,                                                         \
      (h5twin_hid space, int operation, const uint64_t start[], const uint64_t stride[],           \
       const uint64_t count[], const uint64_t block[]))                                            \
    X(TRANSFERS, int, H5Sget_select_type, (h5twin_hid space))                                      \
    X(TRANSFERS, int, H5Sget_select_bounds, (h5twin_hid space, uint64_t first[], uint64_t last[])) \
    X(TRANSFERS, int64_t, H5Sget_select_npoints, (h5twin_hid space))                               \
    X(TRANSFERS, int, H5Sclose, (h5twin_hid space))                                                \
    X(TRANSFERS, int, H5Eget_auto2,                                                                \
      (h5twin_hid stack, h5twin_hdf5_report * report, void **context))                             \
    X(TRANSFERS, int, H5Eset_auto2, (h5twin_hid stack, h5twin_hdf5_report report, void *context))  \
    X(TRANSFERS, h5twin_hid, H5Eget_current_stack, (void))                                         \
    X(TRANSFERS, int, H5Ewalk2,                                                                    \
      (h5twin_hid stack, int direction, h5twin_hdf5_error_visit visit, void *context))             \
    X(READ_CHUNK, int, H5Dread_chunk1,                                                             \
      (h5twin_hid dataset, h5twin_hid dxpl, const uint64_t *offset, uint32_t *filter_mask,         \
       void *chunk))                                                                               \
    X(READ_CHUNK2, int, H5Dread_chunk2,                                                            \
      (h5twin_hid dataset, h5twin_hid dxpl, const uint64_t *offset, uint32_t *filter_mask,         \
       void *chunk, size_t *size))                                                                 \
    X(TRANSFERS, h5twin_hid, H5Iget_file_id, (h5twin_hid object))                                  \
    X(TRANSFERS, int, H5Fget_intent, (h5twin_hid file, unsigned *flags))                           \
    X(TRANSFERS, int, H5Fclose, (h5twin_hid file))                                                 \
    X(MPI, int, H5Fget_mpi_atomicity, (h5twin_hid file, bool *is_atomic))                          \
    X(MPI_WRITES, int, H5Pget_dxpl_mpio, (h5twin_hid dxpl, int *mode))                             \
    X(MPI_WRITES, int, H5Zregister, (const void *filter_class))

enum h5twin_hdf5_group {
    H5TWIN_HDF5_PROPERTIES, /* to read and change what a dataset is created with */
    H5TWIN_HDF5_FLOATS,     /* not in all programs that hold HDF5 in themselves */
    H5TWIN_HDF5_ERRORS,
    H5TWIN_HDF5_PAUSE, /* from 1.14.4 on */
    H5TWIN_HDF5_MEMORY,
    H5TWIN_HDF5_TRANSFERS,   /* of datasets, beside PROPERTIES; from 1.10.5 on */
    H5TWIN_HDF5_READ_CHUNK,  /* H5Dread_chunk, by its name from 2.0 on; until then it is the plain
                                one */
    H5TWIN_HDF5_READ_CHUNK2, /* from 2.0 on */
    H5TWIN_HDF5_MPI,         /* where HDF5 has MPI */
    H5TWIN_HDF5_MPI_WRITES,  /* likewise, beside it */
    H5TWIN_HDF5_GROUPS       /* their number */
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

/* The same from a table that a program has made (include/h5twin.h), without looking for anything.
 */
void h5twin_hdf5_from_table(struct h5twin_hdf5 *hdf5,
                            const struct h5twin_hdf5_functions *functions);

/* A function of that library which is in no group: NULL if it exports none of that name. Costs a
 * search in the library each time. */
void *h5twin_hdf5_symbol(const struct h5twin_hdf5 *hdf5, const char *name);

/* For the buffers that HDF5 frees, or gave us: its own allocator or the C library's, whichever it
 * expects. hdf5 may be NULL. */
void *h5twin_hdf5_allocate(const struct h5twin_hdf5 *hdf5, size_t size, bool clear);
void h5twin_hdf5_free(const struct h5twin_hdf5 *hdf5, void *memory);

/* Let the heap keep buffers of `size` bytes when they are freed, HDF5's and ours, instead of giving
 * their pages back to the system each time; false if it is not known to do that for so many. With
 * glibc it is for up to 80 MiB: from 16 MiB on the heap then has 272 MiB of address space more for
 * the rest of the process, of which those pages are resident that were used. Costs nothing but in
 * the first call for a larger size. */
bool h5twin_hdf5_heap_keeps(size_t size);

/* Memory of that many bytes that was just allocated, and that the heap does not keep: let its pages
 * be large ones, if the system has any. Fresh memory faults page by page, and a chunk of 32 MiB has
 * 8192 small ones. */
void h5twin_hdf5_few_faults(void *memory, size_t size);

/* Push "h5twin CODEC: TEXT" on the error stack, if there is one. hdf5 may be NULL. */
void h5twin_hdf5_push_error(struct h5twin_hdf5 *hdf5, const char *function, const char *codec_name,
                            const char *text);

#endif
