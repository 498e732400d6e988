/* SPDX-License-Identifier: BSD-3-Clause
 * array_command.c: see array_command.h. */
#include "array_command.h"

#include "commands.h"
#include "files.h"

#include <stdlib.h>

int
h5twin_array_command_run(const struct h5twin_array_command *command, int argc, char **argv)
{
    struct h5twin_array_args args;
    int result = h5twin_array_args_parse(&args, argc, argv);
    if (result != H5TWIN_EXIT_OK) {
        return result;
    }
    if (args.help) {
        command->print_help();
        return H5TWIN_EXIT_OK;
    }
    result = command->check(&args, argv[0]);
    if (result != H5TWIN_EXIT_OK) {
        return result;
    }
    uint8_t *src;
    size_t src_size;
    if (!h5twin_file_check_new(args.dst_path) ||
        !h5twin_file_read(args.src_path, command->reads_chunks && !args.bare, &src, &src_size)) {
        return H5TWIN_EXIT_FAILED;
    }
    result = command->run(&args, argv[0], src, src_size);
    free(src);
    return result;
}
