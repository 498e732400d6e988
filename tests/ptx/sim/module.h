/* SPDX-License-Identifier: BSD-3-Clause
 * module.h: PTX as text, cut into its functions and variables. A function's body is looked at when
 * a kernel that needs it is first launched. */
#ifndef H5TWIN_PTX_MODULE_H
#define H5TWIN_PTX_MODULE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptx
{

/* What the interpreter does not know or the PTX must not say: one sentence. */
struct Refusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/* A variable as declared: `.align 8 .b8 name[24] = {1, 2}`, sizes in bytes. */
struct Variable {
    std::string_view name;
    uint32_t size = 0, align = 1, element_size = 0;
    bool is_unsized = false; /* name[]: dynamic shared memory */
    std::string_view initializer;
};

struct FunctionText {
    std::string_view name;
    bool is_entry = false;
    std::vector<Variable> parameters;
    std::vector<Variable> results; /* none or one */
    std::string_view body;         /* between the braces */
    uint32_t first_line = 0;       /* of the body, in the module's text */
    uint32_t most_threads = 0;     /* of a block, by .maxntid or .reqntid; 0: not said */
};

/* One statement of a body. Views are into the module's text. */
struct Statement {
    enum Kind { instruction, label, open, close, directive };
    Kind kind = instruction;
    std::string_view text; /* label: its name; directive: all up to the semicolon */
    std::string_view guard;
    bool guard_negated = false;
    std::string_view opcode; /* with its modifiers and types: add.s32 */
    std::vector<std::string_view> operands;
    uint32_t file = 0, line = 0; /* of the CUDA source, if compiled with -lineinfo */
};

struct Kernel;

class Module
{
  public:
    explicit Module(std::string text);
    ~Module();
    Module(const Module &) = delete;
    Module &operator=(const Module &) = delete;

    const FunctionText *find_function(std::string_view name) const;
    const Variable *find_shared(std::string_view name) const;
    /* Address and size of a global variable on a device; made when first asked for. */
    std::pair<uint64_t, uint32_t> place_global(std::string_view name, int device);
    bool
    has_global(std::string_view name) const
    {
        return globals_.count(name) != 0;
    }
    /* The translated kernel; it stays. */
    const Kernel &kernel(std::string_view name, int device);

    const std::map<std::string_view, FunctionText> &
    functions() const
    {
        return functions_;
    }
    std::string file_name(uint32_t number) const;

  private:
    void read_function(class Scanner *scanner, bool is_entry);
    void replace_text();

    std::string text_;
    std::map<std::string_view, FunctionText> functions_;
    std::map<std::string_view, Variable> shareds_, globals_;
    std::map<std::pair<std::string_view, int>, std::pair<uint64_t, uint32_t>> placed_;
    std::map<uint32_t, std::string> files_;
    std::map<std::pair<std::string, int>, std::unique_ptr<Kernel>> kernels_;
};

/* ---- text ---- */

std::string_view trim(std::string_view text);
std::vector<std::string_view> split_words(std::string_view text);
/* At commas outside brackets; each part trimmed. */
std::vector<std::string_view> split_operands(std::string_view text);
std::vector<std::string_view> split_opcode(std::string_view opcode); /* at dots */
Variable read_variable(std::string_view declaration);
/* Bytes of a value of that type: 4 for "u32", 1 for "pred"; 0: no type. */
uint32_t type_size(std::string_view type);
/* An integer, or the bits of 0fXXXXXXXX or 0dXXXXXXXXXXXXXXXX. */
bool read_number(std::string_view text, uint64_t *value);
std::vector<Statement> read_body(const FunctionText &function);

} // namespace ptx

#endif
