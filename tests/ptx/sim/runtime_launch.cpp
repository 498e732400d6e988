/* SPDX-License-Identifier: BSD-3-Clause
 * runtime_launch.cpp: modules as programs register them, and launches. */
#include "runtime.h"

#include "fatbin.h"
#include "kernel.h"
#include "settings.h"
#include "warp.h"

#include <cstring>
#include <map>
#include <string>

using namespace ptx;

namespace
{

constexpr uint32_t MOST_STATIC_SHARED = 49152, MOST_SHARED = 232448;

/* A program's device code; read when something of it is first used. */
struct Program {
    const uint8_t *fatbin = nullptr;
    std::unique_ptr<Module> module;
    bool is_refused = false;
};

struct HostKernel {
    Program *program = nullptr;
    std::string name;
    size_t most_dynamic_shared = MOST_STATIC_SHARED; /* cudaFuncSetAttribute raises it */
};

std::map<const void *, HostKernel> &
host_kernels()
{
    static auto *const forever = new std::map<const void *, HostKernel>;
    return *forever;
}

Module *
module_of(Program *program)
{
    if (program->module == nullptr && !program->is_refused) {
        std::string why;
        const std::string text = read_fatbin(program->fatbin, SIZE_MAX / 2, &why);
        if (text.empty()) {
            program->is_refused = true;
            throw Refusal("ptxsim: " + why);
        }
        program->module.reset(new Module(text));
    }
    if (program->module == nullptr) {
        throw Refusal("ptxsim: no PTX");
    }
    return program->module.get();
}

/* NULL and an error if there is none. */
const Kernel *
find_kernel(const void *function, cudaError_t *error)
{
    const auto found = host_kernels().find(function);
    if (found == host_kernels().end()) {
        *error = cudaErrorInvalidDeviceFunction;
        return nullptr;
    }
    try {
        return &module_of(found->second.program)->kernel(found->second.name, current_device());
    } catch (const Refusal &refusal) {
        fprintf(stderr, "%s\n", refusal.what());
        *error = cudaErrorInvalidPtx;
        return nullptr;
    }
}

cudaError_t
check_configuration(const Kernel &kernel, dim3 grid, dim3 block, size_t dynamic_bytes,
                    size_t most_dynamic)
{
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7FFFFFFFu || grid.y > 65535 ||
        grid.z > 65535 || threads == 0 || threads > 1024 || block.z > 64) {
        complain("no such grid: %u %u %u blocks of %u %u %u threads, kernel %s", grid.x, grid.y,
                 grid.z, block.x, block.y, block.z, kernel.name.c_str());
        return cudaErrorInvalidConfiguration;
    }
    if (kernel.most_threads != 0 && threads > kernel.most_threads) {
        complain("%u threads are more than the kernel's bound, %s", (unsigned)threads,
                 kernel.name.c_str());
        return cudaErrorLaunchOutOfResources;
    }
    if (kernel.shared_bytes > MOST_STATIC_SHARED ||
        kernel.shared_bytes + dynamic_bytes > MOST_SHARED ||
        (dynamic_bytes != 0 && kernel.shared_bytes + dynamic_bytes > most_dynamic)) {
        complain("%u + %zu bytes of shared memory are too many, kernel %s", kernel.shared_bytes,
                 dynamic_bytes, kernel.name.c_str());
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

/* What is put on the stream: it owns copies of all arguments. */
struct Task {
    const Kernel *kernel;
    dim3 grid, block;
    uint32_t dynamic_bytes;
    std::vector<uint8_t> parameters;
    int device;

    void
    operator()() const
    {
        static uint64_t number = 0;
        Launch launch;
        launch.kernel = kernel;
        const uint32_t grid_size[3] = {grid.x, grid.y, grid.z};
        const uint32_t block_size[3] = {block.x, block.y, block.z};
        memcpy(launch.grid, grid_size, sizeof grid_size);
        memcpy(launch.block, block_size, sizeof block_size);
        launch.dynamic_bytes = dynamic_bytes;
        launch.parameters = parameters.data();
        launch.device = device;
        launch.number = number++;
        const auto begin = std::chrono::steady_clock::now();
        try {
            run_launch(&launch);
        } catch (const LaunchError &error) {
            complain("error %d: %s", error.code, error.what());
            broken = (cudaError_t)error.code;
        }
        if (settings().verbose) {
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
            complain("%.4f s, %u x %u threads, %s", took.count(), grid.x * grid.y * grid.z,
                     block.x * block.y * block.z, kernel->name.c_str());
        }
    }
};

cudaError_t
launch_kernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t dynamic_bytes,
              cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    const Kernel *const kernel = find_kernel(function, &error);
    if (kernel == nullptr) {
        return error;
    }
    error = check_configuration(*kernel, grid, block, dynamic_bytes,
                                host_kernels()[function].most_dynamic_shared);
    if (error != cudaSuccess) {
        return error;
    }
    Task task = {kernel,
                 grid,
                 block,
                 (uint32_t)dynamic_bytes,
                 std::vector<uint8_t>(kernel->parameter_bytes + 8),
                 find_stream(stream)->device};
    for (size_t i = 0; i < kernel->parameters.size(); i++) {
        memcpy(&task.parameters[kernel->parameters[i].first], arguments[i],
               kernel->parameters[i].second);
    }
    return enqueue(stream, std::move(task));
}

struct Configuration {
    dim3 grid, block;
    size_t dynamic_bytes;
    cudaStream_t stream;
};

thread_local Configuration configuration;

} // namespace

extern "C" {

/* ---- what nvcc's host code calls ---- */

void **
__cudaRegisterFatBinary(void *wrapper)
{
    struct Wrapper {
        int magic, version;
        const uint8_t *data;
        void *unused;
    };
    Program *const program = new Program;
    program->fatbin = static_cast<const Wrapper *>(wrapper)->data;
    return reinterpret_cast<void **>(program);
}

void
__cudaRegisterFatBinaryEnd(void **)
{
}

void
__cudaUnregisterFatBinary(void **)
{
}

char
__cudaInitModule(void **)
{
    return 1;
}

void
__cudaRegisterFunction(void **handle, const char *host, char *, const char *name, int, void *,
                       void *, void *, void *, int *)
{
    const std::lock_guard<std::recursive_mutex> guard(runtime_lock());
    HostKernel &kernel = host_kernels()[host];
    kernel.program = reinterpret_cast<Program *>(handle);
    kernel.name = name;
}

void
__cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int)
{
}

unsigned
__cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_bytes, struct CUstream_st *stream)
{
    configuration = {grid, block, dynamic_bytes, stream};
    return 0;
}

cudaError_t
__cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_bytes, void *stream)
{
    *grid = configuration.grid;
    *block = configuration.block;
    *dynamic_bytes = configuration.dynamic_bytes;
    *static_cast<cudaStream_t *>(stream) = configuration.stream;
    return cudaSuccess;
}

cudaError_t
__cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
    *kernel = (cudaKernel_t) const_cast<void *>(function);
    return cudaSuccess;
}

cudaError_t
__cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                   size_t dynamic_bytes, cudaStream_t stream)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, dynamic_bytes, stream);
}

/* ---- the runtime's ---- */

cudaError_t
cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                 size_t dynamic_bytes, cudaStream_t stream)
{
    return runtime_call(
        [&] { return launch_kernel(function, grid, block, arguments, dynamic_bytes, stream); });
}

cudaError_t
cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *function)
{
    return runtime_call([&] {
        cudaError_t error = cudaSuccess;
        const Kernel *const kernel = find_kernel(function, &error);
        if (kernel == nullptr) {
            return error;
        }
        memset(attributes, 0, sizeof *attributes);
        attributes->maxThreadsPerBlock =
            kernel->most_threads == 0 ? 1024 : (int)kernel->most_threads;
        attributes->sharedSizeBytes = kernel->shared_bytes;
        attributes->localSizeBytes = kernel->local_bytes;
        attributes->numRegs = 32; /* ptxas decides that */
        attributes->ptxVersion = attributes->binaryVersion = 90;
        return cudaSuccess;
    });
}

cudaError_t
cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute, int value)
{
    return runtime_call([&] {
        const auto found = host_kernels().find(function);
        if (found == host_kernels().end()) {
            return cudaErrorInvalidDeviceFunction;
        }
        if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
            if (value < 0 || value > (int)MOST_SHARED) {
                return cudaErrorInvalidValue;
            }
            found->second.most_dynamic_shared = (size_t)value;
        }
        return cudaSuccess;
    });
}

cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *, int threads,
                                                       size_t, unsigned)
{
    return runtime_call([&] {
        *blocks = 2048 / (threads > 0 ? threads : 1); /* by threads alone */
        return cudaSuccess;
    });
}

cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                              size_t dynamic_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                  dynamic_bytes, 0);
}

} // extern "C"
