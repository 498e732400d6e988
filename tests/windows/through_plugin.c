/* SPDX-License-Identifier: BSD-3-Clause
 * through_plugin.c: `through_plugin FILE`: the HDF5 that H5TWIN_HDF5 names writes a dataset through
 * each plugin in HDF5_PLUGIN_PATH, and reads it back. */
#include "h5twin.h"
#include "hdf5_declarations.h"
#include "hdf5_loaded.h"
#include "shared_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES 20000
#define CHUNK  5000

static double values[VALUES], back[VALUES];
static hid_t file_id, type, space;

static hid_t
identifier(const char *name)
{
    hid_t id = -1;
    void *const library = h5twin_shared_open(getenv("H5TWIN_HDF5"));
    const hid_t *const variable = h5twin_shared_symbol(library, name);
    if (variable != NULL) {
        memcpy(&id, variable, sizeof id);
    }
    return id;
}

static bool
write_and_read(const struct h5twin_codec_info *codec)
{
    const hid_t dcpl = H5Pcreate(identifier("H5P_CLS_DATASET_CREATE_ID_g"));
    const hsize_t chunk = CHUNK;
    H5Pset_chunk(dcpl, 1, &chunk);
    memset(back, 0, sizeof back);
    if (H5Pset_filter(dcpl, (H5Z_filter_t)codec->filter_id, H5Z_FLAG_MANDATORY, 0, NULL) < 0) {
        return false;
    }
    const hid_t dataset =
        H5Dcreate2(file_id, codec->name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    const bool good = dataset >= 0 && H5Dwrite(dataset, type, 0, 0, H5P_DEFAULT, values) >= 0 &&
                      H5Fflush(file_id, H5F_SCOPE_LOCAL) >= 0 &&
                      H5Dget_storage_size(dataset) < sizeof values;
    H5Dclose(dataset); /* and its cache */
    const hid_t again = H5Dopen2(file_id, codec->name, H5P_DEFAULT);
    const bool same = good && H5Dread(again, type, 0, 0, H5P_DEFAULT, back) >= 0 &&
                      memcmp(values, back, sizeof back) == 0;
    H5Dclose(again);
    H5Pclose(dcpl);
    return same;
}

int
main(int argc, char **argv)
{
    const hsize_t dims = VALUES;
    int failed = 0;
    if (argc != 2 || !h5twin_hdf5_load(argv[1])) {
        return 2;
    }
    for (int i = 0; i < VALUES; i++) {
        values[i] = 300 + (i % 100) * 0.25;
    }
    file_id = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    type = identifier("H5T_IEEE_F64LE_g");
    space = H5Screate_simple(1, &dims, NULL);
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const bool good = write_and_read(h5twin_codec_at(i));
        printf("%s: %s\n", h5twin_codec_at(i)->name, good ? "as it was" : "FAILED");
        failed += !good;
    }
    H5Sclose(space);
    return H5Fclose(file_id) < 0 || failed != 0;
}
