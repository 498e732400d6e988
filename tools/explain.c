/* SPDX-License-Identifier: BSD-3-Clause
 * explain.c: `h5twin explain`: what the parameters of a filter mean, as h5dump and h5py print them.
 */
#include "array_args.h"
#include "cd_text.h"
#include "commands.h"
#include "common/number.h"
#include "explain_file.h"
#include "h5twin.h"
#include "messages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 64

static void
print_help(void)
{
    puts(
        "Usage: h5twin explain ID [WORD]...\n"
        "       h5twin explain FILE.h5[:DATASET]\n"
        "\n"
        "Of a file: how its arrays are compressed and within which bounds, in sentences for a\n"
        "paper's section on methods.\n"
        "\n"
        "Say in words what the parameters of a filter (cd_values) mean: the codec, error bound,\n"
        "options and fill value, and, of the longer form that files hold, the array. Words that\n"
        "the filter would refuse give the reason, and exit code 2.\n"
        "\n"
        "ID is the number of an HDF5 filter, or the name of a codec; `h5twin codecs` lists both.\n"
        "WORDs are decimal or hexadecimal (0x...) numbers, between blanks or commas. Where h5dump\n"
        "prints one as a negative number, that stands for the word of the same bits.\n"
        "\n"
        "  h5twin explain 480                              no words: lossless\n"
        "  h5twin explain 480 1 -755914244 1062232653      as h5dump prints them\n"
        "  h5twin explain sleek 1,3539053052,1062232653    as h5repack takes them\n"
        "  h5twin explain field.h5                         how it is compressed");
}

/* ---- the command line ---- */

static bool
read_number(const char **text, unsigned long long *number)
{
    const bool is_negative = **text == '-';
    const char *const at = *text + is_negative;
    const bool hexadecimal = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    char *end;
    errno = 0;
    *number = strtoull(at, &end, hexadecimal ? 16 : 10);
    *text = end;
    if (at[0] < '0' || at[0] > '9' || errno != 0) {
        return false;
    }
    if (!is_negative) {
        return *number <= UINT32_MAX;
    }
    const bool fits = *number <= (unsigned long long)INT32_MAX + 1;
    *number = (uint32_t)(0 - *number);
    return fits;
}

static const struct h5twin_codec_info *
find_codec(const char *text)
{
    const char *end = text;
    unsigned long long id;
    const bool is_number = read_number(&end, &id) && end[0] == '\0';
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec_info *const codec = h5twin_codec_at(i);
        if (is_number ? codec->filter_id == id : strcmp(codec->name, text) == 0) {
            return codec;
        }
    }
    return NULL;
}

/* Those of one argument: "1", "1,2,3", "1, 2, 3". */
static int
add_words(const char *command, const char *text, unsigned words[MAX_WORDS], size_t *word_count)
{
    static const char between[] = ", \t\n";
    const char *at = text + strspn(text, between);
    while (at[0] != '\0') {
        unsigned long long number;
        if (!read_number(&at, &number) || (at[0] != '\0' && strchr(between, at[0]) == NULL)) {
            return h5twin_fail_usage(
                command, "%s is not made of numbers from -2147483648 to 4294967295", text);
        }
        if (*word_count == MAX_WORDS) {
            return h5twin_fail_usage(command, "there are more than %d words", MAX_WORDS);
        }
        words[(*word_count)++] = (unsigned)number;
        at += strspn(at, between);
    }
    return H5TWIN_EXIT_OK;
}

/* ---- in words ---- */

static void
print_bound(const struct h5twin_params *params)
{
    char bound[H5TWIN_NUMBER_TEXT];
    printf("  mode         %s", h5twin_mode_text(params->mode));
    if (params->mode != H5TWIN_LOSSLESS) {
        h5twin_number_write(bound, params->error_bound);
        printf(", %s", bound);
    }
    puts("");
}

/* The spec's parts that are options of the codec. */
static void
print_options(const struct h5twin_codec_info *codec, const char *spec)
{
    const char *at = strchr(spec, ':');
    bool any = false;
    printf("  options      ");
    while (at != NULL && *at != '\0') {
        const size_t length = strcspn(++at, ",");
        for (uint32_t i = 0; i < codec->option_count; i++) {
            const size_t name_length = strlen(codec->options[i].name);
            if (strncmp(at, codec->options[i].name, name_length) == 0 && at[name_length] == '=') {
                printf("%s%.*s", any ? ", " : "", (int)length, at);
                any = true;
            }
        }
        at += length;
    }
    puts(any ? "" : codec->option_count == 0 ? "the codec has none" : "the codec's defaults");
}

static void
print_fill(bool is_there, double value, const char *whose)
{
    char fill[H5TWIN_NUMBER_TEXT];
    if (is_there) {
        h5twin_number_write(fill, value);
        printf("  fill value   %s, which comes back bit for bit; %s\n", fill, whose);
    }
}

static void
print_array(const struct h5twin_cd *cd)
{
    char element[H5TWIN_CD_ELEMENT_TEXT], dims[H5TWIN_DIMS_TEXT];
    if (!cd->has_array) {
        puts("  array        cannot be read from these words: chunks are stored without loss");
        return;
    }
    printf("  element      %s\n  chunk        %s, %zu bytes\n",
           h5twin_cd_element_text(&cd->params, element),
           h5twin_dims_text(cd->params.rank, cd->params.dims, dims), cd->chunk_size);
    if (cd->params.zeros_are_padding) {
        puts("  padding      zeros at the dataset's edges, which count for no range");
    }
    printf("  pipeline     %s\n",
           cd->is_first ? "the first filter" : "behind another filter, or not known");
}

static int
explain(const struct h5twin_codec_info *codec, const unsigned *words, size_t word_count)
{
    struct h5twin_cd cd;
    const char *why = "";
    if (h5twin_cd_read(&cd, codec->id, words, word_count, &why) != H5TWIN_OK) {
        h5twin_fail("%s refuses these words: %s", codec->name, why);
        return H5TWIN_EXIT_USAGE;
    }
    const bool stored = word_count > 5 && word_count != H5TWIN_USER_CD_VALUES;
    char spec[256];
    h5twin_params_format(&cd.params, spec, sizeof spec);
    printf("%s: HDF5 filter %u, %s\n", spec, (unsigned)codec->filter_id, codec->summary);
    printf("  form         %s\n", stored ? "as stored in a file" : "as users give it");
    print_bound(&cd.params);
    print_options(codec, spec);
    print_fill(cd.params.has_fill, cd.params.fill, "named by the user");
    print_fill(cd.params.has_declared_fill, cd.params.declared_fill, "the dataset's own");
    if (stored) {
        print_array(&cd);
    }
    return H5TWIN_EXIT_OK;
}

int
h5twin_command_explain(int argc, char **argv)
{
    unsigned words[MAX_WORDS];
    size_t word_count = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help();
            return H5TWIN_EXIT_OK;
        }
        if (argv[i][0] == '-' && argv[i][1] == '-') {
            return h5twin_fail_usage(argv[0], "there is no option %s", argv[i]);
        }
    }
    if (argc < 2) {
        return h5twin_fail_usage(argv[0], "ID is missing");
    }
    const struct h5twin_codec_info *const codec = find_codec(argv[1]);
    if (codec == NULL && argc == 2 && strpbrk(argv[1], "./\\:") != NULL) {
        return h5twin_explain_file(argv[1]);
    }
    if (codec == NULL) {
        return h5twin_fail_usage(argv[0], "%s is no filter of h5twin; `h5twin codecs` lists them",
                                 argv[1]);
    }
    for (int i = 2; i < argc; i++) {
        const int result = add_words(argv[0], argv[i], words, &word_count);
        if (result != H5TWIN_EXIT_OK) {
            return result;
        }
    }
    return explain(codec, words, word_count);
}
