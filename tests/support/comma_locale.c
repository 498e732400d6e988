/* SPDX-License-Identifier: BSD-3-Clause
 * comma_locale.c: see comma_locale.h. */
#include "comma_locale.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool
writes_comma(void)
{
    char half[16];
    snprintf(half, sizeof half, "%.1f", 0.5);
    return strcmp(half, "0,5") == 0;
}

/* Where the C library has no such locale installed, but its source and compiler. */
static bool
enter_built_locale(void)
{
    char folder[] = "/tmp/h5twin_locale_XXXXXX", command[256];
    if (mkdtemp(folder) == NULL) {
        return false;
    }
    snprintf(command, sizeof command, "localedef -f UTF-8 -i de_DE %s/de_DE.UTF-8 >%s/log 2>&1",
             folder, folder);
    /* The locale stays mapped when its files are gone. */
    const bool entered = system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 &&
                         setlocale(LC_ALL, "de_DE.UTF-8") != NULL && writes_comma();
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && entered;
}

bool
test_locale_enter_comma(void)
{
    return (setlocale(LC_ALL, "de_DE.UTF-8") != NULL && writes_comma()) || enter_built_locale();
}

void
test_locale_leave(void)
{
    setlocale(LC_ALL, "C");
}
