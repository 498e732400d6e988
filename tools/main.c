/* SPDX-License-Identifier: BSD-3-Clause
 * main.c: the `h5twin` command: finds the subcommand, and sees to it that its output arrived. */
#include "commands.h"
#include "h5twin.h"
#include "messages.h"

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
        "`h5twin COMMAND --help` explains a command. A first try:\n"
        "\n"
        "  h5twin suggest --type f32 --dims 64x128x128 field.bin    which codec suits my data?\n"
        "  h5twin args sleek:abs=1e-3                               how do I use it from h5py?\n"
        "  h5twin info checkpoint.h5                                what did it gain?\n"
        "\n"
        "A chunk is what the HDF5 filters of this project store: it says itself what it holds and\n"
        "carries a checksum. FILE may be - for stdin or stdout.\n"
        "Exit codes: 0 done; 1 the data or the operation failed; 2 the command line is wrong.");
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
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    return argc < 2 ? h5twin_fail_usage("", "a command is missing")
                    : h5twin_fail_usage("", "there is no command %s", name);
}

int
main(int argc, char **argv)
{
    const int result = run(argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && result == H5TWIN_EXIT_OK) {
        return h5twin_fail("stdout cannot be written: %s.", strerror(errno));
    }
    return result;
}
