/* SPDX-License-Identifier: BSD-3-Clause
 * policy_log.c: lines for people and programs: what each dataset was created with, and why. */
#include "log_line.h"
#include "policy_rules.h"

#include <stdio.h>

#define VARIABLE "H5TWIN_POLICY_LOG"

/* "line 3, chunks 16x64x64 chosen". */
static void
describe_coded(const struct h5twin_policy_outcome *outcome, char text[H5TWIN_POLICY_SENTENCE])
{
    size_t length = (size_t)snprintf(text, H5TWIN_POLICY_SENTENCE, "line %u, %s chunks ",
                                     outcome->line, outcome->is_new_chunk ? "new" : "its own");
    for (uint32_t axis = 0; axis < outcome->rank && length < H5TWIN_POLICY_SENTENCE; axis++) {
        length += (size_t)snprintf(text + length, H5TWIN_POLICY_SENTENCE - length, "%s%llu",
                                   axis == 0 ? "" : "x", (unsigned long long)outcome->chunk[axis]);
    }
}

static void
describe_left(const struct h5twin_policy_outcome *outcome, char text[H5TWIN_POLICY_SENTENCE])
{
    if (outcome->line == 0) {
        snprintf(text, H5TWIN_POLICY_SENTENCE, "%s", outcome->why);
    } else {
        snprintf(text, H5TWIN_POLICY_SENTENCE, "line %u, %.*s", outcome->line,
                 H5TWIN_POLICY_SENTENCE - 32, outcome->why);
    }
}

void
h5twin_policy_detail(const struct h5twin_policy_outcome *outcome, char text[H5TWIN_POLICY_SENTENCE])
{
    if (outcome->is_coded) {
        describe_coded(outcome, text);
    } else {
        describe_left(outcome, text);
    }
}

void
h5twin_policy_log(const char *file_name, const struct h5twin_policy_outcome *outcome)
{
    if (!h5twin_log_is_wanted(VARIABLE)) {
        return;
    }
    char text[H5TWIN_POLICY_SENTENCE];
    h5twin_policy_detail(outcome, text);
    const char *const columns[] = {file_name, outcome->path, outcome->array,
                                   outcome->is_coded ? outcome->spec : "left alone", text};
    h5twin_log_line(VARIABLE, columns, sizeof columns / sizeof columns[0]);
}

void
h5twin_policy_log_sentence(const char *sentence)
{
    const char *const columns[] = {NULL, NULL, NULL, "no policy", sentence};
    h5twin_log_line(VARIABLE, columns, sizeof columns / sizeof columns[0]);
}
