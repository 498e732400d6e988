/* SPDX-License-Identifier: BSD-3-Clause
 * fatbin.cpp: see fatbin.h. A container has a header (magic number, its own size, the size of what
 * follows) and entries, each with a header (kind, its own size, the size of what follows, the same
 * before it was compressed, flags) and PTX or machine code. */
#include "fatbin.h"

#include <cstdio>
#include <cstring>

namespace ptx
{

namespace
{

constexpr uint32_t MAGIC = 0xBA55ED50u;
constexpr uint16_t KIND_PTX = 1;
constexpr size_t HEADER_BYTES = 16, ENTRY_HEADER_BYTES = 64;
constexpr uint64_t IS_COMPRESSED = 0x2000 | 0x8000; /* LZ4, zstd */

template <class T>
T
read_at(const uint8_t *at)
{
    T value;
    memcpy(&value, at, sizeof value);
    return value;
}

} // namespace

std::string
read_fatbin(const uint8_t *data, size_t size, std::string *why)
{
    *why = "no container of device code";
    if (size < HEADER_BYTES || read_at<uint32_t>(data) != MAGIC) {
        return "";
    }
    const size_t header = read_at<uint16_t>(data + 6);
    const uint64_t content = read_at<uint64_t>(data + 8);
    if (header < HEADER_BYTES || header > size || content > size - header) {
        return "";
    }
    *why = "no PTX for a virtual architecture, which -DH5TWIN_PTX=ON compiles to";
    const uint8_t *at = data + header;
    const uint8_t *const end = at + content;
    while (end - at >= (ptrdiff_t)ENTRY_HEADER_BYTES) {
        const uint16_t kind = read_at<uint16_t>(at);
        const uint32_t entry_header = read_at<uint32_t>(at + 4);
        const uint64_t entry_size = read_at<uint64_t>(at + 8);
        if (entry_header < ENTRY_HEADER_BYTES || entry_header + entry_size > (uint64_t)(end - at)) {
            *why = "a damaged container of device code";
            return "";
        }
        if (kind == KIND_PTX && (read_at<uint64_t>(at + 40) & IS_COMPRESSED) != 0) {
            *why = "compressed PTX: nvcc needs --no-compress";
            return "";
        }
        if (kind == KIND_PTX) {
            const char *const text = reinterpret_cast<const char *>(at + entry_header);
            return std::string(text, strnlen(text, entry_size));
        }
        at += entry_header + entry_size;
    }
    return "";
}

std::vector<std::string>
read_fatbins_of_file(const std::string &path)
{
    std::vector<uint8_t> bytes;
    std::vector<std::string> found;
    FILE *const file = fopen(path.c_str(), "rb");
    if (file == nullptr) {
        return found;
    }
    uint8_t buffer[65536];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, file)) > 0;) {
        bytes.insert(bytes.end(), buffer, buffer + n);
    }
    fclose(file);
    for (size_t at = 0; at + HEADER_BYTES <= bytes.size(); at += 8) { /* as they are aligned */
        std::string why;
        const std::string text = read_fatbin(&bytes[at], bytes.size() - at, &why);
        if (!text.empty()) {
            found.push_back(text);
        }
    }
    return found;
}

} // namespace ptx
