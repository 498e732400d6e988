/* SPDX-License-Identifier: BSD-3-Clause
 * codecs.c: `h5twin codecs`: the codecs in this build and their options, as they describe
 * themselves. */
#include "commands.h"
#include "h5twin.h"
#include "messages.h"

#include <stdio.h>
#include <string.h>

static void
print_codec(const struct h5twin_codec_info *codec)
{
    printf("%s (HDF5 filter %u)\n    %s\n", codec->name, (unsigned)codec->filter_id,
           codec->summary);
    if (codec->lossy) {
        puts("    abs=E            |x - x'| <= E for every finite value\n"
             "    noa=E            |x - x'| <= E * (max - min) of the chunk");
    }
    if (codec->relative) {
        puts("    rel=E            |x - x'| <= E * |x|");
    }
    for (uint32_t i = 0; i < codec->option_count; i++) {
        const struct h5twin_option_info *const option = &codec->options[i];
        char name_values[128];
        const int length =
            snprintf(name_values, sizeof name_values, "%s=%s", option->name, option->values);
        if (length > 16) {
            printf("    %s\n                     %s\n", name_values, option->help);
        } else {
            printf("    %-16s %s\n", name_values, option->help);
        }
    }
}

/* For scripts: name, number in the frame, filter id, "lossy" or "lossless", between tabs. */
static void
print_for_machines(const struct h5twin_codec_info *codec)
{
    printf("%s\t%u\t%u\t%s\n", codec->name, (unsigned)codec->id, (unsigned)codec->filter_id,
           codec->lossy ? "lossy" : "lossless");
}

int
h5twin_command_codecs(int argc, char **argv)
{
    const bool for_machines = argc == 2 && strcmp(argv[1], "--machine") == 0;
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        puts("Usage: h5twin codecs [--machine]\n"
             "\n"
             "List the codecs, their HDF5 filter numbers and their options. A spec is the name,\n"
             "then a colon and options between commas: sleek:abs=1e-3, ndzip:layout=reference.\n"
             "It is accepted by `h5twin args`, by --spec, and by H5Pset_h5twin() in C.\n"
             "\n"
             "--machine: a line per codec, with tabs between name, number in the chunk's frame,\n"
             "HDF5 filter number, and lossy or lossless.");
        return H5TWIN_EXIT_OK;
    }
    if (argc > 1 && !for_machines) {
        return h5twin_fail_usage(argv[0], "codecs takes no arguments but --machine, not %s",
                                 argv[1]);
    }
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        if (for_machines) {
            print_for_machines(h5twin_codec_at(i));
        } else {
            printf("%s", i == 0 ? "" : "\n");
            print_codec(h5twin_codec_at(i));
        }
    }
    return H5TWIN_EXIT_OK;
}
