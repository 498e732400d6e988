/* SPDX-License-Identifier: BSD-3-Clause
 * array_command.h: what `h5twin encode` and `h5twin decode` do alike: from the command line to the
 * input file in memory, and its end. */
#ifndef H5TWIN_TOOLS_ARRAY_COMMAND_H
#define H5TWIN_TOOLS_ARRAY_COMMAND_H

#include "array_args.h"

struct h5twin_array_command {
    void (*print_help)(void);

    /* Refuse what the command line says; the exit code. */
    int (*check)(const struct h5twin_array_args *args, const char *command);

    bool reads_chunks; /* unless they are bare */

    /* From the bytes of args->src_path to the file args->dst_path; the exit code. */
    int (*run)(const struct h5twin_array_args *args, const char *command, const uint8_t *src,
               size_t src_size);
};

/* The exit code. */
int h5twin_array_command_run(const struct h5twin_array_command *command, int argc, char **argv);

#endif
