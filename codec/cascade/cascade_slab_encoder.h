/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_slab_encoder.h: what the files that encode a slab share: one writes bodies, the other
 * finds references for them. */
#ifndef H5TWIN_CASCADE_SLAB_ENCODER_H
#define H5TWIN_CASCADE_SLAB_ENCODER_H

#include "cascade_arena.h"
#include "cascade_plan.h"
#include "cascade_refer_core.h"
#include "cascade_references.h"

struct cascade_encoder {
    const struct h5twin_cascade_plan *plan;
    const struct h5twin_cascade_effort_plan *effort;
    uint32_t flips; /* that are tried: candidates of cascade_gate_core.h */
    h5twin_isa isa;
    const struct h5twin_cascade_kernels *kernels;
    unsigned threads;
    bool keeps_memory;
    unsigned word_size, wide;
    struct h5twin_cascade_shape shape;
    size_t value_count, unmasked;
    const uint8_t *words;
    uint8_t *mask; /* NULL: none */
    struct h5twin_cascade_dictionary dictionary;
    struct h5twin_cascade_references references;
    struct h5twin_cascade_references others; /* of another way, meanwhile */
    struct cascade_arena arena;
    void *lanes;      /* codes, differences */
    bool has_planned; /* lanes are the differences of the plan, with their remainders */
    void *rests;      /* of differences with references */
    void *finder;     /* scratch of who finds those */
    void *stream;     /* words of a residual stream */
    void *scratch;    /* of it */
    uint8_t *history;
    uint8_t *remainders;   /* of the soft map; NULL: not wanted */
    size_t remainder_size; /* bytes */
    uint8_t *best, *trial; /* bodies */
};

/* Differences of all codes. Soft codes come with their remainders, if there is room for them. */
void h5twin_cascade_make_differences(struct cascade_encoder *encoder,
                                     const struct cascade_way *way);

/* Make a body of the residuals; returns its size. */
size_t h5twin_cascade_make_body(const struct cascade_encoder *encoder,
                                const struct cascade_way *way, const void *residuals,
                                uint8_t *body);

/* Make encoder->best: one body, with references if these promise something; or that of the plan and
 * others beside it, and take the smallest. Both return its size. */
size_t h5twin_cascade_make_promising(struct cascade_encoder *encoder,
                                     const struct cascade_way *planned);
size_t h5twin_cascade_make_all(struct cascade_encoder *encoder, const struct cascade_way *planned);

#endif
