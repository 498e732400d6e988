/* SPDX-License-Identifier: BSD-3-Clause
 * suggest.h: the parts of `h5twin suggest`: a sample of the data, the specs to try, and a trial.
 * Failures are told to the user where they happen.
 * Units   sizes in bytes, times in seconds. */
#ifndef H5TWIN_TOOLS_SUGGEST_H
#define H5TWIN_TOOLS_SUGGEST_H

#include "h5twin.h"

#define H5TWIN_MAX_PIECES 256
#define H5TWIN_SPEC_TEXT  256 /* bytes with the ending zero */

/* ---- the command line (suggest_args.c) ---- */

#define H5TWIN_MAX_BOUNDS 16

struct h5twin_suggest_args {
    struct h5twin_params params;
    struct h5twin_exec exec;
    bool has_type;
    bool help;
    bool all;                           /* all rows, not the best ones */
    char bounds[H5TWIN_MAX_BOUNDS][64]; /* "abs=1e-3" */
    size_t bound_count;
    const char *codecs[H5TWIN_MAX_BOUNDS];
    size_t codec_count; /* 0: all, and the peers */
    size_t sample_size;
    const char *path;
};

/* H5TWIN_EXIT_OK, or the exit code after a message. */
int h5twin_suggest_args_parse(struct h5twin_suggest_args *args, int argc, char **argv);

extern const char h5twin_suggest_help[];

/* The options of other commands that are as those of suggest: exit codes, after a message that
 * names the command. */
int h5twin_suggest_add_bound(struct h5twin_suggest_args *args, const char *command, const char *key,
                             const char *value);
int h5twin_suggest_add_codec(struct h5twin_suggest_args *args, const char *command,
                             const char *name);
int h5twin_suggest_set_sample(struct h5twin_suggest_args *args, const char *command,
                              const char *text);

/* ---- the sample (suggest_sample.c, sample_hdf5.c) ---- */

/* Where the pieces lie in an array. */
struct h5twin_sample_plan {
    unsigned piece_count;
    uint64_t starts[H5TWIN_MAX_PIECES][H5TWIN_MAX_RANK]; /* elements, per axis */
    uint64_t extents[H5TWIN_MAX_RANK];                   /* of every piece */
};

/* What is tried: pieces of piece_size bytes, one after the other. */
struct h5twin_sample {
    struct h5twin_sample *store; /* larger pieces, as they are stored, for sizes; NULL: these */
    struct h5twin_params params; /* the array fields, with the dims of one piece */
    uint64_t array_dims[H5TWIN_MAX_RANK]; /* params.rank of them, of the whole array */
    uint64_t array_size;                  /* bytes */
    char name[256];                       /* of the dataset; empty if it is the file */
    char units[64];                       /* by its attribute; may be empty */
    const char *advice;                   /* a sentence without its end; NULL: none is sure */
    uint8_t *data;
    size_t piece_size;
    unsigned piece_count;
};

/* Pieces spread evenly over the array of params->rank dims (at least 1), about sample_size bytes
 * together; one piece, the array, if it is no larger. Where chunk is not NULL, a piece is such a
 * chunk, or a part of one. */
void h5twin_sample_plan_make(struct h5twin_sample_plan *plan, const struct h5twin_params *params,
                             const uint64_t *chunk, size_t sample_size);

/* As many pieces of the size that is stored as are in H5TWIN_STORE_SAMPLES times sample_size bytes:
 * chunks where chunk is not NULL, else the array, or, where that is larger, the chunks that suit
 * it. Few small pieces tell the speed of a codec, but not the size of what it stores at once: one
 * code table is for all of a chunk, and blocks fit a chunk or leave a border. False: what is
 * stored is too small to tell, or no larger than a piece of the sample. */
#define H5TWIN_STORE_SAMPLES 8
bool h5twin_sample_plan_store(struct h5twin_sample_plan *plan, const struct h5twin_params *params,
                              const uint64_t *chunk, size_t sample_size);

/* Fill all of *sample but its bytes, for which memory is got. False after a message. */
bool h5twin_sample_begin(struct h5twin_sample *sample, const struct h5twin_sample_plan *plan,
                         const struct h5twin_params *params);

/* As h5twin_sample_begin(), for the store of a sample that was begun. */
bool h5twin_sample_begin_store(struct h5twin_sample *sample, const struct h5twin_sample_plan *plan,
                               const struct h5twin_params *params);

/* From a file of numbers as params describe them; rank 0: one row. Exit code. */
int h5twin_sample_raw(struct h5twin_sample *sample, const struct h5twin_params *params,
                      const char *path, size_t sample_size);

/* Fill in units and advice from the attributes of an open dataset. (suggest_advice.c) */
void h5twin_sample_advise(struct h5twin_sample *sample, int64_t dataset);

/* Free what a sample holds. */
void h5twin_sample_free(struct h5twin_sample *sample);

/* From an array in memory, of rank 1 at least. False after a message. */
bool h5twin_sample_memory(struct h5twin_sample *sample, const struct h5twin_params *params,
                          const void *data, size_t sample_size);

/* From a dataset of an HDF5 file; dataset NULL: the largest of numbers. Exit code. */
int h5twin_sample_hdf5(struct h5twin_sample *sample, const char *path, const char *dataset,
                       size_t sample_size);

/* ---- missing data (suggest_marks.c) ---- */

/* Whether some value of the sample looks like missing data: as text, and which share of the values
 * it is. */
bool h5twin_sample_find_mark(const struct h5twin_sample *sample, char *text, size_t capacity,
                             double *share);

/* ---- the specs (suggest_specs.c) ---- */

/* What HDF5 users have without us. */
enum h5twin_peer {
    H5TWIN_PEER_NONE,
    H5TWIN_PEER_GZIP, /* shuffle, then deflate */
    H5TWIN_PEER_ZSTD, /* shuffle, then zstd */
};

/* A row of the table. */
struct h5twin_spec {
    char text[H5TWIN_SPEC_TEXT]; /* for people: "ndzip", "ndzip+deflate=1",
                                    "shuffle+gzip=6" */
    enum h5twin_peer peer;
    int level;                   /* of the peer, or of deflate behind the codec; 0: no deflate */
    struct h5twin_params params; /* codec, bound, options */
};

struct h5twin_specs {
    struct h5twin_spec *list;
    size_t count;
};

/* Every codec with its defaults, then with each named value of each of its options, and, where it
 * can be lossy, all of that with each bound ("abs=1e-3") and, unless it is NULL, fill
 * ("fill=1e+35"); every codec's defaults with deflate behind them; the peers; of all that only what
 * args ask for. The caller frees list. False without memory. */
bool h5twin_specs_make(struct h5twin_specs *specs, const struct h5twin_suggest_args *args,
                       const char *fill);

/* ---- a trial (suggest_trial.c) ---- */

struct h5twin_trial {
    enum h5twin_mode mode;
    double error_bound;
    uint64_t raw_size; /* of all pieces as they are stored, and what became of them */
    uint64_t stored_size;
    uint64_t timed_size; /* of the pieces that were timed: of slow codecs, the first ones */
    double encode_time, decode_time; /* medians; 0 if too short to measure */
    double processor_time;           /* of both, of the run that took least: others do not count */
    double max_error;                /* largest |x - x'| over the finite values */
    double psnr;                     /* dB; infinite without an error */
    bool exact;                      /* the bytes came back as they were */
};

enum h5twin_status h5twin_trial_run(struct h5twin_trial *trial, const struct h5twin_sample *sample,
                                    const struct h5twin_exec *exec, const struct h5twin_spec *spec);

/* What may be best of what promises the same. */
enum h5twin_best { H5TWIN_BEST_RATIO, H5TWIN_FASTEST, H5TWIN_BEST_BALANCE, H5TWIN_BESTS };

/* Of a byte; less is better. */
double h5twin_trial_cost(const struct h5twin_trial *trial, enum h5twin_best kind);

/* A codec that gives up and stores raw data is the fastest of all, and no use. */
bool h5twin_trial_is_worth_it(const struct h5twin_trial *trial);

/* Median time to copy the sample. */
double h5twin_trial_memcpy(const struct h5twin_sample *sample);

#endif
