/* SPDX-License-Identifier: BSD-3-Clause
 * test_gpu_host.cpp: h5twin_encode and h5twin_decode on a GPU make the CPU's bytes; when the GPU
 * fails, at whichever call, auto goes on with the CPU and a demanded GPU is an error. */
#include "device_memory.h"
#include "gpu.h"
#include "gpu/gpu_host.h"

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

#define UNTOUCHED ((size_t)0x5EED)

const struct h5twin_exec automatic = {H5TWIN_DEVICE_AUTO, 1, {}};
const struct h5twin_exec cpu = {H5TWIN_DEVICE_CPU, 1, {}};
const struct h5twin_exec gpu = {H5TWIN_DEVICE_GPU, 1, {}};

struct Sample {
    struct h5twin_params params;
    Bytes array, chunk; /* chunk: the CPU's */
};

enum h5twin_status
encode(const Sample &sample, const struct h5twin_exec *exec, Bytes *chunk)
{
    size_t size = UNTOUCHED;
    chunk->assign(h5twin_bound(&sample.params, sample.array.size()), 0);
    const enum h5twin_status status =
        h5twin_encode(&sample.params, exec, chunk->data(), chunk->size(), sample.array.data(),
                      sample.array.size(), &size);
    if (status == H5TWIN_OK) {
        chunk->resize(size);
    } else {
        assert_int_equal(size, UNTOUCHED);
    }
    return status;
}

enum h5twin_status
decode(const Sample &sample, const struct h5twin_exec *exec, Bytes *array)
{
    size_t size = UNTOUCHED;
    array->assign(sample.array.size(), 0);
    const enum h5twin_status status = h5twin_decode(
        exec, array->data(), array->size(), sample.chunk.data(), sample.chunk.size(), &size);
    assert_int_equal(size, status == H5TWIN_OK ? sample.array.size() : UNTOUCHED);
    return status;
}

Sample
make_sample(const char *spec, const char *type, size_t size, bool big_endian)
{
    Sample sample;
    assert_int_equal(test_params(&sample.params, spec, type, "-"), H5TWIN_OK);
    sample.params.big_endian = big_endian;
    sample.array.resize(size);
    test_fill(sample.array.data(), size, sample.params.element_size, TEST_SMOOTH, 1);
    Bytes chunk;
    assert_int_equal(encode(sample, &cpu, &chunk), H5TWIN_OK);
    sample.chunk = chunk;
    return sample;
}

void
check_twin(const Sample &sample, const struct h5twin_exec *exec)
{
    Bytes chunk, by_cpu, by_gpu;
    GPU_CHECK(encode(sample, exec, &chunk) == H5TWIN_OK, "encoding failed");
    GPU_CHECK(chunk == sample.chunk, "another chunk");
    GPU_CHECK(decode(sample, &cpu, &by_cpu) == H5TWIN_OK, "decoding on the CPU failed");
    GPU_CHECK(decode(sample, exec, &by_gpu) == H5TWIN_OK, "decoding failed");
    GPU_CHECK(by_gpu == by_cpu, "another array");
}

/* The same of a back end that only decodes. */
void
check_decoded_twin(const Sample &sample)
{
    Bytes by_cpu, by_gpu;
    GPU_CHECK(decode(sample, &cpu, &by_cpu) == H5TWIN_OK, "decoding on the CPU failed");
    GPU_CHECK(decode(sample, &gpu, &by_gpu) == H5TWIN_OK, "decoding failed");
    GPU_CHECK(by_gpu == by_cpu, "another array");
}

void
test_a_gpu_makes_the_same_chunks(void **)
{
    for (unsigned i = 0; test_spec_at(i) != nullptr; i++) {
        const Sample sample =
            make_sample(test_spec_at(i), "f32", gpu_is_slow() ? 3000 : 20000, i % 2 != 0);
        const char *why;
        gpu_test_case = test_spec_at(i);
        Bytes chunk;
        if (h5twin_gpu_encodes(&sample.params)) {
            check_twin(sample, &gpu);
            continue;
        }
        assert_int_equal(encode(sample, &gpu, &chunk), H5TWIN_ERR_DEVICE);
        assert_int_equal(encode(sample, &automatic, &chunk), H5TWIN_OK);
        if (h5twin_gpu_host_find(sample.params.codec, true, &why) == H5TWIN_OK) {
            check_decoded_twin(sample);
        }
    }
    gpu_test_case = "empty";
    check_twin(make_sample("sleek", "f32", 0, false), &gpu);
    gpu_test_case = "grows and shrinks";
    for (const size_t size : {100u, 70000u, 3u, 40000u}) {
        check_twin(make_sample("sleek:abs=1e-3", "f64", size / 8 * 8, false), &gpu);
    }
}

/* More than the pinned pieces hold. */
void
test_a_long_array_goes_through_in_pieces(void **)
{
#ifdef H5TWIN_SIMT
    const size_t size = 2 * 65536 + 20004; /* tests/simt/CMakeLists.txt makes the pieces small */
#else
    const size_t size = 9u * 1024 * 1024 + 4;
#endif
    gpu_test_case = "long";
    check_twin(make_sample("sleek", "f32", size, false), &gpu);
}

void
test_the_environment_and_the_call_choose(void **)
{
    const Sample sample = make_sample("sleek", "f32", 3000, false);
    gpu_test_case = "environment";
    Bytes chunk;
    setenv("H5TWIN_DEVICE", "gpu", 1);
    check_twin(sample, nullptr);
    setenv("H5TWIN_GPU", "777", 1); /* there is no such GPU */
    assert_int_equal(encode(sample, nullptr, &chunk), H5TWIN_ERR_DEVICE);
    assert_int_equal(encode(sample, &cpu, &chunk), H5TWIN_OK);
    setenv("H5TWIN_GPU", "0", 1);
    check_twin(sample, nullptr);
    unsetenv("H5TWIN_GPU");
    unsetenv("H5TWIN_DEVICE");
}

void
test_damage_is_the_same_error(void **)
{
    Sample sample = make_sample("sleek", "f32", 3000, false);
    Bytes array;
    sample.chunk[24 + 10] = 77; /* a width */
    assert_int_equal(decode(sample, &gpu, &array), H5TWIN_ERR_CHECKSUM);
    test_reseal(sample.chunk.data(), sample.chunk.size());
    assert_int_equal(decode(sample, &gpu, &array), decode(sample, &cpu, &array));
    assert_int_equal(decode(sample, &gpu, &array), H5TWIN_ERR_CORRUPT);
}

#ifdef GPU_HAS_FAULTS

/* Fail each CUDA call and launch in turn, once and for ever after, with a pool that is empty and
 * one that is not. Returns how many calls there are. */
unsigned
check_faults(const Sample &sample, cudaError_t error, bool sticky, bool warm)
{
    char spec[128];
    h5twin_params_format(&sample.params, spec, sizeof spec);
    const std::string name =
        std::string(spec) + (sample.params.element_size == 4 ? " f32" : " f64");
    const bool encodes = h5twin_gpu_encodes(&sample.params);
    for (long call = 0;; call++) {
        Bytes bytes;
        gpu_test_case = name + ", fault at call " + std::to_string(call) +
                        (sticky ? ", sticky" : "") + (warm ? ", warm" : ", cold");
        h5twin_gpu_host_trim();
        GPU_CHECK(simt::count_allocations() == 0, "%zu leaks", simt::count_allocations());
        if (warm && encodes) {
            check_twin(sample, &gpu);
        } else if (warm) {
            check_decoded_twin(sample);
        }
        /* Memory that lacked once may be there when idle workspaces have been freed. */
        const bool may_heal = error == cudaErrorMemoryAllocation && !sticky;
        bool unused_by_encode = true;
        if (encodes) {
            simt::inject_fault(call, error, sticky);
            const enum h5twin_status encoded = encode(sample, &gpu, &bytes);
            unused_by_encode = simt::fault_is_pending();
            GPU_CHECK(encoded == (unused_by_encode ? H5TWIN_OK : H5TWIN_ERR_DEVICE) ||
                          (may_heal && encoded == H5TWIN_OK && bytes == sample.chunk),
                      "encode: status %u", (unsigned)encoded);
        }
        simt::inject_fault(call, error, sticky);
        const enum h5twin_status decoded = decode(sample, &gpu, &bytes);
        const bool unused_by_decode = simt::fault_is_pending();
        GPU_CHECK(decoded == (unused_by_decode ? H5TWIN_OK : H5TWIN_ERR_DEVICE) ||
                      (may_heal && decoded == H5TWIN_OK),
                  "decode: status %u", (unsigned)decoded);
        /* Nobody asked for the GPU: nobody notices. */
        setenv("H5TWIN_GPU_PAYS", "1", 1);
        simt::inject_fault(call, error, sticky);
        check_twin(sample, &automatic);
        simt::inject_fault(-1, cudaSuccess, false);
        unsetenv("H5TWIN_GPU_PAYS");
        assert_int_equal(cudaGetLastError(), cudaSuccess);
        if (unused_by_encode && unused_by_decode) {
            check_twin(sample, encodes ? &gpu : &automatic); /* and afterwards all is well */
            return (unsigned)call;
        }
    }
}

/* A codec without a back end: a demand is refused, all else goes to the CPU. */
void
check_without_back_end(const Sample &sample)
{
    Bytes bytes;
    assert_int_equal(encode(sample, &gpu, &bytes), H5TWIN_ERR_DEVICE);
    assert_int_equal(decode(sample, &gpu, &bytes), H5TWIN_ERR_DEVICE);
    setenv("H5TWIN_GPU_PAYS", "1", 1);
    check_twin(sample, &automatic);
    unsetenv("H5TWIN_GPU_PAYS");
}

/* Every codec, option and precision; with what lasts and what comes later, every codec. */
void
test_every_fault_is_an_error_or_the_cpu(void **)
{
    if (gpu_is_slow()) { /* what is looked for has nothing to do with races */
        skip();
    }
    for (unsigned i = 0; test_spec_at(i) != nullptr; i++) {
        for (const char *type : {"f32", "f64"}) {
            const bool has_options = strchr(test_spec_at(i), ':') != nullptr;
            if (gpu_is_instrumented() && has_options && strcmp(type, "f32") == 0) {
                continue; /* each codec in both precisions, each option in one */
            }
            const Sample sample = make_sample(test_spec_at(i), type, 2000, false);
            if (h5twin_gpu_codec_find(sample.params.codec) == nullptr) {
                check_without_back_end(sample);
                continue;
            }
            assert_true(check_faults(sample, cudaErrorMemoryAllocation, false, false) > 15);
            if (!has_options && strcmp(type, "f32") == 0) {
                assert_true(check_faults(sample, cudaErrorLaunchFailure, true, false) > 15);
                assert_true(check_faults(sample, cudaErrorLaunchFailure, false, true) > 10);
            }
        }
    }
    h5twin_gpu_host_trim();
    assert_int_equal(simt::count_allocations(), 0);
}

/* What a thread's current context was, it is again: none, another device's, a program's own. */
void
test_the_callers_context_stays(void **)
{
    const Sample sample = make_sample("sleek", "f32", 3000, false);
    simt::Context own = {0, 0};
    simt::Context *const before[] = {nullptr, &own, &simt::primary_contexts[0],
                                     &simt::primary_contexts[1]};
    h5twin_gpu_host_trim();
    simt::device_count = 2;
    for (const char *device : {"", "0", "1"}) {
        setenv("H5TWIN_GPU", device, 1);
        for (simt::Context *const context : before) {
            gpu_test_case = std::string("contexts, H5TWIN_GPU=") + device;
            if (context != nullptr) {
                simt::push_context(context);
            }
            simt::unasked_contexts = 0;
            simt::set_device_calls = 0;
            int device_before = -1, device_after = -1;
            cudaGetDevice(&device_before);
            check_twin(sample, &gpu);
            cudaGetDevice(&device_after);
            GPU_CHECK(simt::current_context() == context, "another context is current");
            GPU_CHECK(device_before == device_after, "another device is current");
            GPU_CHECK(simt::set_device_calls == 0, "cudaSetDevice was called");
            GPU_CHECK(simt::unasked_contexts == 0, "a context was made for the thread");
            const int used = *device == '1' || (*device == '\0' && device_before == 1) ? 1 : 0;
            GPU_CHECK(simt::primary_contexts[used].retained != 0, "device %d is not used", used);
            GPU_CHECK(own.retained == 0, "the program's context was touched");
            h5twin_gpu_host_trim();
            GPU_CHECK(simt::primary_contexts[0].retained + simt::primary_contexts[1].retained == 0,
                      "a primary context stays retained");
            GPU_CHECK(simt::current_context() == context, "trim leaves another context");
            if (context != nullptr) {
                simt::pop_context();
            }
        }
    }
    unsetenv("H5TWIN_GPU");
    simt::device_count = 1;
}

/* Sizes that creep upwards, as chunks of several datasets do. */
void
test_memory_grows_in_steps(void **)
{
    h5twin_gpu_host_trim();
    simt::device_mallocs = 0;
    gpu_test_case = "sizes that rise";
    for (size_t size = 200000; size < 300000; size += 2000) {
        Bytes array;
        assert_int_equal(decode(make_sample("sleek", "f32", size, false), &gpu, &array), H5TWIN_OK);
    }
    GPU_CHECK(simt::device_mallocs <= 8, "%u allocations", simt::device_mallocs);
    GPU_CHECK(simt::device_mallocs >= 2, "%u allocations", simt::device_mallocs);
    h5twin_gpu_host_trim();
    assert_int_equal(simt::count_allocations(), 0);
}

/* Memory lacks: without the step it is enough. */
void
test_memory_that_lacks_is_asked_for_again(void **)
{
    const Sample sample = make_sample("sleek", "f32", 3000, false);
    Bytes array;
    unsigned healed = 0;
    gpu_test_case = "a fault that heals";
    for (long call = 0;; call++) {
        h5twin_gpu_host_trim();
        simt::inject_fault(call, cudaErrorMemoryAllocation, false);
        const enum h5twin_status status = decode(sample, &gpu, &array);
        if (simt::fault_is_pending()) {
            break;
        }
        healed += status == H5TWIN_OK;
    }
    simt::inject_fault(-1, cudaSuccess, false);
    assert_int_equal(healed, 1);
}

/* What was used once, here on another device, does not keep its memory for ever. */
void
test_idle_memory_is_freed(void **)
{
    if (gpu_is_slow()) {
        skip();
    }
    const Sample sample = make_sample("sleek", "f32", 2000, false);
    Bytes array;
    gpu_test_case = "idle memory";
    h5twin_gpu_host_trim();
    simt::device_count = 2;
    setenv("H5TWIN_GPU", "1", 1);
    assert_int_equal(decode(sample, &gpu, &array), H5TWIN_OK);
    setenv("H5TWIN_GPU", "0", 1);
    for (unsigned call = 0; call < 400; call++) {
        assert_int_equal(decode(sample, &gpu, &array), H5TWIN_OK);
        assert_int_equal(simt::primary_contexts[0].retained, 1);
        GPU_CHECK(call >= 200 || simt::primary_contexts[1].retained == 1, "freed too early");
    }
    assert_int_equal(simt::primary_contexts[1].retained, 0);
    unsetenv("H5TWIN_GPU");
    simt::device_count = 1;
    h5twin_gpu_host_trim();
    assert_int_equal(simt::count_allocations(), 0);
}

/* CUDA does not survive fork. */
void
test_a_forked_child_uses_the_cpu(void **)
{
    const Sample sample = make_sample("sleek", "f32", 3000, false);
    gpu_test_case = "fork";
    check_twin(sample, &gpu);
    const pid_t child = fork();
    if (child == 0) {
        Bytes chunk;
        setenv("H5TWIN_GPU_PAYS", "1", 1);
        const bool refused = encode(sample, &gpu, &chunk) == H5TWIN_ERR_FORKED;
        const bool worked = encode(sample, &automatic, &chunk) == H5TWIN_OK;
        _exit(refused && worked && chunk == sample.chunk ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    check_twin(sample, &gpu);
}

/* The program started CUDA itself, so that only the runtime knows. */
void
test_a_child_of_a_program_that_uses_cuda(void **)
{
    const Sample sample = make_sample("sleek", "f32", 3000, false);
    Bytes chunk;
    const char *why;
    simt::is_uninitialized = true;
    assert_int_equal(encode(sample, &gpu, &chunk), H5TWIN_ERR_FORKED);
    assert_int_equal(h5twin_gpu_host_find(H5TWIN_SLEEK, true, &why), H5TWIN_ERR_FORKED);
    assert_non_null(strstr(why, "forked"));
    setenv("H5TWIN_GPU_PAYS", "1", 1);
    check_twin(sample, &automatic);
    unsetenv("H5TWIN_GPU_PAYS");
    simt::is_uninitialized = false;
    check_twin(sample, &gpu);
}

#endif

} // namespace

int
main()
{
    unsetenv("H5TWIN_DEVICE");
    unsetenv("H5TWIN_GPU");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_gpu_makes_the_same_chunks),
        cmocka_unit_test(test_a_long_array_goes_through_in_pieces),
        cmocka_unit_test(test_the_environment_and_the_call_choose),
        cmocka_unit_test(test_damage_is_the_same_error),
#ifdef GPU_HAS_FAULTS
        cmocka_unit_test(test_every_fault_is_an_error_or_the_cpu),
        cmocka_unit_test(test_the_callers_context_stays),
        cmocka_unit_test(test_memory_grows_in_steps),
        cmocka_unit_test(test_memory_that_lacks_is_asked_for_again),
        cmocka_unit_test(test_idle_memory_is_freed),
        cmocka_unit_test(test_a_forked_child_uses_the_cpu),
        cmocka_unit_test(test_a_child_of_a_program_that_uses_cuda),
#endif
    };
    const int result = GPU_RUN_TESTS(tests);
    h5twin_gpu_host_trim();
    return result;
}
