/* SPDX-License-Identifier: BSD-3-Clause
 * checkpoint_folder.c: see checkpoint_folder.h. */
#include "checkpoint_folder.h"

#include "checkpoint.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_PATH 1024

struct entry {
    uint64_t step, serial;
};

struct list {
    struct entry *entries; /* newest first */
    size_t count, capacity;
};

void
checkpoint_folder_path(char *path, size_t capacity, const char *folder, uint64_t step)
{
    snprintf(path, capacity, "%s/checkpoint_%06" PRIu64 ".h5", folder, step);
}

static int
newest_first(const void *left, const void *right)
{
    const struct entry *const a = left, *const b = right;
    if (a->serial != b->serial) {
        return a->serial > b->serial ? -1 : 1;
    }
    return a->step > b->step ? -1 : a->step < b->step;
}

static bool
list_add(struct list *list, const struct entry *entry)
{
    if (list->count == list->capacity) {
        const size_t capacity = 2 * list->capacity + 8;
        struct entry *const larger = realloc(list->entries, capacity * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        list->entries = larger;
        list->capacity = capacity;
    }
    list->entries[list->count++] = *entry;
    return true;
}

/* The complete checkpoints, as far as memory goes; the caller frees the entries. */
static struct list
list_make(const char *folder)
{
    struct list list = {.entries = NULL};
    DIR *const names = opendir(folder);
    for (struct dirent *name; names != NULL && (name = readdir(names)) != NULL;) {
        struct entry entry;
        char path[MAX_PATH];
        int end = 0;
        if (sscanf(name->d_name, "checkpoint_%" SCNu64 ".h5%n", &entry.step, &end) != 1 ||
            end == 0 || name->d_name[end] != '\0') {
            continue;
        }
        checkpoint_folder_path(path, sizeof path, folder, entry.step);
        if (checkpoint_serial(path, &entry.serial) == 0 && !list_add(&list, &entry)) {
            break;
        }
    }
    if (names != NULL) {
        closedir(names);
    }
    if (list.count > 0) {
        qsort(list.entries, list.count, sizeof list.entries[0], newest_first);
    }
    return list;
}

size_t
checkpoint_folder_count(const char *folder)
{
    const struct list list = list_make(folder);
    free(list.entries);
    return list.count;
}

bool
checkpoint_folder_holds(const char *folder, const char *path)
{
    const char *const slash = strrchr(path, '/');
    char same_name[MAX_PATH];
    struct stat there, here;
    snprintf(same_name, sizeof same_name, "%s/%s", folder, slash == NULL ? path : slash + 1);
    return stat(path, &there) == 0 && stat(same_name, &here) == 0 && there.st_dev == here.st_dev &&
           there.st_ino == here.st_ino;
}

uint64_t
checkpoint_folder_newest(const char *folder)
{
    const struct list list = list_make(folder);
    const uint64_t newest = list.count == 0 ? 0 : list.entries[0].serial;
    free(list.entries);
    return newest;
}

int
checkpoint_folder_restart(const char *folder, struct gray_scott *sim, char *path, size_t capacity)
{
    const struct list list = list_make(folder);
    int status = -1;
    for (size_t i = 0; i < list.count && status != 0; i++) {
        checkpoint_folder_path(path, capacity, folder, list.entries[i].step);
        status = checkpoint_restart(path, sim); /* says so if it is damaged */
    }
    free(list.entries);
    if (status != 0) {
        fprintf(stderr, "%s has no checkpoint to go on from\n", folder);
    }
    return status;
}

void
checkpoint_folder_prune(const char *folder, size_t keep)
{
    const struct list list = list_make(folder);
    for (size_t i = keep; i < list.count; i++) {
        char path[MAX_PATH];
        checkpoint_folder_path(path, sizeof path, folder, list.entries[i].step);
        remove(path);
    }
    free(list.entries);
}
