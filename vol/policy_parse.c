/* SPDX-License-Identifier: BSD-3-Clause
 * policy_parse.c: a text of rules into a policy. No HDF5. */
#include "policy_glob.h"
#include "policy_rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORD ((size_t)64 << 10) /* bytes: of a pattern, or anything else */
#define SHOWN    40                 /* bytes of a word in an error */

/* ---- words of a line ---- */

/* Text [at, end), as it stands in the line. */
struct word {
    const char *at, *end;
    bool is_quoted; /* some of it */
};

struct parser {
    const char *name; /* of the policy */
    const char *line_at, *line_end;
    unsigned line;
    const char *at; /* what comes next in the line */
    char *error;
};

/* What is wrong at a place of the line. Always false. */
static bool
fail(const struct parser *parser, const char *at, const char *format, ...)
{
    unsigned column = 1; /* in characters: bytes that continue one do not count */
    for (const char *byte = parser->line_at; byte < at; byte++) {
        column += ((unsigned char)*byte & 0xC0u) != 0x80u;
    }
    const int length = snprintf(parser->error, H5TWIN_POLICY_SENTENCE,
                                "%.200s:%u:%u: ", parser->name, parser->line, column);
    const size_t start = length < 0 ? 0 : (size_t)length;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(parser->error + start, H5TWIN_POLICY_SENTENCE - start, format, arguments);
    va_end(arguments);
    return false;
}

static int
shown(const struct word *word)
{
    const ptrdiff_t length = word->end - word->at;
    return length > SHOWN ? SHOWN : (int)length;
}

static bool
is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

static const char *
skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at)) {
        at++;
    }
    return at;
}

/* The next word; an empty one at the end of the line, or at a comment. */
static bool
take_word(struct parser *parser, struct word *word)
{
    const char *const end = parser->line_end;
    const char *at = skip_blanks(parser->at, end), *quote = NULL;
    *word = (struct word){.at = at, .end = at};
    if (at == end || *at == '#') {
        parser->at = end;
        return true;
    }
    while (at < end && (quote != NULL || !is_blank(*at))) {
        if (*at == '\\' && at + 1 < end) {
            at++;
        } else if (*at == '"') {
            word->is_quoted = true;
            quote = quote == NULL ? at : NULL;
        }
        at++;
    }
    if (quote != NULL) {
        return fail(parser, quote,
                    "this quote is not closed in its line: add \" after the name, "
                    "or write \\\" for the character.");
    }
    word->end = parser->at = at;
    return (size_t)(word->end - word->at) < MAX_WORD ||
           fail(parser, word->at, "this word is longer than 64 KiB: shorten it.");
}

static bool
is_end(const struct word *word)
{
    return word->at == word->end && !word->is_quoted;
}

static bool
is_text(const struct word *word, const char *text)
{
    const size_t length = strlen(text);
    return (size_t)(word->end - word->at) == length && memcmp(word->at, text, length) == 0;
}

/* Past the prefix, if the word starts with it; else NULL. */
static const char *
after(const struct word *word, const char *prefix)
{
    const size_t length = strlen(prefix);
    return (size_t)(word->end - word->at) >= length && memcmp(word->at, prefix, length) == 0
               ? word->at + length
               : NULL;
}

static bool
is_arrow(const struct word *word)
{
    return is_text(word, "->");
}

/* ---- the pattern ---- */

static char *
copy_text(const char *at, const char *end)
{
    char *const text = malloc((size_t)(end - at) + 1);
    if (text != NULL) {
        memcpy(text, at, (size_t)(end - at));
        text[end - at] = '\0';
    }
    return text;
}

/* The word without its quotes, and with ** for all below where it ends with a slash. */
static char *
copy_pattern(const struct word *word)
{
    char *const text = malloc((size_t)(word->end - word->at) + 3);
    size_t length = 0;
    for (const char *at = word->at; at < word->end && text != NULL; at++) {
        if (*at == '\\' && at + 1 < word->end) {
            text[length++] = *at++;
        } else if (*at == '"') {
            continue;
        }
        text[length++] = *at;
    }
    if (text != NULL) {
        text[length] = '\0';
        if (length > 1 && text[length - 1] == '/') {
            strcpy(text + length, "**");
        }
    }
    return text;
}

/* Where the byte of the pattern at this offset stands in the word. */
static const char *
place_in_word(const struct word *word, size_t offset)
{
    const char *at = word->at;
    for (; at < word->end && offset > 0; at++) {
        const bool is_escape = *at == '\\' && at + 1 < word->end;
        if (*at == '"') {
            continue;
        }
        if (is_escape && offset == 1) {
            break;
        }
        offset -= is_escape ? 2 : 1;
        at += is_escape;
    }
    return at;
}

static bool
fail_memory(const struct parser *parser)
{
    return fail(parser, parser->line_at, "no memory is left for this policy: free some.");
}

static bool
take_pattern(struct parser *parser, struct h5twin_policy_rule *rule, const struct word *word)
{
    if (is_arrow(word)) {
        return fail(parser, word->at,
                    "a pattern is missing before the arrow: write a name, a path such as "
                    "/fields/u, or ** for all.");
    }
    rule->pattern = copy_pattern(word);
    if (rule->pattern == NULL) {
        return fail_memory(parser);
    }
    const char *at;
    const char *const why = h5twin_policy_glob_check(rule->pattern, &at);
    return why == NULL ||
           fail(parser, place_in_word(word, (size_t)(at - rule->pattern)), "%s.", why);
}

/* ---- numbers ---- */

/* Digits at *at, which is moved past them; false if there are none, or they say too much. */
static bool
take_number(const char **at, const char *end, uint64_t *number)
{
    const char *const begin = *at;
    *number = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        const uint64_t digit = (uint64_t)(**at - '0');
        if (*number > (UINT64_MAX - 1 - digit) / 10) { /* the largest means unlimited */
            return false;
        }
        *number = 10 * *number + digit;
    }
    return *at > begin;
}

/* Bytes in a unit; 0 if it is none. "" is bytes. */
static uint64_t
unit_of(const struct word *unit)
{
    static const struct {
        const char *name;
        uint64_t size;
    } units[] = {
        {"", 1},
        {"B", 1},
        {"k", 1u << 10},
        {"K", 1u << 10},
        {"M", 1u << 20},
        {"G", 1u << 30},
        {"T", (uint64_t)1 << 40},
        {"KiB", 1u << 10},
        {"kiB", 1u << 10},
        {"MiB", 1u << 20},
        {"GiB", 1u << 30},
        {"TiB", (uint64_t)1 << 40},
        {"kB", 1000},
        {"KB", 1000},
        {"MB", 1000000},
        {"GB", 1000000000},
        {"TB", (uint64_t)1000000000000},
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (is_text(unit, units[i].name)) {
            return units[i].size;
        }
    }
    return 0;
}

static bool
take_size(const struct parser *parser, const char *at, const char *end, uint64_t *size)
{
    uint64_t number;
    const struct word whole = {.at = at, .end = end};
    struct word unit = {.at = at, .end = end};
    if (!take_number(&unit.at, end, &number)) {
        return fail(parser, at,
                    "\"%.*s\" is no size: write one such as 64KiB, a whole number "
                    "with B, KiB, MiB, GiB or TiB.",
                    shown(&whole), at);
    }
    const uint64_t factor = unit_of(&unit);
    if (factor == 0) {
        return fail(parser, unit.at,
                    "\"%.*s\" is no unit of a size: write B, KiB, MiB, GiB or "
                    "TiB after a whole number.",
                    shown(&unit), unit.at);
    }
    if (number > (UINT64_MAX - 1) / factor) {
        return fail(parser, at, "this size is larger than any dataset: write a smaller one.");
    }
    *size = number * factor;
    return true;
}

/* < <= > >= =, at *at, which is moved past it. */
enum comparison { NO_COMPARISON, LESS, LESS_OR_EQUAL, MORE, MORE_OR_EQUAL, EQUAL };

static enum comparison
take_comparison(const char **at, const char *end)
{
    static const struct {
        const char *text;
        enum comparison comparison;
    } all[] = {
        {"<=", LESS_OR_EQUAL}, {">=", MORE_OR_EQUAL}, {"<", LESS}, {">", MORE}, {"=", EQUAL},
    };
    const struct word rest = {.at = *at, .end = end};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const char *const past = after(&rest, all[i].text);
        if (past != NULL) {
            *at = past;
            return all[i].comparison;
        }
    }
    return NO_COMPARISON;
}

/* Narrow least..most by it; nothing is left where none can be less or more. */
static void
narrow(uint64_t *least, uint64_t *most, enum comparison comparison, uint64_t number)
{
    uint64_t low = 0, high = UINT64_MAX;
    switch (comparison) {
    case LESS:
        high = number == 0 ? 0 : number - 1;
        low = number == 0 ? 1 : 0; /* nothing is */
        break;
    case LESS_OR_EQUAL:
        high = number;
        break;
    case MORE:
        low = number + 1;
        break;
    case MORE_OR_EQUAL:
        low = number;
        break;
    default:
        low = high = number;
    }
    *least = low > *least ? low : *least;
    *most = high < *most ? high : *most;
}

/* ---- shapes ---- */

static bool
take_shape(const struct parser *parser, const char *at, const char *end, bool is_chunk,
           struct h5twin_policy_shape *shape)
{
    const char *const example =
        is_chunk ? "write a number of elements for each axis, such as chunks=16x64x64, or "
                   "chunks=auto or chunks=keep"
                 : "write a number or * for each axis, such as dims=*x180x360";
    shape->rank = 0;
    for (const char *here = at;; here++) { /* past an x */
        uint64_t extent = 0;
        const char *const begin = here;
        if (!is_chunk && here < end && *here == '*') {
            here++;
        } else if (!take_number(&here, end, &extent) || (is_chunk && extent == 0)) {
            return fail(parser, begin, "no number of elements is here: %s.", example);
        }
        if (shape->rank == H5TWIN_HDF5_MAX_RANK) {
            return fail(parser, begin, "there are more than 32 axes, which no dataset has: %s.",
                        example);
        }
        if (is_chunk && extent > UINT32_MAX) {
            return fail(parser, begin, "HDF5 takes no chunk of 4 GiB or more: %s.", example);
        }
        shape->dims[shape->rank++] = begin[0] == '*' ? H5TWIN_POLICY_UNLIMITED : extent;
        if (here == end) {
            return true;
        }
        if (*here != 'x') {
            return fail(parser, here,
                        "an x between the axes, or a blank after them, is missing: "
                        "%s.",
                        example);
        }
    }
}

/* ---- conditions ---- */

#define BIT(type) (UINT32_C(1) << H5TWIN_POLICY_##type)
#define SIGNED    (BIT(INT8) | BIT(INT16) | BIT(INT32) | BIT(INT64))
#define UNSIGNED  (BIT(UINT8) | BIT(UINT16) | BIT(UINT32) | BIT(UINT64))
#define FLOATS    (BIT(FLOAT32) | BIT(FLOAT64))

static const struct {
    const char *name;
    uint32_t types;
} type_words[] = {
    {"any", SIGNED | UNSIGNED | FLOATS},
    {"float", FLOATS},
    {"integer", SIGNED | UNSIGNED},
    {"complex", BIT(COMPLEX64) | BIT(COMPLEX128)},
    {"int", SIGNED},
    {"uint", UNSIGNED},
};

static const char *const type_names[H5TWIN_POLICY_TYPES] = {
    "other",  "int8",   "int16",   "int32",   "int64",     "uint8",     "uint16",
    "uint32", "uint64", "float32", "float64", "complex64", "complex128"};

const char *
h5twin_policy_type_name(enum h5twin_policy_type type)
{
    return type_names[type];
}

/* Those that one word means; 0 if the text [at, end) is none. */
static uint32_t
types_of(const char *at, const char *end)
{
    const struct word word = {.at = at, .end = end};
    for (size_t i = 0; i < sizeof type_words / sizeof type_words[0]; i++) {
        if (is_text(&word, type_words[i].name)) {
            return type_words[i].types;
        }
    }
    for (uint32_t type = H5TWIN_POLICY_OTHER + 1; type < H5TWIN_POLICY_TYPES; type++) {
        if (is_text(&word, type_names[type])) {
            return UINT32_C(1) << type;
        }
    }
    return 0;
}

/* "float", "float32,int16": the types of all, 0 if one is no type. */
static uint32_t
types_of_list(const struct word *word, const char **bad)
{
    uint32_t types = 0;
    for (const char *at = word->at;; at++) {
        const char *const comma = memchr(at, ',', (size_t)(word->end - at));
        const char *const end = comma == NULL ? word->end : comma;
        const uint32_t more = types_of(at, end);
        *bad = at;
        if (more == 0) {
            return 0;
        }
        types |= more;
        if (comma == NULL) {
            return types;
        }
        at = comma;
    }
}

#define CONDITIONS                                                                                 \
    "a type (float, float32, float64, integer, complex, any ...), a size (>=64KiB), rank=3, "      \
    "rank>=2, dims=*x180x360, extendable or fixed"

/* Which conditions a rule has already. */
struct seen {
    bool types, size, dims, growth;
};

/* The value of a comparison may stand in the next word: ">= 64KiB". */
static bool
take_value(struct parser *parser, const char **at, const char **end)
{
    struct word next;
    if (*at < *end) {
        return true;
    }
    const char *const here = *at;
    if (!take_word(parser, &next)) {
        return false;
    }
    if (is_end(&next) || is_arrow(&next)) {
        return fail(parser, here,
                    "a value is missing after the comparison: write one, such as "
                    ">=64KiB or rank>=2.");
    }
    *at = next.at;
    *end = next.end;
    return true;
}

static bool
take_size_condition(struct parser *parser, struct h5twin_policy_rule *rule, struct seen *seen,
                    const char *at, const char *end)
{
    const char *const begin = at;
    const enum comparison comparison = take_comparison(&at, end);
    uint64_t size = 0;
    if (comparison == EQUAL || comparison == NO_COMPARISON) {
        return fail(parser, begin,
                    "a size is compared by <, <=, > or >=: write for example "
                    ">=64KiB.");
    }
    if (!take_value(parser, &at, &end) || !take_size(parser, at, end, &size)) {
        return false;
    }
    if (!seen->size) {
        rule->least_size = 0; /* instead of what holds where none is said */
    }
    seen->size = true;
    narrow(&rule->least_size, &rule->most_size, comparison, size);
    return true;
}

static bool
take_rank_condition(struct parser *parser, struct h5twin_policy_rule *rule, const char *at,
                    const char *end)
{
    const enum comparison comparison = take_comparison(&at, end);
    uint64_t rank, least = rule->least_rank, most = rule->most_rank;
    if (comparison != NO_COMPARISON && !take_value(parser, &at, &end)) {
        return false;
    }
    const char *const number_at = at;
    if (comparison == NO_COMPARISON || !take_number(&at, end, &rank) || at != end ||
        rank > H5TWIN_HDF5_MAX_RANK) {
        return fail(parser, number_at,
                    "a rank is a number from 1 to 32: write for example rank=3 "
                    "or rank>=2.");
    }
    narrow(&least, &most, comparison, rank);
    rule->least_rank = least > H5TWIN_HDF5_MAX_RANK ? H5TWIN_HDF5_MAX_RANK + 1 : (uint32_t)least;
    rule->most_rank = (uint32_t)most;
    return true;
}

static bool
take_types(const struct parser *parser, struct h5twin_policy_rule *rule, struct seen *seen,
           const struct word *word)
{
    const char *bad;
    const uint32_t types = types_of_list(word, &bad);
    if (types == 0 && bad == word->at) {
        return fail(parser, bad, "\"%.*s\" is no condition: write " CONDITIONS ".", shown(word),
                    word->at);
    }
    if (types == 0) {
        return fail(parser, bad,
                    "this is no type: write float, float32, float64, integer, int8 to "
                    "int64, uint8 to uint64, complex or any, with commas between.");
    }
    if (seen->types) {
        return fail(parser, word->at,
                    "this rule has a type already: write several as one word "
                    "with commas, as float32,int16.");
    }
    seen->types = true;
    rule->types = types;
    return true;
}

static bool
take_growth(const struct parser *parser, struct h5twin_policy_rule *rule, struct seen *seen,
            const struct word *word, enum h5twin_policy_growth growth)
{
    if (seen->growth) {
        return fail(parser, word->at,
                    "this rule says already whether it is for extendable "
                    "datasets: leave one of the words out.");
    }
    seen->growth = true;
    rule->growth = growth;
    return true;
}

static bool
take_condition(struct parser *parser, struct h5twin_policy_rule *rule, struct seen *seen,
               const struct word *word)
{
    const char *past;
    const char *at = word->at;
    if (take_comparison(&at, word->end) != NO_COMPARISON) {
        return take_size_condition(parser, rule, seen, word->at, word->end);
    }
    if ((past = after(word, "size")) != NULL) {
        return take_size_condition(parser, rule, seen, past, word->end);
    }
    if ((past = after(word, "rank")) != NULL) {
        return take_rank_condition(parser, rule, past, word->end);
    }
    if ((past = after(word, "dims=")) != NULL) {
        return seen->dims
                   ? fail(parser, word->at, "this rule has dims already: leave one out.")
                   : (seen->dims = true, take_shape(parser, past, word->end, false, &rule->dims));
    }
    if (is_text(word, "extendable")) {
        return take_growth(parser, rule, seen, word, H5TWIN_POLICY_EXTENDABLE);
    }
    if (is_text(word, "fixed")) {
        return take_growth(parser, rule, seen, word, H5TWIN_POLICY_FIXED);
    }
    return take_types(parser, rule, seen, word);
}

/* ---- the action ---- */

/* The filter takes what the codec takes, but for what fits no parameters of HDF5's. */
static enum h5twin_status
check_for_filter(const struct h5twin_params *params)
{
    unsigned words[H5TWIN_USER_CD_VALUES];
    struct h5twin_params back;
    const unsigned count = h5twin_params_to_cd_values(params, words);
    h5twin_params_init(&back, params->codec);
    return h5twin_params_from_cd_values(&back, params->codec, words, count);
}

static bool
take_spec(const struct parser *parser, struct h5twin_policy_rule *rule, const struct word *word)
{
    char *const spec = copy_text(word->at, word->end);
    if (spec == NULL) {
        return fail_memory(parser);
    }
    const char *where = NULL;
    h5twin_params_init(&rule->params, (enum h5twin_codec_id)0);
    enum h5twin_status status = h5twin_params_parse(&rule->params, spec, &where);
    const char *const at = word->at + (where == NULL ? 0 : where - spec);
    free(spec);
    if (status == H5TWIN_OK) {
        status = check_for_filter(&rule->params);
    }
    return status == H5TWIN_OK ||
           fail(parser, at,
                "\"%.*s\" is no action: %s `h5twin codecs` lists codecs and options; "
                "other actions are none, chunks=..., collective and append=hold.",
                shown(word), word->at, h5twin_status_message(status));
}

struct action_seen {
    bool codec, chunks;
};

static bool
take_chunks(const struct parser *parser, struct h5twin_policy_rule *rule, struct action_seen *seen,
            const struct word *word, const char *at)
{
    const struct word value = {.at = at, .end = word->end};
    if (seen->chunks) {
        return fail(parser, word->at, "this rule has chunks already: leave one out.");
    }
    seen->chunks = true;
    if (is_text(&value, "auto") || is_text(&value, "keep")) {
        rule->chunks =
            is_text(&value, "auto") ? H5TWIN_POLICY_CHUNKS_AUTO : H5TWIN_POLICY_CHUNKS_KEEP;
        return true;
    }
    rule->chunks = H5TWIN_POLICY_CHUNKS_GIVEN;
    return take_shape(parser, at, word->end, true, &rule->chunk);
}

static bool
take_action(const struct parser *parser, struct h5twin_policy_rule *rule, struct action_seen *seen,
            const struct word *word)
{
    const char *const chunks = after(word, "chunks=");
    if (chunks != NULL) {
        return take_chunks(parser, rule, seen, word, chunks);
    }
    if (is_text(word, "collective")) {
        rule->is_collective = true;
        return true;
    }
    const char *const append = after(word, "append=");
    if (append != NULL) {
        const struct word value = {.at = append, .end = word->end};
        rule->is_held = is_text(&value, "hold");
        return rule->is_held || fail(parser, append,
                                     "rows are appended as HDF5 does it, or held: write "
                                     "append=hold, or leave it out.");
    }
    if (is_arrow(word)) {
        return fail(parser, word->at, "this rule has a second arrow: write one rule a line.");
    }
    if (seen->codec) {
        return fail(parser, word->at,
                    "this rule names a codec or none already: write one, with "
                    "its options after a colon and no blanks, as "
                    "lattice:abs=1e-3,effort=max.");
    }
    seen->codec = true;
    rule->is_none = is_text(word, "none");
    return rule->is_none || take_spec(parser, rule, word);
}

/* ---- rules ---- */

static bool
take_conditions(struct parser *parser, struct h5twin_policy_rule *rule)
{
    struct seen seen = {0};
    for (;;) {
        struct word word;
        if (!take_word(parser, &word)) {
            return false;
        }
        if (is_end(&word)) {
            return fail(parser, word.at,
                        "an arrow and what to do are missing: write for example "
                        "-> lattice:abs=1e-3, or -> none.");
        }
        if (is_arrow(&word)) {
            return true;
        }
        if (!take_condition(parser, rule, &seen, &word)) {
            return false;
        }
    }
}

static bool
take_actions(struct parser *parser, struct h5twin_policy_rule *rule)
{
    struct action_seen seen = {0};
    for (;;) {
        struct word word;
        if (!take_word(parser, &word)) {
            return false;
        }
        if (is_end(&word) && rule->is_none && (seen.chunks || rule->is_collective)) {
            return fail(parser, word.at,
                        "none leaves datasets as the program makes them: leave "
                        "chunks= and collective out.");
        }
        if (is_end(&word)) {
            return seen.codec || fail(parser, word.at,
                                      "what to do is missing: write a codec, such as "
                                      "lattice:abs=1e-3 or cascade, or none.");
        }
        if (!take_action(parser, rule, &seen, &word)) {
            return false;
        }
    }
}

/* A rule with the shape of chunks is for datasets of its rank. */
static bool
check_shapes(const struct parser *parser, struct h5twin_policy_rule *rule)
{
    const uint32_t chunk_rank = rule->chunks == H5TWIN_POLICY_CHUNKS_GIVEN ? rule->chunk.rank : 0;
    const uint32_t rank = chunk_rank != 0 ? chunk_rank : rule->dims.rank;
    if (rank != 0 && (rank < rule->least_rank || rank > rule->most_rank ||
                      (rule->dims.rank != 0 && rule->dims.rank != rank))) {
        return fail(parser, parser->line_at,
                    "rank, dims and chunks of this rule are not of as "
                    "many axes: it would fit no dataset; make them so.");
    }
    if (rule->least_rank > rule->most_rank || rule->least_size > rule->most_size) {
        return fail(parser, parser->line_at, "no dataset has such a %s: correct the comparisons.",
                    rule->least_rank > rule->most_rank ? "rank" : "size");
    }
    if (rank != 0) {
        rule->least_rank = rule->most_rank = rank;
    }
    return true;
}

static struct h5twin_policy_rule *
add_rule(const struct parser *parser, struct h5twin_policy *policy)
{
    const size_t count = policy->rule_count;
    if ((count & (count - 1)) == 0) { /* full: room is a power of two */
        void *const larger =
            realloc(policy->rules, (count == 0 ? 1 : 2 * count) * sizeof policy->rules[0]);
        if (larger == NULL) {
            fail_memory(parser);
            return NULL;
        }
        policy->rules = larger;
    }
    policy->rules[count] = (struct h5twin_policy_rule){.line = parser->line,
                                                       .types = SIGNED | UNSIGNED | FLOATS,
                                                       .least_size = H5TWIN_POLICY_LEAST_SIZE,
                                                       .most_size = UINT64_MAX,
                                                       .least_rank = 1,
                                                       .most_rank = H5TWIN_HDF5_MAX_RANK};
    policy->rule_count++;
    return &policy->rules[count];
}

static bool
take_line(struct parser *parser, struct h5twin_policy *policy)
{
    struct word word;
    const char *const zero =
        memchr(parser->line_at, '\0', (size_t)(parser->line_end - parser->line_at));
    if (zero != NULL) {
        return fail(parser, zero, "a zero byte is here: is this a text file?");
    }
    if (!take_word(parser, &word)) {
        return false;
    }
    if (is_end(&word)) { /* nothing, or a comment */
        return true;
    }
    struct h5twin_policy_rule *const rule = add_rule(parser, policy);
    return rule != NULL && take_pattern(parser, rule, &word) && take_conditions(parser, rule) &&
           take_actions(parser, rule) && check_shapes(parser, rule);
}

struct h5twin_policy *
h5twin_policy_parse(const char *name, const char *text, size_t size,
                    char error[H5TWIN_POLICY_SENTENCE])
{
    static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8, by some editors */
    struct h5twin_policy *const policy = calloc(1, sizeof *policy);
    struct parser parser = {.name = name, .error = error};
    const char *const end = text + size;
    const char *at = text;
    if (size >= 3 && memcmp(at, mark, 3) == 0) {
        at += 3;
    }
    bool done = policy != NULL || fail_memory(&parser);
    while (at < end && done) {
        const char *const newline = memchr(at, '\n', (size_t)(end - at));
        parser.line++;
        parser.at = parser.line_at = at;
        parser.line_end = newline == NULL ? end : newline;
        at = newline == NULL ? end : newline + 1;
        while (parser.line_end > parser.line_at && parser.line_end[-1] == '\r') {
            parser.line_end--;
        }
        done = take_line(&parser, policy);
    }
    if (!done) {
        h5twin_policy_free(policy);
        return NULL;
    }
    return policy;
}

void
h5twin_policy_free(struct h5twin_policy *policy)
{
    for (size_t i = 0; policy != NULL && i < policy->rule_count; i++) {
        free(policy->rules[i].pattern);
    }
    if (policy != NULL) {
        free(policy->rules);
    }
    free(policy);
}
