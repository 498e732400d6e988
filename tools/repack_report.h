/* SPDX-License-Identifier: BSD-3-Clause
 * repack_report.h: what `h5twin repack` did with each dataset: a table as it goes, or JSON at the
 * end. Sizes are in bytes. */
#ifndef H5TWIN_TOOLS_REPACK_REPORT_H
#define H5TWIN_TOOLS_REPACK_REPORT_H

#include "hdf5_file.h"
#include "repack.h"

struct h5twin_repack_row {
    const char *path;
    const char *why; /* it is as it was; NULL: it is coded */
    char spec[256];  /* of one that is coded, as the rest */
    char chunks[H5TWIN_SHAPE_TEXT];
    uint64_t raw_size, new_size; /* of what was ever written */
    uint64_t old_size;           /* as it was stored, of any dataset */
};

struct h5twin_repack_report {
    struct h5twin_repack_row *rows; /* for JSON alone; their texts are the report's own */
    size_t row_count;
    bool out_of_memory;
};

/* One more dataset: a line of the table, or a row to keep. */
void h5twin_repack_row_add(struct h5twin_repack_report *report,
                           const struct h5twin_repack_args *args,
                           const struct h5twin_repack_row *row);

/* All rows as JSON; the sums are told by the caller. */
void h5twin_repack_report_json(const struct h5twin_repack_report *report);

void h5twin_repack_report_free(struct h5twin_repack_report *report);

#endif
