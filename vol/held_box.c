/* SPDX-License-Identifier: BSD-3-Clause
 * held_box.c: see held_box.h. */
#include "held_box.h"

#include "strided_copy.h"

#include <string.h>

void
h5twin_held_region(unsigned rank, const uint64_t *chunk, const struct h5twin_held_extent *extent,
                   struct h5twin_held_extent *region)
{
    for (unsigned axis = 0; axis < rank; axis++) {
        const uint64_t first = extent->start[axis] / chunk[axis];
        const uint64_t last = (extent->start[axis] + extent->count[axis] - 1) / chunk[axis];
        region->start[axis] = first * chunk[axis];
        region->count[axis] = (last - first + 1) * chunk[axis];
    }
}

size_t
h5twin_held_region_size(const struct h5twin_held_box *box)
{
    size_t size = box->element_size;
    for (unsigned axis = 0; axis < box->rank; axis++) {
        if (size > SIZE_MAX / 4 / box->region.count[axis]) {
            return SIZE_MAX;
        }
        size *= (size_t)box->region.count[axis];
    }
    return size;
}

bool
h5twin_held_is_same(unsigned rank, const struct h5twin_held_extent *one,
                    const struct h5twin_held_extent *other)
{
    return memcmp(one->start, other->start, rank * sizeof one->start[0]) == 0 &&
           memcmp(one->count, other->count, rank * sizeof one->count[0]) == 0;
}

bool
h5twin_held_covers(unsigned rank, const struct h5twin_held_extent *extent,
                   const struct h5twin_held_extent *region, const uint64_t *most_dims)
{
    for (unsigned axis = 0; axis < rank; axis++) {
        const uint64_t end = region->start[axis] + region->count[axis];
        const uint64_t needed = end < most_dims[axis] ? end : most_dims[axis];
        if (extent->start[axis] > region->start[axis] ||
            extent->start[axis] + extent->count[axis] < needed) {
            return false;
        }
    }
    return true;
}

/* ---- pieces ---- */

static bool
is_inside(unsigned rank, const struct h5twin_held_extent *inner,
          const struct h5twin_held_extent *outer)
{
    for (unsigned axis = 0; axis < rank; axis++) {
        if (inner->start[axis] < outer->start[axis] ||
            inner->start[axis] + inner->count[axis] > outer->start[axis] + outer->count[axis]) {
            return false;
        }
    }
    return true;
}

/* Where the other one lies inside: both is one. Where they are along all axes but at most one the
 * same, and along that one without a gap, one is made both. */
static bool
join(unsigned rank, struct h5twin_held_extent *one, const struct h5twin_held_extent *other)
{
    unsigned differing = rank;
    if (is_inside(rank, other, one)) {
        return true;
    }
    for (unsigned axis = 0; axis < rank; axis++) {
        if (one->start[axis] == other->start[axis] && one->count[axis] == other->count[axis]) {
            continue;
        }
        if (differing != rank || one->start[axis] + one->count[axis] < other->start[axis] ||
            other->start[axis] + other->count[axis] < one->start[axis]) {
            return false;
        }
        differing = axis;
    }
    if (differing < rank) {
        const uint64_t end = one->start[differing] + one->count[differing];
        const uint64_t other_end = other->start[differing] + other->count[differing];
        if (other->start[differing] < one->start[differing]) {
            one->start[differing] = other->start[differing];
        }
        one->count[differing] = (end > other_end ? end : other_end) - one->start[differing];
    }
    return true;
}

/* Join the last piece with others for as long as that goes. */
static size_t
join_last(unsigned rank, struct h5twin_held_extent *pieces, size_t count)
{
    for (size_t i = 0; i + 1 < count;) {
        if (join(rank, &pieces[count - 1], &pieces[i])) {
            memmove(&pieces[i], &pieces[i + 1], (count - 1 - i) * sizeof pieces[0]);
            count--;
            i = 0;
        } else {
            i++;
        }
    }
    return count;
}

/* False: there are too many. */
static bool
add_piece(struct h5twin_held_box *box, const struct h5twin_held_extent *extent)
{
    struct h5twin_held_extent pieces[H5TWIN_HELD_PIECES + 1];
    for (size_t i = 0; i < box->piece_count; i++) {
        if (is_inside(box->rank, extent, &box->pieces[i])) {
            return true;
        }
    }
    memcpy(pieces, box->pieces, box->piece_count * sizeof pieces[0]);
    pieces[box->piece_count] = *extent;
    const size_t count = join_last(box->rank, pieces, box->piece_count + 1);
    if (count > H5TWIN_HELD_PIECES) {
        return false;
    }
    memcpy(box->pieces, pieces, count * sizeof pieces[0]);
    box->piece_count = count;
    return true;
}

bool
h5twin_held_put(struct h5twin_held_box *box, const struct h5twin_held_extent *extent,
                const uint8_t *source, const uint64_t *strides)
{
    ptrdiff_t to[H5TWIN_HELD_RANK], from[H5TWIN_HELD_RANK];
    struct h5twin_strided copy;
    uint8_t *target = box->values;
    size_t stride = box->element_size;
    if (!add_piece(box, extent)) {
        return false;
    }
    for (unsigned axis = box->rank; axis-- > 0;) {
        to[axis] = (ptrdiff_t)stride;
        from[axis] = (ptrdiff_t)(strides[axis] * box->element_size);
        target += (size_t)(extent->start[axis] - box->region.start[axis]) * stride;
        stride *= (size_t)box->region.count[axis];
    }
    h5twin_strided_init(&copy, box->rank, extent->count, box->element_size, to, from);
    h5twin_strided_copy(&copy, target, source);
    return true;
}
