/* SPDX-License-Identifier: BSD-3-Clause
 * policy.h: which codec the datasets of a program get that sets none itself.
 *
 * A policy is a text of rules, one a line; the first that fits a dataset decides:
 *
 *     # PATTERN    [CONDITION]...     ->  ACTION
 *     velocity_*   float32 rank=3     ->  lattice:noa=1e-4 chunks=auto
 *     **           float >=64KiB      ->  lattice:abs=1e-3
 *     **           any                ->  cascade
 *
 * docs/pages/policy.md explains it to users and is the authority for the format. Rules are data:
 * parsing and choosing know no HDF5. h5twin_policy_apply() is for who creates datasets, by the
 * functions of the HDF5 library that is to create them.
 *
 *     const struct h5twin_policy *policy = h5twin_policy_of_environment();
 *     struct h5twin_policy_outcome outcome;
 *     const h5twin_hid changed = policy == NULL ? H5TWIN_POLICY_LEAVE : h5twin_policy_apply(
 *         &hdf5, policy, "/fields/u", false, dcpl, type, space, &outcome);
 *     dataset = create(..., changed == H5TWIN_POLICY_LEAVE ? dcpl : changed, ...);
 *     if (changed != H5TWIN_POLICY_LEAVE && dataset failed) {
 *         h5twin_policy_refused(&outcome);  (then restore the error stack)
 *         dataset = create(..., dcpl, ...);
 *     }
 *     if (changed != H5TWIN_POLICY_LEAVE) hdf5.H5Pclose(changed);
 *     if (policy != NULL) h5twin_policy_log("file.h5", &outcome);
 *
 * Units   sizes in bytes, dims and chunks in elements, slowest varying first.
 * Errors  sentences with cause and cure. Nothing is printed but for H5TWIN_VERBOSE and the log.
 * Threads a policy does not change once it is made; all functions may be called at once. */
#ifndef H5TWIN_POLICY_H
#define H5TWIN_POLICY_H

#include "h5twin.h"
#include "hdf5_abi.h"

#define H5TWIN_POLICY_SENTENCE 512 /* bytes with the ending zero, of errors and reasons */
#define H5TWIN_POLICY_SPEC     256

struct h5twin_policy;

/* ---- making one (policy_parse.c, policy_read.c) ---- */

/* Of a text, which need not end with a zero; name stands for it in errors. NULL after an error:
 * then `error` holds "NAME:LINE:COLUMN: what is wrong: how to put it right". Columns count
 * characters from 1. */
struct h5twin_policy *h5twin_policy_parse(const char *name, const char *text, size_t size,
                                          char error[H5TWIN_POLICY_SENTENCE]);

/* Of a file, of at most 16 MiB. */
struct h5twin_policy *h5twin_policy_read(const char *path, char error[H5TWIN_POLICY_SENTENCE]);

void h5twin_policy_free(struct h5twin_policy *policy);

/* Whether the file is a policy: what `h5twin run` asks before it starts a program. */
bool h5twin_policy_check(const char *path, char error[H5TWIN_POLICY_SENTENCE]);

/* That of the file which H5TWIN_POLICY names, read by the first call in this process and kept until
 * it ends. NULL if the variable is unset or empty, or the file cannot be used: then one sentence
 * goes to the log and, with H5TWIN_VERBOSE=1, to stderr, and programs run as without it. A name may
 * be relative to the folder that the process is in by then: call it early. */
const struct h5twin_policy *h5twin_policy_of_environment(void);

/* While this is set h5twin_policy_of_environment() gives this thread NULL: who creates a dataset in
 * it has asked a policy already. */
void h5twin_policy_pause(bool is_paused);

/* ---- choosing (policy_choose.c) ---- */

enum h5twin_policy_type {
    H5TWIN_POLICY_OTHER, /* strings, references, compounds, enumerations, 16-bit floats ... */
    H5TWIN_POLICY_INT8,
    H5TWIN_POLICY_INT16,
    H5TWIN_POLICY_INT32,
    H5TWIN_POLICY_INT64,
    H5TWIN_POLICY_UINT8,
    H5TWIN_POLICY_UINT16,
    H5TWIN_POLICY_UINT32,
    H5TWIN_POLICY_UINT64,
    H5TWIN_POLICY_FLOAT32,
    H5TWIN_POLICY_FLOAT64,
    H5TWIN_POLICY_COMPLEX64, /* two equal floats */
    H5TWIN_POLICY_COMPLEX128,
    H5TWIN_POLICY_TYPES /* their number */
};

/* "float32"; "other" for what is no number. */
const char *h5twin_policy_type_name(enum h5twin_policy_type type);

/* A dataset as it is known before it exists. */
struct h5twin_policy_dataset {
    const char *path; /* absolute, "/fields/u"; NULL: it has none yet */
    enum h5twin_policy_type type;
    uint32_t element_size;                    /* bytes */
    uint32_t rank;                            /* 0: a scalar, or no dataspace */
    uint64_t dims[H5TWIN_HDF5_MAX_RANK];      /* now */
    uint64_t most_dims[H5TWIN_HDF5_MAX_RANK]; /* UINT64_MAX: unlimited */
    bool has_chunk;
    uint64_t chunk[H5TWIN_HDF5_MAX_RANK]; /* as the program gave it, if has_chunk */
    bool is_parallel;                     /* in a file that several MPI processes have open */
    bool is_placeholder; /* netCDF's for a dimension without a variable: never written */
};

/* What is to be done with one, or was done. */
struct h5twin_policy_outcome {
    bool is_coded;                 /* a codec is set; else it is left alone */
    unsigned line;                 /* of the rule that decided; 0: none did */
    struct h5twin_params params;   /* codec, mode, bound, fill, options, if is_coded */
    char spec[H5TWIN_POLICY_SPEC]; /* the same as text */
    bool is_new_chunk;             /* the chunk shape is not the program's */
    uint32_t rank;
    uint64_t chunk[H5TWIN_HDF5_MAX_RANK]; /* if is_coded */
    char why[H5TWIN_POLICY_SENTENCE];     /* it is left alone; "" if is_coded */
    char path[1024];                      /* shortened with "..." in front where it is longer */
    char array[256]; /* "float32 64x128x128", "0..unlimited" for axes that grow */
};

/* Choose by the rules, and by what no rule may override. */
void h5twin_policy_choose(const struct h5twin_policy *policy,
                          const struct h5twin_policy_dataset *dataset,
                          struct h5twin_policy_outcome *outcome);

/* Whether the rule that fits the dataset says append=hold. */
bool h5twin_policy_holds(const struct h5twin_policy *policy,
                         const struct h5twin_policy_dataset *dataset);

/* Whether any rule does. */
bool h5twin_policy_may_hold(const struct h5twin_policy *policy);

/* ---- HDF5 (policy_hdf5.c) ---- */

/* X(return type, name, parameters): what it calls. All are in every HDF5 from 1.10 on. */
#define H5TWIN_POLICY_FUNCTIONS(X)                                                                 \
    X(h5twin_hid, H5Pcopy, (h5twin_hid plist))                                                     \
    X(int, H5Pclose, (h5twin_hid plist))                                                           \
    X(int, H5Pget_layout, (h5twin_hid plist))                                                      \
    X(int, H5Pget_chunk, (h5twin_hid plist, int max_rank, uint64_t dims[]))                        \
    X(int, H5Pset_chunk, (h5twin_hid plist, int rank, const uint64_t dims[]))                      \
    X(int, H5Pget_nfilters, (h5twin_hid plist))                                                    \
    X(int, H5Pset_filter,                                                                          \
      (h5twin_hid plist, int filter, unsigned flags, size_t cd_count, const unsigned cd_values[])) \
    X(int, H5Pget_external_count, (h5twin_hid plist))                                              \
    X(int, H5Pget_alloc_time, (h5twin_hid plist, int *alloc_time))                                 \
    X(int, H5Pget_attr_creation_order, (h5twin_hid plist, unsigned *flags))                        \
    X(int, H5Sget_simple_extent_type, (h5twin_hid space))                                          \
    X(int, H5Sget_simple_extent_ndims, (h5twin_hid space))                                         \
    X(int, H5Sget_simple_extent_dims, (h5twin_hid space, uint64_t dims[], uint64_t most_dims[]))   \
    X(int, H5Tget_class, (h5twin_hid type))                                                        \
    X(size_t, H5Tget_size, (h5twin_hid type))                                                      \
    X(int, H5Tget_order, (h5twin_hid type))                                                        \
    X(int, H5Tget_sign, (h5twin_hid type))                                                         \
    X(size_t, H5Tget_precision, (h5twin_hid type))                                                 \
    X(int, H5Tget_fields,                                                                          \
      (h5twin_hid type, size_t * sign_at, size_t * exponent_at, size_t * exponent_bits,            \
       size_t * mantissa_at, size_t * mantissa_bits))                                              \
    X(int, H5Tget_nmembers, (h5twin_hid type))                                                     \
    X(h5twin_hid, H5Tget_member_type, (h5twin_hid type, unsigned index))                           \
    X(size_t, H5Tget_member_offset, (h5twin_hid type, unsigned index))                             \
    X(h5twin_hid, H5Tget_super, (h5twin_hid type))                                                 \
    X(int, H5Tclose, (h5twin_hid type))                                                            \
    X(int, H5Zfilter_avail, (int filter))                                                          \
    X(int, H5Zregister, (const void *filter_class))

/* One HDF5 library's. */
struct h5twin_policy_hdf5 {
#define H5TWIN_POLICY_DECLARE(type, name, parameters) type(*name) parameters;
    H5TWIN_POLICY_FUNCTIONS(H5TWIN_POLICY_DECLARE)
#undef H5TWIN_POLICY_DECLARE
};

/* Fill it by find(context, "H5Pcopy") and so on. False if a function is missing: then this HDF5
 * gets no policy. */
bool h5twin_policy_hdf5_find(struct h5twin_policy_hdf5 *hdf5,
                             void *(*find)(void *context, const char *name), void *context);

#define H5TWIN_POLICY_LEAVE ((h5twin_hid)-1)

/* The dataset creation property list with which to create a dataset: a changed copy of dcpl, which
 * the caller closes with this HDF5's H5Pclose(), or H5TWIN_POLICY_LEAVE: create it as the program
 * asked. *outcome says which and why in either case. dcpl, type and space are not changed.
 *
 * path is absolute ("/group/name"), as HDF5 will call the dataset; NULL for H5Dcreate_anon(),
 * where only rules for all names count, and of those only lossless ones.
 * is_parallel: the file is opened with the MPI-IO driver. dcpl is a list, never H5P_DEFAULT (0):
 * H5Dcreate() has put the library's own default list in its place before it calls a connector.
 *
 * The filter is registered with this HDF5 if no plugin of it is found. Calls of HDF5 that fail in
 * between leave messages on its error stack, and others clear it: the caller saves and restores
 * that stack. A list that HDF5 refuses for the dataset (a fill value whose members differ, say) is
 * found out when it creates it: then create it with dcpl, and call h5twin_policy_refused(). */
h5twin_hid h5twin_policy_apply(const struct h5twin_policy_hdf5 *hdf5,
                               const struct h5twin_policy *policy, const char *path,
                               bool is_parallel, h5twin_hid dcpl, h5twin_hid type, h5twin_hid space,
                               struct h5twin_policy_outcome *outcome);

/* What HDF5 is asked to create, without its path and whether the file is parallel. NULL, or why no
 * policy changes such a list. Calls the functions from H5Pget_layout on that ask, but for
 * H5Zfilter_avail. */
const char *h5twin_policy_describe(const struct h5twin_policy_hdf5 *hdf5, h5twin_hid dcpl,
                                   h5twin_hid type, h5twin_hid space,
                                   struct h5twin_policy_dataset *dataset);

/* Turn an outcome into: HDF5 refused it, left alone. */
void h5twin_policy_refused(struct h5twin_policy_outcome *outcome);

/* ---- the log (policy_log.c) ---- */

/* "line 3, new chunks 16x64x64", or the line and why the dataset is left alone. */
void h5twin_policy_detail(const struct h5twin_policy_outcome *outcome,
                          char text[H5TWIN_POLICY_SENTENCE]);

/* One line for a dataset, to what H5TWIN_POLICY_LOG names: a file, which is appended to, "-" for
 * stdout or "stderr"; nothing where it is unset or empty. Columns, with tabs between: file, path,
 * array, what it was coded with or "left alone", and the rule and the chunk shape or why not. What
 * is not shown in names is escaped (\t, \n, \\, \x1b). Lines of several threads and processes do
 * not mix. file_name may be NULL. */
void h5twin_policy_log(const char *file_name, const struct h5twin_policy_outcome *outcome);

#endif
