/* SPDX-License-Identifier: BSD-3-Clause
 * suggest_trial.c: encode and decode a sample with one spec: sizes, times,
 * errors. */
#include "compare.h"
#include "deflate.h"
#include "suggest.h"
#include "timing.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RUNS     31
#define LONG_ENOUGH_S 0.02
#define TOO_LONG_S    0.1 /* for slow codecs the first pieces must do: those are spread, too */
#define LEAST_PIECES  4
#define LEAST_GAIN    0.01  /* share of the size that a spec must save to be of use */
#define STORAGE       0.5e9 /* bytes a second, for the balance of size and speed */

/* One pass over the pieces. */
struct pass {
    const struct h5twin_sample *sample;
    const struct h5twin_spec *spec;
    struct h5twin_params params;
    const struct h5twin_exec *exec;
    uint8_t *chunks; /* each at a multiple of capacity */
    size_t capacity;
    size_t chunk_sizes[H5TWIN_MAX_PIECES];
    unsigned piece_count; /* of the sample */
    uint8_t *between;     /* what one stage leaves for the next: capacity bytes */
    uint8_t *decoded;
};

/* ---- a piece, as HDF5 would send it through its filters ---- */

/* Byte k of every element, then byte k + 1: what HDF5's shuffle does; and back. */
static void
shuffle(uint8_t *dst, const uint8_t *src, size_t size, size_t element_size, bool back)
{
    const size_t count = size / element_size;
    for (size_t byte = 0; byte < element_size; byte++) {
        for (size_t i = 0; i < count; i++) {
            if (back) {
                dst[i * element_size + byte] = src[byte * count + i];
            } else {
                dst[byte * count + i] = src[i * element_size + byte];
            }
        }
    }
}

static enum h5twin_status
encode_piece(struct pass *pass, const uint8_t *src, uint8_t *dst, size_t *dst_size)
{
    const struct h5twin_spec *const spec = pass->spec;
    const size_t size = pass->sample->piece_size;
    size_t between_size = size;
    enum h5twin_status status = H5TWIN_OK;
    if (spec->peer != H5TWIN_PEER_NONE) {
        shuffle(pass->between, src, size, pass->params.element_size, false);
    } else {
        status = h5twin_encode(&pass->params, pass->exec, spec->level == 0 ? dst : pass->between,
                               pass->capacity, src, size, &between_size);
    }
    if (spec->peer == H5TWIN_PEER_NONE && spec->level == 0) {
        *dst_size = between_size;
        return status;
    }
    *dst_size = status != H5TWIN_OK ? 1
                : spec->peer == H5TWIN_PEER_ZSTD
                    ? h5twin_zstd(dst, pass->capacity, pass->between, between_size, spec->level)
                    : h5twin_deflate(dst, pass->capacity, pass->between, between_size, spec->level);
    return *dst_size == 0 ? H5TWIN_ERR_MEMORY : status;
}

static enum h5twin_status
decode_piece(struct pass *pass, const uint8_t *src, size_t src_size, uint8_t *dst)
{
    const struct h5twin_spec *const spec = pass->spec;
    const size_t size = pass->sample->piece_size;
    size_t between_size = src_size;
    const uint8_t *between = src;
    if (spec->peer != H5TWIN_PEER_NONE || spec->level != 0) {
        between = pass->between;
        between_size = spec->peer == H5TWIN_PEER_ZSTD
                           ? h5twin_unzstd(pass->between, pass->capacity, src, src_size)
                           : h5twin_inflate(pass->between, pass->capacity, src, src_size);
    }
    if (spec->peer != H5TWIN_PEER_NONE) {
        shuffle(dst, between, size, pass->params.element_size, true);
        return between_size == size ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
    }
    size_t decoded_size;
    return h5twin_decode(pass->exec, dst, size, between, between_size, &decoded_size);
}

/* ---- all pieces ---- */

static enum h5twin_status
encode_pieces(struct pass *pass)
{
    const size_t size = pass->sample->piece_size;
    enum h5twin_status status = H5TWIN_OK;
    for (unsigned i = 0; i < pass->piece_count && status == H5TWIN_OK; i++) {
        status = encode_piece(pass, pass->sample->data + i * size,
                              pass->chunks + i * pass->capacity, &pass->chunk_sizes[i]);
    }
    return status;
}

static enum h5twin_status
decode_pieces(struct pass *pass)
{
    const size_t size = pass->sample->piece_size;
    enum h5twin_status status = H5TWIN_OK;
    for (unsigned i = 0; i < pass->piece_count && status == H5TWIN_OK; i++) {
        status = decode_piece(pass, pass->chunks + i * pass->capacity, pass->chunk_sizes[i],
                              pass->decoded + i * size);
    }
    return status;
}

static enum h5twin_status
copy_pieces(struct pass *pass)
{
    const struct h5twin_sample *const sample = pass->sample;
    memcpy(pass->decoded, sample->data, sample->piece_size * sample->piece_count);
    return H5TWIN_OK;
}

/* Median time of several runs; one is enough where it takes long. The memory was touched before.
 * *least: the processor time of the run that took least of it. */
static enum h5twin_status
time_pass(enum h5twin_status (*run)(struct pass *pass), struct pass *pass, double *median,
          double *least)
{
    double times[MOST_RUNS], total = 0;
    unsigned runs = 0;
    enum h5twin_status status = H5TWIN_OK;
    while (status == H5TWIN_OK && runs < MOST_RUNS && total < LONG_ENOUGH_S) {
        const double start = h5twin_seconds(CLOCK_MONOTONIC);
        const double start_work = h5twin_seconds(CLOCK_PROCESS_CPUTIME_ID);
        status = run(pass);
        const double work = h5twin_seconds(CLOCK_PROCESS_CPUTIME_ID) - start_work;
        *least = runs == 0 || work < *least ? work : *least;
        times[runs] = h5twin_seconds(CLOCK_MONOTONIC) - start;
        total += times[runs++];
    }
    if (status == H5TWIN_OK) {
        h5twin_sort_times(times, runs);
        *median = times[runs / 2];
    }
    return status;
}

/* Fewer pieces, as many as take TOO_LONG_S, for a codec whose run over all took so long. */
static void
leave_out(struct pass *pass, double taken)
{
    const unsigned enough =
        taken > TOO_LONG_S ? (unsigned)(pass->piece_count * (TOO_LONG_S / taken)) : UINT_MAX;
    const unsigned least = enough < LEAST_PIECES ? LEAST_PIECES : enough;
    pass->piece_count = least < pass->piece_count ? least : pass->piece_count;
}

/* ---- what came back ---- */

static void
measure_errors(struct h5twin_trial *trial, const struct pass *pass)
{
    const struct h5twin_sample *const sample = pass->sample;
    const size_t size = sample->piece_size * pass->piece_count;
    struct h5twin_comparison comparison = {.value_count = 0};
    trial->exact = memcmp(sample->data, pass->decoded, size) == 0;
    trial->psnr = (double)INFINITY;
    if (!trial->exact && pass->params.kind == H5TWIN_FLOAT) {
        comparison.promise.has_fill = pass->params.has_fill;
        comparison.promise.fill = pass->params.fill;
        h5twin_compare(&comparison, &sample->params, sample->data, &sample->params, pass->decoded,
                       size / sample->params.element_size);
        trial->max_error = comparison.max_error;
        trial->psnr = h5twin_compare_psnr(&comparison);
    }
}

static bool
get_memory(struct pass *pass)
{
    const struct h5twin_sample *const sample = pass->sample;
    const size_t size = sample->piece_size * sample->piece_count;
    pass->chunks = malloc(pass->capacity * sample->piece_count);
    pass->between = malloc(pass->capacity);
    pass->decoded = malloc(size);
    if (pass->chunks == NULL || pass->between == NULL || pass->decoded == NULL) {
        return false;
    }
    for (unsigned i = 0; i < sample->piece_count; i++) { /* chunks rarely grow */
        memset(pass->chunks + i * pass->capacity, 0, sample->piece_size);
    }
    memset(pass->between, 0, pass->capacity);
    memset(pass->decoded, 0, size);
    return true;
}

static enum h5twin_status
begin_pass(struct pass *pass, const struct h5twin_sample *sample, const struct h5twin_exec *exec,
           const struct h5twin_spec *spec)
{
    *pass = (struct pass){.sample = sample,
                          .spec = spec,
                          .params = sample->params,
                          .exec = exec,
                          .piece_count = sample->piece_count};
    enum h5twin_status status = H5TWIN_OK;
    size_t bound = sample->piece_size;
    if (spec->peer == H5TWIN_PEER_NONE) {
        char text[H5TWIN_SPEC_TEXT];
        h5twin_params_format(&spec->params, text, sizeof text);
        status = h5twin_params_parse(&pass->params, text, NULL);
        bound = status == H5TWIN_OK ? h5twin_bound(&pass->params, sample->piece_size) : 0;
    }
    if (status != H5TWIN_OK || bound == 0) {
        return status != H5TWIN_OK ? status : H5TWIN_ERR_TOO_BIG;
    }
    const size_t deflated = h5twin_deflate_bound(bound), zstd = h5twin_zstd_bound(bound);
    pass->capacity = bound > deflated ? bound : deflated;
    pass->capacity = pass->capacity > zstd ? pass->capacity : zstd;
    return H5TWIN_OK;
}

/* Sizes of what is stored; speed is no matter, so all cores may work. */
static enum h5twin_status
measure_store(struct h5twin_trial *trial, const struct h5twin_sample *store,
              const struct h5twin_spec *spec)
{
    struct pass pass;
    const struct h5twin_exec exec = {.threads = 0, .device = H5TWIN_DEVICE_CPU};
    enum h5twin_status status = begin_pass(&pass, store, &exec, spec);
    if (status != H5TWIN_OK) {
        return status;
    }
    uint8_t *const chunk = malloc(pass.capacity);
    pass.between = malloc(pass.capacity);
    status = chunk == NULL || pass.between == NULL ? H5TWIN_ERR_MEMORY : H5TWIN_OK;
    trial->raw_size = (uint64_t)store->piece_size * store->piece_count;
    trial->stored_size = 0;
    for (unsigned i = 0; i < store->piece_count && status == H5TWIN_OK; i++) {
        size_t size;
        status = encode_piece(&pass, store->data + i * store->piece_size, chunk, &size);
        trial->stored_size += status == H5TWIN_OK ? size : 0;
    }
    free(chunk);
    free(pass.between);
    return status;
}

enum h5twin_status
h5twin_trial_run(struct h5twin_trial *trial, const struct h5twin_sample *sample,
                 const struct h5twin_exec *exec, const struct h5twin_spec *spec)
{
    struct pass pass;
    double encoding = 0, decoding = 0;
    enum h5twin_status status = begin_pass(&pass, sample, exec, spec);
    if (status != H5TWIN_OK) {
        return status;
    }
    *trial =
        (struct h5twin_trial){.mode = pass.params.mode, .error_bound = pass.params.error_bound};
    status = get_memory(&pass) ? H5TWIN_OK : H5TWIN_ERR_MEMORY;
    if (status == H5TWIN_OK) {
        const double start = h5twin_seconds(CLOCK_MONOTONIC);
        status = encode_pieces(&pass);
        trial->raw_size = (uint64_t)sample->piece_size * pass.piece_count;
        for (unsigned i = 0; i < pass.piece_count && status == H5TWIN_OK; i++) {
            trial->stored_size += pass.chunk_sizes[i];
        }
        leave_out(&pass, h5twin_seconds(CLOCK_MONOTONIC) - start);
        trial->timed_size = (uint64_t)sample->piece_size * pass.piece_count;
    }
    if (status == H5TWIN_OK) {
        status = time_pass(encode_pieces, &pass, &trial->encode_time, &encoding);
    }
    if (status == H5TWIN_OK) {
        status = time_pass(decode_pieces, &pass, &trial->decode_time, &decoding);
    }
    if (status == H5TWIN_OK) {
        /* A GPU's work is no processor's. */
        trial->processor_time = exec->device == H5TWIN_DEVICE_GPU
                                    ? trial->encode_time + trial->decode_time
                                    : encoding + decoding;
        measure_errors(trial, &pass);
    }
    free(pass.chunks);
    free(pass.between);
    free(pass.decoded);
    return status == H5TWIN_OK && sample->store != NULL ? measure_store(trial, sample->store, spec)
                                                        : status;
}

double
h5twin_trial_cost(const struct h5twin_trial *trial, enum h5twin_best kind)
{
    const double timed = (double)trial->timed_size;
    const double share = (double)trial->stored_size / (double)trial->raw_size;
    return kind == H5TWIN_BEST_RATIO ? share
           : kind == H5TWIN_FASTEST  ? (trial->encode_time + trial->decode_time) / timed
                                     : trial->processor_time / timed + 2 * share / STORAGE;
}

bool
h5twin_trial_is_worth_it(const struct h5twin_trial *trial)
{
    return (double)trial->stored_size <= (1 - LEAST_GAIN) * (double)trial->raw_size;
}

double
h5twin_trial_memcpy(const struct h5twin_sample *sample)
{
    double median = 0, work;
    struct pass pass = {.sample = sample,
                        .decoded = malloc(sample->piece_size * sample->piece_count)};
    if (pass.decoded != NULL) {
        copy_pieces(&pass); /* touches the memory */
        time_pass(copy_pieces, &pass, &median, &work);
    }
    free(pass.decoded);
    return median;
}
