/* SPDX-License-Identifier: BSD-3-Clause
 * test_policy_parse.c: what is a policy, what its rules then say, and where a wrong one is wrong.
 */
#include "policy_rules.h"

#include "specs.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB ((uint64_t)1 << 10)

static struct h5twin_policy *
parse(const char *text)
{
    char error[H5TWIN_POLICY_SENTENCE] = "";
    struct h5twin_policy *const policy = h5twin_policy_parse("p", text, strlen(text), error);
    if (policy == NULL) {
        fail_msg("%s: %s", text, error);
    }
    return policy;
}

/* ---- wrong ones ---- */

static const struct {
    const char *text;
    const char *where; /* how the message starts */
    const char *what;  /* and what it has */
} wrong[] = {
    {"u", "p:1:2: ", "arrow"},
    {"u float", "p:1:8: ", "arrow"},
    {"u ->", "p:1:5: ", "what to do is missing"},
    {"u -> # cascade", "p:1:6: ", "what to do is missing"},
    {"-> cascade", "p:1:1: ", "pattern is missing"},
    {"u flot -> cascade", "p:1:3: ", "\"flot\" is no condition"},
    {"\n\n\xC3\xA4\xC3\xA4 flot -> cascade", "p:3:4: ", "no condition"},
    {"u float,flot -> cascade", "p:1:9: ", "no type"},
    {"u float, -> cascade", "p:1:9: ", "no type"},
    {"u ,float -> cascade", "p:1:3: ", "no condition"},
    {"u float int8 -> cascade", "p:1:9: ", "commas"},
    {"u >=64Kib -> cascade", "p:1:7: ", "unit"},
    {"u >=KiB -> cascade", "p:1:5: ", "no size"},
    {"u >=1.5MiB -> cascade", "p:1:6: ", "unit"},
    {"u >=99999999999999999999 -> cascade", "p:1:5: ", "no size"},
    {"u >=99999999TiB -> cascade", "p:1:5: ", "larger than any"},
    {"u >= -> cascade", "p:1:5: ", "value is missing"},
    {"u >=", "p:1:5: ", "value is missing"},
    {"u =64KiB -> cascade", "p:1:3: ", "compared by"},
    {"u size -> cascade", "p:1:7: ", "compared by"},
    {"u >64KiB <64KiB -> cascade", "p:1:1: ", "no dataset has such a size"},
    {"u rank -> cascade", "p:1:7: ", "rank=3"},
    {"u rank=x -> cascade", "p:1:8: ", "rank=3"},
    {"u rank=3x -> cascade", "p:1:8: ", "rank=3"},
    {"u rank=33 -> cascade", "p:1:8: ", "rank=3"},
    {"u rank=0 -> cascade", "p:1:1: ", "no dataset has such a rank"},
    {"u rank>3 rank<3 -> cascade", "p:1:1: ", "no dataset has such a rank"},
    {"u dims= -> cascade", "p:1:8: ", "number of elements"},
    {"u dims=3x -> cascade", "p:1:10: ", "number of elements"},
    {"u dims=3,4 -> cascade", "p:1:9: ", "an x"},
    {"u dims=1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1 -> cascade",
     "p:1:72: ", "32 axes"},
    {"u dims=3 dims=4 -> cascade", "p:1:10: ", "dims already"},
    {"u rank=2 dims=3 -> cascade", "p:1:1: ", "axes"},
    {"u rank=2 -> cascade chunks=4x4x4", "p:1:1: ", "axes"},
    {"u dims=*x* -> cascade chunks=4", "p:1:1: ", "axes"},
    {"u fixed extendable -> cascade", "p:1:9: ", "already"},
    {"u -> cascade sleek", "p:1:14: ", "already"},
    {"u -> none cascade", "p:1:11: ", "already"},
    {"u -> none chunks=auto", "p:1:22: ", "leave chunks="},
    {"u -> cascade append=", "p:1:21: ", "append=hold"},
    {"u -> cascade append=held", "p:1:21: ", "append=hold"},
    {"u -> append=hold", "p:1:17: ", "what to do is missing"},
    {"u -> none collective", "p:1:21: ", "leave chunks="},
    {"u -> cascade -> sleek", "p:1:14: ", "second arrow"},
    {"u -> casscade", "p:1:6: ", "\"casscade\" is no action"},
    {"u -> lattice:abs=-1", "p:1:14: ", "no action"},
    {"u -> lattice:abs=1e-3,efort=max", "p:1:23: ", "no action"},
    {"u -> cascade:abs=1e-3", "p:1:14: ", "no action"},
    {"u -> chunks=auto", "p:1:17: ", "what to do is missing"},
    {"u -> cascade chunks=auto chunks=keep", "p:1:26: ", "chunks already"},
    {"u -> cascade chunks=4x0", "p:1:23: ", "chunks=16x64x64"},
    {"u -> cascade chunks=4x*", "p:1:23: ", "chunks=16x64x64"},
    {"u -> cascade chunks=5000000000", "p:1:21: ", "4 GiB"},
    {"\"u -> cascade", "p:1:1: ", "quote is not closed"},
    {"/a\"b c -> cascade", "p:1:3: ", "quote is not closed"},
    {"\"\" -> cascade", "p:1:1: ", "names no dataset"},
    {"a[b -> cascade", "p:1:2: ", "not closed"},
    {"\"a b[c\" -> cascade", "p:1:5: ", "not closed"},
    {"\"\\\"b[c\" -> cascade", "p:1:5: ", "not closed"},
    {"ok -> cascade\r\nu -> x\r\n", "p:2:6: ", "no action"},
};

static void
test_errors_say_where_and_how_to_repair(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char error[H5TWIN_POLICY_SENTENCE] = "";
        const char *const text = wrong[i].text;
        assert_null(h5twin_policy_parse("p", text, strlen(text), error));
        if (strncmp(error, wrong[i].where, strlen(wrong[i].where)) != 0 ||
            strstr(error, wrong[i].what) == NULL || error[strlen(error) - 1] != '.') {
            fail_msg("%s: %s", text, error);
        }
    }
}

static void
test_no_text_file(void **state)
{
    (void)state;
    char error[H5TWIN_POLICY_SENTENCE] = "";
    assert_null(h5twin_policy_parse("p", "u \0-> cascade", 13, error));
    assert_non_null(strstr(error, "p:1:3: a zero byte"));
}

static void
test_long_names_leave_room_for_the_reason(void **state)
{
    (void)state;
    char name[2000], error[H5TWIN_POLICY_SENTENCE] = "";
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_null(h5twin_policy_parse(name, "u", 1, error));
    assert_non_null(strstr(error, "arrow"));
}

/* ---- right ones ---- */

static void
test_lines_that_are_no_rules(void **state)
{
    (void)state;
    struct h5twin_policy *const policy =
        parse("\xEF\xBB\xBF# comment\n\n   \t \r\n#\n  # another\nu -> cascade # here too\n"
              "\"#v\" -> none\nw#x -> none");
    assert_int_equal(policy->rule_count, 3);
    assert_int_equal(policy->rules[0].line, 6);
    assert_string_equal(policy->rules[0].pattern, "u");
    assert_int_equal(policy->rules[1].line, 7);
    assert_string_equal(policy->rules[1].pattern, "#v");
    assert_string_equal(policy->rules[2].pattern, "w#x");
    h5twin_policy_free(policy);
    struct h5twin_policy *const empty = parse("");
    assert_int_equal(empty->rule_count, 0);
    h5twin_policy_free(empty);
}

static void
test_patterns_are_unquoted(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"\"a b\" -> none", "a b"}, {"/a\" \"b/c -> none", "/a b/c"},
        {"a\\ b -> none", "a\\ b"}, {"\"a\\\"b\" -> none", "a\\\"b"},
        {"\"->\" -> none", "->"},   {"/fields/ -> none", "/fields/**"},
        {"\ta\t->\tnone\t", "a"},   {"/\xE6\xB8\xA9/u -> none", "/\xE6\xB8\xA9/u"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct h5twin_policy *const policy = parse(rows[i][0]);
        assert_int_equal(policy->rule_count, 1);
        assert_string_equal(policy->rules[0].pattern, rows[i][1]);
        h5twin_policy_free(policy);
    }
}

static void
test_types(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t types;
    } rows[] = {
        {"u -> none", 0x7FEu},
        {"u any -> none", 0x7FEu},
        {"u float -> none", 3u << H5TWIN_POLICY_FLOAT32},
        {"u float32 -> none", 1u << H5TWIN_POLICY_FLOAT32},
        {"u integer -> none", 0x1FEu},
        {"u int -> none", 0x1Eu},
        {"u uint -> none", 0x1E0u},
        {"u float64,uint16 -> none", 1u << H5TWIN_POLICY_FLOAT64 | 1u << H5TWIN_POLICY_UINT16},
        {"u complex -> none", 3u << H5TWIN_POLICY_COMPLEX64},
        {"u complex128 -> none", 1u << H5TWIN_POLICY_COMPLEX128},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct h5twin_policy *const policy = parse(rows[i].text);
        assert_int_equal(policy->rules[0].types, rows[i].types);
        h5twin_policy_free(policy);
    }
}

static void
test_sizes_and_ranks(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t least_size, most_size;
        uint32_t least_rank, most_rank;
    } rows[] = {
        {"u -> none", 16 * KIB, UINT64_MAX, 1, 32},
        {"u >=64KiB -> none", 64 * KIB, UINT64_MAX, 1, 32},
        {"u >64KiB -> none", 64 * KIB + 1, UINT64_MAX, 1, 32},
        {"u <64KiB -> none", 0, 64 * KIB - 1, 1, 32},
        {"u <=64 -> none", 0, 64, 1, 32},
        {"u >=1k <=2M -> none", KIB, 2048 * KIB, 1, 32},
        {"u size>=1GB -> none", 1000000000, UINT64_MAX, 1, 32},
        {"u >= 3TiB -> none", 3 * KIB * KIB * KIB * KIB, UINT64_MAX, 1, 32},
        {"u >=0B -> none", 0, UINT64_MAX, 1, 32},
        {"u rank=3 -> none", 16 * KIB, UINT64_MAX, 3, 3},
        {"u rank>=2 -> none", 16 * KIB, UINT64_MAX, 2, 32},
        {"u rank>2 rank<5 -> none", 16 * KIB, UINT64_MAX, 3, 4},
        {"u rank<= 2 -> none", 16 * KIB, UINT64_MAX, 1, 2},
        {"u dims=*x4 -> none", 16 * KIB, UINT64_MAX, 2, 2},
        {"u -> cascade chunks=4x4x4", 16 * KIB, UINT64_MAX, 3, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct h5twin_policy *const policy = parse(rows[i].text);
        const struct h5twin_policy_rule *const rule = &policy->rules[0];
        if (rule->least_size != rows[i].least_size || rule->most_size != rows[i].most_size ||
            rule->least_rank != rows[i].least_rank || rule->most_rank != rows[i].most_rank) {
            fail_msg("%s", rows[i].text);
        }
        h5twin_policy_free(policy);
    }
}

static void
test_actions(void **state)
{
    (void)state;
    struct h5twin_policy *const policy =
        parse("a -> lattice:abs=1e-3,fill=-9999,effort=max chunks=auto\n"
              "b dims=*x180 -> chunks=16x180 cascade collective\n"
              "c -> none append=hold\n"
              "d -> append=hold sleek:noa=1e-4 chunks=keep\n");
    const struct h5twin_policy_rule *const rules = policy->rules;
    char spec[H5TWIN_POLICY_SPEC];
    assert_int_equal(policy->rule_count, 4);
    h5twin_params_format(&rules[0].params, spec, sizeof spec);
    assert_string_equal(spec, "lattice:abs=0.001,fill=-9999,effort=max");
    assert_int_equal(rules[0].chunks, H5TWIN_POLICY_CHUNKS_AUTO);
    assert_false(rules[0].is_none || rules[0].is_collective || rules[0].is_held);
    h5twin_params_format(&rules[1].params, spec, sizeof spec);
    assert_string_equal(spec, "cascade");
    assert_int_equal(rules[1].chunks, H5TWIN_POLICY_CHUNKS_GIVEN);
    assert_int_equal(rules[1].chunk.rank, 2);
    assert_int_equal(rules[1].chunk.dims[0], 16);
    assert_int_equal(rules[1].chunk.dims[1], 180);
    assert_true(rules[1].is_collective);
    assert_true(rules[1].dims.dims[0] == H5TWIN_POLICY_UNLIMITED && rules[1].dims.dims[1] == 180);
    assert_true(rules[2].is_none && rules[2].is_held);
    assert_int_equal(rules[3].chunks, H5TWIN_POLICY_CHUNKS_KEEP);
    assert_true(rules[3].is_held && h5twin_policy_may_hold(policy));
    struct h5twin_policy_dataset dataset = {
        .path = "/g/c", .type = H5TWIN_POLICY_FLOAT32, .element_size = 4, .rank = 1};
    dataset.dims[0] = dataset.most_dims[0] = 100000;
    assert_true(h5twin_policy_holds(policy, &dataset));
    dataset.path = "/g/a";
    assert_false(h5twin_policy_holds(policy, &dataset));
    dataset.path = NULL;
    assert_false(h5twin_policy_holds(policy, &dataset));
    h5twin_policy_free(policy);
}

static void
test_every_codecs_specs_are_actions(void **state)
{
    (void)state;
    const char *spec;
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        char text[512];
        snprintf(text, sizeof text, "** -> %s", spec);
        struct h5twin_policy *const policy = parse(text);
        assert_false(policy->rules[0].is_none);
        h5twin_policy_free(policy);
    }
}

static void
test_many_rules(void **state)
{
    (void)state;
    enum { COUNT = 10000, LENGTH = 14 };
    char *const text = malloc((size_t)COUNT * (LENGTH + 1));
    assert_non_null(text);
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(text + (size_t)i * LENGTH, LENGTH + 1, "u%04u -> none\n", i % 10000);
    }
    struct h5twin_policy *const policy = parse(text);
    assert_int_equal(policy->rule_count, COUNT);
    assert_int_equal(policy->rules[COUNT - 1].line, COUNT);
    h5twin_policy_free(policy);
    free(text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors_say_where_and_how_to_repair),
        cmocka_unit_test(test_no_text_file),
        cmocka_unit_test(test_long_names_leave_room_for_the_reason),
        cmocka_unit_test(test_lines_that_are_no_rules),
        cmocka_unit_test(test_patterns_are_unquoted),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_sizes_and_ranks),
        cmocka_unit_test(test_actions),
        cmocka_unit_test(test_every_codecs_specs_are_actions),
        cmocka_unit_test(test_many_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
