/* SPDX-License-Identifier: BSD-3-Clause
 * suggest_trial.c: encode and decode a sample with one spec: sizes, times, largest error. */
#include "common/byte_order.h"
#include "common/values.h"
#include "suggest.h"
#include "timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_RUNS    3
#define MOST_RUNS     31
#define LONG_ENOUGH_S 0.1

/* One pass over the pieces. */
struct pass {
    const struct h5twin_sample *sample;
    const struct h5twin_params *params;
    const struct h5twin_exec *exec;
    uint8_t *chunks; /* each at a multiple of capacity */
    size_t capacity;
    size_t chunk_sizes[H5TWIN_MAX_PIECES];
    uint8_t *decoded;
};

static enum h5twin_status
encode_pieces(struct pass *pass)
{
    const struct h5twin_sample *const sample = pass->sample;
    enum h5twin_status status = H5TWIN_OK;
    for (unsigned i = 0; i < sample->piece_count && status == H5TWIN_OK; i++) {
        status = h5twin_encode(pass->params, pass->exec, pass->chunks + i * pass->capacity,
                               pass->capacity, sample->data + i * sample->piece_size,
                               sample->piece_size, &pass->chunk_sizes[i]);
    }
    return status;
}

static enum h5twin_status
decode_pieces(struct pass *pass)
{
    const struct h5twin_sample *const sample = pass->sample;
    enum h5twin_status status = H5TWIN_OK;
    for (unsigned i = 0; i < sample->piece_count && status == H5TWIN_OK; i++) {
        size_t size;
        status =
            h5twin_decode(pass->exec, pass->decoded + i * sample->piece_size, sample->piece_size,
                          pass->chunks + i * pass->capacity, pass->chunk_sizes[i], &size);
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

/* Median time of several runs, after one that is not counted: it touches the memory first. */
static enum h5twin_status
time_pass(enum h5twin_status (*run)(struct pass *pass), struct pass *pass, double *median)
{
    double times[MOST_RUNS], total = 0;
    unsigned runs = 0;
    enum h5twin_status status = run(pass);
    while (status == H5TWIN_OK && runs < MOST_RUNS &&
           (runs < LEAST_RUNS || total < LONG_ENOUGH_S)) {
        const double start = h5twin_seconds(CLOCK_MONOTONIC);
        status = run(pass);
        times[runs] = h5twin_seconds(CLOCK_MONOTONIC) - start;
        total += times[runs++];
    }
    if (status == H5TWIN_OK) {
        h5twin_sort_times(times, runs);
        *median = times[runs / 2];
    }
    return status;
}

/* ---- what came back ---- */

static double
load_value(const uint8_t *src, const struct h5twin_params *params)
{
    uint8_t bytes[8];
    memcpy(bytes, src, params->element_size);
    if (params->big_endian) {
        h5twin_swap_words(bytes, bytes, params->element_size, params->element_size);
    }
    return h5twin_value_at(bytes, 0, params->element_size);
}

static double
find_max_error(const struct pass *pass)
{
    const struct h5twin_sample *const sample = pass->sample;
    const size_t size = sample->piece_size * sample->piece_count;
    const size_t step = sample->params.element_size;
    double max_error = 0;
    for (size_t at = 0; at + step <= size; at += step) {
        const double value = load_value(sample->data + at, &sample->params);
        const double error = fabs(value - load_value(pass->decoded + at, &sample->params));
        if (isfinite(value) && !(error <= max_error)) {
            max_error = error;
        }
    }
    return max_error;
}

enum h5twin_status
h5twin_trial_run(struct h5twin_trial *trial, const struct h5twin_sample *sample,
                 const struct h5twin_exec *exec, const char *spec)
{
    struct h5twin_params params = sample->params;
    enum h5twin_status status = h5twin_params_parse(&params, spec, NULL);
    if (status != H5TWIN_OK) {
        return status;
    }
    const size_t capacity = h5twin_bound(&params, sample->piece_size);
    if (capacity == 0) {
        return H5TWIN_ERR_TOO_BIG;
    }
    const size_t size = sample->piece_size * sample->piece_count;
    struct pass pass = {.sample = sample,
                        .params = &params,
                        .exec = exec,
                        .chunks = malloc(capacity * sample->piece_count),
                        .capacity = capacity,
                        .decoded = malloc(size)};
    *trial = (struct h5twin_trial){.mode = params.mode, .error_bound = params.error_bound};
    status = pass.chunks == NULL || pass.decoded == NULL ? H5TWIN_ERR_MEMORY : H5TWIN_OK;
    if (status == H5TWIN_OK) {
        status = time_pass(encode_pieces, &pass, &trial->encode_time);
    }
    if (status == H5TWIN_OK) {
        status = time_pass(decode_pieces, &pass, &trial->decode_time);
    }
    if (status == H5TWIN_OK) {
        for (unsigned i = 0; i < sample->piece_count; i++) {
            trial->stored_size += pass.chunk_sizes[i];
        }
        trial->exact = memcmp(sample->data, pass.decoded, size) == 0;
        trial->max_error = trial->exact || params.kind != H5TWIN_FLOAT ? 0 : find_max_error(&pass);
    }
    free(pass.chunks);
    free(pass.decoded);
    return status;
}

double
h5twin_trial_memcpy(const struct h5twin_sample *sample)
{
    double median = 0;
    struct pass pass = {.sample = sample,
                        .decoded = malloc(sample->piece_size * sample->piece_count)};
    if (pass.decoded != NULL) {
        time_pass(copy_pieces, &pass, &median);
    }
    free(pass.decoded);
    return median;
}
