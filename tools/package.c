/* SPDX-License-Identifier: BSD-3-Clause
 * package.c: see package.h. */
#include "package.h"

#include "cd_values.h"
#include "common/environment.h"
#include "policy.h"
#include "shared_objects.h"
#include "suggest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static enum h5twin_status
try_spec(struct h5twin_package_trial *result, const struct h5twin_sample *sample, const char *text)
{
    const struct h5twin_exec exec = {.threads = 1};
    struct h5twin_spec spec = {.peer = H5TWIN_PEER_NONE};
    struct h5twin_trial trial = {.raw_size = 0};
    h5twin_params_init(&spec.params, (enum h5twin_codec_id)0);
    enum h5twin_status status = h5twin_params_parse(&spec.params, text, NULL);
    if (status == H5TWIN_OK) {
        status = h5twin_trial_run(&trial, sample, &exec, &spec);
    }
    if (status == H5TWIN_ERR_TOO_BIG) {
        status = H5TWIN_OK; /* and nothing was tried */
    }
    *result = (struct h5twin_package_trial){.raw_size = trial.raw_size,
                                            .stored_size = trial.stored_size,
                                            .encode_time = trial.encode_time,
                                            .decode_time = trial.decode_time,
                                            .max_error = trial.max_error,
                                            .psnr = trial.psnr};
    return status;
}

enum h5twin_status
h5twin_package_suggest(struct h5twin_package_trial *trials, enum h5twin_status *statuses,
                       const char *const *specs, size_t spec_count,
                       const struct h5twin_params *params, const void *data, size_t sample_size)
{
    struct h5twin_sample sample;
    if (!h5twin_sample_memory(&sample, params, data, sample_size)) {
        h5twin_sample_free(&sample);
        return H5TWIN_ERR_MEMORY;
    }
    struct h5twin_environment environment; /* errors and ratios are computed, too */
    h5twin_environment_hold(&environment);
    for (size_t i = 0; i < spec_count; i++) {
        statuses[i] = try_spec(&trials[i], &sample, specs[i]);
    }
    h5twin_environment_release(&environment);
    h5twin_sample_free(&sample);
    return H5TWIN_OK;
}

void
h5twin_package_declare(struct h5twin_params *params, double declared_fill, bool zeros_are_padding)
{
    params->has_declared_fill = !isnan(declared_fill);
    params->declared_fill = declared_fill;
    params->zeros_are_padding = zeros_are_padding;
}

size_t
h5twin_package_refusal(enum h5twin_codec_id codec, const unsigned *cd_values, size_t cd_count,
                       char *text, size_t capacity)
{
    struct h5twin_cd cd;
    const char *why = "";
    const enum h5twin_status status = h5twin_cd_read(&cd, codec, cd_values, cd_count, &why);
    const int length = snprintf(text, capacity, "%s", status == H5TWIN_OK ? "" : why);
    return length < 0 ? 0 : (size_t)length;
}

/* ---- policies ---- */

_Static_assert(sizeof(struct h5twin_policy_outcome) <= H5TWIN_PACKAGE_OUTCOME, "no room");
_Static_assert(H5TWIN_POLICY_SENTENCE <= H5TWIN_PACKAGE_ERROR, "no room");

const struct h5twin_policy *
h5twin_package_policy_read(const char *path, char *error)
{
    return path == NULL ? h5twin_policy_of_environment() : h5twin_policy_read(path, error);
}

void
h5twin_package_policy_free(struct h5twin_policy *policy)
{
    h5twin_policy_free(policy);
}

static void *
find_symbol(void *library, const char *name)
{
    return h5twin_shared_symbol(library, name);
}

int64_t
h5twin_package_policy_apply(void *library, const struct h5twin_policy *policy, const char *path,
                            bool is_parallel, int64_t dcpl, int64_t type, int64_t space,
                            struct h5twin_policy_outcome *outcome)
{
    struct h5twin_policy_hdf5 hdf5;
    if (!h5twin_policy_hdf5_find(&hdf5, find_symbol, library)) {
        *outcome = (struct h5twin_policy_outcome){.why = "this HDF5 is older than 1.10"};
        return H5TWIN_POLICY_LEAVE;
    }
    return h5twin_policy_apply(&hdf5, policy, path, is_parallel, dcpl, type, space, outcome);
}

void
h5twin_package_policy_pause(bool is_paused)
{
    h5twin_policy_pause(is_paused);
}

void
h5twin_package_policy_log(const char *file_name, struct h5twin_policy_outcome *outcome,
                          bool was_refused)
{
    if (was_refused) {
        h5twin_policy_refused(outcome);
    }
    h5twin_policy_log(file_name, outcome);
}
