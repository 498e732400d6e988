/* SPDX-License-Identifier: BSD-3-Clause
 * policy_glob.c: see policy_glob.h. */
#include "policy_glob.h"

#include <stddef.h>
#include <string.h>

/* ---- characters ---- */

/* The value of the bytes that continue one of UTF-8; negative if they do not. */
static long
continuation(const unsigned char *at, const unsigned char *end, unsigned count, long value)
{
    for (unsigned i = 1; i <= count; i++) {
        if (at + i >= end || (at[i] & 0xC0u) != 0x80u) {
            return -1;
        }
        value = value * 64 + (at[i] & 0x3F);
    }
    return value;
}

/* The character at *text, which is moved past it: its number in Unicode, negative for a byte that
 * is no part of one. */
static long
take_character(const char **text, const char *end)
{
    const unsigned char *const at = (const unsigned char *)*text;
    const unsigned char *const stop = (const unsigned char *)end;
    static const struct {
        unsigned first, last;
        long least; /* a smaller one has a shorter form */
    } leads[] = {{0xC2, 0xDF, 0x80}, {0xE0, 0xEF, 0x800}, {0xF0, 0xF4, 0x10000}};
    for (unsigned i = 0; i < sizeof leads / sizeof leads[0]; i++) {
        if (*at >= leads[i].first && *at <= leads[i].last) {
            const long value = continuation(at, stop, i + 1, *at & (0x1F >> i));
            if (value >= leads[i].least) {
                *text += i + 2;
                return value;
            }
        }
    }
    *text += 1;
    return *at < 0x80 ? (long)*at : -(long)*at;
}

/* The same of a pattern, where \ makes the next one a plain character. */
static long
take_plain(const char **pattern, const char *end)
{
    if (**pattern == '\\' && *pattern + 1 < end) {
        *pattern += 1;
    }
    return take_character(pattern, end);
}

/* ---- names ---- */

/* Past [...], where it is closed; is_in says whether the character is one of it. */
static const char *
match_class(const char *at, const char *end, long character, bool *is_in)
{
    at++; /* [ */
    const bool others = at < end && (*at == '!' || *at == '^');
    at += others;
    bool found = false, first = true;
    while (at < end && (first || *at != ']')) {
        const long low = take_plain(&at, end);
        long high = low;
        if (at + 1 < end && at[0] == '-' && at[1] != ']') {
            at++;
            high = take_plain(&at, end);
        }
        found = found || (low <= character && character <= high);
        first = false;
    }
    *is_in = found != others;
    return at < end ? at + 1 : at;
}

/* Whether the pattern's next piece, no *, is for the character at *name; both are moved past. */
static bool
match_one(const char **pattern, const char *pattern_end, const char **name, const char *name_end)
{
    const long character = take_character(name, name_end);
    bool is_in = true;
    if (**pattern == '?') {
        *pattern += 1;
    } else if (**pattern == '[') {
        *pattern = match_class(*pattern, pattern_end, character, &is_in);
    } else {
        is_in = take_plain(pattern, pattern_end) == character;
    }
    return is_in;
}

/* A text of bytes, not ended by a zero: a name, or a pattern for one. */
struct span {
    const char *at, *end;
};

/* Where a * could take more, only the last one need: what comes before it has found its place. */
static bool
match_name(struct span pattern, struct span name)
{
    struct span after_star = {NULL, NULL}; /* of the pattern */
    const char *taken = NULL;              /* by that star, up to here */
    for (;;) {
        if (pattern.at < pattern.end && *pattern.at == '*') {
            pattern.at++;
            after_star = pattern;
            taken = name.at;
            continue;
        }
        if (name.at == name.end && pattern.at == pattern.end) {
            return true;
        }
        if (name.at < name.end && pattern.at < pattern.end &&
            match_one(&pattern.at, pattern.end, &name.at, name.end)) {
            continue;
        }
        if (taken == NULL || taken == name.end) {
            return false;
        }
        take_character(&taken, name.end);
        pattern = after_star;
        name.at = taken;
    }
}

/* ---- paths ---- */

static bool
is_text(struct span name, const char *text)
{
    const size_t length = strlen(text);
    return (size_t)(name.end - name.at) == length && memcmp(name.at, text, length) == 0;
}

/* The name at *path or after the slashes there, and *path past it; false at the end. */
static bool
take_name(const char **path, struct span *name)
{
    do {
        name->at = *path + strspn(*path, "/");
        name->end = name->at + strcspn(name->at, "/");
        *path = name->end;
    } while (is_text(*name, "."));
    return name->at < name->end;
}

static struct span
last_name(const char *path)
{
    struct span name, last = {path, path};
    while (take_name(&path, &name)) {
        last = name;
    }
    return last;
}

/* As in match_name(), with names in place of characters. */
static bool
match_path(const char *pattern, const char *path)
{
    const char *after_stars = NULL, *taken = NULL; /* of the pattern; by **, up to here */
    struct span wanted, name;
    for (;;) {
        const bool more_wanted = take_name(&pattern, &wanted);
        if (more_wanted && is_text(wanted, "**")) {
            if (*pattern == '\0') {
                return take_name(&path, &name);
            }
            after_stars = pattern;
            taken = path;
            continue;
        }
        const bool more_names = take_name(&path, &name);
        if (!more_wanted && !more_names) {
            return true;
        }
        if (more_wanted && more_names && match_name(wanted, name)) {
            continue;
        }
        if (taken == NULL || !take_name(&taken, &name)) {
            return false;
        }
        pattern = after_stars;
        path = taken;
    }
}

bool
h5twin_policy_glob_match(const char *pattern, const char *path)
{
    if (strchr(pattern, '/') != NULL) {
        return match_path(pattern, path);
    }
    const struct span name = last_name(path);
    return name.at < name.end &&
           match_name((struct span){pattern, pattern + strlen(pattern)}, name);
}

bool
h5twin_policy_glob_ends_in_name(const char *pattern)
{
    const struct span last = last_name(pattern);
    for (const char *at = last.at; at < last.end; at++) {
        if (*at == '\\') {
            at++;
        } else if (strchr("*?[", *at) != NULL) {
            return false;
        }
    }
    return true;
}

/* ---- checks ---- */

static const char *
check_class(const char **at, const char *end)
{
    const char *const begin = *at, *here = begin + 1;
    here += here < end && (*here == '!' || *here == '^');
    for (bool first = true; here < end && (first || *here != ']'); first = false) {
        const char *const low_at = here;
        if (here[0] == '[' && here + 1 < end && here[1] == ':') {
            *at = here;
            return "classes such as [:alpha:] are not known: write the range, as in [a-z]";
        }
        const long low = take_plain(&here, end);
        if (here + 1 < end && here[0] == '-' && here[1] != ']') {
            here++;
            if (take_plain(&here, end) < low) {
                *at = low_at;
                return "this range ends before it starts: write the lower character first";
            }
        }
    }
    if (here >= end) {
        return "this [ is not closed in the same name: add ], or write \\[ for the character";
    }
    *at = here;
    return NULL;
}

static const char *
check_name(struct span name, const char **at)
{
    const char *why = NULL;
    for (*at = name.at; *at < name.end; ++*at) {
        if (**at == '[') {
            why = check_class(at, name.end);
        } else if (**at == '\\' && *at + 1 == name.end) {
            why = "a \\ must be followed by the character it stands for: write \\\\ for itself";
        } else if (**at == '\\') {
            ++*at;
        }
        if (why != NULL) {
            break;
        }
    }
    return why;
}

const char *
h5twin_policy_glob_check(const char *pattern, const char **at)
{
    struct span name;
    bool any = false;
    for (const char *rest = pattern; take_name(&rest, &name);) {
        const char *const why = check_name(name, at);
        if (why != NULL) {
            return why;
        }
        any = true;
    }
    *at = pattern;
    return any ? NULL
               : "this pattern names no dataset: write a name, a path such as /fields/u, or ** for "
                 "all";
}
