/* SPDX-License-Identifier: BSD-3-Clause
 * ptx_dump.cpp: shows the PTX in objects and programs that nvcc made.
 *
 *   ptx_dump FILE...             the text
 *   ptx_dump --opcodes FILE...   the typed opcodes in it, a line each: opcode, how often
 *   ptx_dump --kernels FILE...   kernels: instructions, and bytes of a warp's registers, of shared
 * and of local memory */
#include "fatbin.h"
#include "kernel.h"

#include <cstdio>
#include <cstring>

int
main(int count, char **arguments)
{
    std::map<std::string, size_t> opcodes;
    const bool lists_opcodes = count > 1 && strcmp(arguments[1], "--opcodes") == 0;
    const bool lists_kernels = count > 1 && strcmp(arguments[1], "--kernels") == 0;
    size_t texts = 0;
    for (int i = lists_opcodes || lists_kernels ? 2 : 1; i < count; i++) {
        for (const std::string &text : ptx::read_fatbins_of_file(arguments[i])) {
            texts++;
            if (!lists_opcodes && !lists_kernels) {
                printf("%s", text.c_str());
                continue;
            }
            ptx::Module module(text);
            for (const auto &function : module.functions()) {
                if (lists_kernels && function.second.is_entry) {
                    const ptx::Kernel &kernel = module.kernel(function.first, 0);
                    printf("%s\t%zu\t%u\t%u\t%u\n", kernel.name.c_str(), kernel.code.size(),
                           kernel.register_bytes, kernel.shared_bytes, kernel.local_bytes);
                }
                for (const ptx::Statement &statement : ptx::read_body(function.second)) {
                    if (statement.kind == ptx::Statement::instruction) {
                        opcodes[std::string(statement.opcode)]++;
                    }
                }
            }
        }
    }
    for (const auto &opcode : opcodes) {
        if (lists_opcodes) {
            printf("%s\t%zu\n", opcode.first.c_str(), opcode.second);
        }
    }
    if (texts == 0) {
        fprintf(stderr, "ptx_dump: no PTX in these files\n");
        return 1;
    }
    return 0;
}
