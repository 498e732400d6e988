/* SPDX-License-Identifier: BSD-3-Clause
 * runtime.h: what the parts of the stand-in for CUDA's runtime share. Calls come one at a time:
 * each holds the lock from its beginning to its end, kernels included. */
#ifndef H5TWIN_PTX_RUNTIME_H
#define H5TWIN_PTX_RUNTIME_H

#include "ptxsim.h"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using Work = std::function<void()>;

struct CUgraph_st { /* what a stream has captured */
    std::vector<Work> work;
    std::set<CUstream_st *> streams; /* that capture into it */
    CUstream_st *origin = nullptr;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    std::thread::id thread; /* that began it */
    bool is_broken = false;
};

struct CUstream_st {
    int device = 0;
    bool is_default = false, is_blocking = false; /* with the default stream */
    bool is_running = false;
    std::deque<Work> queue;
    CUgraph_st *capture = nullptr;
};

struct CUevent_st {
    CUstream_st *stream = nullptr;
    CUgraph_st *capture = nullptr;
    bool is_done = true;
    uint64_t records = 0;
    std::chrono::steady_clock::time_point when;
};

namespace ptx
{

std::recursive_mutex &runtime_lock();

/* The error that this call meets before it begins: a fault on demand, or what broke the device. */
cudaError_t error_at_entry(bool may_fail);
/* For cudaGetLastError. */
cudaError_t record_error(cudaError_t error);
/* What a kernel did wrong; every later call of the runtime fails with it. */
extern cudaError_t broken;

/* Most functions of the runtime: body() returns an error. */
template <class F>
cudaError_t
runtime_call(F &&body, bool may_fail = true)
{
    const std::lock_guard<std::recursive_mutex> guard(runtime_lock());
    const cudaError_t before = error_at_entry(may_fail);
    return record_error(before != cudaSuccess ? before : body());
}

/* Those that free something do so even if the device is broken. */
template <class F>
cudaError_t
freeing_call(F &&body)
{
    const std::lock_guard<std::recursive_mutex> guard(runtime_lock());
    const cudaError_t error = body();
    return record_error(error != cudaSuccess ? error : broken);
}

int current_device(); /* of the thread */
/* A thread that has no context gets one, which is noted. */
void need_context();

CUstream_st *find_stream(cudaStream_t stream); /* NULL is the device's default one */
/* Put on a stream: done at once, or when somebody waits (H5TWIN_PTX_LAZY), or captured. */
cudaError_t enqueue(cudaStream_t stream, Work work);
void drain(CUstream_st *stream, const bool *until = nullptr);
void drain_all();
/* An error if the thread may not do that while streams capture, which that breaks. */
cudaError_t check_no_capture();
void break_capture(CUgraph_st *graph);

extern size_t handle_count; /* streams, events and graphs */

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

} // namespace ptx

#endif
