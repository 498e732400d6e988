/* SPDX-License-Identifier: BSD-3-Clause
 * commands.h: the subcommands of `h5twin`, one file each.
 *
 * Each gets argv with its own name as argv[0], and returns the exit code of the program. */
#ifndef H5TWIN_TOOLS_COMMANDS_H
#define H5TWIN_TOOLS_COMMANDS_H

enum h5twin_exit {
    H5TWIN_EXIT_OK = 0,
    H5TWIN_EXIT_FAILED = 1, /* the data or the operation */
    H5TWIN_EXIT_USAGE = 2,  /* the command line */
};

int h5twin_command_encode(int argc, char **argv);
int h5twin_command_decode(int argc, char **argv);
int h5twin_command_info(int argc, char **argv);
int h5twin_command_args(int argc, char **argv);
int h5twin_command_suggest(int argc, char **argv);
int h5twin_command_codecs(int argc, char **argv);
int h5twin_command_check(int argc, char **argv);
int h5twin_command_verify(int argc, char **argv);
int h5twin_command_repack(int argc, char **argv);
int h5twin_command_report(int argc, char **argv);
int h5twin_command_explain(int argc, char **argv);
int h5twin_command_run(int argc, char **argv);
int h5twin_command_policy(int argc, char **argv);

#endif
