/* SPDX-License-Identifier: BSD-3-Clause
 * dataset_io.c: see dataset_io.h. First all that HDF5 says of the dataset, which decides; then the
 * chunks; then what is left of the box, by HDF5. */
#include "dataset_io.h"

#include "cd_values.h"
#include "chunk_io.h"
#include "collective_write.h"
#include "device_transfer.h"
#include "kept_chunks.h"
#include "selection.h"
#include "transfer.h"

#include <stdlib.h>
#include <string.h>

/* What HDF5's chunk cache has where nobody has set it: data of less than this are read natively, as
 * they may be in it already. */
#define USUAL_CACHE ((uint64_t)1 << 20)

/* One call. */
struct work {
    const struct h5twin_hdf5 *hdf5;
    const struct h5twin_dataset_request *request;
    const uint8_t *source; /* writing */
    uint8_t *target;       /* reading */
    bool is_on_device;     /* that memory is a GPU's, and chunks are coded there */
    /* what the dataset is; identifiers are closed at the end if they are positive */
    h5twin_hid type, space, dcpl;
    size_t element_size;
    struct h5twin_cd cd;
    unsigned cd_values[H5TWIN_CD_MAX]; /* as HDF5 gives them to the filter */
    size_t cd_count;
    bool is_parallel;                /* the file is open through MPI-IO */
    uint64_t chunk[H5TWIN_MAX_DIMS]; /* elements */
    size_t chunk_size;               /* bytes */
    bool fills;
    uint8_t *fill; /* NULL: zeros; free() it */
    /* what is to be done */
    struct h5twin_selection selection;
    uint64_t start[H5TWIN_MAX_DIMS], count[H5TWIN_MAX_DIMS]; /* of the part in chunks */
};

/* ---- what the dataset is: NULL, or why HDF5 must do it ---- */

static bool
has_functions(const struct h5twin_hdf5 *hdf5)
{
    return hdf5 != NULL && hdf5->has[H5TWIN_HDF5_PROPERTIES] && hdf5->has[H5TWIN_HDF5_TRANSFERS] &&
           (hdf5->has[H5TWIN_HDF5_READ_CHUNK] || hdf5->has[H5TWIN_HDF5_READ_CHUNK2]) &&
           hdf5->H5Eset_current_stack != NULL;
}

static const char *
check_type(struct work *work)
{
    const struct h5twin_hdf5 *const hdf5 = work->hdf5;
    static const int elsewhere[] = {H5TWIN_HDF5_VARIABLE_LENGTH, H5TWIN_HDF5_REFERENCE,
                                    H5TWIN_HDF5_STRING}; /* maybe of variable length */
    work->type = hdf5->H5Dget_type(work->request->dataset);
    if (work->type < 0) {
        return "HDF5 does not tell the type";
    }
    if (hdf5->H5Tequal(work->type, work->request->mem_type) <= 0) {
        return "memory has another type";
    }
    for (unsigned i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
        if (hdf5->H5Tdetect_class(work->type, elsewhere[i]) != 0) {
            return "values of variable length";
        }
    }
    work->element_size = hdf5->H5Tget_size(work->type);
    return work->element_size == 0 ? "HDF5 does not tell the type" : NULL;
}

static const char *
check_filter(struct work *work)
{
    const struct h5twin_hdf5 *const hdf5 = work->hdf5;
    unsigned flags, config;
    char name[1];
    const char *why;
    work->cd_count = H5TWIN_CD_MAX;
    if (hdf5->H5Pget_nfilters(work->dcpl) != 1) {
        return "not one filter";
    }
    const int id = hdf5->H5Pget_filter2(work->dcpl, 0, &flags, &work->cd_count, work->cd_values,
                                        sizeof name, name, &config);
    const struct h5twin_codec_info *const codec =
        id < 0 ? NULL : h5twin_codec_by_filter((uint32_t)id);
    if (codec == NULL) {
        return "another filter";
    }
    if (work->cd_count > H5TWIN_CD_MAX ||
        h5twin_cd_read(&work->cd, codec->id, work->cd_values, work->cd_count, &why) != H5TWIN_OK ||
        !work->cd.has_array || work->cd.chunk_size != work->chunk_size) {
        return "the filter's parameters do not describe the chunks";
    }
    return NULL;
}

static const char *
check_layout(struct work *work, unsigned rank)
{
    const struct h5twin_hdf5 *const hdf5 = work->hdf5;
    unsigned options = 0;
    int alloc_time = H5TWIN_HDF5_ALLOC_LATE;
    if (hdf5->H5Pget_layout(work->dcpl) != H5TWIN_HDF5_CHUNKED ||
        hdf5->H5Pget_chunk(work->dcpl, H5TWIN_MAX_DIMS, work->chunk) != (int)rank) {
        return "not in chunks";
    }
    if (hdf5->H5Pget_chunk_opts(work->dcpl, &options) < 0 ||
        (options & H5TWIN_HDF5_DONT_FILTER_EDGES) != 0) {
        return "chunks at the edges are not filtered";
    }
    if (work->source != NULL && !work->is_parallel &&
        (hdf5->H5Pget_alloc_time(work->dcpl, &alloc_time) < 0 ||
         alloc_time == H5TWIN_HDF5_ALLOC_LATE)) {
        return "storage is allocated late";
    }
    work->chunk_size = work->element_size;
    for (unsigned axis = 0; axis < rank; axis++) {
        if (work->chunk[axis] == 0 || work->chunk_size > (SIZE_MAX / 4) / work->chunk[axis]) {
            return "chunks are too large";
        }
        work->chunk_size *= (size_t)work->chunk[axis];
    }
    return NULL;
}

/* What HDF5 pads chunks with, and what it gives for those that are not stored, if anything. */
static const char *
read_fill(struct work *work)
{
    const struct h5twin_hdf5 *const hdf5 = work->hdf5;
    int defined, fill_time;
    if (hdf5->H5Pfill_value_defined(work->dcpl, &defined) < 0 ||
        hdf5->H5Pget_fill_time(work->dcpl, &fill_time) < 0 ||
        (defined == H5TWIN_HDF5_FILL_UNDEFINED && fill_time == H5TWIN_HDF5_FILL_TIME_ALLOC)) {
        return "the fill value is not clear";
    }
    work->fills = fill_time != H5TWIN_HDF5_FILL_TIME_NEVER && defined != H5TWIN_HDF5_FILL_UNDEFINED;
    if (!work->fills || defined != H5TWIN_HDF5_FILL_USER_DEFINED) {
        return NULL;
    }
    work->fill = malloc(work->element_size);
    return work->fill == NULL || hdf5->H5Pget_fill_value(work->dcpl, work->type, work->fill) < 0
               ? "the fill value is not clear"
               : NULL;
}

static const char *
check_transfer_list(const struct work *work)
{
    const struct h5twin_hdf5 *const hdf5 = work->hdf5;
    if (work->request->dxpl != H5TWIN_HDF5_DEFAULT_LIST &&
        hdf5->H5Pget_data_transform(work->request->dxpl, NULL, 0) > 0) {
        return "a data transform";
    }
    return NULL;
}

/* H5Dwrite_chunk does not ask whether the file may be written: what it had changed could then not
 * be flushed, and the file not be closed. A read through MPI-IO is HDF5's. */
static const char *
check_file(struct work *work)
{
    const struct h5twin_hdf5 *const hdf5 = work->hdf5;
    const char *why = NULL;
    if (work->source == NULL && !hdf5->has[H5TWIN_HDF5_MPI]) {
        return NULL;
    }
    const h5twin_hid file = hdf5->H5Iget_file_id(work->request->dataset);
    if (file < 0) {
        return "HDF5 does not tell the file";
    }
    unsigned flags = 0;
    bool is_atomic;
    work->is_parallel =
        hdf5->has[H5TWIN_HDF5_MPI] && hdf5->H5Fget_mpi_atomicity(file, &is_atomic) >= 0;
    if (work->source != NULL &&
        (hdf5->H5Fget_intent(file, &flags) < 0 || (flags & H5TWIN_HDF5_READ_WRITE) == 0)) {
        why = "the file is open for reading only";
    } else if (work->is_parallel && work->source == NULL) {
        why = "MPI-IO";
    }
    hdf5->H5Fclose(file);
    return why;
}

/* ---- which part goes in chunks ---- */

/* The whole chunks of the box, those at the dataset's edges included; their number. */
static uint64_t
find_whole_chunks(struct work *work)
{
    const struct h5twin_space_box *const box = &work->selection.file;
    uint64_t chunk_count = 1;
    for (unsigned axis = 0; axis < box->rank; axis++) {
        const uint64_t chunk = work->chunk[axis], dim = box->dims[axis];
        const uint64_t before =
            box->start[axis] % chunk == 0 ? 0 : chunk - box->start[axis] % chunk;
        const uint64_t end = box->start[axis] + box->count[axis];
        const uint64_t inner_end = end == dim ? end : end - end % chunk;
        if (before >= box->count[axis] || box->start[axis] + before >= inner_end) {
            return 0;
        }
        work->start[axis] = box->start[axis] + before;
        work->count[axis] = inner_end - work->start[axis];
        chunk_count *= (work->count[axis] - 1) / chunk + 1;
    }
    return chunk_count;
}

/* Bytes of all chunks that the box touches, decoded; and their number. */
static uint64_t
touched_bytes(const struct work *work, uint64_t *chunk_count)
{
    const struct h5twin_space_box *const box = &work->selection.file;
    *chunk_count = 1;
    for (unsigned axis = 0; axis < box->rank; axis++) {
        const uint64_t last = box->start[axis] + box->count[axis] - 1;
        *chunk_count *= last / work->chunk[axis] - box->start[axis] / work->chunk[axis] + 1;
    }
    return *chunk_count > UINT64_MAX / work->chunk_size ? UINT64_MAX
                                                        : *chunk_count * work->chunk_size;
}

static uint64_t
cache_bytes(const struct work *work)
{
    const struct h5twin_hdf5 *const hdf5 = work->hdf5;
    const h5twin_hid dapl = hdf5->H5Dget_access_plist(work->request->dataset);
    size_t slots, size = USUAL_CACHE;
    double preemption;
    if (dapl >= 0) {
        if (hdf5->H5Pget_chunk_cache(dapl, &slots, &size, &preemption) < 0) {
            size = USUAL_CACHE;
        }
        hdf5->H5Pclose(dapl);
    }
    return size;
}

/* A read of what the cache would not keep needs no faces: their chunks are decoded once, too. */
static const char *
choose_part(struct work *work)
{
    if (work->source == NULL) {
        const struct h5twin_space_box *const box = &work->selection.file;
        uint64_t chunk_count;
        const uint64_t touched = touched_bytes(work, &chunk_count), cache = cache_bytes(work);
        if (chunk_count < 2 && touched <= cache) {
            return "one chunk";
        }
        if (touched <= cache && touched <= USUAL_CACHE) {
            return "it may be in the cache";
        }
        if (touched > cache) {
            memcpy(work->start, box->start, sizeof work->start);
            memcpy(work->count, box->count, sizeof work->count);
            return NULL;
        }
    }
    return find_whole_chunks(work) >= 2 ? NULL : "no two whole chunks";
}

/* All of the box, as HDF5 can do nothing with memory of a GPU: of a chunk that it has in part the
 * rest is kept. What HDF5's cache would collect, parts of few chunks, is left to it. */
static const char *
choose_on_device(struct work *work)
{
    const struct h5twin_space_box *const box = &work->selection.file;
    uint64_t chunk_count;
    const uint64_t touched = touched_bytes(work, &chunk_count), cache = cache_bytes(work);
    if (work->is_parallel) {
        return "MPI-IO";
    }
    if (work->source != NULL ? find_whole_chunks(work) == 0 && touched <= cache
                             : touched <= cache && touched <= USUAL_CACHE) {
        return "it may be in the cache";
    }
    memcpy(work->start, box->start, sizeof work->start);
    memcpy(work->count, box->count, sizeof work->count);
    return NULL;
}

static const char *
examine(struct work *work)
{
    const struct h5twin_hdf5 *const hdf5 = work->hdf5;
    const h5twin_hid dataset = work->request->dataset;
    const char *why = check_type(work);
    if (why != NULL) {
        return why;
    }
    work->dcpl = hdf5->H5Dget_create_plist(dataset);
    work->space = hdf5->H5Dget_space(dataset);
    if (work->dcpl < 0 || work->space < 0) {
        return "HDF5 does not tell how the dataset was created";
    }
    const int rank = hdf5->H5Sget_simple_extent_ndims(work->space);
    why = rank < 1 ? "the dataset has no dims" : check_transfer_list(work);
    if (why == NULL) {
        why = check_file(work);
    }
    if (why == NULL) {
        why = check_layout(work, (unsigned)rank);
    }
    if (why == NULL) {
        why = check_filter(work);
    }
    if (why == NULL) {
        why = h5twin_selection_read(hdf5, work->space, work->request, &work->selection);
    }
    if (why == NULL) {
        why = work->is_on_device ? choose_on_device(work) : choose_part(work);
    }
    if (why == NULL && work->is_parallel) {
        why = h5twin_collective_write_check(hdf5, work->request->dxpl, work->cd.params.codec);
    }
    return why != NULL ? why : read_fill(work);
}

/* ---- the chunks ---- */

/* Elements from the box's first one in memory to one of the dataset. */
static uint64_t
place_in_memory(const struct h5twin_selection *selection, const uint64_t *at)
{
    uint64_t place = selection->first;
    for (unsigned axis = 0; axis < selection->file.rank; axis++) {
        place += (at[axis] - selection->file.start[axis]) * selection->stride[axis];
    }
    return place;
}

/* What is done in chunks. strides has a place for each dim. */
static struct h5twin_transfer
describe(const struct work *work, ptrdiff_t *strides)
{
    const struct h5twin_selection *const selection = &work->selection;
    for (unsigned axis = 0; axis < selection->file.rank; axis++) {
        strides[axis] = (ptrdiff_t)(selection->stride[axis] * work->element_size);
    }
    return (struct h5twin_transfer){.params = &work->cd.params,
                                    .element_size = work->element_size,
                                    .rank = selection->file.rank,
                                    .dims = selection->file.dims,
                                    .chunk = work->chunk,
                                    .start = work->start,
                                    .count = work->count,
                                    .strides = strides,
                                    .fill = work->fill,
                                    .cache = work->target == NULL ? NULL : h5twin_kept_chunks()};
}

static size_t
place_of_chunks(const struct work *work)
{
    return (size_t)place_in_memory(&work->selection, work->start) * work->element_size;
}

/* HDF5 remembers the chunk that it looked up last, and H5Dwrite_chunk leaves there the filter mask
 * that the chunk had before. A chunk that was stored without the filter would then be read so once
 * more. To look up another one ends that. */
static void
look_up_another_chunk(const struct work *work)
{
    uint64_t first[H5TWIN_MAX_DIMS], size;
    for (unsigned axis = 0; axis < work->selection.file.rank; axis++) {
        first[axis] = work->start[axis] / work->chunk[axis] * work->chunk[axis];
    }
    (void)work->hdf5->H5Dget_chunk_storage_size(work->request->dataset, first, &size);
}

static bool
write_chunks(const struct work *work, const struct h5twin_transfer *transfer,
             const struct h5twin_chunk_store *store, const uint8_t *source)
{
    const enum h5twin_status status =
        work->is_on_device ? h5twin_device_transfer_write(transfer, store, source, NULL, NULL)
                           : h5twin_transfer_write(transfer, store, source, NULL);
    look_up_another_chunk(work);
    return status == H5TWIN_OK;
}

static bool
transfer_chunks(const struct work *work)
{
    ptrdiff_t strides[H5TWIN_MAX_DIMS];
    const struct h5twin_transfer transfer = describe(work, strides);
    struct h5twin_chunk_io io = {.hdf5 = work->hdf5,
                                 .dataset = work->request->dataset,
                                 .dxpl = work->request->dxpl,
                                 .chunk_size = work->chunk_size,
                                 .cd = &work->cd,
                                 .fills = work->fills};
    const struct h5twin_chunk_store store = h5twin_chunk_io_store(&io);
    const size_t place = place_of_chunks(work);
    if (work->source != NULL) {
        return write_chunks(work, &transfer, &store, work->source + place);
    }
    return (work->is_on_device
                ? h5twin_device_transfer_read(&transfer, &store, work->target + place, NULL, NULL)
                : h5twin_transfer_read(&transfer, &store, work->target + place, NULL)) == H5TWIN_OK;
}

/* All of the box, by HDF5 itself. */
static enum h5twin_dataset_outcome
write_collectively(const struct work *work, const char **why)
{
    ptrdiff_t strides[H5TWIN_MAX_DIMS];
    const struct h5twin_transfer transfer = describe(work, strides);
    const struct h5twin_ready_chunks ready = {.codec = work->cd.params.codec,
                                              .cd_values = work->cd_values,
                                              .cd_count = work->cd_count,
                                              .chunk_size = work->chunk_size};
    const enum h5twin_dataset_outcome outcome =
        h5twin_collective_write(work->hdf5, work->request, work->source, &transfer,
                                work->source + place_of_chunks(work), &ready);
    *why = outcome == H5TWIN_DATASET_NATIVE ? "MPI-IO, on one thread" : NULL;
    return outcome;
}

/* ---- the rest of the box, by HDF5 ---- */

static void
close_space(const struct h5twin_hdf5 *hdf5, h5twin_hid space)
{
    if (space >= 0) {
        hdf5->H5Sclose(space);
    }
}

static bool
transfer_face(const struct work *work, const uint64_t *start, const uint64_t *count)
{
    const struct h5twin_hdf5 *const hdf5 = work->hdf5;
    const struct h5twin_dataset_request *const request = work->request;
    const unsigned rank = work->selection.file.rank;
    static const uint64_t origin[H5TWIN_MAX_DIMS + 1];
    const size_t place = (size_t)place_in_memory(&work->selection, start) * work->element_size;
    const h5twin_hid file = hdf5->H5Screate_simple((int)rank, work->selection.file.dims, NULL);
    uint64_t extents[H5TWIN_MAX_DIMS + 1], in_memory[H5TWIN_MAX_DIMS + 1];
    memcpy(extents, work->selection.extents, sizeof extents);
    memcpy(in_memory, count, rank * sizeof count[0]);
    extents[0] = count[0];
    in_memory[rank] = 1;
    const h5twin_hid memory =
        hdf5->H5Screate_simple((int)work->selection.memory_rank, extents, NULL);
    int result = -1;
    if (file >= 0 && memory >= 0 &&
        hdf5->H5Sselect_hyperslab(file, H5TWIN_HDF5_SELECT_SET, start, NULL, count, NULL) >= 0 &&
        hdf5->H5Sselect_hyperslab(memory, H5TWIN_HDF5_SELECT_SET, origin, NULL, in_memory, NULL) >=
            0) {
        result = work->source != NULL ? hdf5->H5Dwrite(request->dataset, request->mem_type, memory,
                                                       file, request->dxpl, work->source + place)
                                      : hdf5->H5Dread(request->dataset, request->mem_type, memory,
                                                      file, request->dxpl, work->target + place);
    }
    /* To close clears the stack, where it says why. */
    const h5twin_hid stack = result < 0 ? hdf5->H5Eget_current_stack() : -1;
    close_space(hdf5, file);
    close_space(hdf5, memory);
    if (stack >= 0) {
        hdf5->H5Eset_current_stack(stack);
    }
    return result >= 0;
}

/* Before and behind the chunks along each dim, without what an earlier dim's faces have. */
static bool
transfer_faces(const struct work *work)
{
    const struct h5twin_space_box *const box = &work->selection.file;
    uint64_t start[H5TWIN_MAX_DIMS], count[H5TWIN_MAX_DIMS];
    memcpy(start, box->start, sizeof start);
    memcpy(count, box->count, sizeof count);
    for (unsigned axis = 0; axis < box->rank; axis++) {
        const uint64_t begin = work->start[axis], end = begin + work->count[axis];
        const uint64_t box_end = box->start[axis] + box->count[axis];
        count[axis] = begin - box->start[axis];
        if (count[axis] != 0 && !transfer_face(work, start, count)) {
            return false;
        }
        start[axis] = end;
        count[axis] = box_end - end;
        if (count[axis] != 0 && !transfer_face(work, start, count)) {
            return false;
        }
        start[axis] = begin;
        count[axis] = work->count[axis];
    }
    return true;
}

/* ---- the call ---- */

static void
close_all(struct work *work)
{
    if (work->type > 0) {
        work->hdf5->H5Tclose(work->type);
    }
    if (work->space > 0) {
        work->hdf5->H5Sclose(work->space);
    }
    if (work->dcpl > 0) {
        work->hdf5->H5Pclose(work->dcpl);
    }
}

/* Look at the request, and transfer its chunks but for those that HDF5 itself must. Errors on the
 * way are no one's: nothing is printed, and the stack is as it was. */
static void
run_quietly(struct work *work, const char **why)
{
    const struct h5twin_hdf5 *const hdf5 = work->hdf5;
    h5twin_hdf5_report report;
    void *report_context;
    if (hdf5->H5Eget_auto2(H5TWIN_HDF5_DEFAULT_STACK, &report, &report_context) < 0) {
        *why = "errors are reported as in HDF5 1.6";
        return;
    }
    const h5twin_hid stack = hdf5->H5Eget_current_stack();
    hdf5->H5Eset_auto2(H5TWIN_HDF5_DEFAULT_STACK, NULL, NULL);
    *why = examine(work);
    if (*why == NULL && !work->is_parallel && !transfer_chunks(work)) {
        *why = "a chunk could not be written or read directly";
    }
    close_all(work);
    if (stack >= 0) {
        hdf5->H5Eset_current_stack(stack); /* and closes it */
    }
    hdf5->H5Eset_auto2(H5TWIN_HDF5_DEFAULT_STACK, report, report_context);
}

static enum h5twin_dataset_outcome
run(struct work *work, const char **why)
{
    run_quietly(work, why);
    const enum h5twin_dataset_outcome outcome = *why != NULL        ? H5TWIN_DATASET_NATIVE
                                                : work->is_parallel ? write_collectively(work, why)
                                                : transfer_faces(work) ? H5TWIN_DATASET_DONE
                                                                       : H5TWIN_DATASET_FAILED;
    free(work->fill);
    return outcome;
}

static enum h5twin_dataset_outcome
start(struct work *work, const char **why)
{
    const char *reason = NULL;
    enum h5twin_dataset_outcome outcome = H5TWIN_DATASET_NATIVE;
    if (!has_functions(work->hdf5)) {
        reason = "this HDF5 has not all functions";
    } else if (work->source == NULL && work->target == NULL) {
        reason = "no memory";
    } else {
        outcome = run(work, &reason);
    }
    if (why != NULL) {
        *why = reason;
    }
    return outcome;
}

enum h5twin_dataset_outcome
h5twin_dataset_write(const struct h5twin_hdf5 *hdf5, const struct h5twin_dataset_request *request,
                     const void *buffer, const char **why)
{
    struct work work = {.hdf5 = hdf5, .request = request, .source = buffer};
    return start(&work, why);
}

enum h5twin_dataset_outcome
h5twin_dataset_read(const struct h5twin_hdf5 *hdf5, const struct h5twin_dataset_request *request,
                    void *buffer, const char **why)
{
    struct work work = {.hdf5 = hdf5, .request = request, .target = buffer};
    return start(&work, why);
}

enum h5twin_dataset_outcome
h5twin_dataset_write_on_device(const struct h5twin_hdf5 *hdf5,
                               const struct h5twin_dataset_request *request, const void *device)
{
    struct work work = {.hdf5 = hdf5, .request = request, .source = device, .is_on_device = true};
    return start(&work, NULL);
}

enum h5twin_dataset_outcome
h5twin_dataset_read_on_device(const struct h5twin_hdf5 *hdf5,
                              const struct h5twin_dataset_request *request, void *device)
{
    struct work work = {.hdf5 = hdf5, .request = request, .target = device, .is_on_device = true};
    return start(&work, NULL);
}
