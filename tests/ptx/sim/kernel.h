/* SPDX-License-Identifier: BSD-3-Clause
 * kernel.h: a kernel as the scheduler runs it: instructions of all functions that it reaches, with
 * their operands as places in a warp's memory. */
#ifndef H5TWIN_PTX_KERNEL_H
#define H5TWIN_PTX_KERNEL_H

#include "module.h"

#include <cstring>

namespace ptx
{

constexpr int WARP_LANES = 32;
constexpr uint32_t ALL_LANES = 0xFFFFFFFFu;

/* Where an operand lies: registers are arrays of one value per lane, predicates masks of a bit per
 * lane, both at an offset into the warp's registers; constants likewise in the kernel's. */
constexpr uint32_t NO_PLACE = 0xFFFFFFFFu;
constexpr uint32_t IN_CONSTANTS = 0x80000000u;

/* Generic addresses of what is not global memory; the low 32 bits are the offset. */
constexpr uint64_t SHARED_WINDOW = 0x7000000000000000ull;
constexpr uint64_t LOCAL_WINDOW = 0x7100000000000000ull;
constexpr uint64_t PARAM_WINDOW = 0x7200000000000000ull;
constexpr uint32_t DYNAMIC_SHARED = 1u << 24; /* offset of dynamic shared memory */

enum class Space : uint8_t { generic, global, shared, local, param };
enum class Flow : uint8_t {
    next,    /* execute, then the next one */
    branch,  /* to the target */
    call,    /* copy arguments, then to the target */
    results, /* after a call: copy its result */
    ret,
    exit,
    meet,    /* lanes of a warp come together, then execute */
    barrier, /* warps of a block come together */
    yield,   /* others first */
};

struct Warp;
struct Instruction;
using Operation = void (*)(Warp &warp, const Instruction &instruction, uint32_t lanes);

struct Copy { /* of an argument or result, offsets into local memory */
    uint32_t from, to, size;
};

struct Instruction {
    Operation execute = nullptr;
    uint32_t place[6] = {NO_PLACE, NO_PLACE, NO_PLACE, NO_PLACE, NO_PLACE, NO_PLACE};
    uint32_t vector[4] = {NO_PLACE, NO_PLACE, NO_PLACE, NO_PLACE}; /* {a, b, c, d} */
    uint32_t guard = NO_PLACE;
    uint32_t target = 0;
    uint64_t immediate = 0; /* memory: an offset; call and results: index into Kernel::copies */
    Flow flow = Flow::next;
    Space space = Space::generic;
    uint8_t size[6] = {}, vector_size[4] = {}; /* bytes of each operand */
    uint8_t vector_count = 1;
    uint8_t value_size = 0; /* of each value in memory */
    bool guard_negated = false;
    bool is_signed = false; /* loads extend the sign */
    bool is_strong = false; /* volatile, relaxed, an atomic: meant for other threads */
    bool negated[2] = {};   /* of predicate operands */
    uint16_t defines = 1;   /* bit i: place[i] is written; bit 8 + i: vector[i] */
    uint32_t source = 0;    /* index into Kernel::sources */
};

struct Source {
    std::string text;
    uint32_t file, line;
    uint32_t function; /* index into Kernel::function_names */
};

struct SharedRange {
    uint32_t begin, end;
    std::string name;
};

/* What %tid.x and its like are: places at the beginning of a warp's registers. */
enum Special {
    TID_X,
    TID_Y,
    TID_Z,
    NTID_X,
    NTID_Y,
    NTID_Z,
    CTAID_X,
    CTAID_Y,
    CTAID_Z,
    NCTAID_X,
    NCTAID_Y,
    NCTAID_Z,
    LANEID,
    LANEMASK_EQ,
    LANEMASK_LT,
    LANEMASK_LE,
    LANEMASK_GT,
    LANEMASK_GE,
    SPECIAL_COUNT
};
constexpr uint32_t SPECIAL_BYTES = SPECIAL_COUNT * WARP_LANES * 4;

struct Kernel {
    std::string name;
    const Module *module = nullptr;
    std::vector<Instruction> code;
    std::vector<Source> sources;
    std::vector<std::string> function_names;
    std::vector<std::vector<Copy>> copies;
    std::vector<uint8_t> constants;
    const uint8_t *constant_base = nullptr; /* aligned, in constants */
    uint32_t begin = 0;                     /* of the entry's code */
    uint32_t register_bytes = 0;            /* of a warp */
    uint32_t local_bytes = 0;               /* of a lane */
    uint32_t shared_bytes = 0;              /* as declared, of all that the kernel reaches */
    uint32_t shared_span = 0;               /* with the gaps between variables */
    std::vector<SharedRange> shared_ranges;
    bool has_dynamic_shared = false;
    uint32_t parameter_bytes = 0;
    std::vector<std::pair<uint32_t, uint32_t>> parameters; /* offset, size */
    uint32_t most_threads = 0;

    const Source &
    source(const Instruction &instruction) const
    {
        return sources[instruction.source];
    }
};

std::unique_ptr<Kernel> translate(Module *module, const std::string &name, int device);

/* ---- opcodes ---- */

/* The sizes of a plain opcode's operands in bytes, the destination first: 1 is a predicate, 0 any
 * size. */
struct Opcode {
    Operation execute;
    std::vector<uint8_t> sizes;
};

/* Opcodes whose operands are registers or constants only, by their full name; NULL: unknown. */
const Opcode *find_opcode(std::string_view name);
void add_opcode(const std::string &name, Operation execute, std::vector<uint8_t> sizes);
void add_integer_opcodes();
void add_float_opcodes();
void add_bit_opcodes();
void add_convert_opcodes();

/* Those with operands of their own. */
Operation load_operation();
Operation store_operation();
Operation atomic_operation(std::string_view name, std::string_view type); /* "add", "u32" */
Operation shuffle_operation(std::string_view mode);
Operation vote_operation(std::string_view mode);
Operation reduce_operation(std::string_view name, std::string_view type);
Operation match_operation(size_t size);
Operation warp_barrier_operation();
Operation fence_operation(bool of_device);
Operation pack_operation();
Operation unpack_operation();
Operation to_generic_operation(Space space);
Operation from_generic_operation(Space space);

} // namespace ptx

#endif
