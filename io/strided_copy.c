/* SPDX-License-Identifier: BSD-3-Clause
 * strided_copy.c: see strided_copy.h. */
#include "strided_copy.h"

#include <string.h>

void
h5twin_strided_init(struct h5twin_strided *box, unsigned rank, const uint64_t *count,
                    size_t element_size, const ptrdiff_t *dst_strides, const ptrdiff_t *src_strides)
{
    *box = (struct h5twin_strided){.size = element_size};
    for (unsigned axis = 0; axis < rank; axis++) {
        if (count[axis] == 1) {
            continue;
        }
        const ptrdiff_t length = (ptrdiff_t)count[axis];
        const unsigned outer = box->rank - 1; /* if there is one */
        if (box->rank > 0 && box->dst_stride[outer] == length * dst_strides[axis] &&
            box->src_stride[outer] == length * src_strides[axis]) {
            box->count[outer] *= count[axis];
            box->dst_stride[outer] = dst_strides[axis];
            box->src_stride[outer] = src_strides[axis];
            continue;
        }
        box->count[box->rank] = count[axis];
        box->dst_stride[box->rank] = dst_strides[axis];
        box->src_stride[box->rank] = src_strides[axis];
        box->rank++;
    }
    if (box->rank == 0) {
        return;
    }
    const unsigned last = box->rank - 1;
    const ptrdiff_t size = (ptrdiff_t)element_size;
    if (box->dst_stride[last] == size && box->src_stride[last] == size) {
        box->size *= (size_t)box->count[last];
        box->rank--;
    }
}

/* Inlined with a constant size. */
static inline void
copy_row(uint8_t *dst, const uint8_t *src, uint64_t count, ptrdiff_t dst_stride,
         ptrdiff_t src_stride, size_t size)
{
    for (uint64_t i = 0; i < count; i++) {
        memcpy(dst, src, size);
        dst += dst_stride;
        src += src_stride;
    }
}

static void
copy_pieces(uint8_t *dst, const uint8_t *src, uint64_t count, ptrdiff_t dst_stride,
            ptrdiff_t src_stride, size_t size)
{
    switch (size) {
    case 1:
        copy_row(dst, src, count, dst_stride, src_stride, 1);
        break;
    case 2:
        copy_row(dst, src, count, dst_stride, src_stride, 2);
        break;
    case 4:
        copy_row(dst, src, count, dst_stride, src_stride, 4);
        break;
    case 8:
        copy_row(dst, src, count, dst_stride, src_stride, 8);
        break;
    case 16:
        copy_row(dst, src, count, dst_stride, src_stride, 16);
        break;
    default:
        copy_row(dst, src, count, dst_stride, src_stride, size);
    }
}

/* The places of the next row of the last dim: back to the begin of all dims that have ended. */
static bool
next_row(const struct h5twin_strided *box, uint64_t *at, ptrdiff_t *dst, ptrdiff_t *src)
{
    for (unsigned axis = box->rank - 1; axis-- > 0;) {
        *dst += box->dst_stride[axis];
        *src += box->src_stride[axis];
        if (++at[axis] < box->count[axis]) {
            return true;
        }
        at[axis] = 0;
        *dst -= (ptrdiff_t)box->count[axis] * box->dst_stride[axis];
        *src -= (ptrdiff_t)box->count[axis] * box->src_stride[axis];
    }
    return false;
}

void
h5twin_strided_copy(const struct h5twin_strided *box, uint8_t *dst, const uint8_t *src)
{
    if (box->rank == 0) {
        memcpy(dst, src, box->size);
        return;
    }
    const unsigned last = box->rank - 1;
    uint64_t at[H5TWIN_TRANSFER_MAX_RANK] = {0};
    ptrdiff_t to = 0, from = 0;
    do {
        copy_pieces(dst + to, src + from, box->count[last], box->dst_stride[last],
                    box->src_stride[last], box->size);
    } while (next_row(box, at, &to, &from));
}

bool
h5twin_strided_equal(const struct h5twin_strided *box, const uint8_t *dst, const uint8_t *src)
{
    if (box->rank == 0) {
        return memcmp(dst, src, box->size) == 0;
    }
    const unsigned last = box->rank - 1;
    uint64_t at[H5TWIN_TRANSFER_MAX_RANK] = {0};
    ptrdiff_t to = 0, from = 0;
    do {
        for (uint64_t i = 0; i < box->count[last]; i++) {
            if (memcmp(dst + to + (ptrdiff_t)i * box->dst_stride[last],
                       src + from + (ptrdiff_t)i * box->src_stride[last], box->size) != 0) {
                return false;
            }
        }
    } while (next_row(box, at, &to, &from));
    return true;
}
