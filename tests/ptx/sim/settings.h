/* SPDX-License-Identifier: BSD-3-Clause
 * settings.h: what the environment asks of the interpreter; README.md lists the variables. */
#ifndef H5TWIN_PTX_SETTINGS_H
#define H5TWIN_PTX_SETTINGS_H

#include <cstdint>
#include <string>

namespace ptx
{

struct Settings {
    uint64_t seed;           /* of everything that is random; 0: nothing is */
    uint64_t quantum;        /* instructions that a warp runs before another one does, at most */
    uint32_t resident;       /* blocks that a host thread runs side by side */
    uint32_t threads;        /* host threads */
    bool random_lanes;       /* lanes that diverged run in random order, and meet at .sync only */
    bool shared_races;       /* watch shared memory */
    bool global_races;       /* watch global memory, which takes one host thread */
    bool lazy;               /* what is asynchronous is done when somebody waits for it */
    bool verbose;            /* say on stderr what was done */
    uint32_t devices;        /* how many there are */
    uint64_t memory;         /* bytes of each device */
    uint64_t idle_limit;     /* instructions without any effect after which a launch hangs */
    std::string counts_file; /* a table of counts per kernel is appended here, at exit */
    std::string lines_file;  /* and one of instructions per source line here */
    std::string replace;     /* KERNEL|FROM|TO|N: a fault for the PTX */
    long fail_call;          /* the number of the runtime's call that fails, from 0; -1: none */
};

/* Read once. */
const Settings &settings();

} // namespace ptx

#endif
