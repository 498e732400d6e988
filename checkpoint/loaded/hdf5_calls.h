/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_calls.h: all of HDF5 that the checkpoint library uses, for a build that finds it at run
 * time. tests/checkpoint/test_hdf5_calls.c compares these lists with the headers of HDF5. */
#ifndef H5TWIN_CHECKPOINT_HDF5_CALLS_H
#define H5TWIN_CHECKPOINT_HDF5_CALLS_H

/* X(return type, name, parameters), of HDF5 1.10. */
/* clang-format off */
#define CHECKPOINT_HDF5_CALLS(X)                                                                   \
    X(hid_t, H5Acreate2, (hid_t, const char *, hid_t, hid_t, hid_t, hid_t))                        \
    X(htri_t, H5Aexists, (hid_t, const char *))                                                    \
    X(ssize_t, H5Aget_name_by_idx, (hid_t, const char *, H5_index_t, H5_iter_order_t, hsize_t, char *, size_t, hid_t)) \
    X(hid_t, H5Aget_space, (hid_t))                                                                \
    X(hsize_t, H5Aget_storage_size, (hid_t))                                                       \
    X(hid_t, H5Aget_type, (hid_t))                                                                 \
    X(hid_t, H5Aopen, (hid_t, const char *, hid_t))                                                \
    X(herr_t, H5Aread, (hid_t, hid_t, void *))                                                     \
    X(herr_t, H5Awrite, (hid_t, hid_t, const void *))                                              \
    X(hid_t, H5Dcreate2, (hid_t, const char *, hid_t, hid_t, hid_t, hid_t, hid_t))                 \
    X(hid_t, H5Dget_create_plist, (hid_t))                                                         \
    X(hid_t, H5Dget_space, (hid_t))                                                                \
    X(hid_t, H5Dget_type, (hid_t))                                                                 \
    X(hid_t, H5Dopen2, (hid_t, const char *, hid_t))                                               \
    X(herr_t, H5Dread, (hid_t, hid_t, hid_t, hid_t, hid_t, void *))                                \
    X(herr_t, H5Dwrite, (hid_t, hid_t, hid_t, hid_t, hid_t, const void *))                         \
    X(herr_t, H5Eclear2, (hid_t))                                                                  \
    X(herr_t, H5Eget_auto2, (hid_t, H5E_auto2_t *, void **))                                       \
    X(herr_t, H5Epush2, (hid_t, const char *, const char *, unsigned, hid_t, hid_t, hid_t, const char *, ...)) \
    X(herr_t, H5Eset_auto2, (hid_t, H5E_auto2_t, void *))                                          \
    X(herr_t, H5Ewalk2, (hid_t, H5E_direction_t, H5E_walk2_t, void *))                             \
    X(herr_t, H5Fclose, (hid_t))                                                                   \
    X(hid_t, H5Fcreate, (const char *, unsigned, hid_t, hid_t))                                    \
    X(hid_t, H5Fopen, (const char *, unsigned, hid_t))                                             \
    X(hid_t, H5Gcreate2, (hid_t, const char *, hid_t, hid_t, hid_t))                               \
    X(herr_t, H5Gget_info, (hid_t, H5G_info_t *))                                                  \
    X(hid_t, H5Gopen2, (hid_t, const char *, hid_t))                                               \
    X(int, H5Idec_ref, (hid_t))                                                                    \
    X(htri_t, H5Lexists, (hid_t, const char *, hid_t))                                             \
    X(ssize_t, H5Lget_name_by_idx, (hid_t, const char *, H5_index_t, H5_iter_order_t, hsize_t, char *, size_t, hid_t)) \
    X(herr_t, H5Pclose, (hid_t))                                                                   \
    X(hid_t, H5Pcreate, (hid_t))                                                                   \
    X(H5Z_filter_t, H5Pget_filter2, (hid_t, unsigned, unsigned *, size_t *, unsigned *, size_t, char *, unsigned *)) \
    X(H5D_layout_t, H5Pget_layout, (hid_t))                                                        \
    X(int, H5Pget_nfilters, (hid_t))                                                               \
    X(herr_t, H5Pget_virtual_count, (hid_t, size_t *))                                             \
    X(ssize_t, H5Pget_virtual_filename, (hid_t, size_t, char *, size_t))                           \
    X(hid_t, H5Pget_virtual_vspace, (hid_t, size_t))                                               \
    X(herr_t, H5Pset_char_encoding, (hid_t, H5T_cset_t))                                           \
    X(herr_t, H5Pset_chunk, (hid_t, int, const hsize_t *))                                         \
    X(herr_t, H5Pset_fapl_core, (hid_t, size_t, bool))                                             \
    X(herr_t, H5Pset_fclose_degree, (hid_t, H5F_close_degree_t))                                   \
    X(herr_t, H5Pset_file_image_callbacks, (hid_t, H5FD_file_image_callbacks_t *))                 \
    X(herr_t, H5Pset_filter, (hid_t, H5Z_filter_t, unsigned, size_t, const unsigned *))            \
    X(herr_t, H5Pset_layout, (hid_t, H5D_layout_t))                                                \
    X(herr_t, H5Pset_libver_bounds, (hid_t, H5F_libver_t, H5F_libver_t))                           \
    X(herr_t, H5Pset_obj_track_times, (hid_t, bool))                                               \
    X(herr_t, H5Pset_virtual, (hid_t, hid_t, const char *, const char *, hid_t))                   \
    X(hid_t, H5Screate, (H5S_class_t))                                                             \
    X(hid_t, H5Screate_simple, (int, const hsize_t *, const hsize_t *))                            \
    X(herr_t, H5Sget_select_bounds, (hid_t, hsize_t *, hsize_t *))                                 \
    X(int, H5Sget_simple_extent_dims, (hid_t, hsize_t *, hsize_t *))                               \
    X(int, H5Sget_simple_extent_ndims, (hid_t))                                                    \
    X(hssize_t, H5Sget_simple_extent_npoints, (hid_t))                                             \
    X(herr_t, H5Sselect_all, (hid_t))                                                              \
    X(herr_t, H5Sselect_hyperslab, (hid_t, H5S_seloper_t, const hsize_t *, const hsize_t *, const hsize_t *, const hsize_t *)) \
    X(herr_t, H5Sselect_none, (hid_t))                                                             \
    X(hid_t, H5Tcopy, (hid_t))                                                                     \
    X(H5T_class_t, H5Tget_class, (hid_t))                                                          \
    X(H5T_sign_t, H5Tget_sign, (hid_t))                                                            \
    X(size_t, H5Tget_size, (hid_t))                                                                \
    X(htri_t, H5Tis_variable_str, (hid_t))                                                         \
    X(herr_t, H5Tset_cset, (hid_t, H5T_cset_t))                                                    \
    X(herr_t, H5Tset_size, (hid_t, size_t))                                                        \
    X(herr_t, H5Zregister, (const void *))                                                         \
    X(herr_t, H5open, (void))

/* X(name, number). */
#define CHECKPOINT_HDF5_ENUMERATORS(X)                                                             \
    X(H5D_COMPACT, 0) X(H5D_VIRTUAL, 3) X(H5E_WALK_UPWARD, 0) X(H5F_LIBVER_V110, 2)                \
    X(H5F_CLOSE_STRONG, 3) X(H5S_SCALAR, 0) X(H5S_SELECT_SET, 0) X(H5T_NO_CLASS, -1)               \
    X(H5T_INTEGER, 0) X(H5T_FLOAT, 1) X(H5T_STRING, 3) X(H5T_SGN_2, 1) X(H5T_CSET_UTF8, 1)              \
    X(H5_INDEX_NAME, 0) X(H5_ITER_INC, 0)

/* X(name, the variable's): identifiers that HDF5 makes when it starts. */
#define CHECKPOINT_HDF5_IDS(X)                                                                     \
    X(H5E_ERR_CLS, H5E_ERR_CLS_g) X(H5E_ARGS, H5E_ARGS_g) X(H5E_BADVALUE, H5E_BADVALUE_g)          \
    X(H5P_DATASET_CREATE, H5P_CLS_DATASET_CREATE_ID_g)                                             \
    X(H5P_FILE_CREATE, H5P_CLS_FILE_CREATE_ID_g) X(H5P_GROUP_CREATE, H5P_CLS_GROUP_CREATE_ID_g)    \
    X(H5P_FILE_ACCESS, H5P_CLS_FILE_ACCESS_ID_g) X(H5P_LINK_CREATE, H5P_CLS_LINK_CREATE_ID_g)      \
    X(H5T_C_S1, H5T_C_S1_g) X(H5T_NATIVE_FLOAT, H5T_NATIVE_FLOAT_g)                                \
    X(H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE_g) X(H5T_NATIVE_INT, H5T_NATIVE_INT_g)                  \
    X(H5T_NATIVE_INT8, H5T_NATIVE_INT8_g) X(H5T_NATIVE_INT16, H5T_NATIVE_INT16_g)                  \
    X(H5T_NATIVE_INT32, H5T_NATIVE_INT32_g) X(H5T_NATIVE_INT64, H5T_NATIVE_INT64_g)                \
    X(H5T_NATIVE_UINT8, H5T_NATIVE_UINT8_g) X(H5T_NATIVE_UINT16, H5T_NATIVE_UINT16_g)              \
    X(H5T_NATIVE_UINT32, H5T_NATIVE_UINT32_g) X(H5T_NATIVE_UINT64, H5T_NATIVE_UINT64_g)
/* clang-format on */

/* H5E_error2_t, under a name of our own. */
struct checkpoint_hdf5_error {
    int64_t cls_id, maj_num, min_num;
    unsigned line;
    const char *func_name, *file_name, *desc;
};

/* H5G_info_t. */
struct checkpoint_hdf5_group {
    int storage_type;
    unsigned long long nlinks;
    int64_t max_corder;
    bool mounted;
};

/* H5FD_file_image_callbacks_t. */
struct checkpoint_hdf5_image_callbacks {
    void *(*image_malloc)(size_t, int, void *);
    void *(*image_memcpy)(void *, const void *, size_t, int, void *);
    void *(*image_realloc)(void *, size_t, int, void *);
    int (*image_free)(void *, int, void *);
    void *(*udata_copy)(void *);
    int (*udata_free)(void *);
    void *udata;
};

#endif
