/* SPDX-License-Identifier: BSD-3-Clause
 * device_graph.cu: a simulation's fields stay in GPU memory; each step's chunks are made there, by
 * a graph that was captured once.
 *
 *     nvcc -std=c++17 device_graph.cu -o device_graph $(pkg-config --cflags --libs h5twin)
 *     ./device_graph
 *
 * Calls of h5twin_cuda.h only put work on the stream, so a stream that captures takes them, and a
 * graph replays them at the price of one launch, on whatever the same buffers then hold. The chunks
 * can be written as they are, by H5Dwrite_chunk. h5twin must have been built with
 * -DH5TWIN_CUDA=ON. No GPU has run this program so far, but the interpreter of tests/ptx has. */
#include <h5twin_cuda.h>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNKS  64
#define ROWS    512
#define COLUMNS 512
#define STEPS   10

static const size_t chunk_bytes = ROWS * COLUMNS * sizeof(float);

static void
require(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(cudaGetLastError()));
        exit(1);
    }
}

static void *
device_memory(size_t size)
{
    void *memory = nullptr;
    require(cudaMalloc(&memory, size) == cudaSuccess, "cudaMalloc");
    return memory;
}

/* Stands for the simulation. */
static __global__ void
step_kernel(float *field, size_t count, int step)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        field[i] = sinf(0.001f * (float)(i % COLUMNS) * (float)(step + 1)) + 1e-4f * (float)i;
    }
}

int
main(void)
{
    h5twin_params params;
    const uint64_t dims[2] = {ROWS, COLUMNS};
    h5twin_params_init(&params, H5TWIN_SLEEK);
    require(h5twin_params_parse(&params, "sleek:abs=1e-3", nullptr) == H5TWIN_OK, "the parameters");
    h5twin_params_set_array(&params, H5TWIN_FLOAT, sizeof(float), 2, dims);
    require(h5twin_cuda_check(&params) == H5TWIN_OK, "h5twin_cuda_check");

    float *const field = (float *)device_memory(CHUNKS * chunk_bytes);
    h5twin_cuda_batch batch = {};
    batch.chunk_count = CHUNKS;
    batch.raw_size = batch.src_stride = chunk_bytes;
    batch.d_src = field;
    batch.dst_stride = h5twin_cuda_chunk_stride(&params, chunk_bytes);
    batch.d_dst = device_memory(CHUNKS * batch.dst_stride);
    batch.d_dst_sizes = (uint64_t *)device_memory(CHUNKS * sizeof(uint64_t));
    batch.d_status = (uint32_t *)device_memory(CHUNKS * sizeof(uint32_t));
    batch.scratch_size = h5twin_cuda_scratch_size(&params, chunk_bytes, CHUNKS, false);
    batch.d_scratch = device_memory(batch.scratch_size);

    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t encode;
    require(cudaStreamCreate(&stream) == cudaSuccess, "cudaStreamCreate");
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess,
            "cudaStreamBeginCapture");
    require(h5twin_cuda_encode(&params, &batch, stream) == H5TWIN_OK, "h5twin_cuda_encode");
    require(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "cudaStreamEndCapture");
    require(cudaGraphInstantiate(&encode, graph, 0) == cudaSuccess, "cudaGraphInstantiate");

    static uint64_t sizes[CHUNKS];
    static uint32_t status[CHUNKS];
    const size_t count = CHUNKS * chunk_bytes / sizeof(float);
    for (int step = 0; step < STEPS; step++) {
        step_kernel<<<(unsigned)((count + 255) / 256), 256, 0, stream>>>(field, count, step);
        require(cudaGraphLaunch(encode, stream) == cudaSuccess, "cudaGraphLaunch");
        cudaMemcpyAsync(sizes, batch.d_dst_sizes, sizeof sizes, cudaMemcpyDeviceToHost, stream);
        cudaMemcpyAsync(status, batch.d_status, sizeof status, cudaMemcpyDeviceToHost, stream);
        require(cudaStreamSynchronize(stream) == cudaSuccess, "the step");
        uint64_t sum = 0;
        for (int i = 0; i < CHUNKS; i++) {
            require(status[i] == H5TWIN_OK, h5twin_status_message((h5twin_status)status[i]));
            sum += sizes[i]; /* here chunk i, of sizes[i] bytes, goes to the host and its file */
        }
        printf("step %d: %.2f : 1\n", step, (double)(CHUNKS * chunk_bytes) / (double)sum);
    }
    return 0;
}
