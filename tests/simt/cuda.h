/* SPDX-License-Identifier: BSD-3-Clause
 * cuda.h: stands in for the driver's header, as cuda_runtime.h here does for the runtime's. */
#ifndef H5TWIN_SIMT_CUDA_H
#define H5TWIN_SIMT_CUDA_H

#include "simt_host.h"

#define CUDAAPI
typedef int CUdevice;
typedef simt::Context *CUcontext;
enum CUresult {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
};

#endif
