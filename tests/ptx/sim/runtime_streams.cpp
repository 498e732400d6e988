/* SPDX-License-Identifier: BSD-3-Clause
 * runtime_streams.cpp: streams and events. */
#include "runtime.h"

#include "settings.h"

#include <algorithm>
#include <map>

namespace ptx
{

namespace
{

std::vector<CUstream_st *> &
streams()
{
    static auto *const forever = new std::vector<CUstream_st *>;
    return *forever;
}

CUstream_st *
default_stream(int device)
{
    static auto *const forever = new std::map<int, CUstream_st *>;
    CUstream_st *&stream = (*forever)[device];
    if (stream == nullptr) {
        stream = new CUstream_st;
        stream->device = device;
        stream->is_default = stream->is_blocking = true;
        streams().push_back(stream);
    }
    return stream;
}

/* The default stream waits for all blocking ones, and they wait for it. */
void
drain_default(CUstream_st *stream)
{
    if (!stream->is_blocking) {
        return;
    }
    for (size_t i = 0; i < streams().size(); i++) {
        CUstream_st *const other = streams()[i];
        if (other != stream && other->is_blocking && other->device == stream->device &&
            (stream->is_default || other->is_default)) {
            drain(other);
        }
    }
}

} // namespace

CUstream_st *
find_stream(cudaStream_t stream)
{
    const bool is_default =
        stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
    return is_default ? default_stream(current_device()) : stream;
}

cudaError_t
enqueue(cudaStream_t handle, Work work)
{
    CUstream_st *const stream = find_stream(handle);
    if (stream->capture != nullptr) {
        stream->capture->work.push_back(std::move(work));
        return cudaSuccess;
    }
    drain_default(stream);
    stream->queue.push_back(std::move(work));
    if (!settings().lazy) {
        drain(stream);
    }
    return cudaSuccess;
}

void
drain(CUstream_st *stream, const bool *until)
{
    if (stream->is_running) {
        return;
    }
    stream->is_running = true;
    while (!stream->queue.empty() && broken == cudaSuccess && (until == nullptr || !*until)) {
        const Work work = std::move(stream->queue.front());
        stream->queue.pop_front();
        work();
    }
    if (broken != cudaSuccess) {
        stream->queue.clear();
    }
    stream->is_running = false;
}

void
drain_all()
{
    for (size_t i = 0; i < streams().size(); i++) {
        drain(streams()[i]);
    }
}

void
break_capture(CUgraph_st *graph)
{
    graph->is_broken = true;
}

cudaError_t
check_no_capture()
{
    for (CUstream_st *const stream : streams()) {
        CUgraph_st *const graph = stream->capture;
        if (graph == nullptr || graph->mode == cudaStreamCaptureModeRelaxed ||
            (graph->mode == cudaStreamCaptureModeThreadLocal &&
             graph->thread != std::this_thread::get_id())) {
            continue;
        }
        break_capture(graph);
        return cudaErrorStreamCaptureUnsupported;
    }
    return cudaSuccess;
}

} // namespace ptx

using namespace ptx;

extern "C" {

cudaError_t
cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return runtime_call([&] {
        need_context();
        default_stream(current_device());
        CUstream_st *const made = new CUstream_st;
        made->device = current_device();
        made->is_blocking = (flags & cudaStreamNonBlocking) == 0;
        streams().push_back(made);
        handle_count++;
        *stream = made;
        return cudaSuccess;
    });
}

cudaError_t
cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t
cudaStreamDestroy(cudaStream_t stream)
{
    return freeing_call([&] {
        const auto found = std::find(streams().begin(), streams().end(), stream);
        if (found == streams().end() || stream->is_default) {
            return cudaErrorInvalidResourceHandle;
        }
        drain(stream);
        streams().erase(std::find(streams().begin(), streams().end(), stream));
        handle_count--;
        delete stream;
        return cudaSuccess;
    });
}

cudaError_t
cudaStreamSynchronize(cudaStream_t handle)
{
    return runtime_call([&] {
        CUstream_st *const stream = find_stream(handle);
        if (stream->capture != nullptr) {
            break_capture(stream->capture);
            return cudaErrorStreamCaptureUnsupported;
        }
        drain_default(stream);
        drain(stream);
        return broken;
    });
}

cudaError_t
cudaStreamQuery(cudaStream_t stream)
{
    return runtime_call(
        [&] { return find_stream(stream)->queue.empty() ? cudaSuccess : cudaErrorNotReady; });
}

cudaError_t
cudaDeviceSynchronize(void)
{
    return runtime_call([&] {
        const cudaError_t capture = check_no_capture();
        if (capture != cudaSuccess) {
            return capture;
        }
        drain_all();
        return broken;
    });
}

cudaError_t
cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    return runtime_call([&] {
        need_context();
        *event = new CUevent_st;
        handle_count++;
        return cudaSuccess;
    });
}

cudaError_t
cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t
cudaEventDestroy(cudaEvent_t event)
{
    return freeing_call([&] {
        if (!event->is_done && event->stream != nullptr) {
            drain(event->stream, &event->is_done);
        }
        handle_count--;
        delete event;
        return cudaSuccess;
    });
}

cudaError_t
cudaEventRecord(cudaEvent_t event, cudaStream_t handle)
{
    return runtime_call([&] {
        CUstream_st *const stream = find_stream(handle);
        event->stream = stream;
        event->capture = stream->capture;
        if (stream->capture != nullptr) {
            return cudaSuccess;
        }
        event->is_done = false;
        const uint64_t record = ++event->records;
        return enqueue(handle, [=] {
            if (event->records == record) {
                event->is_done = true;
                event->when = std::chrono::steady_clock::now();
            }
        });
    });
}

cudaError_t
cudaEventSynchronize(cudaEvent_t event)
{
    return runtime_call([&] {
        if (!event->is_done) {
            drain(event->stream, &event->is_done);
        }
        return broken;
    });
}

cudaError_t
cudaEventQuery(cudaEvent_t event)
{
    return runtime_call([&] { return event->is_done ? cudaSuccess : cudaErrorNotReady; });
}

cudaError_t
cudaEventElapsedTime(float *ms, cudaEvent_t begin, cudaEvent_t end)
{
    return runtime_call([&] {
        *ms = std::chrono::duration<float, std::milli>(end->when - begin->when).count();
        return cudaSuccess;
    });
}

cudaError_t
cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned)
{
    return runtime_call([&] {
        CUstream_st *const stream = find_stream(handle);
        if (event->capture != nullptr) { /* the stream takes part in the capture */
            stream->capture = event->capture;
            event->capture->streams.insert(stream);
            return cudaSuccess;
        }
        if (event->is_done) {
            return cudaSuccess;
        }
        return enqueue(handle, [=] {
            if (!event->is_done) {
                drain(event->stream, &event->is_done);
            }
        });
    });
}

} // extern "C"
