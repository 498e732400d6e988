/* SPDX-License-Identifier: BSD-3-Clause
 * test_simt.cpp: the emulator itself: right kernels give right results in every order, and wrong
 * ones are found. */
#include "../../codec/common/gpu.cuh"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <set>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include <cmocka.h>
}

namespace
{

const unsigned orders[] = {0, 1, 2, 3, 4};

/* ---- kernels ---- */

__global__ void
reverse_kernel(uint32_t *values, unsigned with_barrier)
{
    H5TWIN_SHARED(uint32_t, staged, 128);
    staged[threadIdx.x] = values[blockIdx.x * blockDim.x + threadIdx.x];
    if (with_barrier) {
        __syncthreads();
    }
    values[blockIdx.x * blockDim.x + threadIdx.x] = staged[blockDim.x - 1 - threadIdx.x];
}

__global__ void
shift_kernel(uint32_t *values)
{
    values[1] = 1u << values[0];
}

__global__ void
warp_scan_kernel(uint32_t *values)
{
    uint32_t sum = values[threadIdx.x];
    for (unsigned delta = 1; delta < 32; delta *= 2) {
        const uint32_t below = __shfl_up_sync(H5TWIN_ALL_LANES, sum, delta);
        sum += threadIdx.x % 32 >= delta ? below : 0;
    }
    values[threadIdx.x] = sum;
}

__global__ void
collectives_kernel(uint32_t *results)
{
    const unsigned lane = threadIdx.x % 32;
    const uint32_t odd = __ballot_sync(H5TWIN_ALL_LANES, lane % 2);
    const uint32_t largest = __reduce_max_sync(H5TWIN_ALL_LANES, lane * 3);
    const uint32_t any = __reduce_or_sync(H5TWIN_ALL_LANES, 1u << lane);
    const uint32_t odd_ones = __reduce_xor_sync(H5TWIN_ALL_LANES, lane == 7 ? 33u : lane);
    const uint64_t partner = __shfl_xor_sync(H5TWIN_ALL_LANES, (uint64_t)lane << 40, 5);
    uint32_t half = 0;
    if (lane < 16) {
        half = __reduce_add_sync(0x0000FFFFu, lane);
    } else {
        half = __reduce_add_sync(0xFFFF0000u, lane);
    }
    const int count = __syncthreads_count(lane == 3);
    results[threadIdx.x] = (odd == 0xAAAAAAAAu) + 2 * (largest == 93) + 4 * (any == 0xFFFFFFFFu) +
                           8 * (partner >> 40 == (lane ^ 5)) +
                           16 * (half == (lane < 16 ? 120u : 376u)) +
                           32 * (count == (int)(blockDim.x / 32)) + 64 * (odd_ones == (33u ^ 7u));
}

/* Decoupled look-back in its simplest form: tiles take tickets, each adds its predecessor's sum. */
__global__ void
look_back_kernel(uint32_t *ticket, uint64_t *sums, const uint32_t *sizes)
{
    H5TWIN_SHARED(uint32_t, tile, 1);
    if (threadIdx.x == 0) {
        tile[0] = atomicAdd(ticket, 1u);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        uint64_t before = 0;
        while (tile[0] > 0 && (before = h5twin_gpu_flag_load(&sums[tile[0] - 1])) == 0) {
            h5twin_gpu_pause();
        }
        h5twin_gpu_flag_store(&sums[tile[0]], before + sizes[tile[0]]);
    }
}

__global__ void
wait_by_block_index_kernel(uint64_t *flags)
{
    /* Waits for the next block, which is not resident if only one is. */
    while (blockIdx.x + 1 < gridDim.x && h5twin_gpu_flag_load(&flags[blockIdx.x + 1]) == 0) {
        h5twin_gpu_pause();
    }
    h5twin_gpu_flag_store(&flags[blockIdx.x], 1);
}

__global__ void
divergent_barrier_kernel(uint32_t *)
{
    if (threadIdx.x != 7) {
        __syncthreads();
    }
}

__global__ void
missing_lane_kernel(uint32_t *values)
{
    if (threadIdx.x != 7) {
        values[threadIdx.x] = __shfl_sync(H5TWIN_ALL_LANES, threadIdx.x, 0);
    }
}

__global__ void
mixed_collectives_kernel(uint32_t *values)
{
    values[threadIdx.x] = threadIdx.x < 5 ? __ballot_sync(H5TWIN_ALL_LANES, 1)
                                          : __reduce_or_sync(H5TWIN_ALL_LANES, 1);
}

__global__ void
beyond_global_kernel(uint32_t *values)
{
    values[threadIdx.x] = 1;
}

__global__ void
before_global_kernel(uint32_t *values)
{
    if (threadIdx.x == 0) {
        values[-1] = 1;
    }
}

/* Of an allocation of 31 words, which is rounded up to 32. */
__global__ void
behind_odd_size_kernel(uint32_t *values)
{
    values[threadIdx.x] = 1;
}

__global__ void __launch_bounds__(64) bounded_kernel(uint32_t *values)
{
    values[threadIdx.x] = threadIdx.x;
}

template <typename word>
__global__ void __launch_bounds__(128u, 2) bounded_template_kernel(uint32_t *values)
{
    values[threadIdx.x] = (uint32_t)sizeof(word);
}

__global__ void
dynamic_shared_kernel(uint32_t *values)
{
    H5TWIN_SHARED_DYNAMIC(uint32_t, staged);
    staged[threadIdx.x] = values[threadIdx.x] + blockIdx.x;
    __syncthreads();
    atomicAdd(&values[blockDim.x], staged[(threadIdx.x + 1) % blockDim.x]);
}

__global__ void
much_shared_kernel(uint32_t *values)
{
    H5TWIN_SHARED(uint32_t, fixed, 4000);
    H5TWIN_SHARED_DYNAMIC(uint32_t, staged);
    fixed[threadIdx.x] = staged[threadIdx.x] = values[threadIdx.x];
}

/* Warps that take turns all read before one writes: no order shows that a barrier is missing. */
__global__ void
missing_barrier_kernel(uint32_t *values)
{
    H5TWIN_SHARED(uint32_t, staged, 128);
    staged[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const uint32_t read = staged[(threadIdx.x + 96) % 128];
    __syncwarp();
    __syncwarp();
    staged[threadIdx.x] = 1000;
    values[threadIdx.x] = read;
}

/* ---- tests ---- */

struct Device {
    uint32_t *words = nullptr;
    explicit Device(size_t count)
    {
        assert_int_equal(cudaMalloc((void **)&words, 4 * count), cudaSuccess);
    }
    ~Device()
    {
        cudaFree(words);
    }
};

void
for_each_order(void (*check)())
{
    for (const unsigned order : orders) {
        for (const unsigned resident : {1u, 2u, 5u}) {
            for (const bool eager : {false, true}) {
                simt::options = {order, eager, resident};
                check();
            }
        }
    }
    simt::options = {};
}

void
test_kernel_with_barrier_is_right_in_every_order(void **)
{
    for_each_order([] {
        Device device(512);
        for (unsigned i = 0; i < 512; i++) {
            device.words[i] = i;
        }
        H5TWIN_LAUNCH(reverse_kernel, 4, 128, 0, nullptr)(device.words, 1u);
        assert_true(h5twin_gpu_accepted());
        for (unsigned i = 0; i < 512; i++) {
            assert_int_equal(device.words[i], i / 128 * 128 + 127 - i % 128);
        }
    });
}

void
test_missing_barrier_changes_the_result_with_the_order(void **)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* it would be reported, as it must be: see below */
#endif
    std::set<std::vector<uint32_t>> results;
    for (const unsigned order : orders) {
        simt::options.order = order;
        Device device(128);
        for (unsigned i = 0; i < 128; i++) {
            device.words[i] = i;
        }
        H5TWIN_LAUNCH(reverse_kernel, 1, 128, 0, nullptr)(device.words, 0u);
        results.insert(std::vector<uint32_t>(device.words, device.words + 128));
    }
    simt::options = {};
    assert_true(results.size() > 1);
}

void
test_eager_warps_show_what_turns_hide(void **)
{
#ifdef __SANITIZE_THREAD__
    skip(); /* as above */
#endif
    unsigned wrong = 0;
    for (const unsigned order : orders) {
        simt::options = {order, true, 1};
        Device device(128);
        H5TWIN_LAUNCH(missing_barrier_kernel, 1, 128, 0, nullptr)(device.words);
        wrong += std::count(device.words, device.words + 128, 1000u) != 0;
    }
    simt::options = {};
    assert_true(wrong > 0);
}

void
test_warp_scan_adds_lanes_below(void **)
{
    for_each_order([] {
        Device device(96);
        for (unsigned i = 0; i < 96; i++) {
            device.words[i] = i % 32 + 1;
        }
        H5TWIN_LAUNCH(warp_scan_kernel, 1, 96, 0, nullptr)(device.words);
        for (unsigned i = 0; i < 96; i++) {
            const unsigned n = i % 32 + 1;
            assert_int_equal(device.words[i], n * (n + 1) / 2);
        }
    });
}

void
test_collectives_follow_cuda(void **)
{
    for_each_order([] {
        Device device(128);
        H5TWIN_LAUNCH(collectives_kernel, 1, 128, 0, nullptr)(device.words);
        assert_true(h5twin_gpu_accepted());
        for (unsigned i = 0; i < 128; i++) {
            assert_int_equal(device.words[i], 127);
        }
    });
}

void
test_look_back_by_tickets_works_with_any_number_of_resident_blocks(void **)
{
    for_each_order([] {
        Device ticket(1), sizes(40), sums(80);
        ticket.words[0] = 0;
        for (unsigned i = 0; i < 40; i++) {
            sizes.words[i] = i + 1;
            sums.words[2 * i] = sums.words[2 * i + 1] = 0;
        }
        uint64_t *const sums64 = (uint64_t *)(void *)sums.words;
        H5TWIN_LAUNCH(look_back_kernel, 40, 32, 0, nullptr)(ticket.words, sums64, sizes.words);
        assert_true(h5twin_gpu_accepted());
        assert_int_equal(sums64[39], 820);
    });
}

void
test_waiting_for_a_block_that_is_not_resident_is_found(void **)
{
    simt::options.resident_blocks = 1;
    Device flags(8);
    memset(flags.words, 0, 32);
    H5TWIN_LAUNCH(wait_by_block_index_kernel, 4, 1, 0, nullptr)((uint64_t *)(void *)flags.words);
    assert_false(h5twin_gpu_accepted());
    assert_non_null(strstr(simt::take_error().c_str(), "waits for ever"));
    simt::options = {};
}

void
assert_fails(void (*kernel)(uint32_t *), const char *reason)
{
    Device device(64);
    H5TWIN_LAUNCH(kernel, 1, 64, 0, nullptr)(device.words);
    assert_false(h5twin_gpu_accepted());
    const std::string error = simt::take_error();
    if (error.find(reason) == std::string::npos) {
        fail_msg("unexpected reason: %s", error.c_str());
    }
}

void
test_barrier_that_a_thread_skips_is_found(void **)
{
    assert_fails(divergent_barrier_kernel, "reached by 63 of 64 threads");
}

void
test_collective_that_a_lane_skips_is_found(void **)
{
    assert_fails(missing_lane_kernel, "never reach");
}

void
test_different_collectives_in_one_warp_are_found(void **)
{
    assert_fails(mixed_collectives_kernel, "another warp collective");
}

void
test_dynamic_shared_memory_and_atomics(void **)
{
    for_each_order([] {
        Device device(33);
        for (unsigned i = 0; i < 33; i++) {
            device.words[i] = i < 32 ? i : 0;
        }
        H5TWIN_LAUNCH(dynamic_shared_kernel, 3, 32, 128, nullptr)(device.words);
        assert_int_equal(device.words[32], 3 * 496 + 32 * (0 + 1 + 2));
    });
}

void
test_what_a_gpu_refuses_to_launch_is_refused(void **)
{
    static const struct {
        unsigned grid, block;
        size_t shared;
        bool accepted;
    } launches[] = {
        {1, 64, 4096, true},
        {0, 32, 4096, false},
        {1, 0, 4096, false},
        {1, 1056, 8192, false},
        {1u << 31, 32, 4096, false},
        {1, 32, 49152 - 16000, true},
        {1, 32, 49152 - 16000 + 1, false}, /* with the static one */
        {1, 32, 49153, false},
    };
    Device device(1024);
    for (const auto &each : launches) {
        H5TWIN_LAUNCH(much_shared_kernel, each.grid, each.block, each.shared, nullptr)
        (device.words);
        assert_int_equal(h5twin_gpu_accepted(), each.accepted);
        assert_int_equal(simt::take_error().empty(), each.accepted);
    }
}

void
test_launch_bounds_are_obeyed(void **)
{
    Device device(1024);
    for (const unsigned threads : {1u, 32u, 64u, 65u, 96u, 128u, 129u, 256u}) {
        H5TWIN_LAUNCH(bounded_kernel, 1, threads, 0, nullptr)(device.words);
        assert_int_equal(h5twin_gpu_accepted(), threads <= 64);
        const std::string error = simt::take_error();
        assert_int_equal(error.find("__launch_bounds__") != std::string::npos, threads > 64);
        H5TWIN_LAUNCH(bounded_template_kernel<uint64_t>, 1, threads, 0, nullptr)(device.words);
        assert_int_equal(h5twin_gpu_accepted(), threads <= 128);
        H5TWIN_LAUNCH(beyond_global_kernel, 1, threads, 0, nullptr)(device.words);
        assert_true(h5twin_gpu_accepted()); /* promises nothing */
    }
    (void)simt::take_error();
}

/* Whether a child that runs this ends by a signal or with a sanitizer's exit code. */
bool
child_is_stopped(void (*run)())
{
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGILL, SIG_DFL);
        fclose(stderr);
        run();
        exit(0); /* not _exit: ThreadSanitizer gives its verdict at exit */
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

void
test_access_beyond_a_global_buffer_is_found(void **)
{
    assert_true(child_is_stopped([] {
        Device device(32);
        H5TWIN_LAUNCH(beyond_global_kernel, 1, 33, 0, nullptr)(device.words);
    }));
}

/* Where no page without access lies: when all is waited for, when it is freed, or, with
 * AddressSanitizer, at once. */
void
test_writes_around_a_global_buffer_are_found(void **)
{
    assert_true(child_is_stopped([] {
        Device device(32);
        H5TWIN_LAUNCH(before_global_kernel, 1, 32, 0, nullptr)(device.words);
        if (cudaDeviceSynchronize() != cudaSuccess &&
            simt::take_error().find("before an allocation") != std::string::npos) {
            _exit(3);
        }
    }));
    assert_true(child_is_stopped([] {
        Device device(31);
        H5TWIN_LAUNCH(behind_odd_size_kernel, 1, 32, 0, nullptr)(device.words);
        if (cudaStreamSynchronize(nullptr) != cudaSuccess &&
            simt::take_error().find("behind an allocation") != std::string::npos) {
            _exit(3);
        }
    }));
    for (void (*const kernel)(uint32_t *) : {before_global_kernel, behind_odd_size_kernel}) {
        static void (*run_kernel)(uint32_t *);
        run_kernel = kernel;
        assert_true(child_is_stopped([] {
            signal(SIGABRT, SIG_DFL);
            Device device(31);
            H5TWIN_LAUNCH(run_kernel, 1, 32, 0, nullptr)(device.words);
        }));
    }
    Device device(31);
    H5TWIN_LAUNCH(behind_odd_size_kernel, 1, 31, 0, nullptr)(device.words);
    assert_true(h5twin_gpu_accepted());
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
}

void
test_access_beyond_shared_memory_is_found_by_address_sanitizer(void **)
{
#ifdef __SANITIZE_ADDRESS__
    assert_true(child_is_stopped([] {
        Device device(256);
        H5TWIN_LAUNCH(reverse_kernel, 1, 129, 0, nullptr)(device.words, 1u);
    }));
#else
    skip();
#endif
}

void
test_undefined_behaviour_is_found_beside_address_sanitizer(void **)
{
#ifdef __SANITIZE_ADDRESS__
    assert_true(child_is_stopped([] {
        Device device(32);
        device.words[0] = 40;
        H5TWIN_LAUNCH(shift_kernel, 1, 1, 0, nullptr)(device.words);
    }));
    Device device(32);
    device.words[0] = 31;
    H5TWIN_LAUNCH(shift_kernel, 1, 1, 0, nullptr)(device.words);
    assert_int_equal(device.words[1], 1u << 31);
#else
    skip();
#endif
}

void
test_missing_barrier_is_found_by_thread_sanitizer(void **)
{
#ifdef __SANITIZE_THREAD__
    assert_true(child_is_stopped([] {
        Device device(128);
        H5TWIN_LAUNCH(reverse_kernel, 1, 128, 0, nullptr)(device.words, 0u);
    }));
    /* Not in a child, where ThreadSanitizer sees only half of what the fibers' scheduler does: a
     * report, there is none, would end this program with its exit code. */
    Device device(128);
    H5TWIN_LAUNCH(reverse_kernel, 1, 128, 0, nullptr)(device.words, 1u);
#else
    skip();
#endif
}

void
test_injected_faults_come_at_the_call_asked_for(void **)
{
    void *pointer = nullptr;
    simt::inject_fault(1, cudaErrorMemoryAllocation, false);
    assert_int_equal(cudaMalloc(&pointer, 16), cudaSuccess);
    cudaFree(pointer);
    assert_int_equal(cudaMalloc(&pointer, 16), cudaErrorMemoryAllocation);
    assert_int_equal(cudaMalloc(&pointer, 16), cudaSuccess);
    cudaFree(pointer);
    simt::inject_fault(0, cudaErrorLaunchFailure, true);
    H5TWIN_LAUNCH(divergent_barrier_kernel, 1, 1, 0, nullptr)((uint32_t *)nullptr);
    assert_false(h5twin_gpu_accepted());
    assert_int_equal(cudaMalloc(&pointer, 16), cudaErrorLaunchFailure);
    simt::inject_fault(-1, cudaSuccess, false);
}

} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernel_with_barrier_is_right_in_every_order),
        cmocka_unit_test(test_missing_barrier_changes_the_result_with_the_order),
        cmocka_unit_test(test_eager_warps_show_what_turns_hide),
        cmocka_unit_test(test_warp_scan_adds_lanes_below),
        cmocka_unit_test(test_collectives_follow_cuda),
        cmocka_unit_test(test_look_back_by_tickets_works_with_any_number_of_resident_blocks),
        cmocka_unit_test(test_waiting_for_a_block_that_is_not_resident_is_found),
        cmocka_unit_test(test_barrier_that_a_thread_skips_is_found),
        cmocka_unit_test(test_collective_that_a_lane_skips_is_found),
        cmocka_unit_test(test_different_collectives_in_one_warp_are_found),
        cmocka_unit_test(test_dynamic_shared_memory_and_atomics),
        cmocka_unit_test(test_access_beyond_a_global_buffer_is_found),
        cmocka_unit_test(test_access_beyond_shared_memory_is_found_by_address_sanitizer),
        cmocka_unit_test(test_undefined_behaviour_is_found_beside_address_sanitizer),
        cmocka_unit_test(test_missing_barrier_is_found_by_thread_sanitizer),
        cmocka_unit_test(test_injected_faults_come_at_the_call_asked_for),
        cmocka_unit_test(test_what_a_gpu_refuses_to_launch_is_refused),
        cmocka_unit_test(test_launch_bounds_are_obeyed),
        cmocka_unit_test(test_writes_around_a_global_buffer_are_found),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
