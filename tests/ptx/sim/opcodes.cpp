/* SPDX-License-Identifier: BSD-3-Clause
 * opcodes.cpp: the table of plain opcodes, by full name. What is not in it is refused: a modifier
 * that is left out here, such as .ftz or .sat, changes what an instruction does. */
#include "kernel.h"

#include <map>

namespace ptx
{

namespace
{

using Table = std::map<std::string, Opcode, std::less<>>;

Table &
table()
{
    static Table *const forever = new Table;
    return *forever;
}

bool
fill_table()
{
    add_integer_opcodes();
    add_float_opcodes();
    add_bit_opcodes();
    add_convert_opcodes();
    return true;
}

} // namespace

void
add_opcode(const std::string &name, Operation execute, std::vector<uint8_t> sizes)
{
    table()[name] = {execute, std::move(sizes)};
}

const Opcode *
find_opcode(std::string_view name)
{
    static const bool filled = fill_table();
    (void)filled;
    const auto found = table().find(name);
    return found == table().end() ? nullptr : &found->second;
}

} // namespace ptx
