/* SPDX-License-Identifier: BSD-3-Clause
 * held_calls.c: see held_calls.h. Each call is HDF5's own, after what it could see is written. */
#include "held_calls.h"

#include "connector.h"
#include "dataset_calls.h"
#include "held_rows.h"

#define CONNECTOR h5twin_vol_connector_of(__builtin_return_address(0))

static int
dataset_get(void *dataset, struct h5twin_vol_dataset_question *question, h5twin_hid dxpl,
            void **request)
{
    struct h5twin_vol_connector *const connector = CONNECTOR;
    const bool sees = question->what == H5TWIN_VOL_DATASET_SPACE_STATUS ||
                      question->what == H5TWIN_VOL_DATASET_STORAGE_SIZE;
    return connector == NULL || (sees && h5twin_held_settle(connector, dataset, dxpl) < 0)
               ? -1
               : connector->native->dataset.get(dataset, question, dxpl, request);
}

static int
dataset_specific(void *dataset, struct h5twin_vol_dataset_action *action, h5twin_hid dxpl,
                 void **request)
{
    struct h5twin_vol_connector *const connector = CONNECTOR;
    if (connector == NULL) {
        return -1;
    }
    const int settled =
        action->what == H5TWIN_VOL_DATASET_SET_EXTENT
            ? h5twin_held_settle_extent(connector, dataset, action->argument.dims, dxpl)
            : h5twin_held_settle(connector, dataset, dxpl);
    return settled < 0 ? -1 : connector->native->dataset.specific(dataset, action, dxpl, request);
}

static int
dataset_optional(void *dataset, void *action, h5twin_hid dxpl, void **request)
{
    struct h5twin_vol_connector *const connector = CONNECTOR;
    return connector == NULL || h5twin_held_settle(connector, dataset, dxpl) < 0
               ? -1
               : connector->native->dataset.optional(dataset, action, dxpl, request);
}

static int
file_specific(void *object, const int *action, h5twin_hid dxpl, void **request)
{
    struct h5twin_vol_connector *const connector = CONNECTOR;
    const bool sees = *action == H5TWIN_VOL_FILE_FLUSH;
    return connector == NULL || (sees && h5twin_held_settle_all(connector) < 0)
               ? -1
               : connector->native->file.specific(object, action, dxpl, request);
}

/* It may start SWMR, for which HDF5 closes all datasets and opens them anew: then none holds. */
static int
file_optional(void *object, const int *action, h5twin_hid dxpl, void **request)
{
    struct h5twin_vol_connector *const connector = CONNECTOR;
    const bool sees = *action != H5TWIN_VOL_FILE_POST_OPEN;
    return connector == NULL || (sees && h5twin_held_settle_all(connector) < 0)
               ? -1
               : connector->native->file.optional(object, action, dxpl, request);
}

static int
group_specific(void *group, void *action, h5twin_hid dxpl, void **request)
{
    struct h5twin_vol_connector *const connector = CONNECTOR;
    return connector == NULL || h5twin_held_settle_all(connector) < 0
               ? -1
               : connector->native->group.specific(group, action, dxpl, request);
}

static int
object_copy(void *source, const struct h5twin_vol_location *source_location,
            const char *source_name, void *target,
            const struct h5twin_vol_location *target_location, const char *target_name,
            h5twin_hid ocpypl, h5twin_hid lcpl, h5twin_hid dxpl, void **request)
{
    struct h5twin_vol_connector *const connector = CONNECTOR;
    return connector == NULL || h5twin_held_settle_all(connector) < 0
               ? -1
               : connector->native->object.copy(source, source_location, source_name, target,
                                                target_location, target_name, ocpypl, lcpl, dxpl,
                                                request);
}

static int
object_specific(void *object, const struct h5twin_vol_location *location, const int *action,
                h5twin_hid dxpl, void **request)
{
    struct h5twin_vol_connector *const connector = CONNECTOR;
    const bool sees = *action >= H5TWIN_VOL_OBJECT_FLUSH;
    return connector == NULL || (sees && h5twin_held_settle_all(connector) < 0)
               ? -1
               : connector->native->object.specific(object, location, action, dxpl, request);
}

static int
object_optional(void *object, const struct h5twin_vol_location *location, void *action,
                h5twin_hid dxpl, void **request)
{
    struct h5twin_vol_connector *const connector = CONNECTOR;
    return connector == NULL || h5twin_held_settle_all(connector) < 0
               ? -1
               : connector->native->object.optional(object, location, action, dxpl, request);
}

void
h5twin_vol_replace_held_calls(struct h5twin_vol_class *calls)
{
    calls->dataset.get = dataset_get;
    calls->dataset.specific = dataset_specific;
    calls->dataset.optional = dataset_optional;
    calls->file.specific = file_specific;
    calls->file.optional = file_optional;
    calls->group.specific = group_specific;
    calls->object.copy = object_copy;
    calls->object.specific = object_specific;
    calls->object.optional = object_optional;
}
