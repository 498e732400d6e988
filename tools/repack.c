/* SPDX-License-Identifier: BSD-3-Clause
 * repack.c: the command line of `h5twin repack`. */
#include "repack.h"

#include "array_args.h"
#include "commands.h"
#include "deflate.h"
#include "files.h"
#include "messages.h"
#include "policy_glob.h"
#include "posix.h"

#ifdef H5TWIN_HAVE_FILTERS
#    include "policy_command.h"
#endif

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_DEFLATE 6

static void
print_help(void)
{
    puts(
        "Usage: h5twin repack --codec SPEC [OPTION]... IN.h5 OUT.h5\n"
        "       h5twin repack --set PATTERN=SPEC [--set ...] [OPTION]... IN.h5 OUT.h5\n"
        "       h5twin repack --policy FILE [OPTION]... IN.h5 OUT.h5\n"
        "       h5twin repack --replace --codec SPEC [OPTION]... FILE.h5\n"
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
        "A dataset that is coded with a bound says so in attributes lossy_compression...: the "
        "spec,\n"
        "the version, and the largest error.\n"
        "\n"
        "OUT is written under a name of its own beside its place, synced and renamed: if anything\n"
        "fails, or the command is killed, there is no half OUT, and IN is only read.\n"
        "\n"
        "  --codec SPEC     ndzip, sleek:abs=1e-3, ...; `h5twin codecs` lists them\n"
        "  --set PATTERN=SPEC  datasets of this name get this codec; keep: as they are. The first\n"
        "                   --set that fits decides, then --policy, then --codec. Patterns are\n"
        "                   those of policies: a name (temp*), or a path (/fields/**)\n"
        "  --policy FILE    rules as for `h5twin run`: see `h5twin policy --help`\n"
        "  --only PATTERN   only datasets of this name; others are copied as they are. * ? [abc]\n"
        "                   stand for characters; a PATTERN with a / is compared with the whole\n"
        "                   name (/group/*), else with its last part (temp*). May be repeated\n"
        "  --chunks CHUNKS  keep (default): the dataset's own, where it has chunks; auto: those\n"
        "                   that suit its shape, up to 1 MiB; AxBxC: these, slowest axis first\n"
        "  --noa-of dataset a bound noa=E is E times the range of the whole dataset, which is "
        "read\n"
        "                   twice then; chunk (default): of each chunk's own range\n"
        "  --then deflate   HDF5's deflate behind the codec; deflate=N for level N, 1 to 9\n"
        "  --seal           seal all datasets with chunks, for `h5twin check`: see there\n"
        "  --verify         compare OUT with IN, by the bounds, before it gets its name\n"
        "  --replace        put the new file in place of FILE, after --verify; it keeps mode and\n"
        "                   owner. Not where FILE has other names (hard links), is open for\n"
        "                   writing, or changes meanwhile\n"
        "  --json           what was done as JSON, in place of the table\n"
        "  --no-attributes  do not write attributes\n"
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
parse_spec(struct h5twin_params *params, const char *text)
{
    const char *where = "";
    enum h5twin_status status = h5twin_params_parse(params, text, &where);
    if (status == H5TWIN_OK) {
        status = h5twin_params_check(params);
    }
    return status == H5TWIN_OK ? H5TWIN_EXIT_OK
                               : h5twin_fail_status(*where != '\0' ? where : text, status);
}

/* Whether a spec starts here: a name may hold a = of its own. */
static bool
starts_spec(const char *text)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
    return strcmp(text, "keep") == 0 || h5twin_codec_by_name(name) != NULL;
}

/* PATTERN=SPEC */
static int
parse_set(struct h5twin_repack_args *args, char *text)
{
    char *equals = strchr(text, '=');
    for (char *next = equals; next != NULL; next = strchr(next + 1, '=')) {
        if (starts_spec(next + 1)) {
            equals = next;
            break;
        }
    }
    if (equals == NULL || equals == text) {
        return h5twin_fail_usage("repack", "--set %s is not like 'temp*=lattice:abs=1e-3'", text);
    }
    if (args->rule_count == H5TWIN_MAX_PATTERNS) {
        return h5twin_fail_usage("repack", "--set is given more than %d times",
                                 H5TWIN_MAX_PATTERNS);
    }
    struct h5twin_repack_rule *const rule = &args->rules[args->rule_count++];
    const char *at;
    *equals = '\0';
    rule->pattern = text;
    const char *const wrong = h5twin_policy_glob_check(text, &at);
    if (wrong != NULL) {
        return h5twin_fail_usage("repack", "--set %s: %s", text, wrong);
    }
    rule->is_kept = strcmp(equals + 1, "keep") == 0;
    h5twin_params_init(&rule->params, (enum h5twin_codec_id)0);
    return rule->is_kept ? H5TWIN_EXIT_OK : parse_spec(&rule->params, equals + 1);
}

static int
parse_policy(struct h5twin_repack_args *args, const char *path)
{
#ifdef H5TWIN_HAVE_FILTERS
    char error[H5TWIN_POLICY_SENTENCE];
    args->policy = h5twin_policy_read(path, error);
    return args->policy == NULL ? h5twin_fail("%s", error) : H5TWIN_EXIT_OK;
#else
    args->policy = NULL;
    return h5twin_fail("--policy %s: this h5twin was built without the HDF5 filters.", path);
#endif
}

static int
parse_chunks(struct h5twin_repack_args *args, const char *text)
{
    if (strcmp(text, "keep") == 0 || strcmp(text, "auto") == 0) {
        args->choice.chunks = text[0] == 'k' ? H5TWIN_CHUNKS_KEEP : H5TWIN_CHUNKS_AUTO;
        return H5TWIN_EXIT_OK;
    }
    args->choice.chunks = H5TWIN_CHUNKS_GIVEN;
    return text[0] >= '0' && text[0] <= '9'
               ? h5twin_parse_dims(&args->choice.chunk_shape, "repack", "--chunks", text)
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
        args->has_codec = true;
        return parse_spec(&args->choice.params, optarg);
    case 's':
        return parse_set(args, optarg);
    case 'p':
        return parse_policy(args, optarg);
    case 'n':
        args->noa_of_dataset = strcmp(optarg, "dataset") == 0;
        return args->noa_of_dataset || strcmp(optarg, "chunk") == 0
                   ? H5TWIN_EXIT_OK
                   : h5twin_fail_usage("repack", "--noa-of %s is not chunk or dataset", optarg);
    case 'r':
        args->replace = true;
        args->verify = true;
        return H5TWIN_EXIT_OK;
    case 'v':
        args->verify = true;
        return H5TWIN_EXIT_OK;
    case 'S':
        args->seal = true;
        return H5TWIN_EXIT_OK;
    case 'j':
        args->json = true;
        return H5TWIN_EXIT_OK;
    case 'a':
        args->leave_attributes = true;
        return H5TWIN_EXIT_OK;
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
        {"set", required_argument, NULL, 's'},
        {"policy", required_argument, NULL, 'p'},
        {"only", required_argument, NULL, 'o'},
        {"noa-of", required_argument, NULL, 'n'},
        {"replace", no_argument, NULL, 'r'},
        {"verify", no_argument, NULL, 'v'},
        {"json", no_argument, NULL, 'j'},
        {"seal", no_argument, NULL, 'S'},
        {"no-attributes", no_argument, NULL, 'a'},
        {"chunks", required_argument, NULL, 'k'},
        {"then", required_argument, NULL, 't'},
        {"force", no_argument, NULL, 'f'},
        {"quiet", no_argument, NULL, 'q'},
        {"threads", required_argument, NULL, 'T'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    *args = (struct h5twin_repack_args){.has_codec = false};
    h5twin_params_init(&args->choice.params, (enum h5twin_codec_id)0);
    const int result = h5twin_each_option(argc, argv, options, take_option, args, &args->help);
    if (result != H5TWIN_EXIT_OK || args->help) {
        return result;
    }
    if (!args->has_codec && args->rule_count == 0 && args->policy == NULL) {
        return h5twin_fail_usage(argv[0], "--codec is missing, or --set or --policy");
    }
    if (args->pattern_count > 0 && !args->has_codec) {
        return h5twin_fail_usage(argv[0], "--only goes with --codec: a --set has its own pattern");
    }
    if (args->replace && args->force) {
        return h5twin_fail_usage(argv[0], "--force is for OUT, and --replace has none");
    }
    if (argc - optind != (args->replace ? 1 : 2)) {
        return args->replace
                   ? h5twin_fail_usage(argv[0], "expected one HDF5 file to --replace, but got %d",
                                       argc - optind)
                   : h5twin_fail_usage(argv[0], "expected IN and OUT, two HDF5 files, but got %d",
                                       argc - optind);
    }
    args->src_path = argv[optind];
    args->dst_path = argv[args->replace ? optind : optind + 1];
    return H5TWIN_EXIT_OK;
}

/* ---- names ---- */

/* By --codec and --only. */
static bool
is_asked_for(const struct h5twin_repack_args *args, const char *name, bool *named)
{
    const char *const slash = strrchr(name, '/');
    bool found = args->pattern_count == 0;
    for (size_t i = 0; i < args->pattern_count; i++) {
        const bool whole = strchr(args->patterns[i], '/') != NULL || slash == NULL;
        const bool matches = fnmatch(args->patterns[i], whole ? name : slash + 1, 0) == 0;
        found = found || matches;
        *named = *named || (matches && strpbrk(args->patterns[i], "*?[") == NULL);
    }
    return found && args->has_codec;
}

/* By a policy. Its rule decides, as it would if the dataset were created now. */
static bool
is_of_policy(const struct h5twin_repack_args *args, const char *name, int64_t dataset,
             struct h5twin_repack_choice *choice, char why[H5TWIN_REPACK_WHY])
{
#ifdef H5TWIN_HAVE_FILTERS
    struct h5twin_policy_dataset described;
    struct h5twin_policy_outcome outcome;
    const char *reason;
    const bool is_usual = h5twin_policy_dataset_of(dataset, name, &described, &reason);
    h5twin_policy_choose(args->policy, &described, &outcome);
    if (!is_usual || !outcome.is_coded) {
        snprintf(why, H5TWIN_REPACK_WHY, "%s", is_usual ? outcome.why : reason);
        return false;
    }
    choice->params = outcome.params;
    if (outcome.is_new_chunk && outcome.rank <= H5TWIN_MAX_RANK) {
        choice->chunks = H5TWIN_CHUNKS_GIVEN;
        choice->chunk_shape.rank = outcome.rank;
        memcpy(choice->chunk_shape.dims, outcome.chunk,
               outcome.rank * sizeof choice->chunk_shape.dims[0]);
    }
    return true;
#else
    (void)args;
    (void)name;
    (void)dataset;
    (void)choice;
    (void)why;
    return false;
#endif
}

bool
h5twin_repack_choose(const struct h5twin_repack_args *args, const char *name, int64_t dataset,
                     struct h5twin_repack_choice *choice, bool *named, char why[H5TWIN_REPACK_WHY])
{
    *choice = args->choice;
    why[0] = '\0';
    for (size_t i = 0; i < args->rule_count; i++) {
        const struct h5twin_repack_rule *const rule = &args->rules[i];
        if (h5twin_policy_glob_match(rule->pattern, name)) {
            *named = *named || h5twin_policy_glob_ends_in_name(rule->pattern);
            choice->params = rule->params;
            if (rule->is_kept) {
                snprintf(why, H5TWIN_REPACK_WHY, "asked to keep");
            }
            return !rule->is_kept;
        }
    }
    if (args->policy != NULL && is_of_policy(args, name, dataset, choice, why)) {
        return true;
    }
    const bool found = is_asked_for(args, name, named);
    if (found) {
        why[0] = '\0';
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
    if (args->replace) {
        return H5TWIN_EXIT_OK; /* looked at before it is opened */
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
    if (result == H5TWIN_EXIT_OK) {
        result = h5twin_repack_hdf5(&args);
    }
#ifdef H5TWIN_HAVE_FILTERS
    h5twin_policy_free((struct h5twin_policy *)(uintptr_t)args.policy);
#endif
    return result;
}
