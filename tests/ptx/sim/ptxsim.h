/* SPDX-License-Identifier: BSD-3-Clause
 * ptxsim.h: for tests that are linked with the interpreter's runtime: faults on demand, and what
 * the runtime and the driver were asked for. The emulator's simt_host.h has the same. */
#ifndef H5TWIN_PTXSIM_H
#define H5TWIN_PTXSIM_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

/* A device's primary context, or one that a program made. */
struct CUctx_st {
    int device;
    unsigned retained;
};

namespace ptxsim
{

/* The call number `countdown` from now (0 = the next one) to the runtime, the driver's functions
 * included and those that free something excluded, fails with `error`; if sticky, so does every
 * later one until faults are cleared with countdown -1. */
void inject_fault(long countdown, cudaError_t error, bool sticky);
bool fault_is_pending(); /* it has not struck yet */
/* Pieces of memory, streams, events and graphs that have not been given back. */
size_t count_allocations();
size_t forget_registered(); /* as a destroyed context does; how many pieces there were */

using Context = CUctx_st;
constexpr int most_devices = 4;
extern Context primary_contexts[most_devices];
extern int device_count;          /* as H5TWIN_PTX_DEVICES says, else 1 */
extern bool is_uninitialized;     /* as CUDA is in a child of a process that has begun to use it */
extern unsigned set_device_calls; /* which make a context, and replace the thread's */
extern unsigned unasked_contexts; /* made as a thread without one allocated something */
extern unsigned device_mallocs;
void push_context(Context *context); /* what a program does with the driver's API */
Context *pop_context();              /* NULL: there is none */
Context *current_context();          /* of this thread; NULL: none */

} // namespace ptxsim

#endif
