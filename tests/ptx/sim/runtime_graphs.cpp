/* SPDX-License-Identifier: BSD-3-Clause
 * runtime_graphs.cpp: what a stream captures, and its replays: in the order of the capture. */
#include "runtime.h"

struct CUgraphExec_st {
    std::vector<Work> work;
};

using namespace ptx;

namespace
{

cudaError_t
instantiate(cudaGraphExec_t *made, cudaGraph_t graph)
{
    return runtime_call([&] {
        *made = new CUgraphExec_st{graph->work};
        handle_count++;
        return cudaSuccess;
    });
}

} // namespace

extern "C" {

cudaError_t
cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    return runtime_call([&] {
        CUstream_st *const found = find_stream(stream);
        if (found->is_default || found->capture != nullptr) {
            return cudaErrorStreamCaptureUnsupported;
        }
        found->capture = new CUgraph_st;
        found->capture->streams.insert(found);
        found->capture->origin = found;
        found->capture->mode = mode;
        found->capture->thread = std::this_thread::get_id();
        return cudaSuccess;
    });
}

cudaError_t
cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *made)
{
    return runtime_call([&] {
        CUgraph_st *const graph = find_stream(stream)->capture;
        *made = nullptr;
        if (graph == nullptr || graph->origin != stream) {
            return cudaErrorIllegalState;
        }
        for (CUstream_st *const each : graph->streams) {
            each->capture = nullptr;
        }
        if (graph->is_broken) {
            delete graph;
            return cudaErrorStreamCaptureInvalidated;
        }
        handle_count++;
        *made = graph;
        return cudaSuccess;
    });
}

cudaError_t
cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    return runtime_call([&] {
        const CUgraph_st *const graph = find_stream(stream)->capture;
        *status = graph == nullptr   ? cudaStreamCaptureStatusNone
                  : graph->is_broken ? cudaStreamCaptureStatusInvalidated
                                     : cudaStreamCaptureStatusActive;
        return cudaSuccess;
    });
}

#if CUDART_VERSION >= 12000
cudaError_t
cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, unsigned long long)
{
    return instantiate(made, graph);
}
#else
cudaError_t
cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph, cudaGraphNode_t *, char *, size_t)
{
    return instantiate(made, graph);
}
#endif

cudaError_t
cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    return runtime_call([&] {
        for (const Work &work : exec->work) {
            enqueue(stream, work);
        }
        return cudaSuccess;
    });
}

cudaError_t
cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    return freeing_call([&] {
        handle_count--;
        delete exec;
        return cudaSuccess;
    });
}

cudaError_t
cudaGraphDestroy(cudaGraph_t graph)
{
    return freeing_call([&] {
        handle_count--;
        delete graph;
        return cudaSuccess;
    });
}

} // extern "C"
