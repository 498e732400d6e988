/* SPDX-License-Identifier: BSD-3-Clause
 * info.c: `h5twin info`: a chunk's frame in words. HDF5 files: info_hdf5.c. */
#include "info.h"

#include "commands.h"
#include "files.h"
#include "frame.h"
#include "h5twin.h"
#include "messages.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static void
print_help(void)
{
    puts("Usage: h5twin info [--quick] FILE...\n"
         "       h5twin info --devices\n"
         "\n"
         "What is in a file: a chunk made by `h5twin encode`, or the datasets of an HDF5 file.\n"
         "\n"
         "Of a chunk: the codec, what it did, sizes and ratio, and whether the checksum is right.\n"
         "Of a dataset: its filters with their parameters in words, raw and stored size, ratio,\n"
         "how many chunks there are and how many did not shrink and are stored raw. Every chunk\n"
         "is read and its checksum verified; nothing is decoded, and no plugin is needed.\n"
         "\n"
         "  --quick     HDF5: sizes and parameters only, without reading the chunks\n"
         "  --devices   no file, but this machine: the instruction sets and threads of its\n"
         "              processor, its GPUs, which of them are used, and why or why not. Each\n"
         "              codec is tried on the GPU that calls would use\n"
         "\n"
         "  h5twin info field.h5tw checkpoint.h5");
}

static const char *
kind_name(enum h5twin_kind kind)
{
    return kind == H5TWIN_FLOAT ? "float" : kind == H5TWIN_INTEGER ? "integer" : "other";
}

static void
print_chunk(const char *path, const uint8_t *chunk, size_t chunk_size,
            const struct h5twin_info *info)
{
    char text[512];
    const struct h5twin_codec_info *const codec = h5twin_codec_by_id(info->codec);
    h5twin_print("%s: an h5twin chunk\n", path);
    printf("  codec        %s (HDF5 filter %u)\n", codec->name, (unsigned)codec->filter_id);
    printf("  words        %s, %u %s, %s-endian\n", kind_name(info->kind),
           (unsigned)info->word_size, info->word_size == 1 ? "byte" : "bytes",
           info->big_endian ? "big" : "little");
    if (info->frame_size == H5TWIN_FRAME_BYTES_EXTENTS) {
        printf("  extents      %u x %u x %u\n", (unsigned)info->extents[0],
               (unsigned)info->extents[1], (unsigned)info->extents[2]);
    }
    if (info->stored_raw) {
        puts("  stored       raw, as it would not have shrunk");
    } else {
        const size_t length = h5twin_describe(chunk, chunk_size, text, sizeof text);
        printf("  stored       %s\n", length == 0 ? "coded" : text);
    }
    printf("  raw size     %llu bytes\n", (unsigned long long)info->raw_size);
    printf("  stored size  %zu bytes (%u of them frame)\n", chunk_size, (unsigned)info->frame_size);
    printf("  ratio        %.3f\n", (double)info->raw_size / (double)chunk_size);
}

static int
info_chunk(const char *path)
{
    uint8_t *chunk;
    size_t chunk_size;
    if (!h5twin_file_read(path, true, &chunk, &chunk_size)) {
        return H5TWIN_EXIT_FAILED;
    }
    struct h5twin_info info;
    enum h5twin_status status = h5twin_inspect(chunk, chunk_size, &info);
    const bool verified =
        chunk_size >= H5TWIN_FRAME_BYTES && h5twin_frame_verify(chunk, chunk_size) == H5TWIN_OK;
    if (status == H5TWIN_OK) {
        print_chunk(path, chunk, chunk_size, &info);
        printf("  checksum     %s\n", verified ? "correct" : "WRONG");
    }
    if (!verified && (status == H5TWIN_OK || status == H5TWIN_ERR_CORRUPT)) {
        status = H5TWIN_ERR_CHECKSUM;
    }
    free(chunk);
    return status == H5TWIN_OK ? H5TWIN_EXIT_OK : h5twin_fail_status(path, status);
}

int
h5twin_command_info(int argc, char **argv)
{
    static const struct option options[] = {{"quick", no_argument, NULL, 'q'},
                                            {"devices", no_argument, NULL, 'd'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    bool quick = false, devices = false;
    int code;
    opterr = 0;
    while ((code = getopt_long(argc, argv, ":qh", options, NULL)) != -1) {
        if (code == 'h') {
            print_help();
            return H5TWIN_EXIT_OK;
        }
        if (code != 'q' && code != 'd') {
            return h5twin_fail_option(argv[0], code, argv);
        }
        quick = quick || code == 'q';
        devices = devices || code == 'd';
    }
    if (devices) {
        return optind == argc && !quick
                   ? h5twin_info_devices(stdout)
                   : h5twin_fail_usage(argv[0], "--devices takes neither FILE nor --quick");
    }
    if (optind == argc) {
        return h5twin_fail_usage(argv[0], "FILE is missing");
    }
    int result = H5TWIN_EXIT_OK;
    for (int i = optind; i < argc; i++) {
        printf("%s", i == optind ? "" : "\n");
        const int one =
            h5twin_file_is_hdf5(argv[i]) ? h5twin_info_hdf5(argv[i], quick) : info_chunk(argv[i]);
        result = one > result ? one : result;
    }
    return result;
}
