/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_bound.c: see sleek_bound.h. */
#include "sleek_bound.h"

#include "../common/bytes.h"
#include "../common/ordered.h"
#include "../common/parallel.h"
#include "sleek_bound_core.h"
#include "sleek_packing.h"

#include <stdatomic.h>
#include <string.h>

unsigned
h5twin_sleek_largest_exponent(unsigned word_size)
{
    return h5twin_sleek_largest_field(word_size);
}

unsigned
h5twin_sleek_bound_exponent(double error_bound, unsigned word_size)
{
    return h5twin_sleek_field_of_log2(h5twin_sleek_log2(error_bound), word_size);
}

bool
h5twin_sleek_must_search(const struct h5twin_job *job)
{
    if (job->mode != H5TWIN_ABS) {
        return job->mode == H5TWIN_NOA;
    }
    const struct h5twin_sleek_marks marks = h5twin_sleek_marks_of(job);
    const uint32_t exponent = h5twin_sleek_bound_exponent(job->error_bound, job->word_size);
    return h5twin_sleek_limit_of(&marks, 3u, exponent) < exponent;
}

/* ---- the span of a chunk, by runs of its words ---- */

#define PIECE_WORDS 16384u

struct span_search {
    const struct h5twin_sleek_kernels *maps;
    const uint8_t *words;
    size_t begins[H5TWIN_MAX_RUNS + 1];
    unsigned word_size;
    unsigned threads;
    struct h5twin_sleek_ignored ignored;
    uint64_t stop; /* a magnitude at which the search ends without a result; 0: none */
    atomic_bool stopped;
    struct h5twin_sleek_span runs[H5TWIN_MAX_RUNS];
};

static uint64_t
word_of_key(int64_t key, unsigned word_size)
{
    return word_size == 4 ? (uint32_t)h5twin_sleek_key32((uint32_t)key)
                          : (uint64_t)h5twin_sleek_key64((uint64_t)key);
}

static struct h5twin_sleek_range
range_of_span(const struct h5twin_sleek_span *span, unsigned word_size)
{
    return (struct h5twin_sleek_range){.min = word_of_key(span->low, word_size),
                                       .max = word_of_key(span->high, word_size),
                                       .any = span->low <= span->high};
}

static void
span_words(const struct span_search *search, size_t begin, size_t end,
           struct h5twin_sleek_span *span)
{
    const uint8_t *const words = search->words + begin * search->word_size;
    if (search->word_size == 4) {
        search->maps->span32(words, end - begin, &search->ignored, span);
    } else {
        search->maps->span64(words, end - begin, &search->ignored, span);
    }
}

static void
join_span(struct h5twin_sleek_span *span, const struct h5twin_sleek_span *more)
{
    span->low = more->low < span->low ? more->low : span->low;
    span->high = more->high > span->high ? more->high : span->high;
    span->mark_counts[0] += more->mark_counts[0];
    span->mark_counts[1] += more->mark_counts[1];
    span->extreme_count += more->extreme_count;
}

static bool
must_stop(const struct span_search *search, const struct h5twin_sleek_span *span)
{
    const struct h5twin_sleek_range range = range_of_span(span, search->word_size);
    return search->stop != 0 && range.any &&
           h5twin_sleek_magnitude(h5twin_sleek_extreme(&range, search->word_size),
                                  search->word_size) >= search->stop;
}

static void
search_run(void *context, size_t run)
{
    struct span_search *const search = context;
    struct h5twin_sleek_span *const span = &search->runs[run];
    const size_t end = search->begins[run + 1];
    *span = (struct h5twin_sleek_span){.low = INT64_MAX, .high = INT64_MIN};
    for (size_t at = search->begins[run]; at < end; at += PIECE_WORDS) {
        struct h5twin_sleek_span piece;
        if (search->stop != 0 && atomic_load_explicit(&search->stopped, memory_order_relaxed)) {
            return;
        }
        span_words(search, at, end - at < PIECE_WORDS ? end : at + PIECE_WORDS, &piece);
        join_span(span, &piece);
        if (must_stop(search, &piece)) {
            atomic_store_explicit(&search->stopped, true, memory_order_relaxed);
            return;
        }
    }
}

static void
search_all(struct span_search *search, size_t word_count, struct h5twin_sleek_span *span)
{
    const size_t run_count = h5twin_cut_runs(search->begins, word_count,
                                             word_count * search->word_size, search->threads);
    h5twin_parallel_for(search->threads, run_count, search_run, search);
    *span = search->runs[0];
    for (size_t run = 1; run < run_count; run++) {
        join_span(span, &search->runs[run]);
    }
}

/* Whether the word of largest magnitude is soon seen to be an ordinary one: most arrays have
 * others near it in every part. */
static bool
is_ordinary_at_once(const struct span_search *search, size_t word_count)
{
    const size_t parts = 16, words = 1024;
    for (size_t part = 0; part < parts; part++) {
        const size_t begin = word_count / parts * part;
        struct h5twin_sleek_span span;
        span_words(search, begin, word_count - begin < words ? word_count : begin + words, &span);
        if (must_stop(search, &span)) {
            return true;
        }
    }
    return false;
}

/* Look for a word that may be missing data though nobody said so. */
static void
find_extreme(struct h5twin_sleek_facts *facts, struct span_search *search)
{
    const size_t word_count = (size_t)facts->word_count;
    if (!facts->range.any) {
        return;
    }
    facts->extreme = h5twin_sleek_extreme(&facts->range, search->word_size);
    search->ignored.extreme = facts->extreme;
    search->stop = h5twin_sleek_ordinary(facts->extreme, search->word_size);
    if (search->stop == 0 || is_ordinary_at_once(search, word_count)) {
        return;
    }
    struct h5twin_sleek_span span;
    search_all(search, word_count, &span);
    if (!atomic_load(&search->stopped)) {
        facts->extreme_count = span.extreme_count;
        facts->rest = range_of_span(&span, search->word_size);
    }
}

/* ---- which candidates leave all blocks as they are ---- */

static bool
is_raw_block(const struct h5twin_sleek_kernels *maps, const uint8_t *block, size_t size,
             unsigned word_size, uint32_t exponent)
{
    union h5twin_sleek_codes codes;
    size_t stored_size = SLEEK_OVERHEAD_BYTES;
    for (size_t at = 0; at < size && stored_size < size; at += SLEEK_SUBCHUNK_BYTES) {
        uint8_t filled[SLEEK_SUBCHUNK_BYTES] = {0};
        const uint8_t *words = block + at;
        if (size - at < SLEEK_SUBCHUNK_BYTES) {
            memcpy(filled, words, size - at);
            words = filled;
        }
        stored_size += h5twin_sleek_packed_bytes(
            word_size, h5twin_sleek_map(maps, &codes, words, word_size, exponent));
    }
    return stored_size >= size;
}

static bool
is_fixed_block(const uint8_t *block, size_t size, unsigned word_size, uint32_t exponent)
{
    for (size_t at = 0; at + word_size <= size; at += word_size) {
        const uint64_t word =
            word_size == 4 ? h5twin_load32(block + at) : h5twin_load64(block + at);
        if (!h5twin_sleek_is_fixed(word, word_size, exponent)) {
            return false;
        }
    }
    return true;
}

/* Blocks change unless all their values are fixed points, or they are stored raw. */
static uint32_t
take_first_without_change(const struct h5twin_sleek_choice *choice,
                          const struct h5twin_sleek_kernels *maps, const struct h5twin_job *job,
                          const uint8_t *src)
{
    uint32_t first = 0; /* candidates below this one change some block */
    for (size_t at = 0; at < job->raw_size && first < choice->count; at += H5TWIN_BLOCK_BYTES) {
        const size_t left = job->raw_size - at;
        const size_t size = left < H5TWIN_BLOCK_BYTES ? left : H5TWIN_BLOCK_BYTES;
        while (first < choice->count &&
               !is_fixed_block(src + at, size, job->word_size, choice->exponents[first]) &&
               !is_raw_block(maps, src + at, size, job->word_size, choice->exponents[first])) {
            first++;
        }
    }
    return choice->exponents[first < choice->count ? first : 0];
}

unsigned
h5twin_sleek_search_exponent(const struct h5twin_sleek_kernels *maps, const struct h5twin_job *job,
                             const uint8_t *src)
{
    struct span_search search = {
        .maps = maps,
        .words = src,
        .word_size = job->word_size,
        .threads = job->threads,
        .ignored = {.marks = {job->has_fill ? job->fill_bits : SLEEK_NO_WORD,
                              job->has_second_fill ? job->second_fill_bits : SLEEK_NO_WORD},
                    .extreme = SLEEK_NO_WORD,
                    .padding = job->zeros_are_padding ? 0 : SLEEK_NO_WORD},
    };
    struct h5twin_sleek_facts facts = {.word_count = job->raw_size / job->word_size};
    struct h5twin_sleek_span span;
    if (facts.word_count == 0) {
        return 0;
    }
    search_all(&search, (size_t)facts.word_count, &span);
    facts.found_marks = (span.mark_counts[0] != 0 ? 1u : 0u) | (span.mark_counts[1] != 0 ? 2u : 0u);
    facts.range = range_of_span(&span, job->word_size);
    const struct h5twin_sleek_marks marks = h5twin_sleek_marks_of(job);
    struct h5twin_sleek_choice choice;
    if (job->mode == H5TWIN_NOA) {
        find_extreme(&facts, &search);
        choice = h5twin_sleek_choose_relative(job->error_bound, job->word_size, &marks, &facts);
    } else {
        choice = h5twin_sleek_choose_absolute(
            h5twin_sleek_bound_exponent(job->error_bound, job->word_size), &marks,
            facts.found_marks);
    }
    return choice.count == 1 ? choice.exponents[0]
                             : take_first_without_change(&choice, maps, job, src);
}
