/* SPDX-License-Identifier: BSD-3-Clause
 * checkpoint.c: a folder of checkpoints: open and close it, commit, prune; see h5twin_checkpoint.h.
 */
#include "checkpoint.h"

#include <h5twin_hdf5.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
h5twin_checkpoint_options_init(struct h5twin_checkpoint_options *options)
{
    *options = (struct h5twin_checkpoint_options){.size = sizeof *options, .keep = 3, .xdmf = true};
}

/* ---- open and close ---- */

static char *
copy_text(const char *text)
{
    char *const copy = malloc(strlen(text) + 1);
    return copy == NULL ? NULL : strcpy(copy, text);
}

/* What the caller gave, as far as it knew of it, and what stands for the rest. */
static bool
take_options(struct h5twin_checkpoints *checkpoints, const char *folder,
             const struct h5twin_checkpoint_options *given)
{
    struct h5twin_checkpoint_options *const options = &checkpoints->options;
    h5twin_checkpoint_options_init(options);
    if (given != NULL) {
        memcpy(options, given, given->size < sizeof *options ? given->size : sizeof *options);
    }
    checkpoints->team =
        options->team == NULL ? (struct h5twin_checkpoint_team){.size = 1} : *options->team;
    options->team = NULL;
    checkpoints->path = copy_text(folder);
    checkpoints->name = copy_text(options->name == NULL ? "checkpoint" : options->name);
    checkpoints->spec = copy_text(options->spec == NULL ? "cascade" : options->spec);
    checkpoints->folder = (struct folder){.path = checkpoints->path, .name = checkpoints->name};
    if (checkpoints->team.size > 1 && checkpoints->team.rank == 0) {
        const size_t processes = (size_t)checkpoints->team.size;
        checkpoints->notices = malloc(processes * sizeof *checkpoints->notices);
        checkpoints->part_sizes = malloc(processes * sizeof *checkpoints->part_sizes);
        if (checkpoints->notices == NULL || checkpoints->part_sizes == NULL) {
            return false;
        }
    }
    return checkpoints->path != NULL && checkpoints->name != NULL && checkpoints->spec != NULL;
}

/* Process 0 of those that write. */
static bool
prepare_folder(struct h5twin_checkpoints *checkpoints)
{
    struct store_error error = {.step = NULL};
    if (!h5twin_folder_make(checkpoints->path, &error)) {
        h5twin_checkpoint_fail_store(checkpoints, &error, checkpoints->path);
        return false;
    }
    checkpoints->lock = h5twin_folder_lock(&checkpoints->folder, &error);
    if (checkpoints->lock < 0 && error.code == EWOULDBLOCK) {
        h5twin_checkpoint_fail(
            checkpoints,
            "Another program writes checkpoints named %s in %s: wait for its end, or choose "
            "another folder or name.",
            checkpoints->name, checkpoints->path);
        return false;
    }
    if (checkpoints->lock < 0) {
        h5twin_checkpoint_fail_store(checkpoints, &error, checkpoints->path);
        return false;
    }
    h5twin_folder_clean(&checkpoints->folder);
    return true;
}

static bool
is_valid(struct h5twin_checkpoints *checkpoints, const char *folder)
{
    if (folder[0] == '\0' || checkpoints->name[0] == '\0' ||
        strchr(checkpoints->name, '/') != NULL) {
        h5twin_checkpoint_fail(checkpoints,
                               "A folder of checkpoints needs a path, and a name without a '/'.");
        return false;
    }
    const struct h5twin_checkpoint_team *const team = &checkpoints->team;
    if (team->size < 1 || team->rank < 0 || team->rank >= team->size ||
        (team->size > 1 &&
         (team->maximum == NULL || team->broadcast == NULL || team->gather == NULL))) {
        h5twin_checkpoint_fail(checkpoints, "The team has no processes, or lacks a function.");
        return false;
    }
    if (!h5twin_checkpoint_is_zero(team->reserved)) {
        h5twin_checkpoint_fail(checkpoints, "The reserved words of the team are not 0: zero the "
                                            "whole structure before you set its members.");
        return false;
    }
    return true;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_open(struct h5twin_checkpoints **checkpoints, const char *folder,
                       const struct h5twin_checkpoint_options *options)
{
    struct h5twin_checkpoints *const made = calloc(1, sizeof *made);
    *checkpoints = made;
    if (made == NULL) {
        return H5TWIN_CHECKPOINT_FAILED;
    }
    made->lock = -1;
    made->team.size = 1;
    made->last_step = UINT64_MAX;
    made->draft = (struct draft){.master = H5I_INVALID_HID, .part = H5I_INVALID_HID};
    made->reading = (struct reading){.file = H5I_INVALID_HID, .hold = -1};
    clock_gettime(CLOCK_MONOTONIC, &made->last_time);
    const struct quiet before = h5twin_checkpoint_quiet();
    bool is_ok = folder != NULL && take_options(made, folder, options);
    if (!is_ok) {
        h5twin_checkpoint_fail(made, folder == NULL ? "A folder of checkpoints needs a path."
                                                    : "There is no memory for checkpoints.");
    }
    is_ok = is_ok && is_valid(made, folder);
    if (is_ok && made->options.policy != NULL) {
        char error[H5TWIN_POLICY_ERROR_SIZE];
        made->policy = h5twin_policy_open(made->options.policy, error);
        made->options.policy = NULL;
        if (made->policy == NULL) {
            h5twin_checkpoint_fail(made, "%s", error);
            is_ok = false;
        }
    }
    if (is_ok && h5twin_hdf5_register() < 0) {
        h5twin_checkpoint_fail_hdf5(made, "Cannot tell HDF5 of the filters");
        is_ok = false;
    }
    if (is_ok && made->team.rank == 0 && !made->options.read_only) {
        is_ok = prepare_folder(made);
    }
    made->is_usable = h5twin_checkpoint_agree(made, is_ok);
    h5twin_checkpoint_loud(before);
    return made->is_usable ? H5TWIN_CHECKPOINT_OK : H5TWIN_CHECKPOINT_FAILED;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_close(struct h5twin_checkpoints *checkpoints)
{
    if (checkpoints == NULL) {
        return H5TWIN_CHECKPOINT_OK;
    }
    const struct quiet before = h5twin_checkpoint_quiet();
    h5twin_checkpoint_abort(checkpoints);
    const enum h5twin_checkpoint_status status = h5twin_checkpoint_complete(checkpoints);
    h5twin_checkpoint_restart_end(checkpoints);
    if (checkpoints->lock >= 0) {
        close(checkpoints->lock);
    }
    if (checkpoints->team.release != NULL) {
        checkpoints->team.release(checkpoints->team.context);
    }
    h5twin_checkpoint_loud(before);
    free(checkpoints->notices);
    free(checkpoints->part_sizes);
    free(checkpoints->path);
    free(checkpoints->name);
    free(checkpoints->spec);
    h5twin_policy_close(checkpoints->policy);
    free(checkpoints);
    return status;
}

const char *
h5twin_checkpoint_message(const struct h5twin_checkpoints *checkpoints)
{
    return checkpoints == NULL ? "There is no memory for checkpoints." : checkpoints->message;
}

/* ---- when ---- */

bool
h5twin_checkpoint_is_due(struct h5twin_checkpoints *checkpoints, uint64_t step)
{
    const struct h5twin_checkpoint_options *const options = &checkpoints->options;
    uint8_t is_due = 0;
    if (checkpoints->team.rank == 0) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        const double seconds = (double)(now.tv_sec - checkpoints->last_time.tv_sec) +
                               1e-9 * (double)(now.tv_nsec - checkpoints->last_time.tv_nsec);
        const bool by_steps = options->every_steps > 0, by_time = options->every_seconds > 0;
        is_due = (!by_steps && !by_time) ||
                 (by_steps && step % options->every_steps == 0 && step != checkpoints->last_step) ||
                 (by_time && seconds >= options->every_seconds);
    }
    /* A team that fails here fails in begin, too, which has the message. */
    return h5twin_checkpoint_share(checkpoints, &is_due, sizeof is_due) ? is_due != 0 : true;
}

/* ---- commit ---- */

enum h5twin_checkpoint_status
h5twin_checkpoint_commit(struct h5twin_checkpoints *checkpoints)
{
    struct draft *const draft = &checkpoints->draft;
    if (!draft->is_open) {
        return h5twin_checkpoint_fail(
            checkpoints, "No checkpoint was begun: call h5twin_checkpoint_begin() first.");
    }
    const struct quiet before = h5twin_checkpoint_quiet();
    h5twin_checkpoint_draft_finish(checkpoints);
    if (draft->has_failed) {
        memcpy(checkpoints->message, draft->reason, sizeof checkpoints->message);
    }
    enum h5twin_checkpoint_status status = H5TWIN_CHECKPOINT_FAILED;
    clock_gettime(CLOCK_MONOTONIC, &checkpoints->last_time);
    if (h5twin_checkpoint_agree(checkpoints, !draft->has_failed) &&
        h5twin_checkpoint_agree(checkpoints, h5twin_checkpoint_save(checkpoints))) {
        status = checkpoints->options.background ? H5TWIN_CHECKPOINT_OK
                                                 : h5twin_checkpoint_complete(checkpoints);
    } else {
        h5twin_checkpoint_cancel_save(checkpoints);
        if (checkpoints->team.rank == 0) {
            h5twin_folder_discard(&checkpoints->folder, draft->serial);
        }
    }
    h5twin_checkpoint_draft_drop(checkpoints);
    h5twin_checkpoint_loud(before);
    return status;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_wait(struct h5twin_checkpoints *checkpoints)
{
    return h5twin_checkpoint_complete(checkpoints);
}

/* ---- prune ---- */

enum h5twin_checkpoint_status
h5twin_checkpoint_prune(struct h5twin_checkpoints *checkpoints, unsigned keep)
{
    if (!checkpoints->is_usable || checkpoints->options.read_only) {
        return h5twin_checkpoint_fail(checkpoints,
                                      "This folder was not opened for writing checkpoints.");
    }
    bool is_pruned = true;
    if (checkpoints->team.rank == 0) {
        struct store_error error = {.step = NULL};
        uint64_t *serials;
        size_t count;
        is_pruned = h5twin_folder_list(&checkpoints->folder, &serials, &count, &error);
        for (size_t i = keep == 0 ? 1 : keep; i < count && is_pruned; i++) {
            is_pruned = h5twin_folder_remove(&checkpoints->folder, serials[i], &error);
        }
        free(serials);
        if (!is_pruned) {
            h5twin_checkpoint_fail_store(checkpoints, &error, checkpoints->path);
        }
    }
    return h5twin_checkpoint_agree(checkpoints, is_pruned) ? H5TWIN_CHECKPOINT_OK
                                                           : H5TWIN_CHECKPOINT_FAILED;
}
