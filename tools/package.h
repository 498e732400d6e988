/* SPDX-License-Identifier: BSD-3-Clause
 * package.h: what the Python package calls in its library, beside include/h5twin.h and the command
 * itself. Known to python/h5twin/_library.py, to be changed with it. */
#ifndef H5TWIN_TOOLS_PACKAGE_H
#define H5TWIN_TOOLS_PACKAGE_H

#include "h5twin.h"

/* The command. Returns its exit code. */
H5TWIN_API int h5twin_command_main(int argc, char **argv);

/* A spec tried on a sample of an array, as `h5twin suggest` does it. Sizes in bytes, times in
 * seconds for raw_size bytes; 0: too short to measure. */
struct h5twin_package_trial {
    uint64_t raw_size, stored_size;
    double encode_time, decode_time;
    double max_error, psnr; /* as in struct h5twin_trial */
};

/* Try each of the specs on the same sample of about sample_size bytes, one thread each; params are
 * the array's, of rank 1 at least. What went wrong with one of them is its status; raw_size is 0 if
 * a piece is too large for the codec. */
H5TWIN_API enum h5twin_status h5twin_package_suggest(struct h5twin_package_trial *trials,
                                                     enum h5twin_status *statuses,
                                                     const char *const *specs, size_t spec_count,
                                                     const struct h5twin_params *params,
                                                     const void *data, size_t sample_size);

/* The sentence with which a codec's filter refuses cd_values, written to text; empty if it does
 * not. Returns its length without the ending zero, which may be more than fits. */
H5TWIN_API size_t h5twin_package_refusal(enum h5twin_codec_id codec, const unsigned *cd_values,
                                         size_t cd_count, char *text, size_t capacity);

/* Set params->declared_fill, unless it is NaN, and whether zeros are what chunks were padded with.
 */
H5TWIN_API void h5twin_package_declare(struct h5twin_params *params, double declared_fill,
                                       bool zeros_are_padding);

/* ---- policies (vol/policy.h), for HDF5 libraries whose programs call this through Python ---- */

/* Room for a struct h5twin_policy_outcome, and for an error. */
#define H5TWIN_PACKAGE_OUTCOME 4096
#define H5TWIN_PACKAGE_ERROR   512

struct h5twin_policy;
struct h5twin_policy_outcome;

/* Of a file; that of the environment if path is NULL, which is not to be freed, and of which an
 * error is told as vol/policy.h says. NULL after an error, or if there is none. */
H5TWIN_API const struct h5twin_policy *h5twin_package_policy_read(const char *path, char *error);
H5TWIN_API void h5twin_package_policy_free(struct h5twin_policy *policy);

/* h5twin_policy_apply() with the functions that the shared object of this handle, or those that it
 * was linked with, export. */
H5TWIN_API int64_t h5twin_package_policy_apply(void *library, const struct h5twin_policy *policy,
                                               const char *path, bool is_parallel, int64_t dcpl,
                                               int64_t type, int64_t space,
                                               struct h5twin_policy_outcome *outcome);

/* h5twin_policy_pause(). */
H5TWIN_API void h5twin_package_policy_pause(bool is_paused);

/* Write the outcome to the log; was_refused: HDF5 did not create the dataset with that list. */
H5TWIN_API void h5twin_package_policy_log(const char *file_name,
                                          struct h5twin_policy_outcome *outcome, bool was_refused);

#endif
