/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_damages.h: how much tests of back ends do under sanitizers. */
#ifndef H5TWIN_TESTS_GPU_DAMAGES_H
#define H5TWIN_TESTS_GPU_DAMAGES_H

#include "gpu_case.h"

/* How many damages of a payload to try. */
inline unsigned
gpu_damages(void)
{
    return gpu_is_slow() ? 10 : gpu_is_instrumented() ? 40 : 100;
}

#endif
