/* SPDX-License-Identifier: BSD-3-Clause
 * counts.cpp: see counts.h. */
#include "counts.h"

#include "kernel.h"
#include "settings.h"

#include <cstdio>
#include <map>
#include <mutex>
#include <tuple>

namespace ptx
{

namespace
{

struct Tables {
    std::mutex lock;
    std::map<std::string, Counts> kernels;
    /* Kernel, function, file and line: instructions run, and how many there are. */
    std::map<std::tuple<std::string, std::string, std::string, uint32_t>,
             std::pair<uint64_t, uint64_t>>
        lines;
};

Tables &
tables()
{
    static Tables *const forever = new Tables; /* used at exit */
    return *forever;
}

} // namespace

void
Counts::add(const Counts &other)
{
#define FIELD(name) name += other.name;
    H5TWIN_PTX_COUNTS(FIELD)
#undef FIELD
}

bool
counting()
{
    static const bool is = !settings().counts_file.empty();
    return is;
}

bool
counting_lines()
{
    static const bool is = !settings().lines_file.empty();
    return is;
}

void
add_counts(const Kernel &kernel, const Counts &counts)
{
    const std::lock_guard<std::mutex> guard(tables().lock);
    tables().kernels[kernel.name].add(counts);
}

void
add_lines(const Kernel &kernel, const std::vector<uint64_t> &executed)
{
    const std::lock_guard<std::mutex> guard(tables().lock);
    for (size_t i = 0; i < executed.size(); i++) {
        if (executed[i] == 0) {
            continue;
        }
        const Source &source = kernel.source(kernel.code[i]);
        auto &line = tables().lines[{kernel.name, kernel.function_names[source.function],
                                     kernel.module->file_name(source.file), source.line}];
        line.first += executed[i];
        line.second++;
    }
}

void
write_counts()
{
    const std::lock_guard<std::mutex> guard(tables().lock);
    if (counting()) {
        FILE *const file = fopen(settings().counts_file.c_str(), "a");
        if (file != nullptr) {
            fprintf(file, "kernel");
#define FIELD(name) fprintf(file, "\t" #name);
            H5TWIN_PTX_COUNTS(FIELD)
#undef FIELD
            for (const auto &row : tables().kernels) {
                fprintf(file, "\n%s", row.first.c_str());
#define FIELD(name) fprintf(file, "\t%llu", (unsigned long long)row.second.name);
                H5TWIN_PTX_COUNTS(FIELD)
#undef FIELD
            }
            fprintf(file, "\n");
            fclose(file);
        }
    }
    if (counting_lines()) {
        FILE *const file = fopen(settings().lines_file.c_str(), "a");
        if (file != nullptr) {
            fprintf(file, "kernel\tfunction\tsource\tline\twarp_instructions\tptx_instructions\n");
            for (const auto &row : tables().lines) {
                fprintf(file, "%s\t%s\t%s\t%u\t%llu\t%llu\n", std::get<0>(row.first).c_str(),
                        std::get<1>(row.first).c_str(), std::get<2>(row.first).c_str(),
                        std::get<3>(row.first), (unsigned long long)row.second.first,
                        (unsigned long long)row.second.second);
            }
            fclose(file);
        }
    }
    tables().kernels.clear();
    tables().lines.clear();
}

} // namespace ptx
