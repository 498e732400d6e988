/* SPDX-License-Identifier: BSD-3-Clause
 * device.c: see device.h. This build has no GPU back end: the answer is the CPU or an error. */
#include "device.h"

#include <stdlib.h>
#include <string.h>

static enum h5twin_device
device_from_environment(void)
{
    const char *const text = getenv("H5TWIN_DEVICE");
    if (text != NULL && strcmp(text, "gpu") == 0) {
        return H5TWIN_DEVICE_GPU;
    }
    if (text != NULL && strcmp(text, "cpu") == 0) {
        return H5TWIN_DEVICE_CPU;
    }
    return H5TWIN_DEVICE_AUTO;
}

enum h5twin_status
h5twin_device_choose(const struct h5twin_exec *exec, enum h5twin_device *device)
{
    enum h5twin_device wanted = exec == NULL ? H5TWIN_DEVICE_AUTO : exec->device;
    if (wanted == H5TWIN_DEVICE_AUTO) {
        wanted = device_from_environment();
    }
    if (wanted == H5TWIN_DEVICE_GPU) {
        return H5TWIN_ERR_DEVICE;
    }
    *device = H5TWIN_DEVICE_CPU;
    return H5TWIN_OK;
}
