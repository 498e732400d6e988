/* SPDX-License-Identifier: BSD-3-Clause
 * box.c: see box.h. */
#include "box.h"

#include "byte_order.h"
#include "kept_memory.h"

#include <stdatomic.h>
#include <string.h>

/* ---- from a box to runs ---- */

/* H5TWIN_OK if the box lies in dims that give array_size bytes. */
static enum h5twin_status
check(const struct h5twin_box *box, size_t array_size)
{
    if (box->element_size == 0) {
        return H5TWIN_ERR_ELEMENT;
    }
    if (box->rank > H5TWIN_BOX_MAX_RANK) {
        return H5TWIN_ERR_DIMS;
    }
    bool is_empty = false;
    for (uint32_t axis = 0; axis < box->rank; axis++) {
        if (box->start[axis] > box->dims[axis] ||
            box->count[axis] > box->dims[axis] - box->start[axis]) {
            return H5TWIN_ERR_DIMS;
        }
        is_empty = is_empty || box->dims[axis] == 0;
    }
    if (is_empty) {
        return array_size == 0 ? H5TWIN_OK : H5TWIN_ERR_DIMS;
    }
    uint64_t size = box->element_size;
    for (uint32_t axis = 0; axis < box->rank; axis++) {
        if (size > array_size / box->dims[axis]) {
            return H5TWIN_ERR_DIMS;
        }
        size *= box->dims[axis];
    }
    return size == array_size ? H5TWIN_OK : H5TWIN_ERR_DIMS;
}

/* The axes that matter, which ones are not empty. */
static void
set_axes(struct h5twin_box_runs *runs, const struct h5twin_box *box)
{
    for (uint32_t axis = 0; axis < box->rank; axis++) {
        if (box->dims[axis] == 1) {
            continue;
        }
        runs->extent[runs->rank] = (size_t)box->dims[axis];
        runs->start[runs->rank] = (size_t)box->start[axis];
        runs->count[runs->rank] = (size_t)box->count[axis];
        runs->dst_stride[runs->rank] = (ptrdiff_t)box->dst_strides[axis];
        runs->rank++;
    }
    if (runs->rank == 0) { /* one element */
        runs->extent[0] = runs->count[0] = 1;
        runs->start[0] = 0;
        runs->dst_stride[0] = (ptrdiff_t)runs->element_size;
        runs->rank = 1;
    }
    size_t stride = runs->element_size;
    for (unsigned axis = runs->rank; axis-- > 0;) {
        runs->stride[axis] = stride;
        stride *= runs->extent[axis];
    }
}

/* Axes that are taken in full, and lie at dst as in the array, make runs longer. */
static void
set_runs(struct h5twin_box_runs *runs)
{
    unsigned outer = runs->rank - 1;
    const bool is_dense =
        runs->count[outer] == 1 || runs->dst_stride[outer] == (ptrdiff_t)runs->element_size;
    runs->element_step = is_dense ? (ptrdiff_t)runs->element_size : runs->dst_stride[outer];
    while (is_dense && outer > 0 && runs->count[outer] == runs->extent[outer] &&
           (runs->count[outer - 1] == 1 ||
            runs->dst_stride[outer - 1] == (ptrdiff_t)runs->stride[outer - 1])) {
        outer--;
    }
    runs->outer = outer;
    runs->outer_size = runs->extent[outer] * runs->stride[outer];
    runs->run_begin = runs->start[outer] * runs->stride[outer];
    runs->run_size = runs->count[outer] * runs->stride[outer];
}

enum h5twin_status
h5twin_box_open(struct h5twin_box_runs *runs, const struct h5twin_box *box, void *dst,
                size_t array_size, unsigned swap_size)
{
    const enum h5twin_status status = check(box, array_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    runs->array_size = array_size;
    runs->element_size = box->element_size;
    runs->is_empty = false;
    runs->rank = 0;
    runs->dst = dst;
    runs->swap_size = swap_size;
    runs->decoded = NULL;
    for (uint32_t axis = 0; axis < box->rank; axis++) {
        runs->is_empty = runs->is_empty || box->count[axis] == 0;
    }
    if (runs->is_empty) {
        return H5TWIN_OK;
    }
    if (dst == NULL) {
        return H5TWIN_ERR_ARG;
    }
    set_axes(runs, box);
    set_runs(runs);
    return H5TWIN_OK;
}

/* ---- runs, one after the other ---- */

struct cursor {
    size_t index[H5TWIN_BOX_MAX_RANK]; /* on the outer axes */
    size_t outer_at;                   /* byte of the array that index begins at */
    ptrdiff_t dst_at;                  /* bytes from dst, where its run goes */
};

/* To the first index at or after that of byte `at`; false if there is none. */
static bool
seek(const struct h5twin_box_runs *runs, size_t at, struct cursor *cursor)
{
    size_t number = at / runs->outer_size;
    if (at - number * runs->outer_size >= runs->run_begin + runs->run_size) {
        number++;
    }
    for (unsigned axis = runs->outer; axis-- > 0;) {
        cursor->index[axis] = number % runs->extent[axis];
        number /= runs->extent[axis];
    }
    if (number != 0) {
        return false;
    }
    unsigned axis = 0;
    while (axis < runs->outer && cursor->index[axis] - runs->start[axis] < runs->count[axis]) {
        axis++;
    }
    if (axis < runs->outer) { /* the first axis on which it is outside, below or beyond */
        if (cursor->index[axis] > runs->start[axis]) {
            do {
                if (axis == 0) {
                    return false;
                }
                axis--;
                cursor->index[axis]++;
            } while (cursor->index[axis] - runs->start[axis] >= runs->count[axis]);
            axis++;
        }
        for (; axis < runs->outer; axis++) {
            cursor->index[axis] = runs->start[axis];
        }
    }
    cursor->outer_at = 0;
    cursor->dst_at = 0;
    for (unsigned a = 0; a < runs->outer; a++) {
        cursor->outer_at += cursor->index[a] * runs->stride[a];
        cursor->dst_at += (ptrdiff_t)(cursor->index[a] - runs->start[a]) * runs->dst_stride[a];
    }
    return true;
}

/* To the next index; false if there is none. */
static bool
step(const struct h5twin_box_runs *runs, struct cursor *cursor)
{
    for (unsigned axis = runs->outer; axis-- > 0;) {
        cursor->index[axis]++;
        cursor->outer_at += runs->stride[axis];
        cursor->dst_at += runs->dst_stride[axis];
        if (cursor->index[axis] - runs->start[axis] < runs->count[axis]) {
            return true;
        }
        cursor->index[axis] = runs->start[axis];
        cursor->outer_at -= runs->count[axis] * runs->stride[axis];
        cursor->dst_at -= (ptrdiff_t)runs->count[axis] * runs->dst_stride[axis];
    }
    return false;
}

size_t
h5twin_box_next(const struct h5twin_box_runs *runs, size_t at)
{
    struct cursor cursor;
    if (runs->is_empty || at >= runs->array_size || !seek(runs, at, &cursor)) {
        return H5TWIN_BOX_NONE;
    }
    const size_t begin = cursor.outer_at + runs->run_begin;
    return begin > at ? begin : at;
}

bool
h5twin_box_needs(const struct h5twin_box_runs *runs, size_t begin, size_t size)
{
    const size_t next = h5twin_box_next(runs, begin);
    return next != H5TWIN_BOX_NONE && next - begin < size;
}

uint8_t *
h5twin_box_direct(const struct h5twin_box_runs *runs, size_t begin, size_t size)
{
    struct cursor cursor;
    if (runs->is_empty || begin >= runs->array_size || size > runs->array_size - begin ||
        runs->element_step != (ptrdiff_t)runs->element_size || !seek(runs, begin, &cursor)) {
        return NULL;
    }
    const size_t run_at = cursor.outer_at + runs->run_begin;
    return begin < run_at || begin - run_at > runs->run_size ||
                   size > runs->run_size - (begin - run_at)
               ? NULL
               : runs->dst + cursor.dst_at + (begin - run_at);
}

void
h5twin_box_turn(const struct h5twin_box_runs *runs, uint8_t *bytes, size_t size)
{
    if (runs->decoded != NULL) {
        atomic_size_t *const decoded = runs->decoded;
        atomic_fetch_add_explicit(decoded, size, memory_order_relaxed);
    }
    if (runs->swap_size != 0) {
        h5twin_swap_words(bytes, bytes, size, runs->swap_size);
    }
}

/* Bytes of a run, from byte `at` of it on, to the elements of dst that they belong to. */
static void
put_elements(const struct h5twin_box_runs *runs, uint8_t *dst, size_t at, const uint8_t *bytes,
             size_t size)
{
    const size_t element_size = runs->element_size;
    size_t in_element = at % element_size;
    dst += (ptrdiff_t)(at / element_size) * runs->element_step;
    while (size > 0) {
        const size_t left = element_size - in_element;
        const size_t some = left < size ? left : size;
        if (some == 4) {
            memcpy(dst + in_element, bytes, 4);
        } else if (some == 8) {
            memcpy(dst + in_element, bytes, 8);
        } else {
            memcpy(dst + in_element, bytes, some);
        }
        dst += runs->element_step;
        bytes += some;
        size -= some;
        in_element = 0;
    }
}

void
h5twin_box_put(const struct h5twin_box_runs *runs, size_t begin, const uint8_t *bytes, size_t size)
{
    struct cursor cursor;
    const size_t end = begin + size;
    if (runs->is_empty || size == 0 || begin >= runs->array_size || !seek(runs, begin, &cursor)) {
        return;
    }
    do {
        const size_t run_at = cursor.outer_at + runs->run_begin;
        if (run_at >= end) {
            return;
        }
        const size_t from = run_at > begin ? run_at : begin;
        const size_t run_end = run_at + runs->run_size;
        const size_t some = (run_end < end ? run_end : end) - from;
        uint8_t *const dst = runs->dst + cursor.dst_at;
        if (runs->element_step == (ptrdiff_t)runs->element_size) {
            memcpy(dst + (from - run_at), bytes + (from - begin), some);
        } else {
            put_elements(runs, dst, from - run_at, bytes + (from - begin), some);
        }
    } while (step(runs, &cursor));
}

void
h5twin_box_turn_and_put(const struct h5twin_box_runs *runs, size_t begin, uint8_t *bytes,
                        size_t size)
{
    h5twin_box_turn(runs, bytes, size);
    h5twin_box_put(runs, begin, bytes, size);
}

uint8_t *
h5twin_box_all_begin(const struct h5twin_box_runs *runs)
{
    uint8_t *const direct = h5twin_box_direct(runs, 0, runs->array_size);
    return direct != NULL ? direct : h5twin_kept_take("array of a box", runs->array_size);
}

void
h5twin_box_all_end(const struct h5twin_box_runs *runs, uint8_t *array, bool is_there)
{
    const bool is_direct = array == h5twin_box_direct(runs, 0, runs->array_size);
    if (is_there) {
        h5twin_box_turn(runs, array, runs->array_size);
    }
    if (is_there && !is_direct) {
        h5twin_box_put(runs, 0, array, runs->array_size);
    }
    if (!is_direct) {
        h5twin_kept_give_back(array, runs->array_size);
    }
}

/* ---- as a box of other extents ---- */

/* An axis of the box in words. */
struct axis {
    size_t extent, start, count;
    ptrdiff_t dst_stride;
};

/* Take axes from the end of those that are left until they make up an extent, as one axis; false if
 * they do not, or if they are no range of it that lies at dst by one stride. */
static bool
join(const struct axis *axes, unsigned *left, size_t extent, struct axis *joined)
{
    *joined = (struct axis){.extent = 1, .count = 1};
    while (joined->extent<extent && * left> 0) {
        const struct axis *const axis = &axes[--*left];
        if (joined->extent == 1) {
            *joined = *axis;
            continue;
        }
        const ptrdiff_t stride = joined->dst_stride * (ptrdiff_t)joined->extent;
        if (axis->count > 1 && (joined->count != joined->extent || axis->dst_stride != stride)) {
            return false;
        }
        joined->start += axis->start * joined->extent;
        joined->count *= axis->count;
        joined->extent *= axis->extent;
    }
    return joined->extent == extent;
}

bool
h5twin_box_regroup(const struct h5twin_box_runs *runs, const uint32_t extents[3],
                   unsigned word_size, struct h5twin_box_axes *result)
{
    struct axis axes[H5TWIN_BOX_MAX_RANK + 1];
    if (runs->is_empty || runs->element_size % word_size != 0) {
        return false;
    }
    unsigned left = 0;
    for (; left < runs->rank; left++) {
        axes[left] = (struct axis){runs->extent[left], runs->start[left], runs->count[left],
                                   runs->dst_stride[left]};
    }
    const size_t words = runs->element_size / word_size;
    if (words > 1) {
        axes[left++] = (struct axis){words, 0, words, (ptrdiff_t)word_size};
    }
    for (unsigned k = 3; k-- > 0;) {
        struct axis joined;
        if (!join(axes, &left, extents[k], &joined)) {
            return false;
        }
        result->start[k] = joined.start;
        result->count[k] = joined.count;
        result->dst_stride[k] = joined.dst_stride;
    }
    return left == 0 || (left == 1 && axes[0].extent == 1);
}
