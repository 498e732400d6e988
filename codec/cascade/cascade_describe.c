/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_describe.c: a line for people on a payload: slabs, maps, orders, and how residuals are
 * coded, which tells the effort. */
#include "cascade.h"

#include "../common/bytes.h"
#include "../residuals/residuals_core.h"

#include <stdio.h>

struct summary {
    size_t raw, constant, coded;
    size_t by_map[3];
    size_t with_mask, with_copies, with_dictionary, with_references;
    bool same_orders;
    unsigned order[CASCADE_MAX_RANK], rank; /* of the first coded slab */
    bool packed, rans;
};

/* The method of the first residual stream of a coded slab whose head ends at `at`. */
static void
note_method(struct summary *summary, const struct h5twin_cascade_slab *slab, const uint8_t *body,
            size_t size, size_t at)
{
    size_t place = at + 4;
    if ((slab->tools & CASCADE_MASK) != 0) {
        place += 8;
    } else if ((slab->tools & CASCADE_DICTIONARY) != 0) {
        place += 6;
    } else if ((slab->tools & CASCADE_REFERENCES) != 0) {
        place += at < size ? 2 + 4 * (size_t)body[at] : 0;
    }
    if (place < size) {
        summary->packed |= body[place] == RESIDUALS_STEPS || body[place] == RESIDUALS_WIDTHS;
        summary->rans |= body[place] == RESIDUALS_RANS_4 || body[place] == RESIDUALS_RANS_32;
    }
}

static void
add_slab(struct summary *summary, const struct h5twin_cascade_shape *shape, unsigned version,
         unsigned word_size, const uint8_t *body, size_t size)
{
    struct h5twin_cascade_slab slab;
    size_t head_size;
    if (h5twin_cascade_slab_read(&slab, shape, version, word_size, body, size, &head_size) !=
        H5TWIN_OK) {
        return;
    }
    summary->raw += slab.kind == CASCADE_RAW;
    summary->constant += slab.kind == CASCADE_CONSTANT;
    if (slab.kind != CASCADE_CODED) {
        return;
    }
    const bool is_first = summary->coded++ == 0;
    summary->by_map[slab.map.map]++;
    summary->with_mask += (slab.tools & CASCADE_MASK) != 0;
    summary->with_copies += (slab.tools & CASCADE_COPIES) != 0;
    summary->with_dictionary += (slab.tools & CASCADE_DICTIONARY) != 0;
    summary->with_references += (slab.tools & CASCADE_REFERENCES) != 0;
    for (unsigned axis = 0; axis < CASCADE_MAX_RANK; axis++) {
        summary->same_orders &= is_first || summary->order[axis] == slab.order[axis];
        summary->order[axis] = is_first ? slab.order[axis] : summary->order[axis];
    }
    summary->rank = is_first ? shape->rank : summary->rank;
    note_method(summary, &slab, body, size, head_size);
}

/* Text that is cut where there is no room, like snprintf's. */
struct line {
    char *text;
    size_t capacity, size;
};

#define APPEND(line, ...)                                                                          \
    ((line)->size += (size_t)snprintf(                                                             \
         (line)->size < (line)->capacity ? (line)->text + (line)->size : NULL,                     \
         (line)->size < (line)->capacity ? (line)->capacity - (line)->size : 0, __VA_ARGS__))

static void
append_count(struct line *line, size_t count, const char *what)
{
    if (count != 0) {
        APPEND(line, ", %zu %s", count, what);
    }
}

static void
append_orders(struct line *line, const struct summary *summary)
{
    if (summary->coded == 0) {
        return;
    }
    if (!summary->same_orders) {
        APPEND(line, ", orders by slab");
        return;
    }
    APPEND(line, ", orders ");
    for (unsigned axis = 0; axis < summary->rank; axis++) {
        APPEND(line, "%s%u", axis == 0 ? "" : ",", summary->order[axis]);
    }
}

size_t
h5twin_cascade_describe(const struct h5twin_job *job, const uint8_t *src, size_t src_size,
                        char *text, size_t capacity)
{
    struct h5twin_cascade_header header;
    struct summary summary = {.same_orders = true};
    struct line line = {text, capacity, 0};
    if (h5twin_cascade_header_read(&header, job->word_size, src, src_size) != H5TWIN_OK) {
        return 0;
    }
    const uint8_t *body = header.bodies;
    for (size_t slab = 0; slab < header.slab_count; slab++) {
        const size_t extent = header.shape.extent[0],
                     size = h5twin_load32(header.directory + 4 * slab);
        const struct h5twin_cascade_shape shape = h5twin_cascade_shape_of_slab(
            &header.shape, (size_t)h5twin_cascade_slab_begin(extent, slab, header.slab_count),
            (size_t)h5twin_cascade_slab_begin(extent, slab + 1, header.slab_count));
        add_slab(&summary, &shape, header.version, job->word_size, body, size);
        body += size;
    }
    APPEND(&line, "lossless, %zu slab%s", header.slab_count, header.slab_count == 1 ? "" : "s");
    append_count(&line, summary.by_map[CASCADE_SOFT], "soft");
    append_count(&line, summary.by_map[CASCADE_MONOTONE], "monotone");
    append_count(&line, summary.by_map[CASCADE_IDENTITY], "identity");
    append_count(&line, summary.constant, "constant");
    append_count(&line, summary.raw, "raw");
    append_count(&line, summary.with_mask, "masked");
    append_count(&line, summary.with_copies, "with copies");
    append_count(&line, summary.with_dictionary, "with dictionary");
    append_count(&line, summary.with_references, "with references");
    append_orders(&line, &summary);
    if (summary.rans || summary.packed) {
        APPEND(&line, ", %s",
               summary.rans ? "rANS (effort quick, balanced or max)" : "packed (effort fast)");
    }
    return line.size;
}
