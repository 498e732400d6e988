/* SPDX-License-Identifier: BSD-3-Clause
 * selection.h: the boxes that a read or write of a dataset selects, in the file and in memory. */
#ifndef H5TWIN_VOL_SELECTION_H
#define H5TWIN_VOL_SELECTION_H

#include "dataset_io.h"

#define H5TWIN_MAX_DIMS H5TWIN_HDF5_MAX_RANK

/* A box of a dataspace, in elements. */
struct h5twin_space_box {
    unsigned rank;
    uint64_t dims[H5TWIN_MAX_DIMS], start[H5TWIN_MAX_DIMS], count[H5TWIN_MAX_DIMS];
};

/* What a request selects. Memory is described along the dims of the file. */
struct h5twin_selection {
    struct h5twin_space_box file;
    uint64_t first;                   /* elements before the box's first one in memory */
    uint64_t stride[H5TWIN_MAX_DIMS]; /* elements, from one of the box to the next */
    /* A memory space that begins with the box's first element: its rank is that of the file, or one
     * more if the elements of the last dim do not follow each other. */
    unsigned memory_rank;
    uint64_t extents[H5TWIN_MAX_DIMS + 1];
};

/* NULL, or why HDF5 must do it. space is that of the dataset. */
const char *h5twin_selection_read(const struct h5twin_hdf5 *hdf5, h5twin_hid space,
                                  const struct h5twin_dataset_request *request,
                                  struct h5twin_selection *selection);

#endif
