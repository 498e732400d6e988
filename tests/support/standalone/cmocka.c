/* SPDX-License-Identifier: BSD-3-Clause
 * cmocka.c: see cmocka.h. */
#include "cmocka.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum outcome { PASSED, FAILED, SKIPPED };

/* Of the test that runs. */
static jmp_buf end_of_test;

void
print_message(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

void
print_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

void
h5twin_cm_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    longjmp(end_of_test, FAILED);
}

void
h5twin_cm_skip(void)
{
    longjmp(end_of_test, SKIPPED);
}

void
h5twin_cm_check(int good, const char *file, int line, const char *what)
{
    if (!good) {
        h5twin_cm_fail(file, line, "%s", what);
    }
}

void
h5twin_cm_compare(uintmax_t a, uintmax_t b, int equal, const char *file, int line, const char *what)
{
    if ((a == b) != (equal != 0)) {
        h5twin_cm_fail(file, line, "%s: 0x%" PRIxMAX " and 0x%" PRIxMAX, what, a, b);
    }
}

void
h5twin_cm_strings(const char *a, const char *b, int equal, const char *file, int line)
{
    if ((strcmp(a, b) == 0) != (equal != 0)) {
        h5twin_cm_fail(file, line, "\"%s\" %s \"%s\"", a, equal ? "is not" : "is", b);
    }
}

void
h5twin_cm_memory(const void *a, const void *b, size_t size, const char *file, int line)
{
    const unsigned char *const bytes = a, *const others = b;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != others[i]) {
            h5twin_cm_fail(file, line, "byte %zu of %zu: %02x and %02x", i, size,
                           (unsigned)bytes[i], (unsigned)others[i]);
        }
    }
}

static enum outcome
run_one(const struct CMUnitTest *test)
{
    void *state = test->initial_state;
    printf("[ RUN      ] %s\n", test->name);
    fflush(stdout);
    const int ended = setjmp(end_of_test);
    if (ended == 0) {
        test->test_func(&state);
        return PASSED;
    }
    return ended == SKIPPED ? SKIPPED : FAILED;
}

int
h5twin_cm_run(const struct CMUnitTest *tests, size_t count, int (*set_up)(void **),
              int (*tear_down)(void **))
{
    static const char *const words[] = {"       OK", "  FAILED ", "  SKIPPED"};
    void *state = NULL;
    int failed = 0;
    if (set_up != NULL && set_up(&state) != 0) {
        print_error("the tests cannot be set up\n");
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        const enum outcome outcome = run_one(&tests[i]);
        printf("[%s ] %s\n", words[outcome], tests[i].name);
        failed += outcome == FAILED;
    }
    if (tear_down != NULL && tear_down(&state) != 0) {
        failed++;
    }
    printf("[==========] %zu tests, %d failed\n", count, failed);
    return failed;
}
