/* SPDX-License-Identifier: BSD-3-Clause
 * repack_report.c: see repack_report.h. */
#include "repack_report.h"

#include "json.h"
#include "messages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *
copy_text(const char *text)
{
    char *const copy = text == NULL ? NULL : malloc(strlen(text) + 1);
    if (copy != NULL) {
        strcpy(copy, text);
    }
    return copy;
}

static bool
keep_row(struct h5twin_repack_report *report, const struct h5twin_repack_row *row)
{
    const size_t count = report->row_count;
    if ((count & (count - 1)) == 0) {
        void *const more =
            realloc(report->rows, (count == 0 ? 1 : 2 * count) * sizeof report->rows[0]);
        if (more == NULL) {
            return false;
        }
        report->rows = more;
    }
    struct h5twin_repack_row *const kept = &report->rows[report->row_count++];
    *kept = *row;
    kept->path = copy_text(row->path);
    kept->why = copy_text(row->why);
    return kept->path != NULL && (row->why == NULL || kept->why != NULL);
}

void
h5twin_repack_row_add(struct h5twin_repack_report *report, const struct h5twin_repack_args *args,
                      const struct h5twin_repack_row *row)
{
    char ratio[32] = "-";
    if (args->json) {
        report->out_of_memory = !keep_row(report, row) || report->out_of_memory;
        return;
    }
    if (args->quiet) {
        return;
    }
    if (row->why != NULL) {
        h5twin_print("%15s %15llu %9s  %s: as it is: %s\n", "", (unsigned long long)row->old_size,
                     "", row->path, row->why);
        return;
    }
    if (row->new_size != 0) {
        snprintf(ratio, sizeof ratio, "%.3f", (double)row->raw_size / (double)row->new_size);
    }
    h5twin_print("%15llu %15llu %9s  %s: %s, chunks of %s\n", (unsigned long long)row->raw_size,
                 (unsigned long long)row->new_size, ratio, row->path, row->spec, row->chunks);
}

void
h5twin_repack_report_json(const struct h5twin_repack_report *report)
{
    fputs("\"datasets\": [", stdout);
    for (size_t i = 0; i < report->row_count; i++) {
        const struct h5twin_repack_row *const row = &report->rows[i];
        printf("%s\n  {\"name\": ", i == 0 ? "" : ",");
        h5twin_json_string(row->path == NULL ? "" : row->path);
        if (row->why != NULL) {
            fputs(", \"spec\": null, \"why\": ", stdout);
            h5twin_json_string(row->why);
            printf(", \"old_size\": %llu}", (unsigned long long)row->old_size);
            continue;
        }
        fputs(", \"spec\": ", stdout);
        h5twin_json_string(row->spec);
        printf(", \"chunk_shape\": \"%s\", \"raw_size\": %llu, \"old_size\": %llu, \"new_size\": "
               "%llu, \"ratio\": ",
               row->chunks, (unsigned long long)row->raw_size, (unsigned long long)row->old_size,
               (unsigned long long)row->new_size);
        h5twin_json_number(row->new_size == 0 ? (double)INFINITY
                                              : (double)row->raw_size / (double)row->new_size);
        putchar('}');
    }
    putchar(']');
}

void
h5twin_repack_report_free(struct h5twin_repack_report *report)
{
    for (size_t i = 0; i < report->row_count; i++) {
        free((void *)(uintptr_t)report->rows[i].path);
        free((void *)(uintptr_t)report->rows[i].why);
    }
    free(report->rows);
}
