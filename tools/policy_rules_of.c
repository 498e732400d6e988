/* SPDX-License-Identifier: BSD-3-Clause
 * policy_rules_of.c: few rules that give each dataset the answer it has. Rules are for a dataset,
 * for those of a folder whose names differ in digits, or for all below a folder; the most frequent
 * answer of a type comes last, for all that is left. */
#include "messages.h"
#include "policy_command.h"
#include "policy_glob.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Answers of one type, one after the other, below the same folder. */
struct span {
    struct h5twin_policy_answer *at;
    size_t count;
};

/* Order of paths in which all below a folder are neighbours: a slash is the least character. */
static int
compare_paths(const char *left, const char *right)
{
    while (*left == *right && *left != '\0') {
        left++;
        right++;
    }
    const int a = *left == '/' ? 1 : 2 * (unsigned char)*left;
    const int b = *right == '/' ? 1 : 2 * (unsigned char)*right;
    return (a > b) - (a < b);
}

static int
compare_answers(const void *left, const void *right)
{
    const struct h5twin_policy_answer *const a = left, *const b = right;
    const int types = strcmp(a->type, b->type);
    return types != 0 ? types : compare_paths(a->path, b->path);
}

static bool
is_same(const struct h5twin_policy_answer *a, const struct h5twin_policy_answer *b)
{
    return strcmp(a->spec, b->spec) == 0;
}

static bool
is_uniform(struct span span)
{
    for (size_t i = 1; i < span.count; i++) {
        if (!is_same(&span.at[0], &span.at[i])) {
            return false;
        }
    }
    return true;
}

/* ---- lines ---- */

/* A path as a pattern that is for it alone; * stands for digits of its last name where digits_too.
 * Characters that are not shown, such as the end of a line, are left open. */
static char *
pattern_of(const char *path, size_t length, bool digits_too, const char *more)
{
    char *const pattern = malloc(2 * length + strlen(more) + 1);
    const char *name = path, *at = path;
    size_t used = 0, size;
    for (const char *byte = path; byte < path + length; byte++) {
        name = *byte == '/' ? byte + 1 : name;
    }
    while (at < path + length && pattern != NULL) {
        const long character = h5twin_character(at, &size);
        if (digits_too && at >= name && *at >= '0' && *at <= '9') {
            size = strspn(at, "0123456789");
            pattern[used++] = '*';
        } else if (!h5twin_is_shown(character)) {
            pattern[used++] = '?';
        } else {
            if (strchr("*?[]\\\"", *at) != NULL) {
                pattern[used++] = '\\';
            }
            memcpy(pattern + used, at, size);
            used += size;
        }
        at += size;
    }
    if (pattern != NULL) {
        strcpy(pattern + used, more);
    }
    return pattern;
}

static void
print_size(double size)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    while (size >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        size /= 1024;
        unit++;
    }
    printf("%.3g %s", size, units[unit]);
}

/* What is expected of the datasets that take a rule: those of the same answer. */
static void
print_comment(struct span span, const struct h5twin_policy_answer *answer)
{
    double raw = 0, stored = 0;
    size_t count = 0;
    for (size_t i = 0; i < span.count; i++) {
        if (is_same(&span.at[i], answer)) {
            raw += span.at[i].raw_size;
            stored += span.at[i].raw_size * span.at[i].share;
            count++;
        }
    }
    printf("# %zu dataset%s, ", count, count == 1 ? "" : "s");
    print_size(raw);
    if (answer->note != NULL) {
        printf(": %s\n", answer->note);
    } else if (strcmp(answer->spec, "none") == 0) {
        puts(": does not shrink");
    } else {
        const double ratio = stored > 0 ? raw / stored : 0;
        printf(ratio < 100 ? ": ratio %.3g\n" : ": ratio %.0f\n", ratio);
    }
}

static bool
print_rule(struct span span, const struct h5twin_policy_answer *answer, char *pattern)
{
    if (pattern == NULL) {
        return false;
    }
    print_comment(span, answer);
    const bool is_quoted = strpbrk(pattern, " \t#") != NULL;
    const char *const quote = is_quoted ? "\"" : "";
    const int width = 30 - 2 * (int)is_quoted;
    printf("%s%s%s%*s %-8s -> %s\n", quote, pattern, quote,
           (int)strlen(pattern) < width ? width - (int)strlen(pattern) : 0, "", answer->type,
           answer->spec);
    free(pattern);
    return true;
}

/* ---- folders ---- */

/* Those from `first` on that are below the same subfolder of the folder whose path has this length
 * with its slash; none if the first is a dataset of the folder itself. */
static struct span
subfolder(struct span span, size_t first, size_t folder, size_t *length)
{
    const char *const path = span.at[first].path;
    const char *const slash = strchr(path + folder, '/');
    struct span found = {&span.at[first], 0};
    if (slash == NULL) {
        return found;
    }
    *length = (size_t)(slash - path) + 1;
    while (first + found.count < span.count &&
           strncmp(span.at[first + found.count].path, path, *length) == 0) {
        found.count++;
    }
    return found;
}

/* Of the datasets of the folder itself, those whose names fit the pattern are `span`'s marked ones;
 * their number, 0 if their answers differ. */
static size_t
mark_like(struct span span, size_t folder, const struct h5twin_policy_answer *answer,
          const char *pattern, bool *is_marked)
{
    size_t count = 0;
    bool same = true;
    for (size_t i = 0; i < span.count; i++) {
        is_marked[i] = strchr(span.at[i].path + folder, '/') == NULL &&
                       h5twin_policy_glob_match(pattern, span.at[i].path);
        same = same && (!is_marked[i] || is_same(answer, &span.at[i]));
        count += is_marked[i];
    }
    return same ? count : 0;
}

/* A rule for the dataset, or for it and those that differ from it in digits. */
static bool
print_dataset(struct span span, size_t index, size_t folder, bool *is_done, bool *is_marked)
{
    struct h5twin_policy_answer *const answer = &span.at[index];
    char *const like = pattern_of(answer->path, strlen(answer->path), true, "");
    if (like == NULL) {
        return false;
    }
    if (mark_like(span, folder, answer, like, is_marked) < 2) {
        free(like);
        is_done[index] = true;
        return print_rule((struct span){answer, 1}, answer,
                          pattern_of(answer->path, strlen(answer->path), false, ""));
    }
    /* The comment counts what is marked: bring it together. */
    struct h5twin_policy_answer *const marked = calloc(span.count, sizeof *marked);
    size_t count = 0;
    for (size_t i = 0; i < span.count && marked != NULL; i++) {
        is_done[i] = is_done[i] || is_marked[i];
        if (is_marked[i]) {
            marked[count++] = span.at[i];
        }
    }
    const bool printed = marked != NULL && print_rule((struct span){marked, count}, answer, like);
    if (marked == NULL) {
        free(like);
    }
    free(marked);
    return printed;
}

/* Rules for what is below a folder and does not have the usual answer. */
static bool
print_folder(struct span span, size_t folder, const struct h5twin_policy_answer *usual)
{
    if (is_uniform(span)) {
        const char *const path = span.at[0].path;
        return is_same(&span.at[0], usual) ||
               print_rule(span, &span.at[0],
                          span.count == 1 ? pattern_of(path, strlen(path), false, "")
                                          : pattern_of(path, folder, false, "**"));
    }
    bool *const is_done = calloc(2 * span.count, sizeof *is_done);
    bool printed = is_done != NULL;
    for (size_t i = 0; i < span.count && printed;) {
        size_t length = 0;
        const struct span below = subfolder(span, i, folder, &length);
        if (below.count > 0) {
            printed = print_folder(below, length, usual);
            i += below.count;
        } else {
            printed = is_done[i] || is_same(&span.at[i], usual) ||
                      print_dataset(span, i, folder, is_done, is_done + span.count);
            i++;
        }
    }
    free(is_done);
    return printed;
}

/* The answer that most of them have. */
static const struct h5twin_policy_answer *
usual_answer(struct span span)
{
    const struct h5twin_policy_answer *usual = &span.at[0];
    size_t most = 0;
    for (size_t i = 0; i < span.count; i++) {
        size_t count = 0;
        for (size_t j = 0; j < span.count; j++) {
            count += is_same(&span.at[i], &span.at[j]);
        }
        if (count > most) {
            usual = &span.at[i];
            most = count;
        }
    }
    return usual;
}

bool
h5twin_policy_print_rules(struct h5twin_policy_answer *answers, size_t count)
{
    bool printed = true;
    if (count > 0) {
        qsort(answers, count, sizeof *answers, compare_answers);
    }
    for (size_t first = 0; first < count && printed;) {
        struct span span = {&answers[first], 0};
        while (first + span.count < count &&
               strcmp(span.at[0].type, span.at[span.count].type) == 0) {
            span.count++;
        }
        const struct h5twin_policy_answer *const usual = usual_answer(span);
        printed =
            print_folder(span, 1, usual) && print_rule(span, usual, pattern_of("", 0, false, "**"));
        first += span.count;
    }
    return printed;
}
