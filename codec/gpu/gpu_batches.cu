/* SPDX-License-Identifier: BSD-3-Clause
 * gpu_batches.cu: see gpu_batches.h.
 *
 * Kernels and copies of sizes are on the caller's stream, so one batch follows the other; chunks
 * cross the bus on a stream of their own, while the next batch is coded. */
#include "gpu_batches.h"

#include "../common/gpu.cuh"
#include "gpu_host.h"
#include "h5twin_cuda.h"

#include <stdlib.h>
#include <string.h>

#define THREADS    128u
#define MOST_GRID  1024u /* blocks of a chunk */
#define SLOT_COUNT H5TWIN_GPU_BATCH_SLOTS
#define PAGE       ((size_t)4096)

/* Parts of a slot's facts, in bytes. */
struct places {
    size_t sizes, status, modes, items, end;
};

/* Memory of the host that is registered with CUDA. */
struct pinned {
    uint8_t *memory;
    size_t size;
};

struct h5twin_gpu_batches {
    struct h5twin_gpu_batches_request request;
    bool codes;
    size_t array_stride, chunk_stride, packed_size, scratch_size;
    struct places places;
    uint8_t *d_memory; /* all */
    struct pinned pinned;
    uint8_t *d_arrays[SLOT_COUNT], *d_packed[SLOT_COUNT], *d_facts[SLOT_COUNT];
    uint8_t *d_chunks, *d_scratch, *d_fill;
    uint8_t *facts[SLOT_COUNT], *bytes[SLOT_COUNT], *fill; /* pinned */
    cudaStream_t bus;
    cudaEvent_t coded[SLOT_COUNT], arrived[SLOT_COUNT];
};

static bool
succeeded(cudaError_t error)
{
    if (error != cudaSuccess) {
        (void)cudaGetLastError(); /* a status tells it: the caller's next check is for others */
    }
    return error == cudaSuccess;
}

static size_t
round_up_16(size_t size)
{
    return (size + 15) / 16 * 16;
}

/* ---- kernels ---- */

template <typename unit_type, bool gathers>
static __global__ void
__launch_bounds__(THREADS)
    box_kernel(struct h5twin_gpu_box box, const uint64_t *items, const uint32_t *modes,
               uint64_t units, uint8_t *memory, uint8_t *arrays, size_t array_stride,
               const uint8_t *fill, uint32_t fill_size)
{
    const uint32_t mode = modes[blockIdx.y];
    const uint64_t *const item = items + blockIdx.y * H5TWIN_GPU_ITEM_WORDS(box.rank);
    const bool keeps = gathers && item[1 + 2 * box.rank] != 0;
    uint8_t *const array = arrays + (size_t)blockIdx.y * array_stride;
    if (!gathers && mode == H5TWIN_GPU_LEFT) {
        return;
    }
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < units;
         i += (uint64_t)gridDim.x * THREADS) {
        bool inside = true;
        int64_t place = (int64_t)item[0];
        uint64_t rest = i;
        for (uint32_t axis = box.rank; axis-- > 0;) {
            const uint64_t dim = box.dims[axis];
            const uint64_t quotient =
                ((rest | dim) >> 32) == 0 ? (uint32_t)rest / (uint32_t)dim : rest / dim;
            const uint64_t at = rest - quotient * dim;
            rest = quotient;
            const uint64_t begin = item[1 + axis], end = item[1 + box.rank + axis];
            inside = inside && at >= begin && at < end;
            place += (int64_t)(at - begin) * box.strides[axis];
        }
        unit_type *const in_array = reinterpret_cast<unit_type *>(array) + i;
        const unit_type *const filled =
            reinterpret_cast<const unit_type *>(fill + i * sizeof(unit_type) % fill_size);
        if (gathers) {
            if (inside || !keeps) {
                *in_array = inside ? *reinterpret_cast<const unit_type *>(memory + place) : *filled;
            }
        } else if (inside) {
            *reinterpret_cast<unit_type *>(memory + place) =
                mode == H5TWIN_GPU_FILLED ? *filled : *in_array;
        }
    }
}

/* Copy chunks, or values of those that are not coded, to where they lie one after the other; or
 * from there. A row of blocks for a chunk. */
template <bool packs>
static __global__ void
__launch_bounds__(THREADS)
    pack_kernel(uint64_t *sizes, const uint32_t *status, const uint32_t *modes, uint64_t raw_size,
                uint8_t *arrays, size_t array_stride, uint8_t *chunks, size_t chunk_stride,
                uint8_t *packed)
{
    H5TWIN_SHARED(uint64_t, sums, THREADS);
    const uint32_t chunk = blockIdx.y;
    uint64_t before = 0;
    for (uint32_t i = threadIdx.x; i < chunk; i += THREADS) {
        const bool is_array = packs && (modes[i] != H5TWIN_GPU_CODED || status[i] != H5TWIN_OK);
        before += ((is_array ? raw_size : sizes[i]) + 15) / 16 * 16;
    }
    sums[threadIdx.x] = before;
    __syncthreads();
    before = 0;
    for (uint32_t i = 0; i < THREADS; i++) {
        before += sums[i];
    }
    const bool is_array = modes[chunk] != H5TWIN_GPU_CODED || (packs && status[chunk] != H5TWIN_OK);
    const uint64_t size = packs && is_array ? raw_size : sizes[chunk];
    uint8_t *const place = is_array ? arrays + chunk * array_stride : chunks + chunk * chunk_stride;
    uint4 *const there = reinterpret_cast<uint4 *>(packed + before);
    uint4 *const here = reinterpret_cast<uint4 *>(place);
    if (!packs && !is_array && chunk_stride == 0) {
        return; /* decoded by the host: of a codec without a back end, as none of ours is */
    }
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; 16 * i < size;
         i += (uint64_t)gridDim.x * THREADS) {
        if (packs) {
            there[i] = here[i];
        } else {
            here[i] = there[i];
        }
    }
}

/* ---- memory ---- */

/* To pin pages takes as long as to send them several times, so one piece is kept. It is the heap's
 * memory, not CUDA's: where CUDA, or the context that registered it, is gone, it is still there to
 * be read and written, and copies only get slower. So nobody has to free it before CUDA ends. */
static struct pinned *kept;

static void
pinned_free(struct pinned *pinned)
{
    if (pinned->memory != nullptr) {
        (void)succeeded(cudaHostUnregister(pinned->memory));
        free(pinned->memory);
    }
    *pinned = {};
}

static cudaError_t
pinned_make(struct pinned *pinned, size_t size)
{
    pinned->size = (size + PAGE - 1) / PAGE * PAGE;
    pinned->memory = static_cast<uint8_t *>(aligned_alloc(PAGE, pinned->size));
    return pinned->memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

/* At least `size` bytes. A kept piece is registered once more, as its registration may have gone
 * with its context; mostly it has not, and then CUDA says so. */
static cudaError_t
pinned_take(struct pinned *pinned, size_t size)
{
    struct pinned *const found =
        __atomic_exchange_n(&kept, (struct pinned *)nullptr, __ATOMIC_ACQ_REL);
    if (found != nullptr) {
        *pinned = *found;
        free(found);
        if (pinned->size < size) {
            pinned_free(pinned);
        }
    }
    if (pinned->memory == nullptr) {
        const cudaError_t error = pinned_make(pinned, size);
        if (error != cudaSuccess) {
            return error;
        }
    }
    const cudaError_t error =
        cudaHostRegister(pinned->memory, pinned->size, cudaHostRegisterPortable);
    if (error == cudaErrorHostMemoryAlreadyRegistered || error == cudaErrorNotSupported) {
        (void)cudaGetLastError(); /* where it cannot be pinned, it is still memory */
        return cudaSuccess;
    }
    return error;
}

static void
pinned_keep(struct pinned *pinned)
{
    struct pinned *const copy = static_cast<struct pinned *>(malloc(sizeof *copy));
    struct pinned *expected = nullptr;
    if (copy == nullptr) {
        return;
    }
    *copy = *pinned;
    if (__atomic_compare_exchange_n(&kept, &expected, copy, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
        *pinned = {};
    } else {
        free(copy);
    }
}

static void
pinned_give_back(struct pinned *pinned, bool may_keep)
{
    if (pinned->memory != nullptr && may_keep && pinned->size <= H5TWIN_GPU_KEPT_PINNED) {
        pinned_keep(pinned);
    }
    pinned_free(pinned);
}

void
h5twin_gpu_batches_trim(void)
{
    struct pinned *const found =
        __atomic_exchange_n(&kept, (struct pinned *)nullptr, __ATOMIC_ACQ_REL);
    if (found != nullptr) {
        pinned_free(found);
        free(found);
    }
}

static void
lay_out_facts(struct h5twin_gpu_batches *batches)
{
    const size_t count = batches->request.chunk_count;
    size_t size = 0;
    batches->places.sizes = h5twin_gpu_part(&size, count, sizeof(uint64_t));
    batches->places.status = h5twin_gpu_part(&size, count, sizeof(uint32_t));
    batches->places.modes = h5twin_gpu_part(&size, count, sizeof(uint32_t));
    batches->places.items = h5twin_gpu_part(
        &size, count, H5TWIN_GPU_ITEM_WORDS(batches->request.box.rank) * sizeof(uint64_t));
    batches->places.end = size;
}

/* Bytes of the fill value as kernels read it. */
static size_t
fill_size_of(const struct h5twin_gpu_batches_request *request)
{
    return request->element_size < request->box.unit ? request->box.unit : request->element_size;
}

static enum h5twin_status
take_memory(struct h5twin_gpu_batches *batches)
{
    const struct h5twin_gpu_batches_request *const request = &batches->request;
    const size_t count = request->chunk_count, fill_size = fill_size_of(request);
    size_t on_device = 0, on_host = 0, facts[SLOT_COUNT], bytes[SLOT_COUNT];
    size_t d_facts[SLOT_COUNT], d_arrays[SLOT_COUNT], d_packed[SLOT_COUNT];
    for (unsigned i = 0; i < SLOT_COUNT; i++) {
        d_facts[i] = h5twin_gpu_part(&on_device, 1, batches->places.end);
        d_arrays[i] = h5twin_gpu_part(&on_device, count, batches->array_stride);
        d_packed[i] = h5twin_gpu_part(&on_device, 1, batches->packed_size);
        facts[i] = h5twin_gpu_part(&on_host, 1, batches->places.end);
        bytes[i] = h5twin_gpu_part(&on_host, 1, batches->packed_size);
    }
    const size_t d_chunks = h5twin_gpu_part(&on_device, count, batches->chunk_stride);
    const size_t d_scratch = h5twin_gpu_part(&on_device, 1, batches->scratch_size);
    const size_t d_fill = h5twin_gpu_part(&on_device, 1, fill_size);
    const size_t fill = h5twin_gpu_part(&on_host, 1, fill_size);
    void *memory = nullptr;
    if (on_device == SIZE_MAX || on_host == SIZE_MAX) {
        return H5TWIN_ERR_MEMORY;
    }
    cudaError_t error = cudaMalloc(&memory, on_device);
    if (error == cudaSuccess) {
        batches->d_memory = static_cast<uint8_t *>(memory);
        error = pinned_take(&batches->pinned, on_host);
    }
    if (!succeeded(error)) {
        return error == cudaErrorMemoryAllocation ? H5TWIN_ERR_MEMORY : H5TWIN_ERR_DEVICE;
    }
    uint8_t *const pinned = batches->pinned.memory;
    for (unsigned i = 0; i < SLOT_COUNT; i++) {
        batches->d_facts[i] = batches->d_memory + d_facts[i];
        batches->d_arrays[i] = batches->d_memory + d_arrays[i];
        batches->d_packed[i] = batches->d_memory + d_packed[i];
        batches->facts[i] = pinned + facts[i];
        batches->bytes[i] = pinned + bytes[i];
    }
    batches->d_chunks = batches->d_memory + d_chunks;
    batches->d_scratch = batches->d_memory + d_scratch;
    batches->d_fill = batches->d_memory + d_fill;
    batches->fill = pinned + fill;
    return H5TWIN_OK;
}

/* Streams, events, and the fill value. */
static bool
begin(struct h5twin_gpu_batches *batches)
{
    const struct h5twin_gpu_batches_request *const request = &batches->request;
    const size_t fill_size = fill_size_of(request);
    bool ok = succeeded(cudaStreamCreateWithFlags(&batches->bus, cudaStreamNonBlocking));
    for (unsigned i = 0; i < SLOT_COUNT && ok; i++) {
        ok = succeeded(cudaEventCreateWithFlags(&batches->coded[i], cudaEventDisableTiming)) &&
             succeeded(cudaEventCreateWithFlags(&batches->arrived[i], cudaEventDisableTiming));
    }
    memset(batches->fill, 0, fill_size);
    for (size_t at = 0; at < fill_size && request->fill != nullptr; at += request->element_size) {
        memcpy(batches->fill + at, request->fill, request->element_size);
    }
    return ok && succeeded(cudaMemcpyAsync(batches->d_fill, batches->fill, fill_size,
                                           cudaMemcpyHostToDevice, request->stream));
}

enum h5twin_status
h5twin_gpu_batches_open(struct h5twin_gpu_batches **opened,
                        const struct h5twin_gpu_batches_request *request)
{
    struct h5twin_gpu_batches *const batches =
        static_cast<struct h5twin_gpu_batches *>(calloc(1, sizeof(struct h5twin_gpu_batches)));
    if (batches == nullptr) {
        return H5TWIN_ERR_MEMORY;
    }
    const size_t chunk_size = request->chunk_size;
    batches->request = *request;
    batches->scratch_size = h5twin_cuda_scratch_size(request->params, chunk_size,
                                                     request->chunk_count, request->decoding);
    batches->codes = batches->scratch_size != 0 &&
                     (request->decoding || h5twin_cuda_check(request->params) == H5TWIN_OK);
    batches->array_stride = round_up_16(chunk_size) + 16; /* which kernels may read */
    batches->packed_size = request->chunk_count * (round_up_16(chunk_size) + 64);
    batches->chunk_stride = !batches->codes ? 0 /* the host codes */
                            : request->decoding
                                ? round_up_16(chunk_size) + 64
                                : h5twin_cuda_chunk_stride(request->params, chunk_size);
    lay_out_facts(batches);
    enum h5twin_status status = take_memory(batches);
    if (status == H5TWIN_OK && !begin(batches)) {
        status = H5TWIN_ERR_DEVICE;
    }
    if (status != H5TWIN_OK) {
        (void)h5twin_gpu_batches_close(batches);
        return status;
    }
    *opened = batches;
    return H5TWIN_OK;
}

bool
h5twin_gpu_batches_close(struct h5twin_gpu_batches *batches)
{
    bool ok = succeeded(cudaStreamSynchronize(batches->request.stream));
    if (batches->bus != nullptr) {
        ok = succeeded(cudaStreamSynchronize(batches->bus)) && ok;
        (void)succeeded(cudaStreamDestroy(batches->bus));
    }
    for (unsigned i = 0; i < SLOT_COUNT; i++) {
        if (batches->coded[i] != nullptr) {
            (void)succeeded(cudaEventDestroy(batches->coded[i]));
        }
        if (batches->arrived[i] != nullptr) {
            (void)succeeded(cudaEventDestroy(batches->arrived[i]));
        }
    }
    pinned_give_back(&batches->pinned, ok);
    if (batches->d_memory != nullptr) {
        (void)succeeded(cudaFree(batches->d_memory));
    }
    free(batches);
    return ok;
}

void
h5twin_gpu_batches_slot(const struct h5twin_gpu_batches *batches, unsigned slot,
                        struct h5twin_gpu_slot *memory)
{
    uint8_t *const facts = batches->facts[slot];
    memory->sizes = reinterpret_cast<uint64_t *>(facts + batches->places.sizes);
    memory->status = reinterpret_cast<uint32_t *>(facts + batches->places.status);
    memory->modes = reinterpret_cast<uint32_t *>(facts + batches->places.modes);
    memory->items = reinterpret_cast<uint64_t *>(facts + batches->places.items);
    memory->bytes = batches->bytes[slot];
}

bool
h5twin_gpu_batches_codes(const struct h5twin_gpu_batches *batches)
{
    return batches->codes;
}

/* ---- work on the stream ---- */

static dim3
grid_for(size_t count, uint64_t items)
{
    const uint64_t blocks = (items + THREADS - 1) / THREADS;
    return dim3(blocks == 0          ? 1
                : blocks > MOST_GRID ? MOST_GRID
                                     : (uint32_t)blocks,
                (uint32_t)count);
}

template <typename unit_type, bool gathers>
static bool
move_units(struct h5twin_gpu_batches *batches, unsigned slot, size_t count)
{
    const struct h5twin_gpu_batches_request *const request = &batches->request;
    uint8_t *const facts = batches->d_facts[slot];
    const uint64_t units = request->chunk_size / sizeof(unit_type);
    H5TWIN_LAUNCH((box_kernel<unit_type, gathers>), grid_for(count, units), THREADS, 0,
                  request->stream)
    (request->box, reinterpret_cast<const uint64_t *>(facts + batches->places.items),
     reinterpret_cast<const uint32_t *>(facts + batches->places.modes), units,
     static_cast<uint8_t *>(request->d_memory), batches->d_arrays[slot], batches->array_stride,
     batches->d_fill, (uint32_t)fill_size_of(request));
    return h5twin_gpu_accepted();
}

template <bool gathers>
static bool
move_box(struct h5twin_gpu_batches *batches, unsigned slot, size_t count)
{
    switch (batches->request.box.unit) {
    case 16:
        return move_units<uint4, gathers>(batches, slot, count);
    case 8:
        return move_units<uint64_t, gathers>(batches, slot, count);
    case 4:
        return move_units<uint32_t, gathers>(batches, slot, count);
    case 2:
        return move_units<uint16_t, gathers>(batches, slot, count);
    default:
        return move_units<uint8_t, gathers>(batches, slot, count);
    }
}

template <bool packs>
static bool
pack(struct h5twin_gpu_batches *batches, unsigned slot, size_t count)
{
    const struct h5twin_gpu_batches_request *const request = &batches->request;
    uint8_t *const facts = batches->d_facts[slot];
    H5TWIN_LAUNCH(pack_kernel<packs>, grid_for(count, request->chunk_size / 16 + 4), THREADS, 0,
                  request->stream)
    (reinterpret_cast<uint64_t *>(facts + batches->places.sizes),
     reinterpret_cast<const uint32_t *>(facts + batches->places.status),
     reinterpret_cast<const uint32_t *>(facts + batches->places.modes),
     (uint64_t)request->chunk_size, batches->d_arrays[slot], batches->array_stride,
     batches->d_chunks, batches->chunk_stride, batches->d_packed[slot]);
    return h5twin_gpu_accepted();
}

static struct h5twin_cuda_batch
batch_of(struct h5twin_gpu_batches *batches, unsigned slot, size_t count)
{
    uint8_t *const facts = batches->d_facts[slot];
    const bool decoding = batches->request.decoding;
    struct h5twin_cuda_batch batch = {};
    batch.chunk_count = count;
    batch.raw_size = batches->request.chunk_size;
    batch.d_src = decoding ? batches->d_chunks : batches->d_arrays[slot];
    batch.src_stride = decoding ? batches->chunk_stride : batches->array_stride;
    batch.d_dst = decoding ? batches->d_arrays[slot] : batches->d_chunks;
    batch.dst_stride = decoding ? batches->array_stride : batches->chunk_stride;
    batch.d_src_sizes = batch.d_dst_sizes =
        reinterpret_cast<uint64_t *>(facts + batches->places.sizes);
    batch.d_status = reinterpret_cast<uint32_t *>(facts + batches->places.status);
    batch.d_scratch = batches->d_scratch;
    batch.scratch_size = batches->scratch_size;
    return batch;
}

static bool
send_facts(struct h5twin_gpu_batches *batches, unsigned slot, size_t count)
{
    uint32_t *const status =
        reinterpret_cast<uint32_t *>(batches->facts[slot] + batches->places.status);
    for (size_t i = 0; i < count; i++) {
        status[i] = H5TWIN_ERR_OPTION; /* until a back end says something else */
    }
    return succeeded(cudaMemcpyAsync(batches->d_facts[slot], batches->facts[slot],
                                     batches->places.end, cudaMemcpyHostToDevice,
                                     batches->request.stream));
}

/* Sizes and status. */
static bool
ask_facts(struct h5twin_gpu_batches *batches, unsigned slot)
{
    return succeeded(cudaMemcpyAsync(batches->facts[slot], batches->d_facts[slot],
                                     batches->places.modes, cudaMemcpyDeviceToHost,
                                     batches->request.stream)) &&
           succeeded(cudaEventRecord(batches->coded[slot], batches->request.stream));
}

bool
h5twin_gpu_batches_load(struct h5twin_gpu_batches *batches, unsigned slot, size_t chunk,
                        const uint8_t *values)
{
    return succeeded(cudaMemcpyAsync(batches->d_arrays[slot] + chunk * batches->array_stride,
                                     values, batches->request.chunk_size, cudaMemcpyHostToDevice,
                                     batches->request.stream));
}

bool
h5twin_gpu_batches_encode(struct h5twin_gpu_batches *batches, unsigned slot, size_t count)
{
    const struct h5twin_cuda_batch batch = batch_of(batches, slot, count);
    return send_facts(batches, slot, count) && move_box<true>(batches, slot, count) &&
           (!batches->codes || h5twin_cuda_encode(batches->request.params, &batch,
                                                  batches->request.stream) == H5TWIN_OK) &&
           pack<true>(batches, slot, count) && ask_facts(batches, slot);
}

bool
h5twin_gpu_batches_decode(struct h5twin_gpu_batches *batches, unsigned slot, size_t count,
                          size_t total)
{
    const struct h5twin_cuda_batch batch = batch_of(batches, slot, count);
    const cudaStream_t stream = batches->request.stream;
    if (!send_facts(batches, slot, count) ||
        (total != 0 && !succeeded(cudaMemcpyAsync(batches->d_packed[slot], batches->bytes[slot],
                                                  total, cudaMemcpyHostToDevice, batches->bus))) ||
        !succeeded(cudaEventRecord(batches->arrived[slot], batches->bus)) ||
        !succeeded(cudaStreamWaitEvent(stream, batches->arrived[slot], 0))) {
        return false;
    }
    return pack<false>(batches, slot, count) &&
           (!batches->codes ||
            h5twin_cuda_decode(batches->request.params, &batch, stream) == H5TWIN_OK) &&
           ask_facts(batches, slot);
}

bool
h5twin_gpu_batches_wait(struct h5twin_gpu_batches *batches, unsigned slot)
{
    return succeeded(cudaEventSynchronize(batches->coded[slot]));
}

bool
h5twin_gpu_batches_fetch(struct h5twin_gpu_batches *batches, unsigned slot, size_t total)
{
    return total == 0 || (succeeded(cudaMemcpyAsync(batches->bytes[slot], batches->d_packed[slot],
                                                    total, cudaMemcpyDeviceToHost, batches->bus)) &&
                          succeeded(cudaStreamSynchronize(batches->bus)));
}

bool
h5twin_gpu_batches_set_array(struct h5twin_gpu_batches *batches, unsigned slot, size_t chunk,
                             const uint8_t *values)
{
    return succeeded(cudaMemcpyAsync(batches->d_arrays[slot] + chunk * batches->array_stride,
                                     values, batches->request.chunk_size, cudaMemcpyHostToDevice,
                                     batches->request.stream)) &&
           /* where a device reads pageable memory by itself, nothing has staged the values */
           succeeded(cudaStreamSynchronize(batches->request.stream));
}

bool
h5twin_gpu_batches_scatter(struct h5twin_gpu_batches *batches, unsigned slot, size_t count)
{
    return move_box<false>(batches, slot, count);
}
