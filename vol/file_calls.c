/* SPDX-License-Identifier: BSD-3-Clause
 * file_calls.c: see file_calls.h. The calls are HDF5's own; here they are counted. */
#include "file_calls.h"

#include "connector.h"
#include "held_rows.h"
#include "kept_chunks.h"

#include <stdatomic.h>

/* Of all HDF5 libraries. HDF5 closes some that it did not open so (H5Freopen): then the count is
 * less than it should be, and what is kept goes early. */
static atomic_int open_files;

static void *
count_opened(void *file)
{
    if (file != NULL) {
        atomic_fetch_add(&open_files, 1);
    }
    return file;
}

static void *
file_create(const char *name, unsigned flags, h5twin_hid fcpl, h5twin_hid fapl, h5twin_hid dxpl,
            void **request)
{
    const struct h5twin_vol_connector *const connector =
        h5twin_vol_connector_of(__builtin_return_address(0));
    return connector == NULL ? NULL
                             : count_opened(connector->native->file.create(name, flags, fcpl, fapl,
                                                                           dxpl, request));
}

static void *
file_open(const char *name, unsigned flags, h5twin_hid fapl, h5twin_hid dxpl, void **request)
{
    const struct h5twin_vol_connector *const connector =
        h5twin_vol_connector_of(__builtin_return_address(0));
    return connector == NULL
               ? NULL
               : count_opened(connector->native->file.open(name, flags, fapl, dxpl, request));
}

static int
file_close(void *file, h5twin_hid dxpl, void **request)
{
    struct h5twin_vol_connector *const connector =
        h5twin_vol_connector_of(__builtin_return_address(0));
    if (connector == NULL) {
        return -1;
    }
    if (h5twin_held_settle_file(connector, file, dxpl) < 0) {
        return -1; /* the rows of a dataset that is still open stay held */
    }
    const int result = connector->native->file.close(file, dxpl, request);
    if (atomic_fetch_sub(&open_files, 1) <= 1) {
        atomic_store(&open_files, 0);
        h5twin_io_forget_chunks();
    }
    return result;
}

void
h5twin_vol_replace_file_calls(struct h5twin_vol_file_class *calls)
{
    calls->create = file_create;
    calls->open = file_open;
    calls->close = file_close;
}
