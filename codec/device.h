/* SPDX-License-Identifier: BSD-3-Clause
 * device.h: where a chunk is coded. The only reader of H5TWIN_DEVICE. */
#ifndef H5TWIN_DEVICE_H
#define H5TWIN_DEVICE_H

#include "h5twin.h"

/* The device for one call: H5TWIN_DEVICE_CPU or _GPU in *device, or H5TWIN_ERR_DEVICE if a GPU was
 * demanded, by the call or by the environment, and there is none. */
enum h5twin_status h5twin_device_choose(const struct h5twin_exec *exec, enum h5twin_device *device);

#endif
