/* SPDX-License-Identifier: BSD-3-Clause
 * compare_places.c: see compare_places.h. */
#include "compare_places.h"

#include <stdlib.h>
#include <string.h>

/* HDF5's own text of a selection: the same one is enough. */
static bool
same_texts(const hid_t spaces[2])
{
    size_t sizes[2] = {0, 0};
    bool same = H5Sencode(spaces[0], NULL, &sizes[0]) >= 0 &&
                H5Sencode(spaces[1], NULL, &sizes[1]) >= 0 && sizes[0] == sizes[1];
    uint8_t *const text = same ? malloc(2 * sizes[0]) : NULL;
    same = text != NULL && H5Sencode(spaces[0], text, &sizes[0]) >= 0 &&
           H5Sencode(spaces[1], text + sizes[0], &sizes[1]) >= 0 &&
           memcmp(text, text + sizes[0], sizes[0]) == 0;
    free(text);
    return same;
}

static bool
same_shapes(const hid_t spaces[2], int *rank, hsize_t dims[H5S_MAX_RANK])
{
    hsize_t other[H5S_MAX_RANK];
    *rank = H5Sget_simple_extent_dims(spaces[0], dims, NULL);
    return *rank == H5Sget_simple_extent_dims(spaces[1], other, NULL) && *rank >= 0 &&
           memcmp(dims, other, (size_t)*rank * sizeof dims[0]) == 0;
}

/* Boxes that cover what is selected: the first and the last place of each, one after the other. */
struct boxes {
    hsize_t *corners;
    size_t count;
    bool in_order; /* as HDF5 goes through a box: single places may come in another order */
};

static bool
has_order(const hsize_t *points, size_t count, int rank)
{
    bool in_order = true;
    for (size_t i = 1; i < count && in_order; i++) {
        const hsize_t *const last = points + (i - 1) * (size_t)rank, *const next = last + rank;
        int axis = 0;
        while (axis < rank - 1 && last[axis] == next[axis]) {
            axis++;
        }
        in_order = last[axis] < next[axis];
    }
    return in_order;
}

static bool
read_points(hid_t space, int rank, struct boxes *boxes)
{
    const hssize_t count = H5Sget_select_elem_npoints(space);
    const size_t size = (size_t)rank * sizeof(hsize_t);
    hsize_t *const points = count <= 0 ? NULL : malloc((size_t)count * size);
    boxes->corners = points == NULL ? NULL : malloc((size_t)count * 2 * size);
    const bool read = boxes->corners != NULL &&
                      H5Sget_select_elem_pointlist(space, 0, (hsize_t)count, points) >= 0;
    boxes->count = (size_t)count;
    boxes->in_order = read && has_order(points, boxes->count, rank);
    for (size_t i = 0; i < boxes->count && read; i++) {
        memcpy(boxes->corners + 2 * i * (size_t)rank, points + i * (size_t)rank, size);
        memcpy(boxes->corners + (2 * i + 1) * (size_t)rank, points + i * (size_t)rank, size);
    }
    free(points);
    return read;
}

static bool
read_boxes(hid_t space, int rank, const hsize_t *dims, struct boxes *boxes)
{
    const H5S_sel_type type = H5Sget_select_type(space);
    if (type == H5S_SEL_POINTS) {
        return read_points(space, rank, boxes);
    }
    const hssize_t count = type == H5S_SEL_HYPERSLABS ? H5Sget_select_hyper_nblocks(space) : 1;
    boxes->count = count < 0 ? 0 : (size_t)count;
    boxes->in_order = true;
    boxes->corners = malloc((boxes->count + 1) * 2 * (size_t)rank * sizeof(hsize_t));
    for (int axis = 0; axis < rank && boxes->corners != NULL; axis++) { /* all */
        boxes->corners[axis] = 0;
        boxes->corners[rank + axis] = dims[axis] - 1;
    }
    return boxes->corners != NULL &&
           (type != H5S_SEL_HYPERSLABS ||
            H5Sget_select_hyper_blocklist(space, 0, boxes->count, boxes->corners) >= 0);
}

/* How many places are in any of the boxes. */
static hssize_t
count_union(hid_t space, int rank, const struct boxes *boxes, size_t set_count)
{
    bool selected = true;
    bool is_first = true;
    for (size_t set = 0; set < set_count; set++) {
        for (size_t i = 0; i < boxes[set].count && selected; i++) {
            const hsize_t *const first = boxes[set].corners + 2 * i * (size_t)rank;
            hsize_t extent[H5S_MAX_RANK];
            for (int axis = 0; axis < rank; axis++) {
                extent[axis] = first[rank + axis] - first[axis] + 1;
            }
            selected = H5Sselect_hyperslab(space, is_first ? H5S_SELECT_SET : H5S_SELECT_OR, first,
                                           NULL, extent, NULL) >= 0;
            is_first = false;
        }
    }
    return selected ? H5Sget_select_npoints(space) : -1;
}

static bool
same_boxes(hid_t space, int rank, const struct boxes boxes[2])
{
    const size_t size = 2 * (size_t)rank * sizeof(hsize_t);
    if (boxes[0].count == boxes[1].count &&
        memcmp(boxes[0].corners, boxes[1].corners, boxes[0].count * size) == 0) {
        return true;
    }
    const hid_t all = boxes[0].in_order && boxes[1].in_order ? H5Scopy(space) : H5I_INVALID_HID;
    const hssize_t count = all < 0 ? -1 : count_union(all, rank, boxes, 2);
    if (all >= 0) {
        H5Sclose(all);
    }
    return count >= 0 && count == H5Sget_select_npoints(space);
}

bool
h5twin_same_places(hid_t space, hid_t other)
{
    const hid_t spaces[2] = {space, other};
    struct boxes boxes[2] = {{.corners = NULL}, {.corners = NULL}};
    hsize_t dims[H5S_MAX_RANK];
    int rank;
    if (space < 0 || other < 0 || !same_shapes(spaces, &rank, dims)) {
        return false;
    }
    if (same_texts(spaces)) {
        return true;
    }
    const hssize_t count = H5Sget_select_npoints(space);
    if (count != H5Sget_select_npoints(other) || count <= 0 || rank == 0) {
        return count == H5Sget_select_npoints(other);
    }
    const bool same = read_boxes(space, rank, dims, &boxes[0]) &&
                      read_boxes(other, rank, dims, &boxes[1]) && same_boxes(space, rank, boxes);
    free(boxes[0].corners);
    free(boxes[1].corners);
    H5Eclear2(H5E_DEFAULT);
    return same;
}
