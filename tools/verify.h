/* SPDX-License-Identifier: BSD-3-Clause
 * verify.h: the parts of `h5twin verify`, and what `h5twin report` says in the same words. */
#ifndef H5TWIN_TOOLS_VERIFY_H
#define H5TWIN_TOOLS_VERIFY_H

#include "compare.h"

struct h5twin_verify_args {
    struct h5twin_params params; /* of raw files */
    struct h5twin_promise promise;
    bool has_type;
    bool help;
    char *paths[2];    /* the original first; a dataset's name is cut off */
    char *datasets[2]; /* NULL: all of the original, under the same names */
};

/* Print a line on the comparison. H5TWIN_EXIT_FAILED, without a message, if the promise was not
 * kept. */
int h5twin_verify_print(const char *name, const struct h5twin_comparison *comparison,
                        bool is_float);

/* Two HDF5 files. The exit code. */
int h5twin_verify_hdf5(const struct h5twin_verify_args *args);

/* Six digits: enough for people, and not more than was measured. */
double h5twin_round_for_people(double value);

#endif
