/* SPDX-License-Identifier: BSD-3-Clause
 * held_ask.c: whether the rows of a dataset may be held (held_rows.h). */
#include "connector.h"
#include "native_questions.h"

static const char *
find_chunk(const struct h5twin_vol_connector *connector, h5twin_hid dcpl,
           struct h5twin_policy_dataset *described)
{
    described->has_chunk =
        connector->functions.H5Pget_chunk(dcpl, H5TWIN_HDF5_MAX_RANK, described->chunk) ==
        (int)described->rank;
    return described->has_chunk ? NULL : "not in chunks";
}

static bool
ask_policy(const struct h5twin_vol_connector *connector, void *dataset,
           const struct h5twin_dataset_request *request)
{
    const struct h5twin_hdf5 *const hdf5 = connector->hdf5;
    struct h5twin_policy_dataset described;
    char path[4096];
    bool holds = false;
    const h5twin_hid dcpl = hdf5->H5Dget_create_plist(request->dataset);
    const h5twin_hid type = hdf5->H5Dget_type(request->dataset);
    const h5twin_hid space = hdf5->H5Dget_space(request->dataset);
    if (dcpl >= 0 && type >= 0 && space >= 0) {
        h5twin_policy_describe(&connector->policy_functions, dcpl, type, space, &described);
        h5twin_vol_object_name(connector, dataset, H5TWIN_HDF5_ID_DATASET, request->dxpl, path,
                               sizeof path);
        described.path = path[0] == '\0' ? NULL : path;
        holds = find_chunk(connector, dcpl, &described) == NULL &&
                h5twin_policy_holds(connector->policy, &described);
    }
    if (dcpl >= 0) {
        hdf5->H5Pclose(dcpl);
    }
    if (type >= 0) {
        hdf5->H5Tclose(type);
    }
    if (space >= 0) {
        hdf5->H5Sclose(space);
    }
    return holds;
}

/* Not by the file's access list: to copy that duplicates its communicator, which all processes
 * would have to do together, and this one asks when it likes. */
static bool
is_in_mpi_file(const struct h5twin_vol_connector *connector, h5twin_hid dataset)
{
    const struct h5twin_hdf5 *const hdf5 = connector->hdf5;
    bool is_atomic;
    if (!hdf5->has[H5TWIN_HDF5_MPI]) {
        return connector->get_mpio != NULL; /* to be careful */
    }
    const h5twin_hid file = hdf5->H5Iget_file_id(dataset);
    if (file < 0) {
        return true;
    }
    const bool is_parallel = hdf5->H5Fget_mpi_atomicity(file, &is_atomic) >= 0;
    hdf5->H5Fclose(file);
    return is_parallel;
}

/* In files of MPI programs no more than that is asked: processes differ in when they ask, and where
 * a program wants it, all of them read metadata together. */
void
h5twin_held_ask(struct h5twin_vol_connector *connector, void *dataset,
                const struct h5twin_dataset_request *request, struct h5twin_vol_note *note)
{
    if (!connector->held.is_on) {
        return;
    }
    if (is_in_mpi_file(connector, request->dataset)) {
        note->is_virtual = note->chunk_elements == 0; /* to be careful */
        return;
    }
    note->is_virtual =
        note->chunk_elements == 0 && h5twin_vol_is_virtual(connector, dataset, request->dxpl);
    note->may_hold = note->chunk_elements != 0 && ask_policy(connector, dataset, request) &&
                     h5twin_vol_is_plainly_written(connector, dataset, request->dxpl) &&
                     h5twin_vol_identity_of(connector, dataset, request->dxpl, &note->identity);
}
