/* SPDX-License-Identifier: BSD-3-Clause
 * policy_draft.c: `h5twin policy FILE.h5`: a policy from what suits the datasets of a file.
 *
 * Measured times differ from run to run, and so would the answers of datasets that are alike. So
 * all of one type get the spec that is best for them together, and another one only those for which
 * that is clearly better. */
#include "commands.h"
#include "hdf5_file.h"
#include "messages.h"
#include "policy_command.h"
#include "repack_hdf5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the common spec's cost; times are measured, sizes are certain. */
#define CLEARLY_SMALLER 0.9
#define CLEARLY_FASTER  0.7

/* A dataset, and how each spec did with it. Specs of all datasets of one type are the same, but for
 * the fill value that they name. */
struct subject {
    char *path;
    const char *type;
    bool is_coordinate;
    double raw_size; /* bytes */
    size_t trial_count;
    struct trial {
        char spec[H5TWIN_SPEC_TEXT];
        double cost, share; /* of a byte, as less is better; stored of raw size */
        bool is_worth_it;
    } * trials;
};

struct draft {
    const struct h5twin_policy_draft_args *args;
    struct h5twin_repack_args survey_args;
    struct h5twin_repack survey; /* which datasets are coordinates, by their attributes */
    struct h5twin_policy *probe; /* what no policy touches is not tried */
    struct subject *subjects;
    size_t subject_count;
    size_t left_count; /* datasets that no rule would touch */
    int result;
};

/* ---- which datasets ---- */

static bool
is_known_coordinate(const struct draft *draft, hid_t dataset)
{
    H5O_info_t info;
    if (H5Oget_info2(dataset, &info, H5O_INFO_BASIC) < 0) {
        return false;
    }
    const struct h5twin_object *const object = h5twin_repack_find(&draft->survey, info.addr);
    return object != NULL && object->is_coordinate;
}

static bool
was_written(hid_t dataset, uint32_t rank)
{
    return H5Dget_storage_size(dataset) > 0 && rank <= H5TWIN_MAX_RANK &&
           h5twin_hdf5_raw_size(dataset) > 0;
}

static int
take_dataset(void *context, hid_t dataset, const char *name)
{
    struct draft *const draft = context;
    struct h5twin_policy_dataset described;
    struct h5twin_policy_outcome outcome = {.is_coded = false};
    const char *why;
    if (h5twin_policy_dataset_of(dataset, name, &described, &why)) {
        h5twin_policy_choose(draft->probe, &described, &outcome);
    }
    if (!outcome.is_coded || !was_written(dataset, described.rank)) {
        draft->left_count++;
        return 0;
    }
    void *const more =
        realloc(draft->subjects, (draft->subject_count + 1) * sizeof draft->subjects[0]);
    char *const path = malloc(strlen(name) + 1);
    if (more != NULL) {
        draft->subjects = more;
    }
    if (more == NULL || path == NULL) {
        free(path);
        draft->result = h5twin_fail("there is no memory for the names of the datasets.");
        return 1;
    }
    strcpy(path, name);
    draft->subjects[draft->subject_count++] = (struct subject){
        .path = path,
        .type = described.type >= H5TWIN_POLICY_FLOAT32 ? "float" : "integer",
        .is_coordinate = is_known_coordinate(draft, dataset),
        .raw_size = (double)h5twin_hdf5_raw_size(dataset),
    };
    return 0;
}

static int
survey_file(struct draft *draft)
{
    char error[H5TWIN_POLICY_SENTENCE];
    static const char all[] = "** any -> cascade";
    draft->probe = h5twin_policy_parse("all", all, strlen(all), error);
    draft->survey_args.src_path = draft->args->suggest.path;
    draft->survey.args = &draft->survey_args;
    draft->survey.src = h5twin_hdf5_open(draft->args->suggest.path);
    if (draft->survey.src < 0) {
        return H5TWIN_EXIT_FAILED;
    }
    if (draft->probe == NULL || !h5twin_repack_survey(&draft->survey) ||
        !h5twin_repack_find_coordinates(&draft->survey)) {
        return draft->probe == NULL ? h5twin_fail("%s", error) : H5TWIN_EXIT_FAILED;
    }
    if (h5twin_hdf5_each(draft->survey.src, take_dataset, draft) < 0) {
        return h5twin_hdf5_fail(draft->args->suggest.path, "", "read");
    }
    return draft->result;
}

/* ---- trials ---- */

/* What a rule can say; with a bound, only what has it, and keeps it however programs write. */
static bool
is_candidate(const struct h5twin_spec *spec, bool has_bound)
{
    return spec->peer == H5TWIN_PEER_NONE && spec->level == 0 &&
           strstr(spec->text, "stable=no") == NULL &&
           (spec->params.mode != H5TWIN_LOSSLESS) == has_bound;
}

static int
try_spec(const struct draft *draft, struct subject *subject, const struct h5twin_sample *sample,
         const struct h5twin_spec *spec)
{
    struct trial *const trial = &subject->trials[subject->trial_count++];
    struct h5twin_trial run;
    const enum h5twin_status status =
        h5twin_trial_run(&run, sample, &draft->args->suggest.exec, spec);
    *trial = (struct trial){.cost = (double)INFINITY, .share = 1};
    snprintf(trial->spec, sizeof trial->spec, "%s", spec->text);
    if (status == H5TWIN_OK) {
        trial->cost = h5twin_trial_cost(&run, draft->args->best);
        trial->share = (double)run.stored_size / (double)run.raw_size;
        trial->is_worth_it = h5twin_trial_is_worth_it(&run);
    }
    return status == H5TWIN_OK || status == H5TWIN_ERR_TOO_BIG
               ? H5TWIN_EXIT_OK
               : h5twin_fail_status(spec->text, status);
}

static int
try_sample(const struct draft *draft, struct subject *subject, const struct h5twin_sample *sample)
{
    struct h5twin_suggest_args args = draft->args->suggest;
    struct h5twin_specs specs;
    char fill[64] = "fill=";
    double share;
    const size_t key = strlen(fill);
    const bool has_mark = h5twin_sample_find_mark(sample, fill + key, sizeof fill - key, &share);
    args.bound_count = sample->params.kind == H5TWIN_FLOAT ? args.bound_count : 0;
    const bool made = h5twin_specs_make(&specs, &args, has_mark ? fill : NULL);
    subject->trials = made ? calloc(specs.count, sizeof subject->trials[0]) : NULL;
    int result = subject->trials != NULL ? H5TWIN_EXIT_OK
                                         : h5twin_fail("there is no memory for the trials.");
    for (size_t i = 0; i < specs.count && result == H5TWIN_EXIT_OK; i++) {
        if (is_candidate(&specs.list[i], args.bound_count > 0)) {
            result = try_spec(draft, subject, sample, &specs.list[i]);
        }
    }
    free(specs.list);
    return result;
}

static int
try_dataset(const struct draft *draft, struct subject *subject)
{
    struct h5twin_sample sample;
    int result = h5twin_sample_hdf5(&sample, draft->args->suggest.path, subject->path,
                                    draft->args->suggest.sample_size);
    if (result == H5TWIN_EXIT_OK) {
        result = try_sample(draft, subject, &sample);
    }
    h5twin_sample_free(&sample);
    return result;
}

/* ---- answers ---- */

/* The best spec for all datasets of this type together; a spec that one of them cannot take is not
 * for all. */
static size_t
find_common(const struct draft *draft, const char *type)
{
    size_t best = 0, trial_count = SIZE_MAX;
    double least = (double)INFINITY;
    for (size_t trial = 0; trial < trial_count; trial++) {
        double cost = 0;
        for (size_t i = 0; i < draft->subject_count; i++) {
            const struct subject *const subject = &draft->subjects[i];
            if (!subject->is_coordinate && strcmp(subject->type, type) == 0) {
                trial_count = subject->trial_count;
                cost += trial < trial_count ? subject->raw_size * subject->trials[trial].cost : 0;
            }
        }
        if (trial_count == SIZE_MAX) {
            break;
        }
        if (trial < trial_count && cost < least) {
            least = cost;
            best = trial;
        }
    }
    return best;
}

static const struct trial *
choose_trial(const struct subject *subject, size_t common, double clearly)
{
    const struct trial *best = NULL;
    for (size_t i = 0; i < subject->trial_count; i++) {
        const struct trial *const trial = &subject->trials[i];
        if (trial->is_worth_it && (best == NULL || trial->cost < best->cost)) {
            best = trial;
        }
    }
    const struct trial *const usual =
        common < subject->trial_count ? &subject->trials[common] : NULL;
    return best != NULL && usual->is_worth_it && best->cost > clearly * usual->cost ? usual : best;
}

static void
answer(const struct draft *draft, const struct subject *subject, size_t common,
       struct h5twin_policy_answer *answer)
{
    const double clearly =
        draft->args->best == H5TWIN_BEST_RATIO ? CLEARLY_SMALLER : CLEARLY_FASTER;
    const struct trial *const trial =
        subject->is_coordinate ? NULL : choose_trial(subject, common, clearly);
    *answer = (struct h5twin_policy_answer){
        .path = subject->path,
        .type = subject->type,
        .spec = trial == NULL ? "none" : trial->spec,
        .note = subject->is_coordinate ? "coordinates, by their attributes" : NULL,
        .raw_size = subject->raw_size,
        .share = trial == NULL ? 1 : trial->share,
    };
}

/* ---- all together ---- */

static int
print_policy(const struct draft *draft)
{
    struct h5twin_policy_answer *const answers = calloc(draft->subject_count + 1, sizeof *answers);
    if (answers == NULL) {
        return h5twin_fail("there is no memory for the rules.");
    }
    const size_t floats = find_common(draft, "float"), integers = find_common(draft, "integer");
    for (size_t i = 0; i < draft->subject_count; i++) {
        const bool is_float = strcmp(draft->subjects[i].type, "float") == 0;
        answer(draft, &draft->subjects[i], is_float ? floats : integers, &answers[i]);
    }
    h5twin_print("# A policy for h5twin, drafted from %s\n", draft->args->suggest.path);
    puts("# The first rule that fits a dataset decides; `h5twin policy --explain` shows which.\n"
         "# Ratios are those of a sample.");
    if (draft->left_count > 0) {
        printf("# No rule touches %zu dataset%s: small, without values, no numbers, or coordinates "
               "by name.\n",
               draft->left_count, draft->left_count == 1 ? "" : "s");
    }
    puts("");
    const bool printed = h5twin_policy_print_rules(answers, draft->subject_count);
    free(answers);
    return printed ? H5TWIN_EXIT_OK : h5twin_fail("there is no memory for the rules.");
}

int
h5twin_policy_draft(const struct h5twin_policy_draft_args *args)
{
    struct draft draft = {.args = args, .survey = {.src = -1}};
    int result = survey_file(&draft);
    for (size_t i = 0; i < draft.subject_count && result == H5TWIN_EXIT_OK; i++) {
        if (!draft.subjects[i].is_coordinate) {
            result = try_dataset(&draft, &draft.subjects[i]);
        }
    }
    if (draft.survey.src >= 0) {
        H5Fclose(draft.survey.src);
    }
    if (result == H5TWIN_EXIT_OK) {
        result = print_policy(&draft);
    }
    for (size_t i = 0; i < draft.subject_count; i++) {
        free(draft.subjects[i].path);
        free(draft.subjects[i].trials);
    }
    free(draft.subjects);
    free(draft.survey.objects);
    h5twin_policy_free(draft.probe);
    return result;
}
