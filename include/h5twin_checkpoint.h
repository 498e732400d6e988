/* SPDX-License-Identifier: BSD-3-Clause
 * h5twin_checkpoint.h: checkpoints of a simulation, of which the newest complete one is never lost.
 *
 *     struct h5twin_checkpoints *checkpoints;
 *     struct h5twin_checkpoint_options options;
 *     h5twin_checkpoint_options_init(&options);
 *     if (h5twin_checkpoint_open(&checkpoints, "out", &options) != 0) { ... }
 *     struct h5twin_checkpoint_info found;
 *     if (h5twin_checkpoint_restart(checkpoints, 0, &found) == H5TWIN_CHECKPOINT_OK) {
 *         ... h5twin_checkpoint_read(checkpoints, &field); ...
 *         h5twin_checkpoint_restart_end(checkpoints);
 *     }
 *     while (...) {
 *         ...
 *         if (h5twin_checkpoint_is_due(checkpoints, step)) {
 *             h5twin_checkpoint_begin(checkpoints, step, time);
 *             h5twin_checkpoint_write(checkpoints, &field);
 *             if (h5twin_checkpoint_commit(checkpoints) != 0) {
 *                 fputs(h5twin_checkpoint_message(checkpoints), stderr);    // and go on
 *             }
 *         }
 *     }
 *     h5twin_checkpoint_close(checkpoints);
 *
 * A checkpoint is an HDF5 file FOLDER/NAME-00000001.h5, with the next serial number for each; h5py,
 * h5dump and VisIt read it with this project's filters, and ParaView by NAME-00000001.xmf beside
 * it. Fields are datasets, compressed without loss unless a field says that it may lose.
 *
 * What is promised. A checkpoint is written under another name, synced to the disk, read back and
 * compared if options.verify is set, and then renamed. Only then are older ones removed, but never
 * the newest complete one, nor one that is being read. So the newest complete checkpoint is there
 * whenever the program or the machine stops or the disk is full. The program survives a checkpoint
 * that fails: it gets an error, no file stays, and it may try again.
 *
 * Several processes. With a team (h5twin_checkpoint_mpi.h makes one of an MPI communicator) all
 * calls are collective, except h5twin_checkpoint_write_attribute() and those that say so. Each
 * process writes its parts into its own file in NAME-00000001.parts/. The file of process 0 joins
 * them as virtual datasets; when it is renamed the checkpoint is complete. If one process fails,
 * h5twin_checkpoint_commit() fails in all of them, with the reason of that one.
 *
 * Memory. A checkpoint lies compressed in memory until it is on the disk: at most the size of the
 * fields and a few KiB per chunk. With options.background commit returns at once and a thread
 * writes the file; the next begin, wait or close waits for it. The thread calls neither HDF5 nor
 * MPI.
 *
 * Units   sizes in bytes, extents in elements, times in the simulation's unit.
 * Errors  functions return an enum h5twin_checkpoint_status; h5twin_checkpoint_message() then has
 *         one sentence. Nothing is printed.
 * Threads one at a time may call for the same folder. Only the calling thread calls HDF5. */
#ifndef H5TWIN_CHECKPOINT_H
#define H5TWIN_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In front of each function; for builds as a shared library. */
#ifndef H5TWIN_CHECKPOINT_API
#    define H5TWIN_CHECKPOINT_API
#endif

enum h5twin_checkpoint_status {
    H5TWIN_CHECKPOINT_OK = 0,
    H5TWIN_CHECKPOINT_NONE = 1, /* no (further) complete checkpoint, or no such field */
    H5TWIN_CHECKPOINT_FAILED = -1,
};

/* Of one element. */
enum h5twin_checkpoint_type {
    H5TWIN_CHECKPOINT_F32 = 1,
    H5TWIN_CHECKPOINT_F64,
    H5TWIN_CHECKPOINT_I8,
    H5TWIN_CHECKPOINT_I16,
    H5TWIN_CHECKPOINT_I32,
    H5TWIN_CHECKPOINT_I64,
    H5TWIN_CHECKPOINT_U8,
    H5TWIN_CHECKPOINT_U16,
    H5TWIN_CHECKPOINT_U32,
    H5TWIN_CHECKPOINT_U64,
};

#define H5TWIN_CHECKPOINT_MAX_RANK 8

/* The processes that write one checkpoint together, and how they exchange data. The functions are
 * collective; they return 0, or another number if they failed. Set the rest to zero. */
struct h5twin_checkpoint_team {
    int rank, size;
    void *context;
    /* Replace each value by the largest of all processes. */
    int (*maximum)(void *context, uint64_t *values, int count);
    /* Copy these bytes from process `root` to all others. */
    int (*broadcast)(void *context, void *bytes, int size, int root);
    /* Collect `size` bytes of each process in `all` of process 0, in the order of ranks. Other
     * processes ignore `all`. */
    int (*gather)(void *context, const void *bytes, int size, void *all);
    void (*release)(void *context); /* when the folder is closed; may be NULL */
    uint64_t reserved[4];           /* 0: room for what later versions add */
};

struct h5twin_checkpoint_options {
    size_t size;      /* sizeof(struct h5twin_checkpoint_options), set by options_init */
    const char *name; /* of the files, without '/'; NULL: "checkpoint" */
    unsigned keep;    /* how many complete checkpoints stay; 0: all. 3 by default */
    /* When h5twin_checkpoint_is_due() says yes: at multiples of every_steps, or so many seconds of
     * wall time after the last checkpoint, whichever comes first. 0: not by this; both 0: always.
     */
    uint64_t every_steps;
    double every_seconds;
    const char *spec; /* for fields without their own; NULL: "cascade" */
    bool background;  /* a thread writes the file; commit does not wait for the disk */
    bool verify;      /* read the file back and compare it before it counts as complete */
    bool xdmf;        /* write NAME-00000001.xmf, for ParaView and VisIt; on by default */
    bool read_only;   /* only restart, read and list; another program may write meanwhile */
    const struct h5twin_checkpoint_team *team; /* NULL: one process */
    /* A file of rules (docs/pages/policy.md) that choose the codec of fields without a spec; a rule
     * sees the field as "/" and its name. Fields that no rule matches get options.spec. NULL: none.
     */
    const char *policy;
};

/* One field, or this process's part of it. Set the rest to zero. */
struct h5twin_checkpoint_field {
    const char *name; /* path in the file, as "flow/u" */
    enum h5twin_checkpoint_type type;
    uint32_t rank;        /* 0: one number */
    const uint64_t *dims; /* of the whole field, slowest varying first */
    /* In a team: where this process's part begins, and its extents, which may be 0. NULL: 0 and
     * dims. */
    const uint64_t *offset, *count;
    /* The array in memory may be larger, for ghost cells: its extents, and where the part begins in
     * it. NULL: count and 0. */
    const uint64_t *memory_dims, *memory_offset;
    void *values; /* not changed by write; may be in the memory of a GPU: see h5twin_io.h */
    /* Writing only. */
    const char
        *spec; /* codec and options, as "lattice:abs=1e-6"; NULL: the policy's, or options.spec */
    bool may_lose; /* without it a spec that is not lossless is refused */
    /* For pictures, rank 1 to 3: coordinates of the first value and the spacing of the grid, `rank`
     * numbers each; NULL: 0 and 1. */
    const double *origin, *spacing;
    uint64_t reserved[4]; /* 0: room for what later versions add */
};

struct h5twin_checkpoint_info {
    uint64_t serial, step;
    double time;
    uint64_t size;        /* bytes of its files */
    uint64_t reserved[4]; /* 0 today: room for what later versions tell */
};

/* A folder of checkpoints. */
struct h5twin_checkpoints;

H5TWIN_CHECKPOINT_API void
h5twin_checkpoint_options_init(struct h5twin_checkpoint_options *options);

/* Open a folder, and create it if it does not exist. Fails if another program writes checkpoints of
 * this name there. Removes incomplete files that killed runs left. options may be NULL. After a
 * failure *checkpoints has the message and must be closed, too; it is NULL only if memory ran out.
 */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_open(struct h5twin_checkpoints **checkpoints, const char *folder,
                       const struct h5twin_checkpoint_options *options);

/* Wait for the checkpoint that is being written, and return its status. NULL is allowed. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_close(struct h5twin_checkpoints *checkpoints);

/* One sentence about the last failure; "" if there was none. Not collective. */
H5TWIN_CHECKPOINT_API const char *
h5twin_checkpoint_message(const struct h5twin_checkpoints *checkpoints);

/* ---- write ---- */

H5TWIN_CHECKPOINT_API bool h5twin_checkpoint_is_due(struct h5twin_checkpoints *checkpoints,
                                                    uint64_t step);

/* Begin a checkpoint. One that was begun and not committed is dropped. If the checkpoint before was
 * being written in the background, its status is returned; the new one is begun in any case. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_begin(struct h5twin_checkpoints *checkpoints, uint64_t step, double time);

/* Compress a field; the program may change its values afterwards. After a failure commit fails. In
 * a team each process learns only of its own failures here. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_write(struct h5twin_checkpoints *checkpoints,
                        const struct h5twin_checkpoint_field *field);

/* Write a small array of numbers, or a text, as an attribute of the file. In a team only what
 * process 0 gives is written. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_write_attribute(struct h5twin_checkpoints *checkpoints, const char *name,
                                  enum h5twin_checkpoint_type type, size_t count,
                                  const void *values);
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_write_text(struct h5twin_checkpoints *checkpoints, const char *name,
                             const char *text);

/* Complete the checkpoint as described above; in the background: start to. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_commit(struct h5twin_checkpoints *checkpoints);

/* Drop the checkpoint that was begun. */
H5TWIN_CHECKPOINT_API void h5twin_checkpoint_abort(struct h5twin_checkpoints *checkpoints);

/* Wait until the committed checkpoint is complete, and return its status. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_wait(struct h5twin_checkpoints *checkpoints);

/* ---- read ---- */

/* Open the newest complete checkpoint; if `before` is not 0, the newest one with a smaller serial
 * number. Checkpoints that cannot be read are skipped; the message then says so. It is not removed
 * while it is open. info may be NULL. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_restart(struct h5twin_checkpoints *checkpoints, uint64_t before,
                          struct h5twin_checkpoint_info *info);

/* Open the checkpoint with this serial number. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_select(struct h5twin_checkpoints *checkpoints, uint64_t serial,
                         struct h5twin_checkpoint_info *info);

/* Read a field, or a part of it, into field->values. Type, rank and dims must be those that were
 * written. Parts and the number of processes may differ from those that wrote. Not collective.
 * H5TWIN_CHECKPOINT_NONE if there is no such field. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_read(struct h5twin_checkpoints *checkpoints,
                       const struct h5twin_checkpoint_field *field);

/* Type, rank and dims (H5TWIN_CHECKPOINT_MAX_RANK of them) of a field. Not collective. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_inquire(struct h5twin_checkpoints *checkpoints, const char *name,
                          enum h5twin_checkpoint_type *type, uint32_t *rank, uint64_t *dims);

/* The name of field `index`, counted from 0 in the order of names; H5TWIN_CHECKPOINT_NONE beyond
 * the last one. Not collective. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_field_name(struct h5twin_checkpoints *checkpoints, size_t index, char *name,
                             size_t capacity);

/* The same for the attributes that the program wrote. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_attribute_name(struct h5twin_checkpoints *checkpoints, size_t index, char *name,
                                 size_t capacity);

/* The type of an attribute and how many numbers it has. For a text: type 0, and its bytes with the
 * final zero. Not collective. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_inquire_attribute(struct h5twin_checkpoints *checkpoints, const char *name,
                                    enum h5twin_checkpoint_type *type, size_t *count);

/* Read exactly `count` numbers; they are converted if they were written as another type. Not
 * collective. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_read_attribute(struct h5twin_checkpoints *checkpoints, const char *name,
                                 enum h5twin_checkpoint_type type, size_t count, void *values);

/* Read a text with its final zero; fails if capacity is too small. Not collective. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_read_text(struct h5twin_checkpoints *checkpoints, const char *name, char *text,
                            size_t capacity);

/* Close what restart or select opened. Not collective. */
H5TWIN_CHECKPOINT_API void h5twin_checkpoint_restart_end(struct h5twin_checkpoints *checkpoints);

/* List the complete checkpoints, newest first: at most `capacity` of them in infos, how many there
 * are in *count. Not collective. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_list(struct h5twin_checkpoints *checkpoints, struct h5twin_checkpoint_info *infos,
                       size_t capacity, size_t *count);

/* Remove all but the newest `keep` (at least one stays), as commit does with options.keep. */
H5TWIN_CHECKPOINT_API enum h5twin_checkpoint_status
h5twin_checkpoint_prune(struct h5twin_checkpoints *checkpoints, unsigned keep);

#ifdef __cplusplus
}
#endif
#endif
