/* SPDX-License-Identifier: BSD-3-Clause
 * args.c: `h5twin args`: a spec in the words of each program that takes HDF5 filters. */
#include "cd_values.h"
#include "commands.h"
#include "common/number.h"
#include "h5twin.h"
#include "messages.h"
#include "paste.h"

#include <stdio.h>
#include <string.h>

static void
print_help(void)
{
    puts("Usage: h5twin args SPEC...\n"
         "\n"
         "Print the lines to paste into a shell or a program so that HDF5 files are written with\n"
         "SPEC: h5repack, nccopy, C and h5py. HDF5 finds the filters where HDF5_PLUGIN_PATH says;\n"
         "reading such files needs nothing else.\n"
         "\n"
         "SPEC is CODEC[:KEY=VALUE[,KEY=VALUE]...]; `h5twin codecs` lists the codecs and keys.\n"
         "\n"
         "  h5twin args sleek                lossless\n"
         "  h5twin args sleek:abs=1e-3       |x - x'| <= 0.001\n"
         "  h5twin args sleek:noa=1e-4       |x - x'| <= 0.0001 * (max - min) of each chunk\n"
         "  h5twin args sleek:abs=1e-3,fill=-9999.9\n"
         "                                   and -9999.9, missing data, stays as it is");
}

/* What the user gives, with the mode even where no words at all would do: not every program takes
 * an empty list. */
static unsigned
make_words(unsigned words[H5TWIN_USER_CD_VALUES], const struct h5twin_params *params)
{
    const unsigned count = h5twin_params_to_cd_values(params, words);
    return count == 0 ? 1 : count;
}

void
h5twin_paste_h5repack(const struct h5twin_params *params)
{
    unsigned words[H5TWIN_USER_CD_VALUES];
    const unsigned count = make_words(words, params);
    printf("h5repack -f UD=%u,0,%u", (unsigned)h5twin_codec_by_id(params->codec)->filter_id, count);
    for (unsigned i = 0; i < count; i++) {
        printf(",%u", words[i]);
    }
    puts(" IN.h5 OUT.h5");
}

/* nccopy splits a number that ends in d, a double, into two words itself. */
static void
paste_nccopy(const struct h5twin_params *params)
{
    unsigned words[H5TWIN_USER_CD_VALUES];
    const unsigned count = make_words(words, params);
    printf("nccopy -F '*,%u,%u", (unsigned)h5twin_codec_by_id(params->codec)->filter_id, words[0]);
    for (unsigned i = 1; i < count; i++) {
        putchar(',');
        if (i == 1 && params->mode != H5TWIN_LOSSLESS) {
            char bound[H5TWIN_NUMBER_TEXT];
            h5twin_number_write(bound, params->error_bound);
            printf("%sd", bound);
            i++;
        } else {
            printf("%u", words[i]);
        }
    }
    puts("' IN.nc OUT.nc");
}

static void
paste_c(const struct h5twin_params *params, const char *spec)
{
    unsigned words[H5TWIN_USER_CD_VALUES];
    const unsigned count = make_words(words, params);
    printf("/* C, with h5twin_hdf5.h and libh5twin */\n"
           "H5Pset_h5twin(dcpl, \"%s\");\n\n"
           "/* C, with HDF5 alone, and the plugin where the program runs */\n"
           "const unsigned cd_values[%u] = {",
           spec, count);
    for (unsigned i = 0; i < count; i++) {
        printf("%s%uu", i == 0 ? "" : ", ", words[i]);
    }
    printf("};\nH5Pset_filter(dcpl, %u, H5Z_FLAG_MANDATORY, %u, cd_values);\n",
           (unsigned)h5twin_codec_by_id(params->codec)->filter_id, count);
}

static void
paste_package(const char *spec)
{
    printf(
        "import h5twin\n"
        "file.create_dataset(\"name\", data=array, chunks=h5twin.chunks(array.shape, array.dtype), "
        "**h5twin.from_spec(\"%s\"))\n",
        spec);
}

/* Whole slices of about 1 MiB: near what h5twin.chunks says, and far from h5py's own small ones. */
static void
paste_h5py(const struct h5twin_params *params)
{
    unsigned words[H5TWIN_USER_CD_VALUES];
    const unsigned count = make_words(words, params);
    printf("rows = max(1, min(len(array), 2**20 // array[0].nbytes))\n"
           "file.create_dataset(\"name\", data=array, chunks=(rows, *array.shape[1:]), "
           "compression=%u, compression_opts=(",
           (unsigned)h5twin_codec_by_id(params->codec)->filter_id);
    for (unsigned i = 0; i < count; i++) {
        printf("%s%u%s", i == 0 ? "" : " ", words[i], i + 1 < count || count == 1 ? "," : "");
    }
    puts("))");
}

static int
print_args(const char *text)
{
    struct h5twin_params params;
    const char *where;
    h5twin_params_init(&params, (enum h5twin_codec_id)0);
    const enum h5twin_status status = h5twin_params_parse(&params, text, &where);
    if (status != H5TWIN_OK) {
        return h5twin_fail_status(*where != '\0' ? where : text, status);
    }
    unsigned words[H5TWIN_USER_CD_VALUES];
    struct h5twin_cd cd;
    const char *why;
    if (h5twin_cd_read(&cd, params.codec, words, make_words(words, &params), &why) != H5TWIN_OK) {
        h5twin_fail("%s would be refused by the filter: %s", text, why);
        return H5TWIN_EXIT_USAGE;
    }
    char spec[256];
    h5twin_params_format(&params, spec, sizeof spec);
    printf("# %s\n\n# h5repack: all datasets; put NAME: before UD for one\n", spec);
    h5twin_paste_h5repack(&params);
    puts("\n# nccopy: all variables; put a name in place of * for one");
    paste_nccopy(&params);
    puts("");
    paste_c(&params, spec);
    puts("\n# h5py, with the Python package h5twin");
    paste_package(spec);
    puts("\n# h5py alone, with HDF5_PLUGIN_PATH");
    paste_h5py(&params);
    return H5TWIN_EXIT_OK;
}

/* What no exit code tells: h5repack ends with 0 where it left the filter out. */
static void
print_advice(void)
{
    puts("\n# Tools may drop a filter, or the reason of an error, without a word. These show it:\n"
         "h5twin info OUT.h5                 # the filter of each dataset, and its chunks checked\n"
         "export H5TWIN_VERBOSE=1            # refusals and damage on stderr, a line each\n"
         "h5repack --enable-error-stack ...  # HDF5's own account of it");
}

int
h5twin_command_args(int argc, char **argv)
{
    if (argc < 2) {
        return h5twin_fail_usage(argv[0], "SPEC is missing");
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help();
            return H5TWIN_EXIT_OK;
        }
        if (argv[i][0] == '-') {
            return h5twin_fail_usage(argv[0], "there is no option %s", argv[i]);
        }
        printf("%s", i == 1 ? "" : "\n");
        const int result = print_args(argv[i]);
        if (result != H5TWIN_EXIT_OK) {
            return result;
        }
    }
    print_advice();
    return H5TWIN_EXIT_OK;
}
