/* SPDX-License-Identifier: BSD-3-Clause
 * report.h: the parts of `h5twin report`. */
#ifndef H5TWIN_TOOLS_REPORT_H
#define H5TWIN_TOOLS_REPORT_H

#include <stdbool.h>

struct h5twin_report_args {
    const char *path;
    const char *original; /* NULL: compare with nothing */
    const char *html;     /* the page to write, or NULL */
    bool json;
};

/* The exit code. */
int h5twin_report_hdf5(const struct h5twin_report_args *args);

#endif
