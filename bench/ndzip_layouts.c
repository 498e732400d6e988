/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_layouts.c: sizes of ndzip's two layouts over a directory of arrays.
 *
 * Usage: ndzip_layouts [FILE]...; without arguments, all of the directory $H5TWIN_DATA. Files are
 * raw little-endian arrays named NAME.DIMS.TYPE, DIMS like 64x128x128, TYPE f32 or f64; others are
 * passed over. Prints a Markdown table. Exit status 1 if an extended payload is larger than the
 * reference one by more than 64 bytes. */
#define _POSIX_C_SOURCE 200809L
#include "h5twin.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLACK_BYTES 64

struct totals {
    double log_sum;
    unsigned count;
};

/* Dims and element size from the name; false if it is not that of an array. */
static bool
read_name(const char *path, struct h5twin_params *params)
{
    const char *const slash = strrchr(path, '/');
    const char *const type = strrchr(path, '.');
    const char *dims = strchr(slash == NULL ? path : slash + 1, '.');
    if (type == NULL || dims == type || (strcmp(type, ".f32") != 0 && strcmp(type, ".f64") != 0)) {
        return false;
    }
    uint64_t extents[H5TWIN_MAX_RANK];
    uint32_t rank = 0;
    while (dims < type && rank < H5TWIN_MAX_RANK) {
        char *end;
        extents[rank++] = strtoull(dims + 1, &end, 10);
        dims = end;
        if (*end != 'x' && end != type) {
            return false;
        }
    }
    h5twin_params_set_array(params, H5TWIN_FLOAT, type[2] == '3' ? 4 : 8, rank, extents);
    return true;
}

static uint8_t *
read_file(const char *path, size_t *size)
{
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    uint8_t *bytes = NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        const long end = ftell(file);
        rewind(file);
        bytes = end < 0 ? NULL : malloc((size_t)end + 1);
        *size = bytes == NULL ? 0 : fread(bytes, 1, (size_t)end, file);
    }
    fclose(file);
    return bytes;
}

/* Size of the payload; 0 on an error. */
static size_t
payload_size(struct h5twin_params *params, const char *spec, const uint8_t *src, size_t src_size)
{
    if (h5twin_params_parse(params, spec, NULL) != H5TWIN_OK) {
        return 0;
    }
    const size_t capacity = h5twin_bound(params, src_size);
    uint8_t *const dst = malloc(capacity + 1);
    size_t size = 0;
    if (dst == NULL ||
        h5twin_encode_payload(params, NULL, dst, capacity, src, src_size, &size) != H5TWIN_OK) {
        size = 0;
    }
    free(dst);
    return size;
}

/* One line of the table. Returns 1 if it breaks the promise, else 0. */
static int
compare(const char *path, struct totals *all, struct totals *three)
{
    struct h5twin_params params;
    size_t src_size;
    h5twin_params_init(&params, H5TWIN_NDZIP);
    if (!read_name(path, &params)) {
        return 0;
    }
    uint8_t *const src = read_file(path, &src_size);
    if (src == NULL) {
        return 0;
    }
    const size_t reference = payload_size(&params, "ndzip:layout=reference", src, src_size);
    const size_t extended = payload_size(&params, "ndzip:layout=extended", src, src_size);
    free(src);
    if (reference == 0 || extended == 0) {
        return 0;
    }
    const char *const slash = strrchr(path, '/');
    const double quotient = (double)extended / (double)reference;
    printf("| %s | %zu | %zu | %zu | %.3f | %.3f | %.4f |\n", slash == NULL ? path : slash + 1,
           src_size, reference, extended, (double)src_size / (double)reference,
           (double)src_size / (double)extended, quotient);
    all->log_sum += log(quotient);
    all->count++;
    if (params.rank >= 3) {
        three->log_sum += log(quotient);
        three->count++;
    }
    return extended > reference + SLACK_BYTES;
}

static int
compare_directory(const char *path, struct totals *all, struct totals *three)
{
    struct dirent **entries;
    const int count = scandir(path, &entries, NULL, alphasort);
    int broken = 0;
    for (int i = 0; i < count; i++) {
        char file[4096];
        if (snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name) < (int)sizeof file) {
            broken |= compare(file, all, three);
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    return broken;
}

int
main(int argc, char **argv)
{
    struct totals all = {0}, three = {0};
    int broken = 0;
    const char *const directory = getenv("H5TWIN_DATA");
    if (argc < 2 && directory == NULL) {
        fprintf(stderr, "usage: %s FILE..., or set H5TWIN_DATA to a directory\n", argv[0]);
        return 2;
    }
    printf("| array | bytes | reference | extended | ratio ref. | ratio ext. | ext./ref. |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n");
    for (int i = 1; i < argc; i++) {
        broken |= compare(argv[i], &all, &three);
    }
    if (argc < 2) {
        broken |= compare_directory(directory, &all, &three);
    }
    if (all.count != 0) {
        printf("\ngeometric mean of ext./ref.: %.4f over %u arrays", exp(all.log_sum / all.count),
               all.count);
    }
    if (three.count != 0) {
        printf(", %.4f over the %u of three or more axes", exp(three.log_sum / three.count),
               three.count);
    }
    printf("\n");
    return broken;
}
