/* SPDX-License-Identifier: BSD-3-Clause
 * info_devices.c: `h5twin info --devices`: what arrays can be coded on here, what is chosen, and
 * why. It asks those who choose (isa.c, device.c, gpu_host.h) instead of looking itself. */
#include "commands.h"
#include "common/parallel.h"
#include "gpu/gpu_host.h"
#include "h5twin.h"
#include "info.h"
#include "isa.h"
#include "run/device.h"

#include <stdlib.h>
#include <string.h>

#define TRIAL_VALUES 3000u

/* ---- the processor ---- */

static void
print_processor(FILE *out)
{
    const struct h5twin_isa_level *level;
    fputs("processor\n  instruction sets  ", out);
    for (unsigned i = 0; (level = h5twin_isa_level_at(i)) != NULL; i++) {
        fprintf(out, "%s%s", i == 0 ? "" : ", ", level->name);
    }
    fprintf(out, "; %s is used\n", h5twin_isa_level_of(h5twin_isa_available())->name);
    const char *const variable = getenv("H5TWIN_NUM_THREADS") != NULL ? "H5TWIN_NUM_THREADS"
                                 : getenv("OMP_NUM_THREADS") != NULL  ? "OMP_NUM_THREADS"
                                                                      : NULL;
    fprintf(out, "  threads           %u", h5twin_threads_available());
    if (variable == NULL) {
        fputs(": the cores that this process may use; H5TWIN_NUM_THREADS changes it\n", out);
    } else {
        fprintf(out, ": %s=%s\n", variable, getenv(variable));
    }
}

/* ---- GPUs ---- */

/* Whether a short array is coded on the GPU to the bytes of the CPU, if it encodes, and back. */
static enum h5twin_status
try_on_gpu(enum h5twin_codec_id codec, bool encodes)
{
    static const struct h5twin_exec cpu = {.device = H5TWIN_DEVICE_CPU},
                                    gpu = {.device = H5TWIN_DEVICE_GPU};
    float values[TRIAL_VALUES], back[TRIAL_VALUES];
    struct h5twin_params params;
    for (uint32_t i = 0; i < TRIAL_VALUES; i++) {
        values[i] = (float)(i / 7) * 0.5f;
    }
    h5twin_params_init(&params, codec);
    h5twin_params_set_array(&params, H5TWIN_FLOAT, sizeof values[0], 1, (uint64_t[]){TRIAL_VALUES});
    const size_t capacity = h5twin_bound(&params, sizeof values);
    uint8_t *const chunks = malloc(2 * capacity);
    if (chunks == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    size_t cpu_size, gpu_size = 0, back_size;
    enum h5twin_status status =
        h5twin_encode(&params, &cpu, chunks, capacity, values, sizeof values, &cpu_size);
    if (status == H5TWIN_OK && encodes) {
        status = h5twin_encode(&params, &gpu, chunks + capacity, capacity, values, sizeof values,
                               &gpu_size);
    }
    if (status == H5TWIN_OK && encodes &&
        (gpu_size != cpu_size || memcmp(chunks, chunks + capacity, cpu_size) != 0)) {
        status = H5TWIN_ERR_CORRUPT;
    }
    if (status == H5TWIN_OK) {
        status = h5twin_decode(&gpu, back, sizeof back, chunks, cpu_size, &back_size);
    }
    if (status == H5TWIN_OK && memcmp(back, values, sizeof back) != 0) {
        status = H5TWIN_ERR_CORRUPT;
    }
    free(chunks);
    return status;
}

static void
print_trials(FILE *out)
{
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec_info *const codec = h5twin_codec_at(i);
        const char *why;
        fprintf(out, "  %-16s  ", codec->name);
        if (h5twin_gpu_host_find(codec->id, true, &why) != H5TWIN_OK) {
            fprintf(out, "not on a GPU: %s\n", why);
            continue;
        }
        struct h5twin_params params;
        h5twin_params_init(&params, codec->id);
        const bool encodes = h5twin_gpu_encodes(&params);
        const enum h5twin_status status = try_on_gpu(codec->id, encodes);
        fputs(status == H5TWIN_OK && encodes ? "works: a short array gave the bytes of the CPU\n"
              : status == H5TWIN_OK
                  ? "works: decoded a short array (by default, this codec encodes on the CPU)\n"
              : status == H5TWIN_ERR_CORRUPT
                  ? "WRONG: other bytes than on the CPU; please report this\n"
                  : "fails: CUDA refused a call or a kernel; these need compute capability 8.0 "
                    "and some free memory\n",
              out);
    }
}

/* True if one can be used. */
static bool
print_gpus(FILE *out)
{
    struct h5twin_gpu_host_device device;
    const char *why;
    unsigned number = 0;
    const bool usable = h5twin_gpu_host_find(h5twin_codec_at(0)->id, true, &why) == H5TWIN_OK;
    fputs("\nGPU\n", out);
    for (; h5twin_gpu_host_device(number, &device); number++) {
        char label[16];
        snprintf(label, sizeof label, "%u", number);
        fprintf(out, "  %-16s  %s, compute capability %u.%u, %.1f GiB%s\n", label, device.name,
                device.major, device.minor, (double)device.memory / (1u << 30),
                usable && device.current ? "; calls that take a GPU take this one" : "");
    }
    if (!usable) {
        fprintf(out, "  %-16s  none: %s\n", "usable", why);
        return false;
    }
    print_trials(out);
    return true;
}

/* ---- the choice ---- */

static void
print_variable(FILE *out, const char *name, const char *if_unset)
{
    const char *const value = getenv(name);
    if (value == NULL || *value == '\0') {
        fprintf(out, "  %-16s  not set: %s\n", name, if_unset);
    } else {
        fprintf(out, "  %-16s  %s\n", name, value);
    }
}

static void
print_size(FILE *out, const char *what, size_t size)
{
    if (size == H5TWIN_GPU_NEVER_PAYS) {
        fprintf(out, "%s never", what);
    } else {
        fprintf(out, "%s from %zu bytes on", what, size);
    }
}

/* Where auto would take a GPU. */
static void
print_auto(FILE *out)
{
    bool any = false;
    for (uint32_t i = 0; i < h5twin_codec_count(); i++) {
        const struct h5twin_codec_info *const codec = h5twin_codec_at(i);
        const size_t encode = h5twin_device_gpu_pays_from(codec->id, false);
        const size_t decode = h5twin_device_gpu_pays_from(codec->id, true);
        if (encode != H5TWIN_GPU_NEVER_PAYS || decode != H5TWIN_GPU_NEVER_PAYS) {
            fprintf(out, "  %-16s  a GPU for %s:", any ? "" : "auto means", codec->name);
            print_size(out, " encoding", encode);
            print_size(out, ", decoding", decode);
            fputc('\n', out);
            any = true;
        }
    }
    if (!any) {
        fprintf(out,
                "  %-16s  the CPU for all codecs: no GPU has been measured to pay for arrays "
                "in host memory\n",
                "auto means");
    }
}

static void
print_choice(FILE *out, bool usable)
{
    enum h5twin_device device;
    fputs("\nchoice\n", out);
    print_variable(out, "H5TWIN_DEVICE", "auto");
    print_variable(out, "H5TWIN_GPU", "the current device of CUDA");
    print_auto(out);
    const bool known = h5twin_device_from_environment(&device);
    fprintf(out, "  %-16s  %s\n", "result",
            !known                         ? "calls fail: H5TWIN_DEVICE is not auto, cpu or gpu"
            : device == H5TWIN_DEVICE_AUTO ? "as auto means"
            : device == H5TWIN_DEVICE_CPU  ? "the CPU: H5TWIN_DEVICE demands it"
            : usable                       ? "the GPU: H5TWIN_DEVICE demands it"
                     : "calls fail: H5TWIN_DEVICE demands a GPU, and none is usable");
}

int
h5twin_info_devices(FILE *out)
{
    print_processor(out);
    print_choice(out, print_gpus(out));
    return H5TWIN_EXIT_OK;
}
