/* SPDX-License-Identifier: BSD-3-Clause
 * policy_choose.c: which rule a dataset takes, and what may not be coded whatever a rule says. */
#include "policy_glob.h"
#include "policy_rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_CHUNK   1024       /* bytes: below, frames and HDF5's index cost too much */
#define LARGEST_CHUNK UINT32_MAX /* bytes: HDF5 takes no larger one */

#ifdef __GNUC__
#    ifdef __MINGW32__
#        define PRINTF __attribute__((format(gnu_printf, 2, 3)))
#    else
#        define PRINTF __attribute__((format(printf, 2, 3)))
#    endif
#else
#    define PRINTF
#endif

static void leave(struct h5twin_policy_outcome *outcome, const char *format, ...) PRINTF;

static void
leave(struct h5twin_policy_outcome *outcome, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(outcome->why, sizeof outcome->why, format, arguments);
    va_end(arguments);
    outcome->is_coded = false;
}

/* ---- for people ---- */

/* "...end of a long path". */
static void
keep_path(struct h5twin_policy_outcome *outcome, const char *path)
{
    static const char dots[] = "...";
    const size_t length = path == NULL ? 0 : strlen(path), room = sizeof outcome->path;
    const char *at = path;
    if (length >= room) {
        at = path + length - (room - sizeof dots);
        while (((unsigned char)*at & 0xC0u) == 0x80u) { /* within a character of UTF-8 */
            at++;
        }
    }
    snprintf(outcome->path, room, "%s%s", at == path ? "" : dots, path == NULL ? "" : at);
}

static void
describe_array(struct h5twin_policy_outcome *outcome, const struct h5twin_policy_dataset *dataset)
{
    const size_t room = sizeof outcome->array;
    size_t length =
        (size_t)snprintf(outcome->array, room, "%s", h5twin_policy_type_name(dataset->type));
    for (uint32_t axis = 0; axis < dataset->rank && length < room; axis++) {
        const unsigned long long now = dataset->dims[axis], most = dataset->most_dims[axis];
        char *const at = outcome->array + length;
        const char *const between = axis == 0 ? " " : "x";
        const int more = now == most ? snprintf(at, room - length, "%s%llu", between, now)
                         : most == H5TWIN_POLICY_UNLIMITED
                             ? snprintf(at, room - length, "%s%llu..unlimited", between, now)
                             : snprintf(at, room - length, "%s%llu..%llu", between, now, most);
        length += (size_t)more;
    }
}

/* ---- chunks ---- */

static bool
is_extendable(const struct h5twin_policy_dataset *dataset)
{
    for (uint32_t axis = 0; axis < dataset->rank; axis++) {
        if (dataset->most_dims[axis] > dataset->dims[axis]) {
            return true;
        }
    }
    return false;
}

/* Bytes of a box; UINT64_MAX where they are more. */
static uint64_t
box_size(uint32_t rank, const uint64_t *dims, uint64_t element_size)
{
    uint64_t size = element_size;
    for (uint32_t axis = 0; axis < rank; axis++) {
        if (dims[axis] != 0 && size > UINT64_MAX / dims[axis]) {
            return UINT64_MAX;
        }
        size *= dims[axis];
    }
    return size;
}

/* The chunk that a rule gives, cut where HDF5 refuses one that is larger than the dataset can be.
 */
static void
shape_chunk(const struct h5twin_policy_rule *rule, const struct h5twin_policy_dataset *dataset,
            struct h5twin_policy_outcome *outcome)
{
    uint64_t *const chunk = outcome->chunk;
    outcome->rank = dataset->rank;
    outcome->is_new_chunk = true;
    if (rule->chunks == H5TWIN_POLICY_CHUNKS_GIVEN) {
        memcpy(chunk, rule->chunk.dims, sizeof rule->chunk.dims);
    } else if (rule->chunks == H5TWIN_POLICY_CHUNKS_KEEP && dataset->has_chunk) {
        memcpy(chunk, dataset->chunk, sizeof dataset->chunk);
        outcome->is_new_chunk = false;
    } else {
        h5twin_policy_shape_choose(dataset, chunk);
    }
    for (uint32_t axis = 0; axis < dataset->rank && outcome->is_new_chunk; axis++) {
        const uint64_t most = dataset->most_dims[axis];
        chunk[axis] = chunk[axis] > most ? most : chunk[axis];
    }
}

/* ---- which rule ---- */

/* A dataset with what is asked of it more than once. */
struct subject {
    const struct h5twin_policy_dataset *dataset;
    const char *plain_path; /* without netCDF's prefix */
    bool is_extendable;
};

/* Whatever its name will be. */
static bool
is_for_all(const struct h5twin_policy_rule *rule)
{
    const char *const pattern = rule->pattern;
    return strcmp(pattern, "**") == 0 || strcmp(pattern, "/**") == 0 || strcmp(pattern, "*") == 0;
}

static bool
has_name(const struct h5twin_policy_rule *rule, const struct subject *subject)
{
    if (subject->dataset->path == NULL) {
        return is_for_all(rule);
    }
    return h5twin_policy_glob_match(rule->pattern, subject->dataset->path) ||
           (subject->plain_path != subject->dataset->path &&
            h5twin_policy_glob_match(rule->pattern, subject->plain_path));
}

static bool
has_dims(const struct h5twin_policy_rule *rule, const struct h5twin_policy_dataset *dataset)
{
    if (dataset->rank < rule->least_rank || dataset->rank > rule->most_rank) {
        return false;
    }
    for (uint32_t axis = 0; axis < rule->dims.rank; axis++) {
        if (rule->dims.dims[axis] != H5TWIN_POLICY_UNLIMITED &&
            rule->dims.dims[axis] != dataset->dims[axis]) {
            return false;
        }
    }
    return true;
}

/* Bytes that a rule's sizes are about. */
static uint64_t
size_for(const struct h5twin_policy_rule *rule, const struct subject *subject)
{
    const struct h5twin_policy_dataset *const dataset = subject->dataset;
    if (!subject->is_extendable) {
        return box_size(dataset->rank, dataset->dims, dataset->element_size);
    }
    struct h5twin_policy_outcome chunk;
    shape_chunk(rule, dataset, &chunk);
    return box_size(dataset->rank, chunk.chunk, dataset->element_size);
}

/* NULL if the rule, whose pattern fits, is for this dataset; else what does not fit. */
static const char *
what_differs(const struct h5twin_policy_rule *rule, const struct subject *subject)
{
    const struct h5twin_policy_dataset *const dataset = subject->dataset;
    if ((rule->types >> dataset->type & 1) == 0) {
        return "another type";
    }
    if (!has_dims(rule, dataset)) {
        return "other dims";
    }
    if (rule->growth != H5TWIN_POLICY_ANY_GROWTH &&
        (rule->growth == H5TWIN_POLICY_EXTENDABLE) != subject->is_extendable) {
        return subject->is_extendable ? "a fixed size" : "an axis that grows";
    }
    const uint64_t size = size_for(rule, subject);
    return size < rule->least_size  ? "a larger size"
           : size > rule->most_size ? "a smaller size"
                                    : NULL;
}

static const struct h5twin_policy_rule *
find_rule(const struct h5twin_policy *policy, const struct subject *subject,
          struct h5twin_policy_outcome *outcome)
{
    leave(outcome, subject->dataset->path == NULL
                       ? "it has no name yet, and no rule is for all names"
                       : "no rule has its name");
    bool is_near = false;
    for (size_t i = 0; i < policy->rule_count; i++) {
        const struct h5twin_policy_rule *const rule = &policy->rules[i];
        if (!has_name(rule, subject)) {
            continue;
        }
        const char *const differs = what_differs(rule, subject);
        if (differs == NULL) {
            outcome->line = rule->line;
            return rule;
        }
        if (!is_near) {
            leave(outcome, "no rule fits: that of line %u asks for %s", rule->line, differs);
            is_near = true;
        }
    }
    return NULL;
}

/* ---- what no rule may override ---- */

/* NULL, or why the dataset is left alone by every rule. */
static const char *
why_never(const struct h5twin_policy_dataset *dataset)
{
    if (dataset->type == H5TWIN_POLICY_OTHER) {
        return "it does not hold numbers that codecs know";
    }
    if (dataset->rank == 0) {
        return "it is no array";
    }
    for (uint32_t axis = 0; axis < dataset->rank; axis++) {
        if (dataset->most_dims[axis] == 0) {
            return "it is empty for ever";
        }
    }
    return dataset->is_placeholder ? "it is netCDF's placeholder for a dimension, without values"
                                   : NULL;
}

static void
use_rule(const struct h5twin_policy_rule *rule, const struct subject *subject,
         struct h5twin_policy_outcome *outcome)
{
    const struct h5twin_policy_dataset *const dataset = subject->dataset;
    if (rule->is_none) {
        leave(outcome, "the rule says none");
        return;
    }
    if (dataset->path == NULL && rule->params.mode != H5TWIN_LOSSLESS) {
        leave(outcome, "it has no name yet, may be a coordinate, and the rule's codec is lossy");
        return;
    }
    if (dataset->is_parallel && !rule->is_collective) {
        leave(outcome, "the file is opened by MPI-IO, where HDF5 writes compressed datasets in "
                       "collective calls only, and the rule does not say collective");
        return;
    }
    if (dataset->path != NULL && subject->plain_path == dataset->path &&
        !h5twin_policy_glob_ends_in_name(rule->pattern) &&
        h5twin_policy_is_coordinate(dataset->path, dataset->rank)) {
        leave(outcome, "its name is that of a coordinate, and the rule does not spell it out");
        return;
    }
    shape_chunk(rule, dataset, outcome);
    const uint64_t size = box_size(outcome->rank, outcome->chunk, dataset->element_size);
    if (size < LEAST_CHUNK) {
        leave(outcome, "its chunks are below 1 KiB, and the rule does not say chunks=auto");
        return;
    }
    if (size > LARGEST_CHUNK) {
        leave(outcome, "the rule's chunks are of 4 GiB or more, which HDF5 does not take");
        return;
    }
    outcome->is_coded = true;
    outcome->why[0] = '\0';
    outcome->params = rule->params;
    h5twin_params_format(&rule->params, outcome->spec, sizeof outcome->spec);
}

void
h5twin_policy_choose(const struct h5twin_policy *policy,
                     const struct h5twin_policy_dataset *dataset,
                     struct h5twin_policy_outcome *outcome)
{
    *outcome = (struct h5twin_policy_outcome){.is_coded = false};
    keep_path(outcome, dataset->path);
    describe_array(outcome, dataset);
    const char *const why = why_never(dataset);
    if (why != NULL) {
        leave(outcome, "%s", why);
        return;
    }
    const char *const path = dataset->path;
    char *const room = malloc(path == NULL ? 1 : strlen(path) + 1);
    if (room == NULL) {
        leave(outcome, "no memory is left");
        return;
    }
    const struct subject subject = {.dataset = dataset,
                                    .plain_path =
                                        path == NULL ? NULL : h5twin_policy_plain_path(path, room),
                                    .is_extendable = is_extendable(dataset)};
    const struct h5twin_policy_rule *const rule = find_rule(policy, &subject, outcome);
    if (rule != NULL) {
        use_rule(rule, &subject, outcome);
    }
    free(room);
}

bool
h5twin_policy_holds(const struct h5twin_policy *policy, const struct h5twin_policy_dataset *dataset)
{
    struct h5twin_policy_outcome outcome = {.is_coded = false};
    const char *const path = dataset->path;
    char *const room = malloc(path == NULL ? 1 : strlen(path) + 1);
    if (room == NULL) {
        return false;
    }
    const struct subject subject = {.dataset = dataset,
                                    .plain_path =
                                        path == NULL ? NULL : h5twin_policy_plain_path(path, room),
                                    .is_extendable = is_extendable(dataset)};
    const struct h5twin_policy_rule *const rule = find_rule(policy, &subject, &outcome);
    free(room);
    return rule != NULL && rule->is_held;
}

bool
h5twin_policy_may_hold(const struct h5twin_policy *policy)
{
    bool any = false;
    for (size_t i = 0; i < policy->rule_count; i++) {
        any = any || policy->rules[i].is_held;
    }
    return any;
}
