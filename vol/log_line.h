/* SPDX-License-Identifier: BSD-3-Clause
 * log_line.h: lines of columns for people and programs, to where an environment variable says: "-"
 * is stdout, "stderr" that, anything else a file, which is appended to. */
#ifndef H5TWIN_VOL_LOG_LINE_H
#define H5TWIN_VOL_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the variable says anything. */
bool h5twin_log_is_wanted(const char *variable);

/* Write the columns, with tabs between; an empty one is written as "-". What is not shown is
 * escaped (\t, \n, \\, \x1b), and a line of more than 8 KiB is cut. Lines of several threads and
 * processes do not mix. Nothing happens if it is not wanted, or the file cannot be opened. */
void h5twin_log_line(const char *variable, const char *const columns[], size_t count);

#endif
