/* SPDX-License-Identifier: BSD-3-Clause
 * counts.cpp: see counts.h. */
#include "counts.h"

#include "kernel.h"
#include "settings.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <utility>

namespace ptx
{

namespace
{

struct Tables {
    std::mutex lock;
    CountTables counted;
};

Tables &
tables()
{
    static Tables *const forever = new Tables; /* used at exit */
    return *forever;
}

} // namespace

bool counting = !settings().counts_file.empty();
bool counting_lines = !settings().lines_file.empty();

void
Counts::add(const Counts &other)
{
#define FIELD(name) name += other.name;
    H5TWIN_PTX_COUNTS(FIELD)
#undef FIELD
}

CountTables
take_counts()
{
    const std::lock_guard<std::mutex> guard(tables().lock);
    return std::exchange(tables().counted, CountTables());
}

void
add_launch(const Kernel &kernel, const Counts &counts, uint64_t longest, uint32_t threads,
           uint32_t dynamic_bytes)
{
    const std::lock_guard<std::mutex> guard(tables().lock);
    KernelCounts &row = tables().counted.kernels[kernel.name];
    row.counts.add(counts);
    row.longest += longest;
    row.threads = std::max(row.threads, threads);
    row.shared_bytes = std::max(row.shared_bytes, kernel.shared_bytes + dynamic_bytes);
}

void
add_copy(const char *name, uint64_t loaded, uint64_t stored)
{
    if (!counting) {
        return;
    }
    const std::lock_guard<std::mutex> guard(tables().lock);
    Counts &counts = tables().counted.kernels[name].counts;
    counts.launches++;
    counts.load_bytes += loaded;
    counts.load_sectors += (loaded + 31) / 32;
    counts.store_bytes += stored;
    counts.store_sectors += (stored + 31) / 32;
}

void
add_lines(const Kernel &kernel, const std::vector<InstructionCounts> &executed)
{
    const std::lock_guard<std::mutex> guard(tables().lock);
    for (size_t i = 0; i < executed.size(); i++) {
        if (executed[i].runs == 0) {
            continue;
        }
        const Source &source = kernel.source(kernel.code[i]);
        LineCounts &line =
            tables().counted.lines[{kernel.name, kernel.function_names[source.function],
                                    kernel.module->file_name(source.file), source.line}];
        line.warp_instructions += executed[i].runs;
        line.load_sectors += executed[i].load_sectors;
        line.store_sectors += executed[i].store_sectors;
        line.instructions++;
    }
}

void
write_counts()
{
    const CountTables counted = take_counts();
    if (!settings().counts_file.empty()) {
        FILE *const file = fopen(settings().counts_file.c_str(), "a");
        if (file != nullptr) {
            fprintf(file, "kernel");
#define FIELD(name) fprintf(file, "\t" #name);
            H5TWIN_PTX_COUNTS(FIELD)
#undef FIELD
            for (const auto &row : counted.kernels) {
                fprintf(file, "\n%s", row.first.c_str());
#define FIELD(name) fprintf(file, "\t%llu", (unsigned long long)row.second.counts.name);
                H5TWIN_PTX_COUNTS(FIELD)
#undef FIELD
            }
            fprintf(file, "\n");
            fclose(file);
        }
    }
    if (!settings().lines_file.empty()) {
        FILE *const file = fopen(settings().lines_file.c_str(), "a");
        if (file != nullptr) {
            fprintf(file, "kernel\tfunction\tsource\tline\twarp_instructions\tinstructions\t"
                          "load_sectors\tstore_sectors\n");
            for (const auto &row : counted.lines) {
                const Line &line = row.first;
                const LineCounts &counts = row.second;
                fprintf(file, "%s\t%s\t%s\t%u\t%llu\t%llu\t%llu\t%llu\n", line.kernel.c_str(),
                        line.function.c_str(), line.file.c_str(), line.number,
                        (unsigned long long)counts.warp_instructions,
                        (unsigned long long)counts.instructions,
                        (unsigned long long)counts.load_sectors,
                        (unsigned long long)counts.store_sectors);
            }
            fclose(file);
        }
    }
}

} // namespace ptx
