/* SPDX-License-Identifier: BSD-3-Clause
 * dataset_plan.h: a dataset chosen by a fuzzer's input: type, shape, fill value, filters, values.
 */
#ifndef H5TWIN_TESTS_DATASET_PLAN_H
#define H5TWIN_TESTS_DATASET_PLAN_H

#include "hdf5_image.h"

#define PLAN_MAX_RANK    4
#define PLAN_MAX_ELEMENT 24u
#define PLAN_MAX_COUNT   6000u

struct dataset_plan {
    hid_t type, dcpl;
    size_t element_size;
    size_t float_size; /* of the floats that all elements consist of; 0 if of anything else */
    bool big_endian;   /* those floats */
    int rank;
    hsize_t dims[PLAN_MAX_RANK], chunk[PLAN_MAX_RANK];
    size_t count; /* elements */
    int filter_id;
    bool has_fill; /* one that the user defined */
    uint8_t fill[PLAN_MAX_ELEMENT];
    bool has_named_fill; /* one that the filter is told */
    uint8_t named_fill[PLAN_MAX_ELEMENT];
};

/* Choose everything; h5twin's filter is on plan->dcpl, maybe among others. */
void dataset_plan_begin(struct dataset_plan *plan, struct choices *choices);
void dataset_plan_end(struct dataset_plan *plan);

/* plan->count elements from what is left of the input, the fill value among them. free() them. */
uint8_t *dataset_plan_values(const struct dataset_plan *plan, const struct choices *choices);

#endif
