/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_abi.h: the few HDF5 types and constants that a filter needs, declared anew.
 *
 * Building needs no HDF5 headers, and one binary serves every HDF5 from 1.10 on: the structures and
 * numbers below have not changed since (hid_t has 64 bits from 1.10). Names are our own, so that a
 * test can include hdf5.h as well and compare: tests/unit/test_hdf5_abi.c. */
#ifndef H5TWIN_HDF5_ABI_H
#define H5TWIN_HDF5_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t h5twin_hid; /* hid_t; negative: error */

/* Filter flags and class version (H5Zpublic.h). */
#define H5TWIN_HDF5_CLASS_VERSION 1
#define H5TWIN_HDF5_FLAG_OPTIONAL 0x0001u
#define H5TWIN_HDF5_FLAG_REVERSE  0x0100u

/* Type classes (H5Tpublic.h). */
#define H5TWIN_HDF5_INTEGER  0
#define H5TWIN_HDF5_FLOAT    1
#define H5TWIN_HDF5_COMPOUND 6
#define H5TWIN_HDF5_ARRAY    10
#define H5TWIN_HDF5_COMPLEX  11 /* from 2.0 */

/* Byte orders and mantissa normalisation (H5Tpublic.h). */
#define H5TWIN_HDF5_ORDER_LE     0
#define H5TWIN_HDF5_ORDER_BE     1
#define H5TWIN_HDF5_NORM_IMPLIED 0

/* Error stacks and messages (H5Epublic.h). */
#define H5TWIN_HDF5_DEFAULT_STACK 0
#define H5TWIN_HDF5_ERROR_MAJOR   0
#define H5TWIN_HDF5_ERROR_MINOR   1

/* Ranks that a dataspace can have (H5Spublic.h), members of an array type likewise. */
#define H5TWIN_HDF5_MAX_RANK 32

/* When a dataset's unwritten values are filled, and with what (H5Dpublic.h). */
#define H5TWIN_HDF5_FILL_TIME_NEVER   1
#define H5TWIN_HDF5_FILL_USER_DEFINED 2

/* What H5PLget_plugin_type answers (H5PLextern.h). */
#define H5TWIN_HDF5_PLUGIN_FILTER 0

/* H5Z_class2_t. */
struct h5twin_hdf5_class {
    int version;
    int id;
    unsigned encoder_present, decoder_present;
    const char *name;
    int (*can_apply)(h5twin_hid dcpl, h5twin_hid type, h5twin_hid space);
    int (*set_local)(h5twin_hid dcpl, h5twin_hid type, h5twin_hid space);
    size_t (*filter)(unsigned flags, size_t cd_count, const unsigned cd_values[], size_t src_size,
                     size_t *buffer_size, void **buffer);
};

#endif
