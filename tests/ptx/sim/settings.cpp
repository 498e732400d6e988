/* SPDX-License-Identifier: BSD-3-Clause
 * settings.cpp: see settings.h. */
#include "settings.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace ptx
{

namespace
{

std::string
text_of(const char *name)
{
    const char *const text = getenv((std::string("H5TWIN_PTX_") + name).c_str());
    return text == nullptr ? "" : text;
}

uint64_t
number_of(const char *name, uint64_t otherwise)
{
    const std::string text = text_of(name);
    return text.empty() ? otherwise : strtoull(text.c_str(), nullptr, 0);
}

Settings
read_environment()
{
    Settings s = {};
    const std::string races = text_of("RACES");
    const uint64_t cores = std::max(1u, std::thread::hardware_concurrency());
    s.seed = number_of("SEED", 1);
    s.quantum = std::max<uint64_t>(1, number_of("QUANTUM", 4000));
    s.resident = (uint32_t)std::max<uint64_t>(1, number_of("RESIDENT", 4));
    s.random_lanes = number_of("RANDOM_LANES", 0) != 0;
    s.shared_races = races == "shared" || races == "all";
    s.global_races = races == "global" || races == "all";
    s.threads = s.global_races ? 1 : (uint32_t)std::max<uint64_t>(1, number_of("THREADS", cores));
    s.lazy = number_of("LAZY", 0) != 0;
    s.verbose = number_of("VERBOSE", 0) != 0;
    s.devices = (uint32_t)number_of("DEVICES", 1);
    s.memory = number_of("MEMORY", 16ull << 30);
    s.idle_limit = number_of("IDLE_LIMIT", 20000000);
    s.counts_file = text_of("COUNTS");
    s.lines_file = text_of("LINES");
    s.replace = text_of("REPLACE");
    s.fail_call = text_of("FAIL").empty() ? -1 : (long)number_of("FAIL", 0);
    return s;
}

} // namespace

const Settings &
settings()
{
    static const Settings &once =
        *new Settings(read_environment()); /* counts are written at exit */
    return once;
}

} // namespace ptx
