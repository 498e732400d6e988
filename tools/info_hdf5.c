/* SPDX-License-Identifier: BSD-3-Clause
 * info_hdf5.c: `h5twin info` of an HDF5 file: what each dataset's filters are, and what its chunks
 * say of themselves. Chunks are read as they are stored, so no plugin is needed. */
#include "array_args.h"
#include "cd_text.h"
#include "commands.h"
#include "hdf5_chunk_counts.h"
#include "hdf5_file.h"
#include "info.h"
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 64

struct file_totals {
    const char *path;
    bool quick;
    bool failed;
    uint64_t dataset_count, raw_size, stored_size;
};

/* ---- filters ---- */

static void
print_parameters(const struct h5twin_codec_info *codec, const unsigned *words, size_t word_count)
{
    struct h5twin_cd cd;
    const char *why = "";
    if (h5twin_cd_read(&cd, codec->id, words, word_count, &why) != H5TWIN_OK) {
        printf("%s, with parameters that cannot be read: %s\n", codec->name, why);
        return;
    }
    const struct h5twin_params *const params = &cd.params;
    char spec[256], text[H5TWIN_CD_ELEMENT_TEXT], dims[H5TWIN_DIMS_TEXT];
    h5twin_params_format(params, spec, sizeof spec);
    printf("%s (%s)", spec, h5twin_mode_text(params->mode));
    if (cd.has_array) {
        printf(" for %s %s", h5twin_dims_text(params->rank, params->dims, dims),
               h5twin_cd_element_text(params, text));
    }
    puts("");
}

/* Print the pipeline. Returns the place of our filter in it, -1 if there is none whose chunks can
 * be looked into; *fletcher_after tells whether the fletcher32 filter follows. */
static int
print_filters(hid_t dcpl, bool *fletcher_after)
{
    int ours = -1;
    *fletcher_after = false;
    const int filter_count = H5Pget_nfilters(dcpl);
    for (int i = 0; i < filter_count; i++) {
        unsigned flags, config, words[MAX_WORDS];
        size_t word_count = MAX_WORDS;
        char name[256] = "";
        const H5Z_filter_t id = H5Pget_filter2(dcpl, (unsigned)i, &flags, &word_count, words,
                                               sizeof name, name, &config);
        H5Eclear2(H5E_DEFAULT);
        const struct h5twin_codec_info *const codec = h5twin_hdf5_codec(id);
        word_count = word_count > MAX_WORDS ? MAX_WORDS : word_count;
        printf("  filter       %d: ", (int)id);
        if (codec != NULL) {
            print_parameters(codec, words, word_count);
            ours = i;
        } else {
            h5twin_print("%s\n", name[0] == '\0' ? "unknown" : name);
            *fletcher_after = id == H5Z_FILTER_FLETCHER32 && ours >= 0 && ours == i - 1;
            ours = *fletcher_after ? ours : -1;
        }
        if (word_count > 0) {
            printf("    cd_values  ");
            for (size_t w = 0; w < word_count; w++) {
                printf("%s%u", w == 0 ? "" : ", ", words[w]);
            }
            puts("");
        }
    }
    return ours;
}

/* ---- chunks ---- */

static void
print_counts(const struct h5twin_chunk_counts *counts)
{
    if (counts->written == 0) {
        puts("  chunks       none written");
        return;
    }
    printf("  chunks       %llu written, %llu of them raw", (unsigned long long)counts->written,
           (unsigned long long)counts->raw);
    if (counts->skipped != 0) {
        printf(", %llu without the filter", (unsigned long long)counts->skipped);
    }
    if (counts->wrong != 0) {
        printf(", %llu DAMAGED\n", (unsigned long long)counts->wrong);
    } else {
        puts(", all checksums correct");
    }
    for (int i = 0; i < H5TWIN_CHUNK_LINES && counts->line_counts[i] != 0; i++) {
        printf("               %llu: %s\n", (unsigned long long)counts->line_counts[i],
               counts->lines[i]);
    }
    if (counts->other_lines != 0) {
        printf("               %llu: otherwise\n", (unsigned long long)counts->other_lines);
    }
}

/* ---- datasets ---- */

static void
print_array(hid_t dataset, hid_t dcpl)
{
    hsize_t dims[H5S_MAX_RANK];
    char element[H5TWIN_ELEMENT_TEXT], shape[H5TWIN_SHAPE_TEXT];
    const hid_t space = H5Dget_space(dataset);
    const int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    printf("  array        %s, %s", h5twin_hdf5_element_text(dataset, element),
           h5twin_hdf5_shape_text(rank, dims, shape));
    const H5D_layout_t layout = H5Pget_layout(dcpl);
    if (layout == H5D_CHUNKED && H5Pget_chunk(dcpl, H5S_MAX_RANK, dims) == rank) {
        printf(" in chunks of %s\n", h5twin_hdf5_shape_text(rank, dims, shape));
    } else {
        puts(layout == H5D_CONTIGUOUS ? ", contiguous" : layout == H5D_COMPACT ? ", compact" : "");
    }
    H5Sclose(space);
}

static void
print_chunks(struct file_totals *totals, hid_t dataset, const char *name, int ours,
             bool fletcher_after)
{
    struct h5twin_chunk_counts counts;
    const hid_t space = H5Dget_space(dataset);
    if (!h5twin_chunks_count(&counts, dataset, space, ours, fletcher_after)) {
        h5twin_hdf5_fail(totals->path, name, "read");
        totals->failed = true;
    } else {
        print_counts(&counts);
        if (counts.wrong != 0) {
            h5twin_fail("%s: %s: %s", totals->path, name,
                        h5twin_status_message(counts.first_wrong));
            totals->failed = true;
        }
    }
    H5Sclose(space);
}

static int
print_dataset(void *context, hid_t dataset, const char *name)
{
    struct file_totals *const totals = context;
    const hid_t dcpl = H5Dget_create_plist(dataset);
    if (dcpl < 0) {
        h5twin_hdf5_fail(totals->path, name, "read");
        totals->failed = true;
        return 0;
    }
    const uint64_t stored_size = H5Dget_storage_size(dataset);
    const uint64_t raw_size = h5twin_hdf5_raw_size(dataset);
    bool fletcher_after;
    h5twin_print("%s\n", name);
    print_array(dataset, dcpl);
    const int ours = print_filters(dcpl, &fletcher_after);
    printf("  raw size     %llu bytes\n  stored size  %llu bytes\n", (unsigned long long)raw_size,
           (unsigned long long)stored_size);
    if (stored_size != 0) {
        printf("  ratio        %.3f\n", (double)raw_size / (double)stored_size);
    }
    totals->dataset_count++;
    totals->raw_size += raw_size;
    totals->stored_size += stored_size;
    if (h5twin_hdf5_check_chunks(dataset, totals->path, name) != H5TWIN_EXIT_OK) {
        totals->failed = true;
    } else if (ours >= 0 && !totals->quick) {
        print_chunks(totals, dataset, name, ours, fletcher_after);
    }
    H5Pclose(dcpl);
    return 0;
}

int
h5twin_info_hdf5(const char *path, bool quick)
{
    struct file_totals totals = {.path = path, .quick = quick};
    const hid_t file = h5twin_hdf5_open(path);
    if (file < 0) {
        return H5TWIN_EXIT_FAILED;
    }
    h5twin_print("%s: an HDF5 file\n", path);
    if (h5twin_hdf5_each(file, print_dataset, &totals) != 0) {
        h5twin_hdf5_fail(path, "", "read");
        totals.failed = true;
    }
    printf("%llu dataset%s, raw %llu bytes, stored %llu bytes",
           (unsigned long long)totals.dataset_count, totals.dataset_count == 1 ? "" : "s",
           (unsigned long long)totals.raw_size, (unsigned long long)totals.stored_size);
    if (totals.stored_size != 0) {
        printf(", ratio %.3f", (double)totals.raw_size / (double)totals.stored_size);
    }
    puts("");
    H5Fclose(file);
    return totals.failed ? H5TWIN_EXIT_FAILED : H5TWIN_EXIT_OK;
}
