/* SPDX-License-Identifier: BSD-3-Clause
 * policy_public.c: policies for programs, see include/h5twin_policy.h. */
#include "h5twin_policy.h"
#include "policy.h"

#include <string.h>

_Static_assert(H5TWIN_POLICY_ERROR_SIZE == H5TWIN_POLICY_SENTENCE, "one sentence");
_Static_assert(H5TWIN_POLICY_SPEC_SIZE == H5TWIN_POLICY_SPEC, "one spec");

struct h5twin_policy *
h5twin_policy_open(const char *path, char error[H5TWIN_POLICY_ERROR_SIZE])
{
    error[0] = '\0';
    return h5twin_policy_read(path, error);
}

void
h5twin_policy_close(struct h5twin_policy *policy)
{
    if (policy != NULL) {
        h5twin_policy_free(policy);
    }
}

static enum h5twin_policy_type
type_of(enum h5twin_kind kind, bool is_signed, uint32_t element_size)
{
    const enum h5twin_policy_type first = is_signed ? H5TWIN_POLICY_INT8 : H5TWIN_POLICY_UINT8;
    if (kind == H5TWIN_FLOAT) {
        return element_size == 4   ? H5TWIN_POLICY_FLOAT32
               : element_size == 8 ? H5TWIN_POLICY_FLOAT64
                                   : H5TWIN_POLICY_OTHER;
    }
    for (int log = 0; kind == H5TWIN_INTEGER && log < 4; log++) {
        if (element_size == 1u << log) {
            return (enum h5twin_policy_type)((int)first + log);
        }
    }
    return H5TWIN_POLICY_OTHER;
}

bool
h5twin_policy_spec(const struct h5twin_policy *policy, const char *path, enum h5twin_kind kind,
                   bool is_signed, uint32_t element_size, uint32_t rank, const uint64_t *dims,
                   uint64_t *chunk, char spec[H5TWIN_POLICY_SPEC_SIZE])
{
    struct h5twin_policy_dataset dataset = {
        .path = path,
        .type = type_of(kind, is_signed, element_size),
        .element_size = element_size,
        .rank = rank,
        .has_chunk = rank > 0,
    };
    struct h5twin_policy_outcome outcome;
    spec[0] = '\0';
    if (policy == NULL || path == NULL || rank > H5TWIN_MAX_RANK) {
        return false;
    }
    for (uint32_t axis = 0; axis < rank; axis++) {
        dataset.dims[axis] = dims[axis];
        dataset.most_dims[axis] = dims[axis];
        dataset.chunk[axis] = chunk[axis];
    }
    memset(&outcome, 0, sizeof outcome);
    h5twin_policy_choose(policy, &dataset, &outcome);
    if (!outcome.is_coded) {
        return false;
    }
    if (outcome.is_new_chunk && outcome.rank == rank) {
        memcpy(chunk, outcome.chunk, rank * sizeof *chunk);
    }
    memcpy(spec, outcome.spec, H5TWIN_POLICY_SPEC);
    return true;
}
