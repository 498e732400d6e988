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

/* H5Z_class3_t's number in the same field, where there is such a class. */
#define H5TWIN_HDF5_CLASS3_VERSION 2

/* H5E_error2_t; H5E_auto2_t and H5E_walk2_t. */
struct h5twin_hdf5_error {
    h5twin_hid class_id, major, minor;
    unsigned line;
    const char *function, *file, *text;
};
typedef int (*h5twin_hdf5_report)(h5twin_hid stack, void *context);
typedef int (*h5twin_hdf5_error_visit)(unsigned depth, const struct h5twin_hdf5_error *error,
                                       void *context);
#define H5TWIN_HDF5_WALK_UPWARD 0 /* from the function that failed */

/* Datasets, their selections and transfers (H5Dpublic.h, H5Spublic.h, H5Ppublic.h). */
#define H5TWIN_HDF5_DEFAULT_LIST         0 /* H5P_DEFAULT */
#define H5TWIN_HDF5_ALL                  0 /* H5S_ALL */
#define H5TWIN_HDF5_BLOCK                1 /* H5S_BLOCK, from 1.14 on */
#define H5TWIN_HDF5_CHUNKED              2
#define H5TWIN_HDF5_VIRTUAL              3
#define H5TWIN_HDF5_DONT_FILTER_EDGES    2u
#define H5TWIN_HDF5_READ_WRITE           1u /* H5F_ACC_RDWR */
#define H5TWIN_HDF5_ALLOC_LATE           2
#define H5TWIN_HDF5_FILL_TIME_ALLOC      0
#define H5TWIN_HDF5_FILL_UNDEFINED       0
#define H5TWIN_HDF5_STRING               3
#define H5TWIN_HDF5_REFERENCE            7
#define H5TWIN_HDF5_VARIABLE_LENGTH      9
#define H5TWIN_HDF5_SELECT_SET           0
#define H5TWIN_HDF5_SELECTION_HYPERSLABS 2
#define H5TWIN_HDF5_SELECTION_ALL        3
#define H5TWIN_HDF5_UNDEFINED_ADDRESS    UINT64_MAX
#define H5TWIN_HDF5_COLLECTIVE           1 /* H5FD_MPIO_COLLECTIVE */

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

/* H5Z_class3_t, which comes with HDF5 3: as its developers have published it, no release has it
 * yet. The name is made of letters, digits and _ . - only; text for people is the description.
 * Parameters can be TOML, in both directions: set_config is called with cd_values NULL to ask for
 * their number, get_config with text NULL for the length, *size being the room for the text with
 * its ending zero, and its length without afterwards. */
struct h5twin_hdf5_class3 {
    int version;
    int id;
    unsigned encoder_present, decoder_present;
    const char *name;
    const char *description;
    int (*can_apply)(h5twin_hid dcpl, h5twin_hid type, h5twin_hid space);
    int (*set_local)(h5twin_hid dcpl, h5twin_hid type, h5twin_hid space);
    size_t (*filter)(unsigned flags, size_t cd_count, const unsigned cd_values[], h5twin_hid dxpl,
                     const uint64_t *chunk_place, size_t rank, size_t src_size, size_t *buffer_size,
                     void **buffer);
    int (*set_config)(const char *text, unsigned *flags, size_t *cd_count, unsigned cd_values[],
                      size_t cd_capacity);
    int (*get_config)(unsigned flags, size_t cd_count, const unsigned cd_values[], char *text,
                      size_t *size);
};

/* The codec's class of that kind. NULL if there is no such codec. */
const struct h5twin_hdf5_class3 *h5twin_hdf5_class3(int codec);

/* h5twin_hdf5.h declares it for programs. */
const void *h5twin_hdf5_class_for(int codec, const void *return_address);

#endif
