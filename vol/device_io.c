/* SPDX-License-Identifier: BSD-3-Clause
 * device_io.c: see device_io.h. */
#include "device_io.h"

#include "device_memory.h"
#include "run/device.h"
#include "selection.h"

#include <stdlib.h>
#include <string.h>

#define PIECE ((uint64_t)64 << 20) /* bytes in the host's memory, but for one row of chunks */

/* One call. */
struct job {
    struct h5twin_hdf5 *hdf5;
    const struct h5twin_dataset_request *request;
    uint8_t *device;
    bool is_write;
    bool is_parallel; /* the file is open through MPI-IO: one call, as other processes make one */
    size_t element_size;
    struct h5twin_selection selection;
    uint64_t rows; /* of the slowest dim in a piece */
};

static enum h5twin_dataset_outcome
fail(const struct job *job, const char *text)
{
    h5twin_hdf5_push_error(job->hdf5, job->is_write ? "h5twin_write" : "h5twin_read",
                           "device memory", text);
    return H5TWIN_DATASET_FAILED;
}

static enum h5twin_dataset_outcome
fail_copy(const struct job *job)
{
    return fail(job, "CUDA cannot copy the array: an earlier error of the device? "
                     "cudaGetLastError() says which.");
}

/* The same call on memory of the host, by whoever does it. */
static bool
call(const struct job *job, const struct h5twin_dataset_request *request, uint8_t *host)
{
    const struct h5twin_hdf5 *const hdf5 = job->hdf5;
    const enum h5twin_dataset_outcome outcome =
        job->is_write ? h5twin_dataset_write(hdf5, request, host, NULL)
                      : h5twin_dataset_read(hdf5, request, host, NULL);
    if (outcome != H5TWIN_DATASET_NATIVE) {
        return outcome == H5TWIN_DATASET_DONE;
    }
    return (job->is_write ? hdf5->H5Dwrite(request->dataset, request->mem_type, request->mem_space,
                                           request->file_space, request->dxpl, host)
                          : hdf5->H5Dread(request->dataset, request->mem_type, request->mem_space,
                                          request->file_space, request->dxpl, host)) >= 0;
}

/* ---- MPI ---- */

/* In a file that is open through MPI-IO other processes may wait for this one's part of a
 * collective call: it has none, and fails alone. */
static enum h5twin_dataset_outcome
take_part(const struct job *job, enum h5twin_dataset_outcome outcome)
{
    static const uint64_t origin[H5TWIN_MAX_DIMS];
    const struct h5twin_hdf5 *const hdf5 = job->hdf5;
    if (!job->is_parallel) {
        return outcome;
    }
    const h5twin_hid stack = hdf5->H5Eget_current_stack(); /* why it fails */
    const h5twin_hid space = hdf5->H5Dget_space(job->request->dataset);
    struct h5twin_dataset_request request = *job->request;
    uint8_t nothing = 0;
    request.mem_space = request.file_space = space;
    if (space >= 0) {
        if (hdf5->H5Sselect_hyperslab(space, H5TWIN_HDF5_SELECT_SET, origin, NULL, origin, NULL) >=
            0) {
            (void)call(job, &request, &nothing);
        }
        hdf5->H5Sclose(space);
    }
    if (stack >= 0) {
        hdf5->H5Eset_current_stack(stack);
    }
    return outcome;
}

static bool
is_open_through_mpi(const struct job *job)
{
    const struct h5twin_hdf5 *const hdf5 = job->hdf5;
    bool is_atomic, is_parallel = false;
    const h5twin_hid file =
        hdf5->has[H5TWIN_HDF5_MPI] ? hdf5->H5Iget_file_id(job->request->dataset) : -1;
    if (file >= 0) {
        h5twin_hdf5_report report;
        void *context;
        const bool is_quiet = hdf5->H5Eget_auto2(H5TWIN_HDF5_DEFAULT_STACK, &report, &context) >= 0;
        if (is_quiet) {
            hdf5->H5Eset_auto2(H5TWIN_HDF5_DEFAULT_STACK, NULL, NULL);
        }
        is_parallel = hdf5->H5Fget_mpi_atomicity(file, &is_atomic) >= 0;
        if (is_quiet) {
            hdf5->H5Eset_auto2(H5TWIN_HDF5_DEFAULT_STACK, report, context);
        }
        hdf5->H5Fclose(file);
    }
    return is_parallel;
}

/* ---- a piece ---- */

/* `size` bytes from `first` of the device's array on, at host, through the call. What a read leaves
 * alone comes back as it was. */
static enum h5twin_dataset_outcome
transfer(const struct job *job, const struct h5twin_dataset_request *request, uint64_t first,
         uint8_t *host, size_t size, uint8_t *begin)
{
    uint8_t *const device = job->device + first;
    if (!h5twin_device_read(host, device, size)) {
        return take_part(job, fail_copy(job));
    }
    if (!call(job, request, begin)) {
        return H5TWIN_DATASET_FAILED;
    }
    return job->is_write || h5twin_device_write(device, host, size) ? H5TWIN_DATASET_DONE
                                                                    : fail_copy(job);
}

/* ---- boxes ---- */

static void
choose_rows(struct job *job)
{
    const struct h5twin_hdf5 *const hdf5 = job->hdf5;
    uint64_t chunk[H5TWIN_MAX_DIMS] = {0};
    const uint64_t row_bytes = job->selection.stride[0] * job->element_size;
    const h5twin_hid dcpl = hdf5->H5Dget_create_plist(job->request->dataset);
    uint64_t height = 1;
    if (dcpl >= 0) {
        if (hdf5->H5Pget_layout(dcpl) == H5TWIN_HDF5_CHUNKED &&
            hdf5->H5Pget_chunk(dcpl, H5TWIN_MAX_DIMS, chunk) > 0 && chunk[0] > 0) {
            height = chunk[0];
        }
        hdf5->H5Pclose(dcpl);
    }
    const uint64_t fitting = row_bytes == 0 ? 1 : PIECE / row_bytes;
    job->rows = fitting / height * height;
    job->rows = job->rows == 0 ? height : job->rows;
}

/* Rows start .. start + count - 1 of the box. */
static enum h5twin_dataset_outcome
transfer_rows(const struct job *job, uint64_t start, uint64_t count, uint8_t *host)
{
    static const uint64_t origin[H5TWIN_MAX_DIMS + 1];
    const struct h5twin_hdf5 *const hdf5 = job->hdf5;
    const struct h5twin_selection *const selection = &job->selection;
    const unsigned rank = selection->file.rank;
    uint64_t first[H5TWIN_MAX_DIMS], counts[H5TWIN_MAX_DIMS + 1], extents[H5TWIN_MAX_DIMS + 1];
    uint64_t span = 1; /* elements from the first one to the last */
    memcpy(first, selection->file.start, sizeof first);
    memcpy(counts, selection->file.count, rank * sizeof counts[0]);
    memcpy(extents, selection->extents, sizeof extents);
    first[0] = start;
    counts[0] = count;
    counts[rank] = 1;
    extents[0] = count;
    for (unsigned axis = 0; axis < rank; axis++) {
        span += (counts[axis] - 1) * selection->stride[axis];
    }
    const h5twin_hid file = hdf5->H5Screate_simple((int)rank, selection->file.dims, NULL);
    const h5twin_hid memory = hdf5->H5Screate_simple((int)selection->memory_rank, extents, NULL);
    enum h5twin_dataset_outcome outcome = H5TWIN_DATASET_FAILED;
    if (file >= 0 && memory >= 0 &&
        hdf5->H5Sselect_hyperslab(file, H5TWIN_HDF5_SELECT_SET, first, NULL, counts, NULL) >= 0 &&
        hdf5->H5Sselect_hyperslab(memory, H5TWIN_HDF5_SELECT_SET, origin, NULL, counts, NULL) >=
            0) {
        struct h5twin_dataset_request request = *job->request;
        request.mem_space = memory;
        request.file_space = file;
        const uint64_t place =
            selection->first + (start - selection->file.start[0]) * selection->stride[0];
        outcome = transfer(job, &request, place * job->element_size, host,
                           (size_t)span * job->element_size, host);
    }
    /* To close clears the stack, where it says why. */
    const h5twin_hid stack = outcome == H5TWIN_DATASET_FAILED ? hdf5->H5Eget_current_stack() : -1;
    if (file >= 0) {
        hdf5->H5Sclose(file);
    }
    if (memory >= 0) {
        hdf5->H5Sclose(memory);
    }
    if (stack >= 0) {
        hdf5->H5Eset_current_stack(stack);
    }
    return outcome;
}

static enum h5twin_dataset_outcome
transfer_box(struct job *job)
{
    const struct h5twin_space_box *const box = &job->selection.file;
    uint64_t most = 1;
    choose_rows(job);
    for (unsigned axis = 0; axis < box->rank; axis++) {
        const uint64_t count =
            axis == 0 && box->count[0] > job->rows ? job->rows : box->count[axis];
        most += (count - 1) * job->selection.stride[axis];
    }
    uint8_t *const host = malloc((size_t)most * job->element_size);
    if (host == NULL) {
        return fail(job, "There is no memory of the host for a piece of the array.");
    }
    enum h5twin_dataset_outcome outcome = H5TWIN_DATASET_DONE;
    const uint64_t end = box->start[0] + box->count[0];
    for (uint64_t at = box->start[0]; at < end && outcome == H5TWIN_DATASET_DONE;) {
        const uint64_t whole = (at / job->rows + 1) * job->rows;
        const uint64_t next = whole < end ? whole : end;
        outcome = transfer_rows(job, at, next - at, host);
        at = next;
    }
    free(host);
    return outcome;
}

/* ---- other selections ---- */

/* First and last element of memory that the call touches; false if it touches none, or HDF5 does
 * not tell, and then it will say why. */
static bool
find_range(const struct job *job, uint64_t *first, uint64_t *last)
{
    const struct h5twin_hdf5 *const hdf5 = job->hdf5;
    const struct h5twin_dataset_request *const request = job->request;
    uint64_t dims[H5TWIN_MAX_DIMS], low[H5TWIN_MAX_DIMS], high[H5TWIN_MAX_DIMS];
    const bool is_own =
        request->mem_space == H5TWIN_HDF5_ALL && request->file_space == H5TWIN_HDF5_ALL;
    const h5twin_hid space = request->mem_space > 2 ? request->mem_space
                             : is_own               ? hdf5->H5Dget_space(request->dataset)
                                                    : request->file_space;
    const int64_t elements = space < 0 ? -1 : hdf5->H5Sget_select_npoints(space);
    const int rank = elements <= 0 ? -1 : hdf5->H5Sget_simple_extent_ndims(space);
    bool is_found = rank >= 0;
    *first = *last = 0;
    if (is_found && request->mem_space == H5TWIN_HDF5_BLOCK) {
        *last = (uint64_t)elements - 1;
    } else if (rank > 0) {
        is_found = hdf5->H5Sget_simple_extent_dims(space, dims, NULL) >= 0 &&
                   hdf5->H5Sget_select_bounds(space, low, high) >= 0;
        for (int axis = 0; axis < rank && is_found; axis++) {
            *first = *first * dims[axis] + low[axis];
            *last = *last * dims[axis] + high[axis];
        }
    }
    if (is_own && space >= 0) {
        hdf5->H5Sclose(space);
    }
    return is_found;
}

static enum h5twin_dataset_outcome
transfer_range(const struct job *job)
{
    uint64_t first, last;
    if (!find_range(job, &first, &last)) {
        return call(job, job->request, job->device) ? H5TWIN_DATASET_DONE : H5TWIN_DATASET_FAILED;
    }
    /* From element 0 on, so that HDF5 finds each at its place; pages before the first are not used.
     */
    uint8_t *const host = malloc((size_t)(last + 1) * job->element_size);
    if (host == NULL) {
        return take_part(job, fail(job, "There is no memory of the host for the array."));
    }
    const size_t offset = (size_t)first * job->element_size;
    const enum h5twin_dataset_outcome outcome =
        transfer(job, job->request, offset, host + offset,
                 (size_t)(last - first + 1) * job->element_size, host);
    free(host);
    return outcome;
}

/* Where a GPU is demanded: its kernels have not been measured on one yet. */
static bool
is_coded_on_device(void)
{
    enum h5twin_device device;
    return h5twin_device_from_environment(&device) && device == H5TWIN_DEVICE_GPU;
}

/* All by the GPU; false if it cannot, and nothing else is wrong. */
static bool
transfer_on_device(const struct job *job)
{
    if (!is_coded_on_device()) {
        return false;
    }
    const bool entered = h5twin_device_enter(job->device);
    const enum h5twin_dataset_outcome outcome =
        job->is_write ? h5twin_dataset_write_on_device(job->hdf5, job->request, job->device)
                      : h5twin_dataset_read_on_device(job->hdf5, job->request, job->device);
    h5twin_device_leave(entered);
    return outcome == H5TWIN_DATASET_DONE;
}

static enum h5twin_dataset_outcome
transfer_all(struct job *job)
{
    const struct h5twin_hdf5 *const hdf5 = job->hdf5;
    if (!hdf5->has[H5TWIN_HDF5_PROPERTIES] || !hdf5->has[H5TWIN_HDF5_TRANSFERS]) {
        return fail(job,
                    "This HDF5 is too old for arrays in the memory of a GPU: 1.10.5 is needed.");
    }
    if (transfer_on_device(job)) {
        return H5TWIN_DATASET_DONE;
    }
    job->is_parallel = is_open_through_mpi(job);
    job->element_size = hdf5->H5Tget_size(job->request->mem_type);
    const h5twin_hid space = hdf5->H5Dget_space(job->request->dataset);
    const bool is_box = space >= 0 && !job->is_parallel && job->element_size > 0 &&
                        hdf5->H5Sget_simple_extent_ndims(space) > 0 &&
                        h5twin_selection_read(hdf5, space, job->request, &job->selection) == NULL;
    if (space >= 0) {
        hdf5->H5Sclose(space);
    }
    return is_box ? transfer_box(job) : transfer_range(job);
}

enum h5twin_dataset_outcome
h5twin_device_write_dataset(struct h5twin_hdf5 *hdf5, const struct h5twin_dataset_request *request,
                            const void *device)
{
    struct job job = {.hdf5 = hdf5, .request = request, .is_write = true};
    memcpy(&job.device, &device, sizeof device);
    return transfer_all(&job);
}

enum h5twin_dataset_outcome
h5twin_device_read_dataset(struct h5twin_hdf5 *hdf5, const struct h5twin_dataset_request *request,
                           void *device)
{
    struct job job = {.hdf5 = hdf5, .request = request, .device = device};
    return transfer_all(&job);
}
