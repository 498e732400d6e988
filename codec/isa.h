/* SPDX-License-Identifier: BSD-3-Clause
 * isa.h: instruction sets, and how hot loops are written once more for some of them.
 *
 * Such loops are functions in a table, struct h5twin_<what>_kernels. There is one table per
 * variant, h5twin_<what>_kernels_avx2 say, in a file that is compiled for that instruction set. The
 * header of the loops declares them and const struct h5twin_<what>_kernels
 * *h5twin_<what>_kernels_for(h5twin_isa isa); which their C file defines by H5TWIN_KERNELS_FOR. No
 * other place knows what variants there are: the processor is asked once per process, the answer
 * goes into each job, and down from there. */
#ifndef H5TWIN_ISA_H
#define H5TWIN_ISA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A set of instructions, a bit for each group of them that processors have together. */
typedef uint32_t h5twin_isa;

/* What CMakeLists.txt lets the compiler use in the files of a variant, so what each requires. */
#define H5TWIN_ISA_SCALAR ((h5twin_isa)0)
#define H5TWIN_ISA_SSE42  ((h5twin_isa)1)                    /* and PCLMUL */
#define H5TWIN_ISA_AVX2   ((h5twin_isa)2 | H5TWIN_ISA_SSE42) /* and POPCNT, BMI, BMI2 */
#define H5TWIN_ISA_AVX512 ((h5twin_isa)4 | H5TWIN_ISA_AVX2)  /* F, DQ, BW, VL, CD, VBMI, VBMI2, */
                                                             /* and GFNI, VPCLMULQDQ */
#define H5TWIN_ISA_NEON  ((h5twin_isa)16)                    /* every AArch64 has it */
#define H5TWIN_ISA_ARMV8 ((h5twin_isa)8 | H5TWIN_ISA_NEON)   /* and CRC32 */

/* What this processor has. In a build for tests, no more than what the environment variable
 * H5TWIN_CPU names, see below. */
h5twin_isa h5twin_isa_available(void);

/* For tests and people: the sets that variants are compiled for, from H5TWIN_ISA_SCALAR on to what
 * this processor has. */
struct h5twin_isa_level {
    const char *name; /* "scalar", "sse4.2", "avx2", "avx512"; "neon", "armv8-crc" */
    h5twin_isa isa;
};

/* NULL at the end. */
const struct h5twin_isa_level *h5twin_isa_level_at(unsigned index);

/* The last one in isa. */
const struct h5twin_isa_level *h5twin_isa_level_of(h5twin_isa isa);

/* H5TWIN_KERNELS_FOR(h5twin_<what>_kernels, {requires, &table}, ...): defines
 * h5twin_<what>_kernels_for, which returns the first table whose requirements are met. So the best
 * one stands first, and last one that requires nothing. */
#define H5TWIN_KERNELS_FOR(kernels, ...)                                                           \
    const struct kernels *kernels##_for(h5twin_isa isa)                                            \
    {                                                                                              \
        static const struct {                                                                      \
            h5twin_isa required;                                                                   \
            const struct kernels *table;                                                           \
        } variants[] = {__VA_ARGS__};                                                              \
        unsigned at = 0;                                                                           \
        while ((variants[at].required & ~isa) != 0) {                                              \
            at++;                                                                                  \
        }                                                                                          \
        return variants[at].table;                                                                 \
    }

/* The variants of a file listed under EACH, and those of tables that have files of their own for
 * AVX2 and AVX-512. */
#ifdef H5TWIN_X86
#    define H5TWIN_X86_VARIANTS(kernels)                                                           \
        {H5TWIN_ISA_AVX512, &kernels##_avx512}, {H5TWIN_ISA_AVX2, &kernels##_avx2},
#else
#    define H5TWIN_X86_VARIANTS(kernels)
#endif
#ifdef H5TWIN_ARM64
#    define H5TWIN_ARM64_VARIANTS(kernels) {H5TWIN_ISA_NEON, &kernels##_neon},
#else
#    define H5TWIN_ARM64_VARIANTS(kernels)
#endif
#define H5TWIN_OWN_VARIANTS(kernels)                                                               \
    H5TWIN_X86_VARIANTS(kernels)                                                                   \
    {                                                                                              \
        H5TWIN_ISA_SCALAR, &kernels##_scalar                                                       \
    }
#define H5TWIN_VARIANTS(kernels) H5TWIN_ARM64_VARIANTS(kernels) H5TWIN_OWN_VARIANTS(kernels)

/* For the header of loops listed under EACH: declares their tables. */
#define H5TWIN_DECLARE_VARIANTS(kernels)                                                           \
    extern const struct kernels kernels##_scalar, kernels##_avx2, kernels##_avx512, kernels##_neon

/* Files listed under EACH in a codec.cmake are compiled once for the processor that the build is
 * for, and again for each instruction set with vectors: these give what they define another name.
 * H5TWIN_ISA_NAME(h5twin_<what>_kernels) is h5twin_<what>_kernels_scalar, _avx2, _avx512 or _neon.
 */
#ifndef H5TWIN_ISA
#    define H5TWIN_ISA scalar
#endif
#define H5TWIN_ISA_JOIN2(name, isa) name##_##isa
#define H5TWIN_ISA_JOIN(name, isa)  H5TWIN_ISA_JOIN2(name, isa)
#define H5TWIN_ISA_NAME(name)       H5TWIN_ISA_JOIN(name, H5TWIN_ISA)

/* Bytes of a vector in the instruction set that such a file is compiled for; 0 for none. Whatever
 * else the compiler may use, the scalar variant is plain C: the others are compared with it. */
#define H5TWIN_VECTOR_BYTES           H5TWIN_ISA_NAME(H5TWIN_VECTOR_BYTES_OF)
#define H5TWIN_VECTOR_BYTES_OF_scalar 0
#define H5TWIN_VECTOR_BYTES_OF_neon   16
#define H5TWIN_VECTOR_BYTES_OF_avx2   32
#define H5TWIN_VECTOR_BYTES_OF_avx512 64

#ifdef __cplusplus
}
#endif
#endif
