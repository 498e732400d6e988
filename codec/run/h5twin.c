/* SPDX-License-Identifier: BSD-3-Clause
 * h5twin.c: the public calls on chunks: each makes a plan and carries it out. */
#include "h5twin.h"

#include "../common/environment.h"
#include "plan.h"

#include <string.h>

static bool
is_exec(const struct h5twin_exec *exec)
{
    return exec == NULL || h5twin_is_reserved_zero(exec->reserved, sizeof exec->reserved);
}

const char *
h5twin_version(void)
{
    return H5TWIN_VERSION;
}

size_t
h5twin_bound(const struct h5twin_params *params, size_t src_size)
{
    struct h5twin_plan framed, bare;
    const size_t for_framed =
        h5twin_plan_for_params(&framed, params, src_size, false) == H5TWIN_OK ? framed.bound : 0;
    const size_t for_bare =
        h5twin_plan_for_params(&bare, params, src_size, true) == H5TWIN_OK ? bare.bound : 0;
    return for_framed > for_bare ? for_framed : for_bare;
}

static enum h5twin_status
encode(const struct h5twin_params *params, const struct h5twin_exec *exec, bool is_bare, void *dst,
       size_t dst_capacity, const void *src, size_t src_size, size_t *dst_size)
{
    if (dst_size == NULL || dst == NULL || (src == NULL && src_size != 0) || !is_exec(exec)) {
        return H5TWIN_ERR_ARG;
    }
    struct h5twin_plan plan;
    const enum h5twin_status status = h5twin_plan_for_params(&plan, params, src_size, is_bare);
    return status != H5TWIN_OK ? status
                               : h5twin_plan_encode(&plan, exec, dst, dst_capacity, src, dst_size);
}

enum h5twin_status
h5twin_encode(const struct h5twin_params *params, const struct h5twin_exec *exec, void *dst,
              size_t dst_capacity, const void *src, size_t src_size, size_t *dst_size)
{
    return encode(params, exec, false, dst, dst_capacity, src, src_size, dst_size);
}

enum h5twin_status
h5twin_encode_payload(const struct h5twin_params *params, const struct h5twin_exec *exec, void *dst,
                      size_t dst_capacity, const void *src, size_t src_size, size_t *dst_size)
{
    return encode(params, exec, true, dst, dst_capacity, src, src_size, dst_size);
}

static enum h5twin_status
open_chunk(struct h5twin_plan *plan, const void *src, size_t src_size)
{
    const enum h5twin_status status =
        src == NULL ? H5TWIN_ERR_ARG : h5twin_plan_for_chunk(plan, src, src_size);
    return status != H5TWIN_OK ? status : h5twin_plan_check_size(plan, src, src_size);
}

enum h5twin_status
h5twin_inspect(const void *src, size_t src_size, struct h5twin_info *info)
{
    struct h5twin_plan plan;
    if (info == NULL) {
        return H5TWIN_ERR_ARG;
    }
    const enum h5twin_status status = open_chunk(&plan, src, src_size);
    if (status == H5TWIN_OK) {
        *info = plan.info;
        memset(info->reserved, 0, sizeof info->reserved);
    }
    return status;
}

enum h5twin_status
h5twin_decode(const struct h5twin_exec *exec, void *dst, size_t dst_capacity, const void *src,
              size_t src_size, size_t *dst_size)
{
    if (src == NULL || dst_size == NULL || !is_exec(exec)) {
        return H5TWIN_ERR_ARG;
    }
    struct h5twin_plan plan;
    const enum h5twin_status status = h5twin_plan_for_chunk(&plan, src, src_size);
    return status != H5TWIN_OK
               ? status
               : h5twin_plan_decode(&plan, exec, dst, dst_capacity, src, src_size, dst_size);
}

void
h5twin_box_set(struct h5twin_box *box, uint32_t element_size, uint32_t rank, const uint64_t *dims,
               const uint64_t *start, const uint64_t *count)
{
    memset(box->reserved, 0, sizeof box->reserved);
    box->element_size = element_size;
    box->rank = rank;
    uint64_t stride = element_size; /* what overflows is refused later, by the dims */
    for (uint32_t axis = rank < H5TWIN_BOX_MAX_RANK ? rank : H5TWIN_BOX_MAX_RANK; axis-- > 0;) {
        box->dims[axis] = dims[axis];
        box->start[axis] = start[axis];
        box->count[axis] = count[axis];
        box->dst_strides[axis] = (int64_t)stride;
        stride *= count[axis];
    }
}

enum h5twin_status
h5twin_decode_box(const struct h5twin_exec *exec, void *dst, const struct h5twin_box *box,
                  const void *src, size_t src_size)
{
    if (src == NULL || box == NULL || !is_exec(exec) ||
        !h5twin_is_reserved_zero(box->reserved, sizeof box->reserved)) {
        return H5TWIN_ERR_ARG;
    }
    struct h5twin_plan plan;
    const enum h5twin_status status = h5twin_plan_for_chunk(&plan, src, src_size);
    return status != H5TWIN_OK ? status
                               : h5twin_plan_decode_box(&plan, exec, dst, box, src, src_size, NULL);
}

enum h5twin_status
h5twin_decode_payload(const struct h5twin_params *params, const struct h5twin_exec *exec, void *dst,
                      size_t dst_size, const void *src, size_t src_size)
{
    if (src == NULL || (dst == NULL && dst_size != 0) || !is_exec(exec)) {
        return H5TWIN_ERR_ARG;
    }
    struct h5twin_plan plan;
    const enum h5twin_status status = h5twin_plan_for_params(&plan, params, dst_size, true);
    return status != H5TWIN_OK ? status
                               : h5twin_plan_decode_payload(&plan, exec, dst, src, src_size);
}

enum h5twin_status
h5twin_payload_raw_size(const struct h5twin_params *params, const void *src, size_t src_size,
                        uint64_t *raw_size)
{
    if (src == NULL || raw_size == NULL) {
        return H5TWIN_ERR_ARG;
    }
    uint64_t size = params == NULL ? 0 : params->element_size;
    for (uint32_t axis = 0; params != NULL && axis < params->rank && axis < H5TWIN_MAX_RANK;
         axis++) {
        if (params->dims[axis] != 0 && size > SIZE_MAX / params->dims[axis]) {
            return H5TWIN_ERR_TOO_BIG;
        }
        size *= params->dims[axis];
    }
    struct h5twin_plan plan;
    const enum h5twin_status status = h5twin_plan_for_params(&plan, params, (size_t)size, true);
    return status != H5TWIN_OK ? status : plan.codec->raw_size(&plan.job, src, src_size, raw_size);
}

size_t
h5twin_describe(const void *src, size_t src_size, char *text, size_t capacity)
{
    if (capacity > 0) {
        text[0] = '\0';
    }
    struct h5twin_plan plan;
    if (open_chunk(&plan, src, src_size) != H5TWIN_OK || plan.info.stored_raw ||
        plan.codec->describe == NULL) {
        return 0;
    }
    struct h5twin_environment environment;
    h5twin_environment_hold(&environment);
    const size_t length =
        plan.codec->describe(&plan.job, (const uint8_t *)src + plan.info.frame_size,
                             src_size - plan.info.frame_size, text, capacity);
    h5twin_environment_release(&environment);
    return length;
}
