/* SPDX-License-Identifier: BSD-3-Clause
 * test_hdf5_abi.c: our declarations of HDF5 against the installed headers. It is a test that this
 * file compiles. */
#include "hdf5_abi.h"
#include "hdf5_caller.h"

#include <hdf5.h>

#include <H5PLextern.h>

#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #ours " is not " #theirs)
#define SAME_FIELD(ours, theirs)                                                                   \
    SAME(offsetof(struct h5twin_hdf5_class, ours), offsetof(H5Z_class2_t, theirs))

SAME(sizeof(h5twin_hid), sizeof(hid_t));
SAME(sizeof(int), sizeof(herr_t));
SAME(sizeof(int), sizeof(htri_t));
SAME(sizeof(bool), sizeof(hbool_t));
SAME(sizeof(uint64_t), sizeof(hsize_t));
SAME(sizeof(int), sizeof(H5T_class_t));
SAME(sizeof(int), sizeof(H5D_fill_value_t));
SAME(sizeof(int), sizeof(H5D_fill_time_t));
SAME(sizeof(struct h5twin_hdf5_class), sizeof(H5Z_class2_t));
SAME_FIELD(version, version);
SAME_FIELD(id, id);
SAME_FIELD(encoder_present, encoder_present);
SAME_FIELD(decoder_present, decoder_present);
SAME_FIELD(name, name);
SAME_FIELD(can_apply, can_apply);
SAME_FIELD(set_local, set_local);
SAME_FIELD(filter, filter);
SAME(H5TWIN_HDF5_CLASS_VERSION, H5Z_CLASS_T_VERS);
SAME(H5TWIN_HDF5_FLAG_OPTIONAL, H5Z_FLAG_OPTIONAL);
SAME(H5TWIN_HDF5_FLAG_REVERSE, H5Z_FLAG_REVERSE);
SAME(H5TWIN_HDF5_INTEGER, H5T_INTEGER);
SAME(H5TWIN_HDF5_FLOAT, H5T_FLOAT);
SAME(H5TWIN_HDF5_COMPOUND, H5T_COMPOUND);
SAME(H5TWIN_HDF5_ARRAY, H5T_ARRAY);
#if H5_VERSION_GE(2, 0, 0)
SAME(H5TWIN_HDF5_COMPLEX, H5T_COMPLEX);
#endif
SAME(H5TWIN_HDF5_ORDER_LE, H5T_ORDER_LE);
SAME(H5TWIN_HDF5_ORDER_BE, H5T_ORDER_BE);
SAME(H5TWIN_HDF5_NORM_IMPLIED, H5T_NORM_IMPLIED);
SAME(H5TWIN_HDF5_DEFAULT_STACK, H5E_DEFAULT);
SAME(H5TWIN_HDF5_ERROR_MAJOR, H5E_MAJOR);
SAME(H5TWIN_HDF5_ERROR_MINOR, H5E_MINOR);
SAME(H5TWIN_HDF5_MAX_RANK, H5S_MAX_RANK);
SAME(H5TWIN_HDF5_PLUGIN_FILTER, H5PL_TYPE_FILTER);
SAME(H5TWIN_HDF5_FILL_TIME_NEVER, H5D_FILL_TIME_NEVER);
SAME(H5TWIN_HDF5_FILL_USER_DEFINED, H5D_FILL_VALUE_USER_DEFINED);
SAME(sizeof(struct h5twin_hdf5_error), sizeof(H5E_error2_t));
SAME(offsetof(struct h5twin_hdf5_error, minor), offsetof(H5E_error2_t, min_num));
SAME(offsetof(struct h5twin_hdf5_error, line), offsetof(H5E_error2_t, line));
SAME(offsetof(struct h5twin_hdf5_error, function), offsetof(H5E_error2_t, func_name));
SAME(offsetof(struct h5twin_hdf5_error, text), offsetof(H5E_error2_t, desc));
SAME(sizeof(h5twin_hdf5_report), sizeof(H5E_auto2_t));
SAME(sizeof(ptrdiff_t), sizeof(ssize_t));
SAME(H5TWIN_HDF5_WALK_UPWARD, H5E_WALK_UPWARD);
SAME(H5TWIN_HDF5_DEFAULT_LIST, H5P_DEFAULT);
SAME(H5TWIN_HDF5_ALL, H5S_ALL);
#ifdef H5S_BLOCK
SAME(H5TWIN_HDF5_BLOCK, H5S_BLOCK);
#endif
SAME(H5TWIN_HDF5_CHUNKED, H5D_CHUNKED);
SAME(H5TWIN_HDF5_DONT_FILTER_EDGES, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
SAME(H5TWIN_HDF5_ALLOC_LATE, H5D_ALLOC_TIME_LATE);
SAME(H5TWIN_HDF5_FILL_TIME_ALLOC, H5D_FILL_TIME_ALLOC);
SAME(H5TWIN_HDF5_FILL_UNDEFINED, H5D_FILL_VALUE_UNDEFINED);
SAME(H5TWIN_HDF5_STRING, H5T_STRING);
SAME(H5TWIN_HDF5_REFERENCE, H5T_REFERENCE);
SAME(H5TWIN_HDF5_VARIABLE_LENGTH, H5T_VLEN);
SAME(H5TWIN_HDF5_SELECT_SET, H5S_SELECT_SET);
SAME(H5TWIN_HDF5_SELECTION_HYPERSLABS, H5S_SEL_HYPERSLABS);
SAME(H5TWIN_HDF5_SELECTION_ALL, H5S_SEL_ALL);
SAME(H5TWIN_HDF5_UNDEFINED_ADDRESS, HADDR_UNDEF);

int
main(void)
{
    return H5TWIN_HDF5_READ_WRITE == H5F_ACC_RDWR ? 0 : 1; /* no constant to the compiler */
}
