/* SPDX-License-Identifier: BSD-3-Clause
 * policy_glob.h: patterns of paths, as those of .gitignore, over names of HDF5.
 *
 * In a name, * stands for any characters and ? for one; [abc], [a-z], [!a-z] or [^a-z] for one of
 * those, or one that is none of them; \ before a character for itself. As a whole name, ** stands
 * for any number of names, at the end for one at least. A pattern without a slash is for the last
 * name of a path, others are for all of it, from the root. Characters are those of
 * UTF-8; a byte that is none is one character, equal to itself. */
#ifndef H5TWIN_POLICY_GLOB_H
#define H5TWIN_POLICY_GLOB_H

#include <stdbool.h>

/* NULL if it is a pattern; else a sentence, and *at is where the pattern is wrong. */
const char *h5twin_policy_glob_check(const char *pattern, const char **at);

/* Whether a checked pattern is for this path. Slashes at the start of a path and several in a row
 * mean nothing, nor does a name "."; HDF5 sees them so. Takes at most the product of the lengths.
 */
bool h5twin_policy_glob_match(const char *pattern, const char *path);

/* Whether the last name of a checked pattern is spelled out: no * or ? or [. */
bool h5twin_policy_glob_ends_in_name(const char *pattern);

#endif
