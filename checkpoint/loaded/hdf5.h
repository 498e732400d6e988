/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5.h: in place of HDF5's own one where the library is built without HDF5, and serves that of
 * any h5py: the same names, but each function is a pointer that h5twin_checkpoint_use_hdf5() sets.
 *
 * Types are those of HDF5 1.10, which later ones keep for these functions. */
#ifndef H5TWIN_CHECKPOINT_LOADED_HDF5_H
#define H5TWIN_CHECKPOINT_LOADED_HDF5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "hdf5_calls.h"

typedef int64_t hid_t;
typedef int herr_t, htri_t;
typedef unsigned long long hsize_t;
typedef long long hssize_t;

/* Enumerations travel as int. */
typedef int H5D_layout_t, H5E_direction_t, H5F_close_degree_t, H5F_libver_t, H5FD_file_image_op_t,
    H5S_class_t, H5S_seloper_t, H5T_class_t, H5T_cset_t, H5T_sign_t, H5Z_filter_t, H5_index_t,
    H5_iter_order_t;

typedef struct checkpoint_hdf5_error H5E_error2_t;
typedef struct checkpoint_hdf5_group H5G_info_t;
typedef struct checkpoint_hdf5_image_callbacks H5FD_file_image_callbacks_t;
typedef herr_t (*H5E_auto2_t)(hid_t, void *);
typedef herr_t (*H5E_walk2_t)(unsigned, const H5E_error2_t *, void *);

enum {
#define CHECKPOINT_DECLARE(name, number) name = number,
    CHECKPOINT_HDF5_ENUMERATORS(CHECKPOINT_DECLARE)
#undef CHECKPOINT_DECLARE
};

#define CHECKPOINT_DECLARE(type, name, parameters) extern type(*name) parameters;
CHECKPOINT_HDF5_CALLS(CHECKPOINT_DECLARE)
#undef CHECKPOINT_DECLARE

/* Values, read when HDF5 has started. */
#define CHECKPOINT_DECLARE(name, variable) extern hid_t name;
CHECKPOINT_HDF5_IDS(CHECKPOINT_DECLARE)
#undef CHECKPOINT_DECLARE

#define H5E_DEFAULT        ((hid_t)0)
#define H5P_DEFAULT        ((hid_t)0)
#define H5S_ALL            ((hid_t)0)
#define H5I_INVALID_HID    ((hid_t)-1)
#define H5S_MAX_RANK       32
#define H5F_ACC_RDONLY     0u
#define H5F_ACC_TRUNC      2u
#define H5Z_FLAG_MANDATORY 0u

/* For include/h5twin_hdf5.h. */
struct h5twin_hdf5_functions;
void h5twin_checkpoint_hdf5_functions(struct h5twin_hdf5_functions *functions);
#define H5TWIN_HDF5_FUNCTIONS h5twin_checkpoint_hdf5_functions

#endif
