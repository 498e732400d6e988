/* SPDX-License-Identifier: BSD-3-Clause
 * environment.h: the floating-point environment: rounding mode, traps, flushing of subnormal
 * numbers, exception flags.
 *
 * It is the caller's, who may have set any, while every formula of this library is for the default
 * one: to nearest, no traps, nothing flushed. Whoever computes takes that and gives back what was
 * there: no flag that was raised in between is seen, and no trap springs. Workers of the pool start
 * with it. */
#ifndef H5TWIN_COMMON_ENVIRONMENT_H
#define H5TWIN_COMMON_ENVIRONMENT_H

#include "ieee.h"

#if defined(__x86_64__) && defined(__GNUC__)

#    include <stdint.h>

/* A few cycles, where <fenv.h> takes hundreds, as it also saves the flags of the x87, which nothing
 * here raises. The C library asks its control word how to round text. */
struct h5twin_environment {
    uint32_t sse;
    uint16_t x87;
};

static inline void
h5twin_environment_release(const struct h5twin_environment *before)
{
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(before->sse), "m"(before->x87) : "memory");
}

static inline void
h5twin_environment_hold(struct h5twin_environment *before)
{
    const struct h5twin_environment usual = {0x1F80, 0x037F};
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(before->sse), "=m"(before->x87) : : "memory");
    h5twin_environment_release(&usual);
}

#else

#    include <fenv.h>
#    include <stdbool.h>

struct h5twin_environment {
    fenv_t fenv;
    bool is_held;
};

static inline void
h5twin_environment_hold(struct h5twin_environment *before)
{
    before->is_held = fegetenv(&before->fenv) == 0 && fesetenv(FE_DFL_ENV) == 0;
}

static inline void
h5twin_environment_release(const struct h5twin_environment *before)
{
    if (before->is_held) {
        (void)fesetenv(&before->fenv);
    }
}

#endif
#endif
