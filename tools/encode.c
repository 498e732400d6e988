/* SPDX-License-Identifier: BSD-3-Clause
 * encode.c: `h5twin encode`: a file of raw numbers becomes a chunk, or a bare payload. */
#include "array_command.h"
#include "codec.h"
#include "commands.h"
#include "common/byte_order.h"
#include "common/number.h"
#include "files.h"
#include "messages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
print_help(void)
{
    printf("Usage: h5twin encode --codec NAME --type TYPE [OPTION]... IN OUT\n"
           "\n"
           "Compress IN, a file of nothing but numbers, into OUT, one chunk as the HDF5 filters\n"
           "store it. - is stdin or stdout. A chunk that would not shrink is stored as it is.\n"
           "\n"
           "%s"
           "  --bare              the payload alone, without frame and checksum: the stream that\n"
           "                      the authors of the codec publish. Decoding it needs the same\n"
           "                      options; with --noa the bound to decode with goes to stderr.\n"
           "\n"
           "  h5twin encode --codec sleek --type f32 --dims 64x128x128 --abs 1e-3 field.bin "
           "field.h5tw\n"
           "  h5twin encode --spec fpcompress:mode=ratio --type f64be - - < in > out\n",
           h5twin_array_args_help);
}

/* The absolute bound that a range-relative payload was made with, which only the frame would hold.
 * Encodes once more; 0 if the data came out lossless, negative without memory. */
static double
find_effective_bound(const struct h5twin_params *params, const uint8_t *src, size_t src_size,
                     size_t capacity)
{
    const struct h5twin_codec *const codec = h5twin_codec_find(params->codec);
    uint8_t *const payload = malloc(capacity);
    uint8_t *const words = malloc(src_size == 0 ? 1 : src_size);
    struct h5twin_job job = {
        .options = params->options,
        .mode = params->mode,
        .error_bound = params->error_bound,
        .kind = params->kind,
        .word_size = params->element_size,
        .raw_size = src_size,
        .extents = {1, 1, 1},
        .threads = 1,
    };
    double bound = -1;
    size_t payload_size;
    if (payload != NULL && words != NULL) {
        if (params->big_endian) {
            h5twin_swap_words(words, src, src_size, job.word_size);
        } else {
            memcpy(words, src, src_size);
        }
        char text[256] = "";
        if (codec->prepare(&job) == H5TWIN_OK &&
            codec->encode(&job, payload, words, &payload_size) == H5TWIN_OK) {
            codec->describe(&job, payload, payload_size, text, sizeof text);
            const char *const power = strstr(text, "2^");
            bound = power == NULL ? 0 : ldexp(1, atoi(power + 2));
        }
    }
    free(words);
    free(payload);
    return bound;
}

static int
tell_effective_bound(const struct h5twin_params *params, const uint8_t *src, size_t src_size,
                     size_t capacity)
{
    const double bound = find_effective_bound(params, src, src_size, capacity);
    if (bound < 0) {
        return h5twin_fail_status("--bare --noa", H5TWIN_ERR_MEMORY);
    }
    if (bound == 0) {
        fputs("h5twin: this array is coded losslessly: decode it without --noa and --abs.\n",
              stderr);
    } else {
        char number[H5TWIN_NUMBER_TEXT];
        h5twin_number_write(number, bound);
        fprintf(stderr, "h5twin: the effective absolute bound is %s: decode with --abs %s.\n",
                number, number);
    }
    return H5TWIN_EXIT_OK;
}

static int
encode_array(const struct h5twin_array_args *args, const char *command, const uint8_t *src,
             size_t src_size)
{
    const struct h5twin_params *const params = &args->params;
    int result = h5twin_check_dims(params, command, args->src_path, src_size);
    if (result != H5TWIN_EXIT_OK) {
        return result;
    }
    enum h5twin_status status = h5twin_params_check(params);
    const size_t capacity = h5twin_bound(params, src_size);
    if (status == H5TWIN_ERR_OPTION && h5twin_params_bad_option(params) != NULL) {
        return h5twin_fail_status(h5twin_params_bad_option(params), status);
    }
    if (status != H5TWIN_OK || capacity == 0) {
        return h5twin_fail_status(args->src_path,
                                  status != H5TWIN_OK ? status : H5TWIN_ERR_TOO_BIG);
    }
    uint8_t *const dst = h5twin_memory_get(capacity, "output");
    if (dst == NULL) {
        return H5TWIN_EXIT_FAILED;
    }
    size_t dst_size;
    status =
        args->bare
            ? h5twin_encode_payload(params, &args->exec, dst, capacity, src, src_size, &dst_size)
            : h5twin_encode(params, &args->exec, dst, capacity, src, src_size, &dst_size);
    result = status == H5TWIN_OK ? H5TWIN_EXIT_OK : h5twin_fail_status(args->src_path, status);
    if (result == H5TWIN_EXIT_OK && args->bare && params->mode == H5TWIN_NOA &&
        params->kind == H5TWIN_FLOAT && !h5twin_codec_find(params->codec)->has_own_bound) {
        result = tell_effective_bound(params, src, src_size, capacity);
    }
    if (result == H5TWIN_EXIT_OK &&
        !h5twin_file_write(args->dst_path, args->src_path, dst, dst_size)) {
        result = H5TWIN_EXIT_FAILED;
    }
    free(dst);
    return result;
}

static int
check_args(const struct h5twin_array_args *args, const char *command)
{
    return args->has_params && args->has_type
               ? H5TWIN_EXIT_OK
               : h5twin_fail_usage(command, "%s is missing",
                                   args->has_params ? "--type" : "--codec or --spec");
}

int
h5twin_command_encode(int argc, char **argv)
{
    static const struct h5twin_array_command command = {
        .print_help = print_help,
        .check = check_args,
        .run = encode_array,
    };
    return h5twin_array_command_run(&command, argc, argv);
}
