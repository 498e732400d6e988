/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_calls.h: all of HDF5 that the command uses: functions, and numbers of enumerations.
 *
 * From these lists a command that is built without HDF5 declares what it calls: the library that
 * answers is chosen at run time. tests/filter/test_hdf5_calls.c compares them with hdf5.h. */
#ifndef H5TWIN_TOOLS_HDF5_CALLS_H
#define H5TWIN_TOOLS_HDF5_CALLS_H

/* X(return type, name, parameters), of HDF5 1.10. Where a later HDF5 has several versions of one,
 * version 1 is that of 1.10. */
/* clang-format off */
#define H5TWIN_HDF5_CALLS(X)                                                                       \
    X(herr_t, H5Aclose, (hid_t))                                                                   \
    X(hid_t, H5Acreate2, (hid_t, const char *, hid_t, hid_t, hid_t, hid_t))                        \
    X(herr_t, H5Adelete, (hid_t, const char *))                                                    \
    X(hid_t, H5Aget_create_plist, (hid_t))                                                         \
    X(hid_t, H5Aget_space, (hid_t))                                                                \
    X(hid_t, H5Aget_type, (hid_t))                                                                 \
    X(herr_t, H5Aiterate2,                                                                         \
      (hid_t, H5_index_t, H5_iter_order_t, hsize_t *, H5A_operator2_t, void *))                    \
    X(hid_t, H5Aopen, (hid_t, const char *, hid_t))                                                \
    X(herr_t, H5Aread, (hid_t, hid_t, void *))                                                     \
    X(herr_t, H5Awrite, (hid_t, hid_t, const void *))                                              \
    X(herr_t, H5Dclose, (hid_t))                                                                   \
    X(hid_t, H5Dcreate2, (hid_t, const char *, hid_t, hid_t, hid_t, hid_t, hid_t))                 \
    X(hid_t, H5Dget_access_plist, (hid_t))                                                         \
    X(herr_t, H5Dget_chunk_info,                                                                   \
      (hid_t, hid_t, hsize_t, hsize_t *, unsigned *, haddr_t *, hsize_t *))                        \
    X(herr_t, H5Dget_chunk_storage_size, (hid_t, const hsize_t *, hsize_t *))                      \
    X(hid_t, H5Dget_create_plist, (hid_t))                                                         \
    X(herr_t, H5Dget_num_chunks, (hid_t, hid_t, hsize_t *))                                        \
    X(hid_t, H5Dget_space, (hid_t))                                                                \
    X(herr_t, H5Dget_space_status, (hid_t, H5D_space_status_t *))                                  \
    X(hsize_t, H5Dget_storage_size, (hid_t))                                                       \
    X(hid_t, H5Dget_type, (hid_t))                                                                 \
    X(hid_t, H5Dopen2, (hid_t, const char *, hid_t))                                               \
    X(herr_t, H5Dread, (hid_t, hid_t, hid_t, hid_t, hid_t, void *))                                \
    X(herr_t, H5Dread_chunk, (hid_t, hid_t, const hsize_t *, uint32_t *, void *))                  \
    X(herr_t, H5Dvlen_reclaim, (hid_t, hid_t, hid_t, void *))                                      \
    X(herr_t, H5Dwrite, (hid_t, hid_t, hid_t, hid_t, hid_t, const void *))                         \
    X(herr_t, H5Dwrite_chunk, (hid_t, hid_t, uint32_t, const hsize_t *, size_t, const void *))     \
    X(herr_t, H5Eclear2, (hid_t))                                                                  \
    X(herr_t, H5Eset_auto2, (hid_t, H5E_auto2_t, void *))                                    \
    X(herr_t, H5Ewalk2, (hid_t, H5E_direction_t, H5E_walk2_t, void *))                             \
    X(herr_t, H5Fclose, (hid_t))                                                                   \
    X(hid_t, H5Fcreate, (const char *, unsigned, hid_t, hid_t))                                    \
    X(herr_t, H5Fflush, (hid_t, H5F_scope_t))                                                      \
    X(hid_t, H5Fget_access_plist, (hid_t))                                                         \
    X(hid_t, H5Fget_create_plist, (hid_t))                                                         \
    X(herr_t, H5Fget_filesize, (hid_t, hsize_t *))                                                 \
    X(hid_t, H5Fopen, (const char *, unsigned, hid_t))                                             \
    X(herr_t, H5Gclose, (hid_t))                                                                   \
    X(hid_t, H5Gcreate2, (hid_t, const char *, hid_t, hid_t, hid_t))                               \
    X(hid_t, H5Gget_create_plist, (hid_t))                                                         \
    X(hid_t, H5Gopen2, (hid_t, const char *, hid_t))                                               \
    X(hid_t, H5Iget_file_id, (hid_t))                                                              \
    X(int, H5Iinc_ref, (hid_t))                                                                    \
    X(herr_t, H5Lcreate_external, (const char *, const char *, hid_t, const char *, hid_t, hid_t)) \
    X(herr_t, H5Lcreate_hard, (hid_t, const char *, hid_t, const char *, hid_t, hid_t))            \
    X(herr_t, H5Lcreate_soft, (const char *, hid_t, const char *, hid_t, hid_t))                   \
    X(herr_t, H5Lcreate_ud, (hid_t, const char *, H5L_type_t, const void *, size_t, hid_t, hid_t)) \
    X(herr_t, H5Ldelete, (hid_t, const char *, hid_t))                                             \
    X(herr_t, H5Lget_info, (hid_t, const char *, H5L_info_t *, hid_t))                             \
    X(herr_t, H5Lget_val, (hid_t, const char *, void *, size_t, hid_t))                            \
    X(herr_t, H5Literate, (hid_t, H5_index_t, H5_iter_order_t, hsize_t *, H5L_iterate_t, void *))  \
    X(herr_t, H5Lunpack_elink_val,                                                                 \
      (const void *, size_t, unsigned *, const char **, const char **))                            \
    X(herr_t, H5Lvisit, (hid_t, H5_index_t, H5_iter_order_t, H5L_iterate_t, void *))               \
    X(herr_t, H5Oclose, (hid_t))                                                                   \
    X(herr_t, H5Ocopy, (hid_t, const char *, hid_t, const char *, hid_t, hid_t))                   \
    X(ssize_t, H5Oget_comment, (hid_t, char *, size_t))                                            \
    X(herr_t, H5Oget_info2, (hid_t, H5O_info_t *, unsigned))                                       \
    X(herr_t, H5Oget_info_by_name2, (hid_t, const char *, H5O_info_t *, unsigned, hid_t))          \
    X(herr_t, H5Olink, (hid_t, hid_t, const char *, hid_t, hid_t))                                 \
    X(hid_t, H5Oopen, (hid_t, const char *, hid_t))                                                \
    X(hid_t, H5Oopen_by_addr, (hid_t, haddr_t))                                                    \
    X(herr_t, H5Oset_comment, (hid_t, const char *))                                               \
    X(herr_t, H5Ovisit, (hid_t, H5_index_t, H5_iter_order_t, H5O_iterate_t, void *))               \
    X(herr_t, H5Pclose, (hid_t))                                                                   \
    X(hid_t, H5Pcreate, (hid_t))                                                                   \
    X(herr_t, H5Pfill_value_defined, (hid_t, H5D_fill_value_t *))                                  \
    X(herr_t, H5Pget_alloc_time, (hid_t, H5D_alloc_time_t *))                                      \
    X(herr_t, H5Pget_attr_creation_order, (hid_t, unsigned *))                                     \
    X(herr_t, H5Pget_attr_phase_change, (hid_t, unsigned *, unsigned *))                           \
    X(int, H5Pget_chunk, (hid_t, int, hsize_t *))                                                  \
    X(herr_t, H5Pget_chunk_opts, (hid_t, unsigned *))                                              \
    X(int, H5Pget_external_count, (hid_t))                                                         \
    X(herr_t, H5Pget_fill_time, (hid_t, H5D_fill_time_t *))                                        \
    X(herr_t, H5Pget_fill_value, (hid_t, hid_t, void *))                                           \
    X(H5Z_filter_t, H5Pget_filter2,                                                                \
      (hid_t, unsigned, unsigned *, size_t *, unsigned *, size_t, char *, unsigned *))             \
    X(herr_t, H5Pget_filter_by_id2,                                                                \
      (hid_t, H5Z_filter_t, unsigned *, size_t *, unsigned *, size_t, char *, unsigned *))         \
    X(H5D_layout_t, H5Pget_layout, (hid_t))                                                        \
    X(herr_t, H5Pget_libver_bounds, (hid_t, H5F_libver_t *, H5F_libver_t *))                       \
    X(herr_t, H5Pget_link_creation_order, (hid_t, unsigned *))                                     \
    X(herr_t, H5Pget_link_phase_change, (hid_t, unsigned *, unsigned *))                           \
    X(int, H5Pget_nfilters, (hid_t))                                                               \
    X(herr_t, H5Pget_userblock, (hid_t, hsize_t *))                                                \
    X(herr_t, H5Premove_filter, (hid_t, H5Z_filter_t))                                             \
    X(herr_t, H5Pset_alloc_time, (hid_t, H5D_alloc_time_t))                                        \
    X(herr_t, H5Pset_attr_creation_order, (hid_t, unsigned))                                       \
    X(herr_t, H5Pset_attr_phase_change, (hid_t, unsigned, unsigned))                               \
    X(herr_t, H5Pset_char_encoding, (hid_t, H5T_cset_t))                                           \
    X(herr_t, H5Pset_chunk, (hid_t, int, const hsize_t *))                                         \
    X(herr_t, H5Pset_chunk_cache, (hid_t, size_t, size_t, double))                                 \
    X(herr_t, H5Pset_chunk_opts, (hid_t, unsigned))                                                \
    X(herr_t, H5Pset_copy_object, (hid_t, unsigned))                                               \
    X(herr_t, H5Pset_deflate, (hid_t, unsigned))                                                   \
    X(herr_t, H5Pset_filter, (hid_t, H5Z_filter_t, unsigned, size_t, const unsigned *))            \
    X(herr_t, H5Pset_libver_bounds, (hid_t, H5F_libver_t, H5F_libver_t))                           \
    X(herr_t, H5Pset_link_creation_order, (hid_t, unsigned))                                       \
    X(herr_t, H5Pset_link_phase_change, (hid_t, unsigned, unsigned))                               \
    X(herr_t, H5Rcreate, (void *, hid_t, const char *, H5R_type_t, hid_t))                         \
    X(hid_t, H5Rdereference2, (hid_t, hid_t, H5R_type_t, const void *))                            \
    X(ssize_t, H5Rget_name, (hid_t, H5R_type_t, const void *, char *, size_t))                     \
    X(hid_t, H5Rget_region, (hid_t, H5R_type_t, const void *))                                     \
    X(herr_t, H5Sclose, (hid_t))                                                                   \
    X(hid_t, H5Scopy, (hid_t))                                                                     \
    X(hid_t, H5Screate, (H5S_class_t))                                                             \
    X(hid_t, H5Screate_simple, (int, const hsize_t *, const hsize_t *))                            \
    X(herr_t, H5Sencode, (hid_t, void *, size_t *))                                                \
    X(int, H5Sget_simple_extent_dims, (hid_t, hsize_t *, hsize_t *))                               \
    X(int, H5Sget_simple_extent_ndims, (hid_t))                                                    \
    X(hssize_t, H5Sget_simple_extent_npoints, (hid_t))                                             \
    X(H5S_class_t, H5Sget_simple_extent_type, (hid_t))                                             \
    X(hssize_t, H5Sget_select_elem_npoints, (hid_t))                                               \
    X(herr_t, H5Sget_select_elem_pointlist, (hid_t, hsize_t, hsize_t, hsize_t *))                  \
    X(herr_t, H5Sget_select_hyper_blocklist, (hid_t, hsize_t, hsize_t, hsize_t *))                 \
    X(hssize_t, H5Sget_select_hyper_nblocks, (hid_t))                                              \
    X(hssize_t, H5Sget_select_npoints, (hid_t))                                                    \
    X(H5S_sel_type, H5Sget_select_type, (hid_t))                                                   \
    X(herr_t, H5Sselect_hyperslab,                                                                 \
      (hid_t, H5S_seloper_t, const hsize_t *, const hsize_t *, const hsize_t *, const hsize_t *))  \
    X(herr_t, H5Tclose, (hid_t))                                                                   \
    X(herr_t, H5Tcommit_anon, (hid_t, hid_t, hid_t, hid_t))                                        \
    X(htri_t, H5Tcommitted, (hid_t))                                                               \
    X(hid_t, H5Tcopy, (hid_t))                                                                     \
    X(hid_t, H5Tcreate, (H5T_class_t, size_t))                                                     \
    X(htri_t, H5Tdetect_class, (hid_t, H5T_class_t))                                               \
    X(htri_t, H5Tequal, (hid_t, hid_t))                                                            \
    X(H5T_class_t, H5Tget_class, (hid_t))                                                          \
    X(hid_t, H5Tget_create_plist, (hid_t))                                                         \
    X(herr_t, H5Tget_fields, (hid_t, size_t *, size_t *, size_t *, size_t *, size_t *))            \
    X(size_t, H5Tget_member_offset, (hid_t, unsigned))                                             \
    X(hid_t, H5Tget_member_type, (hid_t, unsigned))                                                \
    X(int, H5Tget_nmembers, (hid_t))                                                               \
    X(H5T_order_t, H5Tget_order, (hid_t))                                                          \
    X(size_t, H5Tget_precision, (hid_t))                                                           \
    X(H5T_sign_t, H5Tget_sign, (hid_t))                                                            \
    X(size_t, H5Tget_size, (hid_t))                                                                \
    X(hid_t, H5Tget_super, (hid_t))                                                                \
    X(htri_t, H5Tis_variable_str, (hid_t))                                                         \
    X(herr_t, H5Tset_size, (hid_t, size_t))                                                        \
    X(herr_t, H5Tset_order, (hid_t, H5T_order_t))                                                  \
    X(hid_t, H5Topen2, (hid_t, const char *, hid_t))                                               \
    X(htri_t, H5Zfilter_avail, (H5Z_filter_t))                                                     \
    X(herr_t, H5Zregister, (const void *))                                                         \
    X(herr_t, H5get_libversion, (unsigned *, unsigned *, unsigned *))                              \
    X(herr_t, H5dont_atexit, (void))                                                               \
    X(herr_t, H5open, (void))
/* clang-format on */

/* X(name, number). */
/* clang-format off */
#define H5TWIN_HDF5_ENUMERATORS(X)                                                                 \
    X(H5D_COMPACT, 0) X(H5D_CONTIGUOUS, 1) X(H5D_CHUNKED, 2) X(H5D_VIRTUAL, 3)                     \
    X(H5D_ALLOC_TIME_EARLY, 1) X(H5D_ALLOC_TIME_INCR, 3) X(H5D_FILL_TIME_NEVER, 1) X(H5D_FILL_VALUE_UNDEFINED, 0) X(H5D_FILL_VALUE_USER_DEFINED, 2)     \
    X(H5D_SPACE_STATUS_NOT_ALLOCATED, 0) X(H5E_WALK_UPWARD, 0) X(H5F_LIBVER_V18, 1)                \
    X(H5F_SCOPE_LOCAL, 0) X(H5_INDEX_NAME, 0) X(H5_INDEX_CRT_ORDER, 1) X(H5_ITER_INC, 0)           \
    X(H5L_TYPE_HARD, 0) X(H5L_TYPE_SOFT, 1) X(H5L_TYPE_EXTERNAL, 64) X(H5O_TYPE_GROUP, 0)          \
    X(H5O_TYPE_DATASET, 1) X(H5O_TYPE_NAMED_DATATYPE, 2) X(H5R_OBJECT, 0)                          \
    X(H5R_DATASET_REGION, 1) X(H5S_SCALAR, 0) X(H5S_SELECT_SET, 0) X(H5S_SELECT_OR, 1)             \
    X(H5S_SEL_NONE, 0) X(H5S_SEL_POINTS, 1) X(H5S_SEL_HYPERSLABS, 2) X(H5T_INTEGER, 0)             \
    X(H5T_FLOAT, 1) X(H5T_TIME, 2) X(H5T_STRING, 3) X(H5T_BITFIELD, 4) X(H5T_OPAQUE, 5)            \
    X(H5T_COMPOUND, 6) X(H5T_REFERENCE, 7) X(H5T_ENUM, 8) X(H5T_VLEN, 9) X(H5T_ARRAY, 10)          \
    X(H5T_ORDER_LE, 0) X(H5T_ORDER_BE, 1) X(H5T_ORDER_NONE, 4) X(H5T_SGN_NONE, 0)
/* clang-format on */

/* X(name of the variable): identifiers that HDF5 makes when it starts. */
#define H5TWIN_HDF5_IDS(X)                                                                         \
    X(H5P_CLS_GROUP_CREATE_ID_g)                                                                   \
    X(H5P_CLS_LINK_CREATE_ID_g)                                                                    \
    X(H5P_CLS_OBJECT_COPY_ID_g)                                                                    \
    X(H5T_C_S1_g)                                                                                  \
    X(H5T_IEEE_F32BE_g)                                                                            \
    X(H5T_IEEE_F32LE_g)                                                                            \
    X(H5T_IEEE_F64BE_g)                                                                            \
    X(H5T_IEEE_F64LE_g)                                                                            \
    X(H5T_STD_REF_OBJ_g)                                                                           \
    X(H5T_STD_REF_DSETREG_g)

#endif
