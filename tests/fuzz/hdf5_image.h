/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_image.h: HDF5 files in memory, for the fuzzers that go through the real library. */
#ifndef H5TWIN_TESTS_HDF5_IMAGE_H
#define H5TWIN_TESTS_HDF5_IMAGE_H

#define H5_USE_110_API
#include "h5twin_hdf5.h"

#include "fuzz.h"

struct hdf5_image {
    uint8_t *at; /* free() it */
    size_t size;
};

/* Our filters are known, and HDF5 prints nothing. Done once, however often it is called. */
void hdf5_image_begin(void);

/* A new file, or one opened from its bytes (which stay the caller's); one at a time. Nothing goes
 * to a disk. */
hid_t hdf5_image_create(bool latest);
hid_t hdf5_image_open(const struct hdf5_image *image, unsigned flags);

/* Close it; the file's bytes. */
struct hdf5_image hdf5_image_close(hid_t file);

/* Where the bytes of the last file lie, for what opens it by its name. */
const char *hdf5_image_path(void);

/* Whether a sentence of ours is on the error stack, which is then cleared. */
bool hdf5_image_said_why(void);

#endif
