/* SPDX-License-Identifier: BSD-3-Clause
 * image.c: see image.h. HDF5's core driver asks for memory by callbacks; ours keep it when the
 * driver lets go of it. */
#include "image.h"

#include <stdlib.h>
#include <string.h>

#define INCREMENT 4096 /* bytes by which the driver lets the file grow */

static void *
allocate(size_t size, H5FD_file_image_op_t operation, void *context)
{
    (void)operation;
    (void)context;
    return malloc(size);
}

static void *
copy(void *dst, const void *src, size_t size, H5FD_file_image_op_t operation, void *context)
{
    (void)operation;
    (void)context;
    return memcpy(dst, src, size);
}

/* The driver asks for every INCREMENT: half as much again at a time, so that little is moved. */
static void *
grow(void *bytes, size_t size, H5FD_file_image_op_t operation, void *context)
{
    struct image *const image = context;
    (void)operation;
    if (bytes != image->bytes) {
        return NULL;
    }
    if (size > image->capacity) {
        const size_t half_more = image->capacity + image->capacity / 2;
        const size_t capacity = size > half_more ? size : half_more;
        uint8_t *larger = realloc(image->bytes, capacity);
        image->capacity = larger == NULL ? size : capacity;
        if (larger == NULL && (larger = realloc(image->bytes, size)) == NULL) {
            return NULL;
        }
        image->bytes = larger;
    }
    image->size = size;
    return image->bytes;
}

static herr_t
keep(void *bytes, H5FD_file_image_op_t operation, void *context)
{
    (void)bytes;
    (void)operation;
    (void)context;
    return 0;
}

static void *
same_context(void *context)
{
    return context;
}

static herr_t
leave_context(void *context)
{
    (void)context;
    return 0;
}

hid_t
h5twin_image_create(struct image *image, const char *name)
{
    *image = (struct image){.bytes = NULL};
    H5FD_file_image_callbacks_t callbacks = {allocate,     copy,          grow, keep,
                                             same_context, leave_context, image};
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), fcpl = H5Pcreate(H5P_FILE_CREATE);
    hid_t file = H5I_INVALID_HID;
    /* Versions of HDF5's structures that have checksums, so that damage is noticed. */
    if (H5Pset_fapl_core(fapl, INCREMENT, false) >= 0 &&
        H5Pset_file_image_callbacks(fapl, &callbacks) >= 0 &&
        H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0 &&
        H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG) >= 0 &&
        H5Pset_obj_track_times(fcpl, false) >= 0) { /* the same state makes the same bytes */
        file = H5Fcreate(name, H5F_ACC_TRUNC, fcpl, fapl);
    }
    H5Pclose(fcpl);
    H5Pclose(fapl);
    if (file < 0) {
        h5twin_image_free(image);
    }
    return file;
}

bool
h5twin_image_finish(struct image *image, hid_t file)
{
    if (H5Fclose(file) < 0 || image->bytes == NULL) {
        h5twin_image_free(image);
        return false;
    }
    return true;
}

void
h5twin_image_free(struct image *image)
{
    free(image->bytes);
    *image = (struct image){.bytes = NULL};
}
