/* SPDX-License-Identifier: BSD-3-Clause
 * main.c: the `h5twin` command: finds the subcommand, and sees to it that its output arrived. */
#include "commands.h"
#include "common/environment.h"
#include "h5twin.h"
#include "messages.h"
#include "posix.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"encode", h5twin_command_encode, "compress a file of raw numbers into one chunk"},
    {"decode", h5twin_command_decode, "turn a chunk back into the numbers"},
    {"info", h5twin_command_info, "what is in a chunk, or in the datasets of an HDF5 file"},
    {"args", h5twin_command_args, "a spec as lines to paste: h5repack, nccopy, C, h5py"},
    {"suggest", h5twin_command_suggest, "try all codecs on your data: ratio and speed"},
    {"codecs", h5twin_command_codecs, "the codecs and their options"},
    {"verify", h5twin_command_verify, "is what came back what it was, or within its bound?"},
    {"check", h5twin_command_check, "is each chunk of an HDF5 file there, whole and in its place?"},
    {"report", h5twin_command_report,
     "what each dataset of an HDF5 file gained: a table, JSON or a page"},
    {"repack", h5twin_command_repack, "write an HDF5 file anew, its arrays through a codec"},
#ifdef H5TWIN_HAVE_FILTERS
    {"policy", h5twin_command_policy, "rules that give programs codecs: draft, check, explain"},
#endif
    {"explain", h5twin_command_explain, "parameters of a filter (cd_values), or a file, in words"},
    {"run", h5twin_command_run, "run a program unchanged: its arrays are coded on all cores"},
};

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static void
print_help(void)
{
    puts("h5twin " H5TWIN_VERSION
         ": compress arrays of numbers, without loss or within an error bound.\n"
         "\n"
         "Usage: h5twin COMMAND [OPTION]... [FILE]...\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        printf("  %-8s %s\n", commands[i].name, commands[i].summary);
    }
    puts(
        "\n"
        "`h5twin help COMMAND`, or `h5twin COMMAND --help`, explains a command. A first try:\n"
        "\n"
        "  h5twin suggest --type f32 --dims 64x128x128 field.bin    which codec suits my data?\n"
        "  h5twin args sleek:abs=1e-3                               how do I use it from h5py?\n"
        "  h5twin report checkpoint.h5                              what did it gain?\n"
        "  h5twin verify --abs 1e-3 before.h5 after.h5              is it within the bound?\n"
        "\n"
        "A chunk is what the HDF5 filters of this project store: it says itself what it holds and\n"
        "carries a checksum. FILE may be - for stdin or stdout.\n"
        "Exit codes: 0 done; 1 the data or the operation failed; 2 the command line is wrong.");
}

static int
run_command(int argc, char **argv)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[0], commands[i].name) == 0) {
            return commands[i].run(argc, argv);
        }
    }
    return h5twin_fail_usage("", "there is no command %s", argv[0]);
}

/* `help COMMAND`: each command explains itself. */
static int
run_help(int argc, char **argv)
{
    char option[] = "--help";
    char *arguments[] = {argc > 1 ? argv[1] : NULL, option, NULL};
    if (argc > 2) {
        return h5twin_fail_usage("", "help takes one COMMAND, not %d", argc - 1);
    }
    if (argc > 1 && strcmp(argv[1], "help") != 0) {
        return run_command(2, arguments);
    }
    print_help();
    return H5TWIN_EXIT_OK;
}

static int
run(int argc, char **argv)
{
    const char *const name = argc < 2 ? "" : argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_help();
        return H5TWIN_EXIT_OK;
    }
    if (strcmp(name, "--version") == 0) {
        printf("h5twin %s\n", h5twin_version());
        return H5TWIN_EXIT_OK;
    }
    if (strcmp(name, "help") == 0) {
        return run_help(argc - 1, argv + 1);
    }
    return argc < 2 ? h5twin_fail_usage("", "a command is missing")
                    : run_command(argc - 1, argv + 1);
}

#ifdef H5TWIN_COMMAND_IN_LIBRARY /* of the Python package, which calls it */
#    include "package.h"
#    define main h5twin_command_main
#endif

int
main(int argc, char **argv)
{
    h5twin_posix_begin();
    struct h5twin_environment environment; /* of Python's caller, or of -ffast-math's start files */
    h5twin_environment_hold(&environment);
    const int result = run(argc, argv);
    h5twin_environment_release(&environment);
    if ((fflush(stdout) != 0 || ferror(stdout)) && result == H5TWIN_EXIT_OK) {
        return h5twin_fail("stdout cannot be written: %s.", strerror(errno));
    }
    return result;
}
