/* SPDX-License-Identifier: BSD-3-Clause
 * report_table.c: `h5twin report` as a table. */
#include "messages.h"
#include "report_rows.h"
#include "verify.h"

#include <string.h>

static void
print_filters(const struct h5twin_report_row *row)
{
    for (int i = 0; i < row->filter_count; i++) {
        const struct h5twin_report_filter *const filter = &row->filters[i];
        printf("%s", i == 0 ? ": " : ", ");
        if (filter->spec[0] != '\0') {
            fputs(filter->spec, stdout);
        } else {
            h5twin_print("%s (filter %d)", filter->name[0] == '\0' ? "unknown" : filter->name,
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
print_row(const struct h5twin_report *report, const struct h5twin_report_row *row)
{
    printf("%15llu %15llu", (unsigned long long)row->raw_size,
           (unsigned long long)row->stored_size);
    print_ratio(row->raw_size, row->stored_size);
    if (row->chunked) {
        printf(" %8llu", (unsigned long long)row->counts.written);
        row->ours >= 0 ? printf(" %8llu", (unsigned long long)row->counts.raw)
                       : printf(" %8s", "-");
        printf(" %9llu", (unsigned long long)h5twin_report_unwritten(row));
    } else {
        printf(" %8s %8s %9s", "-", "-", row->stored_size == 0 && row->raw_size != 0 ? "all" : "-");
    }
    h5twin_print("  %s", row->name);
    print_filters(row);
    if (report->original >= 0) {
        printf("%68s", "");
        if (row->compared) {
            const bool renamed = strcmp(row->name, row->original_name) != 0;
            h5twin_print("against %s%s", renamed ? row->original_name : "", renamed ? " of " : "");
            h5twin_verify_print("the original", &row->comparison, row->is_float);
        } else {
            h5twin_print("not compared: %s\n", row->mismatch);
        }
    }
}

static void
print_head(const struct h5twin_report *report)
{
    h5twin_print("%15s %15s %9s %8s %8s %9s  %s\n", "raw bytes", "stored bytes", "ratio", "chunks",
                 "raw", "unwritten", report->args->path);
}

static void
print_totals(const struct h5twin_report *report)
{
    printf("%15llu %15llu", (unsigned long long)report->raw_size,
           (unsigned long long)report->stored_size);
    print_ratio(report->raw_size, report->stored_size);
    printf(" %8s %8s %9s  %llu dataset%s\n", "", "", "", (unsigned long long)report->dataset_count,
           report->dataset_count == 1 ? "" : "s");
    if (report->original >= 0) {
        uint64_t total, kept;
        h5twin_pairs_count(&report->pairs, &total, &kept);
        printf("%66s  %llu of %llu datasets of the original kept\n", "", (unsigned long long)kept,
               (unsigned long long)total);
        for (size_t i = 0; i < report->pairs.count; i++) {
            if (h5twin_pair_is_lost(&report->pairs.list[i])) {
                h5twin_print("%66s  %s: not here\n", "", report->pairs.list[i].name);
            }
        }
    }
}

const struct h5twin_report_form h5twin_report_table = {print_head, print_row, print_totals};
