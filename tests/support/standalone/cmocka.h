/* SPDX-License-Identifier: BSD-3-Clause
 * cmocka.h: stands in for cmocka where it is not installed and cannot be, as on many a machine
 * with a GPU. What the tests of this project use of it, and nothing else. */
#ifndef H5TWIN_STANDALONE_CMOCKA_H
#define H5TWIN_STANDALONE_CMOCKA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Members by cmocka's names, as some tests fill them in. */
struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    void *initial_state;
};

#define cmocka_unit_test(function)                                                                 \
    {                                                                                              \
#        function, function, NULL                                                                  \
    }
#define cmocka_unit_test_prestate(function, state)                                                 \
    {                                                                                              \
#        function, function, state                                                                 \
    }
#define cmocka_run_group_tests(tests, set_up, tear_down)                                           \
    h5twin_cm_run(tests, sizeof(tests) / sizeof((tests)[0]), set_up, tear_down)

int h5twin_cm_run(const struct CMUnitTest *tests, size_t count, int (*set_up)(void **),
                  int (*tear_down)(void **));

/* End the test. */
__attribute__((noreturn)) void h5twin_cm_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
__attribute__((noreturn)) void h5twin_cm_skip(void);
void print_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Fail unless `good`; what: the condition in words. */
void h5twin_cm_check(int good, const char *file, int line, const char *what);
void h5twin_cm_compare(uintmax_t a, uintmax_t b, int equal, const char *file, int line,
                       const char *what);
void h5twin_cm_strings(const char *a, const char *b, int equal, const char *file, int line);
void h5twin_cm_memory(const void *a, const void *b, size_t size, const char *file, int line);

#define fail()        h5twin_cm_fail(__FILE__, __LINE__, "%s", "failed")
#define fail_msg(...) h5twin_cm_fail(__FILE__, __LINE__, __VA_ARGS__)
#define skip()        h5twin_cm_skip()

#define assert_true(c)     h5twin_cm_check((c) ? 1 : 0, __FILE__, __LINE__, #c)
#define assert_false(c)    h5twin_cm_check((c) ? 0 : 1, __FILE__, __LINE__, "not " #c)
#define assert_non_null(p) h5twin_cm_check((p) != NULL, __FILE__, __LINE__, #p " != NULL")
#define assert_null(p)     h5twin_cm_check((p) == NULL, __FILE__, __LINE__, #p " == NULL")
#define assert_ptr_equal(a, b)                                                                     \
    h5twin_cm_check((const void *)(a) == (const void *)(b), __FILE__, __LINE__, #a " == " #b)
#define assert_ptr_not_equal(a, b)                                                                 \
    h5twin_cm_check((const void *)(a) != (const void *)(b), __FILE__, __LINE__, #a " != " #b)
#define assert_int_equal(a, b)                                                                     \
    h5twin_cm_compare((uintmax_t)(a), (uintmax_t)(b), 1, __FILE__, __LINE__, #a " == " #b)
#define assert_int_not_equal(a, b)                                                                 \
    h5twin_cm_compare((uintmax_t)(a), (uintmax_t)(b), 0, __FILE__, __LINE__, #a " != " #b)
#define assert_in_range(value, low, high)                                                          \
    h5twin_cm_check((uintmax_t)(value) >= (uintmax_t)(low) &&                                      \
                        (uintmax_t)(value) <= (uintmax_t)(high),                                   \
                    __FILE__, __LINE__, #value " in " #low ".." #high)
#define assert_string_equal(a, b)       h5twin_cm_strings(a, b, 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b)   h5twin_cm_strings(a, b, 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) h5twin_cm_memory(a, b, size, __FILE__, __LINE__)

#ifdef __cplusplus
}
#endif
#endif
