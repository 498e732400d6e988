/* SPDX-License-Identifier: BSD-3-Clause
 * repack_dataset.c: `h5twin repack`: a dataset through the codec, some chunks at once.
 *
 * HDF5 reads, and decodes what was coded; the codec runs on all cores beside it, and what it makes
 * is written as it is. The bytes are those that H5Dwrite would store. */
#include "cd_values.h"
#include "commands.h"
#include "common/parallel.h"
#include "deflate.h"
#include "files.h"
#include "messages.h"
#include "repack_grid.h"
#include "repack_hdf5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES   ((size_t)64 << 20)  /* of values that are coded together */
#define CACHE_BYTES   ((size_t)128 << 20) /* of old chunks, where the new ones are others */
#define CHUNKS_A_CORE 4                   /* in a batch, so that no core waits for long */

/* ---- creating it ---- */

static hid_t
make_plist(const struct h5twin_repack_args *args, const struct h5twin_params *params,
           const struct h5twin_repack_shape *shape, hid_t src)
{
    unsigned words[H5TWIN_USER_CD_VALUES];
    const unsigned count = h5twin_params_to_cd_values(params, words);
    const unsigned id = h5twin_codec_by_id(params->codec)->filter_id;
    const hid_t dcpl = H5Dget_create_plist(src);
    const bool made =
        (H5Pget_nfilters(dcpl) == 0 || H5Premove_filter(dcpl, H5Z_FILTER_ALL) >= 0) &&
        H5Pset_chunk(dcpl, shape->rank, shape->chunk) >= 0 && H5Pset_chunk_opts(dcpl, 0) >= 0 &&
        H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_INCR) >= 0 &&
        H5Pset_filter(dcpl, (H5Z_filter_t)id, H5Z_FLAG_MANDATORY, count, words) >= 0 &&
        (args->deflate_level == 0 || H5Pset_deflate(dcpl, (unsigned)args->deflate_level) >= 0);
    if (!made) {
        H5Pclose(dcpl);
        return H5I_INVALID_HID;
    }
    return dcpl;
}

/* Chunks that are no whole ones of the old dataset are read from several, each of them several
 * times: those along the slowest axis are kept. */
static hid_t
open_with_cache(const struct h5twin_repack_shape *shape, hid_t dataset, size_t element_size,
                hid_t file, const char *path)
{
    size_t size = element_size;
    bool same = shape->was_chunked;
    for (int axis = 0; axis < shape->rank; axis++) {
        same = same && shape->chunk[axis] == shape->old_chunk[axis];
        const hsize_t wanted =
            axis == 0 ? shape->chunk[0] + 2 * shape->old_chunk[0] : shape->dims[axis];
        size = wanted > CACHE_BYTES || size * wanted > CACHE_BYTES ? CACHE_BYTES
                                                                   : size * (size_t)wanted;
    }
    const hid_t dapl = H5Dget_access_plist(dataset);
    if (shape->was_chunked) {
        H5Pset_chunk_cache(dapl, 12421, same ? 0 : size, 1); /* a prime number of places */
    }
    const hid_t opened = H5Dopen2(file, path, dapl);
    H5Pclose(dapl);
    return opened;
}

/* ---- chunks ---- */

struct coded {
    hsize_t offset[H5S_MAX_RANK];
    uint8_t *raw, *chunk, *deflated;
    size_t chunk_size;
    bool is_deflated;
    enum h5twin_status status;
};

struct job {
    struct h5twin_repack *repack;
    struct h5twin_object *object;
    struct h5twin_repack_shape shape;
    struct h5twin_repack_grid grid;
    hid_t src, dst, type, space;
    struct h5twin_params params;
    struct h5twin_exec exec; /* of one chunk */
    unsigned threads;
    int deflate_level;
    size_t capacity;             /* of a coded chunk */
    uint64_t old_size, new_size; /* of all chunks, as stored; new_size grows */
    uint8_t *fill;               /* one element */
    bool is_filled_by_hdf5;      /* where it has no chunk */
    size_t element_size;
    struct coded *batch;
    size_t batch_count;
};

static void
free_batch(struct job *job)
{
    for (size_t i = 0; job->batch != NULL && i < job->batch_count; i++) {
        free(job->batch[i].raw);
        free(job->batch[i].chunk);
        free(job->batch[i].deflated);
    }
    free(job->batch);
    free(job->fill);
    free(job->grid.listed);
}

static bool
fail_memory(struct job *job)
{
    h5twin_fail("%s: there is no memory for chunks of %zu bytes: give smaller --chunks.",
                job->object->path, job->shape.chunk_size);
    job->repack->failed = true;
    return false;
}

static bool
make_batch(struct job *job)
{
    const struct h5twin_exec *const exec = &job->repack->args->exec;
    const size_t room = BATCH_BYTES / job->shape.chunk_size;
    job->threads = exec->threads == 0 ? h5twin_threads_available() : exec->threads;
    const size_t most = job->threads == 1 ? 1 : CHUNKS_A_CORE * (size_t)job->threads;
    job->batch_count = room < 1 ? 1 : room < most ? room : most;
    job->batch_count =
        job->batch_count > job->grid.count ? (size_t)job->grid.count : job->batch_count;
    /* A single chunk has all threads to itself. */
    job->exec = (struct h5twin_exec){.threads = job->batch_count > 1 ? 1 : job->threads};
    job->capacity = h5twin_bound(&job->params, job->shape.chunk_size);
    if (job->capacity == 0) {
        h5twin_fail("%s: chunks of %zu bytes: %s", job->object->path, job->shape.chunk_size,
                    h5twin_status_message(H5TWIN_ERR_TOO_BIG));
        job->repack->failed = true;
        return false;
    }
    job->batch = calloc(job->batch_count + 1, sizeof *job->batch);
    bool made = job->batch != NULL;
    for (size_t i = 0; i < job->batch_count && made; i++) {
        struct coded *const coded = &job->batch[i];
        coded->raw = malloc(job->shape.chunk_size);
        coded->chunk = malloc(job->capacity);
        coded->deflated =
            job->deflate_level > 0 ? malloc(h5twin_deflate_bound(job->capacity)) : NULL;
        made = coded->raw != NULL && coded->chunk != NULL &&
               (job->deflate_level == 0 || coded->deflated != NULL);
    }
    return made || fail_memory(job);
}

/* What HDF5 itself fills chunks with. */
static bool
read_fill(struct job *job, hid_t dcpl)
{
    job->fill = malloc(job->element_size);
    return job->fill != NULL
               ? h5twin_hdf5_unwritten(dcpl, job->type, job->fill, &job->is_filled_by_hdf5)
               : fail_memory(job);
}

/* Chunks hold the fill value beyond the dataset's edge, and where HDF5 reads nothing: if it never
 * fills, it leaves the buffer as it is in place of chunks that are not there. */
static bool
read_chunk(struct job *job, struct coded *coded, hsize_t number)
{
    const struct h5twin_repack_shape *const shape = &job->shape;
    hsize_t extent[H5S_MAX_RANK], zero[H5S_MAX_RANK] = {0};
    bool whole = true;
    for (int axis = shape->rank; axis-- > 0;) {
        coded->offset[axis] = number % job->grid.extent[axis] * shape->chunk[axis];
        number /= job->grid.extent[axis];
        const hsize_t left = shape->dims[axis] - coded->offset[axis];
        extent[axis] = left < shape->chunk[axis] ? left : shape->chunk[axis];
        whole = whole && extent[axis] == shape->chunk[axis];
    }
    if (!whole || !job->is_filled_by_hdf5) {
        h5twin_hdf5_fill(coded->raw, shape->chunk_size, job->fill, job->element_size);
    }
    const hid_t memory = H5Screate_simple(shape->rank, shape->chunk, NULL);
    const bool read =
        memory >= 0 && H5Sselect_hyperslab(memory, H5S_SELECT_SET, zero, NULL, extent, NULL) >= 0 &&
        H5Sselect_hyperslab(job->space, H5S_SELECT_SET, coded->offset, NULL, extent, NULL) >= 0 &&
        H5Dread(job->src, job->type, memory, job->space, H5P_DEFAULT, coded->raw) >= 0;
    if (!read) {
        h5twin_repack_fail(job->repack, job->object->path, "read");
    }
    H5Sclose(memory);
    return read;
}

static void
code_chunk(void *context, size_t index)
{
    const struct job *const job = context;
    struct coded *const coded = &job->batch[index];
    coded->is_deflated = false;
    coded->status = h5twin_encode(&job->params, &job->exec, coded->chunk, job->capacity, coded->raw,
                                  job->shape.chunk_size, &coded->chunk_size);
    if (coded->status == H5TWIN_OK && job->deflate_level > 0) {
        const size_t size = h5twin_deflate(coded->deflated, h5twin_deflate_bound(job->capacity),
                                           coded->chunk, coded->chunk_size, job->deflate_level);
        coded->is_deflated = size > 0 && size < coded->chunk_size;
        coded->chunk_size = coded->is_deflated ? size : coded->chunk_size;
    }
}

static bool
is_larger(const struct job *job)
{
    return job->new_size > 0 && job->new_size >= job->old_size;
}

/* Where deflate is of no use it is left out, which readers are told. From where the dataset does
 * not get smaller any more, its chunks are only counted. */
static bool
write_chunk(struct job *job, const struct coded *coded)
{
    const uint32_t mask = job->deflate_level > 0 && !coded->is_deflated ? 1u << 1 : 0;
    if (coded->status != H5TWIN_OK) {
        h5twin_fail_status(job->object->path, coded->status);
        job->repack->failed = true;
        return false;
    }
    job->new_size += coded->chunk_size;
    return is_larger(job) ||
           H5Dwrite_chunk(job->dst, H5P_DEFAULT, mask, coded->offset, coded->chunk_size,
                          coded->is_deflated ? coded->deflated : coded->chunk) >= 0 ||
           h5twin_repack_fail_to_write(job->repack, job->object->path);
}

static bool
code_chunks(struct job *job)
{
    bool done = true;
    for (hsize_t at = 0; at < job->grid.count && done; at += job->batch_count) {
        const hsize_t left = job->grid.count - at;
        const size_t count = left < job->batch_count ? (size_t)left : job->batch_count;
        for (size_t i = 0; i < count && done; i++) {
            const hsize_t number =
                job->grid.listed == NULL ? at + i : job->grid.listed[(size_t)at + i];
            done = read_chunk(job, &job->batch[i], number);
        }
        if (done && count > 1) {
            h5twin_parallel_for(job->threads, count, code_chunk, job);
        } else if (done) {
            code_chunk(job, 0);
        }
        for (size_t i = 0; i < count && done; i++) {
            done = write_chunk(job, &job->batch[i]);
        }
        h5twin_progress_add(&job->repack->progress, count * job->shape.chunk_size);
    }
    return done;
}

/* ---- all together ---- */

/* What HDF5 made of the parameters for this dataset, once it was created. */
static bool
read_params(struct job *job)
{
    unsigned words[H5TWIN_CD_MAX], flags, config;
    size_t count = H5TWIN_CD_MAX;
    struct h5twin_cd cd;
    const char *why;
    const enum h5twin_codec_id codec = job->object->choice.params.codec;
    const hid_t dcpl = H5Dget_create_plist(job->dst);
    const H5Z_filter_t id = (H5Z_filter_t)h5twin_codec_by_id(codec)->filter_id;
    const bool read =
        H5Pget_filter_by_id2(dcpl, id, &flags, &count, words, 0, NULL, &config) >= 0 &&
        h5twin_cd_read(&cd, codec, words, count, &why) == H5TWIN_OK && cd.has_array &&
        cd.chunk_size == job->shape.chunk_size && read_fill(job, dcpl);
    H5Pclose(dcpl);
    job->params = cd.params;
    return read || h5twin_repack_fail(job->repack, job->object->path, "coded");
}

static bool
code_values(struct job *job)
{
    const bool listed = h5twin_repack_grid_make(&job->grid, &job->shape, job->src, job->space) ||
                        h5twin_repack_fail(job->repack, job->object->path, "read");
    const bool done = listed && (job->grid.count == 0 ||
                                 (h5twin_hdf5_check_filters(job->src, job->repack->args->src_path,
                                                            job->object->path) == H5TWIN_EXIT_OK &&
                                  read_params(job) && make_batch(job) && code_chunks(job)));
    job->repack->failed = job->repack->failed || !done;
    free_batch(job);
    return done;
}

static void
count_and_print(struct h5twin_repack *repack, const struct job *job)
{
    const uint64_t whole = h5twin_hdf5_raw_size(job->dst);
    const uint64_t written = job->grid.count * job->shape.chunk_size;
    struct h5twin_repack_row row = {
        .path = job->object->path,
        .raw_size = written < whole ? written : whole, /* of what was ever written */
        .old_size = job->old_size,
        .new_size = job->new_size};
    repack->coded_count++;
    repack->raw_size += row.raw_size;
    repack->old_size += row.old_size;
    repack->new_size += row.new_size;
    job->object->is_coded = true;
    h5twin_params_format(&job->object->choice.params, row.spec, sizeof row.spec);
    h5twin_hdf5_shape_text(job->shape.rank, job->shape.chunk, row.chunks);
    h5twin_progress_clear(&repack->progress);
    h5twin_repack_row_add(&repack->report, repack->args, &row);
}

/* "kept shuffle, gzip: would be 1.30 times as large" */
static void
tell_kept(const struct job *job, char kept[H5TWIN_KEPT_TEXT])
{
    const hid_t dcpl = H5Dget_create_plist(job->src);
    const int filter_count = H5Pget_nfilters(dcpl);
    const double ratio = (double)job->new_size / (double)job->old_size;
    char names[200];
    size_t length =
        (size_t)snprintf(names, sizeof names, filter_count > 0 ? "" : "without a filter");
    for (int i = 0; i < filter_count && length < sizeof names; i++) {
        unsigned flags, config;
        size_t word_count = 0;
        char name[64] = "";
        const H5Z_filter_t id = H5Pget_filter2(dcpl, (unsigned)i, &flags, &word_count, NULL,
                                               sizeof name, name, &config);
        const struct h5twin_codec_info *const codec = h5twin_hdf5_codec(id);
        if (name[0] == '\0') {
            snprintf(name, sizeof name, "filter %d", (int)id);
        }
        length +=
            (size_t)snprintf(names + length, sizeof names - length, "%s%s", i == 0 ? "" : ", ",
                             codec != NULL              ? codec->name
                             : id == H5Z_FILTER_DEFLATE ? "gzip"
                                                        : name);
    }
    H5Pclose(dcpl);
    if (job->new_size == job->old_size) {
        snprintf(kept, H5TWIN_KEPT_TEXT, "kept %s: would be as large", names);
    } else {
        snprintf(kept, H5TWIN_KEPT_TEXT, "kept %s: would be %.*f times as large", names,
                 ratio < 1.01 ? 6 : 2, ratio);
    }
}

/* What came to be of it is given back; HDF5 uses the room for the old chunks then. */
static bool
remove_again(struct job *job, hid_t group, const char *name)
{
    const hid_t dataset = job->dst;
    job->dst = H5I_INVALID_HID;
    return h5twin_repack_close(job->repack, job->object->path, dataset) &&
           (H5Ldelete(group, name, H5P_DEFAULT) >= 0 ||
            h5twin_repack_fail_to_write(job->repack, job->object->path));
}

static void
close_job(const struct job *job)
{
    H5Dclose(job->src);
    H5Sclose(job->space);
    H5Tclose(job->type);
}

/* noa=E of the whole dataset: once its range is known, that is an absolute bound. */
static bool
set_bound(struct job *job, hid_t dataset)
{
    struct h5twin_params *const params = &job->object->choice.params;
    size_t size;
    H5T_order_t order;
    double bound;
    if (params->mode != H5TWIN_NOA || !h5twin_hdf5_is_floats(job->type, &size, &order)) {
        return true;
    }
    if (h5twin_hdf5_check_filters(dataset, job->repack->args->src_path, job->object->path) !=
            H5TWIN_EXIT_OK ||
        !h5twin_repack_range_bound(&job->shape, params, job->src, &bound)) {
        return h5twin_repack_fail(job->repack, job->object->path, "read");
    }
    params->mode = bound > 0 ? H5TWIN_ABS : H5TWIN_LOSSLESS;
    params->error_bound = bound > 0 ? bound : 0;
    if (!(bound > 0)) { /* one value, or none: nothing to lose */
        params->has_fill = false;
    }
    return true;
}

bool
h5twin_repack_code(struct h5twin_repack *repack, struct h5twin_object *object, hid_t dataset,
                   hid_t group, const char *name, hid_t lcpl, char kept[H5TWIN_KEPT_TEXT])
{
    struct job job = {.repack = repack, .object = object};
    if (!h5twin_repack_shape_read(&object->choice, &job.shape, dataset)) {
        if (job.shape.rank < 0) {
            return h5twin_repack_fail(repack, object->path, "read");
        }
        h5twin_progress_clear(&repack->progress);
        h5twin_fail("%s has %d dims, but --chunks %u: name datasets of one rank with --only.",
                    object->path, job.shape.rank, (unsigned)object->choice.chunk_shape.rank);
        repack->failed = true;
        return false;
    }
    job.type = H5Dget_type(dataset);
    job.space = H5Dget_space(dataset);
    job.element_size = H5Tget_size(job.type);
    job.deflate_level = repack->args->deflate_level;
    job.old_size = H5Dget_storage_size(dataset);
    job.src = open_with_cache(&job.shape, dataset, job.element_size, repack->src, object->path);
    if (repack->args->noa_of_dataset && !set_bound(&job, dataset)) {
        close_job(&job);
        return false;
    }
    const hid_t type = h5twin_repack_type(repack, job.type);
    const hid_t dcpl = make_plist(repack->args, &object->choice.params, &job.shape, dataset);
    job.dst = dcpl < 0 ? dcpl : H5Dcreate2(group, name, type, job.space, lcpl, dcpl, H5P_DEFAULT);
    bool done = job.dst >= 0 || h5twin_repack_fail(repack, object->path, "coded");
    done = done && code_values(&job);
    if (done && is_larger(&job)) {
        tell_kept(&job, kept);
        done = remove_again(&job, group, name);
    } else if (done) {
        count_and_print(repack, &job);
    }
    done = h5twin_repack_close(repack, object->path, job.dst) && done;
    H5Pclose(dcpl);
    H5Tclose(type);
    close_job(&job);
    return done;
}
