/* SPDX-License-Identifier: BSD-3-Clause
 * plan.h: how chunks are coded, decided once: from parameters for all arrays of one size, or from a
 * chunk's frame for that chunk. Plans are never changed by what is done with them, so that threads
 * may share one. */
#ifndef H5TWIN_PLAN_H
#define H5TWIN_PLAN_H

#include "../codec.h"
#include "../frame.h"

struct h5twin_plan {
    const struct h5twin_codec *codec;
    struct h5twin_job job;   /* on one thread, without a CRC */
    struct h5twin_info info; /* the frame: that of a chunk, or of one whose payload is coded */
    size_t bound;            /* bytes that encoding needs at dst; 0: the array is too big */
    bool size_is_checked;    /* the chunk's payload agrees with info.raw_size */
};

/* For arrays of raw_size bytes that *params describes, coded with a frame, or bare. A refusal is
 * that of h5twin_encode. */
enum h5twin_status h5twin_plan_for_params(struct h5twin_plan *plan,
                                          const struct h5twin_params *params, size_t raw_size,
                                          bool is_bare);

/* For decoding this chunk: reads the frame, checks its fields, and that the chunk is long enough to
 * hold them. */
enum h5twin_status h5twin_plan_for_chunk(struct h5twin_plan *plan, const uint8_t *src,
                                         size_t src_size);

/* Before anyone allocates by the plan's info.raw_size: whether the payload says the same. Else
 * H5TWIN_ERR_CHECKSUM if that is the cause. h5twin_plan_decode does this where it was not done. */
enum h5twin_status h5twin_plan_check_size(struct h5twin_plan *plan, const uint8_t *src,
                                          size_t src_size);

/* The same without a look at the checksum, and again only where it was not done. */
enum h5twin_status h5twin_plan_payload_agrees(const struct h5twin_plan *plan, const uint8_t *src,
                                              size_t src_size);

/* h5twin_encode, or h5twin_encode_payload with a plan for that. src has plan->info.raw_size bytes.
 */
enum h5twin_status h5twin_plan_encode(const struct h5twin_plan *plan,
                                      const struct h5twin_exec *exec, void *dst,
                                      size_t dst_capacity, const void *src, size_t *dst_size);

/* h5twin_decode of the chunk that the plan was made for. */
enum h5twin_status h5twin_plan_decode(const struct h5twin_plan *plan,
                                      const struct h5twin_exec *exec, void *dst,
                                      size_t dst_capacity, const uint8_t *src, size_t src_size,
                                      size_t *dst_size);

/* h5twin_decode_box of that chunk. *decoded, if decoded is not NULL, gets how many bytes of the
 * array were decoded for the box: few, or all of them; none of a chunk that is stored raw. */
enum h5twin_status h5twin_plan_decode_box(const struct h5twin_plan *plan,
                                          const struct h5twin_exec *exec, void *dst,
                                          const struct h5twin_box *box, const uint8_t *src,
                                          size_t src_size, size_t *decoded);

/* h5twin_decode_payload, with a plan made for that. */
enum h5twin_status h5twin_plan_decode_payload(const struct h5twin_plan *plan,
                                              const struct h5twin_exec *exec, void *dst,
                                              const void *src, size_t src_size);

#endif
