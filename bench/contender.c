/* SPDX-License-Identifier: BSD-3-Clause
 * contender.c: the list of contenders. */
#include "contender.h"

#include <stdio.h>

struct contender *
contenders_add(struct contenders *all, const char *name)
{
    if (all->count == MAX_CONTENDERS) {
        fprintf(stderr, "bench_codecs: more than %d contenders\n", MAX_CONTENDERS);
        return NULL;
    }
    struct contender *const contender = &all->list[all->count++];
    *contender = (struct contender){.variant = "-", .threads = 1};
    snprintf(contender->name, sizeof contender->name, "%s", name);
    return contender;
}
