/* SPDX-License-Identifier: BSD-3-Clause
 * crc32c.h: CRC-32C (Castagnoli; RFC 3720 appendix B.4), reflected polynomial 0x82F63B78.
 *
 * crc is 0 for the first piece and the result so far for the next: pieces may be cut anywhere. */
#ifndef H5TWIN_COMMON_CRC32C_H
#define H5TWIN_COMMON_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint32_t h5twin_crc32c_scalar(uint32_t crc, const uint8_t *src, size_t src_size);
uint32_t h5twin_crc32c_sse42(uint32_t crc, const uint8_t *src, size_t src_size);

#ifdef __cplusplus
}
#endif
#endif
