/* SPDX-License-Identifier: BSD-3-Clause
 * report_rows.h: what `h5twin report` knows of a dataset, and the three ways to write it. */
#ifndef H5TWIN_TOOLS_REPORT_ROWS_H
#define H5TWIN_TOOLS_REPORT_ROWS_H

#include "compare_hdf5.h"
#include "hdf5_chunk_counts.h"
#include "report.h"

#include <stdio.h>

#define H5TWIN_REPORT_FILTERS 32 /* HDF5's own limit */

struct h5twin_report {
    const struct h5twin_report_args *args;
    FILE *html;                /* the page, if there is one */
    hid_t original;            /* negative if there is none */
    struct h5twin_pairs pairs; /* if there is one */
    uint64_t compared_count;
    int result;
    uint64_t dataset_count, raw_size, stored_size;
    uint64_t largest_size; /* raw bytes of the largest dataset to which something was written */
};

struct h5twin_report_filter {
    int id;
    char name[256];
    char spec[256]; /* empty: not ours, or words that cannot be read */
};

struct h5twin_report_row {
    const char *name;
    hid_t dataset;
    struct h5twin_report_filter filters[H5TWIN_REPORT_FILTERS];
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
    const char *mismatch;      /* NULL, or why nothing was compared */
    const char *original_name; /* of what it was compared with; NULL if there is none */
    struct h5twin_comparison comparison;
};

/* Chunks that would cover the dataset, and are not there. */
static inline uint64_t
h5twin_report_unwritten(const struct h5twin_report_row *row)
{
    return row->place_count > row->counts.written ? row->place_count - row->counts.written : 0;
}

/* A way to write a report: a line or so before all rows, each row, and the sums. */
struct h5twin_report_form {
    void (*head)(const struct h5twin_report *report);
    void (*row)(const struct h5twin_report *report, const struct h5twin_report_row *row);
    void (*totals)(const struct h5twin_report *report);
};

extern const struct h5twin_report_form h5twin_report_table, h5twin_report_json, h5twin_report_html;

#endif
