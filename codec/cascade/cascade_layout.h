/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_layout.h: how the effort `fast` cuts an array into slabs, for back ends. */
#ifndef H5TWIN_CASCADE_LAYOUT_H
#define H5TWIN_CASCADE_LAYOUT_H

#include "cascade_shape.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct h5twin_cascade_layout {
    struct h5twin_cascade_shape shape; /* of the array, as it is coded */
    size_t slab_count;                 /* 0: an array of no values */
    unsigned tiles;                    /* of a slab */
    unsigned grid;                     /* of orders */
};

/* False, and nothing else, if the job asks for another effort. */
bool h5twin_cascade_fast_layout(struct h5twin_cascade_layout *layout, const struct h5twin_job *job);

#ifdef __cplusplus
}
#endif
#endif
