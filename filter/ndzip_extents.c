/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_extents.c: see ndzip_extents.h.
 *
 * The codec codes blocks of 4096, 64 x 64 or 16 x 16 x 16 words. Layout `reference` stores words
 * that lie in no full block as they are (its border), so that a 10 x 500 x 500 chunk would not
 * shrink at all in three dimensions, but does as 5000 x 500. Layout `extended` clips its blocks
 * instead and always takes all the dimensions that it can. */
#include "ndzip_extents.h"

#include <string.h>

#define MAX_EXTENTS      3
#define LAYOUT_MASK      3u /* of params->options */
#define LAYOUT_REFERENCE 1u

/* Side of a block by number of dimensions, and what a word in a full block costs, as a share of a
 * raw one: rough, from smooth fields of single precision (ratios 1.6, 2.0 and 2.3). */
static const uint64_t block_side[MAX_EXTENTS + 1] = {0, 4096, 64, 16};
static const double block_cost[MAX_EXTENTS + 1] = {0, 0.62, 0.50, 0.44};

/* The last `count` of rank dims, with all the slower ones merged into the first. */
static void
merge_slowest(uint64_t *merged, unsigned count, const uint64_t *dims, unsigned rank)
{
    memcpy(merged, dims + (rank - count), count * sizeof dims[0]);
    for (unsigned axis = 0; axis < rank - count; axis++) {
        merged[0] *= dims[axis];
    }
}

/* Expected size of the reference layout, in words. */
static double
expected_size(const uint64_t *extents, unsigned count)
{
    double all = 1, in_blocks = 1;
    for (unsigned axis = 0; axis < count; axis++) {
        all *= (double)extents[axis];
        in_blocks *= (double)(extents[axis] / block_side[count] * block_side[count]);
    }
    return all - in_blocks + in_blocks * block_cost[count];
}

static unsigned
choose_count(const struct h5twin_params *params)
{
    const unsigned most = params->rank < MAX_EXTENTS ? params->rank : MAX_EXTENTS;
    if ((params->options & LAYOUT_MASK) != LAYOUT_REFERENCE) {
        return most;
    }
    unsigned best = most;
    double best_size = 0;
    for (unsigned count = most; count >= 1; count--) {
        uint64_t extents[MAX_EXTENTS];
        merge_slowest(extents, count, params->dims, params->rank);
        const double size = expected_size(extents, count);
        if (count == most || size < best_size) {
            best = count;
            best_size = size;
        }
    }
    return best;
}

/* An element of several words as an axis of words; false if it is not made of words. */
static bool
split_elements(struct h5twin_params *params)
{
    const uint32_t word_size = params->element_size % 8 == 0 ? 8 : 4;
    if (params->element_size % word_size != 0) {
        return false;
    }
    const uint32_t words_per_element = params->element_size / word_size;
    if (words_per_element == 1) {
        return true;
    }
    if (params->rank == H5TWIN_MAX_RANK) {
        params->dims[params->rank - 1] *= words_per_element;
    } else {
        params->dims[params->rank++] = words_per_element;
    }
    params->element_size = word_size;
    params->big_endian = false; /* its words would be swapped apart, to no avail */
    return true;
}

void
h5twin_ndzip_fold(struct h5twin_params *params)
{
    if (params->rank == 0 || !split_elements(params)) {
        return;
    }
    const unsigned count = choose_count(params);
    uint64_t extents[MAX_EXTENTS];
    merge_slowest(extents, count, params->dims, params->rank);
    memcpy(params->dims, extents, count * sizeof extents[0]);
    params->rank = count;
}
