/* SPDX-License-Identifier: BSD-3-Clause
 * ieee.h: included where a proof needs IEEE arithmetic: options that give it up are refused.
 *
 * CMakeLists.txt undoes them, wherever they come from; this is for builds without it. */
#ifndef H5TWIN_COMMON_IEEE_H
#define H5TWIN_COMMON_IEEE_H

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0) ||       \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#    error                                                                                         \
        "h5twin: -ffast-math, -Ofast and the like break error bounds: compile it with -fno-fast-math -fno-unsafe-math-optimizations -fno-finite-math-only -fsigned-zeros (icx: -fp-model=precise)"
#endif

#endif
