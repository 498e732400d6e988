/* SPDX-License-Identifier: BSD-3-Clause
 * test_policy_glob.c: patterns of paths, case by case; python_tests/test_policy.py has the random
 * ones. */
#include "policy_glob.h"

#include "support.h"

#include <string.h>

struct match {
    const char *pattern, *path;
    bool fits;
};

static const struct match matches[] = {
    /* a name alone is for the last one of a path */
    {"u", "/u", true},
    {"u", "/a/b/u", true},
    {"u", "/u/a", false},
    {"u", "/au", false},
    {"*", "/a/b/u", true},
    {"velocity_*", "/run/velocity_x", true},
    {"velocity_*", "/run/velocity_", true},
    {"velocity_?", "/run/velocity_", false},
    {"velocity_?", "/run/velocity_xy", false},
    {"*_x", "/velocity_x", true},
    {"*a*b*", "/xxaxxbxx", true},
    {"*a*b*", "/xxbxxaxx", false},
    {"**", "/a/b/c", true},
    {"a**c", "/abbc", true},
    /* a path is from the root, with the first slash or without */
    {"/fields/u", "/fields/u", true},
    {"fields/u", "/fields/u", true},
    {"fields/u", "/run/fields/u", false},
    {"/fields/*", "/fields/u", true},
    {"/fields/*", "/fields/a/u", false},
    {"/fields/*", "/fields", false},
    {"/*/u", "/fields/u", true},
    {"/f*/u", "/u", false},
    /* any number of names */
    {"/fields/**", "/fields/u", true},
    {"/fields/**", "/fields/a/b/u", true},
    {"/fields/**", "/fields", false},
    {"/fields/**", "/field/u", false},
    {"**/u", "/u", true},
    {"**/u", "/a/b/u", true},
    {"**/u", "/a/b/v", false},
    {"/a/**/u", "/a/u", true},
    {"/a/**/u", "/a/b/c/u", true},
    {"/a/**/u", "/b/u", false},
    {"/a/**/b/**/u", "/a/b/u", true},
    {"/a/**/b/**/u", "/a/x/b/y/z/u", true},
    {"/a/**/b/**/u", "/a/x/c/y/u", false},
    {"/**/b/c", "/b/x/b/c", true},
    {"/**/b/c", "/b/c/x", false},
    {"/**", "/u", true},
    {"/**/**", "/u", true},
    {"/**/a/**/a/**", "/a/a/a", true},
    {"/**/a/**/a/**", "/a/a", false},
    /* what HDF5 ignores in a path */
    {"/a/b", "//a///b/", true},
    {"/a/b", "/a/./b", true},
    {"/a/b", "a/b", true},
    {"b", "a/b", true},
    /* classes */
    {"[abc]", "/b", true},
    {"[abc]", "/d", false},
    {"[a-c]x", "/bx", true},
    {"[!a-c]x", "/bx", false},
    {"[^a-c]x", "/dx", true},
    {"[]]", "/]", true},
    {"[!]]", "/]", false},
    {"[a-]", "/-", true},
    {"[-a]", "/-", true},
    {"[\\]a]", "/]", true},
    {"[a\\-c]", "/b", false},
    {"[a\\-c]", "/-", true},
    {"/a/[uv]/*", "/a/v/w", true},
    {"run[0-9][0-9]", "/run07", true},
    {"run[0-9][0-9]", "/run7", false},
    /* plain characters */
    {"a\\*b", "/a*b", true},
    {"a\\*b", "/axb", false},
    {"\\?", "/?", true},
    {"\\[a]", "/[a]", true},
    {"\\\\", "/\\", true},
    {"a b", "/a b", true},
    {"*", "/*", true},
    {"a.b", "/axb", false},
    /* characters of UTF-8 */
    {"?", "/\xC3\xA4", true},
    {"??", "/\xC3\xA4", false},
    {"[\xC3\xA4-\xC3\xBC]", "/\xC3\xB6", true},
    {"[\xC3\xA4-\xC3\xBC]", "/\xC3\x84", false},
    {"\xE6\xB8\xA9\xE5\xBA\xA6_?", "/\xE6\xB8\xA9\xE5\xBA\xA6_\xF0\x9F\x8C\xA1", true},
    /* bytes that are none */
    {"?", "/\xE4", true},
    {"\xE4", "/\xE4", true},
    {"\xE4", "/\xE5", false},
    {"??", "/\xC3(", true},
    {"?", "/\xC0\x80", false},
    {"??", "/\xC0\x80", true},
    {"?", "/\xED", true},
    {"u", "", false},
    {"u", "/", false},
    {"**", "/", false},
    {"/**", "/", false},
    {"*", "", false},
};

static void
test_patterns_fit_what_they_should(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof matches / sizeof matches[0]; i++) {
        const struct match *const match = &matches[i];
        const char *at;
        assert_null(h5twin_policy_glob_check(match->pattern, &at));
        if (h5twin_policy_glob_match(match->pattern, match->path) != match->fits) {
            fail_msg("%s and %s: %d", match->pattern, match->path, match->fits);
        }
    }
}

static void
test_wrong_patterns_say_where(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        size_t at;
        const char *word;
    } wrong[] = {
        {"", 0, "names no dataset"}, {"/", 0, "names no dataset"}, {"//", 0, "names no dataset"},
        {"a[bc", 1, "not closed"},   {"[", 0, "not closed"},       {"[]", 0, "not closed"},
        {"[a/b]", 0, "not closed"},  {"ab[c-a]", 3, "range"},      {"[[:alpha:]]", 1, "[:alpha:]"},
        {"a\\", 1, "followed"},      {"a\\/b", 1, "followed"},     {"\\[a[", 3, "not closed"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *at;
        const char *const why = h5twin_policy_glob_check(wrong[i].pattern, &at);
        assert_non_null(why);
        if (strstr(why, wrong[i].word) == NULL || at != wrong[i].pattern + wrong[i].at) {
            fail_msg("%s: %s at %d", wrong[i].pattern, why, (int)(at - wrong[i].pattern));
        }
    }
}

static void
test_last_names_that_are_spelled_out(void **state)
{
    (void)state;
    assert_true(h5twin_policy_glob_ends_in_name("time"));
    assert_true(h5twin_policy_glob_ends_in_name("/**/time"));
    assert_true(h5twin_policy_glob_ends_in_name("/a*/ti\\*me"));
    assert_false(h5twin_policy_glob_ends_in_name("ti?e"));
    assert_false(h5twin_policy_glob_ends_in_name("/time/**"));
    assert_false(h5twin_policy_glob_ends_in_name("/time/[a]"));
}

/* Stars must not cost exponential time. */
static void
test_many_stars_end_soon(void **state)
{
    (void)state;
    char path[2002] = "/";
    memset(path + 1, 'a', 2000);
    assert_false(h5twin_policy_glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*ab", path));
    for (size_t i = 0; i < 2000; i += 2) {
        path[i] = '/';
    }
    assert_false(
        h5twin_policy_glob_match("/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/b", path));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns_fit_what_they_should),
        cmocka_unit_test(test_wrong_patterns_say_where),
        cmocka_unit_test(test_last_names_that_are_spelled_out),
        cmocka_unit_test(test_many_stars_end_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
