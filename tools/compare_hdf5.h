/* SPDX-License-Identifier: BSD-3-Clause
 * compare_hdf5.h: a dataset of an original and the one that came of it, piece by piece. */
#ifndef H5TWIN_TOOLS_COMPARE_HDF5_H
#define H5TWIN_TOOLS_COMPARE_HDF5_H

#include "compare.h"
#include "compare_pairs.h"

struct h5twin_dataset_pair {
    hid_t datasets[2]; /* the original first */
    const char *paths[2];
    const char *names[2];
    struct h5twin_pairs *pairs; /* of their files, for references: they may add to it */
    bool has_references;        /* set by h5twin_compare_datasets() */
};

/* Whether elements of the dataset are or hold references: then pairs are needed. */
bool h5twin_has_references(hid_t dataset);

/* Fill the comparison, whose promise is set. If the two hold different types or shapes, nothing is
 * compared and *mismatch says which; else it is NULL. *is_float: errors were measured. Memory for a
 * MiB or so of either, or for a chunk. Exit code, after a message if it is not H5TWIN_EXIT_OK. */
int h5twin_compare_datasets(struct h5twin_comparison *comparison, struct h5twin_dataset_pair *pair,
                            bool *is_float, const char **mismatch);

#endif
