/* SPDX-License-Identifier: BSD-3-Clause
 * pool.h: whether the pool of codec/common/parallel.h is still of use. */
#ifndef H5TWIN_TESTS_POOL_H
#define H5TWIN_TESTS_POOL_H

#include <stdbool.h>

/* Whether a worker comes while its caller is at work. A pool that is locked for ever runs all tasks
 * in the caller, which nothing else would show. Waits two seconds for it. */
bool test_pool_works(void);

#endif
