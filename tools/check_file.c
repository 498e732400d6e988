/* SPDX-License-Identifier: BSD-3-Clause
 * check_file.c: `h5twin check`: the objects of a file, through all links but once, and chunks that
 * lie over each other. A link that cannot be followed is told, and the others are. */
#include "check.h"

#include "commands.h"
#include "posix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was seen, and what is to be seen ---- */

struct names {
    char **list;
    size_t count, capacity;
};

static bool
add_name(struct names *names, const char *group, const char *name)
{
    if (names->count == names->capacity) {
        const size_t capacity = names->capacity == 0 ? 16 : 2 * names->capacity;
        char **const more = realloc(names->list, capacity * sizeof *more);
        if (more == NULL) {
            return false;
        }
        names->list = more;
        names->capacity = capacity;
    }
    char *const full = malloc(strlen(group) + strlen(name) + 2);
    if (full == NULL) {
        return false;
    }
    sprintf(full, "%s/%s", strcmp(group, "/") == 0 ? "" : group, name);
    names->list[names->count++] = full;
    return true;
}

static void
free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free(names->list[i]);
    }
    free(names->list);
}

struct seen {
    haddr_t *addresses; /* ascending */
    size_t count, capacity;
};

/* Whether it is new; then it is no longer. */
static bool
is_new(struct seen *seen, haddr_t address, bool *out_of_memory)
{
    size_t low = 0, high = seen->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (seen->addresses[middle] < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < seen->count && seen->addresses[low] == address) {
        return false;
    }
    if (seen->count == seen->capacity) {
        const size_t capacity = seen->capacity == 0 ? 64 : 2 * seen->capacity;
        haddr_t *const more = realloc(seen->addresses, capacity * sizeof *more);
        if (more == NULL) {
            *out_of_memory = true;
            return false;
        }
        seen->addresses = more;
        seen->capacity = capacity;
    }
    memmove(seen->addresses + low + 1, seen->addresses + low,
            (seen->count - low) * sizeof *seen->addresses);
    seen->addresses[low] = address;
    seen->count++;
    return true;
}

/* ---- objects ---- */

struct visit {
    struct h5twin_check *check;
    hid_t file;
    unsigned long file_number;
    struct names groups, members; /* members: of the group that is looked at */
    const char *group;
    struct seen seen;
};

static void
look_at(struct h5twin_check *check, const char *name)
{
    snprintf(check->state->name, sizeof check->state->name, "%s", name);
    check->state->beats++;
}

static void
tell_finding(struct h5twin_check *check, const char *kind, const char *name, const char *cause)
{
    H5Eclear2(H5E_DEFAULT);
    h5twin_progress_clear(&check->progress);
    h5twin_check_tell(check->state, check->path, kind, name, NULL, h5twin_check_restore, "%s",
                      cause);
}

/* What a newer HDF5 wrote is no damage, but cannot be looked at. */
static void
tell_unopened(struct h5twin_check *check, const char *name)
{
    char why[H5TWIN_WHY_TEXT];
    h5twin_hdf5_why(why);
    h5twin_progress_clear(&check->progress);
    check->state->unknown += strstr(why, "version") != NULL;
    h5twin_check_tell(check->state, check->path,
                      strstr(why, "version") != NULL ? "unknown" : "dataset", name, NULL,
                      strstr(why, "version") != NULL
                          ? "look at it with a newer HDF5; if there is none that reads it, restore "
                            "the file from a copy"
                          : h5twin_check_restore,
                      "HDF5 cannot open it (%s)", why);
}

static void
visit_dataset(struct visit *visit, const char *name)
{
    struct h5twin_check *const check = visit->check;
    look_at(check, name);
    if (check->state->datasets++ < check->skipped) {
        return;
    }
    const hid_t dataset = H5Dopen2(visit->file, name, H5P_DEFAULT);
    if (dataset < 0) {
        tell_unopened(check, name);
    } else {
        h5twin_check_dataset(check, dataset, name);
        H5Dclose(dataset);
    }
}

static herr_t
take_member(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
    struct visit *const visit = data;
    (void)group;
    visit->check->state->beats++;
    if (info->type == H5L_TYPE_HARD || info->type == H5L_TYPE_SOFT) {
        return add_name(&visit->members, visit->group, name) ? 0 : -1;
    }
    return 0; /* into another file, which is checked on its own */
}

/* A soft link to nothing is no damage. */
static bool
is_soft(const struct visit *visit, const char *name)
{
    H5L_info_t info;
    const bool soft =
        H5Lget_info(visit->file, name, &info, H5P_DEFAULT) >= 0 && info.type != H5L_TYPE_HARD;
    H5Eclear2(H5E_DEFAULT);
    return soft;
}

static void
visit_member(struct visit *visit, const char *name)
{
    struct h5twin_check *const check = visit->check;
    H5O_info_t info;
    look_at(check, name);
    if (H5Oget_info_by_name2(visit->file, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
        H5Eclear2(H5E_DEFAULT);
        if (!is_soft(visit, name)) {
            tell_finding(check, "object", name, "the header of this object cannot be read");
        }
        return;
    }
    if (info.fileno != visit->file_number ||
        !is_new(&visit->seen, info.addr, &check->out_of_memory)) {
        return;
    }
    if (info.type == H5O_TYPE_DATASET) {
        visit_dataset(visit, name);
    } else if (info.type == H5O_TYPE_GROUP) {
        check->out_of_memory = !add_name(&visit->groups, name, "") || check->out_of_memory;
    }
}

static void
visit_group(struct visit *visit, const char *name)
{
    struct h5twin_check *const check = visit->check;
    hsize_t next = 0;
    look_at(check, name);
    visit->members.count = 0;
    visit->group = name;
    const hid_t group = H5Gopen2(visit->file, name, H5P_DEFAULT);
    if (group < 0 || H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &next, take_member, visit) < 0) {
        tell_finding(check, "group", name, "the list of its members cannot be read as a whole");
    }
    H5Gclose(group);
    H5Eclear2(H5E_DEFAULT);
    for (size_t i = 0; i < visit->members.count; i++) {
        visit_member(visit, visit->members.list[i]);
        free(visit->members.list[i]);
    }
    visit->members.count = 0;
}

static void
visit_all(struct h5twin_check *check, hid_t file)
{
    struct visit visit = {.check = check, .file = file};
    H5O_info_t root;
    if (H5Oget_info2(file, &root, H5O_INFO_BASIC) < 0) {
        tell_finding(check, "group", "/", "the header of the root group cannot be read");
        return;
    }
    visit.file_number = root.fileno;
    is_new(&visit.seen, root.addr, &check->out_of_memory);
    visit_group(&visit, "/");
    for (size_t i = 0; i < visit.groups.count; i++) { /* which makes more of them */
        char *const name = visit.groups.list[i];
        name[strlen(name) - 1] = '\0'; /* a slash at the end */
        visit_group(&visit, name);
    }
    free_names(&visit.groups);
    free_names(&visit.members);
    free(visit.seen.addresses);
}

/* ---- chunks over each other ---- */

static int
compare_extents(const void *left, const void *right)
{
    const struct h5twin_check_extent *const a = left, *const b = right;
    return (a->address > b->address) - (a->address < b->address);
}

static void
place_of(const struct h5twin_check *check, const struct h5twin_check_extent *extent,
         struct h5twin_check_place *place)
{
    const struct h5twin_check_grid *const grid = &check->grids[extent->dataset];
    hsize_t rest = extent->place;
    *place = (struct h5twin_check_place){
        .rank = grid->rank, .has_address = true, .address = extent->address};
    for (int axis = grid->rank; axis-- > 0;) {
        place->offset[axis] = rest % grid->grid[axis] * grid->extents[axis];
        rest /= grid->grid[axis];
    }
}

static void
find_overlaps(struct h5twin_check *check)
{
    if (check->extent_count > 0) {
        qsort(check->extents, check->extent_count, sizeof check->extents[0], compare_extents);
    }
    size_t farthest = 0; /* of those before, the one that ends last */
    for (size_t i = 1; i < check->extent_count; i++) {
        const struct h5twin_check_extent *const before = &check->extents[farthest];
        const struct h5twin_check_extent *const extent = &check->extents[i];
        if (extent->address < before->address + before->size) {
            struct h5twin_check_place place, other;
            char text[H5TWIN_CHECK_RANK * 21] = "";
            size_t length = 0;
            place_of(check, extent, &place);
            place_of(check, before, &other);
            for (int axis = 0; axis < other.rank; axis++) {
                length += (size_t)snprintf(text + length, sizeof text - length, "%s%llu",
                                           axis == 0 ? "" : ",", other.offset[axis]);
            }
            h5twin_check_tell(check->state, check->path, "overlap",
                              check->grids[extent->dataset].name, &place, h5twin_check_restore,
                              "its bytes are also those of chunk %s of %s", text,
                              check->grids[before->dataset].name);
        }
        if (extent->address + extent->size > before->address + before->size) {
            farthest = i;
        }
    }
}

/* ---- all together ---- */

static void
measure(struct h5twin_check *check)
{
    struct stat status;
    check->file_size = fstat(check->file, &status) == 0 ? (uint64_t)status.st_size : 0;
    h5twin_progress_begin(&check->progress, !check->args->quiet && !check->args->json);
    check->progress.total = check->file_size;
}

int
h5twin_check_file(struct h5twin_check *check)
{
    look_at(check, "");
    check->file = open(check->path, O_RDONLY | O_CLOEXEC);
    if (check->file < 0) {
        h5twin_fail("%s cannot be read: %s.", check->path, strerror(errno));
        return H5TWIN_EXIT_USAGE;
    }
    measure(check);
    const hid_t file = h5twin_hdf5_open_silently(check->path);
    if (file < 0) {
        close(check->file);
        char why[H5TWIN_WHY_TEXT] = "";
        if (!h5twin_hdf5_is_here()) {
            return H5TWIN_EXIT_USAGE; /* after a message */
        }
        h5twin_hdf5_why(why);
        if (strstr(why, "unable to lock") != NULL) {
            h5twin_fail("%s cannot be opened: %s.", check->path, why);
            return H5TWIN_EXIT_USAGE;
        }
        h5twin_check_tell(check->state, check->path, "file", "", NULL, h5twin_check_restore,
                          "HDF5 cannot open it: %s", why);
        return H5TWIN_EXIT_OK;
    }
    visit_all(check, file);
    find_overlaps(check);
    h5twin_progress_clear(&check->progress);
    look_at(check, "");
    for (size_t i = 0; i < check->grid_count; i++) {
        free(check->grids[i].name);
    }
    free(check->grids);
    free(check->extents);
    H5Fclose(file);
    close(check->file);
    if (check->out_of_memory) {
        h5twin_fail("%s: there was no memory to look at all of it.", check->path);
        return H5TWIN_EXIT_USAGE;
    }
    return H5TWIN_EXIT_OK;
}
