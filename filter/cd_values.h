/* SPDX-License-Identifier: BSD-3-Clause
 * cd_values.h: the filter's parameters in a file <-> struct h5twin_params. CD_VALUES.md is the
 * authority; cd_values.c is the only code that knows which word is what. */
#ifndef H5TWIN_CD_VALUES_H
#define H5TWIN_CD_VALUES_H

#include "h5twin.h"

/* Most that are ever stored: h5py before 3.16 returns garbage beyond. */
#define H5TWIN_CD_MAX 16

/* What cd_values say. */
struct h5twin_cd {
    struct h5twin_params params; /* without has_array: bytes of unknown shape */
    bool has_array;              /* they describe the array too: set_local has seen the dataset */
    size_t chunk_size;           /* bytes that one chunk decodes to; 0 without has_array */
    bool is_first;               /* of the pipeline: each chunk decodes to just chunk_size bytes */
    char sentence[320];          /* why they were refused, where that takes numbers */
};

/* Read the user's form (0..5 words, or 7) or the stored form. What is local to a dataset
 * (words 6..) may be damaged: then has_array is false. On a failure *why is a sentence with cause
 * and cure, constant or in *cd; what the words say of the array is read all the same. */
enum h5twin_status h5twin_cd_read(struct h5twin_cd *cd, enum h5twin_codec_id codec,
                                  const unsigned *cd_values, size_t cd_count, const char **why);

/* Write the stored form: returns the word count. */
size_t h5twin_cd_write(unsigned cd_values[H5TWIN_CD_MAX], const struct h5twin_cd *cd);

/* Give cd->params the array that HDF5 describes: drops axes of one element, adds an innermost one
 * if an element is count values of element_size bytes, folds the slowest ones for which there are
 * no words. The fills in cd->params and cd->is_first must be set before; is_first is cleared if the
 * chunk's size cannot be told. */
void h5twin_cd_set_array(struct h5twin_cd *cd, enum h5twin_kind kind, size_t element_size,
                         bool big_endian, size_t count, unsigned rank, const uint64_t *dims);

#endif
