/* SPDX-License-Identifier: BSD-3-Clause
 * differential.c: see differential.h. */
#include "differential.h"

#include "codec.h"
#include "isa.h"
#include "page_room.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Below this, one thread does all the work, however many it may be. */
#define FEWEST_BYTES_SHARED ((size_t)256 << 10)

/* What one coding is called with. Those on one thread end at the end of a page, the others begin
 * at the beginning of one. */
struct how {
    const struct h5twin_isa_level *level;
    unsigned threads;
};

struct test_differential_buffers {
    size_t largest;
    struct test_room array, stream, decoded;
    uint8_t *expected_stream, *expected_array;
};

/* One array on its way. */
struct subject {
    struct test_differential *run;
    const struct h5twin_codec *codec;
    struct h5twin_job job; /* as prepared */
    const uint8_t *array;
    size_t stream_bound, stream_size;
    uint32_t parameter; /* as the reference left it */
};

/* The largest payload of `largest` bytes by any codec: DPratio codes twice the array. */
static size_t
stream_room(size_t largest)
{
    return 2 * largest + largest / 8 + 4096;
}

static uint8_t *
memory(size_t size)
{
    uint8_t *const bytes = malloc(size + 1);
    if (bytes == NULL) {
        abort();
    }
    return bytes;
}

void
test_differential_open(struct test_differential *run, size_t largest, const char *only)
{
    struct test_differential_buffers *const buffers = (void *)memory(sizeof *buffers);
    *buffers = (struct test_differential_buffers){
        .largest = largest,
        .array = test_room_open(largest),
        .stream = test_room_open(stream_room(largest)),
        .decoded = test_room_open(largest),
        .expected_stream = memory(stream_room(largest)),
        .expected_array = memory(largest),
    };
    *run = (struct test_differential){.only = only, .buffers = buffers};
}

void
test_differential_close(struct test_differential *run)
{
    struct test_differential_buffers *const buffers = run->buffers;
    test_room_close(&buffers->array);
    test_room_close(&buffers->stream);
    test_room_close(&buffers->decoded);
    free(buffers->expected_stream);
    free(buffers->expected_array);
    free(buffers);
    run->buffers = NULL;
}

/* size bytes at the end that this coding uses. */
static uint8_t *
place(const struct test_room *room, const struct how *how, size_t size)
{
    return how->threads == 1 ? room->end - size : room->begin;
}

static uint8_t *
place_copy(const struct test_room *room, const struct how *how, const uint8_t *src, size_t size)
{
    uint8_t *const bytes = place(room, how, size);
    if (size != 0) {
        memcpy(bytes, src, size);
    }
    return bytes;
}

static bool
note(const struct subject *subject, const struct how *how, const char *format, ...)
{
    struct test_differential *const run = subject->run;
    const size_t room = sizeof run->difference;
    const int used =
        snprintf(run->difference, room, "%s on %u threads: ", how->level->name, how->threads);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->difference + used, room - (size_t)used, format, arguments);
    va_end(arguments);
    run->differences++;
    return false;
}

static bool
is_same(const uint8_t *a, const uint8_t *b, size_t size)
{
    return size == 0 || memcmp(a, b, size) == 0;
}

static size_t
first_difference(const uint8_t *a, const uint8_t *b, size_t size)
{
    size_t at = 0;
    while (at < size && a[at] == b[at]) {
        at++;
    }
    return at;
}

static bool
crc_is_right(const struct h5twin_crc32c_span *span, const uint8_t *stream, size_t stream_size)
{
    return span->size == 0 ||
           (span->begin <= stream_size && span->size <= stream_size - span->begin &&
            span->crc == h5twin_crc32c_scalar(0, stream + span->begin, span->size));
}

static struct h5twin_job
job_for(const struct subject *subject, const struct how *how, struct h5twin_crc32c_span *span)
{
    struct h5twin_job job = subject->job;
    *span = h5twin_crc32c_span_empty(how->level->isa);
    job.threads = how->threads;
    job.isa = how->level->isa;
    job.crc = span;
    return job;
}

/* ---- the reference ---- */

static bool
make_reference(struct subject *subject)
{
    const struct how how = {.level = h5twin_isa_level_at(0), .threads = 1};
    const struct test_differential_buffers *const buffers = subject->run->buffers;
    const size_t size = subject->job.raw_size;
    struct h5twin_crc32c_span span;
    struct h5twin_job job = job_for(subject, &how, &span);
    uint8_t *const stream = place(&buffers->stream, &how, subject->stream_bound);
    uint8_t *const src = place_copy(&buffers->array, &how, subject->array, size);
    if (subject->codec->encode(&job, stream, src, &subject->stream_size) != H5TWIN_OK ||
        subject->stream_size > subject->stream_bound) {
        return note(subject, &how, "the reference cannot be encoded");
    }
    subject->parameter = job.parameter;
    memcpy(buffers->expected_stream, stream, subject->stream_size);
    if (subject->codec->decode(&job, buffers->expected_array, stream, subject->stream_size) !=
        H5TWIN_OK) {
        return note(subject, &how, "the reference cannot be decoded");
    }
    if (job.mode == H5TWIN_LOSSLESS && !is_same(buffers->expected_array, subject->array, size)) {
        return note(subject, &how, "the reference decodes to another array");
    }
    return true;
}

/* ---- the others ---- */

static bool
check_encode(const struct subject *subject, const struct how *how)
{
    const struct test_differential_buffers *const buffers = subject->run->buffers;
    const uint8_t *const expected = buffers->expected_stream;
    struct h5twin_crc32c_span span;
    struct h5twin_job job = job_for(subject, how, &span);
    uint8_t *const src = place_copy(&buffers->array, how, subject->array, job.raw_size);
    uint8_t *const stream = place(&buffers->stream, how, subject->stream_bound);
    size_t size = 0;
    subject->run->codings++;
    if (subject->codec->encode(&job, stream, src, &size) != H5TWIN_OK) {
        return note(subject, how, "cannot encode");
    }
    if (size != subject->stream_size || job.parameter != subject->parameter) {
        return note(subject, how, "%zu bytes with parameter %x, not %zu with %x", size,
                    (unsigned)job.parameter, subject->stream_size, (unsigned)subject->parameter);
    }
    if (!is_same(stream, expected, size)) {
        return note(subject, how, "another byte %zu of %zu",
                    first_difference(stream, expected, size), size);
    }
    return crc_is_right(&span, stream, size) ||
           note(subject, how, "a wrong CRC of what was encoded");
}

static bool
check_decode(const struct subject *subject, const struct how *how)
{
    const struct test_differential_buffers *const buffers = subject->run->buffers;
    const uint8_t *const expected = buffers->expected_array;
    struct h5twin_crc32c_span span;
    struct h5twin_job job = job_for(subject, how, &span);
    job.parameter = subject->parameter;
    uint8_t *const stream =
        place_copy(&buffers->stream, how, buffers->expected_stream, subject->stream_size);
    uint8_t *const decoded = place(&buffers->decoded, how, job.raw_size);
    if (job.raw_size != 0) {
        memset(decoded, 0x5A, job.raw_size);
    }
    subject->run->codings++;
    if (subject->codec->decode(&job, decoded, stream, subject->stream_size) != H5TWIN_OK) {
        return note(subject, how, "cannot decode");
    }
    if (!is_same(decoded, expected, job.raw_size)) {
        return note(subject, how, "decodes to another byte %zu of %zu",
                    first_difference(decoded, expected, job.raw_size), job.raw_size);
    }
    return crc_is_right(&span, stream, subject->stream_size) ||
           note(subject, how, "a wrong CRC of what was decoded");
}

static bool
check_variant(const struct subject *subject, const struct h5twin_isa_level *level)
{
    static const unsigned threads[] = {1, 3, 2, 8};
    const size_t counts = subject->job.raw_size < FEWEST_BYTES_SHARED ? 2 : 4;
    for (size_t i = 0; i < counts; i++) {
        const struct how how = {.level = level, .threads = threads[i]};
        if (!check_encode(subject, &how) || !check_decode(subject, &how)) {
            return false;
        }
    }
    return true;
}

bool
test_differential_check(struct test_differential *run, const struct h5twin_params *params,
                        const uint8_t *array, size_t size)
{
    struct subject subject = {.run = run, .array = array};
    if (size > run->buffers->largest ||
        h5twin_job_from_params(&subject.job, &subject.codec, params, size) != H5TWIN_OK) {
        return true;
    }
    subject.stream_bound = subject.codec->bound(&subject.job);
    if (subject.stream_bound > stream_room(run->buffers->largest)) {
        return note(&subject, &(struct how){h5twin_isa_level_at(0), 1}, "no room for the bound");
    }
    run->arrays++;
    bool is_good = make_reference(&subject);
    for (unsigned at = 0; is_good && h5twin_isa_level_at(at) != NULL; at++) {
        const struct h5twin_isa_level *const level = h5twin_isa_level_at(at);
        if (run->only == NULL || strcmp(run->only, level->name) == 0) {
            is_good = check_variant(&subject, level);
        }
    }
    unsetenv("H5TWIN_CPU");
    return is_good;
}
