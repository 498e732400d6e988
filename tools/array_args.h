/* SPDX-License-Identifier: BSD-3-Clause
 * array_args.h: the part of the command line that says what an array is and how to code it.
 * Failures are told to the user here; functions return H5TWIN_EXIT_OK or the exit code. */
#ifndef H5TWIN_TOOLS_ARRAY_ARGS_H
#define H5TWIN_TOOLS_ARRAY_ARGS_H

#include "h5twin.h"

struct h5twin_array_args {
    struct h5twin_params params;
    struct h5twin_exec exec;
    bool has_params; /* --codec or --spec was given */
    bool has_type;
    bool bare;
    bool help;
    const char *first_param; /* the first option given that says how or what, NULL if none */
    const char *src_path;
    const char *dst_path;
};

/* "f32", "i64be", ...: sets kind, element_size and big_endian. */
int h5twin_parse_type(struct h5twin_params *params, const char *command, const char *text);

/* "64x128x128", the value of `option`: sets rank and dims. */
int h5twin_parse_dims(struct h5twin_params *params, const char *command, const char *option,
                      const char *text);

int h5twin_parse_threads(struct h5twin_exec *exec, const char *command, const char *text);
int h5twin_parse_device(struct h5twin_exec *exec, const char *command, const char *text);

/* "f32", "i64be", ...: the name that h5twin_parse_type() reads. */
const char *h5twin_type_name(const struct h5twin_params *params, char text[16]);

/* "64x128x128", or "one row" at rank 0. */
#define H5TWIN_DIMS_TEXT 176
const char *h5twin_dims_text(uint32_t rank, const uint64_t *dims, char text[H5TWIN_DIMS_TEXT]);

/* H5TWIN_EXIT_OK if the dims, where given, are those of src_size bytes. */
int h5twin_check_dims(const struct h5twin_params *params, const char *command, const char *path,
                      size_t src_size);

/* The command lines of encode and decode. */
int h5twin_array_args_parse(struct h5twin_array_args *args, int argc, char **argv);

/* Help lines on the options that h5twin_array_args_parse() reads. */
extern const char h5twin_array_args_help[];

#endif
