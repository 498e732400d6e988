/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_host.cu: see gpu_host.h.
 *
 * A call takes a workspace out of a small pool, or makes one: a stream, device memory, and two
 * pinned pieces through which pageable host memory is copied, so that one is filled or emptied by
 * the processor while the other is on the bus. Afterwards it goes back, for the next call of any
 * thread; after a failure it is freed instead, so that nothing broken is used twice.
 *
 * A thread's current context may be the program's own, made by the driver's API, or none yet.
 * cudaSetDevice would replace the one and make the other, so the device's primary context, which
 * all workspaces live in, is pushed for the time of a call and popped. */
#include "gpu_host.h"

#include "../common/gpu.cuh"
#include "../gpu.h"

#include <cuda.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 160 us on a bus of 25 GB/s: the start costs 5 %. Tests take less. */
#ifndef HOST_PIECE_BYTES
#    define HOST_PIECE_BYTES (4u * 1024u * 1024u)
#endif
#define POOL_SLOTS       16u /* as many threads code at once without allocating */
#define IDLE_CALLS       256u
#define LEAST_STEP_BYTES (64u * 1024u)

/* What is taken of the driver's API, which is not linked. */
struct driver {
    CUresult(CUDAAPI *retain)(CUcontext *context, CUdevice device);
    CUresult(CUDAAPI *release)(CUdevice device);
    CUresult(CUDAAPI *push)(CUcontext context);
    CUresult(CUDAAPI *pop)(CUcontext *context);
};

struct workspace {
    int device;
    struct driver driver;
    CUcontext context; /* the device's primary one, retained */
    uint32_t last_use; /* number of the call */
    cudaStream_t stream;
    uint8_t *d_memory;
    size_t d_capacity;
    uint8_t *pinned[2];
    cudaEvent_t copied[2]; /* the piece is free again */
};

/* The only state: workspaces that no call uses, and the process that started CUDA; 0: none yet. */
static struct workspace *pool[POOL_SLOTS];
static uint32_t call_count; /* may wrap */
static pid_t first_process;

static bool
succeeded(cudaError_t error)
{
    if (error != cudaSuccess) {
        (void)cudaGetLastError(); /* it has been noticed: the caller's next check must not see it */
    }
    return error == cudaSuccess;
}

/* CUDA does not survive fork(): a child of the process that started it must not touch it. Whether
 * the program itself did, before, the runtime knows. */
static bool
is_forked_child(void)
{
    const pid_t first = __atomic_load_n(&first_process, __ATOMIC_RELAXED);
    return first != 0 && first != getpid();
}

/* The number of GPUs, 0 if there is none or CUDA cannot be used; starts CUDA. */
static int
count_devices(bool *forked)
{
    int count = 0;
    *forked = is_forked_child();
    if (*forked) {
        return 0;
    }
    const cudaError_t error = cudaGetDeviceCount(&count);
    *forked = error == cudaErrorInitializationError;
    if (!succeeded(error) || count <= 0) {
        return 0;
    }
    __atomic_store_n(&first_process, getpid(), __ATOMIC_RELAXED);
    return count;
}

/* ---- workspaces ---- */

template <typename function>
static bool
find_in_driver(function *found, const char *name)
{
    void *address = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSuccess;
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, &address, 11000, cudaEnableDefault, &result);
#elif CUDART_VERSION >= 12000
    const cudaError_t error = cudaGetDriverEntryPoint(name, &address, cudaEnableDefault, &result);
#else
    const cudaError_t error = cudaGetDriverEntryPoint(name, &address, cudaEnableDefault);
#endif
    if (!succeeded(error) || result != cudaDriverEntryPointSuccess || address == nullptr) {
        return false;
    }
    *found = reinterpret_cast<function>(address);
    return true;
}

static bool
driver_find(struct driver *driver)
{
    return find_in_driver(&driver->retain, "cuDevicePrimaryCtxRetain") &&
           find_in_driver(&driver->release, "cuDevicePrimaryCtxRelease") &&
           find_in_driver(&driver->push, "cuCtxPushCurrent") &&
           find_in_driver(&driver->pop, "cuCtxPopCurrent");
}

/* Make the workspace's context the thread's current one, until leave. */
static bool
context_enter(const struct workspace *workspace)
{
    return workspace->driver.push(workspace->context) == CUDA_SUCCESS;
}

static void
context_leave(const struct workspace *workspace)
{
    CUcontext context;
    (void)workspace->driver.pop(&context);
}

static void
workspace_free(struct workspace *workspace)
{
    if (workspace == nullptr) {
        return;
    }
    const bool entered = context_enter(workspace);
    for (unsigned i = 0; i < 2; i++) {
        if (workspace->copied[i] != nullptr) {
            (void)succeeded(cudaEventDestroy(workspace->copied[i]));
        }
        if (workspace->pinned[i] != nullptr) {
            (void)succeeded(cudaFreeHost(workspace->pinned[i]));
        }
    }
    if (workspace->d_memory != nullptr) {
        (void)succeeded(cudaFree(workspace->d_memory));
    }
    if (workspace->stream != nullptr) {
        (void)succeeded(cudaStreamDestroy(workspace->stream));
    }
    if (entered) {
        context_leave(workspace);
    }
    (void)workspace->driver.release(workspace->device);
    free(workspace);
}

/* Its context is current afterwards. */
static struct workspace *
workspace_make(int device)
{
    struct workspace *const workspace =
        static_cast<struct workspace *>(calloc(1, sizeof(struct workspace)));
    if (workspace == nullptr) {
        return nullptr;
    }
    workspace->device = device;
    if (!driver_find(&workspace->driver) ||
        workspace->driver.retain(&workspace->context, device) != CUDA_SUCCESS) {
        free(workspace);
        return nullptr;
    }
    if (!context_enter(workspace)) {
        workspace_free(workspace);
        return nullptr;
    }
    bool ok = succeeded(cudaStreamCreateWithFlags(&workspace->stream, cudaStreamNonBlocking));
    for (unsigned i = 0; i < 2 && ok; i++) {
        ok = succeeded(cudaMallocHost(reinterpret_cast<void **>(&workspace->pinned[i]),
                                      HOST_PIECE_BYTES)) &&
             succeeded(cudaEventCreateWithFlags(&workspace->copied[i], cudaEventDisableTiming));
    }
    if (!ok) {
        context_leave(workspace);
        workspace_free(workspace);
        return nullptr;
    }
    return workspace;
}

/* One for this device from the pool, else a new one; NULL if there can be none. Its context is
 * current afterwards. */
static struct workspace *
workspace_take(int device)
{
    for (unsigned i = 0; i < POOL_SLOTS; i++) {
        struct workspace *const found =
            __atomic_exchange_n(&pool[i], (struct workspace *)nullptr, __ATOMIC_ACQ_REL);
        if (found != nullptr && found->device == device) {
            if (context_enter(found)) {
                return found;
            }
            workspace_free(found);
            return nullptr;
        }
        if (found != nullptr) {
            struct workspace *const other = __atomic_exchange_n(&pool[i], found, __ATOMIC_ACQ_REL);
            workspace_free(other);
        }
    }
    return workspace_make(device);
}

static void
workspace_put(struct workspace *workspace)
{
    for (unsigned i = 0; i < POOL_SLOTS; i++) {
        struct workspace *expected = nullptr;
        if (__atomic_compare_exchange_n(&pool[i], &expected, workspace, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            return;
        }
    }
    workspace_free(workspace);
}

/* Those that a burst of threads has left: calls take the first ones. */
static void
free_idle(uint32_t now)
{
    for (unsigned i = 0; i < POOL_SLOTS; i++) {
        struct workspace *const found =
            __atomic_exchange_n(&pool[i], (struct workspace *)nullptr, __ATOMIC_ACQ_REL);
        if (found != nullptr && now - found->last_use > IDLE_CALLS) {
            workspace_free(found);
        } else if (found != nullptr) {
            workspace_put(found);
        }
    }
}

static void
workspace_give_back(struct workspace *workspace)
{
    const uint32_t now = __atomic_add_fetch(&call_count, 1, __ATOMIC_RELAXED);
    workspace->last_use = now;
    workspace_put(workspace);
    if (now % (IDLE_CALLS / 4) == 0) {
        free_idle(now);
    }
}

void
h5twin_gpu_host_trim(void)
{
    for (unsigned i = 0; i < POOL_SLOTS; i++) {
        workspace_free(
            __atomic_exchange_n(&pool[i], (struct workspace *)nullptr, __ATOMIC_ACQ_REL));
    }
}

/* Up to the next of four steps between powers of two, so that sizes that creep upwards are seldom
 * too large for what is there. */
static size_t
round_up(size_t size)
{
    size_t step = LEAST_STEP_BYTES;
    while (step <= size / 8) {
        step *= 2;
    }
    return size > SIZE_MAX - step ? size : (size + step - 1) / step * step;
}

static bool
workspace_reserve(struct workspace *workspace, size_t size)
{
    if (size <= workspace->d_capacity) {
        return true;
    }
    (void)succeeded(cudaFree(workspace->d_memory));
    workspace->d_memory = nullptr;
    workspace->d_capacity = 0;
    void *memory = nullptr;
    size_t capacity = round_up(size);
    cudaError_t error = cudaMalloc(&memory, capacity);
    if (!succeeded(error) && error == cudaErrorMemoryAllocation) {
        h5twin_gpu_host_trim(); /* others of ours may be what lacks */
        capacity = size;
        error = cudaMalloc(&memory, capacity);
    }
    if (!succeeded(error)) {
        return false;
    }
    workspace->d_memory = static_cast<uint8_t *>(memory);
    workspace->d_capacity = capacity;
    return true;
}

/* ---- copies through the pinned pieces ---- */

static bool
copy_to_device(struct workspace *workspace, uint8_t *d_dst, const uint8_t *src, size_t size)
{
    for (size_t at = 0, i = 0; at < size; at += HOST_PIECE_BYTES, i ^= 1) {
        const size_t piece = size - at < HOST_PIECE_BYTES ? size - at : HOST_PIECE_BYTES;
        if (!succeeded(cudaEventSynchronize(workspace->copied[i]))) {
            return false;
        }
        memcpy(workspace->pinned[i], src + at, piece);
        if (!succeeded(cudaMemcpyAsync(d_dst + at, workspace->pinned[i], piece,
                                       cudaMemcpyHostToDevice, workspace->stream)) ||
            !succeeded(cudaEventRecord(workspace->copied[i], workspace->stream))) {
            return false;
        }
    }
    return true;
}

static bool
start_from_device(struct workspace *workspace, size_t i, const uint8_t *d_src, size_t size)
{
    return succeeded(cudaMemcpyAsync(workspace->pinned[i], d_src, size, cudaMemcpyDeviceToHost,
                                     workspace->stream)) &&
           succeeded(cudaEventRecord(workspace->copied[i], workspace->stream));
}

/* Returns when all has arrived. */
static bool
copy_from_device(struct workspace *workspace, uint8_t *dst, const uint8_t *d_src, size_t size)
{
    size_t started = 0;
    for (size_t at = 0, i = 0; at < size; at += HOST_PIECE_BYTES, i ^= 1) {
        for (; started < size && started <= at + HOST_PIECE_BYTES; started += HOST_PIECE_BYTES) {
            const size_t piece =
                size - started < HOST_PIECE_BYTES ? size - started : HOST_PIECE_BYTES;
            if (!start_from_device(workspace, started / HOST_PIECE_BYTES % 2, d_src + started,
                                   piece)) {
                return false;
            }
        }
        if (!succeeded(cudaEventSynchronize(workspace->copied[i]))) {
            return false;
        }
        memcpy(dst + at, workspace->pinned[i],
               size - at < HOST_PIECE_BYTES ? size - at : HOST_PIECE_BYTES);
    }
    return true;
}

/* ---- one chunk ---- */

/* What a call tells and is told, per chunk; one copy each way. */
struct facts {
    uint64_t size;
    uint32_t parameter;
    uint32_t status;
};

struct places {
    size_t facts, src, dst, scratch, total;
};

static bool
lay_out(struct places *places, const struct h5twin_gpu_codec *gpu, const struct h5twin_job *job,
        size_t src_size, size_t dst_size, bool decoding)
{
    const size_t scratch_size = gpu->scratch_size(job, 1, decoding);
    size_t total = 0;
    places->facts = h5twin_gpu_part(&total, 1, sizeof(struct facts));
    places->src = h5twin_gpu_part(&total, 1, src_size + 16);
    places->dst = h5twin_gpu_part(&total, 1, dst_size + 16);
    places->scratch = h5twin_gpu_part(&total, 1, scratch_size + 1);
    places->total = total;
    return scratch_size != 0 && total != SIZE_MAX;
}

static size_t
stride_of(size_t size)
{
    return (size + 16) / 16 * 16;
}

/* Copy in, code, copy the facts out. The result is at places->dst. */
static bool
run(struct workspace *workspace, const struct h5twin_gpu_codec *gpu, const struct h5twin_job *job,
    const struct places *places, const uint8_t *src, size_t src_size, size_t dst_size,
    bool decoding, struct facts *facts)
{
    if (!workspace_reserve(workspace, places->total)) {
        return false;
    }
    uint8_t *const d_memory = workspace->d_memory;
    struct facts *const d_facts = reinterpret_cast<struct facts *>(d_memory + places->facts);
    facts->size = src_size;
    facts->parameter = job->parameter;
    facts->status = H5TWIN_OK;
    if (!copy_to_device(workspace, reinterpret_cast<uint8_t *>(d_facts),
                        reinterpret_cast<const uint8_t *>(facts), sizeof *facts) ||
        !copy_to_device(workspace, d_memory + places->src, src, src_size)) {
        return false;
    }
    struct h5twin_gpu_batch batch = {};
    batch.chunk_count = 1;
    batch.d_src = d_memory + places->src;
    batch.src_stride = stride_of(src_size);
    batch.d_src_sizes = &d_facts->size;
    batch.d_dst = d_memory + places->dst;
    batch.dst_stride = stride_of(dst_size);
    batch.d_dst_sizes = &d_facts->size;
    batch.d_parameters = &d_facts->parameter;
    batch.d_status = &d_facts->status;
    batch.d_scratch = d_memory + places->scratch;
    const enum h5twin_status status = decoding ? gpu->decode(job, &batch, workspace->stream)
                                               : gpu->encode(job, &batch, workspace->stream);
    return status == H5TWIN_OK &&
           copy_from_device(workspace, reinterpret_cast<uint8_t *>(facts),
                            reinterpret_cast<const uint8_t *>(d_facts), sizeof *facts);
}

/* ---- the device ---- */

/* The device that H5TWIN_GPU names by number, else the thread's current one. */
static bool
choose_device(int *device)
{
    const char *const text = getenv("H5TWIN_GPU");
    if (text == nullptr || *text == '\0') {
        return succeeded(cudaGetDevice(device));
    }
    char *end;
    const long number = strtol(text, &end, 10);
    int count;
    if (*end != '\0' || number < 0 || !succeeded(cudaGetDeviceCount(&count)) || number >= count) {
        return false;
    }
    *device = (int)number;
    return true;
}

/* A workspace on the device of choice, whose context is current until leave(). */
static struct workspace *
enter(void)
{
    int device;
    return is_forked_child() || !choose_device(&device) ? nullptr : workspace_take(device);
}

static void
leave(struct workspace *workspace, bool ok)
{
    if (!ok) {
        (void)succeeded(cudaStreamSynchronize(workspace->stream));
    }
    context_leave(workspace);
    if (ok) {
        workspace_give_back(workspace);
    } else {
        workspace_free(workspace);
    }
}

enum h5twin_status
h5twin_gpu_host_find(enum h5twin_codec_id id, bool decoding, const char **why)
{
    int device;
    bool forked;
    *why = "a GPU can be used";
    if (h5twin_gpu_codec_find(id) == nullptr) {
        *why = "this codec has no GPU back end";
    } else if (!h5twin_gpu_codec_has(id, decoding)) {
        *why = "this codec encodes on the CPU, and only decodes on a GPU";
    } else if (count_devices(&forked) == 0) {
        *why = forked ? "CUDA was started before this process was forked from its parent"
                      : "there is no CUDA driver or no GPU";
        return forked ? H5TWIN_ERR_FORKED : H5TWIN_ERR_DEVICE;
    } else if (!choose_device(&device)) {
        *why = "H5TWIN_GPU is not the number of a GPU";
    } else {
        return H5TWIN_OK;
    }
    return H5TWIN_ERR_DEVICE;
}

bool
h5twin_gpu_host_device(unsigned number, struct h5twin_gpu_host_device *device)
{
    cudaDeviceProp properties;
    int current;
    bool forked;
    if (number >= (unsigned)count_devices(&forked) ||
        !succeeded(cudaGetDeviceProperties(&properties, (int)number))) {
        return false;
    }
    memcpy(device->name, properties.name, sizeof device->name);
    device->name[sizeof device->name - 1] = '\0';
    device->major = (unsigned)properties.major;
    device->minor = (unsigned)properties.minor;
    device->memory = properties.totalGlobalMem;
    device->current = choose_device(&current) && current == (int)number;
    return true;
}

enum h5twin_status
h5twin_gpu_host_encode(enum h5twin_codec_id id, struct h5twin_job *job, uint8_t *dst,
                       size_t dst_capacity, const uint8_t *src, size_t *dst_size)
{
    const struct h5twin_gpu_codec *const gpu = h5twin_gpu_codec_find(id);
    struct places places;
    struct facts facts;
    if (gpu == nullptr || !lay_out(&places, gpu, job, job->raw_size, dst_capacity, false)) {
        return H5TWIN_ERR_DEVICE;
    }
    struct workspace *const workspace = enter();
    if (workspace == nullptr) {
        return H5TWIN_ERR_DEVICE;
    }
    const bool ran =
        run(workspace, gpu, job, &places, src, job->raw_size, dst_capacity, false, &facts);
    const bool is_left = ran && facts.status == H5TWIN_ERR_OPTION;
    const bool ok = is_left || (ran && facts.status == H5TWIN_OK && facts.size <= dst_capacity &&
                                copy_from_device(workspace, dst, workspace->d_memory + places.dst,
                                                 (size_t)facts.size));
    leave(workspace, ok);
    if (!ok || is_left) {
        return is_left ? H5TWIN_ERR_OPTION : H5TWIN_ERR_DEVICE;
    }
    job->parameter = facts.parameter;
    *dst_size = (size_t)facts.size;
    return H5TWIN_OK;
}

enum h5twin_status
h5twin_gpu_host_decode(enum h5twin_codec_id id, const struct h5twin_job *job, uint8_t *dst,
                       const uint8_t *src, size_t src_size)
{
    const struct h5twin_gpu_codec *const gpu = h5twin_gpu_codec_find(id);
    struct places places;
    struct facts facts;
    if (gpu == nullptr || !lay_out(&places, gpu, job, src_size, job->raw_size, true)) {
        return H5TWIN_ERR_DEVICE;
    }
    struct workspace *const workspace = enter();
    if (workspace == nullptr) {
        return H5TWIN_ERR_DEVICE;
    }
    const bool ran = run(workspace, gpu, job, &places, src, src_size, job->raw_size, true, &facts);
    const bool ok =
        ran && (facts.status != H5TWIN_OK ||
                copy_from_device(workspace, dst, workspace->d_memory + places.dst, job->raw_size));
    leave(workspace, ok);
    return ok ? (enum h5twin_status)facts.status : H5TWIN_ERR_DEVICE;
}
