/* SPDX-License-Identifier: BSD-3-Clause
 * dataset_create.c: H5Dcreate through the connector: a policy may add a filter. */
#include "connector.h"
#include "dataset_calls.h"
#include "native_questions.h"

#include <stdio.h>
#include <string.h>

#define MAX_PATH_TEXT 4096 /* bytes */

/* "/group/name". NULL if the dataset has no name, or its group none. */
static const char *
find_path(const struct h5twin_vol_connector *connector, void *parent, int parent_type,
          const char *name, h5twin_hid dxpl, char path[MAX_PATH_TEXT])
{
    if (name == NULL || name[0] == '/') {
        return name;
    }
    h5twin_vol_object_name(connector, parent, parent_type, dxpl, path, MAX_PATH_TEXT);
    const size_t length = strlen(path);
    if (length == 0) {
        return NULL;
    }
    const char *const between = path[length - 1] == '/' ? "" : "/";
    const int added = snprintf(path + length, MAX_PATH_TEXT - length, "%s%s", between, name);
    return added >= 0 && (size_t)added < MAX_PATH_TEXT - length ? path : NULL;
}

/* What need not be asked of the dataset later: it is in no chunks, so that nothing is taken over.
 */
static void *
note_layout(struct h5twin_vol_connector *connector, void *dataset, h5twin_hid dcpl)
{
    if (dataset != NULL && connector->functions.H5Pget_layout(dcpl) != H5TWIN_HDF5_CHUNKED) {
        const struct h5twin_vol_note note = {
            .dataset = dataset,
            .is_virtual = connector->functions.H5Pget_layout(dcpl) == H5TWIN_HDF5_VIRTUAL};
        h5twin_vol_notes_keep(&connector->notes, &note);
    }
    return dataset;
}

void *
h5twin_vol_dataset_create(void *parent, const struct h5twin_vol_location *location,
                          const char *name, h5twin_hid lcpl, h5twin_hid type, h5twin_hid space,
                          h5twin_hid dcpl, h5twin_hid dapl, h5twin_hid dxpl, void **request)
{
    struct h5twin_vol_connector *const connector =
        h5twin_vol_connector_of(__builtin_return_address(0));
    if (connector == NULL) {
        return NULL;
    }
    const struct h5twin_vol_dataset_class *const native = &connector->native->dataset;
    void *dataset = NULL;
    /* Not where whoever creates the dataset has asked it already. */
    const struct h5twin_policy *const policy =
        connector->policy == NULL ? NULL : h5twin_policy_of_environment();
    if (policy == NULL) {
        dataset =
            native->create(parent, location, name, lcpl, type, space, dcpl, dapl, dxpl, request);
        return note_layout(connector, dataset, dcpl);
    }
    const struct h5twin_vol_hdf5 *const functions = &connector->functions;
    const int parent_type = location->object_type;
    struct h5twin_policy_outcome outcome;
    struct h5twin_vol_errors errors;
    char path[MAX_PATH_TEXT], file[MAX_PATH_TEXT];

    h5twin_vol_errors_hold(functions, &errors);
    h5twin_vol_file_name(connector, parent, parent_type, dxpl, file, sizeof file);
    const h5twin_hid changed = h5twin_policy_apply(
        &connector->policy_functions, policy,
        find_path(connector, parent, parent_type, name, dxpl, path),
        h5twin_vol_is_parallel(connector, parent, parent_type, dxpl), dcpl, type, space, &outcome);
    if (changed != H5TWIN_POLICY_LEAVE) {
        dataset =
            native->create(parent, location, name, lcpl, type, space, changed, dapl, dxpl, request);
        functions->H5Pclose(changed);
        if (dataset == NULL) {
            h5twin_policy_refused(&outcome);
        }
    }
    h5twin_vol_errors_release(functions, &errors, -1);
    h5twin_policy_log(file, &outcome);
    return dataset != NULL ? dataset
                           : native->create(parent, location, name, lcpl, type, space, dcpl, dapl,
                                            dxpl, request);
}
