/* SPDX-License-Identifier: BSD-3-Clause
 * report.c: the command line of `h5twin report`. */
#include "report.h"

#include "commands.h"
#include "files.h"
#include "messages.h"

#include <getopt.h>
#include <stdio.h>

static void
print_help(void)
{
    puts(
        "Usage: h5twin report [--against ORIGINAL] [--json | --html PAGE] FILE.h5\n"
        "\n"
        "A line for each dataset of an HDF5 file: raw and stored size in bytes, their ratio, how\n"
        "many chunks are stored, how many of those did not shrink and are raw, and how many were\n"
        "never written; then its name and its filters, ours with bound and options. At the end\n"
        "the sums. All chunks of our filters are read and their checksums verified.\n"
        "`h5twin info FILE.h5` tells more of each dataset.\n"
        "\n"
        "  --against ORIGINAL  compare the values with those of the same datasets in ORIGINAL, as\n"
        "                      `h5twin verify` does, against the bound that the filter was given;\n"
        "                      a range is that of the whole dataset; and list what is missing\n"
        "  --json              one JSON object instead; null is what is not known or infinite\n"
        "  --html PAGE         a page instead, with bars for sizes and errors, that needs nothing\n"
        "                      else\n"
        "\n"
        "Exit codes: 0 done; 1 chunks are damaged, values are beyond their bound or, without one,\n"
        "changed by a filter of ours, no dataset is in both files, or these cannot be read; 2 the\n"
        "command line is wrong.\n"
        "\n"
        "  h5twin report checkpoint.h5\n"
        "  h5twin report --json --against before.h5 after.h5\n"
        "  h5twin report --html report.html --against before.h5 after.h5");
}

int
h5twin_command_report(int argc, char **argv)
{
    static const struct option options[] = {{"against", required_argument, NULL, 'a'},
                                            {"json", no_argument, NULL, 'j'},
                                            {"html", required_argument, NULL, 'w'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    struct h5twin_report_args args = {.path = NULL};
    int code;
    opterr = 0;
    while ((code = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        switch (code) {
        case 'h':
            print_help();
            return H5TWIN_EXIT_OK;
        case 'a':
            args.original = optarg;
            break;
        case 'j':
            args.json = true;
            break;
        case 'w':
            args.html = optarg;
            break;
        default:
            return h5twin_fail_option(argv[0], code, argv);
        }
    }
    if (argc - optind != 1) {
        return h5twin_fail_usage(argv[0], "expected one FILE, but got %d", argc - optind);
    }
    if (args.json && args.html != NULL) {
        return h5twin_fail_usage(argv[0], "--json and --html exclude each other");
    }
    args.path = argv[optind];
    const char *const paths[] = {args.path, args.original};
    for (int i = 0; i < 2; i++) {
        if (paths[i] != NULL && !h5twin_file_check(paths[i])) {
            return H5TWIN_EXIT_FAILED;
        }
        if (paths[i] != NULL && !h5twin_file_is_hdf5(paths[i])) {
            return h5twin_fail("%s is not an HDF5 file: `h5twin info` looks into chunks.",
                               paths[i]);
        }
    }
    return h5twin_report_hdf5(&args);
}
