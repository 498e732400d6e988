/* SPDX-License-Identifier: BSD-3-Clause
 * report_hdf5.c: `h5twin report`: the datasets of an HDF5 file, a row each. */
#include "cd_values.h"
#include "commands.h"
#include "compare_hdf5.h"
#include "hdf5_chunk_counts.h"
#include "json.h"
#include "messages.h"
#include "report.h"
#include "verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_WORDS   64
#define MAX_FILTERS 32 /* HDF5's own limit */

struct report {
    const struct h5twin_report_args *args;
    hid_t original; /* negative if there is none */
    int result;
    uint64_t dataset_count, raw_size, stored_size;
};

struct filter {
    int id;
    char name[256];
    char spec[256]; /* empty: not ours, or words that cannot be read */
};

struct row {
    const char *name;
    hid_t dataset;
    struct filter filters[MAX_FILTERS];
    int filter_count;
    int ours; /* place in the pipeline of our filter, whose chunks can be looked into; or -1 */
    bool fletcher_after;
    bool has_promise; /* one of our filters has said what it does to the values */
    struct h5twin_promise promise;
    uint64_t raw_size, stored_size;
    bool chunked;
    uint64_t place_count; /* chunks that would cover the dataset */
    struct h5twin_chunk_counts counts;
    bool compared, is_float;
    const char *mismatch; /* NULL, or why nothing was compared */
    struct h5twin_comparison comparison;
};

/* ---- filters ---- */

/* Modes that are not known here promise nothing that could be judged. */
static void
take_promise(struct row *row, const struct h5twin_params *params)
{
    row->has_promise = true;
    row->promise.bound = params->error_bound;
    row->promise.has_fill = params->has_fill && params->mode != H5TWIN_LOSSLESS;
    row->promise.fill = params->fill;
    switch (params->mode) {
    case H5TWIN_LOSSLESS:
        row->promise.kind = H5TWIN_BOUND_NONE;
        break;
    case H5TWIN_ABS:
        row->promise.kind = H5TWIN_BOUND_ABS;
        break;
    case H5TWIN_NOA:
        row->promise.kind = H5TWIN_BOUND_NOA;
        break;
    case H5TWIN_REL:
        row->promise.kind = H5TWIN_BOUND_REL;
        break;
    }
}

static void
read_ours(struct row *row, struct filter *filter, const struct h5twin_codec_info *codec,
          const unsigned *words, size_t word_count)
{
    struct h5twin_cd cd;
    struct h5twin_params asked; /* without the fill value, if that is the dataset's own */
    const char *why;
    snprintf(filter->name, sizeof filter->name, "%s", codec->name);
    if (h5twin_cd_read(&cd, codec->id, words, word_count, &why) == H5TWIN_OK &&
        h5twin_params_from_cd_values(&asked, codec->id, words, word_count) == H5TWIN_OK) {
        h5twin_params_format(&asked, filter->spec, sizeof filter->spec);
        take_promise(row, &cd.params);
    }
}

static void
read_filters(struct row *row, hid_t dcpl)
{
    const int count = H5Pget_nfilters(dcpl);
    row->ours = -1;
    row->filter_count = count < MAX_FILTERS ? count : MAX_FILTERS;
    for (int i = 0; i < row->filter_count; i++) {
        unsigned flags, config, words[MAX_WORDS];
        size_t word_count = MAX_WORDS;
        struct filter *const filter = &row->filters[i];
        filter->name[0] = filter->spec[0] = '\0';
        filter->id = H5Pget_filter2(dcpl, (unsigned)i, &flags, &word_count, words,
                                    sizeof filter->name, filter->name, &config);
        H5Eclear2(H5E_DEFAULT);
        const struct h5twin_codec_info *const codec = h5twin_hdf5_codec(filter->id);
        if (codec != NULL) {
            read_ours(row, filter, codec, words, word_count < MAX_WORDS ? word_count : MAX_WORDS);
            row->ours = i;
        } else {
            row->fletcher_after =
                filter->id == H5Z_FILTER_FLETCHER32 && row->ours >= 0 && row->ours == i - 1;
            row->ours = row->fletcher_after ? row->ours : -1;
        }
    }
}

/* ---- chunks ---- */

static void
read_chunks(struct report *report, struct row *row, hid_t dcpl)
{
    hsize_t dims[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    const hid_t space = H5Dget_space(row->dataset);
    const int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    row->chunked =
        H5Pget_layout(dcpl) == H5D_CHUNKED && H5Pget_chunk(dcpl, H5S_MAX_RANK, chunk) == rank;
    row->place_count = 1;
    for (int axis = 0; axis < rank && row->chunked; axis++) {
        row->place_count *= dims[axis] / chunk[axis] + (dims[axis] % chunk[axis] != 0);
    }
    hsize_t written = 0;
    bool read = true;
    if (row->chunked && row->ours >= 0) {
        read =
            h5twin_chunks_count(&row->counts, row->dataset, space, row->ours, row->fletcher_after);
    } else if (row->chunked) {
        read = H5Dget_num_chunks(row->dataset, space, &written) >= 0;
        row->counts.written = written;
    }
    H5Sclose(space);
    if (!read) {
        report->result = h5twin_hdf5_fail(report->args->path, row->name, "read");
    } else if (row->counts.wrong != 0) {
        report->result = h5twin_fail(
            "%s: %s: %llu of its chunks are damaged: %s", report->args->path, row->name,
            (unsigned long long)row->counts.wrong, h5twin_status_message(row->counts.first_wrong));
    }
}

static uint64_t
unwritten(const struct row *row)
{
    return row->place_count > row->counts.written ? row->place_count - row->counts.written : 0;
}

/* ---- the original ---- */

static void
compare(struct report *report, struct row *row)
{
    const hid_t original = H5Dopen2(report->original, row->name, H5P_DEFAULT);
    if (original < 0) {
        H5Eclear2(H5E_DEFAULT);
        row->mismatch = "the original has no such dataset";
        return;
    }
    const struct h5twin_dataset_pair pair = {.datasets = {original, row->dataset},
                                             .paths = {report->args->original, report->args->path},
                                             .names = {row->name, row->name}};
    row->comparison.promise = row->promise;
    const int result =
        h5twin_compare_datasets(&row->comparison, &pair, &row->is_float, &row->mismatch);
    row->compared = result == H5TWIN_EXIT_OK && row->mismatch == NULL;
    if (result != H5TWIN_EXIT_OK) {
        row->mismatch = "it cannot be read";
        report->result = H5TWIN_EXIT_FAILED;
    } else if (row->compared && row->has_promise && row->comparison.violation_count != 0) {
        report->result = H5TWIN_EXIT_FAILED;
    }
    H5Dclose(original);
}

/* ---- as a table ---- */

static void
print_filters(const struct row *row)
{
    for (int i = 0; i < row->filter_count; i++) {
        const struct filter *const filter = &row->filters[i];
        printf("%s", i == 0 ? ": " : ", ");
        if (filter->spec[0] != '\0') {
            fputs(filter->spec, stdout);
        } else {
            printf("%s (filter %d)", filter->name[0] == '\0' ? "unknown" : filter->name,
                   filter->id);
        }
    }
    puts("");
}

static void
print_ratio(uint64_t raw_size, uint64_t stored_size)
{
    char text[32] = "-";
    if (stored_size != 0) {
        snprintf(text, sizeof text, "%.3f", (double)raw_size / (double)stored_size);
    }
    printf(" %9s", text);
}

static void
print_row(const struct report *report, const struct row *row)
{
    printf("%15llu %15llu", (unsigned long long)row->raw_size,
           (unsigned long long)row->stored_size);
    print_ratio(row->raw_size, row->stored_size);
    if (row->chunked) {
        printf(" %8llu", (unsigned long long)row->counts.written);
        row->ours >= 0 ? printf(" %8llu", (unsigned long long)row->counts.raw)
                       : printf(" %8s", "-");
        printf(" %9llu", (unsigned long long)unwritten(row));
    } else {
        printf(" %8s %8s %9s", "-", "-", row->stored_size == 0 && row->raw_size != 0 ? "all" : "-");
    }
    printf("  %s", row->name);
    print_filters(row);
    if (report->original >= 0) {
        printf("%68s", "");
        if (row->compared) {
            h5twin_verify_print("against the original", &row->comparison, row->is_float);
        } else {
            printf("not compared: %s\n", row->mismatch);
        }
    }
}

static void
print_head(const struct report *report)
{
    printf("%15s %15s %9s %8s %8s %9s  %s\n", "raw bytes", "stored bytes", "ratio", "chunks", "raw",
           "unwritten", report->args->path);
}

static void
print_totals(const struct report *report)
{
    printf("%15llu %15llu", (unsigned long long)report->raw_size,
           (unsigned long long)report->stored_size);
    print_ratio(report->raw_size, report->stored_size);
    printf(" %8s %8s %9s  %llu dataset%s\n", "", "", "", (unsigned long long)report->dataset_count,
           report->dataset_count == 1 ? "" : "s");
}

/* ---- as JSON ---- */

static void
json_sizes(uint64_t raw_size, uint64_t stored_size)
{
    printf("\"raw_size\": %llu, \"stored_size\": %llu, \"ratio\": ", (unsigned long long)raw_size,
           (unsigned long long)stored_size);
    h5twin_json_number(stored_size == 0 ? (double)INFINITY
                                        : (double)raw_size / (double)stored_size);
}

static void
json_filters(const struct row *row)
{
    fputs(", \"filters\": [", stdout);
    for (int i = 0; i < row->filter_count; i++) {
        printf("%s{\"id\": %d, \"name\": ", i == 0 ? "" : ", ", row->filters[i].id);
        h5twin_json_string(row->filters[i].name);
        fputs(", \"spec\": ", stdout);
        if (row->filters[i].spec[0] == '\0') {
            fputs("null", stdout);
        } else {
            h5twin_json_string(row->filters[i].spec);
        }
        putchar('}');
    }
    putchar(']');
}

static void
json_shape(const char *key, int rank, const hsize_t *dims)
{
    printf(", \"%s\": [", key);
    for (int axis = 0; axis < rank; axis++) {
        printf("%s%llu", axis == 0 ? "" : ", ", (unsigned long long)dims[axis]);
    }
    putchar(']');
}

static void
json_array(const struct row *row)
{
    hsize_t dims[H5S_MAX_RANK];
    char element[H5TWIN_ELEMENT_TEXT];
    const hid_t space = H5Dget_space(row->dataset), dcpl = H5Dget_create_plist(row->dataset);
    fputs(", \"type\": ", stdout);
    h5twin_json_string(h5twin_hdf5_element_text(row->dataset, element));
    json_shape("shape", H5Sget_simple_extent_dims(space, dims, NULL), dims);
    if (row->chunked) {
        json_shape("chunk_shape", H5Pget_chunk(dcpl, H5S_MAX_RANK, dims), dims);
        printf(", \"chunks\": %llu, \"chunks_never_written\": %llu",
               (unsigned long long)row->counts.written, (unsigned long long)unwritten(row));
    } else {
        fputs(", \"chunk_shape\": null, \"chunks\": null, \"chunks_never_written\": null", stdout);
    }
    if (row->chunked && row->ours >= 0) {
        printf(", \"chunks_raw\": %llu, \"chunks_damaged\": %llu",
               (unsigned long long)row->counts.raw, (unsigned long long)row->counts.wrong);
    } else {
        fputs(", \"chunks_raw\": null, \"chunks_damaged\": null", stdout);
    }
    H5Pclose(dcpl);
    H5Sclose(space);
}

static void
json_errors(const struct row *row)
{
    const struct h5twin_comparison *const comparison = &row->comparison;
    fputs(", \"max_error\": ", stdout);
    h5twin_json_number(row->is_float ? comparison->max_error : NAN);
    fputs(", \"mean_error\": ", stdout);
    h5twin_json_number(row->is_float ? h5twin_compare_mean_error(comparison) : NAN);
    fputs(", \"psnr\": ", stdout);
    h5twin_json_number(row->is_float ? h5twin_compare_psnr(comparison) : NAN);
    fputs(", \"bound\": ", stdout);
    h5twin_json_number(row->is_float ? h5twin_compare_limit(comparison) : NAN);
    fputs(", \"violations\": ", stdout);
    if (row->has_promise) {
        printf("%llu", (unsigned long long)comparison->violation_count);
    } else {
        fputs("null", stdout);
    }
}

static void
json_comparison(const struct row *row)
{
    fputs(", \"comparison\": {\"not_compared\": ", stdout);
    if (!row->compared) {
        h5twin_json_string(row->mismatch);
        putchar('}');
        return;
    }
    printf("null, \"values\": %llu, \"different\": %llu, \"identical\": ",
           (unsigned long long)row->comparison.value_count,
           (unsigned long long)row->comparison.different_count);
    h5twin_json_bool(row->comparison.different_count == 0);
    json_errors(row);
    putchar('}');
}

static void
json_row(const struct report *report, const struct row *row)
{
    printf("%s\n  {\"name\": ", report->dataset_count == 0 ? "" : ",");
    h5twin_json_string(row->name);
    fputs(", ", stdout);
    json_sizes(row->raw_size, row->stored_size);
    json_array(row);
    json_filters(row);
    if (report->original >= 0) {
        json_comparison(row);
    }
    putchar('}');
}

static void
json_head(const struct report *report)
{
    fputs("{\"file\": ", stdout);
    h5twin_json_string(report->args->path);
    fputs(", \"original\": ", stdout);
    if (report->args->original == NULL) {
        fputs("null", stdout);
    } else {
        h5twin_json_string(report->args->original);
    }
    fputs(", \"datasets\": [", stdout);
}

static void
json_totals(const struct report *report)
{
    printf("],\n \"totals\": {\"datasets\": %llu, ", (unsigned long long)report->dataset_count);
    json_sizes(report->raw_size, report->stored_size);
    puts("}}");
}

/* ---- all together ---- */

static int
report_dataset(void *context, hid_t dataset, const char *name)
{
    struct report *const report = context;
    struct row row = {.name = name,
                      .dataset = dataset,
                      .raw_size = h5twin_hdf5_raw_size(dataset),
                      .stored_size = H5Dget_storage_size(dataset)};
    const hid_t dcpl = H5Dget_create_plist(dataset);
    read_filters(&row, dcpl);
    read_chunks(report, &row, dcpl);
    H5Pclose(dcpl);
    if (report->original >= 0) {
        compare(report, &row);
    }
    if (report->args->json) {
        json_row(report, &row);
    } else {
        print_row(report, &row);
    }
    report->dataset_count++;
    report->raw_size += row.raw_size;
    report->stored_size += row.stored_size;
    return 0;
}

static int
report_file(struct report *report, hid_t file)
{
    const bool json = report->args->json;
    json ? json_head(report) : print_head(report);
    if (h5twin_hdf5_each(file, report_dataset, report) != 0) {
        report->result = h5twin_hdf5_fail(report->args->path, "", "read");
    }
    json ? json_totals(report) : print_totals(report);
    return report->result;
}

int
h5twin_report_hdf5(const struct h5twin_report_args *args)
{
    struct report report = {.args = args, .original = -1, .result = H5TWIN_EXIT_OK};
    const hid_t file = h5twin_hdf5_open(args->path);
    if (file < 0) {
        return H5TWIN_EXIT_FAILED;
    }
    if (args->original != NULL) {
        report.original = h5twin_hdf5_open(args->original);
    }
    const int result = args->original != NULL && report.original < 0 ? H5TWIN_EXIT_FAILED
                                                                     : report_file(&report, file);
    if (report.original >= 0) {
        H5Fclose(report.original);
    }
    H5Fclose(file);
    return result;
}
