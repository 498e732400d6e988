/* SPDX-License-Identifier: BSD-3-Clause
 * repack.c: the command line of `h5twin repack`. */
#include "repack.h"

#include "array_args.h"
#include "commands.h"
#include "deflate.h"
#include "files.h"
#include "messages.h"
#include "posix.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_DEFLATE 6

static void
print_help(void)
{
    puts(
        "Usage: h5twin repack --codec SPEC [OPTION]... IN.h5 OUT.h5\n"
        "\n"
        "Write an HDF5 file anew, its datasets of numbers through a codec. All else is kept:\n"
        "groups, links of all kinds, objects with several names, attributes, strings, compounds,\n"
        "references, named types, fill values, unlimited dims, chunks that were never written,\n"
        "orders of creation. Datasets that the codec has no use for are copied as they are, and\n"
        "the table that is printed says why. Filters that a dataset had before are dropped where\n"
        "it gets the codec. Chunks are coded on all cores; memory is for some of them.\n"
        "\n"
        "With a bound, coordinates are copied as they are, unless --only gives their names "
        "without\n"
        "* ? [: dimension scales, what CF's attributes name (coordinates, bounds, climatology,\n"
        "grid_mapping, formula_terms, cell_measures), and what has an axis or the units of a "
        "time,\n"
        "latitude or longitude. A dataset that would not get smaller keeps its filters and "
        "chunks.\n"
        "\n"
        "OUT is written under a name of its own beside its place, synced and renamed: if anything\n"
        "fails, or the command is killed, there is no half OUT, and IN is only read.\n"
        "\n"
        "  --codec SPEC     ndzip, sleek:abs=1e-3, ...; `h5twin codecs` lists them\n"
        "  --only PATTERN   only datasets of this name; others are copied as they are. * ? [abc]\n"
        "                   stand for characters; a PATTERN with a / is compared with the whole\n"
        "                   name (/group/*), else with its last part (temp*). May be repeated\n"
        "  --chunks CHUNKS  keep (default): the dataset's own, where it has chunks; auto: those\n"
        "                   that suit its shape, up to 1 MiB; AxBxC: these, slowest axis first\n"
        "  --then deflate   HDF5's deflate behind the codec; deflate=N for level N, 1 to 9\n"
        "  --force          replace OUT if it is there\n"
        "  --quiet          no table, no progress bar\n"
        "  --threads N      default: H5TWIN_NUM_THREADS, OMP_NUM_THREADS or the cores\n"
        "\n"
        "Exit codes: 0 done; 1 the files cannot be read or written; 2 the command line is wrong.\n"
        "\n"
        "  h5twin repack --codec cascade in.h5 out.h5\n"
        "  h5twin repack --codec lattice:abs=1e-3 --only 'temp*' --chunks auto in.nc out.nc\n"
        "  h5twin verify --abs 1e-3 in.nc out.nc");
}

/* ---- the command line ---- */

static int
parse_codec(struct h5twin_repack_args *args, const char *text)
{
    const char *where = "";
    enum h5twin_status status = h5twin_params_parse(&args->params, text, &where);
    if (status == H5TWIN_OK) {
        status = h5twin_params_check(&args->params);
    }
    args->has_codec = true;
    return status == H5TWIN_OK ? H5TWIN_EXIT_OK
                               : h5twin_fail_status(*where != '\0' ? where : text, status);
}

static int
parse_chunks(struct h5twin_repack_args *args, const char *text)
{
    if (strcmp(text, "keep") == 0 || strcmp(text, "auto") == 0) {
        args->chunks = text[0] == 'k' ? H5TWIN_CHUNKS_KEEP : H5TWIN_CHUNKS_AUTO;
        return H5TWIN_EXIT_OK;
    }
    args->chunks = H5TWIN_CHUNKS_GIVEN;
    return text[0] >= '0' && text[0] <= '9'
               ? h5twin_parse_dims(&args->chunk_shape, "repack", "--chunks", text)
               : h5twin_fail_usage("repack", "--chunks %s is not keep, auto or like 64x128x128",
                                   text);
}

static int
parse_then(struct h5twin_repack_args *args, const char *text)
{
    static const char deflate[] = "deflate";
    const char *const rest = text + strlen(deflate);
    if (!h5twin_has_deflate()) {
        return h5twin_fail("--then %s: this h5twin was built without zlib.", text);
    }
    if (strcmp(text, deflate) == 0) {
        args->deflate_level = DEFAULT_DEFLATE;
        return H5TWIN_EXIT_OK;
    }
    if (strncmp(text, deflate, strlen(deflate)) == 0 && rest[0] == '=' && rest[1] >= '1' &&
        rest[1] <= '9' && rest[2] == '\0') {
        args->deflate_level = rest[1] - '0';
        return H5TWIN_EXIT_OK;
    }
    return h5twin_fail_usage("repack", "--then %s is not deflate, or deflate=1 to deflate=9", text);
}

static int
take_option(void *all_args, int code)
{
    struct h5twin_repack_args *const args = all_args;
    switch (code) {
    case 'c':
        return parse_codec(args, optarg);
    case 'o':
        if (args->pattern_count == H5TWIN_MAX_PATTERNS) {
            return h5twin_fail_usage("repack", "--only is given more than %d times",
                                     H5TWIN_MAX_PATTERNS);
        }
        args->patterns[args->pattern_count++] = optarg;
        return H5TWIN_EXIT_OK;
    case 'k':
        return parse_chunks(args, optarg);
    case 't':
        return parse_then(args, optarg);
    case 'f':
        args->force = true;
        return H5TWIN_EXIT_OK;
    case 'q':
        args->quiet = true;
        return H5TWIN_EXIT_OK;
    default: /* 'T' */
        return h5twin_parse_threads(&args->exec, "repack", optarg);
    }
}

static int
parse(struct h5twin_repack_args *args, int argc, char **argv)
{
    static const struct option options[] = {
        {"codec", required_argument, NULL, 'c'},
        {"only", required_argument, NULL, 'o'},
        {"chunks", required_argument, NULL, 'k'},
        {"then", required_argument, NULL, 't'},
        {"force", no_argument, NULL, 'f'},
        {"quiet", no_argument, NULL, 'q'},
        {"threads", required_argument, NULL, 'T'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *args = (struct h5twin_repack_args){.has_codec = false};
    h5twin_params_init(&args->params, (enum h5twin_codec_id)0);
    const int result = h5twin_each_option(argc, argv, options, take_option, args, &args->help);
    if (result != H5TWIN_EXIT_OK || args->help) {
        return result;
    }
    if (argc - optind != 2) {
        return h5twin_fail_usage(argv[0], "expected IN and OUT, two HDF5 files, but got %d",
                                 argc - optind);
    }
    args->src_path = argv[optind];
    args->dst_path = argv[optind + 1];
    return args->has_codec ? H5TWIN_EXIT_OK : h5twin_fail_usage(argv[0], "--codec is missing");
}

/* ---- names ---- */

bool
h5twin_repack_matches(const struct h5twin_repack_args *args, const char *name, bool *named)
{
    const char *const slash = strrchr(name, '/');
    bool found = args->pattern_count == 0;
    for (size_t i = 0; i < args->pattern_count; i++) {
        const bool whole = strchr(args->patterns[i], '/') != NULL || slash == NULL;
        const bool matches = fnmatch(args->patterns[i], whole ? name : slash + 1, 0) == 0;
        found = found || matches;
        *named = *named || (matches && strpbrk(args->patterns[i], "*?[") == NULL);
    }
    return found;
}

/* ---- all together ---- */

/* What would lose a file. */
static int
check_files(const struct h5twin_repack_args *args)
{
    struct stat dst;
    if (!h5twin_file_check(args->src_path)) {
        return H5TWIN_EXIT_FAILED;
    }
    if (!h5twin_file_is_hdf5(args->src_path)) {
        return h5twin_fail("%s is not an HDF5 file.", args->src_path);
    }
    if (!h5twin_file_check_new(args->dst_path)) {
        return H5TWIN_EXIT_FAILED;
    }
    if (stat(args->dst_path, &dst) != 0) {
        return H5TWIN_EXIT_OK;
    }
    if (h5twin_same_file(args->src_path, args->dst_path)) {
        return h5twin_fail("%s and %s are the same file: give OUT another name.", args->src_path,
                           args->dst_path);
    }
    if (!S_ISREG(dst.st_mode)) {
        return h5twin_fail("%s is there and no regular file: give OUT another name.",
                           args->dst_path);
    }
    return args->force ? H5TWIN_EXIT_OK
                       : h5twin_fail("%s is there already: give OUT another name, or --force to "
                                     "replace it.",
                                     args->dst_path);
}

int
h5twin_command_repack(int argc, char **argv)
{
    struct h5twin_repack_args args;
    int result = parse(&args, argc, argv);
    if (result != H5TWIN_EXIT_OK) {
        return result;
    }
    if (args.help) {
        print_help();
        return H5TWIN_EXIT_OK;
    }
    result = check_files(&args);
    return result == H5TWIN_EXIT_OK ? h5twin_repack_hdf5(&args) : result;
}
