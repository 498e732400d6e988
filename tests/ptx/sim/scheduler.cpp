/* SPDX-License-Identifier: BSD-3-Clause
 * scheduler.cpp: runs a launch. Host threads take blocks in the grid's order and run a few of them
 * side by side; their warps take turns of random length in random order. Within a warp, the lanes
 * that are furthest behind go first, so that those that went apart meet again as early as they can;
 * or, on demand, any of them for a random time, which is all that CUDA promises. */
#include "settings.h"
#include "warp.h"

#include <algorithm>
#include <mutex>
#include <thread>

namespace ptx
{

namespace
{

constexpr uint64_t MOST_APART = 20000;    /* instructions of some lanes while others wait */
constexpr uint64_t MOST_RANDOM_STEP = 40; /* instructions of diverged lanes in random order */

uint32_t
lanes_at(const Warp &warp, uint32_t among, uint32_t pc)
{
    uint32_t lanes = 0;
    for_each_lane(among, [&](int lane) { lanes |= (uint32_t)(warp.pc[lane] == pc) << lane; });
    return lanes;
}

void
set_pc(Warp &warp, uint32_t lanes, uint32_t pc)
{
    for_each_lane(lanes, [&](int lane) { warp.pc[lane] = pc; });
}

const Instruction &
instruction_at(const Warp &warp, int lane)
{
    return warp.block->worker->launch->kernel->code[warp.pc[lane]];
}

/* ---- lanes that come together: shuffles, votes, __syncwarp ---- */

void
meet(Warp &warp, const Instruction &instruction, uint32_t lanes)
{
    instruction.execute(warp, instruction, lanes);
    if (settings().shared_races) {
        warp.block->shadow.meetings[warp.number]++;
    }
}

bool
is_warp_barrier(const Instruction &instruction)
{
    return instruction.execute == warp_barrier_operation();
}

/* The lanes in `mask` are here. Those that it names and that have ended are missed, but by a
 * __syncwarp, which they may skip. */
void
check_mask(Warp &warp, const Instruction &instruction, uint32_t mask, int lane)
{
    if ((mask >> lane & 1) == 0) {
        throw LaunchError(LAUNCH_FAILURE, "a lane that its own mask does not name" +
                                              place_text(warp, instruction, lane));
    }
    if ((mask & ~warp.alive) != 0 && !is_warp_barrier(instruction)) {
        throw LaunchError(LAUNCH_FAILURE, "a mask that names lanes that have ended" +
                                              place_text(warp, instruction, lane));
    }
}

/* Let those of `waiting` lanes go that are complete, and that are at the same place. */
bool
release_at(Warp &warp, uint32_t pc)
{
    const Instruction &instruction = warp.block->worker->launch->kernel->code[pc];
    const uint32_t *const masks = values<uint32_t>(warp, instruction.place[4]);
    uint32_t left = lanes_at(warp, warp.waiting, pc);
    bool any = false;
    while (left != 0) {
        const int lane = __builtin_ctz(left);
        const uint32_t mask = masks[lane], wanted = mask & warp.alive;
        uint32_t same = 0;
        for_each_lane(left, [&](int k) { same |= (uint32_t)(masks[k] == mask) << k; });
        left &= ~same;
        if ((mask >> lane & 1) == 0 || (same & wanted) == wanted) {
            check_mask(warp, instruction, mask, lane);
            meet(warp, instruction, wanted);
            warp.waiting &= ~wanted;
            set_pc(warp, wanted, pc + 1);
            any = true;
        }
    }
    return any;
}

/* __syncwarp may be met at different places. */
bool
release_warp_barriers(Warp &warp)
{
    uint32_t mask = 0, arrived = 0;
    for_each_lane(warp.waiting, [&](int lane) {
        const Instruction &instruction = instruction_at(warp, lane);
        if (!is_warp_barrier(instruction)) {
            return;
        }
        const uint32_t own = values<uint32_t>(warp, instruction.place[4])[lane];
        mask = arrived == 0 ? own : mask;
        arrived |= (uint32_t)(own == mask) << lane;
    });
    const uint32_t wanted = mask & warp.alive;
    if (arrived == 0 || (arrived & wanted) != wanted) {
        return false;
    }
    warp.waiting &= ~wanted;
    for_each_lane(wanted, [&](int lane) { warp.pc[lane]++; });
    if (settings().shared_races) {
        warp.block->shadow.meetings[warp.number]++;
    }
    return true;
}

bool
release_waiting(Warp &warp)
{
    bool any = false;
    for (uint32_t left = warp.waiting; left != 0;) {
        const uint32_t pc = warp.pc[__builtin_ctz(left)];
        left &= ~lanes_at(warp, left, pc);
        any |= release_at(warp, pc);
    }
    return any || release_warp_barriers(warp);
}

/* ---- barriers of the block ---- */

/* The place where all lanes of the warp wait. */
uint32_t
common_pc(Warp &warp)
{
    const uint32_t pc = warp.pc[__builtin_ctz(warp.alive)];
    const uint32_t elsewhere = warp.alive & ~lanes_at(warp, warp.alive, pc);
    if (elsewhere != 0) {
        const int lane = __builtin_ctz(elsewhere);
        throw LaunchError(LAUNCH_FAILURE, "lanes of a warp are at different barriers" +
                                              place_text(warp, instruction_at(warp, lane), lane));
    }
    return pc;
}

void
try_barrier(Block *block)
{
    bool any = false, all = true, has_vote = false, is_mixed = false;
    uint32_t place = NO_PLACE;
    for (Warp &warp : block->warps) {
        if (warp.alive != warp.at_barrier) {
            return;
        }
        if (warp.alive == 0) {
            continue;
        }
        const uint32_t pc = common_pc(warp);
        is_mixed |= place != NO_PLACE && pc != place;
        place = pc;
        const Instruction &instruction = instruction_at(warp, __builtin_ctz(warp.alive));
        if (instruction.place[1] != NO_PLACE) {
            const uint32_t votes =
                predicate(warp, instruction.place[1], instruction.negated[0]) & warp.alive;
            has_vote = true;
            any |= votes != 0;
            all &= votes == warp.alive;
        }
    }
    if (place == NO_PLACE) {
        return;
    }
    for (Warp &warp : block->warps) {
        if (warp.alive == 0) {
            continue;
        }
        const int lane = __builtin_ctz(warp.alive);
        const Instruction &instruction = instruction_at(warp, lane);
        if (has_vote && is_mixed) {
            throw LaunchError(LAUNCH_FAILURE,
                              "warps of a block are at different barriers that vote" +
                                  place_text(warp, instruction, lane));
        }
        if (instruction.place[0] != NO_PLACE) {
            const bool result = instruction.immediate != 0 ? any : all;
            set_predicate(warp, instruction.place[0], warp.alive, result ? warp.alive : 0);
        }
        for_each_lane(warp.alive, [&](int k) { warp.pc[k]++; });
        warp.at_barrier = 0;
    }
    block->shadow.barriers++;
    block->worker->counts.barriers++;
    block->worker->effects++;
}

/* ---- one warp ---- */

void
copy_parameters(Warp &warp, const Instruction &instruction, uint32_t lanes)
{
    const Kernel &kernel = *warp.block->worker->launch->kernel;
    for (const Copy &copy : kernel.copies[instruction.immediate]) {
        for_each_lane(lanes, [&](int lane) {
            uint8_t *const local = warp.local + (size_t)lane * kernel.local_bytes;
            memcpy(local + copy.to, local + copy.from, copy.size);
        });
    }
}

struct Turn {
    uint64_t left; /* instructions */
    uint64_t lane_instructions;
};

/* Run the lanes at pc, until they go apart, wait, reach `others` (where other lanes are) or have
 * run `most` instructions. */
void
run_together(Warp &warp, uint32_t lanes, uint32_t pc, uint32_t others, uint64_t most, Turn *turn)
{
    Worker &worker = *warp.block->worker;
    const Instruction *const code = worker.launch->kernel->code.data();
    InstructionCounts *const executed = worker.executed.empty() ? nullptr : worker.executed.data();
    for (uint64_t n = 0; n < most && turn->left > 0 && (n == 0 || pc < others); n++) {
        const Instruction &i = code[pc];
        const uint32_t active =
            i.guard == NO_PLACE ? lanes : lanes & predicate(warp, i.guard, i.guard_negated);
        turn->left--;
        turn->lane_instructions += (uint64_t)__builtin_popcount(active);
        if (executed != nullptr) {
            executed[pc].runs++;
        }
        if (i.flow == Flow::next) {
            if (active != 0) {
                i.execute(warp, i, active);
            }
            pc++;
            continue;
        }
        if (active == 0) {
            pc++;
            continue;
        }
        switch (i.flow) {
        case Flow::branch:
            if (active == lanes) {
                pc = i.target;
                continue;
            }
            set_pc(warp, active, i.target);
            set_pc(warp, lanes & ~active, pc + 1);
            return;
        case Flow::call:
            copy_parameters(warp, i, lanes);
            for_each_lane(lanes, [&](int lane) { warp.returns[lane].push_back(pc + 1); });
            pc = i.target;
            continue;
        case Flow::results:
            copy_parameters(warp, i, lanes);
            pc++;
            continue;
        case Flow::ret:
            set_pc(warp, lanes & ~active, pc + 1);
            for_each_lane(active, [&](int lane) {
                warp.pc[lane] = warp.returns[lane].back();
                warp.returns[lane].pop_back();
            });
            return;
        case Flow::exit:
            set_pc(warp, lanes & ~active, pc + 1);
            warp.alive &= ~active;
            worker.effects++;
            if (warp.alive == warp.at_barrier) {
                try_barrier(warp.block);
            }
            return;
        case Flow::meet: {
            const uint32_t *const masks = values<uint32_t>(warp, i.place[4]);
            const uint32_t mask = masks[__builtin_ctz(active)];
            bool is_uniform = active == lanes && mask == lanes;
            for_each_lane(active, [&](int lane) { is_uniform &= masks[lane] == mask; });
            if (is_uniform) {
                meet(warp, i, lanes);
                pc++;
                continue;
            }
            set_pc(warp, lanes & ~active, pc + 1);
            set_pc(warp, active, pc);
            warp.waiting |= active;
            release_at(warp, pc);
            return;
        }
        case Flow::barrier:
            set_pc(warp, lanes & ~active, pc + 1);
            set_pc(warp, active, pc);
            warp.at_barrier |= active;
            if (warp.at_barrier == warp.alive) {
                try_barrier(warp.block);
            }
            return;
        default: /* yield: others first */
            set_pc(warp, lanes, pc + 1);
            turn->left = 0;
            return;
        }
    }
    set_pc(warp, lanes, pc);
}

/* Returns how many instructions it ran, at most `budget`. */
uint64_t
run_warp(Warp &warp, uint64_t budget)
{
    Worker &worker = *warp.block->worker;
    const bool is_random = settings().random_lanes;
    Turn turn = {budget, 0};
    while (turn.left > 0) {
        const uint32_t ready = warp.alive & ~warp.at_barrier & ~warp.waiting;
        if (ready == 0) {
            if (warp.waiting != 0 && release_waiting(warp)) {
                continue;
            }
            break;
        }
        uint32_t pc = NO_PLACE, others = NO_PLACE;
        if (is_random) {
            uint32_t left = ready;
            for (uint64_t skip = worker.random() % (uint64_t)__builtin_popcount(ready); skip > 0;
                 skip--) {
                left &= left - 1;
            }
            pc = warp.pc[__builtin_ctz(left)];
        } else {
            for_each_lane(ready, [&](int lane) { pc = std::min(pc, warp.pc[lane]); });
        }
        const uint32_t lanes = lanes_at(warp, ready, pc);
        uint64_t most = budget;
        if (is_random) {
            most = 1 + worker.random() % MOST_RANDOM_STEP;
        } else if (lanes != ready) {
            for_each_lane(ready & ~lanes,
                          [&](int lane) { others = std::min(others, warp.pc[lane]); });
            most = MOST_APART;
        }
        run_together(warp, lanes, pc, others, most, &turn);
    }
    const uint64_t ran = budget - turn.left;
    worker.counts.warp_instructions += ran;
    warp.block->instructions += ran;
    worker.longest = std::max(worker.longest, warp.block->instructions);
    worker.counts.lane_instructions += turn.lane_instructions;
    return ran;
}

/* ---- blocks ---- */

void
prepare_block(Block *block, Worker *worker)
{
    const Launch &launch = *worker->launch;
    const Kernel &kernel = *launch.kernel;
    block->worker = worker;
    block->threads = launch.block[0] * launch.block[1] * launch.block[2];
    const size_t warps = (block->threads + WARP_LANES - 1) / WARP_LANES;
    const size_t registers = kernel.register_bytes + 64;
    const size_t local = (size_t)kernel.local_bytes * WARP_LANES;
    const size_t shared = kernel.shared_span + launch.dynamic_bytes;
    const size_t needed = warps * (registers + local) + shared + 256;
    if (block->memory.size() < needed) {
        block->memory.resize(needed);
    }
    if (block->warps.size() != warps) {
        block->warps = std::vector<Warp>(warps);
    }
    uint8_t *at = block->memory.data();
    at += -(uintptr_t)at & 63;
    block->shared = at;
    at += (shared + 63) / 64 * 64;
    for (uint32_t number = 0; number < warps; number++) {
        Warp &warp = block->warps[number];
        warp.base[0] = at;
        warp.base[1] = const_cast<uint8_t *>(kernel.constant_base);
        warp.local = at + registers;
        warp.number = number;
        warp.block = block;
        at += registers + local;
    }
}

void
fill_shared(Block *block, Worker *worker)
{
    const size_t size = worker->launch->kernel->shared_span + worker->launch->dynamic_bytes;
    uint64_t x = worker->random() | 1;
    for (size_t i = 0; i + 8 <= size; i += 8) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        memcpy(block->shared + i, &x, 8);
    }
    if (settings().shared_races) {
        block->shadow.bytes.assign(size, SharedByte());
        block->shadow.meetings.assign(block->warps.size(), 0);
        block->shadow.barriers = 0;
    }
}

void
start_warp(Warp *warp)
{
    const Block &block = *warp->block;
    const Launch &launch = *block.worker->launch;
    const uint32_t first = warp->number * WARP_LANES;
    const uint32_t count = std::min<uint32_t>(WARP_LANES, block.threads - first);
    warp->alive = count == WARP_LANES ? ALL_LANES : (1u << count) - 1;
    warp->at_barrier = warp->waiting = 0;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        const uint32_t thread = first + lane, below = (1u << lane) - 1, self = 1u << lane;
        const uint32_t *const size = launch.block;
        const uint32_t special[SPECIAL_COUNT] = {thread % size[0],
                                                 thread / size[0] % size[1],
                                                 thread / size[0] / size[1],
                                                 size[0],
                                                 size[1],
                                                 size[2],
                                                 block.index[0],
                                                 block.index[1],
                                                 block.index[2],
                                                 launch.grid[0],
                                                 launch.grid[1],
                                                 launch.grid[2],
                                                 lane,
                                                 self,
                                                 below,
                                                 below | self,
                                                 ~(below | self),
                                                 ~below};
        for (uint32_t k = 0; k < SPECIAL_COUNT; k++) {
            values<uint32_t>(*warp, k * WARP_LANES * 4)[lane] = special[k];
        }
        warp->pc[lane] = launch.kernel->begin;
        warp->returns[lane].clear();
    }
}

void
start_block(Block *block, Worker *worker, uint64_t number)
{
    const uint32_t *const grid = worker->launch->grid;
    block->number = number;
    block->index[0] = (uint32_t)(number % grid[0]);
    block->index[1] = (uint32_t)(number / grid[0] % grid[1]);
    block->index[2] = (uint32_t)(number / grid[0] / grid[1]);
    block->is_running = true;
    block->instructions = 0;
    fill_shared(block, worker);
    for (Warp &warp : block->warps) {
        start_warp(&warp);
    }
}

[[noreturn]] void
report_hang(const std::vector<Block> &blocks, const Kernel &kernel)
{
    std::string text = "no end of kernel " + kernel.name + ":";
    for (const Block &block : blocks) {
        for (const Warp &warp : block.warps) {
            if (!block.is_running || warp.alive == 0 || text.size() > 2000) {
                continue;
            }
            const int lane = __builtin_ctz(warp.alive);
            text += " [block " + std::to_string(block.number) + " warp " +
                    std::to_string(warp.number) +
                    (warp.at_barrier != 0 ? " at a barrier"
                     : warp.waiting != 0  ? " waits for lanes"
                                          : " runs") +
                    ": " + kernel.source(instruction_at(warp, lane)).text.substr(0, 80) + "]";
        }
    }
    throw LaunchError(LAUNCH_TIMEOUT, text);
}

/* ---- a launch ---- */

/* What a worker says in launch.idle: how many effects the launch had had when it had run for long
 * without any, or one of these. */
constexpr uint64_t busy = UINT64_MAX - 1, ended = UINT64_MAX;

/* Has no worker changed anything for long, since the launch had had `effects` of them? One whose
 * host thread does not run has not been idle: what it said was of a time before. */
bool
all_idle(const Launch &launch, uint64_t effects)
{
    for (uint32_t k = 0; k < launch.worker_count; k++) {
        const uint64_t said = launch.idle[k].load(std::memory_order_acquire);
        if (said != effects && said != ended) {
            return false;
        }
    }
    return launch.effects.load(std::memory_order_acquire) == effects;
}

/* Blocks from the grid's order until there are none. */
void
run_worker(Worker *worker, std::vector<Block> *blocks)
{
    Launch &launch = *worker->launch;
    const Settings &s = settings();
    std::vector<Warp *> order;
    uint64_t idle = 0, seen = 0;
    blocks->resize(std::max<size_t>(blocks->size(), s.resident));
    for (uint32_t k = 0; k < s.resident; k++) {
        prepare_block(&(*blocks)[k], worker);
        (*blocks)[k].is_running = false;
    }
    while (!launch.stop.load(std::memory_order_relaxed)) {
        order.clear();
        for (uint32_t k = 0; k < s.resident; k++) {
            Block &block = (*blocks)[k];
            if (!block.is_running) {
                const uint64_t number = launch.next_block.load() < launch.block_count
                                            ? launch.next_block.fetch_add(1)
                                            : launch.block_count;
                if (number >= launch.block_count) {
                    continue;
                }
                start_block(&block, worker, number);
            }
            for (Warp &warp : block.warps) {
                order.push_back(&warp);
            }
        }
        if (order.empty()) {
            launch.idle[worker->number].store(ended, std::memory_order_release);
            return;
        }
        if (s.seed != 0) {
            std::shuffle(order.begin(), order.end(), worker->random);
        }
        const uint64_t effects = worker->effects;
        uint64_t ran = 0;
        for (Warp *const warp : order) {
            if (warp->alive != 0) {
                ran += run_warp(*warp, s.seed != 0 ? 1 + worker->random() % s.quantum : s.quantum);
            }
        }
        for (uint32_t k = 0; k < s.resident; k++) {
            Block &block = (*blocks)[k];
            block.is_running &= std::any_of(block.warps.begin(), block.warps.end(),
                                            [](const Warp &warp) { return warp.alive != 0; });
        }
        if (worker->effects != effects) {
            launch.effects.fetch_add(1, std::memory_order_release);
        }
        const uint64_t now = launch.effects.load(std::memory_order_acquire);
        idle = now != seen ? 0 : idle + std::max<uint64_t>(ran, 1);
        seen = now;
        launch.idle[worker->number].store(idle > s.idle_limit ? now : busy,
                                          std::memory_order_release);
        if (idle != 0 && launch.worker_count > 1) {
            std::this_thread::yield(); /* another worker has what these blocks wait for */
        }
        if ((idle > s.idle_limit && all_idle(launch, now)) ||
            (ran == 0 && worker->effects == effects)) {
            report_hang(*blocks, *launch.kernel);
        }
    }
}

/* The memory of blocks stays from launch to launch; there is one launch at a time. */
std::vector<std::vector<Block>> &
kept_blocks()
{
    static auto *const forever = new std::vector<std::vector<Block>>;
    return *forever;
}

} // namespace

std::string
place_text(const Warp &warp, const Instruction &instruction, int lane)
{
    const Kernel &kernel = *warp.block->worker->launch->kernel;
    const Source &source = kernel.source(instruction);
    std::string text = ", kernel " + kernel.name + ", block " + std::to_string(warp.block->number) +
                       ", warp " + std::to_string(warp.number) + ", lane " + std::to_string(lane);
    if (source.line != 0) {
        text += ", at " + kernel.module->file_name(source.file) + ":" + std::to_string(source.line);
    }
    return text + ": " + source.text;
}

void
run_launch(Launch *launch)
{
    launch->block_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    const uint32_t count = (uint32_t)std::min<uint64_t>(settings().threads, launch->block_count);
    if (settings().global_races) {
        begin_watching_global();
    }
    std::vector<Worker> workers(count);
    if (kept_blocks().size() < count) {
        kept_blocks().resize(count);
    }
    std::mutex lock;
    std::unique_ptr<LaunchError> error;
    const auto work = [&](uint32_t k) {
        try {
            run_worker(&workers[k], &kept_blocks()[k]);
        } catch (const LaunchError &found) {
            const std::lock_guard<std::mutex> guard(lock);
            if (error == nullptr) {
                error.reset(new LaunchError(found));
            }
            launch->stop.store(true);
        }
    };
    launch->worker_count = count;
    launch->idle.reset(new std::atomic<uint64_t>[count]());
    for (uint32_t k = 0; k < count; k++) {
        launch->idle[k].store(busy, std::memory_order_relaxed);
        workers[k].launch = launch;
        workers[k].number = k;
        workers[k].random.seed(settings().seed + launch->number * 1000003u + k);
        if (counting_lines) {
            workers[k].executed.resize(launch->kernel->code.size());
        }
    }
    std::vector<std::thread> threads;
    for (uint32_t k = 1; k < count; k++) {
        threads.emplace_back(work, k);
    }
    work(0);
    for (std::thread &thread : threads) {
        thread.join();
    }
    if (counting || counting_lines) {
        Counts counts;
        uint64_t longest = 0;
        for (const Worker &worker : workers) {
            counts.add(worker.counts);
            longest = std::max(longest, worker.longest);
            add_lines(*launch->kernel, worker.executed);
        }
        counts.launches = 1;
        counts.blocks = launch->block_count;
        add_launch(*launch->kernel, counts, longest,
                   launch->block[0] * launch->block[1] * launch->block[2], launch->dynamic_bytes);
    }
    if (error != nullptr) {
        throw *error;
    }
}

} // namespace ptx
