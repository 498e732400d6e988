/* SPDX-License-Identifier: BSD-3-Clause
 * h5twin_policy.h: ask a policy file which codec an array gets, for programs that store arrays by
 * themselves. docs/pages/policy.md explains policies to users. */
#ifndef H5TWIN_POLICY_PUBLIC_H
#define H5TWIN_POLICY_PUBLIC_H

#include "h5twin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define H5TWIN_POLICY_ERROR_SIZE 512 /* bytes, with the ending zero */
#define H5TWIN_POLICY_SPEC_SIZE  256

/* Rules, read once; threads may share them. */
struct h5twin_policy;

/* Read a file of rules. NULL after an error: then error holds one sentence, "FILE:LINE:COLUMN: what
 * is wrong: how to put it right". */
H5TWIN_API struct h5twin_policy *h5twin_policy_open(const char *path,
                                                    char error[H5TWIN_POLICY_ERROR_SIZE]);
H5TWIN_API void h5twin_policy_close(struct h5twin_policy *policy); /* NULL is fine */

/* What the first rule that fits says of an array of numbers, named by an absolute path such as
 * "/flow/u". kind: H5TWIN_FLOAT or H5TWIN_INTEGER; element_size in bytes; dims in elements, slowest
 * varying first, rank 0 to 8. chunk holds the shape that the array gets without a rule, rank
 * extents; a rule may change it. True: spec is the codec's, for h5twin_params_parse(). False: no
 * rule fits, or the rule leaves such an array alone; spec is "" then. */
H5TWIN_API bool h5twin_policy_spec(const struct h5twin_policy *policy, const char *path,
                                   enum h5twin_kind kind, bool is_signed, uint32_t element_size,
                                   uint32_t rank, const uint64_t *dims, uint64_t *chunk,
                                   char spec[H5TWIN_POLICY_SPEC_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
