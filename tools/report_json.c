/* SPDX-License-Identifier: BSD-3-Clause
 * report_json.c: `h5twin report --json`. */
#include "json.h"
#include "report_rows.h"

#include <math.h>

static void
json_sizes(uint64_t raw_size, uint64_t stored_size)
{
    printf("\"raw_size\": %llu, \"stored_size\": %llu, \"ratio\": ", (unsigned long long)raw_size,
           (unsigned long long)stored_size);
    h5twin_json_number(stored_size == 0 ? (double)INFINITY
                                        : (double)raw_size / (double)stored_size);
}

static void
json_filters(const struct h5twin_report_row *row)
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
json_array(const struct h5twin_report_row *row)
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
               (unsigned long long)row->counts.written,
               (unsigned long long)h5twin_report_unwritten(row));
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
json_errors(const struct h5twin_report_row *row)
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
    printf(", \"became_fill\": %llu, \"with\": ", (unsigned long long)comparison->became_count);
    h5twin_json_string(row->original_name);
}

static void
json_comparison(const struct h5twin_report_row *row)
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
json_row(const struct h5twin_report *report, const struct h5twin_report_row *row)
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
json_head(const struct h5twin_report *report)
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
json_original(const struct h5twin_pairs *pairs)
{
    uint64_t total, kept;
    const char *separator = "";
    h5twin_pairs_count(pairs, &total, &kept);
    printf(", \"original_datasets\": %llu, \"kept\": %llu, \"missing\": [",
           (unsigned long long)total, (unsigned long long)kept);
    for (size_t i = 0; i < pairs->count; i++) {
        if (h5twin_pair_is_lost(&pairs->list[i])) {
            fputs(separator, stdout);
            h5twin_json_string(pairs->list[i].name);
            separator = ", ";
        }
    }
    putchar(']');
}

static void
json_totals(const struct h5twin_report *report)
{
    printf("],\n \"totals\": {\"datasets\": %llu, ", (unsigned long long)report->dataset_count);
    json_sizes(report->raw_size, report->stored_size);
    if (report->original >= 0) {
        json_original(&report->pairs);
    }
    puts("}}");
}

const struct h5twin_report_form h5twin_report_json = {json_head, json_row, json_totals};
