/* SPDX-License-Identifier: BSD-3-Clause
 * translate.cpp: from a kernel's text, and that of all functions that it calls, to instructions.
 *
 * There is no recursion, so each function has registers and local memory at fixed places: those of
 * callees first, as many as the deepest of them needs, then its own. Shared memory is what the
 * reached functions name, with gaps between the variables in which nobody may read or write. */
#include "kernel.h"
#include "memory.h"
#include "slots.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <unordered_map>

namespace ptx
{

namespace
{

constexpr uint32_t SHARED_GAP = 128;

uint32_t
take_bytes(uint32_t *top, uint32_t size, uint32_t align)
{
    *top = (*top + align - 1) / align * align;
    const uint32_t offset = *top;
    *top += size;
    return offset;
}

const char *const special_names[SPECIAL_COUNT] = {
    "%tid.x",   "%tid.y",       "%tid.z",       "%ntid.x",      "%ntid.y",      "%ntid.z",
    "%ctaid.x", "%ctaid.y",     "%ctaid.z",     "%nctaid.x",    "%nctaid.y",    "%nctaid.z",
    "%laneid",  "%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge"};

/* A function that has been translated. */
struct Function {
    uint32_t begin = 0;
    std::vector<Copy> parameters; /* `to` and `size` in local memory */
    Copy result = {0, 0, 0};      /* `from` and `size` */
    uint32_t register_top = 0, local_top = 0;
};

struct Register {
    uint32_t number;
    uint8_t size;
};

class Translator
{
  public:
    Translator(Module *module, Kernel *kernel, int device)
        : module_(module), kernel_(kernel), device_(device)
    {
    }
    void translate_function(const FunctionText &text);

  private:
    /* of the kernel */
    Module *const module_;
    Kernel *const kernel_;
    const int device_;
    std::unordered_map<std::string, Function> functions_;
    std::vector<std::string> being_translated_;
    std::unordered_map<std::string, uint32_t> shared_offsets_;
    std::map<std::pair<uint64_t, uint32_t>, uint32_t> constants_;
    std::deque<std::string> names_; /* of registers declared by number; scopes refer to them */

    /* of the function */
    struct State {
        const FunctionText *text = nullptr;
        std::vector<std::unordered_map<std::string_view, Register>> scopes;
        std::vector<uint8_t> sizes; /* of registers */
        std::unordered_map<std::string_view, std::pair<uint32_t, uint32_t>> locals;
        std::unordered_map<std::string_view, uint32_t> kernel_parameters;
        std::unordered_map<std::string_view, uint32_t> labels;
        std::vector<std::pair<uint32_t, std::string_view>> jumps;
        std::vector<bool> starts;
        uint32_t begin = 0, local_top = 0;
    } f_;
    const Statement *statement_ = nullptr;

    [[noreturn]] void refuse(const std::string &why) const;
    void declare(const Statement &statement);
    void declare_registers(std::string_view list);
    void place_parameters(Function *function);
    void translate_instruction(const Statement &statement);
    Instruction &emit(Instruction instruction);

    const Register *find_register(std::string_view name) const;
    bool find_symbol(std::string_view name, uint64_t *value);
    uint32_t place_shared(const Variable &variable);
    uint32_t constant(uint64_t value, uint32_t size);
    void read_operand(std::string_view text, uint32_t size, uint32_t *place, uint8_t *found_size);
    void operand(Instruction *i, unsigned k, std::string_view text, uint32_t size);
    void predicate_operand(Instruction *i, unsigned k, std::string_view text, bool *negated);
    void vector_operand(Instruction *i, std::string_view text, uint32_t size);
    void address(Instruction *i, std::string_view text);
    void need_operands(size_t count) const;

    bool flow_instruction(Instruction i, const std::vector<std::string_view> &parts);
    bool warp_instruction(Instruction i, const std::vector<std::string_view> &parts);
    bool memory_instruction(Instruction i, const std::vector<std::string_view> &parts);
    void load_or_store(Instruction i, std::vector<std::string_view> parts, bool loads);
    void atomic(Instruction i, std::vector<std::string_view> parts, bool returns);
    void call(Instruction i);
    void convert_address(Instruction i, std::vector<std::string_view> parts);
    bool packing(Instruction i);
    void plain(Instruction i);
};

void
Translator::refuse(const std::string &why) const
{
    std::string text = "ptxsim: " + why;
    if (statement_ != nullptr) {
        text += ": " + std::string(statement_->text);
    }
    throw Refusal(text + ", in " + std::string(f_.text->name));
}

void
Translator::need_operands(size_t count) const
{
    if (statement_->operands.size() != count) {
        refuse("another number of operands than is known");
    }
}

/* ---- operands ---- */

const Register *
Translator::find_register(std::string_view name) const
{
    for (auto scope = f_.scopes.rbegin(); scope != f_.scopes.rend(); ++scope) {
        const auto found = scope->find(name);
        if (found != scope->end()) {
            return &found->second;
        }
    }
    return nullptr;
}

uint32_t
Translator::place_shared(const Variable &variable)
{
    if (variable.is_unsized) {
        kernel_->has_dynamic_shared = true;
        return DYNAMIC_SHARED;
    }
    const auto known = shared_offsets_.find(std::string(variable.name));
    if (known != shared_offsets_.end()) {
        return known->second;
    }
    take_bytes(&kernel_->shared_bytes, variable.size, variable.align);
    const uint32_t offset = take_bytes(&kernel_->shared_span, variable.size, SHARED_GAP);
    kernel_->shared_span += SHARED_GAP;
    kernel_->shared_ranges.push_back({offset, offset + variable.size, std::string(variable.name)});
    shared_offsets_[std::string(variable.name)] = offset;
    return offset;
}

bool
Translator::find_symbol(std::string_view name, uint64_t *value)
{
    const auto parameter = f_.kernel_parameters.find(name);
    if (parameter != f_.kernel_parameters.end()) {
        *value = PARAM_WINDOW + parameter->second;
        return true;
    }
    const auto local = f_.locals.find(name);
    if (local != f_.locals.end()) {
        *value = LOCAL_WINDOW + local->second.first;
        return true;
    }
    const auto shared = shared_offsets_.find(std::string(name));
    if (shared != shared_offsets_.end()) {
        *value = shared->second;
        return true;
    }
    if (const Variable *const variable = module_->find_shared(name)) {
        *value = place_shared(*variable);
        return true;
    }
    if (module_->has_global(name)) {
        *value = module_->place_global(name, device_).first;
        return true;
    }
    return false;
}

uint32_t
Translator::constant(uint64_t value, uint32_t size)
{
    if (size == 1) { /* a predicate: a mask of all lanes */
        value = value != 0 ? ALL_LANES : 0;
        size = 4;
    }
    if (size < 8) {
        value &= (1ull << 8 * size) - 1;
    }
    const auto key = std::make_pair(value, size);
    const auto known = constants_.find(key);
    if (known != constants_.end()) {
        return known->second | IN_CONSTANTS;
    }
    const uint32_t offset = (uint32_t)kernel_->constants.size();
    kernel_->constants.resize(offset + 8 * WARP_LANES);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        memcpy(&kernel_->constants[offset + (uint32_t)lane * size], &value, size);
    }
    constants_[key] = offset;
    return offset | IN_CONSTANTS;
}

/* A register, number, or address of a variable. Size 0: whatever the register has. */
void
Translator::read_operand(std::string_view text, uint32_t size, uint32_t *place, uint8_t *found_size)
{
    if (text == "_") {
        *place = NO_PLACE;
        *found_size = (uint8_t)size;
        return;
    }
    if (const Register *const r = find_register(text)) {
        *place = NUMBERED + r->number;
        *found_size = r->size;
    } else if (text[0] == '%') {
        const auto special = std::find(std::begin(special_names), std::end(special_names), text);
        if (special == std::end(special_names)) {
            refuse("no such register as " + std::string(text));
        }
        *place = (uint32_t)(special - special_names) * WARP_LANES * 4;
        *found_size = 4;
    } else {
        uint64_t value, offset = 0;
        const size_t plus = std::min(text.find('+'), text.size());
        if (!read_number(text, &value)) {
            if ((plus < text.size() && !read_number(trim(text.substr(plus + 1)), &offset)) ||
                !find_symbol(trim(text.substr(0, plus)), &value)) {
                refuse("no such operand as " + std::string(text));
            }
            value += offset;
        }
        if (size == 0) {
            refuse("a constant of unknown size");
        }
        *place = constant(value, size);
        *found_size = (uint8_t)size;
    }
    if (size != 0 && *found_size != size) {
        refuse("an operand of another size than the type, " + std::string(text));
    }
}

void
Translator::operand(Instruction *i, unsigned k, std::string_view text, uint32_t size)
{
    read_operand(text, size, &i->place[k], &i->size[k]);
}

void
Translator::predicate_operand(Instruction *i, unsigned k, std::string_view text, bool *negated)
{
    *negated = text[0] == '!';
    operand(i, k, trim(*negated ? text.substr(1) : text), 1);
}

/* {a, b} or a alone. */
void
Translator::vector_operand(Instruction *i, std::string_view text, uint32_t size)
{
    std::vector<std::string_view> parts = {text};
    if (text[0] == '{') {
        parts = split_operands(text.substr(1, text.size() - 2));
    }
    if (parts.size() != i->vector_count) {
        refuse("another number of values than the vector has");
    }
    for (size_t k = 0; k < parts.size(); k++) {
        read_operand(parts[k], find_register(parts[k]) != nullptr ? 0 : size, &i->vector[k],
                     &i->vector_size[k]);
        if (i->vector_size[k] < size && i->vector[k] != NO_PLACE) {
            refuse("a register that is too small for the type");
        }
    }
}

/* [register + number], [variable + number]. */
void
Translator::address(Instruction *i, std::string_view text)
{
    if (text.size() < 2 || text[0] != '[') {
        refuse("no address");
    }
    text = trim(text.substr(1, text.size() - 2));
    const size_t plus = std::min(text.find('+'), text.size());
    const std::string_view base = trim(text.substr(0, plus));
    uint64_t value = 0;
    if (plus < text.size() && !read_number(trim(text.substr(plus + 1)), &i->immediate)) {
        refuse("an offset that is no number");
    }
    if (const Register *const r = find_register(base)) {
        i->place[0] = NUMBERED + r->number;
        i->size[0] = r->size;
    } else if (find_symbol(base, &value) || read_number(base, &value)) {
        i->immediate += value;
    } else {
        refuse("no such address as " + std::string(base));
    }
}

/* ---- declarations ---- */

void
Translator::declare_registers(std::string_view list)
{
    const std::string_view type = split_words(list)[0].substr(1);
    const uint32_t size = type_size(type);
    if (size == 0 || (size == 1 && type != "pred")) {
        refuse("registers of an unknown type");
    }
    const std::string_view names = list.substr(list.find(type) + type.size());
    for (const std::string_view part : split_operands(names)) {
        const size_t bracket = part.find('<');
        if (bracket == std::string_view::npos) {
            f_.scopes.back()[part] = {(uint32_t)f_.sizes.size(), (uint8_t)size};
            f_.sizes.push_back((uint8_t)size);
            continue;
        }
        const unsigned long count =
            strtoul(std::string(part.substr(bracket + 1)).c_str(), nullptr, 10);
        for (unsigned long k = 0; k < count; k++) {
            names_.push_back(std::string(part.substr(0, bracket)) + std::to_string(k));
            f_.scopes.back()[names_.back()] = {(uint32_t)f_.sizes.size(), (uint8_t)size};
            f_.sizes.push_back((uint8_t)size);
        }
    }
}

void
Translator::declare(const Statement &statement)
{
    const std::string_view kind = split_words(statement.text)[0];
    const std::string_view rest = statement.text.substr(kind.size());
    if (kind == ".reg") {
        declare_registers(rest);
    } else if (kind == ".local" || kind == ".param") {
        const Variable variable = read_variable(rest);
        f_.locals[variable.name] = {
            take_bytes(&f_.local_top, variable.size, std::max(variable.align, 8u)), variable.size};
    } else if (kind == ".shared") {
        place_shared(read_variable(rest));
    } else if (kind != ".pragma") {
        statement_ = &statement;
        refuse("no such directive");
    }
}

void
Translator::place_parameters(Function *function)
{
    const FunctionText &text = *f_.text;
    for (const Variable &variable : text.parameters) {
        if (text.is_entry) {
            const uint32_t offset =
                take_bytes(&kernel_->parameter_bytes, variable.size, variable.align);
            kernel_->parameters.push_back({offset, variable.size});
            f_.kernel_parameters[variable.name] = offset;
        } else {
            const uint32_t offset =
                take_bytes(&f_.local_top, variable.size, std::max(variable.align, 8u));
            function->parameters.push_back({0, offset, variable.size});
            f_.locals[variable.name] = {offset, variable.size};
        }
    }
    for (const Variable &variable : text.results) {
        const uint32_t offset =
            take_bytes(&f_.local_top, variable.size, std::max(variable.align, 8u));
        function->result = {offset, 0, variable.size};
        f_.locals[variable.name] = {offset, variable.size};
    }
}

/* ---- instructions ---- */

Instruction &
Translator::emit(Instruction instruction)
{
    kernel_->code.push_back(instruction);
    f_.starts.push_back(false);
    return kernel_->code.back();
}

bool
Translator::flow_instruction(Instruction i, const std::vector<std::string_view> &parts)
{
    const std::string_view opcode = statement_->opcode;
    i.defines = 0;
    if (opcode == "bra" || opcode == "bra.uni") {
        need_operands(1);
        i.flow = Flow::branch;
        f_.jumps.push_back({(uint32_t)kernel_->code.size(), statement_->operands[0]});
    } else if (opcode == "ret" || opcode == "ret.uni") {
        i.flow = f_.text->is_entry ? Flow::exit : Flow::ret;
    } else if (opcode == "exit") {
        i.flow = Flow::exit;
    } else if (opcode == "nanosleep.u32") {
        i.flow = Flow::yield;
    } else if (opcode == "bar.sync" || opcode == "barrier.sync") {
        if (statement_->operands.size() != 1 || statement_->operands[0] != "0") {
            refuse("only barrier 0 of all threads is known");
        }
        i.flow = Flow::barrier;
    } else if (opcode == "bar.red.and.pred" || opcode == "bar.red.or.pred") {
        need_operands(3);
        if (statement_->operands[1] != "0") {
            refuse("only barrier 0 of all threads is known");
        }
        i.flow = Flow::barrier;
        i.defines = 1;
        i.immediate = parts[2] == "or";
        operand(&i, 0, statement_->operands[0], 1);
        predicate_operand(&i, 1, statement_->operands[2], &i.negated[0]);
    } else if (opcode == "call" || opcode == "call.uni") {
        call(i);
        return true;
    } else {
        return false;
    }
    emit(i);
    return true;
}

/* call (result), name, (arguments). */
void
Translator::call(Instruction i)
{
    if (i.guard != NO_PLACE) {
        refuse("a call with a guard");
    }
    std::vector<std::string_view> results, arguments;
    std::string name;
    for (const std::string_view part : statement_->operands) {
        if (part[0] != '(') {
            name = std::string(part);
        } else {
            (name.empty() ? results : arguments) = split_operands(part.substr(1, part.size() - 2));
        }
    }
    const auto found = functions_.find(name);
    if (found == functions_.end() || arguments.size() != found->second.parameters.size() ||
        results.size() > 1) {
        refuse("no such function, or one with other parameters");
    }
    const Function &callee = found->second;
    i.flow = Flow::call;
    i.target = callee.begin;
    i.immediate = kernel_->copies.size();
    kernel_->copies.push_back(callee.parameters);
    for (size_t k = 0; k < arguments.size(); k++) {
        kernel_->copies.back()[k].from = f_.locals.at(arguments[k]).first;
    }
    Instruction after = i;
    emit(i);
    after.flow = Flow::results;
    after.immediate = kernel_->copies.size();
    kernel_->copies.push_back({});
    if (!results.empty()) {
        kernel_->copies.back() = {callee.result};
        kernel_->copies.back()[0].to = f_.locals.at(results[0]).first;
    }
    emit(after);
}

bool
Translator::warp_instruction(Instruction i, const std::vector<std::string_view> &parts)
{
    const std::string_view opcode = statement_->opcode;
    const std::vector<std::string_view> &operands = statement_->operands;
    i.flow = Flow::meet;
    if (opcode == "bar.warp.sync") {
        need_operands(1);
        i.defines = 0;
        i.execute = warp_barrier_operation();
        operand(&i, 4, operands[0], 4);
    } else if (parts[0] == "shfl" && parts.size() == 4 && parts[1] == "sync" && parts[3] == "b32") {
        need_operands(5);
        i.execute = shuffle_operation(parts[2]);
        const size_t bar = operands[0].find('|');
        i.defines = 1 | 1 << 5;
        operand(&i, 0, trim(operands[0].substr(0, bar)), 4);
        if (bar != std::string_view::npos) {
            operand(&i, 5, trim(operands[0].substr(bar + 1)), 1);
        }
        for (unsigned k = 1; k < 5; k++) {
            operand(&i, k, operands[k], 4);
        }
    } else if (opcode == "vote.sync.ballot.b32" || opcode == "vote.ballot.sync.b32" ||
               opcode == "vote.sync.any.pred" || opcode == "vote.sync.all.pred" ||
               opcode == "vote.sync.uni.pred") {
        need_operands(3);
        const bool is_ballot = parts.back() == "b32";
        i.execute = vote_operation(is_ballot ? "ballot" : parts[2]);
        operand(&i, 0, operands[0], is_ballot ? 4 : 1);
        predicate_operand(&i, 1, operands[1], &i.negated[0]);
        operand(&i, 4, operands[2], 4);
    } else if (parts[0] == "redux" && parts.size() == 4 && parts[1] == "sync") {
        need_operands(3);
        i.execute = reduce_operation(parts[2], parts[3]);
        operand(&i, 0, operands[0], 4);
        operand(&i, 1, operands[1], 4);
        operand(&i, 4, operands[2], 4);
    } else if (opcode == "match.any.sync.b32" || opcode == "match.any.sync.b64") {
        need_operands(3);
        const uint32_t size = type_size(parts[3]);
        i.execute = match_operation(size);
        operand(&i, 0, operands[0], 4);
        operand(&i, 1, operands[1], size);
        operand(&i, 4, operands[2], 4);
    } else {
        return false;
    }
    if (i.execute == nullptr) {
        refuse("no such instruction");
    }
    emit(i);
    return true;
}

/* Take a part that is one of these off the front. */
bool
take_part(std::vector<std::string_view> *parts, std::initializer_list<const char *> names,
          std::string_view *taken = nullptr)
{
    for (const char *const name : names) {
        if (!parts->empty() && parts->front() == name) {
            if (taken != nullptr) {
                *taken = parts->front();
            }
            parts->erase(parts->begin());
            return true;
        }
    }
    return false;
}

Space
take_space(std::vector<std::string_view> *parts)
{
    if (take_part(parts, {"global", "const"})) {
        return Space::global;
    }
    if (take_part(parts, {"shared", "shared::cta"})) {
        return Space::shared;
    }
    if (take_part(parts, {"local"})) {
        return Space::local;
    }
    return take_part(parts, {"param"}) ? Space::param : Space::generic;
}

/* ld{.volatile|.relaxed.SCOPE|.acquire.SCOPE}{.SPACE}{.nc}{.vN}.TYPE */
void
Translator::load_or_store(Instruction i, std::vector<std::string_view> parts, bool loads)
{
    need_operands(2);
    parts.erase(parts.begin());
    std::string_view vector = "v1";
    i.is_strong = take_part(&parts, {"volatile"});
    if (!i.is_strong && take_part(&parts, {"relaxed"})) {
        i.is_strong = true;
        if (!take_part(&parts, {"cta", "gpu", "sys"})) {
            refuse("an access without its scope");
        }
    }
    i.space = take_space(&parts);
    if (loads && i.space == Space::global) {
        take_part(&parts, {"nc"});
    }
    take_part(&parts, {"v2", "v4"}, &vector);
    i.vector_count = (uint8_t)(vector[1] - '0');
    i.value_size = parts.size() == 1 ? (uint8_t)type_size(parts[0]) : 0;
    if (i.value_size == 0 || parts[0] == "pred") {
        refuse("no such instruction");
    }
    i.is_signed = parts[0][0] == 's';
    i.execute = loads ? load_operation() : store_operation();
    i.defines = loads ? 0xF00 : 0;
    address(&i, statement_->operands[loads ? 1 : 0]);
    vector_operand(&i, statement_->operands[loads ? 0 : 1], i.value_size);
    if (i.space == Space::param) { /* a kernel's, or those of calls, which lie in local memory */
        i.space =
            i.place[0] != NO_PLACE || i.immediate >= PARAM_WINDOW ? Space::generic : Space::local;
    }
    emit(i);
}

/* atom{.SPACE}.OPERATION.TYPE d, [a], b{, c}; red has no d. */
void
Translator::atomic(Instruction i, std::vector<std::string_view> parts, bool returns)
{
    parts.erase(parts.begin());
    if (take_part(&parts, {"relaxed"})) {
        take_part(&parts, {"cta", "gpu", "sys"});
    }
    i.space = take_space(&parts);
    if (parts.size() != 2) {
        refuse("no such instruction");
    }
    const bool is_cas = parts[0] == "cas";
    need_operands((returns ? 1u : 0u) + (is_cas ? 3u : 2u));
    i.execute = atomic_operation(parts[0], parts[1]);
    if (i.execute == nullptr) {
        refuse("no such instruction");
    }
    const uint32_t size = type_size(parts[1]);
    i.value_size = (uint8_t)size;
    i.is_strong = true;
    i.defines = 0x100;
    size_t next = 0;
    if (returns) {
        read_operand(statement_->operands[next++], size, &i.vector[0], &i.vector_size[0]);
    }
    address(&i, statement_->operands[next++]);
    read_operand(statement_->operands[next++], size, &i.vector[1], &i.vector_size[1]);
    if (is_cas) {
        read_operand(statement_->operands[next], size, &i.vector[2], &i.vector_size[2]);
    }
    emit(i);
}

/* cvta{.to}.SPACE.u64 */
void
Translator::convert_address(Instruction i, std::vector<std::string_view> parts)
{
    need_operands(2);
    parts.erase(parts.begin());
    const bool to = take_part(&parts, {"to"});
    const Space space = take_space(&parts);
    if (parts.size() != 1 || parts[0] != "u64" || space == Space::generic ||
        space == Space::param) {
        refuse("no such instruction");
    }
    i.execute = to ? from_generic_operation(space) : to_generic_operation(space);
    operand(&i, 0, statement_->operands[0], 8);
    operand(&i, 1, statement_->operands[1], 8);
    emit(i);
}

bool
Translator::memory_instruction(Instruction i, const std::vector<std::string_view> &parts)
{
    const std::string_view opcode = statement_->opcode;
    if (parts[0] == "ld" || parts[0] == "st") {
        load_or_store(i, parts, parts[0] == "ld");
    } else if (parts[0] == "atom" || parts[0] == "red") {
        atomic(i, parts, parts[0] == "atom");
    } else if (parts[0] == "cvta") {
        convert_address(i, parts);
    } else if (opcode == "membar.cta" || opcode == "membar.gl" || opcode == "membar.sys" ||
               opcode == "fence.acq_rel.cta" || opcode == "fence.acq_rel.gpu" ||
               opcode == "fence.sc.gpu") {
        need_operands(0);
        i.defines = 0;
        i.execute = fence_operation(parts.back() != "cta");
        emit(i);
    } else {
        return false;
    }
    return true;
}

/* mov.b64 d, {a, b} and mov.b64 {a, b}, d; false: another mov. */
bool
Translator::packing(Instruction i)
{
    const std::vector<std::string_view> &operands = statement_->operands;
    if (operands.size() != 2 || (operands[0][0] != '{' && operands[1][0] != '{')) {
        return false;
    }
    const bool packs = operands[1][0] == '{';
    const uint32_t size = type_size(split_opcode(statement_->opcode).back());
    const std::string_view list = operands[packs ? 1 : 0];
    i.vector_count = (uint8_t)split_operands(list.substr(1, list.size() - 2)).size();
    if (size == 0 || size / i.vector_count < 2) {
        refuse("no such instruction");
    }
    vector_operand(&i, list, size / i.vector_count);
    for (unsigned k = 0; k < i.vector_count; k++) {
        if (i.vector_size[k] != size / i.vector_count) {
            refuse("an operand of another size than the type");
        }
    }
    operand(&i, packs ? 0 : 1, operands[packs ? 0 : 1], size);
    i.defines = packs ? 1 : 0xF00;
    i.execute = packs ? pack_operation() : unpack_operation();
    emit(i);
    return true;
}

void
Translator::plain(Instruction i)
{
    const Opcode *const opcode = find_opcode(statement_->opcode);
    if (opcode == nullptr) {
        refuse("no such instruction");
    }
    need_operands(opcode->sizes.size());
    i.execute = opcode->execute;
    unsigned predicates = 0;
    for (unsigned k = 0; k < opcode->sizes.size(); k++) {
        if (k > 0 && opcode->sizes[k] == 1) {
            predicate_operand(&i, k, statement_->operands[k], &i.negated[predicates++]);
        } else {
            operand(&i, k, statement_->operands[k], opcode->sizes[k]);
        }
    }
    emit(i);
}

void
Translator::translate_instruction(const Statement &statement)
{
    statement_ = &statement;
    Instruction i;
    i.source = (uint32_t)kernel_->sources.size();
    kernel_->sources.push_back({std::string(statement.text), statement.file, statement.line,
                                (uint32_t)kernel_->function_names.size() - 1});
    if (!statement.guard.empty()) {
        const Register *const guard = find_register(statement.guard);
        if (guard == nullptr || guard->size != 1) {
            refuse("a guard that is no predicate");
        }
        i.guard = NUMBERED + guard->number;
        i.guard_negated = statement.guard_negated;
    }
    const std::vector<std::string_view> parts = split_opcode(statement.opcode);
    if (!flow_instruction(i, parts) && !warp_instruction(i, parts) &&
        !memory_instruction(i, parts) && !packing(i)) {
        plain(i);
    }
}

/* ---- functions ---- */

void
Translator::translate_function(const FunctionText &text)
{
    const std::string name(text.name);
    if (functions_.count(name) != 0) {
        return;
    }
    if (std::count(being_translated_.begin(), being_translated_.end(), name) != 0) {
        throw Refusal("ptxsim: recursion is not known, in " + name);
    }
    being_translated_.push_back(name);
    const std::vector<Statement> statements = read_body(text);
    Function function;
    function.register_top = SPECIAL_BYTES;
    for (const Statement &statement : statements) {
        if (statement.kind != Statement::instruction || statement.opcode.substr(0, 4) != "call") {
            continue;
        }
        for (const std::string_view operand : statement.operands) {
            const FunctionText *const callee = module_->find_function(operand);
            if (operand[0] == '(' || callee == nullptr) {
                continue;
            }
            translate_function(*callee);
            const Function &done = functions_.at(std::string(operand));
            function.register_top = std::max(function.register_top, done.register_top);
            function.local_top = std::max(function.local_top, done.local_top);
        }
    }
    f_ = State();
    f_.text = &text;
    f_.local_top = function.local_top;
    f_.scopes.emplace_back();
    f_.begin = function.begin = (uint32_t)kernel_->code.size();
    kernel_->function_names.push_back(name);
    place_parameters(&function);
    for (const Statement &statement : statements) {
        switch (statement.kind) {
        case Statement::open:
            f_.scopes.emplace_back();
            break;
        case Statement::close:
            f_.scopes.pop_back();
            break;
        case Statement::directive:
            declare(statement);
            break;
        case Statement::label:
            f_.labels[statement.text] = (uint32_t)kernel_->code.size();
            break;
        default:
            translate_instruction(statement);
        }
    }
    statement_ = nullptr;
    Instruction end;
    end.flow = text.is_entry ? Flow::exit : Flow::ret;
    end.defines = 0;
    end.source = (uint32_t)kernel_->sources.size();
    kernel_->sources.push_back({"(end)", 0, 0, (uint32_t)kernel_->function_names.size() - 1});
    emit(end);
    for (const auto &label : f_.labels) {
        f_.starts[label.second - f_.begin] = true;
    }
    for (const auto &jump : f_.jumps) {
        const auto label = f_.labels.find(jump.second);
        if (label == f_.labels.end()) {
            refuse("no such label as " + std::string(jump.second));
        }
        kernel_->code[jump.first].target = label->second;
    }
    function.register_top = assign_slots(&kernel_->code[f_.begin], kernel_->code.size() - f_.begin,
                                         f_.sizes, f_.starts, function.register_top);
    function.local_top = (f_.local_top + 15) / 16 * 16;
    functions_[name] = function;
    being_translated_.pop_back();
    kernel_->begin = function.begin; /* the entry comes last */
    kernel_->register_bytes = function.register_top;
    kernel_->local_bytes = function.local_top;
}

} // namespace

std::unique_ptr<Kernel>
translate(Module *module, const std::string &name, int device)
{
    const FunctionText *const text = module->find_function(name);
    if (text == nullptr || !text->is_entry) {
        throw Refusal("ptxsim: no kernel " + name);
    }
    std::unique_ptr<Kernel> kernel(new Kernel);
    kernel->name = name;
    kernel->module = module;
    kernel->most_threads = text->most_threads;
    Translator(module, kernel.get(), device).translate_function(*text);
    kernel->constants.resize(kernel->constants.size() + 64);
    const uint64_t begin = (uint64_t)kernel->constants.data();
    /* The vector's memory may begin anywhere: move the values to a multiple of 64. */
    const uint64_t aligned = (begin + 63) / 64 * 64;
    memmove((void *)aligned, kernel->constants.data(), kernel->constants.size() - 64);
    kernel->constant_base = (const uint8_t *)aligned;
    return kernel;
}

} // namespace ptx
