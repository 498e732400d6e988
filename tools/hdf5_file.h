/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_file.h: the datasets of an HDF5 file. The only header here that shows HDF5. */
#ifndef H5TWIN_TOOLS_HDF5_FILE_H
#define H5TWIN_TOOLS_HDF5_FILE_H

#ifdef H5TWIN_HDF5_AT_RUN_TIME
#    include "hdf5_declarations.h"
#else
#    define H5_USE_110_API /* the calls as 1.10 knows them, in later releases too */
#    include <hdf5.h>
#endif

#include "h5twin.h"

/* Open for reading, with HDF5's own printing of errors off. Negative after a message. */
hid_t h5twin_hdf5_open(const char *path);

/* The same, but what HDF5 says is left for h5twin_hdf5_why(). */
hid_t h5twin_hdf5_open_silently(const char *path);

/* Whether there is an HDF5 to open files with: else a message said what to do, once one was to be
 * opened. */
bool h5twin_hdf5_is_here(void);

/* What HDF5's error stack says, which is cleared. */
#define H5TWIN_WHY_TEXT 256
void h5twin_hdf5_why(char why[H5TWIN_WHY_TEXT]);

/* Tell the user what HDF5's error stack says, before any other call clears it; returns
 * H5TWIN_EXIT_FAILED. */
int h5twin_hdf5_fail(const char *path, const char *dataset, const char *action);

/* Called for each dataset, with its full name. Returns 0 to go on, else what h5twin_hdf5_each()
 * then returns. */
typedef int (*h5twin_dataset_visit)(void *context, hid_t dataset, const char *name);

/* Each dataset of the file once. What each returned, or -1 if HDF5 failed. */
int h5twin_hdf5_each(hid_t file, h5twin_dataset_visit each, void *context);

/* An element as the codecs see it: kind, element_size, big_endian. */
void h5twin_hdf5_element(struct h5twin_params *params, hid_t dataset);

/* Whether the type is one float, or several of the same and nothing else, as complex numbers are: a
 * lossy filter sees those as floats, too. Then *size, in bytes, and *order are of one. */
bool h5twin_hdf5_is_floats(hid_t type, size_t *size, H5T_order_t *order);

/* "f32", "i16be", "compound of 24 bytes". */
#define H5TWIN_ELEMENT_TEXT 64
const char *h5twin_hdf5_element_text(hid_t dataset, char text[H5TWIN_ELEMENT_TEXT]);

/* "64x128x128", "scalar". Ranks up to HDF5's 32. */
#define H5TWIN_SHAPE_TEXT (32 * 21)
const char *h5twin_hdf5_shape_text(int rank, const hsize_t *dims, char text[H5TWIN_SHAPE_TEXT]);

/* The codec of this filter, NULL if it is not ours. */
const struct h5twin_codec_info *h5twin_hdf5_codec(H5Z_filter_t filter_id);

/* Bytes of all elements. */
uint64_t h5twin_hdf5_raw_size(hid_t dataset);

/* Whether elements have parts of variable length. */
bool h5twin_hdf5_is_variable(hid_t type);

/* What an element is that was never written: the fill value, or zeros where none is defined, in
 * `element`, of the type's size. *by_hdf5: whether HDF5 reads it as that; else it leaves the
 * caller's buffer as it is. Zeros for what is of variable length. False if HDF5 fails. */
bool h5twin_hdf5_unwritten(hid_t dcpl, hid_t type, uint8_t *element, bool *by_hdf5);

/* Fill all of an array with one element; size is a multiple of element_size. */
void h5twin_hdf5_fill(uint8_t *values, size_t size, const uint8_t *element, size_t element_size);

/* Bytes of the file that a dataset is in; 0 if HDF5 does not tell. */
uint64_t h5twin_hdf5_file_size(hid_t dataset);

/* Tell if the shape of the chunks is not what our filter was told when the dataset was made: one of
 * the two is damaged, and HDF5 would read beyond its buffers, or put values in wrong places. Exit
 * code. To be called before any chunk is read. */
int h5twin_hdf5_check_chunks(hid_t dataset, const char *path, const char *name);

/* Tell if HDF5 reads other values from the first or last stored chunk than our filter alone makes
 * of it, as where the size of an element in the layout has changed. For floats and integers whose
 * only filter is ours; other datasets pass. Costs memory for that chunk twice, and what is stored
 * of it. Exit code. After h5twin_hdf5_check_chunks(). */
int h5twin_hdf5_check_end_chunks(hid_t dataset, const char *path, const char *name);

/* The two questions alone, without a message: whether all is right. */
bool h5twin_hdf5_chunks_are_right(hid_t dataset);
bool h5twin_hdf5_end_chunks_are_right(hid_t dataset);

/* Both, and tell which filter is missing: HDF5 would only say where it looked for plugins last.
 * Exit code. */
int h5twin_hdf5_check_filters(hid_t dataset, const char *path, const char *name);

#endif
