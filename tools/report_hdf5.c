/* SPDX-License-Identifier: BSD-3-Clause
 * report_hdf5.c: `h5twin report`: the datasets of an HDF5 file, a row each. */
#include "cd_values.h"
#include "commands.h"
#include "messages.h"
#include "new_file.h"
#include "posix.h"
#include "report_rows.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define MAX_WORDS 64

/* ---- filters ---- */

static void
read_ours(struct h5twin_report_row *row, struct h5twin_report_filter *filter,
          const struct h5twin_codec_info *codec, const unsigned *words, size_t word_count)
{
    struct h5twin_cd cd;
    const char *why;
    snprintf(filter->name, sizeof filter->name, "%s", codec->name);
    if (h5twin_cd_read(&cd, codec->id, words, word_count, &why) == H5TWIN_OK) {
        h5twin_params_format(&cd.params, filter->spec, sizeof filter->spec);
        row->has_promise = true;
        row->promise = h5twin_promise_of(&cd.params);
    }
}

static void
read_filters(struct h5twin_report_row *row, hid_t dcpl)
{
    const int count = H5Pget_nfilters(dcpl);
    row->ours = -1;
    row->filter_count = count < H5TWIN_REPORT_FILTERS ? count : H5TWIN_REPORT_FILTERS;
    for (int i = 0; i < row->filter_count; i++) {
        unsigned flags, config, words[MAX_WORDS];
        size_t word_count = MAX_WORDS;
        struct h5twin_report_filter *const filter = &row->filters[i];
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
read_chunks(struct h5twin_report *report, struct h5twin_report_row *row, hid_t dcpl)
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

/* ---- the original ---- */

/* Values with those of one dataset of the original. */
static void
compare_with(struct h5twin_report *report, struct h5twin_report_row *row,
             const struct h5twin_pair *found)
{
    const hid_t original = h5twin_pairs_open(&report->pairs, found, 0);
    struct h5twin_dataset_pair pair = {.datasets = {original, row->dataset},
                                       .paths = {report->args->original, report->args->path},
                                       .names = {found->name, row->name},
                                       .pairs = &report->pairs};
    row->comparison.promise = row->promise;
    row->original_name = found->name;
    const int result =
        original < 0
            ? h5twin_hdf5_fail(report->args->original, found->name, "opened")
            : h5twin_compare_datasets(&row->comparison, &pair, &row->is_float, &row->mismatch);
    row->compared = result == H5TWIN_EXIT_OK && row->mismatch == NULL;
    if (result != H5TWIN_EXIT_OK) {
        row->mismatch = "it cannot be read";
        report->result = H5TWIN_EXIT_FAILED;
    } else if (row->compared && row->has_promise && row->comparison.violation_count != 0) {
        report->result = H5TWIN_EXIT_FAILED;
    }
    if (original >= 0) {
        H5Dclose(original);
    }
}

static int
badness(const struct h5twin_report_row *row)
{
    return !row->compared                         ? 3
           : row->comparison.violation_count != 0 ? 2
                                                  : row->comparison.different_count != 0;
}

/* With each dataset of the original that has one of its names; the row tells of the worst. */
static void
compare(struct h5twin_report *report, struct h5twin_report_row *row)
{
    const struct h5twin_report_row before = *row;
    const struct h5twin_pair *pair = NULL;
    row->mismatch = "the original has no such dataset";
    while ((pair = h5twin_pairs_of_second(&report->pairs, row->dataset, pair)) != NULL) {
        struct h5twin_report_row next = before;
        compare_with(report, &next, pair);
        h5twin_pairs_judge(&report->pairs, (size_t)(pair - report->pairs.list), badness(&next) < 2);
        if (row->original_name == NULL || badness(&next) >= badness(row)) {
            *row = next;
        }
        report->compared_count++;
    }
}

/* ---- all together ---- */

static const struct h5twin_report_form *
form_of(const struct h5twin_report_args *args)
{
    return args->html != NULL ? &h5twin_report_html
           : args->json       ? &h5twin_report_json
                              : &h5twin_report_table;
}

static int
report_dataset(void *context, hid_t dataset, const char *name)
{
    struct h5twin_report *const report = context;
    struct h5twin_report_row row = {.name = name,
                                    .dataset = dataset,
                                    .raw_size = h5twin_hdf5_raw_size(dataset),
                                    .stored_size = H5Dget_storage_size(dataset)};
    const hid_t dcpl = H5Dget_create_plist(dataset);
    read_filters(&row, dcpl);
    if (h5twin_hdf5_check_chunks(dataset, report->args->path, name) == H5TWIN_EXIT_OK) {
        read_chunks(report, &row, dcpl);
    } else {
        report->result = H5TWIN_EXIT_FAILED;
    }
    H5Pclose(dcpl);
    if (report->original >= 0) {
        compare(report, &row);
    }
    form_of(report->args)->row(report, &row);
    report->dataset_count++;
    report->raw_size += row.raw_size;
    report->stored_size += row.stored_size;
    return 0;
}

static int
find_largest(void *context, hid_t dataset, const char *name)
{
    struct h5twin_report *const report = context;
    const uint64_t size = H5Dget_storage_size(dataset) == 0 ? 0 : h5twin_hdf5_raw_size(dataset);
    (void)name;
    report->largest_size = size > report->largest_size ? size : report->largest_size;
    return 0;
}

static int
report_file(struct h5twin_report *report, hid_t file)
{
    const struct h5twin_report_form *const form = form_of(report->args);
    if (report->html != NULL && h5twin_hdf5_each(file, find_largest, report) != 0) {
        return h5twin_hdf5_fail(report->args->path, "", "read");
    }
    form->head(report);
    if (h5twin_hdf5_each(file, report_dataset, report) != 0) {
        report->result = h5twin_hdf5_fail(report->args->path, "", "read");
    }
    if (report->original >= 0 && report->compared_count == 0) {
        report->result =
            h5twin_pairs_fail_empty(&report->pairs, report->args->original, report->args->path);
    }
    form->totals(report);
    return report->result;
}

/* The page comes to be as a whole; damage and broken promises are told in it, too. */
static int
report_page(struct h5twin_report *report, hid_t file)
{
    const char *const path = report->args->html;
    struct h5twin_new_file page;
    if (!h5twin_new_file_begin(&page, path, NULL, true)) {
        return h5twin_fail("%s cannot be created: %s.", path, strerror(errno));
    }
    report->html = fdopen(dup(page.file), "w");
    const int result = report->html == NULL ? H5TWIN_EXIT_FAILED : report_file(report, file);
    const bool failed = report->html == NULL || ferror(report->html) != 0;
    if ((report->html != NULL && fclose(report->html) != 0) || failed) {
        h5twin_new_file_abandon(&page);
        return h5twin_fail("%s cannot be written: %s.", path, strerror(errno));
    }
    return h5twin_new_file_commit(&page)
               ? result
               : h5twin_fail("%s cannot be written: %s.", path, strerror(errno));
}

int
h5twin_report_hdf5(const struct h5twin_report_args *args)
{
    struct h5twin_report report = {.args = args, .original = -1, .result = H5TWIN_EXIT_OK};
    const hid_t file = h5twin_hdf5_open(args->path);
    if (file < 0) {
        return H5TWIN_EXIT_FAILED;
    }
    if (args->original != NULL) {
        report.original = h5twin_hdf5_open(args->original);
    }
    bool ready = args->original == NULL;
    if (report.original >= 0) {
        const hid_t files[2] = {report.original, file};
        ready = h5twin_pairs_find(&report.pairs, files, args->original) == H5TWIN_EXIT_OK;
        report.pairs.needs_names = true; /* what has none gets no row */
    }
    const int result = !ready               ? H5TWIN_EXIT_FAILED
                       : args->html != NULL ? report_page(&report, file)
                                            : report_file(&report, file);
    h5twin_pairs_free(&report.pairs);
    if (report.original >= 0) {
        H5Fclose(report.original);
    }
    H5Fclose(file);
    return result;
}
