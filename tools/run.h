/* SPDX-License-Identifier: BSD-3-Clause
 * run.h: what `h5twin run` gives to a program, and whether its HDF5 takes it. */
#ifndef H5TWIN_TOOLS_RUN_H
#define H5TWIN_TOOLS_RUN_H

/* `h5twin run --check`: say of each HDF5 that the program would use whether it takes the connector,
 * which the environment has already; argv is that of the program, or empty. Returns the exit code:
 * H5TWIN_EXIT_OK if all do. */
int h5twin_run_check(char **argv);

#endif
