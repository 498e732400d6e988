/* SPDX-License-Identifier: BSD-3-Clause
 * verbose.h: the filter's sentences on standard error, for programs that swallow HDF5's. */
#ifndef H5TWIN_VERBOSE_H
#define H5TWIN_VERBOSE_H

/* Print "h5twin CODEC: SENTENCE" as one line if the environment has H5TWIN_VERBOSE=1, or any other
 * value but 0 and nothing. */
void h5twin_verbose_print(const char *codec_name, const char *sentence);

/* The same, but also if the environment has no H5TWIN_VERBOSE: the connector says so, once, if HDF5
 * cannot take what the user has asked for by name. This library prints nothing else. */
void h5twin_verbose_say(const char *codec_name, const char *sentence);

#endif
