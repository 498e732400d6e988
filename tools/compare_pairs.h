/* SPDX-License-Identifier: BSD-3-Clause
 * compare_pairs.h: which object of one HDF5 file is which of another: those that have a name in
 * common.
 *
 * Both files are walked together, by every link of the original. A pair of objects is listed once,
 * under its first name: what follows from it is the same under any other. So cycles end, and an
 * object that has become two is found. Soft links, and links to other files, are followed only
 * where the other file has not the same link under that name. */
#ifndef H5TWIN_TOOLS_COMPARE_PAIRS_H
#define H5TWIN_TOOLS_COMPARE_PAIRS_H

#include "hdf5_file.h"

struct h5twin_object_key {
    unsigned long file; /* HDF5's number of the open file */
    haddr_t address;
};

struct h5twin_pair {
    struct h5twin_object_key keys[2]; /* the original first */
    H5O_type_t type;                  /* of the original */
    char *name;                       /* full, in both files */
    bool is_missing;                  /* the other file has no such object: keys[1] means nothing */
    bool is_nameless;                 /* only references lead to it */
    bool is_first;                    /* the first pair of this object of the original */
    bool has_failed;                  /* the first pair of an object: one of them differs */
    size_t next[2];                   /* pair of the same chain; see compare_pairs.c */
};

struct h5twin_pairs {
    hid_t files[2];
    unsigned long numbers[2]; /* of the files */
    struct h5twin_pair *list;
    size_t count;
    size_t *heads[2]; /* of chains */
    struct {
        unsigned long number;
        hid_t object;
    } * others; /* files that links lead to are kept open: opened again they get new numbers */
    size_t other_count;
    bool needs_names; /* objects without one match nothing */
};

/* List the pairs of two open files. Exit code, after a message if it is not H5TWIN_EXIT_OK. */
int h5twin_pairs_find(struct h5twin_pairs *pairs, const hid_t files[2], const char *path);

/* Whether two open objects are the same one, each in its file. Two that have no name are, if they
 * hold the same: they are added to the list, to be compared as well, unless needs_names is set. */
bool h5twin_pairs_match(struct h5twin_pairs *pairs, const hid_t objects[2]);

/* The next pair after `before` (NULL: the first one) of an open object of the second file. */
const struct h5twin_pair *h5twin_pairs_of_second(const struct h5twin_pairs *pairs, hid_t object,
                                                 const struct h5twin_pair *before);

/* The dataset of a pair in one of the files, to be closed. Negative if it cannot be opened. */
hid_t h5twin_pairs_open(const struct h5twin_pairs *pairs, const struct h5twin_pair *pair,
                        int which);

/* Whether it is a dataset of the original whose name the other file does not have. */
static inline bool
h5twin_pair_is_lost(const struct h5twin_pair *pair)
{
    return pair->is_missing && pair->type == H5O_TYPE_DATASET && !pair->is_nameless;
}

/* How the pair at this index went. Those that are missing have failed. */
void h5twin_pairs_judge(struct h5twin_pairs *pairs, size_t at, bool kept);

/* Datasets of the original that have a name, and those of them that have not failed. */
void h5twin_pairs_count(const struct h5twin_pairs *pairs, uint64_t *total, uint64_t *kept);

/* Say that nothing was compared. The exit code. */
int h5twin_pairs_fail_empty(const struct h5twin_pairs *pairs, const char *path,
                            const char *other_path);

void h5twin_pairs_free(struct h5twin_pairs *pairs);

#endif
