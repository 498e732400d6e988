/* SPDX-License-Identifier: BSD-3-Clause
 * save.c: from memory to the disk, and the moment at which a checkpoint is complete. */
#include "checkpoint.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* By a thread or not: POSIX alone. */
static void
write_files(struct saving *saving)
{
    if (saving->part_path != NULL) {
        saving->failed_path = saving->part_path;
        if (!h5twin_store_file(saving->part_path, saving->part.bytes, saving->part.size,
                               saving->verify, &saving->error)) {
            return;
        }
    }
    if (saving->xdmf_path != NULL) {
        saving->failed_path = saving->xdmf_path;
        if (!h5twin_store_file(saving->xdmf_path, (const uint8_t *)saving->xdmf,
                               strlen(saving->xdmf), saving->verify, &saving->error)) {
            return;
        }
    }
    if (saving->master_path != NULL) {
        saving->failed_path = saving->master_path;
        h5twin_store_file(saving->master_path, saving->master.bytes, saving->master.size,
                          saving->verify, &saving->error);
    }
}

static void *
thread_main(void *saving)
{
    write_files(saving);
    return NULL;
}

/* Signals are the program's: its threads handle them. */
static bool
start_thread(struct saving *saving)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) {
        return false;
    }
    const bool is_started = pthread_create(&saving->thread, NULL, thread_main, saving) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

static void
drop(struct saving *saving)
{
    h5twin_image_free(&saving->master);
    h5twin_image_free(&saving->part);
    free(saving->xdmf);
    free(saving->master_path);
    free(saving->part_path);
    free(saving->xdmf_path);
    *saving = (struct saving){.is_pending = false};
}

static bool
name_files(struct h5twin_checkpoints *checkpoints, struct saving *saving)
{
    const struct folder *const folder = &checkpoints->folder;
    bool is_named = true;
    if (checkpoints->team.size > 1) {
        saving->part_path = h5twin_folder_part(folder, saving->serial, checkpoints->team.rank);
        is_named = saving->part_path != NULL;
    }
    if (checkpoints->team.rank == 0) {
        saving->master_path = h5twin_folder_file(folder, saving->serial, FOLDER_TEMPORARY);
        is_named = is_named && saving->master_path != NULL;
        if (checkpoints->options.xdmf) {
            char *const master = h5twin_folder_file(folder, saving->serial, FOLDER_MASTER);
            saving->xdmf_path = h5twin_folder_file(folder, saving->serial, FOLDER_XDMF_TEMPORARY);
            saving->xdmf = master == NULL ? NULL
                                          : h5twin_checkpoint_xdmf(&checkpoints->draft,
                                                                   strrchr(master, '/') + 1);
            free(master);
            is_named = is_named && saving->xdmf_path != NULL && saving->xdmf != NULL;
        }
    }
    return is_named;
}

bool
h5twin_checkpoint_save(struct h5twin_checkpoints *checkpoints)
{
    struct draft *const draft = &checkpoints->draft;
    struct saving *const saving = &checkpoints->saving;
    saving->serial = draft->serial;
    saving->step = draft->step;
    saving->verify = checkpoints->options.verify;
    if (!name_files(checkpoints, saving)) {
        h5twin_checkpoint_fail(checkpoints, "There is no memory to write a checkpoint.");
        drop(saving);
        return false;
    }
    saving->master = draft->master_image;
    saving->part = draft->part_image;
    draft->master_image = (struct image){.bytes = NULL};
    draft->part_image = (struct image){.bytes = NULL};
    saving->is_pending = true;
    saving->has_thread = checkpoints->options.background && start_thread(saving);
    if (!saving->has_thread) {
        write_files(saving);
    }
    return true;
}

void
h5twin_checkpoint_cancel_save(struct h5twin_checkpoints *checkpoints)
{
    struct saving *const saving = &checkpoints->saving;
    if (saving->is_pending) {
        if (saving->has_thread) {
            pthread_join(saving->thread, NULL);
        }
        drop(saving);
    }
}

/* Process 0: new names, the one that counts last. */
static bool
publish(struct h5twin_checkpoints *checkpoints)
{
    const struct saving *const saving = &checkpoints->saving;
    const struct folder *const folder = &checkpoints->folder;
    char *const master = h5twin_folder_file(folder, saving->serial, FOLDER_MASTER);
    char *const xdmf = h5twin_folder_file(folder, saving->serial, FOLDER_XDMF);
    char *const parts = h5twin_folder_file(folder, saving->serial, FOLDER_PARTS);
    struct store_error error = {.step = "rename", .code = ENOMEM};
    const bool is_published =
        master != NULL && xdmf != NULL && parts != NULL &&
        (checkpoints->team.size == 1 || h5twin_store_sync_folder(parts, &error)) &&
        (saving->xdmf_path == NULL ||
         h5twin_store_rename(saving->xdmf_path, xdmf, folder->path, &error)) &&
        h5twin_store_rename(saving->master_path, master, folder->path, &error);
    if (!is_published) {
        h5twin_checkpoint_fail_store(checkpoints, &error, saving->master_path);
    }
    free(parts);
    free(xdmf);
    free(master);
    return is_published;
}

enum h5twin_checkpoint_status
h5twin_checkpoint_complete(struct h5twin_checkpoints *checkpoints)
{
    struct saving *const saving = &checkpoints->saving;
    if (!saving->is_pending) { /* in all processes, or in none */
        return H5TWIN_CHECKPOINT_OK;
    }
    const bool is_first = checkpoints->team.rank == 0;
    if (saving->has_thread) {
        pthread_join(saving->thread, NULL);
    }
    if (saving->error.step != NULL) {
        h5twin_checkpoint_fail_store(checkpoints, &saving->error, saving->failed_path);
    }
    bool is_complete = h5twin_checkpoint_agree(checkpoints, saving->error.step == NULL);
    if (is_complete) {
        is_complete = h5twin_checkpoint_agree(checkpoints, !is_first || publish(checkpoints));
    }
    if (!is_complete && is_first) {
        h5twin_folder_discard(&checkpoints->folder, saving->serial);
    }
    const uint64_t step = saving->step;
    drop(saving);
    if (!is_complete) {
        return H5TWIN_CHECKPOINT_FAILED;
    }
    checkpoints->last_step = step;
    return checkpoints->options.keep == 0
               ? H5TWIN_CHECKPOINT_OK
               : h5twin_checkpoint_prune(checkpoints, checkpoints->options.keep);
}
