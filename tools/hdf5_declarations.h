/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_declarations.h: in place of hdf5.h where the command is built without HDF5: the same names,
 * but each function is a pointer that h5twin_hdf5_load() sets to that of the HDF5 in use.
 *
 * So the Python package serves the HDF5 of any h5py, and is built without any. Types and structures
 * are those of HDF5 1.10, which later ones keep for its callers (H5_USE_110_API). */
#ifndef H5TWIN_TOOLS_HDF5_DECLARATIONS_H
#define H5TWIN_TOOLS_HDF5_DECLARATIONS_H

#include "hdf5_calls.h"
#include "hdf5_structures.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef int64_t hid_t;
typedef int herr_t, htri_t;
typedef unsigned long long hsize_t, haddr_t;
typedef long long hssize_t;
typedef haddr_t hobj_ref_t;
typedef unsigned char hdset_reg_ref_t[sizeof(haddr_t) + 4];

/* Enumerations travel as int. */
typedef int H5D_alloc_time_t, H5D_fill_time_t, H5D_fill_value_t, H5D_layout_t, H5D_space_status_t,
    H5E_direction_t, H5F_libver_t, H5F_scope_t, H5L_type_t, H5O_type_t, H5R_type_t, H5S_class_t,
    H5S_sel_type, H5S_seloper_t, H5T_class_t, H5T_cset_t, H5T_order_t, H5T_sign_t, H5Z_filter_t,
    H5_index_t, H5_iter_order_t;

typedef struct h5twin_hdf5_sequence hvl_t;
typedef struct h5twin_hdf5_error_entry H5E_error2_t;
typedef struct h5twin_hdf5_link_info H5L_info_t;
typedef struct h5twin_hdf5_object_info H5O_info_t;
typedef struct h5twin_hdf5_attribute_info H5A_info_t;

typedef herr_t (*H5A_operator2_t)(hid_t, const char *, const H5A_info_t *, void *);
typedef herr_t (*H5E_auto2_t)(hid_t, void *);
typedef herr_t (*H5E_walk2_t)(unsigned, const H5E_error2_t *, void *);
typedef herr_t (*H5L_iterate_t)(hid_t, const char *, const H5L_info_t *, void *);
typedef herr_t (*H5O_iterate_t)(hid_t, const char *, const H5O_info_t *, void *);

enum {
#define H5TWIN_DECLARE(name, number) name = number,
    H5TWIN_HDF5_ENUMERATORS(H5TWIN_DECLARE)
#undef H5TWIN_DECLARE
};

#define H5TWIN_DECLARE(type, name, parameters) extern type(*name) parameters;
H5TWIN_HDF5_CALLS(H5TWIN_DECLARE)
#undef H5TWIN_DECLARE

#define H5TWIN_DECLARE(name) extern hid_t *h5twin_##name;
H5TWIN_HDF5_IDS(H5TWIN_DECLARE)
#undef H5TWIN_DECLARE

#define H5P_GROUP_CREATE    (*h5twin_H5P_CLS_GROUP_CREATE_ID_g)
#define H5P_LINK_CREATE     (*h5twin_H5P_CLS_LINK_CREATE_ID_g)
#define H5P_OBJECT_COPY     (*h5twin_H5P_CLS_OBJECT_COPY_ID_g)
#define H5T_C_S1            (*h5twin_H5T_C_S1_g)
#define H5T_IEEE_F32BE      (*h5twin_H5T_IEEE_F32BE_g)
#define H5T_IEEE_F32LE      (*h5twin_H5T_IEEE_F32LE_g)
#define H5T_IEEE_F64BE      (*h5twin_H5T_IEEE_F64BE_g)
#define H5T_IEEE_F64LE      (*h5twin_H5T_IEEE_F64LE_g)
#define H5T_STD_REF_OBJ     (*h5twin_H5T_STD_REF_OBJ_g)
#define H5T_STD_REF_DSETREG (*h5twin_H5T_STD_REF_DSETREG_g)

#define H5E_DEFAULT                ((hid_t)0)
#define H5P_DEFAULT                ((hid_t)0)
#define H5I_INVALID_HID            ((hid_t)-1)
#define HADDR_UNDEF                (~(haddr_t)0)
#define H5S_UNLIMITED              (~(hsize_t)0)
#define H5S_MAX_RANK               32
#define H5F_ACC_RDONLY             0u
#define H5F_ACC_RDWR               1u
#define H5F_ACC_TRUNC              2u
#define H5O_INFO_BASIC             1u
#define H5O_COPY_WITHOUT_ATTR_FLAG 0x10u
#define H5P_CRT_ORDER_TRACKED      1u
#define H5Z_FILTER_ALL             0
#define H5Z_FILTER_DEFLATE         1
#define H5Z_FILTER_FLETCHER32      3
#define H5Z_FLAG_MANDATORY         0u
#define H5Z_FLAG_OPTIONAL          1u

#define H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS 2u

#endif
