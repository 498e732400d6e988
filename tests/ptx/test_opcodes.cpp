/* SPDX-License-Identifier: BSD-3-Clause
 * test_opcodes.cpp FILE: each row of opcodes.tsv, which describes itself, makes the values that it
 * says; what the interpreter does not know is refused; what is wrong is noticed. */
#include "memory.h"
#include "warp.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace ptx;

namespace
{

constexpr size_t MEMORY_BYTES = 64;

unsigned failures, checks;

void
check(bool good, const std::string &what)
{
    checks++;
    if (!good) {
        failures++;
        printf("FAILED: %s\n", what.c_str());
    }
}

struct Value { /* d:32=VALUE */
    std::string name, text;
    unsigned bits = 0;
};

std::vector<Value>
read_values(const std::string &column)
{
    std::vector<Value> all;
    std::istringstream words(column);
    for (std::string word; words >> word;) {
        Value value;
        const size_t equals = word.find('='), colon = word.find(':');
        value.name = word.substr(0, std::min(equals, colon));
        value.text = word.substr(equals + 1);
        if (colon < equals) {
            value.bits = (unsigned)atoi(word.c_str() + colon + 1);
        }
        all.push_back(value);
    }
    return all;
}

const Value *
find_value(const std::vector<Value> &values, const std::string &name)
{
    for (const Value &value : values) {
        if (value.name == name) {
            return &value;
        }
    }
    return nullptr;
}

uint64_t
number_of(const std::string &text, int lane)
{
    return text == "lane" ? (uint64_t)lane : strtoull(text.c_str(), nullptr, 16);
}

std::vector<uint8_t>
bytes_of(const std::string &hex)
{
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i + 1 < hex.size(); i += 2) {
        bytes.push_back((uint8_t)strtoul(hex.substr(i, 2).c_str(), nullptr, 16));
    }
    return bytes;
}

void
replace_all(std::string *text, const std::string &from, const std::string &to)
{
    for (size_t at = text->find(from); at != std::string::npos;
         at = text->find(from, at + to.size())) {
        text->replace(at, from.size(), to);
    }
}

std::string
register_type(unsigned bits)
{
    return bits == 1 ? "pred" : "b" + std::to_string(bits);
}

/* Kernel `row`: inputs at param_0, 8 bytes for each lane of each; outputs likewise at param_1; m at
 * param_2, copied to shared memory and back where the row wants it there. */
std::string
make_ptx(const std::string &opcode, std::string text, const std::vector<Value> &inputs,
         const std::vector<Value> &outputs)
{
    std::string ptx = ".version 7.8\n.target sm_90\n.address_size 64\n"
                      ".func (.param .b32 result) twice(.param .b32 x)\n{\n.reg .b32 %v;\n"
                      "ld.param.b32 %v, [x];\nadd.s32 %v, %v, %v;\nst.param.b32 [result+0], %v;\n"
                      "ret;\n}\n"
                      ".func (.param .b64 result) negated(.param .b64 x)\n{\n.reg .b64 %v;\n"
                      "ld.param.b64 %v, [x];\nneg.s64 %v, %v;\nst.param.b64 [result+0], %v;\n"
                      "ret;\n}\n"
                      ".visible .entry row(.param .u64 param_0, .param .u64 param_1, "
                      ".param .u64 param_2, .param .align 16 .b8 q[64])\n{\n"
                      ".local .align 16 .b8 l[64];\n.shared .align 16 .b8 s[64];\n"
                      ".reg .b64 %in, %out, %m, %raw, %x, %y;\n.reg .b32 %tid, %r1, %r2;\n"
                      ".reg .b16 %byte;\n.reg .pred %p1;\n";
    const bool in_shared = opcode.find(".shared") != std::string::npos;
    for (const std::vector<Value> *const values : {&inputs, &outputs}) {
        for (const Value &value : *values) {
            if (value.bits != 0) {
                ptx += ".reg ." + register_type(value.bits) + " %" + value.name + ";\n";
            }
        }
    }
    if (find_value(outputs, "d") == nullptr) {
        ptx += ".reg .b32 %d;\n";
    }
    ptx += "ld.param.u64 %in, [param_0];\nld.param.u64 %out, [param_1];\n"
           "ld.param.u64 %m, [param_2];\nmov.u32 %tid, %tid.x;\nmul.wide.u32 %raw, %tid, 8;\n"
           "add.s64 %in, %in, %raw;\nadd.s64 %out, %out, %raw;\n";
    unsigned number = 0;
    for (const Value &value : inputs) {
        if (value.bits == 0) {
            continue;
        }
        ptx += "ld.global.u64 %raw, [%in+" + std::to_string(256 * number++) + "];\n";
        ptx += value.bits == 1 ? "setp.ne.s64 %" + value.name + ", %raw, 0;\n"
               : value.bits == 64
                   ? "mov.b64 %" + value.name + ", %raw;\n"
                   : "cvt.u" + std::to_string(value.bits) + ".u64 %" + value.name + ", %raw;\n";
    }
    const bool has_memory = find_value(inputs, "m") != nullptr;
    for (size_t i = 0; has_memory && in_shared && i < MEMORY_BYTES; i++) {
        const std::string at = std::to_string(i);
        ptx += "ld.global.u8 %byte, [%m+" + at + "];\nst.shared.u8 [s+" + at + "], %byte;\n";
    }
    if (text == "-") {
        text = opcode + " %d";
        for (const Value &value : inputs) {
            text += ", %" + value.name;
        }
        text += ";";
    }
    replace_all(&text, "[m", in_shared ? "[s" : "[%m");
    ptx += text + "\n";
    number = 0;
    for (const Value &value : outputs) {
        if (value.bits == 0) {
            continue;
        }
        ptx += value.bits == 1 ? "selp.b64 %raw, 1, 0, %" + value.name + ";\n"
               : value.bits == 64
                   ? "mov.b64 %raw, %" + value.name + ";\n"
                   : "cvt.u64.u" + std::to_string(value.bits) + " %raw, %" + value.name + ";\n";
        ptx += "st.global.u64 [%out+" + std::to_string(256 * number++) + "], %raw;\n";
    }
    for (size_t i = 0; has_memory && in_shared && i < MEMORY_BYTES; i++) {
        const std::string at = std::to_string(i);
        ptx += "ld.shared.u8 %byte, [s+" + at + "];\nst.global.u8 [%m+" + at + "], %byte;\n";
    }
    return ptx + "ret;\n}\n";
}

struct Buffers {
    uint8_t *in = take_memory(4096, Region::device, 0);
    uint8_t *out = take_memory(4096, Region::device, 0);
    uint8_t *memory = take_memory(MEMORY_BYTES, Region::device, 0);
};

void
launch_row(const std::string &ptx, const Buffers &buffers, const std::vector<uint8_t> &q,
           uint32_t threads)
{
    Module module(ptx);
    std::vector<uint8_t> parameters(24 + 8 + 64);
    const uint64_t addresses[3] = {(uint64_t)buffers.in, (uint64_t)buffers.out,
                                   (uint64_t)buffers.memory};
    const Kernel &kernel = module.kernel("row", 0);
    memcpy(parameters.data(), addresses, sizeof addresses);
    memcpy(&parameters[kernel.parameters[3].first], q.data(), q.size());
    Launch launch;
    launch.kernel = &kernel;
    launch.grid[0] = launch.grid[1] = launch.grid[2] = 1;
    launch.block[0] = threads;
    launch.block[1] = launch.block[2] = 1;
    launch.parameters = parameters.data();
    run_launch(&launch);
}

void
check_outputs(const std::string &row, const std::vector<Value> &outputs, const Buffers &buffers,
              uint32_t threads)
{
    unsigned number = 0;
    for (const Value &value : outputs) {
        if (value.bits == 0) {
            const std::vector<uint8_t> expected = bytes_of(value.text);
            check(memcmp(buffers.memory, expected.data(), expected.size()) == 0,
                  row + ": other bytes in memory");
            continue;
        }
        const uint8_t *const at = buffers.out + 256 * number++;
        std::istringstream parts(value.text);
        for (std::string part; std::getline(parts, part, ',');) {
            const size_t mark = part.find('@');
            for (uint32_t lane = 0; lane < threads; lane++) {
                if (mark != std::string::npos && strtoul(&part[mark + 1], nullptr, 10) != lane) {
                    continue;
                }
                uint64_t found;
                memcpy(&found, at + 8 * lane, sizeof found);
                char text[80];
                snprintf(text, sizeof text, ": lane %u has %llx", lane, (unsigned long long)found);
                check(found == number_of(part.substr(0, mark), (int)lane),
                      row + ": %" + value.name + text);
            }
        }
    }
}

void
run_row(const std::string &line, const Buffers &buffers)
{
    std::vector<std::string> columns;
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part, '\t');) {
        columns.push_back(part);
    }
    if (columns.size() != 4) {
        check(false, "not four columns: " + line);
        return;
    }
    const std::string &opcode = columns[0];
    if (columns[1] != "-" && columns[1].find(opcode + " ") == std::string::npos &&
        columns[1].find(opcode + ";") == std::string::npos) {
        check(false, "the PTX lacks the opcode: " + line);
        return;
    }
    const std::vector<Value> inputs = read_values(columns[2]), outputs = read_values(columns[3]);
    const Value *const memory = find_value(inputs, "m"), *const q = find_value(inputs, "q");
    const uint32_t threads = memory != nullptr ? 1 : WARP_LANES;
    unsigned number = 0;
    for (const Value &value : inputs) {
        for (int lane = 0; value.bits != 0 && lane < WARP_LANES; lane++) {
            const uint64_t x = number_of(value.text, lane);
            memcpy(buffers.in + 256 * number + 8 * (size_t)lane, &x, sizeof x);
        }
        number += value.bits != 0;
    }
    if (memory != nullptr) {
        const std::vector<uint8_t> bytes = bytes_of(memory->text);
        memcpy(buffers.memory, bytes.data(), bytes.size());
    }
    try {
        launch_row(make_ptx(opcode, columns[1], inputs, outputs), buffers,
                   q == nullptr ? std::vector<uint8_t>() : bytes_of(q->text), threads);
        check_outputs(line, outputs, buffers, threads);
    } catch (const std::runtime_error &error) {
        check(false, line + ": " + error.what());
    }
}

/* ---- what must be refused or noticed ---- */

void
check_error(const std::string &text, const char *expected, const Buffers &buffers,
            uint32_t threads = WARP_LANES)
{
    std::string what = "nothing";
    try {
        launch_row(make_ptx("", text, {}, {}), buffers, {}, threads);
    } catch (const std::runtime_error &error) {
        what = error.what();
    }
    check(what.find(expected) != std::string::npos,
          text + ": \"" + expected + "\" expected, said: " + what);
}

void
check_refusals(const Buffers &buffers)
{
    const char *const unknown = "no such instruction";
    check_error("add.ftz.f32 %r1, %r2, %r2;", unknown, buffers);
    check_error("add.sat.s32 %r1, %r2, %r2;", unknown, buffers);
    check_error("add.rz.f32 %r1, %r2, %r2;", unknown, buffers);
    check_error("setp.eq.and.s32 %p1, %r1, %r2, %p1;", unknown, buffers);
    check_error("cvt.sat.u32.s64 %r1, %x;", unknown, buffers);
    check_error("cp.async.ca.shared.global [s], [%m], 4;", unknown, buffers);
    check_error("mma.sync.aligned %r1, %r2;", unknown, buffers);
    check_error("ld.acquire.gpu.global.u32 %r1, [%m];", unknown, buffers);
    check_error("ld.global.cg.u32 %r1, [%m];", unknown, buffers);
    check_error("ld.global.v8.u32 %r1, [%m];", unknown, buffers);
    check_error("atom.global.inc.u32 %r1, [%m], %r2;", unknown, buffers);
    check_error("atom.global.add.f32 %r1, [%m], %r2;", unknown, buffers);
    check_error("bar.sync 1;", "only barrier 0", buffers);
    check_error("bar.sync 0, 64;", "only barrier 0", buffers);
    check_error("add.s32 %r1, %x, %r2;", "another size", buffers);
    check_error("add.s32 %r1, %r2;", "another number of operands", buffers);
    check_error("add.s32 %r1, %nothing, %r2;", "no such register", buffers);
    check_error("add.s32 %r1, nothing, %r2;", "no such operand", buffers);
    check_error("bra nowhere;", "no such label", buffers);
    check_error("call.uni nobody, ();", "no such function", buffers);
    check_error("mov.u32 %r1, %clock;", "no such register", buffers);
}

void
check_bad_accesses(const Buffers &buffers)
{
    check_error("ld.global.u32 %r1, [%m+64];", "outside all memory", buffers);
    check_error("ld.global.u64 %x, [%m+60];", "misaligned", buffers);
    check_error("ld.global.u8 %r1, [%m+64];", "outside all memory", buffers);
    check_error("st.global.u8 [%m+-1], %r1;", "outside all memory", buffers);
    check_error("ld.global.v2.u32 {%r1, %r2}, [%m+4];", "misaligned", buffers);
    check_error("mov.u64 %x, 0; ld.u32 %r1, [%x];", "outside all memory", buffers);
    check_error("ld.shared.u8 %r1, [s+64];", "outside every variable", buffers);
    check_error("st.shared.u8 [s+-1], %r1;", "outside every variable", buffers);
    check_error("st.local.u32 [l+4096], %r1;", "outside local memory", buffers);
    check_error("ld.param.u32 %r1, [q+64];", "outside the parameters", buffers);
}

void
check_bad_warps(const Buffers &buffers)
{
    /* A shuffle from a lane that is not there, a mask without the caller, ended lanes. */
    check_error("shfl.sync.idx.b32 %r1, %r2, 20, 31, -1;",
                "a mask that names lanes that have ended", buffers, 16);
    check_error("setp.lt.u32 %p1, %tid, 16; @%p1 bra L1; bra L2;"
                "L1: shfl.sync.idx.b32 %r1, %r2, 20, 31, 0xffff; L2:",
                "which does not take part", buffers);
    check_error("bar.warp.sync 1;", "its own mask does not name", buffers);
    check_error("setp.lt.u32 %p1, %tid, 16; @%p1 bar.sync 0; @!%p1 bar.sync 0;",
                "at different barriers", buffers);
    check_error("setp.lt.u32 %p1, %tid, 16; @!%p1 bra L1; bar.warp.sync -1;"
                "L1: bar.sync 0;",
                "no end of kernel", buffers);
    check_error("L1: ld.volatile.global.u32 %r1, [%m]; bra L1;", "no end of kernel", buffers);
}

} // namespace

int
main(int count, char **arguments)
{
    std::ifstream file(count == 2 ? arguments[1] : "");
    const Buffers buffers;
    unsigned rows = 0;
    for (std::string line; std::getline(file, line);) {
        if (!line.empty() && line[0] != '#') {
            run_row(line, buffers);
            rows++;
        }
    }
    check(rows > 0, "no rows");
    check_refusals(buffers);
    check_bad_accesses(buffers);
    check_bad_warps(buffers);
    printf("%u rows, %u checks, %u failed\n", rows, checks, failures);
    return failures == 0 ? 0 : 1;
}
