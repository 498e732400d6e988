/* SPDX-License-Identifier: BSD-3-Clause
 * policy_command.h: the parts of `h5twin policy`. Exit codes, after a message where it is not
 * H5TWIN_EXIT_OK. */
#ifndef H5TWIN_TOOLS_POLICY_COMMAND_H
#define H5TWIN_TOOLS_POLICY_COMMAND_H

#include "policy.h"
#include "suggest.h"

/* What is drafted from a file, and how. */
struct h5twin_policy_draft_args {
    struct h5twin_suggest_args suggest; /* bounds, codecs, sample, threads; path */
    enum h5twin_best best;
};

/* A policy for the datasets of an HDF5 file, on stdout. (policy_draft.c) */
int h5twin_policy_draft(const struct h5twin_policy_draft_args *args);

/* What each dataset of an HDF5 file would take, a line each. (policy_explain.c) */
int h5twin_policy_explain(const struct h5twin_policy *policy, const char *path);

/* ---- the datasets of a file as a policy sees them (policy_explain.c) ---- */

/* False if the dataset is in one of HDF5's other layouts, or its values are elsewhere: then *why
 * says so. Filters that it has are not looked at. */
bool h5twin_policy_dataset_of(int64_t dataset, const char *path,
                              struct h5twin_policy_dataset *described, const char **why);

/* ---- rules from answers (policy_rules_of.c) ---- */

/* What suits one dataset. */
struct h5twin_policy_answer {
    char *path;       /* absolute */
    const char *type; /* "float", "integer": as conditions say it */
    const char *spec; /* "none": to be left alone */
    const char *note; /* why, for a comment; NULL */
    double raw_size;  /* bytes */
    double share;     /* stored of raw size; 1 with none */
};

/* Print rules of which each dataset takes its answer: few where equal answers are neighbours. The
 * answers are sorted. False without memory. */
bool h5twin_policy_print_rules(struct h5twin_policy_answer *answers, size_t count);

#endif
