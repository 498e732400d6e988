/* SPDX-License-Identifier: BSD-3-Clause
 * said.h: the attributes in which a dataset says that it was coded with loss: `h5twin repack`
 * writes them, `h5twin explain FILE` reads them. */
#ifndef H5TWIN_TOOLS_SAID_H
#define H5TWIN_TOOLS_SAID_H

#include "hdf5_file.h"

#define H5TWIN_SAID_SPEC           "lossy_compression"
#define H5TWIN_SAID_IMPLEMENTATION "lossy_compression_implementation"
/* Bounds, doubles: of |x - x'|, of the same over max - min, and over |x|. */
#define H5TWIN_SAID_ABS "lossy_compression_maximum_absolute_error"
#define H5TWIN_SAID_NOA "lossy_compression_maximum_range_relative_error"
#define H5TWIN_SAID_REL "lossy_compression_maximum_relative_error"

struct h5twin_said {
    char spec[512];           /* empty: nothing is said */
    char implementation[128]; /* "h5twin version 0.1.0 (HDF5 filter 486)" */
    bool has_abs;
    double abs;
};

/* What a dataset says; what cannot be read is not said. */
void h5twin_said_read(struct h5twin_said *said, hid_t dataset);

/* The text of an attribute, of the first string in it; false if there is none, or it is no text. */
bool h5twin_attribute_text(hid_t object, const char *name, char *text, size_t capacity);

#endif
