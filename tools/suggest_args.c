/* SPDX-License-Identifier: BSD-3-Clause
 * suggest_args.c: the command line of `h5twin suggest`. */
#include "array_args.h"
#include "commands.h"
#include "messages.h"
#include "suggest.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SAMPLE ((size_t)4 << 20)

const char h5twin_suggest_help[] =
    "Usage: h5twin suggest --type TYPE [--dims AxBxC] [OPTION]... FILE\n"
    "       h5twin suggest [OPTION]... FILE.h5[:DATASET]\n"
    "\n"
    "Try every codec, with every named value of its options, on a sample of your data, and\n"
    "print ratio and speed of each. FILE holds nothing but numbers, or is an HDF5 file;\n"
    "without DATASET its largest one of floating-point numbers is taken.\n"
    "\n"
    "Speeds and errors are of a sample: many pieces spread over the array, each a chunk of the\n"
    "dataset or a part of one, coded on its own, as HDF5 does with chunks; codecs that take long\n"
    "get fewer pieces. Ratios are of what is stored at once: whole chunks, of a dataset without\n"
    "chunks those that suit it, of numbers without HDF5 the array; up to eight times the sample.\n"
    "Datasets and chunks that were never written are left out. Speeds are of raw bytes, medians\n"
    "of several runs on one thread unless --threads says otherwise; compare them with memcpy in\n"
    "the same table. CODEC+deflate is `h5twin repack --then deflate`;\n"
    "shuffle+gzip and, if this h5twin was built with it, shuffle+zstd are what HDF5's users\n"
    "have without us. Marked are, without loss and for each bound, of those that save 1 % at\n"
    "least, the best ratio, the fastest, and the best balance: the least time to encode,\n"
    "write, read and decode with storage of 0.5 GB/s. The balance counts time of a processor,\n"
    "which other programs on the machine hardly change.\n"
    "\n"
    "  --type TYPE     f32 f64, i8 .. i64, u8 .. u64, bytes; f32be etc. for big-endian\n"
    "  --dims AxBxC    elements per dimension, slowest varying first\n"
    "  --abs E         try this absolute error bound too; may be repeated\n"
    "  --noa E         try this bound relative to max - min too; may be repeated\n"
    "  --rel E         try this bound relative to each value too; may be repeated\n"
    "  --codec NAME    try this codec alone; may be repeated\n"
    "  --all           print all rows; else, without --codec, the six best ratios of each bound,\n"
    "                  what is marked, and shuffle+gzip and +zstd; of e2mc the best variant\n"
    "  --sample BYTES  size of the sample, with k, M or G for KiB, MiB or GiB (default 4M)\n"
    "  --threads N     threads that encode and decode a piece (default 1)\n"
    "  --device DEVICE auto, cpu or gpu\n"
    "\n"
    "  h5twin suggest --type f32 --dims 64x128x128 --abs 1e-3 --abs 1e-2 field.bin\n"
    "  h5twin suggest checkpoint.h5:/fields/density\n";

int
h5twin_suggest_set_sample(struct h5twin_suggest_args *args, const char *command, const char *text)
{
    static const char units[] = "kMG";
    char *end;
    const unsigned long long number = strtoull(text, &end, 10);
    const char *const unit = end[0] == '\0' ? NULL : strchr(units, end[0]);
    const unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);
    if (text[0] < '0' || text[0] > '9' || (end[0] != '\0' && (unit == NULL || end[1] != '\0')) ||
        number == 0 || number > (SIZE_MAX >> 1 >> shift)) {
        return h5twin_fail_usage(command, "--sample %s is not a size like 4M", text);
    }
    args->sample_size = (size_t)number << shift;
    return H5TWIN_EXIT_OK;
}

/* Check it with the first codec that can be lossy, so that a wrong one is told once. */
int
h5twin_suggest_add_bound(struct h5twin_suggest_args *args, const char *command, const char *key,
                         const char *value)
{
    if (args->bound_count == H5TWIN_MAX_BOUNDS) {
        return h5twin_fail_usage(command, "there are more than %d bounds", H5TWIN_MAX_BOUNDS);
    }
    char *const text = args->bounds[args->bound_count];
    const int length = snprintf(text, sizeof args->bounds[0], "%s=%s", key, value);
    enum h5twin_status status =
        length > 0 && (size_t)length < sizeof args->bounds[0] ? H5TWIN_OK : H5TWIN_ERR_BOUND;
    for (uint32_t i = 0; i < h5twin_codec_count() && status == H5TWIN_OK; i++) {
        const struct h5twin_codec_info *const codec = h5twin_codec_at(i);
        struct h5twin_params params;
        h5twin_params_init(&params, codec->id);
        if (strcmp(key, "rel") == 0 ? codec->relative : codec->lossy) {
            status = h5twin_params_set_option(&params, text);
        }
    }
    args->bound_count++;
    return status == H5TWIN_OK ? H5TWIN_EXIT_OK : h5twin_fail_status(text, status);
}

int
h5twin_suggest_add_codec(struct h5twin_suggest_args *args, const char *command, const char *name)
{
    if (h5twin_codec_by_name(name) == NULL) {
        return h5twin_fail_usage(command, "there is no codec %s", name);
    }
    if (args->codec_count == H5TWIN_MAX_BOUNDS) {
        return h5twin_fail_usage(command, "there are more than %d codecs", H5TWIN_MAX_BOUNDS);
    }
    args->codecs[args->codec_count++] = name;
    return H5TWIN_EXIT_OK;
}

static int
take_option(void *all_args, int code)
{
    struct h5twin_suggest_args *const args = all_args;
    switch (code) {
    case 't':
        args->has_type = true;
        return h5twin_parse_type(&args->params, "suggest", optarg);
    case 'd':
        return h5twin_parse_dims(&args->params, "suggest", "--dims", optarg);
    case 'a':
        return h5twin_suggest_add_bound(args, "suggest", "abs", optarg);
    case 'n':
        return h5twin_suggest_add_bound(args, "suggest", "noa", optarg);
    case 'r':
        return h5twin_suggest_add_bound(args, "suggest", "rel", optarg);
    case 'c':
        return h5twin_suggest_add_codec(args, "suggest", optarg);
    case 's':
        return h5twin_suggest_set_sample(args, "suggest", optarg);
    case 'A':
        args->all = true;
        return H5TWIN_EXIT_OK;
    case 'T':
        return h5twin_parse_threads(&args->exec, "suggest", optarg);
    default: /* 'D' */
        return h5twin_parse_device(&args->exec, "suggest", optarg);
    }
}

int
h5twin_suggest_args_parse(struct h5twin_suggest_args *args, int argc, char **argv)
{
    static const struct option options[] = {
        {"type", required_argument, NULL, 't'},   {"dims", required_argument, NULL, 'd'},
        {"abs", required_argument, NULL, 'a'},    {"noa", required_argument, NULL, 'n'},
        {"rel", required_argument, NULL, 'r'},    {"codec", required_argument, NULL, 'c'},
        {"sample", required_argument, NULL, 's'}, {"threads", required_argument, NULL, 'T'},
        {"device", required_argument, NULL, 'D'}, {"all", no_argument, NULL, 'A'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
    };
    *args = (struct h5twin_suggest_args){.exec = {.threads = 1}, .sample_size = DEFAULT_SAMPLE};
    const int result = h5twin_each_option(argc, argv, options, take_option, args, &args->help);
    if (result != H5TWIN_EXIT_OK || args->help) {
        return result;
    }
    if (argc - optind != 1) {
        return h5twin_fail_usage(argv[0], "expected one FILE, but got %d", argc - optind);
    }
    args->path = argv[optind];
    return H5TWIN_EXIT_OK;
}
