/* SPDX-License-Identifier: BSD-3-Clause
 * decode.c: `h5twin decode`: a chunk, or a bare payload, becomes raw numbers again. */
#include "array_command.h"
#include "codec.h"
#include "commands.h"
#include "files.h"
#include "frame.h"
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>

static void
print_help(void)
{
    printf(
        "Usage: h5twin decode [--device DEVICE] [--threads N] IN OUT\n"
        "       h5twin decode --bare --codec NAME --type TYPE [OPTION]... IN OUT\n"
        "\n"
        "Turn IN, a chunk, back into OUT, the numbers as `h5twin encode` was given them. A chunk\n"
        "knows how it was made, and damage is found by its checksum.\n"
        "\n"
        "  --bare              IN is a payload alone, made by `h5twin encode --bare` or by the\n"
        "                      program of the codec's authors. It does not say what it is: give\n"
        "                      the options that it was made with. A wrong one gives wrong\n"
        "                      numbers, or an error. In place of --noa give the --abs that\n"
        "                      `h5twin encode` printed.\n"
        "%s"
        "\n"
        "  h5twin decode field.h5tw field.bin\n"
        "  h5twin decode --bare --codec sleek --type f32 --abs 1e-3 stream.bin field.bin\n",
        h5twin_array_args_help);
}

/* Size of the decoded array, checked against what src_size bytes can hold. */
static enum h5twin_status
find_raw_size(const struct h5twin_array_args *args, const uint8_t *src, size_t src_size,
              uint64_t *raw_size)
{
    if (args->bare) {
        return h5twin_payload_raw_size(&args->params, src, src_size, raw_size);
    }
    struct h5twin_info info = {.raw_size = 0};
    const enum h5twin_status status = h5twin_inspect(src, src_size, &info);
    *raw_size = info.raw_size;
    /* Of the two sentences, "changed since they were written" helps more. */
    return status == H5TWIN_ERR_CORRUPT && h5twin_frame_verify(src, src_size) != H5TWIN_OK
               ? H5TWIN_ERR_CHECKSUM
               : status;
}

static int
decode_chunk(const struct h5twin_array_args *args, const char *command, const uint8_t *src,
             size_t src_size)
{
    uint64_t raw_size;
    enum h5twin_status status = find_raw_size(args, src, src_size, &raw_size);
    if (status == H5TWIN_OK && raw_size > SIZE_MAX) {
        status = H5TWIN_ERR_TOO_BIG;
    }
    if (status != H5TWIN_OK) {
        return h5twin_fail_status(args->src_path, status);
    }
    int result = args->bare ? h5twin_check_dims(&args->params, command, "the decoded stream",
                                                (size_t)raw_size)
                            : H5TWIN_EXIT_OK;
    if (result != H5TWIN_EXIT_OK) {
        return result;
    }
    size_t dst_size = (size_t)raw_size;
    uint8_t *const dst = h5twin_memory_get(dst_size, "output");
    if (dst == NULL) {
        return H5TWIN_EXIT_FAILED;
    }
    status = args->bare
                 ? h5twin_decode_payload(&args->params, &args->exec, dst, dst_size, src, src_size)
                 : h5twin_decode(&args->exec, dst, dst_size, src, src_size, &dst_size);
    if (status != H5TWIN_OK) {
        result = h5twin_fail_status(args->src_path, status);
    } else if (!h5twin_file_write(args->dst_path, args->src_path, dst, dst_size)) {
        result = H5TWIN_EXIT_FAILED;
    }
    free(dst);
    return result;
}

/* Without --bare nothing may be given that the chunk would contradict in silence. */
static int
check_args(const struct h5twin_array_args *args, const char *command)
{
    if (!args->bare) {
        return args->first_param == NULL
                   ? H5TWIN_EXIT_OK
                   : h5twin_fail_usage(command,
                                       "--%s goes with --bare only: a chunk knows how it was made",
                                       args->first_param);
    }
    if (!args->has_params || !args->has_type) {
        return h5twin_fail_usage(command, "--bare needs %s",
                                 args->has_params ? "--type" : "--codec or --spec");
    }
    if (args->params.mode == H5TWIN_NOA && args->params.kind == H5TWIN_FLOAT &&
        !h5twin_codec_find(args->params.codec)->has_own_bound) {
        return h5twin_fail_usage(command, "--bare cannot decode with --noa: give the --abs bound "
                                          "that encode printed");
    }
    const struct h5twin_codec *const codec = h5twin_codec_find(args->params.codec);
    if (codec->has_extents && args->params.rank == 0) {
        return h5twin_fail_usage(command,
                                 "a bare stream of %s does not hold its shape: give "
                                 "--dims",
                                 codec->info.name);
    }
    return H5TWIN_EXIT_OK;
}

int
h5twin_command_decode(int argc, char **argv)
{
    static const struct h5twin_array_command command = {
        .print_help = print_help,
        .check = check_args,
        .reads_chunks = true,
        .run = decode_chunk,
    };
    return h5twin_array_command_run(&command, argc, argv);
}
