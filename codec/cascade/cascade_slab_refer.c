/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_slab_refer.c: whether a slab's body has references, and of which differences.
 *
 * A part of the slab, and of that a sample of the blocks, says what each of some ways to difference
 * promises. With the most effort those that promise enough are coded, beside the planned one.
 * Source  FORMAT.md sections 10 and 11. */
#include "cascade_slab_encoder.h"

#include <string.h>

/* Where references are looked for, of a way's differences. */
static struct h5twin_cascade_finding
finding_of(const struct cascade_encoder *encoder, const struct cascade_way *way)
{
    struct h5twin_cascade_finding finding = {
        .kernels = encoder->kernels,
        .word_size = encoder->word_size,
        .shape = &encoder->shape,
        .lanes = encoder->lanes,
        .mask = encoder->mask,
        .scratch = encoder->finder,
        .all = encoder->effort->all_references,
        .flips_only = !encoder->effort->references,
    };
    for (unsigned candidate = 0; candidate < CASCADE_MOST_FLIPS; candidate++) {
        if ((encoder->flips >> candidate & 1) != 0) {
            const unsigned axis = candidate / 4;
            const uint32_t entry = cascade_flip_entry(&encoder->shape, candidate, way->order[axis]);
            if (cascade_is_good_entry(entry, &encoder->shape, CASCADE_VERSION_FLIPS, 0)) {
                finding.flips[finding.flip_count++] = entry;
            }
        }
    }
    return finding;
}

/* What is left of the differences with references goes to rests; false if there are none that
 * pay. *bits is what the slab is taken to have then. */
static bool
refer(struct cascade_encoder *encoder, const struct cascade_way *way, uint64_t *bits)
{
    struct h5twin_cascade_finding finding = finding_of(encoder, way);
    finding.least = encoder->effort->all_references ? 0
                    : encoder->effort->packed       ? CASCADE_PACKED_SAVING
                                                    : CASCADE_LEAST_SAVING;
    finding.other_bits = way->map.map == CASCADE_SOFT ? 8 * (uint64_t)encoder->remainder_size : 0;
    *bits = h5twin_cascade_references_find(&encoder->references, &finding, encoder->rests);
    return encoder->references.entry_count != 0;
}

/* ---- candidates for references ---- */

#define MOST_CANDIDATES CASCADE_MOST_WAYS

/* The different ones of the first candidates; returns their number. */
static unsigned
list_ways(const struct cascade_encoder *encoder, struct cascade_way ways[MOST_CANDIDATES],
          unsigned count)
{
    const struct h5twin_cascade_plan *const plan = encoder->plan;
    return cascade_list_ways(ways, count, &plan->map, plan->order, plan->has_dictionary,
                             &encoder->shape);
}

/* ---- references on a part of the slab ---- */

/* What an encoder of the middle of the slab has. Its lanes are where the rests will be. */
static struct cascade_encoder
part_of(const struct cascade_encoder *encoder, size_t *begin)
{
    struct cascade_encoder part = *encoder;
    const size_t plane = cascade_stride(&encoder->shape, 0);
    size_t first;
    const size_t indices =
        cascade_promise_part(&encoder->shape, encoder->effort->all_references, &first);
    *begin = first * plane;
    part.shape.extent[0] = indices; /* those in the middle: a flip's sum of indices changes alike */
    part.flips = cascade_flips_of_part(encoder->flips, encoder->shape.extent[0], indices);
    part.value_count = indices * plane;
    part.words += *begin * encoder->word_size;
    part.mask = encoder->mask == NULL ? NULL : encoder->mask + *begin;
    part.dictionary.ranks =
        encoder->dictionary.ranks == NULL ? NULL : encoder->dictionary.ranks + *begin;
    part.lanes = encoder->rests;
    part.remainders = NULL;
    return part;
}

/* What a way is expected to take, in bits of the sampled blocks. The slab's lanes are the plan's.
 */
static struct h5twin_cascade_promise
promise_of(struct cascade_encoder *encoder, const struct cascade_way *way, bool is_planned)
{
    size_t begin;
    struct cascade_encoder part = part_of(encoder, &begin);
    if (is_planned) {
        part.lanes = (uint8_t *)encoder->lanes + begin * cascade_lane_size(encoder->word_size);
    } else {
        h5twin_cascade_make_differences(&part, way);
    }
    struct h5twin_cascade_finding finding = finding_of(&part, way);
    if (!finding.all) {
        finding.slab_blocks = cascade_reference_blocks(encoder->value_count);
    }
    struct h5twin_cascade_promise promise =
        h5twin_cascade_references_promise(&encoder->references, &finding);
    if (way->map.map == CASCADE_SOFT) {
        promise.bits += cascade_promised_remainders(encoder->remainder_size, promise.sampled,
                                                    encoder->value_count);
    }
    return promise;
}

/* Make a body with references; a smaller one becomes the best. */
static void
try_way(struct cascade_encoder *encoder, const struct cascade_way *way, size_t *best_size)
{
    uint64_t bits;
    h5twin_cascade_make_differences(encoder, way);
    if (!refer(encoder, way, &bits)) {
        return;
    }
    const size_t size = h5twin_cascade_make_body(encoder, way, encoder->rests, encoder->trial);
    if (size < *best_size) {
        uint8_t *const swapped = encoder->best;
        encoder->best = encoder->trial;
        encoder->trial = swapped;
        *best_size = size;
    }
}

#define LEAST_PROMISE_OF_ALL 400u /* of a sample's bits, one of so many, with the most effort, */
#define TRIED_OF_LARGE       3u   /* which tries so many if that is much */

/* Put ways that promise enough into the order of what they promise; returns how many are to be
 * tried. */
static unsigned
sort_promising(struct cascade_encoder *encoder, struct cascade_way *ways, unsigned count)
{
    struct {
        struct cascade_way way;
        uint64_t bits;
    } sorted[MOST_CANDIDATES];
    unsigned sorted_count = 0;
    uint64_t limit = 0;
    bool is_large = false;
    for (unsigned i = 0; i < count; i++) {
        const struct h5twin_cascade_promise promise = promise_of(encoder, &ways[i], i == 0);
        const uint64_t bits = promise.bits - promise.saved;
        is_large = is_large || promise.saved > promise.bits / CASCADE_LARGE_PROMISE;
        limit = i == 0 ? promise.bits - promise.bits / LEAST_PROMISE_OF_ALL : limit;
        unsigned at = sorted_count;
        for (; at > 0 && bits < sorted[at - 1].bits; at--) {
            sorted[at] = sorted[at - 1];
        }
        if (bits < limit) {
            sorted[at].way = ways[i];
            sorted[at].bits = bits;
            sorted_count++;
        }
    }
    for (unsigned i = 0; i < sorted_count; i++) {
        ways[i] = sorted[i].way;
    }
    const unsigned most = is_large ? TRIED_OF_LARGE : 1;
    return sorted_count < most ? sorted_count : most;
}

/* Make the planned body, and others where references promise something; returns the size of the
 * best. */
size_t
h5twin_cascade_make_all(struct cascade_encoder *encoder, const struct cascade_way *planned)
{
    struct cascade_way ways[MOST_CANDIDATES];
    h5twin_cascade_make_differences(encoder, planned);
    size_t size = h5twin_cascade_make_body(encoder, planned, encoder->lanes, encoder->best);
    const unsigned count = list_ways(encoder, ways, MOST_CANDIDATES);
    const unsigned tried = sort_promising(encoder, ways, count);
    for (unsigned i = 0; i < tried; i++) {
        try_way(encoder, &ways[i], &size);
    }
    return size;
}

struct promising {
    const struct cascade_way *best, *second; /* NULL: none */
};

/* Of the planned way, the first, and others the one that promises most, if one does enough. If that
 * is much, another one that comes near. The slab's lanes are the plan's. */
static struct promising
most_promising(struct cascade_encoder *encoder, const struct cascade_way *ways, unsigned count)
{
    struct cascade_promising found = {CASCADE_NO_WAY, CASCADE_NO_WAY, 0, 0, false};
    bool goes_on = true;
    for (unsigned i = 0; i < count && goes_on; i++) {
        const struct h5twin_cascade_promise promise = promise_of(encoder, &ways[i], i == 0);
        goes_on = cascade_look_at_promise(&found, i, promise.bits, promise.saved);
    }
    /* flips alone: what promises most is what the second one would have to beat, too */
    const uint32_t second =
        encoder->effort->references ? cascade_second_promise(&found) : CASCADE_NO_WAY;
    return (struct promising){found.best == CASCADE_NO_WAY ? NULL : &ways[found.best],
                              second == CASCADE_NO_WAY ? NULL : &ways[second]};
}

/* Find references for the differences of a way, which may lie in lanes already. */
static bool
refer_anew(struct cascade_encoder *encoder, const struct cascade_way *way, bool is_there,
           uint64_t *bits)
{
    if (!is_there) {
        h5twin_cascade_make_differences(encoder, way);
    }
    return refer(encoder, way, bits);
}

/* Put the references that were found aside, and take up those that were. */
static void
swap_references(struct cascade_encoder *encoder)
{
    const struct h5twin_cascade_references found = encoder->references;
    encoder->references = encoder->others;
    encoder->others = found;
}

/* Find references for what promises most; NULL if they do not pay. */
static const struct cascade_way *
refer_promising(struct cascade_encoder *encoder, const struct cascade_way *ways, unsigned count)
{
    const struct promising found = most_promising(encoder, ways, count);
    uint64_t bits, other = UINT64_MAX;
    const bool has_second =
        found.second != NULL && refer_anew(encoder, found.second, found.second == ways, &other);
    if (found.best == NULL) {
        return NULL;
    }
    swap_references(encoder);
    const bool is_there = found.best == ways && found.second == NULL;
    const bool pays = refer_anew(encoder, found.best, is_there, &bits);
    if (has_second && (!pays || other < bits)) {
        const struct h5twin_cascade_finding finding = finding_of(encoder, found.second);
        swap_references(encoder);
        h5twin_cascade_make_differences(encoder, found.second);
        h5twin_cascade_references_take_off(&encoder->references, &finding, encoder->rests);
        return found.second;
    }
    if (!pays && !(found.best == ways)) {
        h5twin_cascade_make_differences(encoder, ways);
    }
    return pays ? found.best : NULL;
}

/* Make one body, with references if these promise something; returns its size. */
size_t
h5twin_cascade_make_promising(struct cascade_encoder *encoder, const struct cascade_way *planned)
{
    struct cascade_way ways[MOST_CANDIDATES];
    if (!encoder->has_planned) {
        h5twin_cascade_make_differences(encoder, planned);
    }
    const unsigned count = list_ways(encoder, ways, CASCADE_FEW_WAYS);
    const struct cascade_way *const way = refer_promising(encoder, ways, count);
    encoder->has_planned = way == NULL || way == ways;
    return way != NULL ? h5twin_cascade_make_body(encoder, way, encoder->rests, encoder->best)
                       : h5twin_cascade_make_body(encoder, planned, encoder->lanes, encoder->best);
}
