/* SPDX-License-Identifier: BSD-3-Clause
 * bench_data.c: see bench_data.h. */
#include "bench_data.h"
#include "common/values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double
random_phase(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * (6.283185307179586 / 9007199254740992.0);
}

/* One factor of a separable wave along one axis. */
static void
fill_wave(double *wave, size_t count, unsigned periods, double phase)
{
    for (size_t i = 0; i < count; i++) {
        wave[i] = sin(6.283185307179586 * periods * (double)i / (double)count + phase);
    }
}

#define WAVES 5
static const unsigned wave_periods[WAVES] = {1, 2, 5, 13, 40};
static const double wave_amplitude[WAVES] = {2.0, 1.0, 0.3, 0.05, 0.002};

bool
bench_array_generate(struct bench_array *array, size_t size, unsigned word_size)
{
    const size_t side = (size_t)cbrt((double)(size / word_size) + 0.5);
    const size_t depth = side == 0 ? 0 : (size / word_size) / (side * side);
    return bench_array_generate_box(array, (uint64_t[3]){depth, side, side}, word_size);
}

bool
bench_array_generate_box(struct bench_array *array, const uint64_t dims[3], unsigned word_size)
{
    const size_t depth = dims[0], height = dims[1], width = dims[2], plane = height * width;
    size_t longest = depth > height ? depth : height;
    longest = width > longest ? width : longest;
    double *const waves = malloc(3 * WAVES * longest * sizeof *waves);
    *array =
        (struct bench_array){.word_size = word_size, .rank = 3, .dims = {depth, height, width}};
    array->size = depth * plane * word_size;
    array->bytes = malloc(array->size);
    if (waves == NULL || array->bytes == NULL || array->size == 0) {
        free(waves);
        bench_array_free(array);
        return false;
    }
    snprintf(array->name, sizeof array->name, "smooth");
    uint64_t state = 1;
    for (size_t i = 0; i < 3 * WAVES; i++) {
        fill_wave(waves + i * longest, dims[i % 3], wave_periods[i / 3], random_phase(&state));
    }
    for (size_t i = 0; i < depth * plane; i++) {
        double value = 0;
        for (size_t wave = 0; wave < WAVES; wave++) {
            const double *const factors = waves + 3 * wave * longest;
            value += wave_amplitude[wave] * factors[i / plane] *
                     factors[longest + i / width % height] * factors[2 * longest + i % width];
        }
        const float narrow = (float)value;
        memcpy(array->bytes + i * word_size, word_size == 4 ? (const void *)&narrow : &value,
               word_size);
    }
    free(waves);
    return true;
}

/* "NAME.AxBxC.f32" into its parts. */
static bool
parse_file_name(struct bench_array *array, const char *file)
{
    const char *const dims = strchr(file, '.');
    const char *const type = dims == NULL ? NULL : strchr(dims + 1, '.');
    if (type == NULL || (strcmp(type, ".f32") != 0 && strcmp(type, ".f64") != 0)) {
        return false;
    }
    array->word_size = type[2] == '3' ? 4 : 8;
    array->size = array->word_size;
    for (const char *at = dims; at != type;) {
        char *end;
        const unsigned long long extent = strtoull(at + 1, &end, 10);
        if (end == at + 1 || (*end != 'x' && end != type) || extent == 0 ||
            array->rank == BENCH_MAX_RANK || array->size > SIZE_MAX / extent) {
            return false;
        }
        array->dims[array->rank++] = extent;
        array->size *= extent;
        at = end;
    }
    snprintf(array->name, sizeof array->name, "%.*s", (int)(dims - file), file);
    return true;
}

bool
bench_array_load(struct bench_array *array, const char *directory, const char *file)
{
    *array = (struct bench_array){.rank = 0};
    char path[4096];
    if (!parse_file_name(array, file) ||
        snprintf(path, sizeof path, "%s/%s", directory, file) >= (int)sizeof path) {
        return false;
    }
    FILE *const stream = fopen(path, "rb");
    array->bytes = stream == NULL ? NULL : malloc(array->size + 1);
    /* One byte more than there should be, to notice a file that is too long. */
    const bool ok =
        array->bytes != NULL && fread(array->bytes, 1, array->size + 1, stream) == array->size;
    if (stream != NULL) {
        fclose(stream);
    }
    if (!ok) {
        bench_array_free(array);
    }
    return ok;
}

void
bench_array_free(struct bench_array *array)
{
    free(array->bytes);
    array->bytes = NULL;
}

/* Values beyond are marks for missing data, and would make the range meaningless. */
#define FILL_MAGNITUDE 1e30

double
bench_array_range(const struct bench_array *array)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < array->size / array->word_size; i++) {
        const double value = h5twin_value_at(array->bytes, i, array->word_size);
        if (fabs(value) < FILL_MAGNITUDE) {
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
    }
    return high > low ? high - low : 0;
}

double
bench_array_max_error(const struct bench_array *array, const uint8_t *decoded)
{
    double largest = 0;
    for (size_t i = 0; i < array->size / array->word_size; i++) {
        const double value = h5twin_value_at(array->bytes, i, array->word_size);
        const double error = fabs(value - h5twin_value_at(decoded, i, array->word_size));
        if (isfinite(value) && !(error <= largest)) {
            largest = isnan(error) ? INFINITY : error;
        }
    }
    return largest;
}
