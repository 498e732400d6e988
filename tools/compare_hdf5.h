/* SPDX-License-Identifier: BSD-3-Clause
 * compare_hdf5.h: a dataset of an original and the one that came of it, piece by piece. */
#ifndef H5TWIN_TOOLS_COMPARE_HDF5_H
#define H5TWIN_TOOLS_COMPARE_HDF5_H

#include "compare.h"
#include "hdf5_file.h"

struct h5twin_dataset_pair {
    hid_t datasets[2]; /* the original first */
    const char *paths[2];
    const char *names[2];
};

/* Fill the comparison, whose promise is set. If the two hold different types or shapes, nothing is
 * compared and *mismatch says which; else it is NULL. *is_float: errors were measured. Memory for a
 * MiB or so of either, or for a chunk. Exit code, after a message if it is not H5TWIN_EXIT_OK. */
int h5twin_compare_datasets(struct h5twin_comparison *comparison,
                            const struct h5twin_dataset_pair *pair, bool *is_float,
                            const char **mismatch);

#endif
