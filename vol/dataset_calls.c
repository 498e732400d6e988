/* SPDX-License-Identifier: BSD-3-Clause
 * dataset_calls.c: H5Dwrite and H5Dread through the connector: taken over where dataset_io.h can,
 * else HDF5's own.
 *
 * HDF5's public functions want an identifier, where a connector has an object. One is registered
 * for the time of a call. What these functions then ask of the connector is answered by native, and
 * closing that identifier closes nothing. */
#include "dataset_calls.h"

#include "connector.h"
#include "dataset_io.h"
#include "device_io.h"
#include "device_memory.h"
#include "h5twin.h"
#include "held_rows.h"
#include "log_line.h"
#include "native_questions.h"

#include <stdlib.h>

#define MAX_WORDS 32

#define LOG_VARIABLE "H5TWIN_VOL_LOG"

/* The dataset that this thread works on for a call of ours; NULL: none. */
static _Thread_local const void *busy_with;

bool
h5twin_vol_is_busy(void)
{
    return busy_with != NULL;
}

bool
h5twin_vol_is_busy_with(const void *dataset)
{
    return busy_with == dataset;
}

const void *
h5twin_vol_set_busy(const void *dataset)
{
    const void *const before = busy_with;
    busy_with = dataset;
    return before;
}

/* The arguments of a callback: of a write, which has sources, or a read, which has targets. */
struct call {
    size_t count;
    void **datasets;
    h5twin_hid *mem_types, *mem_spaces, *file_spaces;
    h5twin_hid dxpl;
    const void **sources;
    void **targets;
    void **request;
};

enum kind {
    OTHER, /* not in chunks of one of our filters */
    SMALL, /* no more is selected than one chunk has, and HDF5's cache has room for that */
    FITTING,
    HELD,
};

/* ---- what can be taken over ---- */

/* Elements of a chunk of a dataset whose only filter is one of ours, else 0. */
static uint64_t
ask_chunk_elements(const struct h5twin_vol_hdf5 *functions, h5twin_hid dataset)
{
    uint64_t elements = 0, chunk[H5TWIN_HDF5_MAX_RANK];
    unsigned flags, config, words[MAX_WORDS];
    size_t word_count = MAX_WORDS;
    const h5twin_hid dcpl = functions->H5Dget_create_plist(dataset);
    if (dcpl < 0) {
        return 0;
    }
    if (functions->H5Pget_layout(dcpl) == H5TWIN_HDF5_CHUNKED &&
        functions->H5Pget_nfilters(dcpl) == 1) {
        const int filter =
            functions->H5Pget_filter2(dcpl, 0, &flags, &word_count, words, 0, NULL, &config);
        const int rank = functions->H5Pget_chunk(dcpl, H5TWIN_HDF5_MAX_RANK, chunk);
        if (filter > 0 && rank > 0 && h5twin_codec_by_filter((uint32_t)filter) != NULL) {
            elements = 1; /* HDF5's chunks have less than 4 GiB */
            for (int i = 0; i < rank; i++) {
                elements *= chunk[i];
            }
        }
    }
    functions->H5Pclose(dcpl);
    return elements;
}

/* Whether HDF5's chunk cache, of *cache_bytes if that is known, has room for a chunk. Where it has
 * none, each read of a part decodes the whole chunk. */
static bool
ask_is_cached(const struct h5twin_hdf5 *hdf5, h5twin_hid dataset, uint64_t chunk_elements,
              uint64_t *cache_bytes)
{
    if (!hdf5->has[H5TWIN_HDF5_TRANSFERS] || !hdf5->has[H5TWIN_HDF5_PROPERTIES]) {
        return true;
    }
    size_t slots, size = SIZE_MAX;
    double preemption;
    const h5twin_hid dapl = hdf5->H5Dget_access_plist(dataset), type = hdf5->H5Dget_type(dataset);
    if (dapl >= 0) {
        if (hdf5->H5Pget_chunk_cache(dapl, &slots, &size, &preemption) < 0) {
            size = SIZE_MAX;
        }
        hdf5->H5Pclose(dapl);
    }
    *cache_bytes = size;
    size_t element_size = 0;
    if (type >= 0) {
        element_size = hdf5->H5Tget_size(type);
        hdf5->H5Tclose(type);
    }
    return element_size == 0 || chunk_elements <= size / element_size;
}

/* Whether the selection is of no more elements than a chunk has. */
static bool
is_small(const struct h5twin_vol_hdf5 *functions, h5twin_hid file_space, uint64_t chunk_elements)
{
    if (file_space <= H5TWIN_HDF5_LAST_SPECIAL_SPACE) {
        return false;
    }
    const int64_t points = functions->H5Sget_select_npoints(file_space);
    return points < 0 || (uint64_t)points <= chunk_elements;
}

static enum kind
ask_kind(struct h5twin_vol_connector *connector, const struct h5twin_dataset_request *request,
         void *dataset, bool is_write, struct h5twin_vol_note *note)
{
    const struct h5twin_vol_hdf5 *const functions = &connector->functions;
    *note = (struct h5twin_vol_note){.dataset = dataset};
    if (!h5twin_vol_notes_find(&connector->notes, note)) {
        note->chunk_elements = ask_chunk_elements(functions, request->dataset);
        note->is_cached =
            note->chunk_elements == 0 || ask_is_cached(connector->hdf5, request->dataset,
                                                       note->chunk_elements, &note->cache_bytes);
        h5twin_held_ask(connector, dataset, request, note);
        h5twin_vol_notes_keep(&connector->notes, note);
    }
    if (note->chunk_elements == 0) {
        return OTHER;
    }
    return (is_write || note->is_cached) &&
                   is_small(functions, request->file_space, note->chunk_elements)
               ? SMALL
               : FITTING;
}

/* ---- one dataset ---- */

/* For who wants to know why a program is no faster: file, dataset, what, by whom, why. */
static void
note_in_log(const struct h5twin_vol_connector *connector, const struct call *call, void *dataset,
            const char *by_whom, const char *why)
{
    char file[1024], name[1024];
    if (!h5twin_log_is_wanted(LOG_VARIABLE)) {
        return;
    }
    h5twin_vol_file_name(connector, dataset, H5TWIN_HDF5_ID_DATASET, call->dxpl, file, sizeof file);
    h5twin_vol_object_name(connector, dataset, H5TWIN_HDF5_ID_DATASET, call->dxpl, name,
                           sizeof name);
    const char *const columns[] = {file, name, call->sources != NULL ? "write" : "read", by_whom,
                                   why};
    h5twin_log_line(LOG_VARIABLE, columns, sizeof columns / sizeof columns[0]);
}

/* Memory of a GPU, which HDF5 can do nothing with. */
static bool
is_on_device(const struct call *call, size_t index)
{
    return h5twin_is_device_memory(call->sources != NULL ? call->sources[index]
                                                         : call->targets[index]);
}

static enum h5twin_dataset_outcome
transfer(const struct h5twin_vol_connector *connector, const struct h5twin_dataset_request *request,
         const struct call *call, size_t index, const char **why)
{
    if (is_on_device(call, index)) {
        *why = NULL;
        return call->sources != NULL
                   ? h5twin_device_write_dataset(connector->hdf5, request, call->sources[index])
                   : h5twin_device_read_dataset(connector->hdf5, request, call->targets[index]);
    }
    return call->sources != NULL
               ? h5twin_dataset_write(connector->hdf5, request, call->sources[index], why)
               : h5twin_dataset_read(connector->hdf5, request, call->targets[index], why);
}

/* What may be known already, without HDF5's help. */
static bool
is_other(struct h5twin_vol_connector *connector, const struct call *call, size_t index)
{
    struct h5twin_vol_note note = {.dataset = call->datasets[index]};
    const void *const buffer = call->sources != NULL ? call->sources[index] : call->targets[index];
    return buffer == NULL ||
           (!h5twin_is_device_memory(buffer) && h5twin_vol_notes_find(&connector->notes, &note) &&
            note.chunk_elements == 0);
}

/* Find out what kind of transfer it is (HELD: rows may be held of the dataset), and do it if it
 * fits and outcome is not NULL. */
static enum kind
take_over(struct h5twin_vol_connector *connector, const struct call *call, size_t index,
          enum h5twin_dataset_outcome *outcome)
{
    static const char *const reasons[] = {"not in chunks of one filter of h5twin",
                                          "no more than one chunk", NULL, NULL};
    const struct h5twin_vol_hdf5 *const functions = &connector->functions;
    void *const dataset = call->datasets[index];
    enum kind kind = OTHER;
    h5twin_hid failure = -1; /* HDF5's errors, if it has failed */
    struct h5twin_vol_errors errors;
    h5twin_vol_errors_hold(functions, &errors);
    busy_with = dataset;
    const struct h5twin_dataset_request request = {
        .dataset = functions->H5VLwrap_register(dataset, H5TWIN_HDF5_ID_DATASET),
        .mem_type = call->mem_types[index],
        .mem_space = call->mem_spaces[index],
        .file_space = call->file_spaces[index],
        .dxpl = call->dxpl};
    if (request.dataset >= 0) {
        struct h5twin_vol_note note = {.dataset = dataset};
        kind = is_on_device(call, index)
                   ? FITTING
                   : ask_kind(connector, &request, dataset, call->sources != NULL, &note);
        const char *why = reasons[kind];
        if (note.may_hold && outcome == NULL && call->sources != NULL) {
            kind = HELD;
        }
        if (note.may_hold && outcome != NULL && call->sources != NULL) {
            const enum h5twin_held_outcome held =
                h5twin_held_write(connector, &note, dataset, &request, call->sources[index], &why);
            kind = held == H5TWIN_HELD_NOT ? kind : HELD;
            *outcome = held == H5TWIN_HELD_DONE     ? H5TWIN_DATASET_DONE
                       : held == H5TWIN_HELD_FAILED ? H5TWIN_DATASET_FAILED
                                                    : H5TWIN_DATASET_NATIVE;
        }
        if (kind == FITTING && outcome != NULL) {
            *outcome = transfer(connector, &request, call, index, &why);
        }
        if (outcome != NULL && *outcome == H5TWIN_DATASET_FAILED) {
            failure = functions->H5Eget_current_stack();
        }
        functions->H5Idec_ref(request.dataset);
        if (outcome != NULL) {
            note_in_log(connector, call, dataset,
                        kind == HELD                      ? "held"
                        : *outcome == H5TWIN_DATASET_DONE ? "on all cores"
                                                          : "by HDF5",
                        why);
        }
    }
    busy_with = NULL;
    h5twin_vol_errors_release(functions, &errors, failure);
    return kind;
}

/* ---- HDF5's own ---- */

static int
forward(const struct h5twin_vol_connector *connector, const struct call *call)
{
    const struct h5twin_vol_dataset_class *const native = &connector->native->dataset;
    return call->sources != NULL
               ? native->write(call->count, call->datasets, call->mem_types, call->mem_spaces,
                               call->file_spaces, call->dxpl, call->sources, call->request)
               : native->read(call->count, call->datasets, call->mem_types, call->mem_spaces,
                              call->file_spaces, call->dxpl, call->targets, call->request);
}

/* One of several. */
static struct call
part_of(const struct call *call, size_t index)
{
    struct call one = *call;
    one.count = 1;
    one.datasets += index;
    one.mem_types += index;
    one.mem_spaces += index;
    one.file_spaces += index;
    if (call->sources != NULL) {
        one.sources += index;
    } else {
        one.targets += index;
    }
    return one;
}

/* ---- calls ---- */

static int
carry_out_one(struct h5twin_vol_connector *connector, const struct call *call)
{
    enum h5twin_dataset_outcome outcome = H5TWIN_DATASET_NATIVE;
    /* A write may be held, too: h5twin_held_write() looks after what the dataset has. */
    if (!(call->sources != NULL && !is_on_device(call, 0) &&
          h5twin_held_is_holder(connector, call->datasets[0])) &&
        h5twin_held_settle(connector, call->datasets[0], call->dxpl) < 0) {
        return -1;
    }
    if (!is_other(connector, call, 0)) {
        take_over(connector, call, 0, &outcome);
    }
    return outcome == H5TWIN_DATASET_DONE     ? 0
           : outcome == H5TWIN_DATASET_FAILED ? -1
                                              : forward(connector, call);
}

/* HDF5 refuses to transfer the same chunk twice in one call. */
static bool
has_one_twice(const struct call *call)
{
    for (size_t i = 1; i < call->count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (call->datasets[i] == call->datasets[j]) {
                return true;
            }
        }
    }
    return false;
}

static bool
is_done_alone(enum kind kind)
{
    return kind == FITTING || kind == HELD;
}

/* All but those that are done alone, in arrays of `count` each that `rest` holds. */
static void
gather_rest(const struct call *call, const enum kind *kinds, struct call *rest)
{
    for (size_t i = 0; i < call->count; i++) {
        if (is_done_alone(kinds[i])) {
            continue;
        }
        rest->datasets[rest->count] = call->datasets[i];
        rest->mem_types[rest->count] = call->mem_types[i];
        rest->mem_spaces[rest->count] = call->mem_spaces[i];
        rest->file_spaces[rest->count] = call->file_spaces[i];
        if (call->sources != NULL) {
            rest->sources[rest->count] = call->sources[i];
        } else {
            rest->targets[rest->count] = call->targets[i];
        }
        rest->count++;
    }
}

/* What HDF5 will find of those datasets; kinds may be NULL. */
static int
settle_rest(struct h5twin_vol_connector *connector, const struct call *call, const enum kind *kinds)
{
    for (size_t i = 0; i < call->count; i++) {
        if ((kinds == NULL || !is_done_alone(kinds[i])) &&
            h5twin_held_settle(connector, call->datasets[i], call->dxpl) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Of several datasets HDF5 gets those that do not fit, in one call, before the others are taken
 * over: if it refuses one of them, nothing has been written. */
static int
split(struct h5twin_vol_connector *connector, const struct call *call, const enum kind *kinds,
      void **pointers, h5twin_hid *identifiers)
{
    const size_t count = call->count;
    struct call rest = {.datasets = pointers,
                        .mem_types = identifiers,
                        .mem_spaces = identifiers + count,
                        .file_spaces = identifiers + 2 * count,
                        .dxpl = call->dxpl,
                        .sources = call->sources != NULL ? (const void **)(pointers + count) : NULL,
                        .targets = call->sources != NULL ? NULL : pointers + count,
                        .request = call->request};
    gather_rest(call, kinds, &rest);
    int result = settle_rest(connector, call, kinds);
    if (result >= 0 && rest.count > 0) {
        result = forward(connector, &rest);
    }
    for (size_t i = 0; i < count && result >= 0; i++) {
        if (is_done_alone(kinds[i])) {
            const struct call one = part_of(call, i);
            result = carry_out_one(connector, &one);
        }
    }
    return result;
}

static int
forward_settled(struct h5twin_vol_connector *connector, const struct call *call)
{
    return settle_rest(connector, call, NULL) < 0 ? -1 : forward(connector, call);
}

static int
carry_out_several(struct h5twin_vol_connector *connector, const struct call *call)
{
    const size_t count = call->count;
    enum kind *const kinds = calloc(count, sizeof *kinds);
    void **const pointers = calloc(2 * count, sizeof *pointers);
    h5twin_hid *const identifiers = calloc(3 * count, sizeof *identifiers);
    bool any_alone = false;
    if (kinds != NULL && pointers != NULL && identifiers != NULL && !has_one_twice(call)) {
        for (size_t i = 0; i < count; i++) {
            kinds[i] = is_other(connector, call, i) ? OTHER : take_over(connector, call, i, NULL);
            any_alone = any_alone || is_done_alone(kinds[i]);
        }
    }
    const int result = any_alone ? split(connector, call, kinds, pointers, identifiers)
                                 : forward_settled(connector, call);
    free(kinds);
    free(pointers);
    free(identifiers);
    return result;
}

static int
carry_out(const void *return_address, const struct call *call)
{
    struct h5twin_vol_connector *const connector = h5twin_vol_connector_of(return_address);
    if (connector == NULL) {
        return -1; /* no library has these callbacks without one */
    }
    if (busy_with != NULL || !connector->takes_over || call->count == 0) {
        return forward(connector, call);
    }
    if (call->count == 1) {
        return carry_out_one(connector, call);
    }
    /* With MPI, ranks that differ in what fits must still make the same calls. */
    return connector->get_mpio != NULL ? forward_settled(connector, call)
                                       : carry_out_several(connector, call);
}

static int
dataset_write(size_t count, void *datasets[], h5twin_hid mem_types[], h5twin_hid mem_spaces[],
              h5twin_hid file_spaces[], h5twin_hid dxpl, const void *buffers[], void **request)
{
    const struct call call = {.count = count,
                              .datasets = datasets,
                              .mem_types = mem_types,
                              .mem_spaces = mem_spaces,
                              .file_spaces = file_spaces,
                              .dxpl = dxpl,
                              .sources = buffers,
                              .request = request};
    return carry_out(__builtin_return_address(0), &call);
}

static int
dataset_read(size_t count, void *datasets[], h5twin_hid mem_types[], h5twin_hid mem_spaces[],
             h5twin_hid file_spaces[], h5twin_hid dxpl, void *buffers[], void **request)
{
    const struct call call = {.count = count,
                              .datasets = datasets,
                              .mem_types = mem_types,
                              .mem_spaces = mem_spaces,
                              .file_spaces = file_spaces,
                              .dxpl = dxpl,
                              .targets = buffers,
                              .request = request};
    return carry_out(__builtin_return_address(0), &call);
}

static int
dataset_close(void *dataset, h5twin_hid dxpl, void **request)
{
    struct h5twin_vol_connector *const connector =
        h5twin_vol_connector_of(__builtin_return_address(0));
    if (connector == NULL) {
        return -1;
    }
    if (busy_with == dataset) { /* the identifier of take_over */
        return 0;
    }
    if (!h5twin_vol_is_busy() && h5twin_held_close(connector, dataset) < 0) {
        return -1; /* what it held stays held */
    }
    h5twin_vol_notes_forget(&connector->notes, dataset);
    return connector->native->dataset.close(dataset, dxpl, request);
}

void
h5twin_vol_replace_dataset_calls(struct h5twin_vol_dataset_class *calls)
{
    calls->create = h5twin_vol_dataset_create;
    calls->read = dataset_read;
    calls->write = dataset_write;
    calls->close = dataset_close;
}
