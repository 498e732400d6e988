/* SPDX-License-Identifier: BSD-3-Clause
 * test_isa.c: which instruction set is used, and which variant of a table that means. */
#include "isa.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

struct test_kernels {
    const char *name;
};

static const struct test_kernels in_c = {"in C"}, with_1 = {"with 1"}, with_3 = {"with 3"},
                                 with_8 = {"with 8"};

static H5TWIN_KERNELS_FOR(test_kernels, {11, &with_8}, {3, &with_3}, {1, &with_1},
                          {H5TWIN_ISA_SCALAR, &in_c})

    static void test_the_first_whose_requirements_are_met(void **state)
{
    (void)state;
    static const struct {
        h5twin_isa isa;
        const struct test_kernels *expected;
    } cases[] = {
        {0, &in_c}, {1, &with_1}, {2, &in_c},    {3, &with_3},          {4, &in_c},
        {8, &in_c}, {9, &with_1}, {11, &with_8}, {UINT32_MAX, &with_8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(test_kernels_for(cases[i].isa)->name, cases[i].expected->name);
    }
}

static void
test_levels_go_up_from_scalar(void **state)
{
    (void)state;
    const struct h5twin_isa_level *level = h5twin_isa_level_at(0), *next;
    assert_non_null(level);
    assert_string_equal(level->name, "scalar");
    assert_int_equal(level->isa, H5TWIN_ISA_SCALAR);
    for (unsigned at = 1; (next = h5twin_isa_level_at(at)) != NULL; at++, level = next) {
        assert_int_equal(level->isa & ~next->isa, 0);
        assert_int_not_equal(level->isa, next->isa);
    }
    unsetenv("H5TWIN_CPU");
    assert_int_equal(h5twin_isa_available(), level->isa);
    assert_ptr_equal(h5twin_isa_level_of(level->isa), level);
    assert_ptr_equal(h5twin_isa_level_of(H5TWIN_ISA_SCALAR), h5twin_isa_level_at(0));
}

static void
test_environment_limits_it(void **state)
{
    (void)state;
    const struct h5twin_isa_level *level;
    for (unsigned at = 0; (level = h5twin_isa_level_at(at)) != NULL; at++) {
        setenv("H5TWIN_CPU", level->name, 1);
        assert_int_equal(h5twin_isa_available(), level->isa);
    }
    unsetenv("H5TWIN_CPU");
    const h5twin_isa all = h5twin_isa_available();
    setenv("H5TWIN_CPU", "no such set", 1);
    assert_int_equal(h5twin_isa_available(), all);
    unsetenv("H5TWIN_CPU");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_whose_requirements_are_met),
        cmocka_unit_test(test_levels_go_up_from_scalar),
        cmocka_unit_test(test_environment_limits_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
