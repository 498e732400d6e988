/* SPDX-License-Identifier: BSD-3-Clause
 * held_rows.c: see held_rows.h. */
#include "held_rows.h"

#include "byte_limit.h"
#include "connector.h"
#include "dataset_calls.h"
#include "held_box.h"
#include "log_line.h"
#include "native_questions.h"
#include "selection.h"
#include "verbose.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#    define PROCESS_ID 0L /* no forks */
#else
#    include <unistd.h>
#    define PROCESS_ID ((long)getpid())
#endif

#define LOG_VARIABLE "H5TWIN_VOL_LOG"

_Static_assert(H5TWIN_HELD_RANK >= H5TWIN_MAX_DIMS, "as many dims as HDF5 has");

/* One dataset that rows were held of. */
struct h5twin_held {
    struct h5twin_vol_identity identity;
    void *through;    /* the handle that wrote last */
    bool is_orphaned; /* the program has closed it, which failed: it is ours to close */
    long process;
    h5twin_hid mem_type;                  /* of the values; 0: none yet */
    uint64_t chunk[H5TWIN_HELD_RANK];     /* elements */
    uint64_t dims[H5TWIN_HELD_RANK];      /* at the last write */
    uint64_t most_dims[H5TWIN_HELD_RANK]; /* UINT64_MAX: no limit */
    struct h5twin_held_box box;
    size_t room; /* bytes of box.values */
    struct h5twin_held *next;
};

/* ---- memory ---- */

static atomic_size_t used_bytes; /* of all libraries */

static void
give_room_back(struct h5twin_held *held)
{
    free(held->box.values);
    held->box.values = NULL;
    atomic_fetch_sub(&used_bytes, held->room);
    held->room = 0;
}

static bool
take_room(struct h5twin_held *held, size_t size)
{
    if (held->room == size && held->box.values != NULL) {
        return true;
    }
    give_room_back(held);
    const size_t limit = h5twin_byte_limit("H5TWIN_HELD_BYTES", H5TWIN_HELD_BYTES);
    size_t used = atomic_load(&used_bytes);
    do {
        if (size > limit || used > limit - size) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&used_bytes, &used, used + size));
    held->room = size;
    held->box.values = malloc(size);
    if (held->box.values == NULL) {
        give_room_back(held);
    }
    return held->box.values != NULL;
}

/* That of other datasets, too, which hold nothing just now. */
static bool
find_room(struct h5twin_held_rows *rows, struct h5twin_held *held, size_t size)
{
    if (take_room(held, size)) {
        return true;
    }
    for (struct h5twin_held *other = rows->first; other != NULL; other = other->next) {
        if (other->box.piece_count == 0) {
            give_room_back(other);
        }
    }
    return take_room(held, size);
}

/* ---- what is held ---- */

static void
set_empty(struct h5twin_held_rows *rows, struct h5twin_held *held)
{
    if (held->box.piece_count != 0) {
        held->box.piece_count = 0;
        atomic_fetch_sub(&rows->count, 1);
    }
}

/* The lock, and in a forked child nothing that the parent has held. */
static void
enter(struct h5twin_held_rows *rows)
{
    pthread_mutex_lock(&rows->lock);
    const long process = PROCESS_ID;
    for (struct h5twin_held *held = rows->first; held != NULL; held = held->next) {
        if (held->process != process) {
            set_empty(rows, held);
            held->process = process;
        }
    }
}

static bool
is_terminating(const struct h5twin_held_rows *rows)
{
    bool answer = false;
    return rows->is_terminating != NULL && rows->is_terminating(&answer) >= 0 && answer;
}

static void
describe_failure(const struct h5twin_held *held, const char *name, char *text, size_t capacity)
{
    int length = snprintf(text, capacity,
                          "Rows of dataset \"%s\" that were held (append=hold) could not be "
                          "written to the chunk at ",
                          name);
    for (unsigned axis = 0; axis < held->box.rank && length > 0 && (size_t)length < capacity;
         axis++) {
        length += snprintf(text + length, capacity - (size_t)length, "%s%" PRIu64,
                           axis == 0 ? "" : ",", held->box.region.start[axis]);
    }
    if (length > 0 && (size_t)length < capacity) {
        snprintf(text + length, capacity - (size_t)length,
                 ": they are still held; remove the cause, such as a full disk, and flush the "
                 "file.");
    }
}

/* HDF5's errors are on the stack; add which rows they are about. */
static void
report_failure(struct h5twin_vol_connector *connector, const struct h5twin_held *held,
               h5twin_hid *failure)
{
    char name[1024], text[2048];
    *failure = connector->functions.H5Eget_current_stack();
    h5twin_vol_object_name(connector, held->through, H5TWIN_HDF5_ID_DATASET,
                           H5TWIN_HDF5_DEFAULT_LIST, name, sizeof name);
    describe_failure(held, name, text, sizeof text);
    if (*failure >= 0) {
        connector->functions.H5Eset_current_stack(*failure);
    }
    h5twin_hdf5_push_error(connector->hdf5, "h5twin_held_rows", "vol", text);
    h5twin_verbose_print("vol", text);
    *failure = connector->functions.H5Eget_current_stack();
}

static void
note_in_log(const struct h5twin_vol_connector *connector, const struct h5twin_held *held,
            bool is_on_all_cores, const char *why)
{
    char file[1024], name[1024];
    if (!h5twin_log_is_wanted(LOG_VARIABLE)) {
        return;
    }
    h5twin_vol_file_name(connector, held->through, H5TWIN_HDF5_ID_DATASET, H5TWIN_HDF5_DEFAULT_LIST,
                         file, sizeof file);
    h5twin_vol_object_name(connector, held->through, H5TWIN_HDF5_ID_DATASET,
                           H5TWIN_HDF5_DEFAULT_LIST, name, sizeof name);
    const char *const columns[] = {file, name, "write held",
                                   is_on_all_cores ? "on all cores" : "by HDF5", why};
    h5twin_log_line(LOG_VARIABLE, columns, sizeof columns / sizeof columns[0]);
}

static bool
write_piece(const struct h5twin_vol_connector *connector, const struct h5twin_held *held,
            h5twin_hid dataset, h5twin_hid file, h5twin_hid memory,
            const struct h5twin_held_extent *piece)
{
    const struct h5twin_hdf5 *const hdf5 = connector->hdf5;
    uint64_t start[H5TWIN_HELD_RANK];
    const char *why = NULL;
    for (unsigned axis = 0; axis < held->box.rank; axis++) {
        start[axis] = piece->start[axis] - held->box.region.start[axis];
    }
    if (hdf5->H5Sselect_hyperslab(file, H5TWIN_HDF5_SELECT_SET, piece->start, NULL, piece->count,
                                  NULL) < 0 ||
        hdf5->H5Sselect_hyperslab(memory, H5TWIN_HDF5_SELECT_SET, start, NULL, piece->count, NULL) <
            0) {
        return false;
    }
    const struct h5twin_dataset_request request = {.dataset = dataset,
                                                   .mem_type = held->mem_type,
                                                   .mem_space = memory,
                                                   .file_space = file,
                                                   .dxpl = H5TWIN_HDF5_DEFAULT_LIST};
    const enum h5twin_dataset_outcome outcome =
        h5twin_dataset_write(hdf5, &request, held->box.values, &why);
    note_in_log(connector, held, outcome == H5TWIN_DATASET_DONE, why);
    return outcome == H5TWIN_DATASET_DONE ||
           (outcome == H5TWIN_DATASET_NATIVE &&
            hdf5->H5Dwrite(dataset, held->mem_type, memory, file, H5TWIN_HDF5_DEFAULT_LIST,
                           held->box.values) >= 0);
}

/* Write all that is held of a dataset. If that fails it is still held, but for pieces before, which
 * are written again; HDF5's errors are on the stack. */
static bool
drain(struct h5twin_vol_connector *connector, struct h5twin_held *held)
{
    const struct h5twin_vol_hdf5 *const functions = &connector->functions;
    const struct h5twin_hdf5 *const hdf5 = connector->hdf5;
    struct h5twin_vol_errors errors;
    h5twin_hid failure = -1;
    if (held->box.piece_count == 0) {
        return true;
    }
    h5twin_vol_errors_hold(functions, &errors);
    const void *const before = h5twin_vol_set_busy(held->through);
    const h5twin_hid dataset = functions->H5VLwrap_register(held->through, H5TWIN_HDF5_ID_DATASET);
    const h5twin_hid file = dataset < 0 ? -1 : hdf5->H5Dget_space(dataset);
    const h5twin_hid memory =
        hdf5->H5Screate_simple((int)held->box.rank, held->box.region.count, NULL);
    bool is_done = file >= 0 && memory >= 0;
    for (size_t i = 0; i < held->box.piece_count && is_done; i++) {
        is_done = write_piece(connector, held, dataset, file, memory, &held->box.pieces[i]);
    }
    if (!is_done) {
        report_failure(connector, held, &failure);
    }
    if (file >= 0) {
        hdf5->H5Sclose(file);
    }
    if (memory >= 0) {
        hdf5->H5Sclose(memory);
    }
    if (dataset >= 0) {
        functions->H5Idec_ref(dataset);
    }
    h5twin_vol_set_busy(before);
    h5twin_vol_errors_release(functions, &errors, failure);
    if (is_done || is_terminating(&connector->held)) { /* nobody can try again */
        set_empty(&connector->held, held);
        return true;
    }
    return false;
}

static void
close_orphan(const struct h5twin_vol_connector *connector, struct h5twin_held *held)
{
    connector->native->dataset.close(held->through, H5TWIN_HDF5_DEFAULT_LIST, NULL);
    held->is_orphaned = false;
    held->through = NULL;
}

/* ---- settling ---- */

bool
h5twin_held_rows_init(struct h5twin_held_rows *rows, struct h5twin_hdf5 *hdf5)
{
    void *symbol = h5twin_hdf5_symbol(hdf5, "H5Tcopy");
    memcpy(&rows->copy_type, &symbol, sizeof symbol);
    symbol = h5twin_hdf5_symbol(hdf5, "H5Pget_type_conv_cb");
    memcpy(&rows->get_conversion, &symbol, sizeof symbol);
    symbol = h5twin_hdf5_symbol(hdf5, "H5is_library_terminating");
    memcpy(&rows->is_terminating, &symbol, sizeof symbol);
    rows->is_on = rows->copy_type != NULL && rows->get_conversion != NULL &&
                  hdf5->has[H5TWIN_HDF5_PROPERTIES] && hdf5->has[H5TWIN_HDF5_TRANSFERS];
    return rows->is_on;
}

/* Whether a call has to look at what is held. */
static bool
is_asked(struct h5twin_vol_connector *connector)
{
    return !h5twin_vol_is_busy() && atomic_load(&connector->held.count) != 0;
}

enum scope { OF_DATASET, OF_FILE, OF_ALL };

static bool
is_of(const struct h5twin_held *held, enum scope scope, const struct h5twin_vol_identity *which)
{
    return scope == OF_ALL || (held->identity.file_number == which->file_number &&
                               (scope == OF_FILE || memcmp(held->identity.token, which->token,
                                                           sizeof which->token) == 0));
}

static int
settle(struct h5twin_vol_connector *connector, enum scope scope,
       const struct h5twin_vol_identity *which)
{
    int result = 0;
    enter(&connector->held);
    for (struct h5twin_held *held = connector->held.first; held != NULL; held = held->next) {
        if (!is_of(held, scope, which)) {
            continue;
        }
        if (!drain(connector, held)) {
            result = -1;
        } else if (held->is_orphaned) {
            close_orphan(connector, held);
        }
    }
    pthread_mutex_unlock(&connector->held.lock);
    return result;
}

/* What a handle reaches: itself, or of a virtual dataset anything. */
static enum scope
reach(struct h5twin_vol_connector *connector, void *dataset, h5twin_hid dxpl,
      struct h5twin_vol_identity *identity)
{
    struct h5twin_vol_note note = {.dataset = dataset};
    struct h5twin_vol_errors errors;
    h5twin_vol_errors_hold(&connector->functions, &errors);
    const bool is_virtual = h5twin_vol_notes_find(&connector->notes, &note)
                                ? note.is_virtual
                                : h5twin_vol_is_virtual(connector, dataset, dxpl);
    const bool is_known = h5twin_vol_identity_of(connector, dataset, dxpl, identity);
    h5twin_vol_errors_release(&connector->functions, &errors, -1);
    return is_virtual || !is_known ? OF_ALL : OF_DATASET;
}

int
h5twin_held_settle(struct h5twin_vol_connector *connector, void *dataset, h5twin_hid dxpl)
{
    struct h5twin_vol_identity identity;
    if (!is_asked(connector)) {
        return 0;
    }
    const enum scope scope = reach(connector, dataset, dxpl, &identity);
    return settle(connector, scope, &identity);
}

int
h5twin_held_settle_all(struct h5twin_vol_connector *connector)
{
    return is_asked(connector) ? settle(connector, OF_ALL, NULL) : 0;
}

int
h5twin_held_settle_file(struct h5twin_vol_connector *connector, void *file, h5twin_hid dxpl)
{
    struct h5twin_vol_identity identity = {0};
    struct h5twin_vol_file_question question = {.what = H5TWIN_VOL_FILE_NUMBER,
                                                .answer.number = &identity.file_number};
    if (!is_asked(connector)) {
        return 0;
    }
    const bool is_known = connector->native->file.get(file, &question, dxpl, NULL) >= 0;
    return settle(connector, is_known ? OF_FILE : OF_ALL, &identity);
}

int
h5twin_held_settle_extent(struct h5twin_vol_connector *connector, void *dataset,
                          const uint64_t *dims, h5twin_hid dxpl)
{
    struct h5twin_vol_identity identity;
    int result = 0;
    if (!is_asked(connector)) {
        return 0;
    }
    const enum scope scope = reach(connector, dataset, dxpl, &identity);
    enter(&connector->held);
    for (struct h5twin_held *held = connector->held.first; held != NULL; held = held->next) {
        bool is_smaller = false;
        if (!is_of(held, scope, &identity)) {
            continue;
        }
        for (unsigned axis = 0; axis < held->box.rank && scope == OF_DATASET; axis++) {
            is_smaller = is_smaller || dims[axis] < held->dims[axis];
        }
        if (is_smaller && !drain(connector, held)) {
            result = -1;
        }
    }
    pthread_mutex_unlock(&connector->held.lock);
    return result;
}

static void
forget(struct h5twin_vol_connector *connector, struct h5twin_held *held)
{
    set_empty(&connector->held, held);
    give_room_back(held);
    if (held->mem_type > 0) {
        connector->hdf5->H5Tclose(held->mem_type);
    }
    free(held);
}

int
h5twin_held_close(struct h5twin_vol_connector *connector, const void *dataset)
{
    int result = 0;
    if (!connector->held.is_on) {
        return 0;
    }
    enter(&connector->held);
    for (struct h5twin_held **at = &connector->held.first; *at != NULL;) {
        struct h5twin_held *const held = *at;
        if (held->through != dataset) {
            at = &held->next;
        } else if (drain(connector, held)) {
            *at = held->next;
            forget(connector, held);
        } else {
            held->is_orphaned = true;
            result = -1;
            break;
        }
    }
    pthread_mutex_unlock(&connector->held.lock);
    return result;
}

bool
h5twin_held_is_holder(struct h5twin_vol_connector *connector, const void *dataset)
{
    struct h5twin_vol_note note = {.dataset = dataset};
    return connector->held.is_on && h5twin_vol_notes_find(&connector->notes, &note) &&
           note.may_hold;
}

/* ---- writing ---- */

static struct h5twin_held *
find_or_make(struct h5twin_held_rows *rows, const struct h5twin_vol_identity *identity)
{
    struct h5twin_held *held = rows->first;
    while (held != NULL && !is_of(held, OF_DATASET, identity)) {
        held = held->next;
    }
    if (held == NULL) {
        held = calloc(1, sizeof *held);
        if (held != NULL) {
            held->identity = *identity;
            held->process = PROCESS_ID;
            held->next = rows->first;
            rows->first = held;
        }
    }
    return held;
}

/* Of the dataset, once: its chunks and how far it may grow. */
static const char *
read_shape(const struct h5twin_vol_connector *connector, struct h5twin_held *held,
           h5twin_hid dataset, h5twin_hid space)
{
    const int rank = connector->hdf5->H5Sget_simple_extent_ndims(space);
    if (held->box.rank != 0) {
        return NULL;
    }
    const h5twin_hid dcpl = connector->functions.H5Dget_create_plist(dataset);
    const bool is_known =
        rank > 0 && rank <= H5TWIN_HELD_RANK && dcpl >= 0 &&
        connector->functions.H5Pget_chunk(dcpl, H5TWIN_HELD_RANK, held->chunk) == rank &&
        connector->hdf5->H5Sget_simple_extent_dims(space, NULL, held->most_dims) == rank;
    if (dcpl >= 0) {
        connector->functions.H5Pclose(dcpl);
    }
    held->box.rank = is_known ? (unsigned)rank : 0;
    return is_known ? NULL : "HDF5 does not tell how the dataset was created";
}

static const char *
check_list(const struct h5twin_vol_connector *connector, h5twin_hid dxpl)
{
    void *call = NULL, *context = NULL;
    if (dxpl == H5TWIN_HDF5_DEFAULT_LIST) {
        return NULL;
    }
    if (connector->hdf5->H5Pget_data_transform(dxpl, NULL, 0) > 0) {
        return "a data transform";
    }
    return connector->held.get_conversion(dxpl, &call, &context) < 0 || call != NULL
               ? "a conversion callback"
               : NULL;
}

static const char *
take_type(const struct h5twin_vol_connector *connector, struct h5twin_held *held, h5twin_hid type)
{
    const struct h5twin_hdf5 *const hdf5 = connector->hdf5;
    static const int elsewhere[] = {H5TWIN_HDF5_VARIABLE_LENGTH, H5TWIN_HDF5_REFERENCE,
                                    H5TWIN_HDF5_STRING}; /* maybe of variable length */
    for (unsigned i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
        if (hdf5->H5Tdetect_class(type, elsewhere[i]) != 0) {
            return "values of variable length";
        }
    }
    const h5twin_hid copy = connector->held.copy_type(type);
    const size_t size = hdf5->H5Tget_size(type);
    if (copy < 0 || size == 0) {
        return "HDF5 does not tell the type";
    }
    if (held->mem_type > 0) {
        hdf5->H5Tclose(held->mem_type);
    }
    held->mem_type = copy;
    held->box.element_size = size;
    return NULL;
}

struct row {
    struct h5twin_held_extent extent;
    const uint8_t *source; /* its first value */
    const uint64_t *strides;
    bool is_part; /* of what the program writes */
};

/* DONE, NOT with *why, or FAILED. */
static enum h5twin_held_outcome
hold(struct h5twin_vol_connector *connector, struct h5twin_held *held, uint64_t cache_bytes,
     const struct row *row, const char **why)
{
    struct h5twin_held_box *const box = &held->box;
    struct h5twin_held_extent region = {{0}, {0}};
    h5twin_held_region(box->rank, held->chunk, &row->extent, &region);
    if (box->piece_count != 0 && !h5twin_held_is_same(box->rank, &region, &box->region) &&
        !drain(connector, held)) {
        return H5TWIN_HELD_FAILED;
    }
    if (box->piece_count == 0) {
        box->region = region;
        const size_t size = h5twin_held_region_size(box);
        *why =
            size <= cache_bytes ? "HDF5's cache has room for its chunks"
            : !row->is_part && h5twin_held_covers(box->rank, &row->extent, &region, held->most_dims)
                ? "whole chunks"
            : !find_room(&connector->held, held, size) ? "more than H5TWIN_HELD_BYTES"
                                                       : NULL;
        if (*why != NULL) {
            return H5TWIN_HELD_NOT;
        }
    }
    const bool was_empty = box->piece_count == 0;
    if (!h5twin_held_put(box, &row->extent, row->source, row->strides)) {
        *why = "too many pieces";
        return H5TWIN_HELD_NOT;
    }
    if (was_empty) {
        atomic_fetch_add(&connector->held.count, 1);
    }
    return box->piece_count > 1 ||
                   !h5twin_held_covers(box->rank, &box->pieces[0], &box->region, held->most_dims) ||
                   drain(connector, held)
               ? H5TWIN_HELD_DONE
               : H5TWIN_HELD_FAILED;
}

/* A few rows on both sides of a chunk's end: in two parts. */
static enum h5twin_held_outcome
hold_parts(struct h5twin_vol_connector *connector, struct h5twin_held *held, uint64_t cache_bytes,
           struct row *row, const char **why)
{
    const unsigned rank = held->box.rank;
    for (unsigned axis = 0; axis < rank; axis++) {
        const uint64_t chunk = held->chunk[axis], start = row->extent.start[axis];
        const uint64_t count = row->extent.count[axis], before = chunk - start % chunk;
        if (count > chunk || before >= count) {
            continue;
        }
        row->is_part = true;
        row->extent.count[axis] = before;
        const enum h5twin_held_outcome outcome = hold(connector, held, cache_bytes, row, why);
        if (outcome != H5TWIN_HELD_DONE) {
            return outcome;
        }
        row->source += (size_t)(before * row->strides[axis]) * held->box.element_size;
        row->extent.start[axis] = start + before;
        row->extent.count[axis] = count - before;
        break;
    }
    return hold(connector, held, cache_bytes, row, why);
}

/* What the program asks for, as a row. */
static enum h5twin_held_outcome
write_row(struct h5twin_vol_connector *connector, struct h5twin_held *held, uint64_t cache_bytes,
          const struct h5twin_dataset_request *request, const void *buffer, const char **why)
{
    const struct h5twin_hdf5 *const hdf5 = connector->hdf5;
    struct h5twin_selection selection;
    const h5twin_hid space = hdf5->H5Dget_space(request->dataset);
    if (space < 0) {
        *why = "HDF5 does not tell how the dataset was created";
        return H5TWIN_HELD_NOT;
    }
    *why = read_shape(connector, held, request->dataset, space);
    if (*why == NULL) {
        *why = check_list(connector, request->dxpl);
    }
    if (*why == NULL) {
        *why = h5twin_selection_read(hdf5, space, request, &selection);
    }
    hdf5->H5Sclose(space);
    if (*why != NULL) {
        return H5TWIN_HELD_NOT;
    }
    memcpy(held->dims, selection.file.dims, sizeof held->dims);
    if (held->mem_type <= 0 || hdf5->H5Tequal(held->mem_type, request->mem_type) <= 0) {
        if (!drain(connector, held)) {
            return H5TWIN_HELD_FAILED;
        }
        *why = take_type(connector, held, request->mem_type);
        if (*why != NULL) {
            return H5TWIN_HELD_NOT;
        }
    }
    struct row row = {.strides = selection.stride,
                      .source = (const uint8_t *)buffer +
                                (size_t)selection.first * held->box.element_size};
    memcpy(row.extent.start, selection.file.start, sizeof row.extent.start);
    memcpy(row.extent.count, selection.file.count, sizeof row.extent.count);
    return hold_parts(connector, held, cache_bytes, &row, why);
}

enum h5twin_held_outcome
h5twin_held_write(struct h5twin_vol_connector *connector, const struct h5twin_vol_note *note,
                  void *dataset, const struct h5twin_dataset_request *request, const void *buffer,
                  const char **why)
{
    enter(&connector->held);
    struct h5twin_held *const held = find_or_make(&connector->held, &note->identity);
    enum h5twin_held_outcome outcome = H5TWIN_HELD_NOT;
    if (held != NULL) {
        if (held->is_orphaned && !drain(connector, held)) {
            pthread_mutex_unlock(&connector->held.lock);
            return H5TWIN_HELD_FAILED;
        }
        if (held->is_orphaned) {
            close_orphan(connector, held);
        }
        if (held->box.piece_count == 0) {
            held->through = dataset;
        }
        outcome = write_row(connector, held, note->cache_bytes, request, buffer, why);
        if (outcome == H5TWIN_HELD_NOT && !drain(connector, held)) {
            outcome = H5TWIN_HELD_FAILED;
        }
        held->through = dataset;
    }
    pthread_mutex_unlock(&connector->held.lock);
    return outcome;
}
