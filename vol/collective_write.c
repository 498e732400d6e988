/* SPDX-License-Identifier: BSD-3-Clause
 * collective_write.c: see collective_write.h. */
#include "collective_write.h"

#include "coded_ahead.h"
#include "verbose.h"

#include <inttypes.h>
#include <stdio.h>

const char *
h5twin_collective_write_check(const struct h5twin_hdf5 *hdf5, h5twin_hid dxpl,
                              enum h5twin_codec_id codec)
{
    int mode;
    if (!hdf5->has[H5TWIN_HDF5_MPI_WRITES]) {
        return "this HDF5 has not all functions";
    }
    if (dxpl == H5TWIN_HDF5_DEFAULT_LIST || hdf5->H5Pget_dxpl_mpio(dxpl, &mode) < 0 ||
        mode != H5TWIN_HDF5_COLLECTIVE) {
        return "MPI-IO, not collective";
    }
    /* A plugin is another shared object, which would not know of what is offered here. */
    const void *const filter = hdf5->takes_class3 ? (const void *)h5twin_hdf5_class3((int)codec)
                                                  : h5twin_hdf5_class(codec);
    return filter == NULL || hdf5->H5Zregister(filter) < 0 ? "HDF5 does not take the filter" : NULL;
}

struct native_call {
    const struct h5twin_hdf5 *hdf5;
    const struct h5twin_dataset_request *request;
    const void *buffer;
    struct h5twin_ready_chunks ready;
    int result;
};

static const void *
take(void *context, const void *values, size_t *size)
{
    return h5twin_coded_ahead_take(context, values, size);
}

static void
call_native(void *context, struct h5twin_coded_ahead *ahead)
{
    struct native_call *const call = context;
    const struct h5twin_dataset_request *const request = call->request;
    call->ready.take = take;
    call->ready.context = ahead;
    h5twin_ready_chunks_offer(&call->ready);
    call->result = call->hdf5->H5Dwrite(request->dataset, request->mem_type, request->mem_space,
                                        request->file_space, request->dxpl, call->buffer);
    h5twin_ready_chunks_offer(NULL);
}

/* For who wants to know whether it works. */
static void
say(enum h5twin_codec_id codec, const struct h5twin_coded_ahead_counts *counts)
{
    char sentence[128];
    snprintf(sentence, sizeof sentence,
             "%" PRIu64 " of %" PRIu64 " whole chunks of a collective write were coded ahead",
             counts->found, counts->chunks);
    h5twin_verbose_print(h5twin_codec_by_id(codec)->name, sentence);
}

enum h5twin_dataset_outcome
h5twin_collective_write(const struct h5twin_hdf5 *hdf5,
                        const struct h5twin_dataset_request *request, const void *buffer,
                        const struct h5twin_transfer *transfer, const void *memory,
                        const struct h5twin_ready_chunks *ready)
{
    struct native_call call = {
        .hdf5 = hdf5, .request = request, .buffer = buffer, .ready = *ready, .result = -1};
    struct h5twin_coded_ahead_counts counts;
    if (!h5twin_coded_ahead_run(transfer, memory, call_native, &call, &counts)) {
        return H5TWIN_DATASET_NATIVE;
    }
    say(ready->codec, &counts);
    return call.result < 0 ? H5TWIN_DATASET_FAILED : H5TWIN_DATASET_DONE;
}
