/* SPDX-License-Identifier: BSD-3-Clause
 * box.h: what decoders of a part of an array need: which bytes of the array, in row-major order,
 * lie in a box, and where each goes.
 *
 * A decoder asks h5twin_box_needs for each of its blocks, decodes those that are needed, and hands
 * their bytes to h5twin_box_put. Where the bytes of a block go to one place in one piece, it may
 * decode them there: h5twin_box_direct. */
#ifndef H5TWIN_COMMON_BOX_H
#define H5TWIN_COMMON_BOX_H

#include "h5twin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define H5TWIN_BOX_NONE SIZE_MAX

/* A box made ready. Axes of one index are dropped, elements are bytes of the last axis if nothing
 * else is left. */
struct h5twin_box_runs {
    size_t array_size; /* bytes of the whole array */
    size_t element_size;
    bool is_empty;
    unsigned rank; /* axes, slowest first */
    size_t extent[H5TWIN_BOX_MAX_RANK], start[H5TWIN_BOX_MAX_RANK], count[H5TWIN_BOX_MAX_RANK];
    size_t stride[H5TWIN_BOX_MAX_RANK];        /* bytes of the array */
    ptrdiff_t dst_stride[H5TWIN_BOX_MAX_RANK]; /* bytes */
    uint8_t *dst;                              /* of the box's first element */
    unsigned swap_size; /* bytes of the words whose order is turned at last; 0: none */
    /* A run is what the box has of all that lies at one index of the first `outer` axes. */
    unsigned outer;
    size_t outer_size;          /* bytes of the array at one index of them */
    size_t run_begin, run_size; /* bytes in that */
    ptrdiff_t element_step;     /* bytes at dst between elements of a run */
    /* NULL, or an atomic_size_t to which the bytes that h5twin_box_turn gets are added: what was
     * decoded for the box. (C++ does not know the type.) */
    void *decoded;
};

/* H5TWIN_ERR_DIMS unless the box lies in its dims and these give array_size bytes,
 * H5TWIN_ERR_ELEMENT or H5TWIN_ERR_ARG for what else is wrong with it. swap_size: as above. */
enum h5twin_status h5twin_box_open(struct h5twin_box_runs *runs, const struct h5twin_box *box,
                                   void *dst, size_t array_size, unsigned swap_size);

/* The first byte of the array from `at` on that lies in the box, or H5TWIN_BOX_NONE. */
size_t h5twin_box_next(const struct h5twin_box_runs *runs, size_t at);

/* Whether the box has any of `size` bytes of the array from `begin` on. */
bool h5twin_box_needs(const struct h5twin_box_runs *runs, size_t begin, size_t size);

/* Where these bytes go, if all of them are in the box and go to one place in one piece; else NULL.
 * Once they are there, h5twin_box_turn must be called for them. */
uint8_t *h5twin_box_direct(const struct h5twin_box_runs *runs, size_t begin, size_t size);

/* Turn the order of bytes in whole words of the array, if that is asked for. */
void h5twin_box_turn(const struct h5twin_box_runs *runs, uint8_t *bytes, size_t size);

/* Put what the box has of `size` bytes of the array from `begin` on where it goes. Their order was
 * turned before. */
void h5twin_box_put(const struct h5twin_box_runs *runs, size_t begin, const uint8_t *bytes,
                    size_t size);

/* Both: begin is at a word. bytes are left turned. */
void h5twin_box_turn_and_put(const struct h5twin_box_runs *runs, size_t begin, uint8_t *bytes,
                             size_t size);

/* Room for the whole array, to be decoded there: where the box goes, if it is all of it in one
 * piece, else memory. NULL: there is none. end puts what the box has of it where it goes, if the
 * array is there, and must be called in any case. */
uint8_t *h5twin_box_all_begin(const struct h5twin_box_runs *runs);
void h5twin_box_all_end(const struct h5twin_box_runs *runs, uint8_t *array, bool is_there);

/* The box as one of an array of these extents, in words of word_size bytes, where it is one. */
struct h5twin_box_axes {
    size_t start[3], count[3];
    ptrdiff_t dst_stride[3]; /* bytes */
};
bool h5twin_box_regroup(const struct h5twin_box_runs *runs, const uint32_t extents[3],
                        unsigned word_size, struct h5twin_box_axes *axes);

#ifdef __cplusplus
}
#endif
#endif
