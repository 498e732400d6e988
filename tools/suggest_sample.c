/* SPDX-License-Identifier: BSD-3-Clause
 * suggest_sample.c: which pieces of an array `h5twin suggest` tries, and reading them from a file
 * of numbers or from memory. */
#include "commands.h"
#include "files.h"
#include "messages.h"
#include "run/chunk_shape.h"
#include "suggest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES  ((size_t)64 << 10) /* more and smaller pieces see more of an array */
#define LEAST_PIECES 4
#define GOLDEN       0.6180339887498949
#define LEAST_CHUNK  16384 /* bytes: smaller ones say little about a codec */

static uint64_t
count_elements(const uint64_t *extents, uint32_t rank)
{
    uint64_t count = 1;
    for (uint32_t axis = 0; axis < rank; axis++) {
        count *= extents[axis];
    }
    return count;
}

static uint64_t
greatest_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* About 0.618 of count, and without a common divisor: its multiples, modulo count, are all numbers
 * below, any few in sequence far from each other. */
static uint64_t
golden_step(uint64_t count)
{
    uint64_t step = (uint64_t)((double)count * GOLDEN);
    while (step > 1 && greatest_divisor(step, count) != 1) {
        step--;
    }
    return step < 1 ? 1 : step;
}

/* whole * part / parts, where the product may be too large. */
static uint64_t
part_of(uint64_t whole, uint64_t part, uint64_t parts)
{
    const uint64_t found = (uint64_t)((double)whole * ((double)part / (double)parts));
    return found < whole ? found : whole;
}

/* All places that pieces could have, one after the other, are cut into as many runs as there are
 * pieces, each somewhere in its own: evenly spread, and on no line or plane. The first few pieces
 * are as well spread as all. */
static void
place(struct h5twin_sample_plan *plan, const struct h5twin_params *params, bool in_chunks)
{
    uint64_t places[H5TWIN_MAX_RANK];
    for (uint32_t axis = 0; axis < params->rank; axis++) {
        places[axis] = params->dims[axis] / plan->extents[axis] +
                       (!in_chunks && params->dims[axis] % plan->extents[axis] != 0);
    }
    const uint64_t place_count = count_elements(places, params->rank);
    plan->piece_count = plan->piece_count > place_count ? (unsigned)place_count : plan->piece_count;
    const double run = (double)place_count / plan->piece_count;
    const uint64_t step = golden_step(plan->piece_count);
    for (unsigned piece = 0; piece < plan->piece_count; piece++) {
        const uint64_t number = piece * step % plan->piece_count;
        const double within = fmod((double)(number + 1) * GOLDEN, 1);
        uint64_t at = (uint64_t)(((double)number + within) * run);
        at = at < place_count ? at : place_count - 1;
        for (uint32_t axis = params->rank; axis-- > 0;) {
            const uint64_t last = params->dims[axis] - plan->extents[axis];
            const uint64_t index = at % places[axis];
            plan->starts[piece][axis] = in_chunks          ? index * plan->extents[axis]
                                        : places[axis] > 1 ? part_of(last, index, places[axis] - 1)
                                                           : 0;
            at /= places[axis];
        }
    }
}

void
h5twin_sample_plan_make(struct h5twin_sample_plan *plan, const struct h5twin_params *params,
                        const uint64_t *chunk, size_t sample_size)
{
    const uint64_t sample_count = sample_size / params->element_size;
    const size_t wanted = sample_size / PIECE_BYTES;
    const size_t pieces = wanted < LEAST_PIECES        ? LEAST_PIECES
                          : wanted > H5TWIN_MAX_PIECES ? H5TWIN_MAX_PIECES
                                                       : wanted;
    *plan = (struct h5twin_sample_plan){.piece_count = 1};
    memcpy(plan->extents, params->dims, sizeof params->dims);
    if (count_elements(params->dims, params->rank) <= sample_count) {
        return;
    }
    uint64_t whole[H5TWIN_MAX_RANK]; /* what a piece is a part of */
    memcpy(whole, params->dims, sizeof params->dims);
    for (uint32_t axis = 0; chunk != NULL && axis < params->rank; axis++) {
        whole[axis] = chunk[axis] < params->dims[axis] ? chunk[axis] : params->dims[axis];
    }
    if (count_elements(whole, params->rank) * params->element_size < LEAST_CHUNK) {
        memcpy(whole, params->dims, sizeof params->dims);
    }
    h5twin_chunk_shape_within(params->rank, whole, sample_count / pieces, plan->extents);
    const uint64_t fitting = sample_count / count_elements(plan->extents, params->rank);
    plan->piece_count = fitting < 1                   ? 1
                        : fitting > H5TWIN_MAX_PIECES ? H5TWIN_MAX_PIECES
                                                      : (unsigned)fitting;
    place(plan, params, chunk != NULL);
}

bool
h5twin_sample_plan_store(struct h5twin_sample_plan *plan, const struct h5twin_params *params,
                         const uint64_t *chunk, size_t sample_size)
{
    const uint64_t most = sample_size > SIZE_MAX / H5TWIN_STORE_SAMPLES
                              ? SIZE_MAX / params->element_size
                              : sample_size * H5TWIN_STORE_SAMPLES / params->element_size;
    const uint64_t all = count_elements(params->dims, params->rank);
    *plan = (struct h5twin_sample_plan){.piece_count = 1};
    memcpy(plan->extents, params->dims, sizeof params->dims);
    for (uint32_t axis = 0; chunk != NULL && axis < params->rank; axis++) {
        plan->extents[axis] = chunk[axis] < params->dims[axis] ? chunk[axis] : params->dims[axis];
    }
    if (chunk == NULL && all > most) {
        h5twin_chunk_shape(params->rank, params->dims, params->element_size, plan->extents);
    }
    const uint64_t count = count_elements(plan->extents, params->rank);
    if (count < LEAST_CHUNK / params->element_size || count > most ||
        all <= sample_size / params->element_size) {
        return false;
    }
    plan->piece_count =
        most / count > H5TWIN_MAX_PIECES ? H5TWIN_MAX_PIECES : (unsigned)(most / count);
    place(plan, params, true);
    return true;
}

void
h5twin_sample_free(struct h5twin_sample *sample)
{
    if (sample->store != NULL) {
        free(sample->store->data);
    }
    free(sample->store);
    free(sample->data);
    *sample = (struct h5twin_sample){.data = NULL};
}

bool
h5twin_sample_begin(struct h5twin_sample *sample, const struct h5twin_sample_plan *plan,
                    const struct h5twin_params *params)
{
    const uint64_t piece_count = count_elements(plan->extents, params->rank);
    *sample = (struct h5twin_sample){
        .params = *params,
        .array_size = count_elements(params->dims, params->rank) * params->element_size,
        .piece_size = (size_t)(piece_count * params->element_size),
        .piece_count = plan->piece_count,
    };
    memcpy(sample->array_dims, params->dims, sizeof params->dims);
    memcpy(sample->params.dims, plan->extents, sizeof plan->extents);
    sample->data = h5twin_memory_get(sample->piece_size * sample->piece_count, "sample");
    return sample->data != NULL;
}

bool
h5twin_sample_begin_store(struct h5twin_sample *sample, const struct h5twin_sample_plan *plan,
                          const struct h5twin_params *params)
{
    sample->store = malloc(sizeof *sample->store);
    if (sample->store == NULL) {
        h5twin_fail("there is no memory for the sample.");
        return false;
    }
    return h5twin_sample_begin(sample->store, plan, params);
}

/* ---- from numbers one after the other ---- */

/* Where they are: in a file, or in memory. */
struct numbers {
    FILE *file;
    const uint8_t *data; /* NULL: in the file */
};

static bool
read_bytes(const struct numbers *numbers, uint8_t *dst, uint64_t offset, size_t size)
{
    if (numbers->data != NULL) {
        memcpy(dst, numbers->data + offset, size);
        return true;
    }
    return fseeko(numbers->file, (off_t)offset, SEEK_SET) == 0 &&
           fread(dst, 1, size, numbers->file) == size;
}

/* A piece row by row: the fastest axis is contiguous. */
static bool
read_piece(const struct numbers *numbers, uint8_t *dst, const struct h5twin_params *params,
           const struct h5twin_sample_plan *plan, unsigned piece)
{
    const uint32_t last = params->rank - 1;
    const size_t row_size = (size_t)plan->extents[last] * params->element_size;
    const uint64_t row_count = count_elements(plan->extents, last);
    for (uint64_t row = 0; row < row_count; row++) {
        uint64_t rest = row, offset = 0, stride = 1;
        for (uint32_t axis = params->rank; axis-- > 0;) {
            const uint64_t extent = axis == last ? 1 : plan->extents[axis];
            offset += (plan->starts[piece][axis] + rest % extent) * stride;
            rest /= extent;
            stride *= params->dims[axis];
        }
        if (!read_bytes(numbers, dst + row * row_size, offset * params->element_size, row_size)) {
            return false;
        }
    }
    return true;
}

static bool
read_pieces(struct h5twin_sample *sample, const struct numbers *numbers,
            const struct h5twin_params *params, const struct h5twin_sample_plan *plan)
{
    bool read = true;
    for (unsigned i = 0; i < sample->piece_count && read; i++) {
        read = read_piece(numbers, sample->data + i * sample->piece_size, params, plan, i);
    }
    return read;
}

bool
h5twin_sample_memory(struct h5twin_sample *sample, const struct h5twin_params *params,
                     const void *data, size_t sample_size)
{
    struct h5twin_sample_plan plan;
    const struct numbers numbers = {.data = data};
    h5twin_sample_plan_make(&plan, params, NULL, sample_size);
    if (!h5twin_sample_begin(sample, &plan, params)) {
        return false;
    }
    return read_pieces(sample, &numbers, params, &plan) &&
           (!h5twin_sample_plan_store(&plan, params, NULL, sample_size) ||
            (h5twin_sample_begin_store(sample, &plan, params) &&
             read_pieces(sample->store, &numbers, params, &plan)));
}

/* Its size in bytes; negative if it cannot be told. */
static off_t
file_size(FILE *file)
{
    return fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : -1;
}

static int
check_size(struct h5twin_params *params, const char *path, uint64_t size)
{
    uint64_t dims_size = params->element_size;
    for (uint32_t axis = 0; axis < params->rank; axis++) {
        dims_size = dims_size > UINT64_MAX / params->dims[axis] ? UINT64_MAX
                                                                : dims_size * params->dims[axis];
    }
    if (size < params->element_size) {
        return h5twin_fail("%s holds no number of this type: there is nothing to try.", path);
    }
    if (params->rank == 0) {
        params->rank = 1;
        params->dims[0] = size / params->element_size;
    } else if (dims_size != size) {
        return h5twin_fail_usage("suggest", "%s holds %llu bytes, but --type and --dims say %llu",
                                 path, (unsigned long long)size, (unsigned long long)dims_size);
    }
    return H5TWIN_EXIT_OK;
}

int
h5twin_sample_raw(struct h5twin_sample *sample, const struct h5twin_params *params,
                  const char *path, size_t sample_size)
{
    *sample = (struct h5twin_sample){.data = NULL};
    FILE *const file = fopen(path, "rb");
    const off_t size = file == NULL ? -1 : file_size(file);
    if (size < 0) {
        const int result = h5twin_fail("%s cannot be read: %s.", path, strerror(errno));
        if (file != NULL) {
            fclose(file);
        }
        return result;
    }
    struct h5twin_params array = *params;
    struct h5twin_sample_plan plan;
    int result = check_size(&array, path, (uint64_t)size);
    if (result == H5TWIN_EXIT_OK) {
        h5twin_sample_plan_make(&plan, &array, NULL, sample_size);
        result = h5twin_sample_begin(sample, &plan, &array) ? H5TWIN_EXIT_OK : H5TWIN_EXIT_FAILED;
    }
    const struct numbers numbers = {.file = file};
    errno = 0;
    bool read = result == H5TWIN_EXIT_OK && read_pieces(sample, &numbers, &array, &plan);
    if (read && h5twin_sample_plan_store(&plan, &array, NULL, sample_size)) {
        result =
            h5twin_sample_begin_store(sample, &plan, &array) ? H5TWIN_EXIT_OK : H5TWIN_EXIT_FAILED;
        read = result == H5TWIN_EXIT_OK && read_pieces(sample->store, &numbers, &array, &plan);
    }
    if (result == H5TWIN_EXIT_OK && !read) {
        result = h5twin_fail("%s cannot be read: %s.", path,
                             errno != 0 ? strerror(errno) : "it ends early");
    }
    fclose(file);
    return result;
}
