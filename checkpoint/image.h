/* SPDX-License-Identifier: BSD-3-Clause
 * image.h: an HDF5 file that is made in memory, and whose bytes are then ours.
 *
 * HDF5 never sees the disk, so that a full one, or a failing one, cannot leave a file that HDF5
 * can neither write nor close; and what a thread writes to the disk needs no HDF5. */
#ifndef H5TWIN_CHECKPOINT_IMAGE_H
#define H5TWIN_CHECKPOINT_IMAGE_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image {
    uint8_t *bytes; /* HDF5's while the file is open; malloc'ed */
    size_t size;    /* of the file, with up to 4 KiB of zeros at its end */
    size_t capacity;
};

/* A new file whose bytes go to *image, which stays where it is until the file is closed. name need
 * not exist, and is not made. Negative on failure; then *image is empty. */
hid_t h5twin_image_create(struct image *image, const char *name);

/* Close the file: then image->bytes holds it. False on failure; then *image is empty. */
bool h5twin_image_finish(struct image *image, hid_t file);

/* Free what h5twin_image_finish left. */
void h5twin_image_free(struct image *image);

#endif
