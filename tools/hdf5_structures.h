/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_structures.h: structures of HDF5 1.10 that the command reads, declared anew, under names of
 * our own so that a test can compare them with those of hdf5.h. */
#ifndef H5TWIN_TOOLS_HDF5_STRUCTURES_H
#define H5TWIN_TOOLS_HDF5_STRUCTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* hvl_t */
struct h5twin_hdf5_sequence {
    size_t len;
    void *p;
};

/* H5E_error2_t */
struct h5twin_hdf5_error_entry {
    int64_t cls_id, maj_num, min_num;
    unsigned line;
    const char *func_name, *file_name, *desc;
};

/* H5L_info1_t */
struct h5twin_hdf5_link_info {
    int type;
    bool corder_valid;
    int64_t corder;
    int cset;
    union {
        unsigned long long address;
        size_t val_size;
    } u;
};

/* H5O_info1_t */
struct h5twin_hdf5_object_info {
    unsigned long fileno;
    unsigned long long addr;
    int type;
    unsigned rc;
    time_t times[4];
    unsigned long long num_attrs;
    struct {
        unsigned counts[4];
        unsigned long long space[4];
        uint64_t messages[2];
    } hdr;
    unsigned long long meta_size[4];
};

/* H5A_info_t: only passed on */
struct h5twin_hdf5_attribute_info;

#endif
