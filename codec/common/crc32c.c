/* SPDX-License-Identifier: BSD-3-Clause
 * crc32c.c: CRC-32C by tables, eight bytes a step, for processors without the instruction.
 *
 * tables[k][i] is what byte i becomes after k more bytes: i times x^(8 k + 32) modulo the
 * polynomial, reflected. That is linear in the bits of i, so the compiler makes each table from its
 * entries for the eight single bits (test_crc32c checks every byte at every place). */
#include "crc32c.h"

#include "bytes.h"
#include "crc32c_core.h"

#define BITS0(F, i)                                                                                \
    F(i, 0xF26B8303u, 0xE13B70F7u, 0xC79A971Fu, 0x8AD958CFu, 0x105EC76Fu, 0x20BD8EDEu,             \
      0x417B1DBCu, 0x82F63B78u)
#define BITS1(F, i)                                                                                \
    F(i, 0x13A29877u, 0x274530EEu, 0x4E8A61DCu, 0x9D14C3B8u, 0x3FC5F181u, 0x7F8BE302u,             \
      0xFF17C604u, 0xFBC3FAF9u)
#define BITS2(F, i)                                                                                \
    F(i, 0xA541927Eu, 0x4F6F520Du, 0x9EDEA41Au, 0x38513EC5u, 0x70A27D8Au, 0xE144FB14u,             \
      0xC76580D9u, 0x8B277743u)
#define BITS3(F, i)                                                                                \
    F(i, 0xDD45AAB8u, 0xBF672381u, 0x7B2231F3u, 0xF64463E6u, 0xE964B13Du, 0xD725148Bu,             \
      0xABA65FE7u, 0x52A0C93Fu)
#define BITS4(F, i)                                                                                \
    F(i, 0x38116FACu, 0x7022DF58u, 0xE045BEB0u, 0xC5670B91u, 0x8F2261D3u, 0x1BA8B557u,             \
      0x37516AAEu, 0x6EA2D55Cu)
#define BITS5(F, i)                                                                                \
    F(i, 0xEF306B19u, 0xDB8CA0C3u, 0xB2F53777u, 0x6006181Fu, 0xC00C303Eu, 0x85F4168Du,             \
      0x0E045BEBu, 0x1C08B7D6u)
#define BITS6(F, i)                                                                                \
    F(i, 0x68032CC8u, 0xD0065990u, 0xA5E0C5D1u, 0x4E2DFD53u, 0x9C5BFAA6u, 0x3D5B83BDu,             \
      0x7AB7077Au, 0xF56E0EF4u)
#define BITS7(F, i)                                                                                \
    F(i, 0x493C7D27u, 0x9278FA4Eu, 0x211D826Du, 0x423B04DAu, 0x847609B4u, 0x0D006599u,             \
      0x1A00CB32u, 0x34019664u)

#define XOR_OF_BITS(i, b0, b1, b2, b3, b4, b5, b6, b7)                                             \
    (((i)&1u ? b0 : 0u) ^ ((i)&2u ? b1 : 0u) ^ ((i)&4u ? b2 : 0u) ^ ((i)&8u ? b3 : 0u) ^           \
     ((i)&16u ? b4 : 0u) ^ ((i)&32u ? b5 : 0u) ^ ((i)&64u ? b6 : 0u) ^ ((i)&128u ? b7 : 0u))
#define ROW4(BITS, i)                                                                              \
    BITS(XOR_OF_BITS, (i)), BITS(XOR_OF_BITS, (i) + 1u), BITS(XOR_OF_BITS, (i) + 2u),              \
        BITS(XOR_OF_BITS, (i) + 3u)
#define ROW16(BITS, i)                                                                             \
    ROW4(BITS, i), ROW4(BITS, (i) + 4u), ROW4(BITS, (i) + 8u), ROW4(BITS, (i) + 12u)
#define ROW64(BITS, i)                                                                             \
    ROW16(BITS, i), ROW16(BITS, (i) + 16u), ROW16(BITS, (i) + 32u), ROW16(BITS, (i) + 48u)
#define TABLE(BITS) ROW64(BITS, 0u), ROW64(BITS, 64u), ROW64(BITS, 128u), ROW64(BITS, 192u)

static const uint32_t tables[8][256] = {
    {TABLE(BITS0)}, {TABLE(BITS1)}, {TABLE(BITS2)}, {TABLE(BITS3)},
    {TABLE(BITS4)}, {TABLE(BITS5)}, {TABLE(BITS6)}, {TABLE(BITS7)},
};

static uint32_t
step8(uint32_t crc, const uint8_t *src)
{
    const uint32_t low = crc ^ h5twin_load32(src);
    const uint32_t high = h5twin_load32(src + 4);
    return tables[7][low & 0xFFu] ^ tables[6][low >> 8 & 0xFFu] ^ tables[5][low >> 16 & 0xFFu] ^
           tables[4][low >> 24] ^ tables[3][high & 0xFFu] ^ tables[2][high >> 8 & 0xFFu] ^
           tables[1][high >> 16 & 0xFFu] ^ tables[0][high >> 24];
}

uint32_t
h5twin_crc32c_scalar(uint32_t crc, const uint8_t *src, size_t src_size)
{
    crc = ~crc;
    for (; src_size >= 8; src += 8, src_size -= 8) {
        crc = step8(crc, src);
    }
    for (; src_size > 0; src++, src_size--) {
        crc = (crc >> 8) ^ tables[0][(crc ^ *src) & 0xFFu];
    }
    return ~crc;
}

uint32_t
h5twin_crc32c_shift_scalar(uint32_t crc, uint64_t size)
{
    /* x^(8 * 2^i): what 2^i more bytes do. x^(2^31) is x, so they come again after 31. */
    static const uint32_t powers[31] = {
        0x00800000u, 0x00008000u, 0x82F63B78u, 0x6EA2D55Cu, 0x18B8EA18u, 0x510AC59Au, 0xB82BE955u,
        0xB8FDB1E7u, 0x88E56F72u, 0x74C360A4u, 0xE4172B16u, 0x0D65762Au, 0x35D73A62u, 0x28461564u,
        0xBF455269u, 0xE2EA32DCu, 0xFE7740E6u, 0xF946610Bu, 0x3C204F8Fu, 0x538586E3u, 0x59726915u,
        0x734D5309u, 0xBC1AC763u, 0x7D0722CCu, 0xD289CABEu, 0xE94CA9BCu, 0x05B74F3Fu, 0xA51E1F42u,
        0x40000000u, 0x20000000u, 0x08000000u,
    };
    for (unsigned i = 0; size != 0; size >>= 1, i++) {
        if ((size & 1u) != 0) {
            crc = h5twin_crc32c_multiply(crc, powers[i % 31]);
        }
    }
    return crc;
}

static const struct h5twin_crc32c_kernels in_c = {h5twin_crc32c_scalar, h5twin_crc32c_shift_scalar};
#ifdef H5TWIN_X86
static const struct h5twin_crc32c_kernels sse42 = {h5twin_crc32c_sse42, h5twin_crc32c_shift_sse42};
static const struct h5twin_crc32c_kernels avx512 = {h5twin_crc32c_avx512,
                                                    h5twin_crc32c_shift_sse42};
H5TWIN_KERNELS_FOR(h5twin_crc32c_kernels, {H5TWIN_ISA_AVX512, &avx512}, {H5TWIN_ISA_SSE42, &sse42},
                   {H5TWIN_ISA_SCALAR, &in_c})
#elif defined(H5TWIN_ARM64)
static const struct h5twin_crc32c_kernels armv8 = {h5twin_crc32c_armv8, h5twin_crc32c_shift_scalar};
H5TWIN_KERNELS_FOR(h5twin_crc32c_kernels, {H5TWIN_ISA_ARMV8, &armv8}, {H5TWIN_ISA_SCALAR, &in_c})
#else
H5TWIN_KERNELS_FOR(h5twin_crc32c_kernels, {H5TWIN_ISA_SCALAR, &in_c})
#endif
