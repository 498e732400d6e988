/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_encode.c: choose the number of slabs, and write them side by side.
 * Source  FORMAT.md sections 1 and 10. */
#include "cascade_encode.h"

#include "../common/bytes.h"
#include "../common/ordered.h"
#include "../common/parallel.h"
#include "cascade_copies_find.h"
#include "cascade_gate.h"
#include "cascade_layout.h"
#include "cascade_slab_encode.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define CHOICES             CASCADE_SLAB_CHOICES
#define MOST_SLABS          128u                /* beyond the least number, no more */
#define LEAST_VALUES        8192u               /* of a slab, if there are more than need be */
#define SLAB_ENTRY          4u                  /* bytes */
#define KEPT_BYTES          (UINT64_C(1) << 26) /* of an array whose dictionaries are kept */
#define LEAST_SLAB_SIZE     (UINT64_C(1) << 20)
#define COPIES_SAVING       128u /* of a plan's cost, one of so many, is worth to code them, */
#define CLEAR_COPIES_SAVING 8u   /* or only them */

/* ---- numbers of slabs ---- */

static uint64_t
slab_goal(const struct h5twin_cascade_effort_plan *effort, unsigned word_size)
{
    return effort->slab_bytes == UINT64_MAX ? (uint64_t)CASCADE_MAX_SLAB * word_size
                                            : effort->slab_bytes;
}

/* Whether every one of slab_count slabs has at most so many bytes. */
static bool
slabs_fit(const struct h5twin_cascade_shape *shape, unsigned word_size, uint64_t slab_count,
          uint64_t goal)
{
    const uint64_t most = (shape->extent[0] + slab_count - 1) / slab_count;
    return most * cascade_stride(shape, 0) * word_size <= goal;
}

struct slab_counts {
    size_t least;
    unsigned choice_count;
    size_t choice[CHOICES]; /* the first one is the least */
};

/* Join axes where the slowest one is too short to be cut, and list what may be tried. */
static void
list_slab_counts(struct slab_counts *counts, struct h5twin_cascade_shape *shape, size_t raw_size,
                 const struct h5twin_cascade_effort_plan *effort, unsigned word_size)
{
    const uint64_t goal = slab_goal(effort, word_size);
    uint64_t least = raw_size / goal + (raw_size % goal != 0);
    while (shape->rank > 1 &&
           (effort->packed ? shape->extent[0] < least
                           : !slabs_fit(shape, word_size, shape->extent[0], goal))) {
        h5twin_cascade_shape_join(shape);
    }
    while (!effort->packed && !slabs_fit(shape, word_size, least, goal)) {
        least++;
    }
    const size_t more[CHOICES - 1] = {4, 16, shape->extent[0]};
    const size_t plane = cascade_stride(shape, 0);
    counts->least = (size_t)least;
    counts->choice_count = 1;
    counts->choice[0] = (size_t)least;
    for (unsigned i = 0; effort->chooses_slabs && i < CHOICES - 1; i++) {
        const size_t count = more[i];
        const bool is_new = count > counts->choice[counts->choice_count - 1];
        if (is_new && count <= shape->extent[0] && count <= MOST_SLABS &&
            shape->extent[0] / count * plane >= LEAST_VALUES) {
            counts->choice[counts->choice_count++] = count;
        }
    }
}

/* Tiles of each of slab_count slabs, of which there are `least` at least. */
static unsigned
tiles_of_slab(const struct h5twin_cascade_effort_plan *effort,
              const struct h5twin_cascade_shape *shape, size_t slab_count, size_t least)
{
    uint64_t all = (uint64_t)effort->tiles * (effort->packed ? 1 : least);
    if (effort->tile_share != 0 && shape->rank > 1) {
        const uint64_t share = cascade_count(shape) / effort->tile_share;
        const uint64_t most = share < effort->shared_tiles ? effort->shared_tiles : share;
        all = all < most ? all : most;
    }
    const uint64_t tiles = all / slab_count;
    return tiles < effort->least_tiles ? effort->least_tiles : (unsigned)tiles;
}

bool
h5twin_cascade_layout_of(struct h5twin_cascade_layout *layout, const struct h5twin_job *job)
{
    const enum cascade_effort which = h5twin_cascade_effort_of(job->options);
    const struct h5twin_cascade_effort_plan *const effort = &h5twin_cascade_efforts[which];
    struct slab_counts counts = {.least = 0};
    if (which == CASCADE_MOST || which == CASCADE_QUICK) {
        return false;
    }
    *layout = (struct h5twin_cascade_layout){
        .shape = h5twin_cascade_shape_of_job(job),
        .copies = effort->copies,
        .packed = effort->packed,
        .jitters = effort->jitters,
        .grid = effort->grid,
        .trial_grid = h5twin_cascade_trial.grid,
        .trial_samples = h5twin_cascade_trial.fill_samples,
    };
    if (job->raw_size != 0) {
        list_slab_counts(&counts, &layout->shape, job->raw_size, effort, job->word_size);
        layout->choice_count = counts.choice_count;
    }
    for (unsigned i = 0; i < layout->choice_count; i++) {
        const size_t count = counts.choice[i];
        layout->choice[i] = (struct h5twin_cascade_slabs){
            .count = count,
            .tiles = tiles_of_slab(effort, &layout->shape, count, counts.least),
            .trial_tiles =
                tiles_of_slab(&h5twin_cascade_trial, &layout->shape, count, counts.least),
        };
    }
    return true;
}

/* ---- one number of slabs ---- */

struct payload_encoder {
    const struct h5twin_job *job;
    const struct h5twin_cascade_effort_plan *effort;
    h5twin_isa isa;
    struct h5twin_cascade_shape shape;
    const uint8_t *src;
    uint32_t flips; /* that are tried, and whether */
    bool copies;    /* are */
    /* of the number of slabs at work */
    size_t slab_count;
    unsigned tiles;        /* of a slab */
    unsigned slab_threads; /* of a slab's streams */
    const struct h5twin_cascade_effort_plan *planned_by;
    struct h5twin_cascade_plan *plans;
    uint8_t *directory;
    atomic_uint version; /* that slabs need */
    pthread_t caller;
    atomic_int status; /* the first one that is not OK */
};

static size_t
slab_begin(const struct payload_encoder *encoder, size_t slab)
{
    return (size_t)h5twin_cascade_slab_begin(encoder->shape.extent[0], slab, encoder->slab_count);
}

static const uint8_t *
slab_words(const struct payload_encoder *encoder, size_t slab)
{
    return encoder->src +
           slab_begin(encoder, slab) * cascade_stride(&encoder->shape, 0) * encoder->job->word_size;
}

static bool
is_caller(const struct payload_encoder *encoder)
{
    return pthread_equal(pthread_self(), encoder->caller) != 0;
}

static void
note_status(struct payload_encoder *encoder, enum h5twin_status status)
{
    if (status != H5TWIN_OK) {
        atomic_store(&encoder->status, (int)status);
    }
}

static void
use_plans(struct payload_encoder *encoder, struct h5twin_cascade_plan *plans, size_t slab_count)
{
    encoder->plans = plans;
    encoder->slab_count = slab_count;
    encoder->slab_threads = slab_count < encoder->job->threads ? encoder->job->threads : 1;
}

static void
free_plans(struct payload_encoder *encoder)
{
    for (size_t slab = 0; encoder->plans != NULL && slab < encoder->slab_count; slab++) {
        h5twin_cascade_dictionary_free(&encoder->plans[slab].dictionary);
    }
    free(encoder->plans);
    encoder->plans = NULL;
}

static void
plan_slab(void *context, size_t slab)
{
    struct payload_encoder *const encoder = context;
    const struct h5twin_cascade_shape shape = h5twin_cascade_shape_of_slab(
        &encoder->shape, slab_begin(encoder, slab), slab_begin(encoder, slab + 1));
    if (atomic_load(&encoder->status) != (int)H5TWIN_OK) {
        return;
    }
    note_status(encoder, h5twin_cascade_plan_make(
                             &encoder->plans[slab], encoder->planned_by, encoder->tiles, &shape,
                             encoder->job->kind, encoder->job->word_size, encoder->isa,
                             is_caller(encoder), slab_words(encoder, slab), NULL));
    if (encoder->job->raw_size > KEPT_BYTES) { /* it is made anew when the slab is coded */
        h5twin_cascade_dictionary_free(&encoder->plans[slab].dictionary);
    }
}

/* Plan this number of slabs; returns what they cost together. Frees the plans if that fails. */
static uint64_t
plan_slabs(struct payload_encoder *encoder, const struct h5twin_cascade_effort_plan *effort,
           size_t slab_count, size_t least)
{
    use_plans(encoder, calloc(slab_count, sizeof *encoder->plans), slab_count);
    encoder->planned_by = effort;
    encoder->tiles = tiles_of_slab(effort, &encoder->shape, slab_count, least);
    if (encoder->plans == NULL) {
        note_status(encoder, H5TWIN_ERR_MEMORY);
        return UINT64_MAX;
    }
    h5twin_parallel_for(encoder->job->threads, slab_count, plan_slab, encoder);
    uint64_t cost = 0;
    for (size_t slab = 0; slab < slab_count; slab++) {
        cost += encoder->plans[slab].cost;
    }
    if (atomic_load(&encoder->status) != (int)H5TWIN_OK) {
        free_plans(encoder);
    }
    return cost;
}

/* A slab that is being coded. */
struct slab_at_work {
    size_t number;
    struct h5twin_cascade_shape shape;
    uint32_t flips; /* that are tried */
    uint8_t *dst;
    size_t size; /* what dst holds; 0: nothing yet */
    unsigned version;
};

/* Write a slab as this plan says. */
static enum h5twin_status
encode_planned(struct payload_encoder *encoder, const struct slab_at_work *slab,
               struct h5twin_cascade_plan *plan, uint8_t *dst, size_t *size, unsigned *version)
{
    return h5twin_cascade_slab_encode(plan, encoder->effort, slab->flips, &slab->shape,
                                      encoder->job->word_size, encoder->isa, encoder->slab_threads,
                                      is_caller(encoder), dst, slab_words(encoder, slab->number),
                                      size, version);
}

/* By this plan; what is smaller stays in dst. */
static enum h5twin_status
encode_also(struct payload_encoder *encoder, struct slab_at_work *slab,
            struct h5twin_cascade_plan *plan)
{
    size_t size = 0;
    unsigned version = CASCADE_VERSION;
    if (slab->size == 0) {
        return encode_planned(encoder, slab, plan, slab->dst, &slab->size, &slab->version);
    }
    uint8_t *const trial =
        malloc(h5twin_cascade_slab_bound(cascade_count(&slab->shape), encoder->job->word_size));
    const enum h5twin_status status =
        trial == NULL ? H5TWIN_ERR_MEMORY
                      : encode_planned(encoder, slab, plan, trial, &size, &version);
    if (status == H5TWIN_OK && size < slab->size) {
        memcpy(slab->dst, trial, size);
        slab->size = size;
        slab->version = version;
    }
    free(trial);
    return status;
}

/* With the copies that were found, if their plan costs enough less; and without, unless it clearly
 * does and the result is as small. */
static enum h5twin_status
encode_each_way(struct payload_encoder *encoder, struct slab_at_work *slab,
                const struct h5twin_cascade_copies *copies)
{
    struct h5twin_cascade_plan plan = {.dictionary = {0}};
    struct h5twin_cascade_plan *const without = &encoder->plans[slab->number];
    enum h5twin_status status =
        h5twin_cascade_plan_make(&plan, encoder->effort, encoder->tiles, &slab->shape,
                                 encoder->job->kind, encoder->job->word_size, encoder->isa,
                                 is_caller(encoder), slab_words(encoder, slab->number), copies);
    const bool pays = cascade_saves(plan.cost, without->cost, COPIES_SAVING);
    const uint64_t values_cost = without->cost - CASCADE_SLAB_BITS;
    bool is_clear = !encoder->effort->all_references &&
                    cascade_saves(plan.cost - CASCADE_SLAB_BITS, values_cost, CLEAR_COPIES_SAVING);
    if (status == H5TWIN_OK && is_clear) {
        status = encode_also(encoder, slab, &plan);
        is_clear = cascade_saves(8 * (uint64_t)slab->size, values_cost, CLEAR_COPIES_SAVING);
        if (status == H5TWIN_OK && !is_clear) {
            status = encode_also(encoder, slab, without);
        }
    } else if (status == H5TWIN_OK) {
        status = encode_also(encoder, slab, without);
        if (status == H5TWIN_OK && pays) {
            status = encode_also(encoder, slab, &plan);
        }
    }
    h5twin_cascade_dictionary_free(&plan.dictionary);
    return status;
}

/* Look for copies, and code the slab. */
static enum h5twin_status
encode_copies(struct payload_encoder *encoder, struct slab_at_work *slab)
{
    const struct h5twin_cascade_plan *const plan = &encoder->plans[slab->number];
    struct h5twin_cascade_copies copies = {.number = malloc(cascade_count(&slab->shape))};
    enum h5twin_status status = copies.number == NULL ? H5TWIN_ERR_MEMORY : H5TWIN_OK;
    if (status == H5TWIN_OK) {
        status = h5twin_cascade_copies_find(&copies, &slab->shape, encoder->job->word_size,
                                            slab_words(encoder, slab->number), plan->has_fill,
                                            plan->fill, encoder->effort->all_references);
    }
    if (status == H5TWIN_OK) {
        status = copies.entry_count != 0
                     ? encode_each_way(encoder, slab, &copies)
                     : encode_also(encoder, slab, &encoder->plans[slab->number]);
    }
    free(copies.number);
    return status;
}

static void
raise_version(struct payload_encoder *encoder, unsigned version)
{
    unsigned last = atomic_load(&encoder->version);
    while (last < version && !atomic_compare_exchange_weak(&encoder->version, &last, version)) {
    }
}

static size_t
encode_slab(void *context, size_t number, uint8_t *dst, size_t writable)
{
    struct payload_encoder *const encoder = context;
    struct slab_at_work slab = {
        .number = number,
        .shape = h5twin_cascade_shape_of_slab(&encoder->shape, slab_begin(encoder, number),
                                              slab_begin(encoder, number + 1)),
        .dst = dst,
        .version = CASCADE_VERSION,
    };
    (void)writable;
    if (atomic_load(&encoder->status) != (int)H5TWIN_OK) {
        return 0;
    }
    slab.flips = h5twin_cascade_flips_of_slab(encoder->flips, &encoder->shape, &slab.shape);
    const bool looks_for_copies = encoder->copies && !encoder->plans[number].is_constant;
    note_status(encoder, looks_for_copies ? encode_copies(encoder, &slab)
                                          : encode_also(encoder, &slab, &encoder->plans[number]));
    raise_version(encoder, slab.version);
    h5twin_store32(encoder->directory + SLAB_ENTRY * number, (uint32_t)slab.size);
    return slab.size;
}

static size_t
head_size(const struct payload_encoder *encoder)
{
    return CASCADE_HEADER_BYTES + 4 * encoder->shape.rank;
}

/* Write the planned slabs and all before them; returns the size. */
static size_t
write_payload(struct payload_encoder *encoder, uint8_t *dst, struct h5twin_crc32c_span *crc)
{
    const struct h5twin_cascade_shape *const shape = &encoder->shape;
    const size_t plane = cascade_stride(shape, 0), slab_count = encoder->slab_count;
    const size_t most = (shape->extent[0] + slab_count - 1) / slab_count * plane;
    const size_t begin = head_size(encoder) + SLAB_ENTRY * slab_count;
    atomic_store(&encoder->version, CASCADE_VERSION);
    dst[1] = (uint8_t)(h5twin_bit_length32(encoder->job->word_size) - 1);
    dst[2] = (uint8_t)shape->rank;
    dst[3] = 0;
    h5twin_store32(dst + 4, (uint32_t)slab_count);
    for (unsigned axis = 0; axis < shape->rank; axis++) {
        h5twin_store32(dst + CASCADE_HEADER_BYTES + 4 * axis, (uint32_t)shape->extent[axis]);
    }
    encoder->directory = dst + head_size(encoder);
    const struct h5twin_ordered work = {
        .item_count = slab_count,
        .item_bound = h5twin_cascade_slab_bound(most, encoder->job->word_size),
        .total_bound = encoder->job->raw_size + slab_count * h5twin_cascade_slab_bound(0, 1),
        .context = encoder,
        .encode = encode_slab,
        .crc = crc,
        .crc_begin = begin,
    };
    const size_t size = begin + h5twin_ordered_encode(&work, encoder->job->threads, dst + begin);
    dst[0] = (uint8_t)atomic_load(&encoder->version);
    return size;
}

/* ---- what of version 2 is tried ---- */

static struct cascade_gate
gate_of(const struct h5twin_job *job, const struct h5twin_cascade_shape *shape, bool is_packed,
        const uint8_t *src)
{
    return (struct cascade_gate){
        .words = src,
        .shape = *shape,
        .word_size = job->word_size,
        .is_float = job->kind == H5TWIN_FLOAT,
        .is_packed = is_packed,
        .value_count = (uint32_t)cascade_count(shape),
    };
}

bool
h5twin_cascade_looks_for_more(const struct h5twin_job *job, const uint8_t *src)
{
    struct h5twin_cascade_layout layout;
    if (!h5twin_cascade_layout_of(&layout, job) || layout.choice_count == 0) {
        return false;
    }
    const struct cascade_gate gate = gate_of(job, &layout.shape, layout.packed, src);
    return h5twin_cascade_promised_flips(&gate) != 0 ||
           (layout.copies && h5twin_cascade_promises_copies(&gate));
}

static void
look_at_array(struct payload_encoder *encoder)
{
    const struct cascade_gate gate =
        gate_of(encoder->job, &encoder->shape, encoder->effort->packed, encoder->src);
    encoder->flips = h5twin_cascade_promised_flips(&gate);
    encoder->copies = encoder->effort->copies &&
                      (encoder->effort->all_references || h5twin_cascade_promises_copies(&gate));
}

/* ---- choice ---- */

static enum h5twin_status
status_of(const struct payload_encoder *encoder)
{
    return (enum h5twin_status)atomic_load(&encoder->status);
}

/* What so many slabs cost by a few tiles of each. */
static uint64_t
try_count(struct payload_encoder *encoder, const struct slab_counts *counts, unsigned choice)
{
    const uint64_t cost =
        plan_slabs(encoder, &h5twin_cascade_trial, counts->choice[choice], counts->least);
    free_plans(encoder);
    return cost;
}

/* Which numbers of slabs cost less than the least one by few tiles, a bit for each choice. Those
 * beyond CASCADE_FIRST_TRIED are only tried if others do. */
static unsigned
promising_choices(struct payload_encoder *encoder, const struct slab_counts *counts)
{
    const uint64_t least_cost = try_count(encoder, counts, 0);
    unsigned found = 0;
    for (unsigned i = 1; i < counts->choice_count && status_of(encoder) == H5TWIN_OK; i++) {
        if (!cascade_choice_is_tried(i, counts->choice[i], found)) {
            break;
        }
        if (cascade_saves(try_count(encoder, counts, i), least_cost, CASCADE_TRIAL_SAVING)) {
            found |= 1u << i;
        }
    }
    return found;
}

/* Plan this number of slabs, too; the plans that cost less are left, those at hand unless the
 * others cost enough less. */
static uint64_t
plan_other(struct payload_encoder *encoder, const struct slab_counts *counts, size_t slab_count,
           uint64_t cost)
{
    struct h5twin_cascade_plan *const plans = encoder->plans;
    const size_t plans_count = encoder->slab_count;
    const uint64_t other_cost = plan_slabs(encoder, encoder->effort, slab_count, counts->least);
    struct h5twin_cascade_plan *const other_plans = encoder->plans; /* NULL if that failed */
    const bool takes_other =
        other_plans == NULL || cascade_saves(other_cost, cost, CASCADE_COST_SAVING);
    use_plans(encoder, takes_other ? plans : other_plans, takes_other ? plans_count : slab_count);
    free_plans(encoder);
    use_plans(encoder, takes_other ? other_plans : plans, takes_other ? slab_count : plans_count);
    return takes_other ? other_cost : cost;
}

/* Plan the least number of slabs, others that promise to cost less, and leave the plans of the
 * cheapest. */
static enum h5twin_status
choose_by_plan(struct payload_encoder *encoder, const struct slab_counts *counts)
{
    const unsigned promising = counts->choice_count == 1 ? 0 : promising_choices(encoder, counts);
    if (status_of(encoder) != H5TWIN_OK) {
        return status_of(encoder);
    }
    uint64_t cost = plan_slabs(encoder, encoder->effort, counts->least, counts->least);
    for (unsigned i = 1; i < counts->choice_count && status_of(encoder) == H5TWIN_OK; i++) {
        if ((promising >> i & 1) != 0) {
            cost = plan_other(encoder, counts, counts->choice[i], cost);
        }
    }
    return status_of(encoder);
}

/* Code with the least number of slabs, and with each that costs no more than those before it; the
 * smallest result goes to dst. */
static enum h5twin_status
encode_each(struct payload_encoder *encoder, const struct slab_counts *counts, uint8_t *dst,
            size_t bound, size_t *dst_size)
{
    uint64_t best_cost = UINT64_MAX;
    uint8_t *const trial = counts->choice_count == 1 ? NULL : malloc(bound);
    enum h5twin_status status =
        counts->choice_count == 1 || trial != NULL ? H5TWIN_OK : H5TWIN_ERR_MEMORY;
    for (unsigned i = 0; i < counts->choice_count && status == H5TWIN_OK; i++) {
        const uint64_t cost =
            plan_slabs(encoder, encoder->effort, counts->choice[i], counts->least);
        status = (enum h5twin_status)atomic_load(&encoder->status);
        best_cost = cost < best_cost ? cost : best_cost;
        if (status == H5TWIN_OK && cost == best_cost) {
            const size_t size = write_payload(encoder, i == 0 ? dst : trial, NULL);
            status = (enum h5twin_status)atomic_load(&encoder->status);
            if (i == 0) {
                *dst_size = size;
            } else if (size < *dst_size) {
                memcpy(dst, trial, size);
                *dst_size = size;
            }
        }
        free_plans(encoder);
    }
    free(trial);
    return status;
}

static size_t
encode_empty(uint8_t *dst, unsigned word_size)
{
    memset(dst, 0, CASCADE_EMPTY_BYTES);
    dst[0] = CASCADE_VERSION;
    dst[1] = (uint8_t)(h5twin_bit_length32(word_size) - 1);
    dst[2] = 1;
    return CASCADE_EMPTY_BYTES;
}

size_t
h5twin_cascade_bound(const struct h5twin_job *job)
{
    /* Slabs of the smallest goal may be cut to half of it, or there are few anyway. */
    const size_t slabs = 2 * (size_t)(job->raw_size / LEAST_SLAB_SIZE) + 2 + MOST_SLABS;
    const size_t overhead = CASCADE_HEADER_BYTES + 4 * CASCADE_MAX_RANK +
                            slabs * (SLAB_ENTRY + h5twin_cascade_slab_bound(0, 1));
    return job->raw_size > SIZE_MAX - overhead ? 0 : job->raw_size + overhead;
}

enum h5twin_status
h5twin_cascade_encode(struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src,
                      size_t *dst_size)
{
    if (job->raw_size == 0) {
        *dst_size = encode_empty(dst, job->word_size);
        return H5TWIN_OK;
    }
    struct payload_encoder encoder = {
        .job = job,
        .effort = &h5twin_cascade_efforts[h5twin_cascade_effort_of(job->options)],
        .isa = job->isa,
        .shape = h5twin_cascade_shape_of_job(job),
        .src = src,
        .caller = pthread_self(),
    };
    atomic_init(&encoder.status, (int)H5TWIN_OK);
    atomic_init(&encoder.version, CASCADE_VERSION);
    struct slab_counts counts;
    list_slab_counts(&counts, &encoder.shape, job->raw_size, encoder.effort, job->word_size);
    if (encoder.effort->tries_slabs) {
        look_at_array(&encoder);
        return encode_each(&encoder, &counts, dst, h5twin_cascade_bound(job), dst_size);
    }
    enum h5twin_status status = choose_by_plan(&encoder, &counts);
    if (status == H5TWIN_OK) {
        look_at_array(&encoder); /* only now: planning has brought it into the caches */
        *dst_size = write_payload(&encoder, dst, job->crc);
        status = status_of(&encoder);
        free_plans(&encoder);
    }
    return status;
}
