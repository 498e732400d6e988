/* SPDX-License-Identifier: BSD-3-Clause
 * device.c: see device.h. */
#include "device.h"

#include "../common/environment.h"
#include "../common/parallel.h"
#include "../gpu/gpu_host.h"

#include <stdlib.h>

size_t
h5twin_device_gpu_pays_from(enum h5twin_codec_id id, bool decoding)
{
    const struct h5twin_codec *const codec = h5twin_codec_find(id);
    const size_t from = codec == NULL ? 0
                        : decoding    ? codec->gpu_decode_pays_from
                                      : codec->gpu_encode_pays_from;
    return from == 0 ? H5TWIN_GPU_NEVER_PAYS : from;
}

static bool
gpu_pays(enum h5twin_codec_id id, size_t raw_size, bool decoding)
{
#ifdef H5TWIN_TESTING
    if (getenv("H5TWIN_GPU_PAYS") != NULL) {
        return true;
    }
#endif
    const size_t from = h5twin_device_gpu_pays_from(id, decoding);
    return from != H5TWIN_GPU_NEVER_PAYS && raw_size >= from;
}

/* Letters of ASCII only: strcasecmp would ask the locale. */
static bool
is_same_word(const char *text, const char *word)
{
    size_t i = 0;
    while (word[i] != '\0' &&
           (text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]) == word[i]) {
        i++;
    }
    return text[i] == '\0' && word[i] == '\0';
}

bool
h5twin_device_parse(enum h5twin_device *device, const char *text)
{
    static const char *const names[] = {
        [H5TWIN_DEVICE_AUTO] = "auto", [H5TWIN_DEVICE_CPU] = "cpu", [H5TWIN_DEVICE_GPU] = "gpu"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (is_same_word(text, names[i])) {
            *device = (enum h5twin_device)i;
            return true;
        }
    }
    return false;
}

bool
h5twin_device_from_environment(enum h5twin_device *device)
{
    const char *const text = getenv("H5TWIN_DEVICE");
    *device = H5TWIN_DEVICE_AUTO;
    return text == NULL || *text == '\0' || h5twin_device_parse(device, text);
}

enum h5twin_status
h5twin_device_choose(const struct h5twin_exec *exec, enum h5twin_codec_id id, size_t raw_size,
                     bool decoding, enum h5twin_device_choice *choice)
{
    enum h5twin_device wanted = exec == NULL ? H5TWIN_DEVICE_AUTO : exec->device;
    *choice = H5TWIN_USE_CPU;
    if (wanted == H5TWIN_DEVICE_AUTO && !h5twin_device_from_environment(&wanted)) {
        return H5TWIN_ERR_ENVIRONMENT;
    }
    if (wanted == H5TWIN_DEVICE_CPU ||
        (wanted == H5TWIN_DEVICE_AUTO && !gpu_pays(id, raw_size, decoding))) {
        return H5TWIN_OK;
    }
    const char *why;
    const enum h5twin_status found = h5twin_gpu_host_find(id, decoding, &why);
    if (wanted == H5TWIN_DEVICE_GPU) {
        *choice = H5TWIN_MUST_GPU;
        return found;
    }
    *choice = found == H5TWIN_OK ? H5TWIN_TRY_GPU : H5TWIN_USE_CPU;
    return H5TWIN_OK;
}

static enum h5twin_status
encode(enum h5twin_device_choice choice, const struct h5twin_codec *codec, struct h5twin_job *job,
       uint8_t *dst, const uint8_t *src, size_t *dst_size)
{
    /* An empty array has no work for a GPU. */
    if (choice != H5TWIN_USE_CPU && job->raw_size != 0) {
        const enum h5twin_status status =
            h5twin_gpu_host_encode(codec->info.id, job, dst, codec->bound(job), src, dst_size);
        const bool is_left = status == H5TWIN_ERR_OPTION; /* whatever the choice was */
        if (!is_left && (status != H5TWIN_ERR_DEVICE || choice == H5TWIN_MUST_GPU)) {
            return status;
        }
    }
    return codec->encode(job, dst, src, dst_size);
}

static enum h5twin_status
decode(enum h5twin_device_choice choice, const struct h5twin_codec *codec,
       const struct h5twin_job *job, uint8_t *dst, const uint8_t *src, size_t src_size)
{
    if (choice != H5TWIN_USE_CPU && job->raw_size != 0) {
        const enum h5twin_status status =
            h5twin_gpu_host_decode(codec->info.id, job, dst, src, src_size);
        if (status != H5TWIN_ERR_DEVICE || choice == H5TWIN_MUST_GPU) {
            return status;
        }
    }
    return codec->decode(job, dst, src, src_size);
}

/* Codecs and drivers wait for threads and devices, where a thread may be cancelled, and neither
 * cleans up after that. They compute in the default floating-point environment. */
enum h5twin_status
h5twin_device_encode(enum h5twin_device_choice choice, const struct h5twin_codec *codec,
                     struct h5twin_job *job, uint8_t *dst, const uint8_t *src, size_t *dst_size)
{
    const int cancel = h5twin_cancel_hold();
    struct h5twin_environment environment;
    h5twin_environment_hold(&environment);
    const enum h5twin_status status = encode(choice, codec, job, dst, src, dst_size);
    h5twin_environment_release(&environment);
    h5twin_cancel_release(cancel);
    return status;
}

enum h5twin_status
h5twin_device_decode(enum h5twin_device_choice choice, const struct h5twin_codec *codec,
                     const struct h5twin_job *job, uint8_t *dst, const uint8_t *src,
                     size_t src_size)
{
    const int cancel = h5twin_cancel_hold();
    struct h5twin_environment environment;
    h5twin_environment_hold(&environment);
    const enum h5twin_status status = decode(choice, codec, job, dst, src, src_size);
    h5twin_environment_release(&environment);
    h5twin_cancel_release(cancel);
    return status;
}

static enum h5twin_status
decode_box(enum h5twin_device_choice choice, const struct h5twin_codec *codec,
           const struct h5twin_job *job, const struct h5twin_box_runs *box, const uint8_t *src,
           size_t src_size)
{
    const bool is_all = h5twin_box_direct(box, 0, box->array_size) != NULL;
    if (choice != H5TWIN_MUST_GPU && codec->decode_box != NULL && !is_all) {
        return codec->decode_box(job, box, src, src_size);
    }
    uint8_t *const array = h5twin_box_all_begin(box);
    const enum h5twin_status status =
        array == NULL ? H5TWIN_ERR_MEMORY : decode(choice, codec, job, array, src, src_size);
    h5twin_box_all_end(box, array, status == H5TWIN_OK);
    return status;
}

enum h5twin_status
h5twin_device_decode_box(enum h5twin_device_choice choice, const struct h5twin_codec *codec,
                         const struct h5twin_job *job, const struct h5twin_box_runs *box,
                         const uint8_t *src, size_t src_size)
{
    const int cancel = h5twin_cancel_hold();
    struct h5twin_environment environment;
    h5twin_environment_hold(&environment);
    const enum h5twin_status status = decode_box(choice, codec, job, box, src, src_size);
    h5twin_environment_release(&environment);
    h5twin_cancel_release(cancel);
    return status;
}
