/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_layout.h: how the efforts that back ends encode cut an array into slabs. */
#ifndef H5TWIN_CASCADE_LAYOUT_H
#define H5TWIN_CASCADE_LAYOUT_H

#include "cascade_decide_core.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number of slabs, and by how many tiles one of them is judged. */
struct h5twin_cascade_slabs {
    size_t count;
    unsigned tiles, trial_tiles;
};

struct h5twin_cascade_layout {
    struct h5twin_cascade_shape shape;                        /* of the array, as it is coded */
    unsigned choice_count;                                    /* 0: an array of no values */
    struct h5twin_cascade_slabs choice[CASCADE_SLAB_CHOICES]; /* ascending */
    bool copies;                                              /* are looked for */
    bool packed;                                              /* the effort fast; else balanced: */
    bool jitters;              /* samples for the fill word, of which trials have: */
    unsigned trial_samples;    /* so many */
    unsigned grid, trial_grid; /* of orders */
};

/* False, and nothing else, if the job asks for an effort that only the CPU has: quick, and max. */
bool h5twin_cascade_layout_of(struct h5twin_cascade_layout *layout, const struct h5twin_job *job);

/* Whether an encoder of such an effort looks for flips or copies in this array, which leaves it to
 * the CPU. */
bool h5twin_cascade_looks_for_more(const struct h5twin_job *job, const uint8_t *src);

#ifdef __cplusplus
}
#endif
#endif
