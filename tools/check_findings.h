/* SPDX-License-Identifier: BSD-3-Clause
 * check_findings.h: what `h5twin check` tells, as lines or as JSON.
 *
 * A file is looked at in a process of its own where there are such, as HDF5 may crash on a damaged
 * one. What must outlive that process is in memory that both share. */
#ifndef H5TWIN_TOOLS_CHECK_FINDINGS_H
#define H5TWIN_TOOLS_CHECK_FINDINGS_H

#include "messages.h"

#include <stdbool.h>
#include <stdint.h>

#define H5TWIN_CHECK_NAME  1024
#define H5TWIN_CHECK_RANK  32
#define H5TWIN_CHECK_NOTES 16384

struct h5twin_check_state {
    volatile uint64_t beats;    /* grows while there is progress */
    volatile uint64_t patience; /* seconds that the next beat may take */
    uint64_t findings, unknown, datasets, chunked, ours, chunks, decoded, never_written, unread;
    uint64_t raw_size, stored_size;
    uint64_t sealed;     /* datasets that are as they were sealed, but for what was added */
    uint64_t sealed_now; /* that got a new seal */
    uint64_t outdated;   /* whose seal is not of what they are now, without damage */
    /* The first of these: name, time, reason, each with its ending zero. */
    char notes[H5TWIN_CHECK_NOTES];
    size_t note_size;
    bool json, is_first;          /* no finding of this file was told so far */
    char name[H5TWIN_CHECK_NAME]; /* what is being looked at */
};

/* A chunk in words; NULL where it is none. */
struct h5twin_check_place {
    int rank;
    unsigned long long offset[H5TWIN_CHECK_RANK];
    bool has_address;
    unsigned long long address; /* from the start of the file */
};

/* One finding: its kind, a word of h5twin_check_kinds; the dataset or object, empty for the file;
 * and two sentences without their ends. */
void h5twin_check_tell(struct h5twin_check_state *state, const char *path, const char *kind,
                       const char *name, const struct h5twin_check_place *place, const char *cure,
                       const char *cause, ...) H5TWIN_PRINTF(7, 8);

/* A seal that is not compared, or not with all: name of the dataset, when it was sealed, why. They
 * are told behind the findings. */
void h5twin_check_note_outdated(struct h5twin_check_state *state, const char *name,
                                const char *time, const char *reason);
void h5twin_check_tell_outdated(const struct h5twin_check_state *state, const char *path);

extern const char h5twin_check_restore[]; /* the cure of most */

#endif
