/* SPDX-License-Identifier: BSD-3-Clause
 * cuda_runtime.h: stands in for CUDA's header when a .cu file is compiled as C++ for the emulator.
 *
 * Found first on the include path of emulator builds only. What kernels and launchers of this
 * project use is here, and nothing else: a missing name is a compile error, not a wrong result. */
#ifndef H5TWIN_SIMT_CUDA_RUNTIME_H
#define H5TWIN_SIMT_CUDA_RUNTIME_H

#include "simt.h"
#include "simt_device.h"
#include "simt_host.h"

#endif
