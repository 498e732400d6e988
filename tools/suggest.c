/* SPDX-License-Identifier: BSD-3-Clause
 * suggest.c: `h5twin suggest`: every codec on a sample of the user's data, as a table. */
#include "suggest.h"

#include "array_args.h"
#include "commands.h"
#include "files.h"
#include "messages.h"
#include "paste.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

#define SHOWN 6 /* rows of a bound, without --all */

static const char *const best_texts[H5TWIN_BESTS] = {"best ratio", "fastest", "best balance"};

struct row {
    const struct h5twin_spec *spec;
    struct h5twin_trial trial;
    bool best[H5TWIN_BESTS];
    bool is_shown;
};

static bool
same_group(const struct row *left, const struct row *right)
{
    return left->trial.mode == right->trial.mode &&
           (left->trial.mode == H5TWIN_LOSSLESS ||
            !(left->trial.error_bound < right->trial.error_bound ||
              left->trial.error_bound > right->trial.error_bound));
}

/* Of those that promise the same: lossless, or one bound. Of equals, the first. */
static bool
is_best(const struct row *rows, size_t row_count, size_t index, enum h5twin_best kind)
{
    const double own = h5twin_trial_cost(&rows[index].trial, kind);
    bool best = h5twin_trial_is_worth_it(&rows[index].trial);
    for (size_t i = 0; i < row_count && best; i++) {
        const double other = h5twin_trial_cost(&rows[i].trial, kind);
        best = i == index || !same_group(&rows[index], &rows[i]) ||
               !h5twin_trial_is_worth_it(&rows[i].trial) || own < other ||
               (!(own > other) && index < i);
    }
    return best;
}

static void
mark_best(struct row *rows, size_t row_count)
{
    for (size_t i = 0; i < row_count; i++) {
        for (enum h5twin_best kind = 0; kind < H5TWIN_BESTS; kind++) {
            rows[i].best[kind] = is_best(rows, row_count, i, kind);
        }
    }
}

/* e2mc has a dozen variants, which differ little: whether another one, without deflate or with it,
 * is better. */
static bool
is_worse_variant(const struct row *rows, size_t row_count, size_t index)
{
    const struct h5twin_spec *const spec = rows[index].spec;
    const double own = h5twin_trial_cost(&rows[index].trial, H5TWIN_BEST_RATIO);
    bool worse = false;
    for (size_t i = 0; i < row_count && !worse; i++) {
        const double other = h5twin_trial_cost(&rows[i].trial, H5TWIN_BEST_RATIO);
        worse = i != index && spec->peer == H5TWIN_PEER_NONE && spec->params.codec == H5TWIN_E2MC &&
                rows[i].spec->peer == H5TWIN_PEER_NONE &&
                rows[i].spec->params.codec == H5TWIN_E2MC &&
                (other < own || (!(other > own) && i < index));
    }
    return worse;
}

/* How many of those that promise the same have a better ratio; of the variants of one codec that is
 * to be one row only the best counts. */
static size_t
rank_of(const struct row *rows, size_t row_count, size_t index)
{
    size_t rank = 0;
    const double own = h5twin_trial_cost(&rows[index].trial, H5TWIN_BEST_RATIO);
    for (size_t i = 0; i < row_count; i++) {
        const double other = h5twin_trial_cost(&rows[i].trial, H5TWIN_BEST_RATIO);
        rank += i != index && same_group(&rows[index], &rows[i]) &&
                !is_worse_variant(rows, row_count, i) &&
                (other < own || (!(other > own) && i < index));
    }
    return rank;
}

static void
choose_shown(const struct h5twin_suggest_args *args, struct row *rows, size_t row_count)
{
    for (size_t i = 0; i < row_count; i++) {
        bool is_marked = false;
        for (enum h5twin_best kind = 0; kind < H5TWIN_BESTS; kind++) {
            is_marked = is_marked || rows[i].best[kind];
        }
        rows[i].is_shown =
            args->all || args->codec_count > 0 || is_marked ||
            rows[i].spec->peer != H5TWIN_PEER_NONE ||
            (!is_worse_variant(rows, row_count, i) && rank_of(rows, row_count, i) < SHOWN);
    }
}

/* "best ratio, fastest"; empty if it is neither. */
static const char *
best_text(char text[64], const struct row *row)
{
    size_t length = 0;
    text[0] = '\0';
    for (enum h5twin_best kind = 0; kind < H5TWIN_BESTS; kind++) {
        if (row->best[kind]) {
            length += (size_t)snprintf(text + length, 64 - length, "%s%s", length == 0 ? "" : ", ",
                                       best_texts[kind]);
        }
    }
    return text;
}

/* Text for size bytes in this time; times too short to measure have no speed. */
static const char *
speed_text(char text[16], uint64_t size, double time)
{
    if (time > 0) {
        snprintf(text, 16, "%.3f", (double)size / time / 1e9);
    } else {
        snprintf(text, 16, "-");
    }
    return text;
}

static void
print_row(int width, const struct row *row)
{
    const uint64_t size = row->trial.timed_size;
    char encode[16], decode[16], psnr[16] = "-", best[64];
    if (isfinite(row->trial.psnr)) {
        snprintf(psnr, sizeof psnr, "%.1f", row->trial.psnr);
    }
    best_text(best, row);
    printf("%-*s %9.3f %12s %12s %10.2g %8s%s%s\n", width, row->spec->text,
           (double)row->trial.raw_size / (double)row->trial.stored_size,
           speed_text(encode, size, row->trial.encode_time),
           speed_text(decode, size, row->trial.decode_time), row->trial.max_error, psnr,
           best[0] == '\0' ? "" : "  ", best);
}

static void
print_table(const struct row *rows, size_t row_count, const struct h5twin_sample *sample)
{
    const uint64_t size = (uint64_t)sample->piece_size * sample->piece_count;
    int width = (int)strlen("memcpy");
    for (size_t i = 0; i < row_count; i++) {
        const int length = rows[i].is_shown ? (int)strlen(rows[i].spec->text) : 0;
        width = length > width ? length : width;
    }
    printf("%-*s %9s %12s %12s %10s %8s\n", width, "spec", "ratio", "encode GB/s", "decode GB/s",
           "max error", "PSNR dB");
    size_t hidden = 0;
    for (size_t i = 0; i < row_count; i++) {
        if (rows[i].is_shown) {
            print_row(width, &rows[i]);
        }
        hidden += !rows[i].is_shown;
    }
    char speed[16];
    speed_text(speed, size, h5twin_trial_memcpy(sample));
    printf("%-*s %9.3f %12s %12s\n", width, "memcpy", 1.0, speed, speed);
    if (hidden > 0) {
        printf("%zu more row%s with --all\n", hidden, hidden == 1 ? "" : "s");
    }
}

static void
print_sample(const struct h5twin_suggest_args *args, const struct h5twin_sample *sample)
{
    char type[16], dims[H5TWIN_DIMS_TEXT];
    const double part =
        100.0 * (double)sample->piece_size * sample->piece_count / (double)sample->array_size;
    h5twin_print("%s: %s, %s, %llu bytes\n", sample->name[0] == '\0' ? args->path : sample->name,
                 h5twin_type_name(&sample->params, type),
                 h5twin_dims_text(sample->params.rank, sample->array_dims, dims),
                 (unsigned long long)sample->array_size);
    printf("sample: %u piece%s of %s, %.3g %% of the array; %u thread%s\n\n", sample->piece_count,
           sample->piece_count == 1 ? "" : "s",
           h5twin_dims_text(sample->params.rank, sample->params.dims, dims),
           part > 100 ? 100 : part, (unsigned)args->exec.threads,
           args->exec.threads == 1 ? "" : "s");
}

/* How to use it. */
static void
print_lines_of(const struct h5twin_spec *spec)
{
    if (spec->peer == H5TWIN_PEER_GZIP) {
        printf("h5repack -f SHUF -f GZIP=%d IN.h5 OUT.h5\n", spec->level);
        return;
    }
    if (spec->peer == H5TWIN_PEER_ZSTD) {
        printf("h5repack -f SHUF -f UD=32015,0,1,%d IN.h5 OUT.h5\n", spec->level);
        return;
    }
    char text[H5TWIN_SPEC_TEXT];
    h5twin_params_format(&spec->params, text, sizeof text);
    printf("h5twin repack --codec %s", text);
    if (spec->level != 0) {
        printf(" --then deflate=%d", spec->level);
    }
    puts(" IN.h5 OUT.h5");
    if (spec->level == 0) {
        h5twin_paste_h5repack(&spec->params);
    }
}

static void
print_lines(const struct row *rows, size_t row_count)
{
    bool any = false;
    char best[64];
    for (size_t i = 0; i < row_count; i++) {
        if (best_text(best, &rows[i])[0] != '\0') {
            any = true;
            printf("\n# %s: %s\n", rows[i].spec->text, best);
            print_lines_of(rows[i].spec);
        }
    }
    puts(any ? "\n`h5twin args SPEC` prints the lines for nccopy, C and h5py."
             : "\nNothing shrinks this sample by 1 % or more: it is best stored "
               "as it is.");
}

/* ---- all together ---- */

static int
try_all(const struct h5twin_suggest_args *args, const struct h5twin_sample *sample)
{
    struct h5twin_specs specs;
    char fill[64] = "fill=";
    double share;
    const size_t key_length = strlen(fill);
    const bool has_mark =
        h5twin_sample_find_mark(sample, fill + key_length, sizeof fill - key_length, &share);
    const bool made = h5twin_specs_make(&specs, args, has_mark ? fill : NULL);
    struct row *const rows = made ? calloc(specs.count, sizeof *rows) : NULL;
    int result = rows != NULL ? H5TWIN_EXIT_OK : h5twin_fail("there is no memory for the table.");
    size_t row_count = 0;
    for (size_t i = 0; result == H5TWIN_EXIT_OK && i < specs.count; i++) {
        struct row *const row = &rows[row_count];
        row->spec = &specs.list[i];
        const enum h5twin_status status =
            h5twin_trial_run(&row->trial, sample, &args->exec, row->spec);
        if (status == H5TWIN_ERR_TOO_BIG) {
            continue;
        }
        row_count++;
        if (status != H5TWIN_OK) {
            result = h5twin_fail_status(row->spec->text, status);
        } else if (row->trial.mode == H5TWIN_LOSSLESS && !row->trial.exact) {
            result =
                h5twin_fail("%s: the data came back changed: please report this.", row->spec->text);
        }
    }
    if (result == H5TWIN_EXIT_OK) {
        mark_best(rows, row_count);
        choose_shown(args, rows, row_count);
        print_sample(args, sample);
        if (has_mark) {
            printf("%s occurs in %.2g %% of the values: looks like missing data; "
                   "with an error bound, "
                   "add %s\n\n",
                   fill + key_length, 100 * share, fill);
        }
        if (sample->units[0] != '\0' && args->bound_count > 0) {
            h5twin_print("units: %s, which a bound abs=E is in\n%s", sample->units,
                         sample->advice == NULL ? "\n" : "");
        }
        if (sample->advice != NULL) {
            printf("advice: %s\n\n", sample->advice);
        }
        print_table(rows, row_count, sample);
        print_lines(rows, row_count);
    }
    free(rows);
    free(specs.list);
    return result;
}

static int
get_sample(struct h5twin_sample *sample, const struct h5twin_suggest_args *args)
{
    char *const path = malloc(strlen(args->path) + 1);
    if (path == NULL) {
        return h5twin_fail("there is no memory for a file name.");
    }
    strcpy(path, args->path);
    const char *const dataset = h5twin_file_split(path);
    int result;
    if (!h5twin_file_check(path)) {
        result = H5TWIN_EXIT_FAILED;
    } else if (h5twin_file_is_hdf5(path)) {
        result = args->has_type || args->params.rank != 0
                     ? h5twin_fail_usage("suggest",
                                         "%s is an HDF5 file, which knows its --type "
                                         "and --dims",
                                         path)
                     : h5twin_sample_hdf5(sample, path, dataset, args->sample_size);
    } else if (!args->has_type) {
        result = h5twin_fail_usage("suggest", "%s is not an HDF5 file: --type is missing", path);
    } else {
        result = h5twin_sample_raw(sample, &args->params, path, args->sample_size);
    }
    free(path);
    return result;
}

int
h5twin_command_suggest(int argc, char **argv)
{
    struct h5twin_suggest_args args;
    int result = h5twin_suggest_args_parse(&args, argc, argv);
    if (result != H5TWIN_EXIT_OK) {
        return result;
    }
    if (args.help) {
        fputs(h5twin_suggest_help, stdout);
        return H5TWIN_EXIT_OK;
    }
    struct h5twin_sample sample = {.data = NULL};
    result = get_sample(&sample, &args);
    if (result == H5TWIN_EXIT_OK && args.bound_count > 0 && sample.params.kind != H5TWIN_FLOAT) {
        result = h5twin_fail_usage(argv[0], "an error bound needs floating-point numbers");
    }
    if (result == H5TWIN_EXIT_OK) {
        result = try_all(&args, &sample);
    }
    h5twin_sample_free(&sample);
    return result;
}
