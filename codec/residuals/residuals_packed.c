/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_packed.c: see residuals_packed.h. */
#include "residuals_packed.h"

#include "../common/bit_pack.h"
#include "../common/bytes.h"
#include "residuals_core.h"
#include "residuals_kernels.h"

#include <stdbool.h>
#include <string.h>

#define STEPS_BYTES 6u                /* of a super-block: 16 steps of 3 bits */
#define STEPS_HEAD  (1 + STEPS_BYTES) /* with its top width */
#define GROUP_BYTES 2u                /* for each bit of a group's width */

static size_t
super_block_count(size_t word_count)
{
    return word_count / RESIDUALS_BLOCK + (word_count % RESIDUALS_BLOCK != 0);
}

size_t
h5twin_residuals_packed_bound(size_t word_count, unsigned word_bits)
{
    const size_t supers = super_block_count(word_count);
    return 1 + (supers + 7) / 8 + supers * RESIDUALS_GROUPS * (1 + GROUP_BYTES * word_bits);
}

size_t
h5twin_residuals_packed_scratch(size_t word_count)
{
    return super_block_count(word_count) * RESIDUALS_GROUPS;
}

/* ---- encode ---- */

struct plan {
    const uint8_t *widths; /* 16 for each super-block */
    size_t supers;
    size_t with_words; /* super-blocks that are not all zero */
    bool as_steps;
};

static unsigned
top_width(const uint8_t *widths)
{
    unsigned top = 0;
    for (unsigned group = 0; group < RESIDUALS_GROUPS; group++) {
        top = widths[group] > top ? widths[group] : top;
    }
    return top;
}

/* The smaller method; steps if they are equal. */
static void
choose_method(struct plan *plan)
{
    size_t with_steps = 0, with_widths = 0;
    for (size_t super = 0; super < plan->supers; super++) {
        const uint8_t *const widths = plan->widths + super * RESIDUALS_GROUPS;
        const unsigned top = top_width(widths);
        if (top == 0) {
            continue;
        }
        plan->with_words++;
        unsigned step_sum = 0, width_sum = 0;
        for (unsigned group = 0; group < RESIDUALS_GROUPS; group++) {
            const unsigned least =
                top > RESIDUALS_MOST_STEP ? top - RESIDUALS_MOST_STEP : 0; /* but not for none */
            width_sum += widths[group];
            step_sum += widths[group] == 0 ? 0 : widths[group] > least ? widths[group] : least;
        }
        with_steps += STEPS_HEAD + GROUP_BYTES * step_sum;
        with_widths += RESIDUALS_GROUPS + GROUP_BYTES * width_sum;
    }
    plan->as_steps = with_steps <= with_widths;
}

static uint64_t
steps_of(const uint8_t *widths, unsigned top)
{
    uint64_t steps = 0;
    for (unsigned group = 0; group < RESIDUALS_GROUPS; group++) {
        steps |= (uint64_t)h5twin_residual_step(top, widths[group])
                 << (RESIDUALS_STEP_BITS * group);
    }
    return steps;
}

/* Write map and widths; returns their end. widths_out gets what each group is packed with. */
static uint8_t *
write_heads(const struct plan *plan, uint8_t *dst, uint8_t *widths_out)
{
    uint8_t *const map = dst;
    uint8_t *const tops = map + (plan->supers + 7) / 8;
    uint8_t *const steps = plan->as_steps ? tops + plan->with_words : tops;
    size_t index = 0;
    memset(map, 0, (plan->supers + 7) / 8);
    for (size_t super = 0; super < plan->supers; super++) {
        const uint8_t *const widths = plan->widths + super * RESIDUALS_GROUPS;
        const unsigned top = top_width(widths);
        if (top == 0) {
            continue;
        }
        map[super / 8] = (uint8_t)(map[super / 8] | 1u << (super % 8));
        if (plan->as_steps) {
            const uint64_t fields = steps_of(widths, top);
            tops[index] = (uint8_t)top;
            h5twin_store32(steps + STEPS_BYTES * index, (uint32_t)fields);
            h5twin_store16(steps + STEPS_BYTES * index + 4, (uint16_t)(fields >> 32));
            for (unsigned group = 0; group < RESIDUALS_GROUPS; group++) {
                const unsigned step = (unsigned)(fields >> (RESIDUALS_STEP_BITS * group)) & 7u;
                widths_out[super * RESIDUALS_GROUPS + group] =
                    (uint8_t)h5twin_residual_step_width(top, step);
            }
        } else {
            memcpy(steps + RESIDUALS_GROUPS * index, widths, RESIDUALS_GROUPS);
        }
        index++;
    }
    return plan->as_steps ? steps + STEPS_BYTES * index : steps + RESIDUALS_GROUPS * index;
}

size_t
h5twin_residuals_packed_encode(const struct h5twin_residuals *how, uint8_t *restrict dst,
                               const void *restrict words, size_t word_count)
{
    const struct h5twin_residuals_kernels *const kernels = h5twin_residuals_kernels_for(how->isa);
    const unsigned wide = how->word_bits == 64;
    uint8_t *const widths = how->scratch;
    struct plan plan = {.widths = widths, .supers = super_block_count(word_count)};
    kernels->widths[wide](widths, words, word_count);
    choose_method(&plan);
    if (plan.with_words == 0) {
        dst[0] = RESIDUALS_ZERO;
        return 1;
    }
    dst[0] = plan.as_steps ? RESIDUALS_STEPS : RESIDUALS_WIDTHS;
    uint8_t *const groups = write_heads(&plan, dst + 1, widths);
    const uint8_t *const end = dst + h5twin_residuals_packed_bound(word_count, how->word_bits);
    return (size_t)(groups - dst) +
           kernels->pack[wide](groups, (size_t)(end - groups), words, word_count, widths);
}

/* ---- decode ---- */

struct packed_stream {
    const uint8_t *map, *tops, *steps;
    const uint8_t *groups;
    bool as_steps;
    size_t supers;
    size_t with_words;
};

static size_t
count_ones(const uint8_t *map, size_t size)
{
    size_t ones = 0;
    for (size_t i = 0; i < size; i++) {
        ones += h5twin_popcount32(map[i]);
    }
    return ones;
}

static enum h5twin_status
open_stream(struct packed_stream *stream, size_t word_count, const uint8_t *src, size_t src_size)
{
    stream->as_steps = src[0] == RESIDUALS_STEPS;
    stream->supers = super_block_count(word_count);
    const size_t map_size = (stream->supers + 7) / 8;
    if (src_size - 1 < map_size) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    stream->map = src + 1;
    if (stream->supers % 8 != 0 && stream->map[map_size - 1] >> (stream->supers % 8) != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    stream->with_words = count_ones(stream->map, map_size);
    if (stream->with_words == 0) {
        return H5TWIN_ERR_CORRUPT; /* has a method of its own */
    }
    const size_t head = stream->as_steps ? STEPS_HEAD : RESIDUALS_GROUPS;
    if ((src_size - 1 - map_size) / head < stream->with_words) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    stream->tops = stream->map + map_size;
    stream->steps = stream->as_steps ? stream->tops + stream->with_words : stream->tops;
    stream->groups = stream->tops + head * stream->with_words;
    return H5TWIN_OK;
}

/* The widths of super-block `index` of those with words, and their sum. False if one is out of
 * range. */
static bool
read_widths(const struct packed_stream *stream, size_t index, unsigned word_bits,
            uint8_t widths[RESIDUALS_GROUPS], unsigned *width_sum)
{
    unsigned sum = 0, bad = 0;
    if (!stream->as_steps) {
        memcpy(widths, stream->steps + RESIDUALS_GROUPS * index, RESIDUALS_GROUPS);
        for (unsigned group = 0; group < RESIDUALS_GROUPS; group++) {
            bad |= widths[group] > word_bits;
            sum += widths[group];
        }
        *width_sum = sum;
        return !bad;
    }
    const uint8_t *const steps = stream->steps + STEPS_BYTES * index;
    const uint64_t fields = h5twin_load32(steps) | (uint64_t)h5twin_load16(steps + 4) << 32;
    const unsigned top = stream->tops[index];
    bad = top < 1 || top > word_bits;
    for (unsigned group = 0; group < RESIDUALS_GROUPS; group++) {
        const unsigned step = (unsigned)(fields >> (RESIDUALS_STEP_BITS * group)) & 7u;
        bad |= step != RESIDUALS_NO_GROUP && step >= top;
        widths[group] = (uint8_t)h5twin_residual_step_width(top, step);
        sum += widths[group];
    }
    *width_sum = sum;
    return !bad;
}

/* The array's last super-block, which may be short: its pads must be zero, and groups wholly beyond
 * the end must have no bits. */
static enum h5twin_status
unpack_last(const struct h5twin_residuals *how, uint8_t *dst, size_t count, const uint8_t *widths,
            const uint8_t *src, size_t src_size)
{
    const unsigned wide = how->word_bits == 64;
    uint64_t block[RESIDUALS_BLOCK]; /* or as many 32-bit words */
    const size_t word_size = how->word_bits / 8;
    for (size_t group = 0; group < RESIDUALS_GROUPS; group++) {
        if (widths[group] != 0 && group * RESIDUALS_GROUP >= count) {
            return H5TWIN_ERR_CORRUPT;
        }
    }
    h5twin_residuals_kernels_for(how->isa)->unpack[wide](block, widths, src, src_size);
    const uint8_t *const bytes = (const uint8_t *)block;
    for (size_t i = count * word_size; i < RESIDUALS_BLOCK * word_size; i++) {
        if (bytes[i] != 0) {
            return H5TWIN_ERR_CORRUPT;
        }
    }
    memcpy(dst, block, count * word_size);
    return H5TWIN_OK;
}

enum h5twin_status
h5twin_residuals_packed_decode(const struct h5twin_residuals *how, void *restrict words,
                               size_t word_count, const uint8_t *restrict src, size_t src_size,
                               size_t *used)
{
    const struct h5twin_residuals_kernels *const kernels = h5twin_residuals_kernels_for(how->isa);
    const unsigned wide = how->word_bits == 64;
    const size_t word_size = how->word_bits / 8;
    struct packed_stream stream;
    enum h5twin_status status = open_stream(&stream, word_count, src, src_size);
    const uint8_t *at = stream.groups;
    const uint8_t *const end = src + src_size;
    size_t index = 0;
    for (size_t super = 0; status == H5TWIN_OK && super < stream.supers; super++) {
        const size_t begin = super * RESIDUALS_BLOCK;
        const size_t left = word_count - begin;
        const size_t count = left < RESIDUALS_BLOCK ? left : RESIDUALS_BLOCK;
        uint8_t *const dst = (uint8_t *)words + begin * word_size;
        uint8_t widths[RESIDUALS_GROUPS];
        unsigned width_sum;
        if ((stream.map[super / 8] >> (super % 8) & 1) == 0) {
            memset(dst, 0, count * word_size);
            continue;
        }
        if (!read_widths(&stream, index++, how->word_bits, widths, &width_sum)) {
            return H5TWIN_ERR_CORRUPT;
        }
        if ((size_t)(end - at) < GROUP_BYTES * (size_t)width_sum) {
            return H5TWIN_ERR_SRC_SHORT;
        }
        if (count == RESIDUALS_BLOCK) {
            kernels->unpack[wide](dst, widths, at, (size_t)(end - at));
        } else {
            status = unpack_last(how, dst, count, widths, at, (size_t)(end - at));
        }
        at += GROUP_BYTES * (size_t)width_sum;
    }
    *used = status == H5TWIN_OK ? (size_t)(at - src) : 0;
    return status;
}
