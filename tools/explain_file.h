/* SPDX-License-Identifier: BSD-3-Clause
 * explain_file.h: `h5twin explain FILE`: a paragraph on how the arrays of a file are compressed. */
#ifndef H5TWIN_TOOLS_EXPLAIN_FILE_H
#define H5TWIN_TOOLS_EXPLAIN_FILE_H

/* path is "FILE" or "FILE:DATASET", and is cut. The exit code. */
int h5twin_explain_file(char *path);

#endif
