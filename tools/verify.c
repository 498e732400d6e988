/* SPDX-License-Identifier: BSD-3-Clause
 * verify.c: `h5twin verify`: whether what came back is what it was, or within its bound. HDF5
 * files: verify_hdf5.c. */
#include "verify.h"

#include "array_args.h"
#include "commands.h"
#include "common/number.h"
#include "files.h"
#include "messages.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES 65536 /* a multiple of every element's size */

static void
print_help(void)
{
    puts(
        "Usage: h5twin verify [OPTION]... A.h5[:DATASET] B.h5[:DATASET]\n"
        "       h5twin verify --type TYPE [--dims AxBxC] [OPTION]... A B\n"
        "\n"
        "Compare an original A with what came of it, B: largest and mean error, PSNR, how many\n"
        "values are beyond a bound, and whether NaN, infinities and fill values are the same to\n"
        "the bit. The bound is decided in exact arithmetic, without rounding. Integers, strings\n"
        "and other types, also floats that are not IEEE's of 4 or 8 bytes, are equal or not.\n"
        "Without a bound, all bits must be equal.\n"
        "\n"
        "Of HDF5 files, all datasets of A are compared with those of the same name in B, a line\n"
        "each, and at the end how many of A's were kept. Further names of a dataset are followed,\n"
        "too; soft links, and links to other files, where B has not the same link. References are\n"
        "equal if they lead to objects of the same name, and to the same places, types if HDF5\n"
        "says so; only numbers may be of another byte order. What only one file has is listed: it\n"
        "is a failure if B lacks it, and also if nothing was compared.\n"
        "Attributes are not compared. Memory is for a piece of each dataset, and for all names.\n"
        "\n"
        "  --abs E        |x - x'| <= E for every finite value\n"
        "  --noa E        |x - x'| <= E * (max - min) of the finite values of A, of each dataset\n"
        "  --rel E        |x - x'| <= E * |x| for every finite value\n"
        "  --fill V       values that are V, rounded to their type, are missing data: those of A\n"
        "                 come back bit for bit and count for no error and no range, and no other\n"
        "                 value may become V, however near; so are fill values that an HDF5\n"
        "                 dataset of A or B declares\n"
        "  --min V        no value of A from V on is below V in B\n"
        "  --max V        no value of A up to V is above V in B\n"
        "  --type TYPE    raw files: f32 f64, i8 .. i64, u8 .. u64, bytes; f32be etc.\n"
        "  --dims AxBxC   raw files: elements per dimension, to check the size\n"
        "\n"
        "PSNR is 20 log10((max - min) / root mean square error). B may be -, stdin, if it is raw.\n"
        "Exit codes: 0 all within the bound, or identical; 1 not; 2 the command line is wrong.\n"
        "\n"
        "  h5twin verify --abs 1e-3 in.h5 out.h5\n"
        "  h5twin decode field.h5tw - | h5twin verify --type f32 field.bin -");
}

/* ---- the command line ---- */

static int
take_bound(struct h5twin_verify_args *args, enum h5twin_bound_kind kind)
{
    struct h5twin_promise *const promise = &args->promise;
    if (promise->kind != H5TWIN_BOUND_NONE) {
        return h5twin_fail_usage("verify", "--abs, --noa and --rel exclude each other: give one");
    }
    promise->kind = kind;
    if (!h5twin_number_read(optarg, &promise->bound) || !(promise->bound > 0) ||
        isinf(promise->bound)) {
        return h5twin_fail_usage("verify", "the bound %s is not a positive finite number", optarg);
    }
    return H5TWIN_EXIT_OK;
}

static int
take_limit(struct h5twin_verify_args *args, unsigned upper)
{
    args->promise.has_limit[upper] = true;
    return h5twin_number_read(optarg, &args->promise.limit[upper]) &&
                   isfinite(args->promise.limit[upper])
               ? H5TWIN_EXIT_OK
               : h5twin_fail_usage("verify", "--%s %s is not a finite number",
                                   upper != 0 ? "max" : "min", optarg);
}

static int
take_option(void *all_args, int code)
{
    struct h5twin_verify_args *const args = all_args;
    switch (code) {
    case 'a':
        return take_bound(args, H5TWIN_BOUND_ABS);
    case 'n':
        return take_bound(args, H5TWIN_BOUND_NOA);
    case 'r':
        return take_bound(args, H5TWIN_BOUND_REL);
    case 'f':
        args->promise.has_fill = true;
        return h5twin_number_read(optarg, &args->promise.fill)
                   ? H5TWIN_EXIT_OK
                   : h5twin_fail_usage("verify", "--fill %s is not a number", optarg);
    case 'l':
        return take_limit(args, 0);
    case 'u':
        return take_limit(args, 1);
    case 't':
        args->has_type = true;
        return h5twin_parse_type(&args->params, "verify", optarg);
    default: /* 'd' */
        return h5twin_parse_dims(&args->params, "verify", "--dims", optarg);
    }
}

static int
parse(struct h5twin_verify_args *args, int argc, char **argv)
{
    static const struct option options[] = {
        {"abs", required_argument, NULL, 'a'},  {"noa", required_argument, NULL, 'n'},
        {"rel", required_argument, NULL, 'r'},  {"fill", required_argument, NULL, 'f'},
        {"min", required_argument, NULL, 'l'},  {"max", required_argument, NULL, 'u'},
        {"type", required_argument, NULL, 't'}, {"dims", required_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0},
    };
    *args = (struct h5twin_verify_args){.params = {.kind = H5TWIN_OTHER, .element_size = 1}};
    const int result = h5twin_each_option(argc, argv, options, take_option, args, &args->help);
    if (result != H5TWIN_EXIT_OK || args->help) {
        return result;
    }
    if (argc - optind != 2) {
        return h5twin_fail_usage(argv[0], "expected A and B, two file names, but got %d",
                                 argc - optind);
    }
    args->paths[0] = argv[optind];
    args->paths[1] = argv[optind + 1];
    return H5TWIN_EXIT_OK;
}

/* ---- the result ---- */

double
h5twin_round_for_people(double value)
{
    char text[H5TWIN_NUMBER_TEXT]; /* in the locale's own words, for its own strtod */
    snprintf(text, sizeof text, "%.5e", value);
    return strtod(text, NULL);
}

static const char *
number_text(char text[H5TWIN_NUMBER_TEXT], double value)
{
    h5twin_number_write(text, h5twin_round_for_people(value));
    return text;
}

static void
print_promise(const struct h5twin_comparison *comparison)
{
    static const char *const units[] = {[H5TWIN_BOUND_ABS] = "",
                                        [H5TWIN_BOUND_NOA] = " * (max - min)",
                                        [H5TWIN_BOUND_REL] = " * |x|"};
    char bound[H5TWIN_NUMBER_TEXT];
    const uint64_t beyond = comparison->violation_count - comparison->lost_count -
                            comparison->became_count - comparison->left_count;
    if (comparison->promise.kind != H5TWIN_BOUND_NONE) {
        h5twin_number_write(bound, comparison->promise.bound);
        printf(", bound %s%s ", bound, units[comparison->promise.kind]);
        if (beyond == 0) {
            printf("kept");
        } else {
            printf("EXCEEDED by %llu", (unsigned long long)beyond);
        }
    }
}

int
h5twin_verify_print(const char *name, const struct h5twin_comparison *comparison, bool is_float)
{
    char error[H5TWIN_NUMBER_TEXT], mean[H5TWIN_NUMBER_TEXT], psnr[H5TWIN_NUMBER_TEXT];
    h5twin_print("%s: %llu value%s", name, (unsigned long long)comparison->value_count,
                 comparison->value_count == 1 ? "" : "s");
    if (comparison->different_count == 0) {
        puts(", identical");
        return H5TWIN_EXIT_OK;
    }
    if (is_float) {
        h5twin_number_write(error, comparison->max_error);
        printf(", max error %s, mean error %s, PSNR %s dB", error,
               number_text(mean, h5twin_compare_mean_error(comparison)),
               number_text(psnr, h5twin_compare_psnr(comparison)));
        print_promise(comparison);
        if (comparison->lost_count != 0) {
            printf(", %llu non-finite or fill values CHANGED",
                   (unsigned long long)comparison->lost_count);
        }
        if (comparison->became_count != 0) {
            printf(", %llu other values BECAME the fill value",
                   (unsigned long long)comparison->became_count);
        }
        if (comparison->left_count != 0) {
            printf(", %llu values LEFT the limits", (unsigned long long)comparison->left_count);
        }
    }
    if (comparison->promise.kind == H5TWIN_BOUND_NONE || !is_float) {
        printf(", %llu DIFFER", (unsigned long long)comparison->different_count);
    }
    puts("");
    return comparison->violation_count == 0 ? H5TWIN_EXIT_OK : H5TWIN_EXIT_FAILED;
}

/* ---- raw files ---- */

static int
fail_to_read(const char *path)
{
    return h5twin_fail("%s cannot be read: %s.", path, strerror(errno));
}

/* A whole piece, unless the file ends. */
static size_t
read_piece(FILE *file, uint8_t piece[PIECE_BYTES])
{
    return fread(piece, 1, PIECE_BYTES, file);
}

static int
find_range(struct h5twin_comparison *comparison, const struct h5twin_verify_args *args, FILE *file,
           uint8_t piece[PIECE_BYTES])
{
    size_t size;
    while ((size = read_piece(file, piece)) > 0) {
        h5twin_compare_range(comparison, &args->params, piece, size / args->params.element_size);
    }
    return ferror(file) || fseeko(file, 0, SEEK_SET) != 0 ? fail_to_read(args->paths[0])
                                                          : H5TWIN_EXIT_OK;
}

static int
compare_files(struct h5twin_comparison *comparison, const struct h5twin_verify_args *args,
              FILE *const files[2], uint8_t pieces[2][PIECE_BYTES])
{
    const struct h5twin_params *const params = &args->params;
    size_t sizes[2];
    do {
        for (int i = 0; i < 2; i++) {
            sizes[i] = read_piece(files[i], pieces[i]);
            if (ferror(files[i])) {
                return fail_to_read(args->paths[i]);
            }
        }
        if (sizes[0] != sizes[1]) {
            return h5twin_fail("%s is shorter than %s: they are not of the same array.",
                               args->paths[sizes[0] > sizes[1]], args->paths[sizes[0] < sizes[1]]);
        }
        h5twin_compare(comparison, params, pieces[0], params, pieces[1],
                       sizes[0] / params->element_size);
    } while (sizes[0] == PIECE_BYTES);
    return H5TWIN_EXIT_OK;
}

/* The original, which is read twice if there is a range to find: no pipe. */
static int
open_original(FILE **file, const struct h5twin_verify_args *args)
{
    *file = fopen(args->paths[0], "rb");
    const off_t size = *file == NULL || fseeko(*file, 0, SEEK_END) != 0 ? -1 : ftello(*file);
    if (size < 0 || fseeko(*file, 0, SEEK_SET) != 0) {
        return fail_to_read(args->paths[0]);
    }
    if (size % (off_t)args->params.element_size != 0) {
        return h5twin_fail_usage("verify", "%s holds %lld bytes, no whole number of elements of %u",
                                 args->paths[0], (long long)size,
                                 (unsigned)args->params.element_size);
    }
    return h5twin_check_dims(&args->params, "verify", args->paths[0], (size_t)size);
}

static int
compare_raw(const struct h5twin_verify_args *args, FILE *files[2], uint8_t pieces[2][PIECE_BYTES])
{
    struct h5twin_comparison comparison = {.promise = args->promise};
    int result = open_original(&files[0], args);
    if (result == H5TWIN_EXIT_OK) {
        files[1] = strcmp(args->paths[1], "-") == 0 ? stdin : fopen(args->paths[1], "rb");
        result = files[1] == NULL ? fail_to_read(args->paths[1]) : H5TWIN_EXIT_OK;
    }
    if (result == H5TWIN_EXIT_OK && args->promise.kind == H5TWIN_BOUND_NOA) {
        result = find_range(&comparison, args, files[0], pieces[0]);
    }
    if (result == H5TWIN_EXIT_OK) {
        result = compare_files(&comparison, args, files, pieces);
    }
    return result == H5TWIN_EXIT_OK
               ? h5twin_verify_print(args->paths[1], &comparison, args->params.kind == H5TWIN_FLOAT)
               : result;
}

static int
verify_raw(const struct h5twin_verify_args *args)
{
    FILE *files[2] = {NULL, NULL};
    uint8_t(*const pieces)[PIECE_BYTES] = (void *)h5twin_memory_get(2 * PIECE_BYTES, "values");
    const int result = pieces == NULL ? H5TWIN_EXIT_FAILED : compare_raw(args, files, pieces);
    for (int i = 0; i < 2; i++) {
        if (files[i] != NULL && files[i] != stdin) {
            fclose(files[i]);
        }
    }
    free(pieces);
    return result;
}

/* ---- all together ---- */

static int
verify(struct h5twin_verify_args *args)
{
    const bool has_bound = args->promise.kind != H5TWIN_BOUND_NONE || args->promise.has_fill ||
                           args->promise.has_limit[0] || args->promise.has_limit[1];
    bool hdf5[2];
    for (int i = 0; i < 2; i++) {
        args->datasets[i] = h5twin_file_split(args->paths[i]);
        hdf5[i] = h5twin_file_is_hdf5(args->paths[i]);
    }
    for (int i = 0; i < 2; i++) {
        if (!(i == 1 && strcmp(args->paths[i], "-") == 0) && !h5twin_file_check(args->paths[i])) {
            return H5TWIN_EXIT_FAILED;
        }
    }
    if (args->has_type || args->params.rank != 0) {
        return hdf5[0] || hdf5[1]
                   ? h5twin_fail_usage("verify",
                                       "%s is an HDF5 file, which knows its --type and --dims",
                                       args->paths[!hdf5[0]])
               : !args->has_type ? h5twin_fail_usage("verify", "--type is missing")
               : has_bound && args->params.kind != H5TWIN_FLOAT
                   ? h5twin_fail_usage("verify",
                                       "a bound, a limit or --fill needs floating-point numbers")
                   : verify_raw(args);
    }
    if (!hdf5[0] || !hdf5[1]) {
        return h5twin_fail_usage("verify", "%s is not an HDF5 file: --type is missing",
                                 args->paths[hdf5[0]]);
    }
    if (args->datasets[1] != NULL && args->datasets[0] == NULL) {
        return h5twin_fail_usage("verify",
                                 "B names a dataset and A does not: A.h5:DATASET is missing");
    }
    return h5twin_verify_hdf5(args);
}

int
h5twin_command_verify(int argc, char **argv)
{
    struct h5twin_verify_args args;
    const int result = parse(&args, argc, argv);
    if (result != H5TWIN_EXIT_OK) {
        return result;
    }
    if (args.help) {
        print_help();
        return H5TWIN_EXIT_OK;
    }
    return verify(&args);
}
