/* SPDX-License-Identifier: BSD-3-Clause
 * suggest_sample.c: which pieces of an array `h5twin suggest` tries, and reading them from a file
 * of numbers. */
#include "commands.h"
#include "files.h"
#include "messages.h"
#include "suggest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECES 4

static uint64_t
count_elements(const uint64_t *extents, uint32_t rank)
{
    uint64_t count = 1;
    for (uint32_t axis = 0; axis < rank; axis++) {
        count *= extents[axis];
    }
    return count;
}

/* Blocks of about the same extent along each axis, as chunks usually are: the longest axis is
 * halved until they are small enough. */
static void
choose_extents(uint64_t *extents, const struct h5twin_params *params, uint64_t element_count)
{
    memcpy(extents, params->dims, sizeof params->dims);
    while (count_elements(extents, params->rank) > element_count) {
        uint32_t longest = 0;
        for (uint32_t axis = 1; axis < params->rank; axis++) {
            longest = extents[axis] > extents[longest] ? axis : longest;
        }
        if (extents[longest] == 1) {
            return;
        }
        extents[longest] = (extents[longest] + 1) / 2;
    }
}

/* Where piece number `index` lies on an axis, 0 <= fraction < 1: evenly on the slowest one, and by
 * multiples of irrational numbers on the others, so that the pieces are not on one line. */
static double
spread(unsigned index, unsigned piece_count, uint32_t axis)
{
    if (axis == 0) {
        return (index + 0.5) / piece_count;
    }
    return fmod((index + 0.5) * pow(0.6180339887498949, axis), 1);
}

void
h5twin_sample_place(struct h5twin_sample_plan *plan, const struct h5twin_params *params)
{
    for (unsigned piece = 0; piece < plan->piece_count; piece++) {
        for (uint32_t axis = 0; axis < params->rank; axis++) {
            const uint64_t places = params->dims[axis] / plan->extents[axis];
            const double place = floor(spread(piece, plan->piece_count, axis) * (double)places);
            plan->starts[piece][axis] = (uint64_t)place * plan->extents[axis];
        }
    }
}

void
h5twin_sample_plan_make(struct h5twin_sample_plan *plan, const struct h5twin_params *params,
                        size_t sample_size)
{
    const uint64_t array_count = count_elements(params->dims, params->rank);
    const uint64_t sample_count = sample_size / params->element_size;
    *plan = (struct h5twin_sample_plan){.piece_count = 1};
    if (array_count <= sample_count) {
        memcpy(plan->extents, params->dims, sizeof params->dims);
        return;
    }
    plan->piece_count = PIECES;
    choose_extents(plan->extents, params, sample_count / PIECES);
    h5twin_sample_place(plan, params);
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

/* ---- from a file of numbers ---- */

/* A piece row by row: the fastest axis is contiguous in the file. */
static bool
read_piece(FILE *file, uint8_t *dst, const struct h5twin_params *params,
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
        if (fseeko(file, (off_t)(offset * params->element_size), SEEK_SET) != 0 ||
            fread(dst + row * row_size, 1, row_size, file) != row_size) {
            return false;
        }
    }
    return true;
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
        h5twin_sample_plan_make(&plan, &array, sample_size);
        result = h5twin_sample_begin(sample, &plan, &array) ? H5TWIN_EXIT_OK : H5TWIN_EXIT_FAILED;
    }
    for (unsigned i = 0; result == H5TWIN_EXIT_OK && i < sample->piece_count; i++) {
        errno = 0;
        if (!read_piece(file, sample->data + i * sample->piece_size, &array, &plan, i)) {
            result = h5twin_fail("%s cannot be read: %s.", path,
                                 errno != 0 ? strerror(errno) : "it ends early");
        }
    }
    fclose(file);
    return result;
}
