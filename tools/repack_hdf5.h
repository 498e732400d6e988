/* SPDX-License-Identifier: BSD-3-Clause
 * repack_hdf5.h: the parts of `h5twin repack`. Each function says what went wrong where it does,
 * and returns false then.
 *
 * First all objects and links come to be (repack_hdf5.c), with the values of datasets; then what
 * may point to any object: attributes, and datasets of references (repack_values.c). */
#ifndef H5TWIN_TOOLS_REPACK_HDF5_H
#define H5TWIN_TOOLS_REPACK_HDF5_H

#include "hdf5_file.h"
#include "progress.h"
#include "repack.h"
#include "repack_report.h"

/* An object of the old file. */
struct h5twin_object {
    haddr_t address;
    H5O_type_t type;
    bool chosen;                        /* by a rule, under one of its names */
    bool named;                         /* by a rule in full, without * ? [ */
    struct h5twin_repack_choice choice; /* if it is chosen */
    char *why_not;                      /* else; may be NULL */
    bool is_coded;                      /* in the new file */
    bool is_coordinate;                 /* a lossy codec is not for it, unless it is named */
    bool later;        /* its values are references, and to be written at the end */
    char *path;        /* in both files; NULL until it is made */
    hid_t anonymous;   /* the new named type while it has no name yet; else negative */
    uint64_t raw_size; /* of a dataset, if anything was written to it */
};

struct h5twin_repack {
    const struct h5twin_repack_args *args;
    hid_t src, dst;
    struct h5twin_object *objects; /* by address */
    size_t object_count;
    struct h5twin_progress progress;
    struct h5twin_repack_report report;
    uint64_t coded_count, copied_count;
    uint64_t raw_size, old_size, new_size; /* bytes of the datasets that were coded */
    uint64_t sealed;                       /* datasets */
    uint64_t lost_references;              /* that pointed to nothing */
    bool failed;                           /* and told */
};

/* HDF5 failed. The message names the object: one of the old file, which "could not be" ACTION, or
 * one of the new file, which could not be written. Only the first failure is told. All return
 * false. */
bool h5twin_repack_fail(struct h5twin_repack *repack, const char *path, const char *action);
bool h5twin_repack_fail_to_write(struct h5twin_repack *repack, const char *path);
bool h5twin_repack_fail_memory(struct h5twin_repack *repack);

/* Close a dataset of the new file: HDF5 may only write its values now. */
bool h5twin_repack_close(struct h5twin_repack *repack, const char *path, hid_t dataset);

/* ---- objects (repack_objects.c) ---- */

/* List the objects of the old file; it is an error if --only names none of its datasets. */
bool h5twin_repack_survey(struct h5twin_repack *repack);

/* Mark those that tell where and when others are. (repack_coordinates.c) */
bool h5twin_repack_find_coordinates(struct h5twin_repack *repack);

/* NULL if there is none. */
struct h5twin_object *h5twin_repack_find(const struct h5twin_repack *repack, haddr_t address);

/* A named type gets its name when its turn comes; datasets before it may need it. */
bool h5twin_repack_make_types(struct h5twin_repack *repack);

/* The type for the new file: itself, or the new one of its name. To be closed. Negative on a
 * failure. */
hid_t h5twin_repack_type(const struct h5twin_repack *repack, hid_t type);

/* ---- groups and links (repack_links.c) ---- */

/* Create all groups, links and objects, without their attributes. */
bool h5twin_repack_groups(struct h5twin_repack *repack);

/* ---- datasets that get the codec (repack_shape.c, repack_dataset.c) ---- */

/* Why the codec is not for a dataset: NULL if it is. */
const char *h5twin_repack_why_not(const struct h5twin_object *object, hid_t dataset);

/* Create the dataset as `name` in a group of the new file and write its values; or leave nothing
 * there and tell in `kept`, else "", why it is better kept as it is: it would not get smaller. */
#define H5TWIN_KEPT_TEXT 320
bool h5twin_repack_code(struct h5twin_repack *repack, struct h5twin_object *object, hid_t dataset,
                        hid_t group, const char *name, hid_t lcpl, char kept[H5TWIN_KEPT_TEXT]);

struct h5twin_repack_shape;

/* The absolute bound that params->error_bound times the range of a dataset comes to, rounded down:
 * of its finite values without its fill value and that of params; 0 without a range. False if HDF5
 * or memory fails. (repack_range.c) */
bool h5twin_repack_range_bound(const struct h5twin_repack_shape *shape,
                               const struct h5twin_params *params, hid_t dataset, double *bound);

/* ---- what was done (repack_attributes.c) ---- */

/* Say in attributes of a dataset that was coded with loss what was done to it. */
bool h5twin_repack_say(struct h5twin_repack *repack, const struct h5twin_object *object);

/* ---- verification (repack_verify.c) ---- */

/* Whether each dataset of the new file is the old one, or within the bound it was coded with. Exit
 * code. */
int h5twin_repack_verify(struct h5twin_repack *repack, hid_t dst);

/* ---- values as HDF5 sees them (repack_values.c) ---- */

/* Copy the values of a dataset to one of the same type and shape, references made anew. */
bool h5twin_repack_values(struct h5twin_repack *repack, const char *path, hid_t src, hid_t dst);

/* Copy all attributes, and the comment, from one object to another. */
bool h5twin_repack_attributes(struct h5twin_repack *repack, const struct h5twin_object *object);

#endif
