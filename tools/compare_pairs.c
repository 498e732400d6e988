/* SPDX-License-Identifier: BSD-3-Clause
 * compare_pairs.c: see compare_pairs.h.
 *
 * Pairs are found again by either object: those whose key has the same hash are a chain, from
 * heads[which] by next[which], newest first. */
#include "compare_pairs.h"

#include "commands.h"
#include "files.h"
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

/* ---- the list ---- */

static bool
same_keys(const struct h5twin_object_key *key, const struct h5twin_object_key *other)
{
    return key->file == other->file && key->address == other->address;
}

/* How many pairs there is room for: a power of two, and as many chains. */
static size_t
room_of(size_t count)
{
    size_t room = 64;
    while (room < count) {
        room *= 2;
    }
    return room;
}

static size_t *
head_of(const struct h5twin_pairs *pairs, int which, const struct h5twin_object_key *key)
{
    const uint64_t hash =
        (key->address * UINT64_C(0x9E3779B97F4A7C15) + key->file) * UINT64_C(0xFF51AFD7ED558CCD);
    return &pairs->heads[which][(hash >> 32) & (room_of(pairs->count) - 1)];
}

static size_t
find(const struct h5twin_pairs *pairs, int which, const struct h5twin_object_key *key, size_t at)
{
    while (at != NONE && ((which == 1 && pairs->list[at].is_missing) ||
                          !same_keys(&pairs->list[at].keys[which], key))) {
        at = pairs->list[at].next[which];
    }
    return at;
}

static size_t
find_first(const struct h5twin_pairs *pairs, int which, const struct h5twin_object_key *key)
{
    return pairs->count == 0 ? NONE : find(pairs, which, key, *head_of(pairs, which, key));
}

/* NONE, or the pair of both; other is NULL for what is missing. */
static size_t
find_both(const struct h5twin_pairs *pairs, const struct h5twin_object_key *key,
          const struct h5twin_object_key *other)
{
    size_t at = find_first(pairs, 0, key);
    while (at != NONE && (pairs->list[at].is_missing != (other == NULL) ||
                          (other != NULL && !same_keys(&pairs->list[at].keys[1], other)))) {
        at = find(pairs, 0, key, pairs->list[at].next[0]);
    }
    return at;
}

static void
link_pair(struct h5twin_pairs *pairs, size_t at)
{
    for (int which = 0; which < 2; which++) {
        size_t *const head = head_of(pairs, which, &pairs->list[at].keys[which]);
        pairs->list[at].next[which] = *head;
        *head = at;
    }
}

/* Room for one more. */
static bool
grow(struct h5twin_pairs *pairs)
{
    const size_t room = room_of(pairs->count + 1);
    if (pairs->list != NULL && room == room_of(pairs->count)) {
        pairs->count++;
        return true;
    }
    struct h5twin_pair *const list = realloc(pairs->list, room * sizeof pairs->list[0]);
    pairs->list = list == NULL ? pairs->list : list;
    bool grown = list != NULL;
    for (int which = 0; which < 2; which++) {
        size_t *const heads = realloc(pairs->heads[which], room * sizeof heads[0]);
        pairs->heads[which] = heads == NULL ? pairs->heads[which] : heads;
        grown = grown && heads != NULL;
        for (size_t i = 0; grown && i < room; i++) {
            heads[i] = NONE;
        }
    }
    pairs->count += grown;
    for (size_t i = 0; grown && i + 1 < pairs->count; i++) {
        link_pair(pairs, i);
    }
    return grown;
}

/* Takes pair->name. */
static bool
add(struct h5twin_pairs *pairs, const struct h5twin_pair *pair)
{
    const bool is_first = find_first(pairs, 0, &pair->keys[0]) == NONE;
    if (!grow(pairs)) {
        free(pair->name);
        h5twin_fail("there is no memory for the names of the objects.");
        return false;
    }
    pairs->list[pairs->count - 1] = *pair;
    pairs->list[pairs->count - 1].is_first = is_first;
    link_pair(pairs, pairs->count - 1);
    if (pair->is_missing) {
        h5twin_pairs_judge(pairs, pairs->count - 1, false);
    }
    return true;
}

/* ---- one object of each file ---- */

static bool
describe(hid_t object, struct h5twin_object_key *key, H5O_type_t *type)
{
    H5O_info_t info;
    if (object < 0 || H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0) {
        H5Eclear2(H5E_DEFAULT);
        return false;
    }
    *key = (struct h5twin_object_key){.file = info.fileno, .address = info.addr};
    *type = info.type;
    return true;
}

/* By an object in a file that a link led to. */
static bool
keep_open(struct h5twin_pairs *pairs, hid_t object, unsigned long number)
{
    bool known = number == pairs->numbers[0] || number == pairs->numbers[1];
    for (size_t i = 0; i < pairs->other_count && !known; i++) {
        known = number == pairs->others[i].number;
    }
    if (known) {
        return true;
    }
    void *const others = realloc(pairs->others, (pairs->other_count + 1) * sizeof pairs->others[0]);
    if (others == NULL) {
        return false;
    }
    pairs->others = others;
    pairs->others[pairs->other_count].number = number;
    pairs->others[pairs->other_count].object = object;
    pairs->other_count++;
    return H5Iinc_ref(object) > 0;
}

/* ---- walking ---- */

struct link {
    char *name;
    bool is_hard;
};

/* A group of the original that is being walked through. */
struct level {
    hid_t groups[2]; /* the second one is negative if it is missing */
    char *path;
    bool is_nameless, is_inside; /* both groups are in the files themselves, not behind a link */
    struct link *links;
    size_t link_count, next;
    struct level *parent;
};

static herr_t
take_link(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    struct level *const level = context;
    const size_t count = level->link_count;
    (void)group;
    if ((count & (count - 1)) == 0) {
        void *const more =
            realloc(level->links, (count == 0 ? 1 : 2 * count) * sizeof level->links[0]);
        if (more == NULL) {
            return -1;
        }
        level->links = more;
    }
    char *const copy = malloc(strlen(name) + 1);
    if (copy == NULL) {
        return -1;
    }
    strcpy(copy, name);
    level->links[level->link_count++] =
        (struct link){.name = copy, .is_hard = info->type == H5L_TYPE_HARD};
    return 0;
}

static void
leave(struct level *level)
{
    for (size_t i = 0; i < level->link_count; i++) {
        free(level->links[i].name);
    }
    free(level->links);
    free(level->path);
    for (int which = 0; which < 2; which++) {
        if (level->groups[which] >= 0) {
            H5Oclose(level->groups[which]);
        }
    }
    free(level);
}

/* Go into a group, whose identifiers the level takes over. */
static bool
enter(struct level **top, const struct h5twin_pairs *pairs, const struct h5twin_pair *pair,
      const hid_t groups[2])
{
    struct level *const level = malloc(sizeof *level);
    char *const path = malloc(strlen(pair->name) + 1);
    if (level == NULL || path == NULL) {
        free(level);
        free(path);
        return false;
    }
    strcpy(path, pair->name);
    *level = (struct level){.groups = {groups[0], groups[1]},
                            .path = path,
                            .is_nameless = pair->is_nameless,
                            .is_inside = pair->keys[0].file == pairs->numbers[0] &&
                                         pair->keys[1].file == pairs->numbers[1],
                            .parent = *top};
    *top = level;
    return H5Literate(groups[0], H5_INDEX_NAME, H5_ITER_INC, NULL, take_link, level) >= 0;
}

/* The name in the group as one in the file; NULL without memory. */
static char *
join(const char *group, const char *name)
{
    const size_t length = strlen(group);
    char *const path = malloc(length + strlen(name) + 2);
    if (path != NULL) {
        sprintf(path, "%s%s%s", group, length > 0 && group[length - 1] == '/' ? "" : "/", name);
    }
    return path;
}

/* Soft links, links to other files: the same text leads to objects that are compared under their
 * own names, or to other files. */
static bool
same_links(const hid_t groups[2], const char *name)
{
    H5L_info_t infos[2];
    bool same = H5Lget_info(groups[0], name, &infos[0], H5P_DEFAULT) >= 0 &&
                H5Lget_info(groups[1], name, &infos[1], H5P_DEFAULT) >= 0 &&
                infos[0].type == infos[1].type && infos[0].u.val_size == infos[1].u.val_size;
    const size_t size = same ? infos[0].u.val_size : 0;
    char *const values = same ? malloc(2 * size + 1) : NULL;
    same = values != NULL && H5Lget_val(groups[0], name, values, size, H5P_DEFAULT) >= 0 &&
           H5Lget_val(groups[1], name, values + size, size, H5P_DEFAULT) >= 0 &&
           memcmp(values, values + size, size) == 0;
    free(values);
    H5Eclear2(H5E_DEFAULT);
    return same;
}

/* List two objects, if they are not yet, and go into groups. Takes over both and the name. */
static bool
take_objects(struct h5twin_pairs *pairs, struct level **top, hid_t objects[2],
             struct h5twin_pair *pair)
{
    H5O_type_t other_type = pair->type;
    bool known = describe(objects[0], &pair->keys[0], &pair->type) &&
                 keep_open(pairs, objects[0], pair->keys[0].file);
    const bool has_other = describe(objects[1], &pair->keys[1], &other_type);
    known = known && (!has_other || keep_open(pairs, objects[1], pair->keys[1].file));
    pair->is_missing = !has_other || other_type != pair->type;
    bool taken = known;
    if (known &&
        find_both(pairs, &pair->keys[0], pair->is_missing ? NULL : &pair->keys[1]) == NONE) {
        if (pair->is_missing && objects[1] >= 0) {
            H5Oclose(objects[1]);
            objects[1] = H5I_INVALID_HID;
        }
        taken = add(pairs, pair);
        if (taken && pair->type == H5O_TYPE_GROUP) {
            return enter(top, pairs, &pairs->list[pairs->count - 1], objects);
        }
    } else {
        free(pair->name);
    }
    for (int which = 0; which < 2; which++) {
        if (objects[which] >= 0) {
            H5Oclose(objects[which]);
        }
    }
    return taken;
}

static bool
take_name(struct h5twin_pairs *pairs, struct level **top, const struct link *link)
{
    const struct level *const level = *top;
    const bool has_other = level->groups[1] >= 0;
    if (!link->is_hard && level->is_inside && has_other && same_links(level->groups, link->name)) {
        return true;
    }
    hid_t objects[2] = {H5Oopen(level->groups[0], link->name, H5P_DEFAULT), H5I_INVALID_HID};
    if (objects[0] < 0 && !link->is_hard) { /* leads nowhere */
        H5Eclear2(H5E_DEFAULT);
        return true;
    }
    struct h5twin_pair pair = {.is_nameless = level->is_nameless,
                               .name = objects[0] < 0 ? NULL : join(level->path, link->name)};
    if (pair.name == NULL) {
        if (objects[0] >= 0) {
            H5Oclose(objects[0]);
        }
        return false;
    }
    if (has_other) {
        objects[1] = H5Oopen(level->groups[1], link->name, H5P_DEFAULT);
        H5Eclear2(H5E_DEFAULT);
    }
    return take_objects(pairs, top, objects, &pair);
}

/* All that two objects lead to. Takes over both and the name. */
static bool
walk(struct h5twin_pairs *pairs, hid_t objects[2], struct h5twin_pair *pair)
{
    struct level *top = NULL;
    bool walked = take_objects(pairs, &top, objects, pair);
    while (top != NULL) {
        struct level *const level = top;
        if (walked && level->next < 2 * level->link_count) { /* names of their own come first */
            const struct link *const link = &level->links[level->next % level->link_count];
            const bool is_due = link->is_hard == (level->next < level->link_count);
            level->next++;
            walked = !is_due || take_name(pairs, &top, link);
        } else {
            top = level->parent;
            leave(level);
        }
    }
    return walked;
}

/* ---- for others ---- */

int
h5twin_pairs_find(struct h5twin_pairs *pairs, const hid_t files[2], const char *path)
{
    struct h5twin_pair root = {.name = malloc(2)};
    hid_t roots[2];
    *pairs = (struct h5twin_pairs){.files = {files[0], files[1]}};
    for (int which = 0; which < 2; which++) {
        struct h5twin_object_key key = {.file = 0};
        roots[which] = H5Oopen(files[which], "/", H5P_DEFAULT);
        describe(roots[which], &key, &root.type);
        pairs->numbers[which] = key.file;
    }
    if (root.name != NULL) {
        strcpy(root.name, "/");
    }
    return root.name != NULL && walk(pairs, roots, &root) ? H5TWIN_EXIT_OK
                                                          : h5twin_hdf5_fail(path, "", "read");
}

bool
h5twin_pairs_match(struct h5twin_pairs *pairs, const hid_t objects[2])
{
    struct h5twin_object_key keys[2];
    H5O_type_t types[2];
    if (!describe(objects[0], &keys[0], &types[0]) || !describe(objects[1], &keys[1], &types[1])) {
        return false;
    }
    if (find_both(pairs, &keys[0], &keys[1]) != NONE) {
        return true;
    }
    const bool named[2] = {find_first(pairs, 0, &keys[0]) != NONE,
                           find_first(pairs, 1, &keys[1]) != NONE};
    if (pairs->needs_names || named[0] || named[1] || types[0] != types[1] ||
        keys[0].file != pairs->numbers[0] || keys[1].file != pairs->numbers[1]) {
        return false;
    }
    struct h5twin_pair pair = {.is_nameless = true, .name = malloc(64)};
    if (pair.name == NULL) {
        return false;
    }
    snprintf(pair.name, 64, "(the object at %llu)", (unsigned long long)keys[0].address);
    hid_t opened[2];
    for (int which = 0; which < 2; which++) {
        opened[which] = H5Oopen_by_addr(pairs->files[which], keys[which].address);
    }
    return walk(pairs, opened, &pair);
}

const struct h5twin_pair *
h5twin_pairs_of_second(const struct h5twin_pairs *pairs, hid_t object,
                       const struct h5twin_pair *before)
{
    struct h5twin_object_key key;
    H5O_type_t type;
    if (!describe(object, &key, &type)) {
        return NULL;
    }
    const size_t at =
        before == NULL ? find_first(pairs, 1, &key) : find(pairs, 1, &key, before->next[1]);
    return at == NONE ? NULL : &pairs->list[at];
}

hid_t
h5twin_pairs_open(const struct h5twin_pairs *pairs, const struct h5twin_pair *pair, int which)
{
    return pair->is_nameless ? H5Oopen_by_addr(pairs->files[which], pair->keys[which].address)
                             : H5Dopen2(pairs->files[which], pair->name, H5P_DEFAULT);
}

void
h5twin_pairs_judge(struct h5twin_pairs *pairs, size_t at, bool kept)
{
    const struct h5twin_object_key key = pairs->list[at].keys[0];
    at = find_first(pairs, 0, &key);
    while (!pairs->list[at].is_first) {
        at = find(pairs, 0, &key, pairs->list[at].next[0]);
    }
    pairs->list[at].has_failed |= !kept;
}

void
h5twin_pairs_count(const struct h5twin_pairs *pairs, uint64_t *total, uint64_t *kept)
{
    *total = *kept = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        const struct h5twin_pair *const pair = &pairs->list[i];
        if (pair->is_first && pair->type == H5O_TYPE_DATASET && !pair->is_nameless) {
            ++*total;
            *kept += !pair->has_failed;
        }
    }
}

int
h5twin_pairs_fail_empty(const struct h5twin_pairs *pairs, const char *path, const char *other_path)
{
    uint64_t total, kept;
    h5twin_pairs_count(pairs, &total, &kept);
    return total == 0
               ? h5twin_fail("nothing was compared: there is no dataset in %s.", path)
               : h5twin_fail("nothing was compared: no dataset of %s is in %s.", path, other_path);
}

void
h5twin_pairs_free(struct h5twin_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        free(pairs->list[i].name);
    }
    for (size_t i = 0; i < pairs->other_count; i++) {
        H5Oclose(pairs->others[i].object);
    }
    free(pairs->others);
    free(pairs->list);
    free(pairs->heads[0]);
    free(pairs->heads[1]);
}
