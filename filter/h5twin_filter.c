/* SPDX-License-Identifier: BSD-3-Clause
 * h5twin_filter.c: the three callbacks of an HDF5 filter, and one filter class per codec.
 *
 * can_apply answers whether a dataset can be coded as asked, set_local completes the parameters,
 * the filter only codes. HDF5 takes only negative values as a refusal: 0 from can_apply still lets
 * it call an "optional" filter, 0 from set_local is success. */
#include "cd_values.h"
#include "chunk_check.h"
#include "common/kept_memory.h"
#include "config.h"
#include "dataset.h"
#include "h5twin.h"
#include "hdf5_abi.h"
#include "hdf5_caller.h"
#include "ready_chunks.h"
#include "run/plan.h"
#include "shared_objects.h"
#include "verbose.h"

#include <stdio.h>
#include <string.h>

/* All that a reader without the plugin sees of the filter, from inside the file: its name, then
 * this. The name alone has only the characters that HDF5 from 3 on allows in one, and is the same
 * there. */
#ifndef H5TWIN_HOMEPAGE
#    define H5TWIN_HOMEPAGE "" /* "; see ADDRESS" */
#endif
#define INSTALL_HINT                                                                               \
    H5TWIN_VERSION ": to read it, install and import the Python package h5twin, or build h5twin "  \
                   "and set HDF5_PLUGIN_PATH to its plugins" H5TWIN_HOMEPAGE

#define MAX_MESSAGE 512

/* One call from HDF5. */
struct call {
    enum h5twin_codec_id codec;
    int filter_id;
    const char *codec_name;
    const char *function; /* for the error stack */
    struct h5twin_hdf5 *hdf5;
};

static void
report(const struct call *call, const char *sentence)
{
    h5twin_hdf5_push_error(call->hdf5, call->function, call->codec_name, sentence);
    h5twin_verbose_print(call->codec_name, sentence); /* many tools drop HDF5's error stack */
}

static void
report_chunk(const struct call *call, const char *what, size_t size, const char *why)
{
    char sentence[MAX_MESSAGE];
    snprintf(sentence, sizeof sentence, "%s of %zu bytes: %s", what, size, why);
    report(call, sentence);
}

/* ---- once per dataset ---- */

/* A lossy codec must see the numbers themselves: after shuffle it would quantize a mix of their
 * bytes, and a checksum made before it would not match any more. */
static bool
is_first_filter(const struct call *call, h5twin_hid dcpl)
{
    unsigned flags, config;
    size_t cd_count = 0;
    char name[1];
    return call->hdf5->H5Pget_nfilters(dcpl) >= 1 &&
           call->hdf5->H5Pget_filter2(dcpl, 0, &flags, &cd_count, NULL, sizeof name, name,
                                      &config) == call->filter_id;
}

/* Read what the user or an earlier set_local gave. */
static bool
read_parameters(const struct call *call, h5twin_hid dcpl, struct h5twin_cd *cd, unsigned *flags)
{
    unsigned cd_values[H5TWIN_CD_MAX], config;
    size_t cd_count = H5TWIN_CD_MAX; /* room, then the number stored, which may be more */
    if (call->hdf5->H5Pget_filter_by_id2(dcpl, call->filter_id, flags, &cd_count, cd_values, 0,
                                         NULL, &config) < 0) {
        report(call, "HDF5 does not tell the filter's parameters: is the filter set on this "
                     "property list?");
        return false;
    }
    const char *why = "There are more than 16 values: give at most 7.";
    if (cd_count > H5TWIN_CD_MAX ||
        h5twin_cd_read(cd, call->codec, cd_values, cd_count, &why) != H5TWIN_OK) {
        report(call, why);
        return false;
    }
    return true;
}

/* Decide how the chunks of a dataset, new or opened, are coded, or say why they cannot be. */
static bool
plan_dataset(const struct call *call, h5twin_hid dcpl, h5twin_hid type, h5twin_hid space,
             bool is_new, struct h5twin_cd *cd, unsigned *flags)
{
    if (call->hdf5 == NULL || !call->hdf5->has[H5TWIN_HDF5_PROPERTIES]) {
        report(call, "The HDF5 library that calls this filter is linked into the program and "
                     "exports nothing, so the dataset cannot be created: call "
                     "h5twin_hdf5_register() of libh5twin, or link a shared libhdf5.");
        return false;
    }
    if (!read_parameters(call, dcpl, cd, flags)) {
        return false;
    }
    const bool is_first = is_first_filter(call, dcpl);
    cd->is_first = is_first;
    const char *why = h5twin_dataset_describe(call->hdf5, dcpl, type, space, is_new, cd);
    if (why == NULL && h5twin_params_check(&cd->params) != H5TWIN_OK) { /* some need the element */
        why = h5twin_status_message(h5twin_params_check(&cd->params));
    }
    if (why != NULL) {
        report(call, why);
        return false;
    }
    if (cd->params.mode != H5TWIN_LOSSLESS && cd->params.kind == H5TWIN_FLOAT && !is_first) {
        report(call, "Another filter, such as shuffle or fletcher32, comes before this lossy one, "
                     "which would then not see the numbers: remove it or put it after, or use "
                     "the lossless mode.");
        return false;
    }
    return true;
}

/* HDF5 asks when a dataset is created, and again before the first write to one that was opened. */
static int
can_apply(struct call *call, const void *return_address, h5twin_hid dcpl, h5twin_hid type,
          h5twin_hid space)
{
    struct h5twin_cd cd;
    unsigned flags;
    if (dcpl < 0) { /* a group's links, not a dataset: bytes */
        return 1;
    }
    call->function = "can_apply";
    call->hdf5 = h5twin_hdf5_of_caller(return_address);
    return plan_dataset(call, dcpl, type, space, false, &cd, &flags) ? 1 : -1;
}

static int
set_local(struct call *call, const void *return_address, h5twin_hid dcpl, h5twin_hid type,
          h5twin_hid space)
{
    struct h5twin_cd cd;
    unsigned flags, cd_values[H5TWIN_CD_MAX];
    if (dcpl < 0) {
        return 1;
    }
    call->function = "set_local";
    call->hdf5 = h5twin_hdf5_of_caller(return_address);
    if (!plan_dataset(call, dcpl, type, space, true, &cd, &flags)) {
        return -1;
    }
    const size_t cd_count = h5twin_cd_write(cd_values, &cd);
    /* Not optional, whatever the user's library asked for: a filter that fails must be an error,
     * not a dataset that is silently stored without it. */
    if (call->hdf5->H5Pmodify_filter(dcpl, call->filter_id, flags & ~H5TWIN_HDF5_FLAG_OPTIONAL,
                                     cd_count, cd_values) < 0) {
        report(call, "HDF5 does not store the completed parameters in the property list.");
        return -1;
    }
    return 1;
}

/* ---- once per chunk ---- */

static void
replace_buffer(const struct call *call, void **buffer, size_t *buffer_size, void *replacement,
               size_t replacement_size)
{
    h5twin_hdf5_free(call->hdf5, *buffer);
    *buffer = replacement;
    *buffer_size = replacement_size;
}

/* How to code src_size bytes. Parameters that are damaged, or do not describe these bytes, must not
 * make a write fail, which HDF5 survives badly, nor lose anything: exact storage is right whatever
 * was meant. What they say of the array is kept, as the decoder will compare it. */
static struct h5twin_params
chunk_params(const struct call *call, size_t cd_count, const unsigned cd_values[], size_t src_size)
{
    struct h5twin_cd cd;
    const char *why;
    if (h5twin_cd_read(&cd, call->codec, cd_values, cd_count, &why) != H5TWIN_OK) {
        cd.params.mode = H5TWIN_LOSSLESS;
        cd.params.options = 0;
    } else if (!cd.has_array || cd.chunk_size != src_size) {
        cd.params.mode = H5TWIN_LOSSLESS;
    }
    return cd.params;
}

/* Room to encode in. What the heap keeps is HDF5's at once, and need not be copied. */
struct room {
    void *chunk;
    size_t capacity;
    bool is_hdf5s;
};

static struct room
room_take(const struct call *call, size_t capacity)
{
    struct room room = {.capacity = capacity, .is_hdf5s = h5twin_hdf5_heap_keeps(capacity)};
    room.chunk = room.is_hdf5s ? h5twin_hdf5_allocate(call->hdf5, capacity, false)
                               : h5twin_kept_take("filter chunk", capacity);
    return room;
}

static void
room_give_back(const struct call *call, const struct room *room)
{
    if (!room->is_hdf5s) {
        h5twin_kept_give_back(room->chunk, room->capacity);
    } else if (room->chunk != NULL) {
        h5twin_hdf5_free(call->hdf5, room->chunk);
    }
}

/* Give HDF5 the chunk from room of ours: in the buffer that the values came in, which is still warm
 * and nearly always large enough, else in a new one of just its size. */
static bool
copy_over(const struct call *call, const void *chunk, size_t chunk_size, size_t src_size,
          size_t *buffer_size, void **buffer)
{
    if (chunk_size > src_size) {
        void *const larger = h5twin_hdf5_allocate(call->hdf5, chunk_size, false);
        if (larger == NULL) {
            return false;
        }
        replace_buffer(call, buffer, buffer_size, larger, chunk_size);
    }
    memcpy(*buffer, chunk, chunk_size);
    return true;
}

/* The room is given up, whatever comes of it. */
static bool
hand_over(const struct call *call, const struct room *room, size_t chunk_size, size_t src_size,
          size_t *buffer_size, void **buffer)
{
    if (room->is_hdf5s) {
        replace_buffer(call, buffer, buffer_size, room->chunk, room->capacity);
        return true;
    }
    const bool done = copy_over(call, room->chunk, chunk_size, src_size, buffer_size, buffer);
    room_give_back(call, room);
    return done;
}

static size_t
encode_chunk(const struct call *call, size_t cd_count, const unsigned cd_values[], size_t src_size,
             size_t *buffer_size, void **buffer)
{
    size_t ready_size;
    const void *const ready =
        h5twin_ready_chunks_take(call->codec, cd_count, cd_values, *buffer, src_size, &ready_size);
    if (ready != NULL && copy_over(call, ready, ready_size, src_size, buffer_size, buffer)) {
        return ready_size;
    }
    const struct h5twin_params params = chunk_params(call, cd_count, cd_values, src_size);
    struct h5twin_plan plan = {0};
    enum h5twin_status status = h5twin_plan_for_params(&plan, &params, src_size, false);
    if (status == H5TWIN_OK && plan.bound == 0) {
        status = H5TWIN_ERR_TOO_BIG;
    }
    size_t chunk_size = 0;
    if (status == H5TWIN_OK) {
        const struct room room = room_take(call, plan.bound);
        status = room.chunk == NULL ? H5TWIN_ERR_MEMORY
                                    : h5twin_plan_encode(&plan, NULL, room.chunk, room.capacity,
                                                         *buffer, &chunk_size);
        if (status != H5TWIN_OK) {
            room_give_back(call, &room);
        } else if (!hand_over(call, &room, chunk_size, src_size, buffer_size, buffer)) {
            status = H5TWIN_ERR_MEMORY;
        }
    }
    if (status != H5TWIN_OK) {
        report_chunk(call, "Encoding a chunk", src_size, h5twin_status_message(status));
        return 0;
    }
    return chunk_size;
}

/* What a chunk decodes to, and the bytes that HDF5 may read of it: as many as the dataset's chunks
 * have, even of one that comes from a filter before and is smaller. NULL, or why not. */
static const char *
measure_chunk(const struct call *call, size_t cd_count, const unsigned cd_values[],
              const void *chunk, size_t chunk_size, struct h5twin_plan *plan, size_t *capacity,
              char why_text[H5TWIN_CHECK_TEXT])
{
    const struct h5twin_info *const info = &plan->info;
    enum h5twin_status status = h5twin_plan_for_chunk(plan, chunk, chunk_size);
    if (status == H5TWIN_OK) {
        status = h5twin_plan_check_size(plan, chunk, chunk_size);
    }
    if (status != H5TWIN_OK) {
        return h5twin_status_message(status);
    }
    if (info->raw_size == 0) { /* HDF5 has no empty chunks, and 0 means failure to it */
        return h5twin_status_message(H5TWIN_ERR_CORRUPT);
    }
    struct h5twin_cd cd;
    const char *why;
    (void)h5twin_cd_read(&cd, call->codec, cd_values, cd_count, &why); /* only the array matters */
    if (!h5twin_check_chunk(&cd, info, why_text)) {
        return why_text;
    }
    *capacity = info->raw_size > cd.chunk_size ? (size_t)info->raw_size : cd.chunk_size;
    return NULL;
}

static size_t
decode_chunk(const struct call *call, size_t cd_count, const unsigned cd_values[], size_t src_size,
             size_t *buffer_size, void **buffer)
{
    struct h5twin_plan plan;
    char why_text[H5TWIN_CHECK_TEXT];
    size_t capacity = 0, raw_size = 0;
    void *raw = NULL;
    const char *why =
        measure_chunk(call, cd_count, cd_values, *buffer, src_size, &plan, &capacity, why_text);
    if (why == NULL) {
        const bool is_kept = h5twin_hdf5_heap_keeps(capacity);
        raw = h5twin_hdf5_allocate(call->hdf5, capacity, capacity > plan.info.raw_size);
        if (!is_kept) {
            h5twin_hdf5_few_faults(raw, capacity);
        }
        const enum h5twin_status status =
            raw == NULL
                ? H5TWIN_ERR_MEMORY
                : h5twin_plan_decode(&plan, NULL, raw, capacity, *buffer, src_size, &raw_size);
        why = status == H5TWIN_OK ? NULL : h5twin_status_message(status);
    }
    if (why != NULL) {
        report_chunk(call, "Decoding a chunk", src_size, why);
        if (raw != NULL) {
            h5twin_hdf5_free(call->hdf5, raw);
        }
        return 0;
    }
    replace_buffer(call, buffer, buffer_size, raw, capacity);
    return raw_size;
}

static size_t
filter(struct call *call, const void *return_address, unsigned flags, size_t cd_count,
       const unsigned cd_values[], size_t src_size, size_t *buffer_size, void **buffer)
{
    call->function = "filter";
    call->hdf5 = h5twin_hdf5_of_caller(return_address);
    return (flags & H5TWIN_HDF5_FLAG_REVERSE) != 0
               ? decode_chunk(call, cd_count, cd_values, src_size, buffer_size, buffer)
               : encode_chunk(call, cd_count, cd_values, src_size, buffer_size, buffer);
}

/* ---- parameters as text, for HDF5 from 3 on ---- */

/* What set_config and get_config return. */
static int
answer(struct call *call, const void *return_address, const char *function, const char *why)
{
    if (why == NULL) {
        return 0;
    }
    call->function = function;
    call->hdf5 = h5twin_hdf5_of_caller(return_address);
    report(call, why);
    return -1;
}

/* ---- the classes ---- */

/* HDF5 does not tell a callback which filter it is, so each codec has its own. They take the
 * return address, which is only right in the function that HDF5 itself called. */
#define DEFINE_FILTER(name_, NAME)                                                                 \
    static const struct call name_##_call = {                                                      \
        .codec = H5TWIN_##NAME, .filter_id = H5TWIN_FILTER_##NAME, .codec_name = #name_};          \
    static int name_##_can_apply(h5twin_hid dcpl, h5twin_hid type, h5twin_hid space)               \
    {                                                                                              \
        struct call call = name_##_call;                                                           \
        return can_apply(&call, __builtin_return_address(0), dcpl, type, space);                   \
    }                                                                                              \
    static int name_##_set_local(h5twin_hid dcpl, h5twin_hid type, h5twin_hid space)               \
    {                                                                                              \
        struct call call = name_##_call;                                                           \
        return set_local(&call, __builtin_return_address(0), dcpl, type, space);                   \
    }                                                                                              \
    static size_t name_##_filter(unsigned flags, size_t cd_count, const unsigned cd_values[],      \
                                 size_t src_size, size_t *buffer_size, void **buffer)              \
    {                                                                                              \
        struct call call = name_##_call;                                                           \
        return filter(&call, __builtin_return_address(0), flags, cd_count, cd_values, src_size,    \
                      buffer_size, buffer);                                                        \
    }                                                                                              \
    static const struct h5twin_hdf5_class name_##_class = {                                        \
        .version = H5TWIN_HDF5_CLASS_VERSION,                                                      \
        .id = H5TWIN_FILTER_##NAME,                                                                \
        .encoder_present = 1,                                                                      \
        .decoder_present = 1,                                                                      \
        .name = "h5twin-" #name_ " " INSTALL_HINT,                                                 \
        .can_apply = name_##_can_apply,                                                            \
        .set_local = name_##_set_local,                                                            \
        .filter = name_##_filter,                                                                  \
    };                                                                                             \
    static size_t name_##_filter3(unsigned flags, size_t cd_count, const unsigned cd_values[],     \
                                  h5twin_hid dxpl, const uint64_t *chunk_place, size_t rank,       \
                                  size_t src_size, size_t *buffer_size, void **buffer)             \
    {                                                                                              \
        struct call call = name_##_call;                                                           \
        (void)dxpl, (void)chunk_place, (void)rank;                                                 \
        return filter(&call, __builtin_return_address(0), flags, cd_count, cd_values, src_size,    \
                      buffer_size, buffer);                                                        \
    }                                                                                              \
    static int name_##_set_config(const char *text, unsigned *flags, size_t *cd_count,             \
                                  unsigned cd_values[], size_t cd_capacity)                        \
    {                                                                                              \
        struct call call = name_##_call;                                                           \
        (void)flags; /* set_local makes the filter mandatory */                                    \
        return answer(&call, __builtin_return_address(0), "set_config",                            \
                      h5twin_config_read(H5TWIN_##NAME, text, cd_count, cd_values, cd_capacity));  \
    }                                                                                              \
    static int name_##_get_config(unsigned flags, size_t cd_count, const unsigned cd_values[],     \
                                  char *text, size_t *size)                                        \
    {                                                                                              \
        struct call call = name_##_call;                                                           \
        char why[H5TWIN_CONFIG_WHY];                                                               \
        (void)flags;                                                                               \
        return answer(&call, __builtin_return_address(0), "get_config",                            \
                      h5twin_config_write(H5TWIN_##NAME, cd_count, cd_values, text, size, why));   \
    }                                                                                              \
    static const struct h5twin_hdf5_class3 name_##_class3 = {                                      \
        .version = H5TWIN_HDF5_CLASS3_VERSION,                                                     \
        .id = H5TWIN_FILTER_##NAME,                                                                \
        .encoder_present = 1,                                                                      \
        .decoder_present = 1,                                                                      \
        .name = "h5twin-" #name_,                                                                  \
        .description = "h5twin " INSTALL_HINT,                                                     \
        .can_apply = name_##_can_apply,                                                            \
        .set_local = name_##_set_local,                                                            \
        .filter = name_##_filter3,                                                                 \
        .set_config = name_##_set_config,                                                          \
        .get_config = name_##_get_config,                                                          \
    };

H5TWIN_CODECS(DEFINE_FILTER)

const void *
h5twin_hdf5_class(enum h5twin_codec_id codec)
{
    h5twin_shared_stay();
    switch (codec) {
#define FOUND(name_, NAME)                                                                         \
    case H5TWIN_##NAME:                                                                            \
        return &name_##_class;
        H5TWIN_CODECS(FOUND)
    }
    return NULL;
}

const struct h5twin_hdf5_class3 *
h5twin_hdf5_class3(int codec)
{
    switch (codec) {
#define FOUND3(name_, NAME)                                                                        \
    case H5TWIN_##NAME:                                                                            \
        return &name_##_class3;
        H5TWIN_CODECS(FOUND3)
    }
    return NULL;
}

H5TWIN_API const void *
h5twin_hdf5_class_for(int codec, const void *return_address)
{
    const struct h5twin_hdf5 *const hdf5 = h5twin_hdf5_of_caller(return_address);
    return hdf5 != NULL && hdf5->takes_class3 ? (const void *)h5twin_hdf5_class3(codec)
                                              : h5twin_hdf5_class((enum h5twin_codec_id)codec);
}
