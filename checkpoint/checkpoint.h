/* SPDX-License-Identifier: BSD-3-Clause
 * checkpoint.h: what the files of this folder know of a folder of checkpoints.
 *
 * Life of a checkpoint: begin makes a draft, files in memory; write and write_attribute add to it;
 * commit closes the draft's files and hands their bytes to a saving, which goes to the disk, in a
 * thread or not; complete() waits for that in all processes, renames, and prunes. */
#ifndef H5TWIN_CHECKPOINT_INTERNAL_H
#define H5TWIN_CHECKPOINT_INTERNAL_H

#include "folder.h"
#include "h5twin_checkpoint.h"
#include "image.h"
#include "store.h"

#include <h5twin_policy.h>

#include <hdf5.h>
#include <pthread.h>
#include <time.h>

#define MAX_RANK     H5TWIN_CHECKPOINT_MAX_RANK
#define MESSAGE_SIZE 512
#define FORMAT       1 /* of the files: the attribute h5twin_checkpoint */

/* What a process has of a field. */
struct part {
    uint64_t offset[MAX_RANK], count[MAX_RANK];
};

/* What a process tells process 0 of its part of a field; without gaps. */
struct notice {
    uint64_t is_ok, name, type, rank;
    uint64_t dims[MAX_RANK];
    struct part part;
};

/* A field of the draft, as process 0 knows it. */
struct draft_field {
    char *name;
    enum h5twin_checkpoint_type type;
    uint32_t rank;
    uint64_t dims[MAX_RANK];
    double origin[3], spacing[3];
    struct part *parts; /* of each process of a team; NULL without one */
};

struct draft {
    bool is_open;
    bool has_failed;
    char reason[MESSAGE_SIZE]; /* of the first failure */
    uint64_t serial, step;
    double time;
    hid_t master, part; /* open files, or negative: process 0's, and one for each of a team */
    struct image master_image, part_image;
    struct draft_field *fields; /* process 0 */
    size_t field_count;
};

/* Bytes on their way to the disk. A thread may have it until it is joined. */
struct saving {
    bool is_pending;
    bool has_thread;
    pthread_t thread;
    uint64_t serial, step;
    bool verify;
    struct image master, part;
    char *xdmf;
    char *master_path, *part_path, *xdmf_path; /* where they go to first; NULL: none */
    struct store_error error;
    const char *failed_path; /* one of these */
};

struct reading {
    hid_t file; /* or negative */
    int hold;   /* what keeps it from being removed, or -1 */
    uint64_t serial;
};

struct h5twin_checkpoints {
    char *path, *name, *spec;     /* copies */
    struct h5twin_policy *policy; /* NULL: none */
    struct folder folder;         /* the same */
    struct h5twin_checkpoint_options options;
    struct h5twin_checkpoint_team team;
    struct notice *notices; /* process 0 of a team: room for one of each process */
    uint64_t *part_sizes;   /* the same */
    bool is_usable;         /* opened */
    int lock;               /* -1: none */
    char message[MESSAGE_SIZE];
    uint64_t last_step; /* that was committed; UINT64_MAX: none */
    struct timespec last_time;
    struct draft draft;
    struct saving saving;
    struct reading reading;
};

/* ---- message.c ---- */

/* Set the message; H5TWIN_CHECKPOINT_FAILED. */
enum h5twin_checkpoint_status h5twin_checkpoint_fail(struct h5twin_checkpoints *checkpoints,
                                                     const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "cannot STEP PATH: what the system says", and what helps. */
enum h5twin_checkpoint_status h5twin_checkpoint_fail_store(struct h5twin_checkpoints *checkpoints,
                                                           const struct store_error *error,
                                                           const char *path);

/* As h5twin_checkpoint_fail, ending with what HDF5 says is the cause. */
enum h5twin_checkpoint_status h5twin_checkpoint_fail_hdf5(struct h5twin_checkpoints *checkpoints,
                                                          const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The draft cannot become complete; its first reason stays. H5TWIN_CHECKPOINT_FAILED. */
enum h5twin_checkpoint_status h5twin_checkpoint_fail_draft(struct h5twin_checkpoints *checkpoints);

/* From quiet to loud HDF5 prints nothing; what is on its error stack goes. */
struct quiet {
    H5E_auto2_t function;
    void *context;
};
struct quiet h5twin_checkpoint_quiet(void);
void h5twin_checkpoint_loud(struct quiet before);

/* Close an identifier of any kind, or none. */
void h5twin_checkpoint_release(hid_t id);

/* ---- team.c ---- */

/* Whether all processes say so; if not, all have the message of the first that does not. */
bool h5twin_checkpoint_agree(struct h5twin_checkpoints *checkpoints, bool is_ok);

/* Process 0's bytes for all. False if the team failed; then there is a message. */
bool h5twin_checkpoint_share(struct h5twin_checkpoints *checkpoints, void *bytes, size_t size);

/* To process 0. */
bool h5twin_checkpoint_collect(struct h5twin_checkpoints *checkpoints, const void *bytes,
                               size_t size, void *all);

/* ---- draft.c ---- */

/* Close the draft's files into their images; adds what joins a team's parts. Collective. */
void h5twin_checkpoint_draft_finish(struct h5twin_checkpoints *checkpoints);

/* Let go of the draft and all it holds. */
void h5twin_checkpoint_draft_drop(struct h5twin_checkpoints *checkpoints);

/* ---- fields.c ---- */

hid_t h5twin_checkpoint_type(enum h5twin_checkpoint_type type); /* negative: there is none */

/* The type of a dataset; 0: none of ours. */
enum h5twin_checkpoint_type h5twin_checkpoint_type_of(hid_t type);

/* rank, dims, offset, count and memory of *field make sense, and what they are, in full. */
struct extent {
    uint32_t rank;
    uint64_t dims[MAX_RANK];
    struct part part;
    uint64_t memory_dims[MAX_RANK], memory_offset[MAX_RANK];
    bool is_empty; /* the part */
};

/* Whether the reserved words of a public structure are 0. */
static inline bool
h5twin_checkpoint_is_zero(const uint64_t reserved[4])
{
    return (reserved[0] | reserved[1] | reserved[2] | reserved[3]) == 0;
}

bool h5twin_checkpoint_extent(struct h5twin_checkpoints *checkpoints,
                              const struct h5twin_checkpoint_field *field, struct extent *extent);

/* The dataspace of the array in memory, its part selected. */
hid_t h5twin_checkpoint_memory_space(const struct extent *extent);

/* How a field is stored. */
struct coding {
    char spec[H5TWIN_POLICY_SPEC_SIZE];
    uint64_t chunk[MAX_RANK]; /* of the part */
};

/* Make the dataset of a part in the file, and write it. */
bool h5twin_checkpoint_write_dataset(struct h5twin_checkpoints *checkpoints, hid_t file,
                                     const struct h5twin_checkpoint_field *field,
                                     const struct extent *extent, const struct coding *coding);

/* Whether elements are floats, whether they have a sign, and their bytes. */
bool h5twin_checkpoint_is_float(enum h5twin_checkpoint_type type, bool *is_signed, uint32_t *size);

/* Make the virtual dataset that joins the parts of a field. */
bool h5twin_checkpoint_join_parts(struct h5twin_checkpoints *checkpoints, hid_t file,
                                  const struct draft_field *field);

/* ---- attributes.c ---- */

bool h5twin_checkpoint_is_reserved(const char *name); /* what every checkpoint has */

bool h5twin_checkpoint_put_number(hid_t file, const char *name, hid_t type, size_t count,
                                  const void *values);
bool h5twin_checkpoint_put_text(hid_t file, const char *name, const char *text);

/* False: not there, or not of exactly this count. */
bool h5twin_checkpoint_get_number(hid_t file, const char *name, hid_t type, size_t count,
                                  void *values);

/* ---- xdmf.c ---- */

/* What ParaView opens, malloc'ed: the fields of rank 1 to 3 of the draft; file is the master's
 * name. NULL: no memory. */
char *h5twin_checkpoint_xdmf(const struct draft *draft, const char *file);

/* ---- save.c ---- */

/* Take the images of the finished draft, and begin to write them. */
bool h5twin_checkpoint_save(struct h5twin_checkpoints *checkpoints);

/* Forget what is pending: another process failed to begin. */
void h5twin_checkpoint_cancel_save(struct h5twin_checkpoints *checkpoints);

/* Wait for what is pending, in all processes, and make it complete. Collective. */
enum h5twin_checkpoint_status h5twin_checkpoint_complete(struct h5twin_checkpoints *checkpoints);

#endif
