/* SPDX-License-Identifier: BSD-3-Clause
 * module.cpp: see module.h. */
#include "module.h"

#include "kernel.h"
#include "memory.h"
#include "settings.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ptx
{

namespace
{

bool
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0';
}

bool
is_name_part(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%';
}

int
depth_change(char c)
{
    if (c == '{' || c == '[' || c == '(') {
        return 1;
    }
    return c == '}' || c == ']' || c == ')' ? -1 : 0;
}

uint32_t
read_decimal(std::string_view text)
{
    return (uint32_t)strtoul(std::string(text).c_str(), nullptr, 0);
}

bool
starts_with(std::string_view text, std::string_view begin)
{
    return text.substr(0, begin.size()) == begin;
}

} // namespace

std::string_view
trim(std::string_view text)
{
    while (!text.empty() && is_space(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_space(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

std::vector<std::string_view>
split_words(std::string_view text)
{
    std::vector<std::string_view> words;
    for (size_t i = 0; i < text.size();) {
        while (i < text.size() && is_space(text[i])) {
            i++;
        }
        const size_t begin = i;
        while (i < text.size() && !is_space(text[i])) {
            i++;
        }
        if (i > begin) {
            words.push_back(text.substr(begin, i - begin));
        }
    }
    return words;
}

std::vector<std::string_view>
split_operands(std::string_view text)
{
    std::vector<std::string_view> parts;
    int depth = 0;
    size_t begin = 0;
    for (size_t i = 0; i < text.size(); i++) {
        depth += depth_change(text[i]);
        if (text[i] == ',' && depth == 0) {
            parts.push_back(trim(text.substr(begin, i - begin)));
            begin = i + 1;
        }
    }
    if (!trim(text.substr(begin)).empty()) {
        parts.push_back(trim(text.substr(begin)));
    }
    return parts;
}

std::vector<std::string_view>
split_opcode(std::string_view opcode)
{
    std::vector<std::string_view> parts;
    for (size_t begin = 0; begin <= opcode.size();) {
        const size_t end = std::min(opcode.find('.', begin), opcode.size());
        parts.push_back(opcode.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

uint32_t
type_size(std::string_view type)
{
    if (type == "pred") {
        return 1;
    }
    if (type.size() < 2 || strchr("busf", type[0]) == nullptr) {
        return 0;
    }
    const std::string_view bits = type.substr(1);
    return bits == "8" ? 1 : bits == "16" ? 2 : bits == "32" ? 4 : bits == "64" ? 8 : 0;
}

bool
read_number(std::string_view text, uint64_t *value)
{
    const std::string s(text);
    const bool is_float = s.size() == 10 && (starts_with(s, "0f") || starts_with(s, "0F"));
    const bool is_double = s.size() == 18 && (starts_with(s, "0d") || starts_with(s, "0D"));
    char *end;
    if (is_float || is_double) {
        *value = strtoull(s.c_str() + 2, &end, 16);
        return *end == '\0';
    }
    if (s.empty() || !((s[0] >= '0' && s[0] <= '9') || s[0] == '-')) {
        return false;
    }
    *value = s[0] == '-' ? (uint64_t)strtoll(s.c_str(), &end, 0) : strtoull(s.c_str(), &end, 0);
    return *end == '\0' || (*end == 'U' && end[1] == '\0');
}

Variable
read_variable(std::string_view declaration)
{
    Variable variable;
    const size_t equals = declaration.find('=');
    if (equals != std::string_view::npos) {
        variable.initializer = trim(declaration.substr(equals + 1));
        declaration = declaration.substr(0, equals);
    }
    uint32_t count = 1, vector = 1;
    const std::vector<std::string_view> words = split_words(declaration);
    for (size_t i = 0; i < words.size(); i++) {
        std::string_view word = words[i];
        if (word == ".align" && i + 1 < words.size()) {
            variable.align = read_decimal(words[++i]);
        } else if (word[0] == '.') {
            word.remove_prefix(1);
            vector = word == "v2" ? 2 : word == "v4" ? 4 : vector;
            variable.element_size = std::max(variable.element_size, type_size(word));
        } else {
            const size_t bracket = std::min(word.find('['), word.size());
            if (bracket > 0) {
                variable.name = word.substr(0, bracket);
            }
            for (size_t at = bracket; at < word.size(); at = word.find('[', at + 1)) {
                const std::string_view number = word.substr(at + 1, word.find(']', at) - at - 1);
                variable.is_unsized |= number.empty();
                count *= number.empty() ? 0 : read_decimal(number);
            }
        }
    }
    variable.element_size *= vector;
    variable.size = variable.element_size * count;
    variable.align = std::max(variable.align, variable.element_size);
    return variable;
}

/* Goes through text; comments are white space. */
class Scanner
{
  public:
    explicit Scanner(std::string_view text) : text_(text)
    {
    }
    void
    skip_space()
    {
        for (;;) {
            while (at_ < text_.size() && is_space(text_[at_])) {
                at_++;
            }
            if (text_.substr(at_, 2) == "//") {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else if (text_.substr(at_, 2) == "/*") {
                at_ = std::min(text_.find("*/", at_), text_.size() - 2) + 2;
            } else {
                return;
            }
        }
    }
    bool
    at_end()
    {
        skip_space();
        return at_ >= text_.size();
    }
    char
    peek()
    {
        skip_space();
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool
    is_next(std::string_view what)
    {
        skip_space();
        return text_.substr(at_, what.size()) == what;
    }
    /* Letters and what else names, dots as in .func too. */
    std::string_view
    word()
    {
        skip_space();
        const size_t begin = at_;
        while (at_ < text_.size() && (is_name_part(text_[at_]) || text_[at_] == '.')) {
            at_++;
        }
        return text_.substr(begin, at_ - begin);
    }
    /* Up to one of these characters outside brackets; it is left. */
    std::string_view
    until(const char *stops)
    {
        skip_space();
        const size_t begin = at_;
        int depth = 0;
        for (; at_ < text_.size(); at_++) {
            const char c = text_[at_];
            if (depth == 0 && strchr(stops, c) != nullptr) {
                break;
            }
            depth += depth_change(c);
            if (c == '"') {
                at_ = std::min(text_.find('"', at_ + 1), text_.size() - 1);
            }
        }
        return text_.substr(begin, at_ - begin);
    }
    std::string_view
    line()
    {
        const size_t begin = at_;
        at_ = std::min(text_.find('\n', at_), text_.size());
        return text_.substr(begin, at_ - begin);
    }
    void
    skip(size_t count)
    {
        at_ = std::min(at_ + count, text_.size());
    }
    /* What is between the bracket that comes next and its partner. */
    std::string_view
    inside()
    {
        skip_space();
        const size_t begin = ++at_;
        for (int depth = 1; at_ < text_.size(); at_++) {
            depth += depth_change(text_[at_]);
            if (depth == 0) {
                break;
            }
            if (text_.substr(at_, 2) == "//") {
                at_ = std::min(text_.find('\n', at_), text_.size() - 1);
            }
        }
        const std::string_view found = text_.substr(begin, at_ - begin);
        skip(1);
        return found;
    }
    size_t
    position() const
    {
        return at_;
    }
    void
    go_to(size_t position)
    {
        at_ = position;
    }

  private:
    std::string_view text_;
    size_t at_ = 0;
};

/* ---- a module ---- */

namespace
{

std::vector<Variable>
read_parameters(std::string_view list)
{
    std::vector<Variable> parameters;
    for (const std::string_view part : split_operands(list)) {
        if (!starts_with(part, ".param")) {
            throw Refusal("PTX: a parameter that is none: " + std::string(part));
        }
        parameters.push_back(read_variable(part.substr(6)));
    }
    return parameters;
}

uint32_t
read_most_threads(std::string_view head)
{
    for (const char *const directive : {".maxntid", ".reqntid"}) {
        const size_t at = head.find(directive);
        if (at == std::string_view::npos) {
            continue;
        }
        const std::string_view rest = head.substr(at + 8);
        uint32_t product = 1;
        for (const std::string_view part :
             split_operands(rest.substr(0, std::min(rest.find('\n'), rest.size())))) {
            product *= std::max(1u, read_decimal(part));
        }
        return product;
    }
    return 0;
}

} // namespace

void
Module::read_function(Scanner *scanner, bool is_entry)
{
    FunctionText function;
    function.is_entry = is_entry;
    if (scanner->peek() == '(') {
        function.results = read_parameters(scanner->inside());
    }
    function.name = scanner->word();
    if (scanner->peek() == '(') {
        function.parameters = read_parameters(scanner->inside());
    }
    function.most_threads = read_most_threads(scanner->until("{;"));
    if (scanner->peek() == ';') { /* a declaration; the definition says all again */
        scanner->skip(1);
        return;
    }
    function.body = scanner->inside();
    functions_[function.name] = function;
}

Module::Module(std::string text) : text_(std::move(text))
{
    replace_text();
    Scanner scanner(text_);
    while (!scanner.at_end()) {
        const size_t begin = scanner.position();
        const std::string_view word = scanner.word();
        if (word == ".version" || word == ".target" || word == ".address_size") {
            scanner.line();
        } else if (word == ".file") {
            const std::vector<std::string_view> words = split_words(scanner.line());
            if (words.size() >= 2) {
                files_[read_decimal(words[0])] =
                    std::string(words[1].substr(1, words[1].size() - 2 - (words[1].back() == ',')));
            }
        } else if (word == ".section") {
            scanner.until("{");
            scanner.inside();
        } else if (word == ".visible" || word == ".weak" || word == ".extern" ||
                   word == ".common") {
            continue;
        } else if (word == ".entry" || word == ".func") {
            read_function(&scanner, word == ".entry");
        } else if (word == ".shared" || word == ".global" || word == ".const") {
            const Variable variable = read_variable(scanner.until(";"));
            scanner.skip(1);
            (word == ".shared" ? shareds_ : globals_)[variable.name] = variable;
        } else {
            scanner.go_to(begin);
            throw Refusal("PTX: no such directive: " + std::string(scanner.line().substr(0, 80)));
        }
    }
}

Module::~Module() = default;

const FunctionText *
Module::find_function(std::string_view name) const
{
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : &found->second;
}

const Variable *
Module::find_shared(std::string_view name) const
{
    const auto found = shareds_.find(name);
    return found == shareds_.end() ? nullptr : &found->second;
}

std::string
Module::file_name(uint32_t number) const
{
    const auto found = files_.find(number);
    return found == files_.end() ? "?" : found->second;
}

std::pair<uint64_t, uint32_t>
Module::place_global(std::string_view name, int device)
{
    const auto key = std::make_pair(name, device);
    const auto placed = placed_.find(key);
    if (placed != placed_.end()) {
        return placed->second;
    }
    const Variable &variable = globals_.at(name);
    uint8_t *const memory = take_memory(std::max(variable.size, 1u), Region::module, device);
    if (memory == nullptr) {
        throw Refusal("no memory for the variable " + std::string(name));
    }
    memset(memory, 0, variable.size);
    std::string_view list = variable.initializer;
    if (!list.empty() && list[0] == '{') {
        list = list.substr(1, list.rfind('}') - 1);
    }
    uint32_t at = 0;
    for (const std::string_view part : split_operands(list)) {
        uint64_t value;
        if (!read_number(part, &value) || at + variable.element_size > variable.size) {
            throw Refusal("PTX: an initializer of " + std::string(name) + ": " + std::string(part));
        }
        memcpy(memory + at, &value, variable.element_size);
        at += variable.element_size;
    }
    return placed_[key] = {(uint64_t)memory, variable.size};
}

const Kernel &
Module::kernel(std::string_view name, int device)
{
    std::unique_ptr<Kernel> &kernel = kernels_[{std::string(name), device}];
    if (kernel == nullptr) {
        kernel = translate(this, std::string(name), device);
    }
    return *kernel;
}

/* H5TWIN_PTX_REPLACE: a fault on purpose, in the first function whose name contains KERNEL. */
void
Module::replace_text()
{
    const std::string &row = settings().replace;
    const size_t a = row.find('|'), b = row.find('|', a + 1), c = row.find('|', b + 1);
    if (row.empty() || a == row.npos || b == row.npos || c == row.npos) {
        return;
    }
    const std::string kernel = row.substr(0, a), from = row.substr(a + 1, b - a - 1),
                      to = row.substr(b + 1, c - b - 1);
    long skipped = strtol(row.c_str() + c + 1, nullptr, 10);
    size_t begin = 0;
    for (const char *const kind : {".entry ", ".func "}) { /* defined, not only declared */
        for (begin = text_.find(kind); begin != text_.npos; begin = text_.find(kind, begin + 1)) {
            const size_t body = text_.find_first_of("{;", begin);
            const size_t name = text_.find(kernel, begin);
            if (body != text_.npos && text_[body] == '{' && name < body) {
                break;
            }
        }
        if (begin != text_.npos) {
            break;
        }
    }
    if (begin == text_.npos) {
        return;
    }
    size_t at = text_.find('{', begin);
    const size_t end = std::min(text_.find("\n}\n", begin), text_.size());
    do {
        at = text_.find(from, at + 1);
    } while (at < end && skipped-- > 0);
    if (at < end) {
        text_.replace(at, from.size(), to);
        fprintf(stderr, "ptxsim: replaced \"%s\" in %s\n", from.c_str(), kernel.c_str());
    }
}

/* ---- a body ---- */

namespace
{

struct Reader {
    Scanner scanner;
    std::vector<Statement> statements;
    uint32_t file = 0, line = 0;

    explicit Reader(std::string_view body) : scanner(body)
    {
    }

    void
    add(Statement::Kind kind, std::string_view text)
    {
        Statement statement;
        statement.kind = kind;
        statement.text = text;
        statement.file = file;
        statement.line = line;
        statements.push_back(std::move(statement));
    }

    void
    read_location()
    {
        const std::vector<std::string_view> words = split_words(scanner.line());
        if (words.size() >= 3) {
            file = read_decimal(words[1]);
            line = read_decimal(words[2]);
        }
    }

    void
    read_instruction()
    {
        add(Statement::instruction, trim(scanner.until(";")));
        scanner.skip(1);
        Statement &statement = statements.back();
        std::string_view rest = statement.text;
        if (rest[0] == '@') {
            const size_t end = rest.find_first_of(" \t\n");
            statement.guard_negated = rest[1] == '!';
            const size_t name = statement.guard_negated ? 2 : 1;
            statement.guard = rest.substr(name, end - name);
            rest = trim(rest.substr(end));
        }
        const size_t end = std::min(rest.find_first_of(" \t\n"), rest.size());
        statement.opcode = rest.substr(0, end);
        statement.operands = split_operands(rest.substr(end));
    }

    void
    read()
    {
        while (!scanner.at_end()) {
            const char c = scanner.peek();
            if (c == '{' || c == '}') {
                add(c == '{' ? Statement::open : Statement::close, "");
                scanner.skip(1);
            } else if (scanner.is_next(".loc ") || scanner.is_next(".loc\t")) {
                read_location();
            } else if (c == '.') {
                add(Statement::directive, scanner.until(";"));
                scanner.skip(1);
            } else {
                const size_t begin = scanner.position();
                const std::string_view name = scanner.word();
                if (scanner.peek() == ':' && !name.empty()) {
                    add(Statement::label, name);
                    scanner.skip(1);
                } else {
                    scanner.go_to(begin);
                    read_instruction();
                }
            }
        }
    }
};

} // namespace

std::vector<Statement>
read_body(const FunctionText &function)
{
    Reader reader(function.body);
    reader.read();
    return std::move(reader.statements);
}

} // namespace ptx
