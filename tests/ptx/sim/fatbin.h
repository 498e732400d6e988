/* SPDX-License-Identifier: BSD-3-Clause
 * fatbin.h: the containers in which nvcc puts PTX. */
#ifndef H5TWIN_PTX_FATBIN_H
#define H5TWIN_PTX_FATBIN_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ptx
{

/* The PTX in the container that begins at `data`, of at most `size` bytes; empty if there is none.
 * `why`, if that is so: one sentence. */
std::string read_fatbin(const uint8_t *data, size_t size, std::string *why);

/* All PTX in a file, such as an object or a program. */
std::vector<std::string> read_fatbins_of_file(const std::string &path);

} // namespace ptx

#endif
