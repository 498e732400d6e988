/* SPDX-License-Identifier: BSD-3-Clause
 * bench_data.h: the arrays that benchmarks run on: files of a folder, or a generated field. */
#ifndef H5TWIN_BENCH_DATA_H
#define H5TWIN_BENCH_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_MAX_RANK 8

struct bench_array {
    char name[64];
    unsigned word_size; /* bytes, 4 or 8: f32 or f64 */
    unsigned rank;
    uint64_t dims[BENCH_MAX_RANK]; /* slowest varying first */
    size_t size;                   /* bytes */
    uint8_t *bytes;                /* malloc'ed */
};

/* A smooth periodic 3-D field with weak small scales, values within about 4 of 0, of about `size`
 * bytes. The same on every machine. False if memory is short. */
bool bench_array_generate(struct bench_array *array, size_t size, unsigned word_size);

/* The same of these dimensions. */
bool bench_array_generate_box(struct bench_array *array, const uint64_t dims[3],
                              unsigned word_size);

/* Read DIRECTORY/NAME.AxBxC.f32|f64; false if the name or size is not of that form. */
bool bench_array_load(struct bench_array *array, const char *directory, const char *file);

/* The largest minus the smallest value below 1e30 in magnitude; 0 if there is none. */
double bench_array_range(const struct bench_array *array);

/* The largest |x - x'| over finite x; Inf if x' is NaN there. */
double bench_array_max_error(const struct bench_array *array, const uint8_t *decoded);

void bench_array_free(struct bench_array *array);

#endif
