/* SPDX-License-Identifier: BSD-3-Clause
 * isa.c: the only place that asks what the processor can do. */
#include "isa.h"

#include <stdatomic.h>
#include <stddef.h>
#ifdef H5TWIN_ARM64
#    include <asm/hwcap.h>
#    include <sys/auxv.h>
#endif
#ifdef H5TWIN_TESTING
#    include <stdlib.h>
#    include <string.h>
#endif

#define IS_PROBED ((h5twin_isa)1 << 31)

static const struct h5twin_isa_level levels[] = {
    {"scalar", H5TWIN_ISA_SCALAR},
#ifdef H5TWIN_X86
    {"sse4.2", H5TWIN_ISA_SSE42},  {"avx2", H5TWIN_ISA_AVX2},       {"avx512", H5TWIN_ISA_AVX512},
#endif
#ifdef H5TWIN_ARM64
    {"neon", H5TWIN_ISA_NEON},     {"armv8-crc", H5TWIN_ISA_ARMV8},
#endif
};

#define LEVEL_COUNT (sizeof levels / sizeof levels[0])

#ifdef H5TWIN_X86
static h5twin_isa
probe(void)
{
    if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("pclmul")) {
        return H5TWIN_ISA_SCALAR;
    }
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("popcnt") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2")) {
        return H5TWIN_ISA_SSE42;
    }
    const int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vbmi") &&
                       __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("gfni") &&
                       __builtin_cpu_supports("vpclmulqdq");
    return avx512 ? H5TWIN_ISA_AVX512 : H5TWIN_ISA_AVX2;
}
#elif defined(H5TWIN_ARM64)
static h5twin_isa
probe(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0 ? H5TWIN_ISA_ARMV8 : H5TWIN_ISA_NEON;
}
#else
static h5twin_isa
probe(void)
{
    return H5TWIN_ISA_SCALAR;
}
#endif

static h5twin_isa
isa_of_processor(void)
{
    static _Atomic h5twin_isa known;
    h5twin_isa found = atomic_load_explicit(&known, memory_order_relaxed);
    if (found == 0) {
        found = probe() | IS_PROBED;
        atomic_store_explicit(&known, found, memory_order_relaxed);
    }
    return found & ~IS_PROBED;
}

h5twin_isa
h5twin_isa_available(void)
{
    const h5twin_isa isa = isa_of_processor();
#ifdef H5TWIN_TESTING
    const char *const name = getenv("H5TWIN_CPU");
    for (size_t i = 0; name != NULL && i < LEVEL_COUNT; i++) {
        if (strcmp(levels[i].name, name) == 0) {
            return isa & levels[i].isa;
        }
    }
#endif
    return isa;
}

const struct h5twin_isa_level *
h5twin_isa_level_at(unsigned index)
{
    return index < LEVEL_COUNT && (levels[index].isa & ~isa_of_processor()) == 0 ? &levels[index]
                                                                                 : NULL;
}

const struct h5twin_isa_level *
h5twin_isa_level_of(h5twin_isa isa)
{
    size_t last = 0;
    for (size_t i = 1; i < LEVEL_COUNT; i++) {
        last = (levels[i].isa & ~isa) == 0 ? i : last;
    }
    return &levels[last];
}
