/* SPDX-License-Identifier: BSD-3-Clause
 * array_args.c: see array_args.h. */
#include "array_args.h"

#include "commands.h"
#include "messages.h"
#include "run/device.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SPEC 1024 /* bytes with the ending zero */

const char h5twin_array_args_help[] =
    "  --codec NAME        one of those that `h5twin codecs` lists\n"
    "  --type TYPE         f32 f64, i8 i16 i32 i64, u8 u16 u32 u64, or bytes;\n"
    "                      f32be etc. for big-endian arrays\n"
    "  --dims AxBxC        elements per dimension, slowest varying first, at most 8\n"
    "                      (default: the array is one row)\n"
    "  --abs E             lossy: |x - x'| <= E for every finite value\n"
    "  --noa E             lossy: |x - x'| <= E * (max - min) of the array\n"
    "  --rel E             lossy: |x - x'| <= E * |x| for every finite value (lattice)\n"
    "  --option KEY=VALUE  an option of the codec; may be repeated\n"
    "  --spec SPEC         codec, bound and options in one: \"sleek:abs=1e-3\"\n"
    "  --device DEVICE     auto (default), cpu or gpu; never changes the bytes\n"
    "  --threads N         default: H5TWIN_NUM_THREADS, OMP_NUM_THREADS or the cores\n";

static const struct {
    const char *name;
    enum h5twin_kind kind;
    uint32_t element_size;
} types[] = {
    {"f32", H5TWIN_FLOAT, 4},   {"f64", H5TWIN_FLOAT, 8},   {"i8", H5TWIN_INTEGER, 1},
    {"i16", H5TWIN_INTEGER, 2}, {"i32", H5TWIN_INTEGER, 4}, {"i64", H5TWIN_INTEGER, 8},
    {"u8", H5TWIN_INTEGER, 1},  {"u16", H5TWIN_INTEGER, 2}, {"u32", H5TWIN_INTEGER, 4},
    {"u64", H5TWIN_INTEGER, 8}, {"bytes", H5TWIN_OTHER, 1},
};

int
h5twin_parse_type(struct h5twin_params *params, const char *command, const char *text)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const size_t length = strlen(types[i].name);
        if (strncmp(text, types[i].name, length) != 0) {
            continue;
        }
        const char *const order = text + length;
        const bool big_endian = strcmp(order, "be") == 0 && types[i].kind != H5TWIN_OTHER;
        if (big_endian || order[0] == '\0' ||
            (strcmp(order, "le") == 0 && types[i].kind != H5TWIN_OTHER)) {
            params->kind = types[i].kind;
            params->element_size = types[i].element_size;
            params->big_endian = big_endian;
            return H5TWIN_EXIT_OK;
        }
    }
    return h5twin_fail_usage(command, "there is no type %s", text);
}

const char *
h5twin_type_name(const struct h5twin_params *params, char text[16])
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (types[i].kind == params->kind && types[i].element_size == params->element_size) {
            snprintf(text, 16, "%s%s", types[i].name, params->big_endian ? "be" : "");
            return text;
        }
    }
    snprintf(text, 16, "%u bytes", (unsigned)params->element_size);
    return text;
}

/* A decimal number that ends at the end of the text or at one of the characters in `stops`. */
static bool
parse_number(const char **text, const char *stops, unsigned long long *number)
{
    char *end;
    errno = 0;
    if ((*text)[0] < '0' || (*text)[0] > '9') {
        return false;
    }
    *number = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0 && (end[0] == '\0' || strchr(stops, end[0]) != NULL);
}

int
h5twin_parse_dims(struct h5twin_params *params, const char *command, const char *option,
                  const char *text)
{
    uint64_t dims[H5TWIN_MAX_RANK] = {0};
    uint32_t rank = 0;
    for (const char *at = text;; at++) {
        unsigned long long extent;
        if (rank == H5TWIN_MAX_RANK || !parse_number(&at, "xX,", &extent) || extent == 0) {
            return h5twin_fail_usage(command,
                                     "%s %s is not 1 to %d positive numbers like 64x128x128",
                                     option, text, H5TWIN_MAX_RANK);
        }
        dims[rank++] = extent;
        if (at[0] == '\0') {
            break;
        }
    }
    params->rank = rank;
    memcpy(params->dims, dims, sizeof dims);
    return H5TWIN_EXIT_OK;
}

const char *
h5twin_dims_text(uint32_t rank, const uint64_t *dims, char text[H5TWIN_DIMS_TEXT])
{
    size_t length = 0;
    snprintf(text, H5TWIN_DIMS_TEXT, "one row");
    for (uint32_t axis = 0; axis < rank && axis < H5TWIN_MAX_RANK; axis++) {
        length += (size_t)snprintf(text + length, H5TWIN_DIMS_TEXT - length, "%s%llu",
                                   axis == 0 ? "" : "x", (unsigned long long)dims[axis]);
    }
    return text;
}

int
h5twin_parse_threads(struct h5twin_exec *exec, const char *command, const char *text)
{
    unsigned long long threads;
    const char *end = text;
    if (!parse_number(&end, "", &threads) || threads == 0 || threads > UINT32_MAX) {
        return h5twin_fail_usage(command, "--threads %s is not a positive number", text);
    }
    exec->threads = (uint32_t)threads;
    return H5TWIN_EXIT_OK;
}

int
h5twin_parse_device(struct h5twin_exec *exec, const char *command, const char *text)
{
    if (h5twin_device_parse(&exec->device, text)) {
        return H5TWIN_EXIT_OK;
    }
    return h5twin_fail_usage(command, "--device %s is not auto, cpu or gpu", text);
}

int
h5twin_check_dims(const struct h5twin_params *params, const char *command, const char *path,
                  size_t src_size)
{
    uint64_t size = params->element_size;
    bool fits = true;
    for (uint32_t axis = 0; axis < params->rank && fits; axis++) {
        fits = size <= SIZE_MAX / params->dims[axis];
        size *= params->dims[axis];
    }
    if (params->rank == 0 || (fits && size == src_size)) {
        return H5TWIN_EXIT_OK;
    }
    char dims[H5TWIN_DIMS_TEXT];
    h5twin_dims_text(params->rank, params->dims, dims);
    return h5twin_fail_usage(command, "%s holds %zu bytes, which is not %s elements of %u bytes",
                             path, src_size, dims, (unsigned)params->element_size);
}

/* ---- the command lines of encode and decode ---- */

/* --codec, --spec, --abs, --noa, --rel and --option end up in one spec, whatever their order. */
struct spec_parts {
    const char *codec;
    const char *spec;
    const char *abs;
    const char *noa;
    const char *rel;
    char options[MAX_SPEC]; /* ",KEY=VALUE" each */
};

static int
add_option(struct spec_parts *parts, const char *command, const char *key_value)
{
    const size_t length = strlen(parts->options);
    const size_t left = sizeof parts->options - length;
    const int written = snprintf(parts->options + length, left, ",%s", key_value);
    return written >= 0 && (size_t)written < left
               ? H5TWIN_EXIT_OK
               : h5twin_fail_usage(command, "the options are longer than %d characters", MAX_SPEC);
}

/* What cannot be said together. */
static int
check_parts(const struct spec_parts *parts, const char *command)
{
    if (parts->spec != NULL && parts->codec != NULL) {
        return h5twin_fail_usage(command, "--codec and --spec both name a codec: give one of them");
    }
    if (parts->codec != NULL && strchr(parts->codec, ':') != NULL) {
        return h5twin_fail_usage(command, "--codec %s is more than a name: use --spec",
                                 parts->codec);
    }
    const int bounds = (parts->abs != NULL) + (parts->noa != NULL) + (parts->rel != NULL);
    if (bounds > 1) {
        return h5twin_fail_usage(command, "--abs, --noa and --rel exclude each other");
    }
    if (parts->spec == NULL && parts->codec == NULL && (bounds > 0 || parts->options[0] != '\0')) {
        return h5twin_fail_usage(command,
                                 "--abs, --noa, --rel and --option need --codec or --spec");
    }
    return H5TWIN_EXIT_OK;
}

/* The library reads specs only, so that there is one reader of bounds and options. */
static int
parse_parts(struct h5twin_array_args *args, const struct spec_parts *parts, const char *command)
{
    const char *const head = parts->spec != NULL ? parts->spec : parts->codec;
    const char *const bound = parts->abs != NULL   ? parts->abs
                              : parts->noa != NULL ? parts->noa
                                                   : parts->rel;
    const int result = check_parts(parts, command);
    if (result != H5TWIN_EXIT_OK || head == NULL) {
        return result;
    }
    char spec[3 * MAX_SPEC];
    const int length = snprintf(spec, sizeof spec, "%s%s%s%s", head,
                                bound == NULL        ? ""
                                : parts->abs != NULL ? ",abs="
                                : parts->noa != NULL ? ",noa="
                                                     : ",rel=",
                                bound == NULL ? "" : bound, parts->options);
    if (length < 0 || (size_t)length >= sizeof spec) {
        return h5twin_fail_usage(command, "the spec is longer than %d characters", MAX_SPEC);
    }
    if (spec[strlen(head)] == ',' && strchr(head, ':') == NULL) {
        spec[strlen(head)] = ':';
    }
    const char *where;
    const enum h5twin_status status = h5twin_params_parse(&args->params, spec, &where);
    args->has_params = true;
    return status == H5TWIN_OK ? H5TWIN_EXIT_OK
                               : h5twin_fail_status(*where != '\0' ? where : spec, status);
}

/* Long options only: their codes, beyond those of characters. */
enum option_code {
    OPTION_CODEC = 256,
    OPTION_TYPE,
    OPTION_DIMS,
    OPTION_ABS,
    OPTION_NOA,
    OPTION_REL,
    OPTION_OPTION,
    OPTION_SPEC,
    OPTION_DEVICE,
    OPTION_THREADS,
    OPTION_BARE,
};

static const struct option long_options[] = {
    {"codec", required_argument, NULL, OPTION_CODEC},
    {"type", required_argument, NULL, OPTION_TYPE},
    {"dims", required_argument, NULL, OPTION_DIMS},
    {"abs", required_argument, NULL, OPTION_ABS},
    {"noa", required_argument, NULL, OPTION_NOA},
    {"rel", required_argument, NULL, OPTION_REL},
    {"option", required_argument, NULL, OPTION_OPTION},
    {"spec", required_argument, NULL, OPTION_SPEC},
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"bare", no_argument, NULL, OPTION_BARE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int
take_option(struct h5twin_array_args *args, struct spec_parts *parts, const char *command, int code)
{
    switch (code) {
    case OPTION_CODEC:
        parts->codec = optarg;
        return H5TWIN_EXIT_OK;
    case OPTION_SPEC:
        parts->spec = optarg;
        return H5TWIN_EXIT_OK;
    case OPTION_ABS:
        parts->abs = optarg;
        return H5TWIN_EXIT_OK;
    case OPTION_NOA:
        parts->noa = optarg;
        return H5TWIN_EXIT_OK;
    case OPTION_REL:
        parts->rel = optarg;
        return H5TWIN_EXIT_OK;
    case OPTION_OPTION:
        return add_option(parts, command, optarg);
    case OPTION_TYPE:
        args->has_type = true;
        return h5twin_parse_type(&args->params, command, optarg);
    case OPTION_DIMS:
        return h5twin_parse_dims(&args->params, command, "--dims", optarg);
    case OPTION_DEVICE:
        return h5twin_parse_device(&args->exec, command, optarg);
    case OPTION_THREADS:
        return h5twin_parse_threads(&args->exec, command, optarg);
    case OPTION_BARE:
        args->bare = true;
        return H5TWIN_EXIT_OK;
    default:
        args->help = true;
        return H5TWIN_EXIT_OK;
    }
}

int
h5twin_array_args_parse(struct h5twin_array_args *args, int argc, char **argv)
{
    const char *const command = argv[0];
    struct spec_parts parts = {.options = ""};
    *args = (struct h5twin_array_args){.params = {.kind = H5TWIN_OTHER, .element_size = 1}};
    opterr = 0;
    int code, index = 0;
    while ((code = getopt_long(argc, argv, ":h", long_options, &index)) != -1) {
        if (code == '?' || code == ':') {
            return h5twin_fail_option(command, code, argv);
        }
        if (code >= OPTION_CODEC && code <= OPTION_SPEC && args->first_param == NULL) {
            args->first_param = long_options[index].name;
        }
        const int result = take_option(args, &parts, command, code);
        if (result != H5TWIN_EXIT_OK || args->help) {
            return result;
        }
    }
    if (argc - optind != 2) {
        return h5twin_fail_usage(command, "expected IN and OUT, two file names or -, but got %d",
                                 argc - optind);
    }
    args->src_path = argv[optind];
    args->dst_path = argv[optind + 1];
    return parse_parts(args, &parts, command);
}
