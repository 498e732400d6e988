/* SPDX-License-Identifier: BSD-3-Clause
 * checkpoint.c: see checkpoint.h. */
#include "checkpoint.h"
#include "checkpoint_folder.h"

#include <h5twin_hdf5.h>

#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_PATH   1024
#define CHUNK_SIDE 64u /* cells: 2 MiB of doubles, within HDF5 and h5twin a good size */

static double
wall_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Any kind of HDF5 id, or a negative one. */
static void
release(hid_t id)
{
    if (id >= 0) {
        H5Idec_ref(id);
    }
}

/* Files whose open datasets go with them, so that an error half-way leaves nothing behind. A new
 * one must not exist: not as a link to somewhere else, nor as what another process is writing. */
static hid_t
open_file(const char *path, bool create)
{
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG);
    const hid_t file = create ? H5Fcreate(path, H5F_ACC_EXCL, H5P_DEFAULT, fapl)
                              : H5Fopen(path, H5F_ACC_RDONLY, fapl);
    H5Pclose(fapl);
    return file;
}

/* ---- attributes of the root group ---- */

static int
write_attribute(hid_t file, const char *name, hid_t type, const void *value)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const herr_t status = attribute < 0 ? -1 : H5Awrite(attribute, type, value);
    release(attribute);
    release(space);
    return status < 0 ? -1 : 0;
}

static int
read_attribute(hid_t file, const char *name, hid_t type, void *value)
{
    const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    const herr_t status = attribute < 0 ? -1 : H5Aread(attribute, type, value);
    release(attribute);
    return status < 0 ? -1 : 0;
}

static int
write_state(hid_t file, const struct gray_scott *sim, uint64_t serial)
{
    const uint64_t hash = gray_scott_hash(sim), side = sim->side;
    return write_attribute(file, "serial", H5T_NATIVE_UINT64, &serial) ||
                   write_attribute(file, "step", H5T_NATIVE_UINT64, &sim->step) ||
                   write_attribute(file, "side", H5T_NATIVE_UINT64, &side) ||
                   write_attribute(file, "state_hash", H5T_NATIVE_UINT64, &hash) ||
                   write_attribute(file, "Du", H5T_NATIVE_DOUBLE, &sim->model.diffusion_u) ||
                   write_attribute(file, "Dv", H5T_NATIVE_DOUBLE, &sim->model.diffusion_v) ||
                   write_attribute(file, "F", H5T_NATIVE_DOUBLE, &sim->model.feed) ||
                   write_attribute(file, "k", H5T_NATIVE_DOUBLE, &sim->model.kill) ||
                   write_attribute(file, "dt", H5T_NATIVE_DOUBLE, &sim->model.time_step)
               ? -1
               : 0;
}

/* ---- datasets ---- */

static hid_t
memory_type(const struct checkpoint_field *field)
{
    return field->is_double ? H5T_NATIVE_DOUBLE : H5T_NATIVE_FLOAT;
}

/* Equal chunks of at most CHUNK_SIDE cells per axis, whole along the components. */
static hid_t
make_dcpl(const struct gray_scott *sim, const struct checkpoint_field *field, int rank)
{
    const size_t pieces = (sim->side + CHUNK_SIDE - 1) / CHUNK_SIDE;
    const hsize_t edge = (sim->side + pieces - 1) / pieces;
    const hsize_t chunk[4] = {edge, edge, edge, field->components};
    const hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    if (H5Pset_chunk(dcpl, rank, chunk) < 0 || H5Pset_h5twin(dcpl, field->spec) < 0) {
        release(dcpl);
        return H5I_INVALID_HID;
    }
    return dcpl;
}

static hid_t
create_dataset(hid_t file, const struct gray_scott *sim, const struct checkpoint_field *field)
{
    const hsize_t dims[4] = {sim->side, sim->side, sim->side, field->components};
    const int rank = field->components == 1 ? 3 : 4;
    const hid_t space = H5Screate_simple(rank, dims, NULL);
    const hid_t lcpl = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(lcpl, 1);
    const hid_t dcpl = make_dcpl(sim, field, rank);
    const hid_t dataset = dcpl < 0 ? H5I_INVALID_HID
                                   : H5Dcreate2(file, field->name, memory_type(field), space, lcpl,
                                                dcpl, H5P_DEFAULT);
    release(dcpl);
    release(lcpl);
    release(space);
    return dataset;
}

static int
write_field(hid_t file, const struct gray_scott *sim, struct checkpoint_field *field)
{
    const hid_t dataset = create_dataset(file, sim, field);
    if (dataset < 0) {
        return -1;
    }
    const double start = wall_seconds();
    herr_t status =
        H5Dwrite(dataset, memory_type(field), H5S_ALL, H5S_ALL, H5P_DEFAULT, field->values);
    if (status >= 0) {
        status = H5Dflush(dataset); /* chunks may wait in HDF5's cache until now */
    }
    field->write_seconds = wall_seconds() - start;
    field->raw_size = (double)(sim->cell_count * field->components * (field->is_double ? 8 : 4));
    field->stored_size = (double)H5Dget_storage_size(dataset);
    release(dataset);
    return status < 0 ? -1 : 0;
}

static int
read_field(hid_t file, const char *name, hid_t type, void *values, size_t value_count)
{
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t space = dataset < 0 ? H5I_INVALID_HID : H5Dget_space(dataset);
    herr_t status = -1;
    if (space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)value_count) {
        status = H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    }
    release(space);
    release(dataset);
    return status < 0 ? -1 : 0;
}

/* ---- write ---- */

/* To the disk itself: a rename that survives a power failure before its data is worth nothing. */
static int
sync_path(const char *path, int flags)
{
    const int descriptor = open(path, flags);
    if (descriptor < 0) {
        return -1;
    }
    const int status = fsync(descriptor);
    close(descriptor);
    return status;
}

static void
folder_of(char *folder, size_t capacity, const char *path)
{
    const char *const slash = strrchr(path, '/');
    const int length = slash == NULL ? 1 : slash == path ? 1 : (int)(slash - path);
    snprintf(folder, capacity, "%.*s", length, slash == NULL ? "." : path);
}

static int
write_content(const char *path, const struct gray_scott *sim, uint64_t serial,
              struct checkpoint_field *fields, size_t field_count)
{
    const int complete = 1;
    const hid_t file = open_file(path, true);
    if (file < 0) {
        return -1;
    }
    int status = write_state(file, sim, serial);
    for (size_t i = 0; i < field_count && status == 0; i++) {
        status = write_field(file, sim, &fields[i]);
    }
    if (status == 0) { /* all is in the file before the mark is */
        status = H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 ||
                         write_attribute(file, "complete", H5T_NATIVE_INT, &complete)
                     ? -1
                     : 0;
    }
    return H5Fclose(file) < 0 ? -1 : status;
}

int
checkpoint_write(const char *path, const struct gray_scott *sim, struct checkpoint_field *fields,
                 size_t field_count)
{
    char temporary[MAX_PATH], folder[MAX_PATH];
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    folder_of(folder, sizeof folder, path);
    const uint64_t serial = checkpoint_folder_newest(folder) + 1;
    remove(temporary); /* of a run that was killed */
    if (write_content(temporary, sim, serial, fields, field_count) != 0 ||
        sync_path(temporary, O_RDWR) != 0 || rename(temporary, path) != 0 ||
        sync_path(folder, O_RDONLY | O_DIRECTORY) != 0) {
        fprintf(stderr, "cannot write %s: is the disk full?\n", path);
        remove(temporary);
        return -1;
    }
    return 0;
}

/* ---- verify ---- */

static double
value_at(const struct checkpoint_field *field, const void *values, size_t index)
{
    return field->is_double ? ((const double *)values)[index]
                            : (double)((const float *)values)[index];
}

static void
compare(struct checkpoint_field *field, const void *decoded, size_t value_count)
{
    double min = INFINITY, max = -INFINITY;
    field->max_error = 0;
    for (size_t i = 0; i < value_count; i++) {
        const double value = value_at(field, field->values, i);
        field->max_error = fmax(field->max_error, fabs(value_at(field, decoded, i) - value));
        min = fmin(min, value);
        max = fmax(max, value);
    }
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_SLEEK);
    h5twin_params_parse(&params, field->spec, NULL);
    field->bound = params.mode == H5TWIN_ABS   ? params.error_bound
                   : params.mode == H5TWIN_NOA ? params.error_bound * (max - min)
                                               : 0;
}

int
checkpoint_verify(const char *path, const struct gray_scott *sim, struct checkpoint_field *fields,
                  size_t field_count)
{
    const hid_t file = open_file(path, false);
    int status = file < 0 ? -1 : 0;
    for (size_t i = 0; i < field_count && status == 0; i++) {
        const size_t value_count = sim->cell_count * fields[i].components;
        void *const decoded = malloc((size_t)fields[i].raw_size);
        const double start = wall_seconds();
        status = decoded == NULL ? -1
                                 : read_field(file, fields[i].name, memory_type(&fields[i]),
                                              decoded, value_count);
        fields[i].read_seconds = wall_seconds() - start;
        if (status == 0) {
            compare(&fields[i], decoded, value_count);
            status = fields[i].max_error <= fields[i].bound ? 0 : -1;
        }
        free(decoded);
    }
    release(file);
    return status;
}

/* ---- restart ---- */

static int
read_state(hid_t file, struct gray_scott *sim)
{
    struct gray_scott_model *const model = &sim->model;
    uint64_t hash;
    if (read_attribute(file, "step", H5T_NATIVE_UINT64, &sim->step) ||
        read_attribute(file, "Du", H5T_NATIVE_DOUBLE, &model->diffusion_u) ||
        read_attribute(file, "Dv", H5T_NATIVE_DOUBLE, &model->diffusion_v) ||
        read_attribute(file, "F", H5T_NATIVE_DOUBLE, &model->feed) ||
        read_attribute(file, "k", H5T_NATIVE_DOUBLE, &model->kill) ||
        read_attribute(file, "dt", H5T_NATIVE_DOUBLE, &model->time_step) ||
        read_attribute(file, "state_hash", H5T_NATIVE_UINT64, &hash) ||
        read_field(file, "restart/U", H5T_NATIVE_DOUBLE, sim->u, sim->cell_count) ||
        read_field(file, "restart/V", H5T_NATIVE_DOUBLE, sim->v, sim->cell_count)) {
        return -1;
    }
    return gray_scott_hash(sim) == hash ? 0 : -1;
}

static bool
is_complete(hid_t file)
{
    int complete = 0;
    return file >= 0 && H5Aexists(file, "complete") > 0 &&
           read_attribute(file, "complete", H5T_NATIVE_INT, &complete) == 0 && complete == 1;
}

int
checkpoint_serial(const char *path, uint64_t *serial)
{
    int status = -1;
    *serial = 0;
    H5E_BEGIN_TRY /* that a file is none is an answer */
    {
        const hid_t file = open_file(path, false);
        if (is_complete(file)) {
            status = H5Aexists(file, "serial") > 0
                         ? read_attribute(file, "serial", H5T_NATIVE_UINT64, serial)
                         : 0;
        }
        release(file);
    }
    H5E_END_TRY
    return status;
}

int
checkpoint_restart(const char *path, struct gray_scott *sim)
{
    uint64_t side = 0;
    *sim = (struct gray_scott){0};
    const hid_t file = open_file(path, false);
    int status = -1;
    if (is_complete(file) && read_attribute(file, "side", H5T_NATIVE_UINT64, &side) == 0 &&
        gray_scott_init(sim, (size_t)side)) {
        status = read_state(file, sim);
    }
    release(file);
    if (status != 0) {
        fprintf(stderr, "%s is not a complete checkpoint\n", path);
        gray_scott_free(sim);
    }
    return status;
}
