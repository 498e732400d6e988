/* SPDX-License-Identifier: BSD-3-Clause
 * crc32c_armv8.c: CRC-32C by the instructions of ARMv8's CRC extension (compiled with
 * -march=armv8-a+crc). */
#include "crc32c.h"

#include "crc32c_core.h"

#include <arm_acle.h>

#define CRC_WORD(state, word) __crc32cd(state, word)
#define CRC_BYTE(state, byte) __crc32cb(state, byte)
#define MULTIPLY              h5twin_crc32c_multiply
#define LONG_LANES                                                                                 \
    {                                                                                              \
        4096, 0x35D73A62, 0x28461564                                                               \
    }
#define SHORT_LANES                                                                                \
    {                                                                                              \
        1024, 0xE4172B16, 0x0D65762A                                                               \
    }
#define CRC32C h5twin_crc32c_armv8
#include "crc32c_lanes.h"
