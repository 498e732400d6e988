/* SPDX-License-Identifier: BSD-3-Clause
 * comma_locale.h: a locale in which 1/2 is written 0,5, for tests of what must not obey it. */
#ifndef H5TWIN_TESTS_COMMA_LOCALE_H
#define H5TWIN_TESTS_COMMA_LOCALE_H

#include <stdbool.h>

/* Make it the process's locale, from the system or built by localedef in a folder of its own; false
 * if there is neither. test_locale_leave() goes back to "C". */
bool test_locale_enter_comma(void);
void test_locale_leave(void);

#endif
