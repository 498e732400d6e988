/* SPDX-License-Identifier: BSD-3-Clause
 * policy_command.c: the command line of `h5twin policy`. */
#include "policy_command.h"

#include "array_args.h"
#include "commands.h"
#include "files.h"
#include "messages.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static void
print_help(void)
{
    puts(
        "Usage: h5twin policy [OPTION]... FILE.h5\n"
        "       h5twin policy --check POLICY...\n"
        "       h5twin policy --explain POLICY FILE.h5\n"
        "\n"
        "A policy gives codecs to what programs store without any: rules, one a line, of which "
        "the\n"
        "first that fits a dataset decides. `h5twin run --policy POLICY PROGRAM...`, the variable\n"
        "H5TWIN_POLICY and Python's h5twin.auto apply it.\n"
        "\n"
        "  # pattern     conditions        action\n"
        "  /fields/**    float >=64KiB  -> lattice:abs=1e-3\n"
        "  velocity_?    rank=3         -> cascade chunks=auto\n"
        "  **            integer        -> none\n"
        "\n"
        "Pattern: as in .gitignore, a name or a path with * ? [a-z] and **; \"in quotes\" where "
        "it\n"
        "has blanks. Conditions: a type (float, float32, float64, integer, int16, complex ...), a\n"
        "size (>=64KiB, <1GiB; of a chunk, where a dataset can grow), rank=3, dims=*x180x360,\n"
        "extendable, fixed. Action: a SPEC of `h5twin codecs`, or none; chunks=16x64x64, auto or\n"
        "keep; collective, for MPI programs that write in collective calls;\n"
        "append=hold: rows that are appended are held until their chunks are full.\n"
        "Left alone by every rule: what has filters, is compact, virtual or elsewhere; strings,\n"
        "compounds, scalars; what is below 16 KiB, unless the rule names a size; and coordinates\n"
        "(lat, lon, time, x ...), unless the rule spells out their name.\n"
        "\n"
        "Without --check or --explain, a policy for the datasets of FILE.h5 is printed, with what\n"
        "it would gain. Each is tried as by `h5twin suggest`:\n"
        "\n"
        "  --abs E         this absolute error bound for floats\n"
        "  --noa E         this bound relative to max - min of each chunk\n"
        "  --rel E         this bound relative to each value\n"
        "  --best WHAT     ratio, speed or balance (default balance)\n"
        "  --codec NAME    try this codec alone; may be repeated\n"
        "  --sample BYTES  size of the sample of each dataset, with k, M or G (default 1M)\n"
        "  --threads N     threads that encode and decode a piece (default 1)\n"
        "\n"
        "  --check         say where a policy is wrong; exit code 1 if it is\n"
        "  --explain       a line for each dataset of FILE.h5, with tabs between: path, array,\n"
        "                  codec or \"left alone\", rule and chunks or why not; filters that it\n"
        "                  has are not looked at\n"
        "\n"
        "  h5twin policy --abs 1e-3 yesterday.h5 > rules.policy\n"
        "  h5twin policy --explain rules.policy yesterday.h5");
}

struct arguments {
    struct h5twin_policy_draft_args draft;
    bool check, help;
    const char *explain; /* the policy; NULL */
    bool is_draft;       /* an option of drafts was given */
};

static int
set_best(struct arguments *arguments, const char *text)
{
    static const struct {
        const char *name;
        enum h5twin_best best;
    } all[] = {
        {"ratio", H5TWIN_BEST_RATIO}, {"speed", H5TWIN_FASTEST}, {"balance", H5TWIN_BEST_BALANCE}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(text, all[i].name) == 0) {
            arguments->draft.best = all[i].best;
            return H5TWIN_EXIT_OK;
        }
    }
    return h5twin_fail_usage("policy", "--best %s is none of ratio, speed, balance", text);
}

static int
take_option(void *all, int code)
{
    struct arguments *const arguments = all;
    struct h5twin_suggest_args *const suggest = &arguments->draft.suggest;
    arguments->is_draft = arguments->is_draft || (code != 'k' && code != 'e');
    switch (code) {
    case 'k':
        arguments->check = true;
        return H5TWIN_EXIT_OK;
    case 'e':
        arguments->explain = optarg;
        return H5TWIN_EXIT_OK;
    case 'a':
        return h5twin_suggest_add_bound(suggest, "policy", "abs", optarg);
    case 'n':
        return h5twin_suggest_add_bound(suggest, "policy", "noa", optarg);
    case 'r':
        return h5twin_suggest_add_bound(suggest, "policy", "rel", optarg);
    case 'b':
        return set_best(arguments, optarg);
    case 'c':
        return h5twin_suggest_add_codec(suggest, "policy", optarg);
    case 's':
        return h5twin_suggest_set_sample(suggest, "policy", optarg);
    default: /* 'T' */
        return h5twin_parse_threads(&suggest->exec, "policy", optarg);
    }
}

static int
check(int count, char **paths)
{
    int result = count > 0 ? H5TWIN_EXIT_OK : h5twin_fail_usage("policy", "POLICY is missing");
    for (int i = 0; i < count; i++) {
        char error[H5TWIN_POLICY_SENTENCE];
        if (!h5twin_policy_check(paths[i], error)) {
            result = h5twin_fail("%s", error);
        }
    }
    return result;
}

static int
check_file(const char *path)
{
    return !h5twin_file_check(path) ? H5TWIN_EXIT_FAILED
           : h5twin_file_is_hdf5(path)
               ? H5TWIN_EXIT_OK
               : h5twin_fail("%s is not an HDF5 file: name one that a program has written.", path);
}

static int
explain(const char *policy_path, const char *path)
{
    char error[H5TWIN_POLICY_SENTENCE];
    struct h5twin_policy *const policy = h5twin_policy_read(policy_path, error);
    if (policy == NULL) {
        return h5twin_fail("%s", error);
    }
    int result = check_file(path);
    if (result == H5TWIN_EXIT_OK) {
        result = h5twin_policy_explain(policy, path);
    }
    h5twin_policy_free(policy);
    return result;
}

static int
run(struct arguments *arguments, int count, char **rest)
{
    if (arguments->check || arguments->explain != NULL) {
        if (arguments->is_draft || (arguments->check && arguments->explain != NULL)) {
            return h5twin_fail_usage("policy", "--check and --explain go with no other option");
        }
    }
    if (arguments->check) {
        return check(count, rest);
    }
    if (count != 1) {
        return h5twin_fail_usage("policy", "expected one FILE.h5, but got %d", count);
    }
    if (arguments->explain != NULL) {
        return explain(arguments->explain, rest[0]);
    }
    if (arguments->draft.suggest.bound_count > 1) {
        return h5twin_fail_usage("policy", "there is more than one bound");
    }
    arguments->draft.suggest.path = rest[0];
    const int result = check_file(rest[0]);
    return result == H5TWIN_EXIT_OK ? h5twin_policy_draft(&arguments->draft) : result;
}

int
h5twin_command_policy(int argc, char **argv)
{
    static const struct option options[] = {{"check", no_argument, NULL, 'k'},
                                            {"explain", required_argument, NULL, 'e'},
                                            {"abs", required_argument, NULL, 'a'},
                                            {"noa", required_argument, NULL, 'n'},
                                            {"rel", required_argument, NULL, 'r'},
                                            {"best", required_argument, NULL, 'b'},
                                            {"codec", required_argument, NULL, 'c'},
                                            {"sample", required_argument, NULL, 's'},
                                            {"threads", required_argument, NULL, 'T'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct arguments arguments = {
        .draft = {.suggest = {.exec = {.threads = 1}, .sample_size = (size_t)1 << 20},
                  .best = H5TWIN_BEST_BALANCE}};
    const int result =
        h5twin_each_option(argc, argv, options, take_option, &arguments, &arguments.help);
    if (result == H5TWIN_EXIT_OK && arguments.help) {
        print_help();
        return H5TWIN_EXIT_OK;
    }
    return result == H5TWIN_EXIT_OK ? run(&arguments, argc - optind, argv + optind) : result;
}
