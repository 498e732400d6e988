/* SPDX-License-Identifier: BSD-3-Clause
 * rules.h: which rule of a FORMAT.md a test breaks, by the name that the table there gives it.
 * docs/tests/test_rules.py compares the names. */
#ifndef H5TWIN_TESTS_RULES_H
#define H5TWIN_TESTS_RULES_H

/* The forgery of a rule, exactly one; and further ones of the same rule. */
#define RULE(name) name
#define ALSO(name) name

#endif
