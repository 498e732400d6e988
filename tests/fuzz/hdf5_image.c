/* SPDX-License-Identifier: BSD-3-Clause
 * hdf5_image.c: see hdf5_image.h. */
#include "hdf5_image.h"

#include <fcntl.h>
#include <unistd.h>

/* Not HDF5's own driver for files in memory: it gives their bytes only while they are open, and
 * marked as such, so that they would not open again. */
static int memory = -1; /* a file of a file system in memory */
static char path[64];

static void
remove_memory(void)
{
    remove(path);
}

void
hdf5_image_begin(void)
{
    if (memory >= 0) {
        return;
    }
    FUZZ_REQUIRE(H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0);
    FUZZ_REQUIRE(h5twin_hdf5_register() >= 0);
    const char *const folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(path, sizeof path, "%s/h5twin_fuzz.%ld", folder, (long)getpid());
    memory = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    FUZZ_REQUIRE(memory >= 0 && atexit(remove_memory) == 0);
}

hid_t
hdf5_image_create(bool latest)
{
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (latest) {
        H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    }
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    FUZZ_REQUIRE(file >= 0);
    H5Pclose(fapl);
    return file;
}

hid_t
hdf5_image_open(const struct hdf5_image *image, unsigned flags)
{
    FUZZ_REQUIRE(ftruncate(memory, 0) == 0 &&
                 pwrite(memory, image->at, image->size, 0) == (ssize_t)image->size);
    return H5Fopen(path, flags, H5P_DEFAULT);
}

struct hdf5_image
hdf5_image_close(hid_t file)
{
    FUZZ_REQUIRE(H5Fclose(file) >= 0);
    const off_t size = lseek(memory, 0, SEEK_END);
    FUZZ_REQUIRE(size > 0);
    struct hdf5_image image = {.at = malloc((size_t)size), .size = (size_t)size};
    FUZZ_REQUIRE(image.at != NULL && pread(memory, image.at, image.size, 0) == (ssize_t)size);
    return image;
}

const char *
hdf5_image_path(void)
{
    return path;
}

static herr_t
find_sentence(unsigned level, const H5E_error2_t *error, void *found)
{
    (void)level;
    if (error->desc != NULL && strncmp(error->desc, "h5twin ", 7) == 0) {
        *(bool *)found = true;
    }
    return 0;
}

bool
hdf5_image_said_why(void)
{
    bool found = false;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_sentence, &found);
    H5Eclear2(H5E_DEFAULT);
    return found;
}
