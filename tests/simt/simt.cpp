/* SPDX-License-Identifier: BSD-3-Clause
 * simt.cpp: the scheduler: resident blocks, their warps and threads, barriers and collectives. */
#include "simt.h"

#include "fiber.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace simt
{

Options options;

namespace
{

constexpr unsigned warp_lanes = 32;
constexpr size_t max_shared_arrays = 64;
constexpr size_t max_shared_bytes = 48 * 1024; /* static and dynamic, without asking for more */
/* So many rounds in which nobody did anything but spin mean that the wait never ends. */
constexpr unsigned rounds_without_progress = 10000;
/* Of an eager warp; some wait for others by atomics, which look like progress. */
constexpr unsigned most_eager_turns = 1000;

/* A warp collective under way. Two generations are kept, because fast lanes may enter the next
 * one before slow lanes have read the last. */
struct Exchange {
    uint32_t mask = 0;
    uint32_t arrived = 0;
    Collective kind = Collective::sync;
    uint64_t generation = 0; /* completed ones */
    uint64_t values[2][warp_lanes];
};

struct Block;

struct Thread {
    Fiber fiber;
    Block *block = nullptr;
    Builtins builtins = {};
    enum { ready, waiting, ended } state = ended;
    bool (*may_go_on)(Thread *) = nullptr; /* asked while waiting */
    uint64_t awaited = 0;                  /* generation of what it waits for */
    Exchange *exchange = nullptr;
};

struct SharedArray {
    int id;
    void *memory;
    size_t size;
};

struct Block {
    std::vector<std::unique_ptr<Thread>> threads, spare;
    std::vector<std::vector<Exchange>> exchanges; /* per warp, one per mask in use */
    std::vector<SharedArray> shared;
    size_t live = 0;
    /* __syncthreads */
    size_t arrived = 0;
    uint64_t barrier_generation = 0;
    char barrier_kind = 0;
    uint32_t accumulated = 0;
    uint32_t result[2] = {0, 0};
};

/* The launch that is running; the emulator has one host thread. */
struct Launch {
    const char *kernel_name;
    const std::function<void()> *body;
    size_t dynamic_shared_bytes;
    bool progress = false;
    bool failed = false;
    std::vector<void *> garbage; /* freed at the end */
    char ended;                  /* an address for annotate_release */
};

Launch *launch = nullptr;
Thread *running = nullptr;

/* The turn of one warp: each of its threads that can goes on once. */
struct Turn {
    Thread *threads[warp_lanes];
    size_t count, at;
} turn;

std::string last_error;
int shared_ids = 0;
char fence_address;

void
fail(const std::string &why)
{
    if (!launch->failed) {
        launch->failed = true;
        last_error = std::string(launch->kernel_name) + ": " + why;
    }
}

std::string
name_of(const Thread *thread)
{
    const Builtins &at = thread->builtins;
    return "thread (" + std::to_string(at.thread_index.x) + "," +
           std::to_string(at.thread_index.y) + "," + std::to_string(at.thread_index.z) +
           ") of block " + std::to_string(at.block_index.x);
}

/* Who goes on in this turn, already called the running one; nullptr if none is left. */
Fiber *
next_of_turn()
{
    while (turn.at < turn.count && !launch->failed) {
        Thread *const thread = turn.threads[turn.at++];
        if (thread->state == Thread::waiting && thread->may_go_on(thread)) {
            thread->state = Thread::ready;
        }
        if (thread->state == Thread::ready) {
            running = thread;
            return &thread->fiber;
        }
    }
    running = nullptr;
    return nullptr;
}

/* Let others run. Threads switch to each other: through the scheduler it would be twice as often.
 */
void
leave()
{
    Thread *const self = running;
    annotate_release(&launch->ended);
    self->fiber.give_way(next_of_turn());
}

/* Leave the running thread until may_go_on says yes, or for ever if the launch has failed. */
void
wait_until(bool (*may_go_on)(Thread *))
{
    running->may_go_on = may_go_on;
    running->state = Thread::waiting;
    leave();
}

/* The running thread has broken a rule: it goes no further. */
void
stop(const char *why)
{
    fail(name_of(running) + why); /* no string may live on this stack: it is never unwound */
    wait_until([](Thread *) { return false; });
}

Fiber *
thread_main(void *argument)
{
    Thread *const self = static_cast<Thread *>(argument);
    annotate_acquire(self->block);
    (*launch->body)();
    annotate_release(&launch->ended);
    self->state = Thread::ended;
    self->block->live--;
    launch->progress = true;
    return next_of_turn();
}

/* Freeing a block's shared memory before the launch ends would order it before the next block. */
void
keep_shared_for_later(Block &block)
{
    for (const SharedArray &array : block.shared) {
        launch->garbage.push_back(array.memory);
    }
    block.shared.clear();
    block.shared.reserve(max_shared_arrays); /* no allocation by a CUDA thread */
}

void
start_block(Block &block, const dim3 &grid, const dim3 &size, uint3 index)
{
    const size_t count = (size_t)size.x * size.y * size.z;
    while (block.spare.size() + block.threads.size() < count) {
        block.spare.push_back(std::make_unique<Thread>());
    }
    while (block.threads.size() != count) {
        auto &from = block.threads.size() < count ? block.spare : block.threads;
        auto &to = block.threads.size() < count ? block.threads : block.spare;
        to.push_back(std::move(from.back()));
        from.pop_back();
    }
    keep_shared_for_later(block);
    block.exchanges.assign((count + warp_lanes - 1) / warp_lanes, {});
    for (auto &of_warp : block.exchanges) {
        of_warp.reserve(warp_lanes); /* pointers into it must stay */
    }
    block.live = count;
    block.arrived = 0;
    for (size_t i = 0; i < count; i++) {
        Thread &thread = *block.threads[i];
        const unsigned x = (unsigned)(i % size.x), y = (unsigned)(i / size.x % size.y),
                       z = (unsigned)(i / size.x / size.y);
        thread.block = &block;
        thread.builtins = {
            {x, y, z}, index, size, grid, (unsigned)(i % warp_lanes), (unsigned)(i / warp_lanes)};
        thread.state = Thread::ready;
        thread.fiber.start(thread_main, &thread);
    }
    annotate_release(&block);
}

/* 0, 1, ... count-1 in the order that the options ask for. */
std::vector<size_t>
permutation(size_t count, std::minstd_rand &random)
{
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; i++) {
        order[i] = options.order == 1 ? count - 1 - i : i;
    }
    if (options.order > 1) {
        std::shuffle(order.begin(), order.end(), random);
    }
    return order;
}

/* Every thread of a warp once; whether one of them got on. */
bool
run_warp(Block &block, size_t warp, std::minstd_rand &random)
{
    const size_t first = warp * warp_lanes;
    const bool before = launch->progress;
    launch->progress = false;
    turn.count = turn.at = 0;
    for (const size_t lane :
         permutation(std::min<size_t>(warp_lanes, block.threads.size() - first), random)) {
        turn.threads[turn.count++] = block.threads[first + lane].get();
    }
    if (Fiber *const thread = next_of_turn()) {
        thread->resume();
    }
    if (launch->failed) {
        return false;
    }
    const bool got_on = launch->progress;
    launch->progress = before || got_on;
    return got_on;
}

/* Every thread of the block once or, if they are eager, as far as it can, warp by warp. */
void
run_round(Block &block, std::minstd_rand &random)
{
    for (const size_t warp :
         permutation((block.threads.size() + warp_lanes - 1) / warp_lanes, random)) {
        unsigned turns = options.eager ? most_eager_turns : 1;
        while (run_warp(block, warp, random) && --turns != 0) {
        }
        if (launch->failed) {
            return;
        }
    }
}

/* Why nothing moves any more. */
std::string
describe_standstill(const std::vector<std::unique_ptr<Block>> &blocks)
{
    for (const auto &block : blocks) {
        if (block->live == 0) {
            continue;
        }
        for (const auto &thread : block->threads) {
            if (thread->state == Thread::waiting && block->arrived > 0) {
                return "__syncthreads was reached by " + std::to_string(block->arrived) + " of " +
                       std::to_string(block->threads.size()) + " threads of block " +
                       std::to_string(thread->builtins.block_index.x);
            }
            if (thread->state == Thread::waiting) {
                return name_of(thread.get()) +
                       " waits in a warp collective that other lanes of its mask never reach";
            }
        }
    }
    return "a spin loop waits for ever";
}

} // namespace

std::string
take_error()
{
    std::string error;
    error.swap(last_error);
    return error;
}

void
set_error(const std::string &why)
{
    last_error = why;
}

const Builtins &
builtins()
{
    return running->builtins;
}

/* What a GPU refuses to launch; nullptr if nothing is wrong. */
static const char *
what_is_refused(dim3 grid, dim3 block, size_t bound, size_t dynamic_shared_bytes)
{
    const size_t threads = (size_t)block.x * block.y * block.z;
    return grid.x == 0 || grid.y == 0 || grid.z == 0    ? "a grid without blocks is refused"
           : grid.x > INT32_MAX                         ? "the grid is too wide"
           : grid.y > UINT16_MAX || grid.z > UINT16_MAX ? "the grid is too high"
           : threads == 0 || threads > 1024             ? "blocks must have 1 to 1024 threads"
           : bound != 0 && threads > bound ? "more threads than its __launch_bounds__ allow"
           : dynamic_shared_bytes > max_shared_bytes ? "more than 48 KiB of shared memory"
                                                     : nullptr;
}

bool
run_grid(const char *kernel_name, dim3 grid, dim3 block_size, size_t bound,
         size_t dynamic_shared_bytes, const std::function<void()> &body)
{
    Launch current = {};
    current.kernel_name = kernel_name;
    current.body = &body;
    current.dynamic_shared_bytes = dynamic_shared_bytes;
    launch = &current;
    const char *const refused = what_is_refused(grid, block_size, bound, dynamic_shared_bytes);
    if (refused != nullptr) {
        fail(refused);
        launch = nullptr;
        return false;
    }
    std::minstd_rand random(options.order);
    const size_t grid_count = (size_t)grid.x * grid.y * grid.z;
    const std::vector<size_t> block_order = permutation(grid_count, random);
    const size_t resident = std::min<size_t>(std::max(1u, options.resident_blocks), grid_count);
    /* Kept from launch to launch: making thousands of stacks takes longer than most kernels. */
    static std::vector<std::unique_ptr<Block>> blocks;
    while (blocks.size() < resident) {
        blocks.push_back(std::make_unique<Block>());
    }
    for (const auto &block : blocks) {
        block->live = 0;
    }
    size_t started = 0, idle_rounds = 0;
    for (bool alive = true; alive && !current.failed;) {
        alive = false;
        current.progress = false;
        for (const size_t slot : permutation(resident, random)) {
            Block &block = *blocks[slot];
            if (block.live == 0 && started < grid_count) {
                const size_t at = block_order[started++];
                start_block(block, grid, block_size,
                            {(unsigned)(at % grid.x), (unsigned)(at / grid.x % grid.y),
                             (unsigned)(at / grid.x / grid.y)});
                current.progress = true;
            }
            if (block.live != 0) {
                alive = true;
                run_round(block, random);
            }
        }
        idle_rounds = current.progress ? 0 : idle_rounds + 1;
        if (idle_rounds > rounds_without_progress) {
            fail(describe_standstill(blocks));
        }
    }
    annotate_acquire(&current.ended);
    for (const auto &block : blocks) {
        keep_shared_for_later(*block);
    }
    for (void *const memory : current.garbage) {
        std::free(memory);
    }
    launch = nullptr;
    return !current.failed;
}

/* ---- barriers ---- */

uint32_t
block_reduce(uint32_t value, char operation)
{
    Thread *const self = running;
    Block &block = *self->block;
    if (block.arrived != 0 && block.barrier_kind != operation) {
        stop(" reached another kind of block barrier than the threads before it");
    }
    if (block.arrived == 0) {
        block.barrier_kind = operation;
        block.accumulated = operation == '&' ? 1 : 0;
    }
    block.accumulated = operation == '+'   ? block.accumulated + value
                        : operation == '&' ? (block.accumulated & value)
                                           : (block.accumulated | value);
    launch->progress = true;
    annotate_release(&block);
    self->awaited = block.barrier_generation + 1;
    /* Threads that have ended never arrive: waiting for them is reported as a standstill. */
    if (++block.arrived == block.threads.size()) {
        block.arrived = 0;
        block.result[self->awaited % 2] = block.accumulated;
        block.barrier_generation++;
    } else {
        wait_until(
            [](Thread *thread) { return thread->block->barrier_generation >= thread->awaited; });
    }
    annotate_acquire(&block);
    return block.result[self->awaited % 2];
}

void
block_barrier()
{
    block_reduce(0, '|');
}

const uint64_t *
warp_exchange(uint32_t mask, uint64_t value, Collective kind)
{
    Thread *const self = running;
    const Builtins &at = self->builtins;
    std::vector<Exchange> &of_warp = self->block->exchanges[at.warp];
    if (((mask >> at.lane) & 1u) == 0) {
        stop(" calls a warp collective whose mask does not hold its own lane");
    }
    const size_t lanes =
        std::min<size_t>(warp_lanes, self->block->threads.size() - (size_t)at.warp * warp_lanes);
    if (lanes < warp_lanes && (mask >> lanes) != 0) {
        stop(" calls a warp collective whose mask holds lanes that do not exist");
    }
    auto exchange = std::find_if(of_warp.begin(), of_warp.end(),
                                 [=](const Exchange &other) { return other.mask == mask; });
    if (exchange == of_warp.end()) {
        if (of_warp.size() == warp_lanes) {
            stop(" uses too many different masks");
        }
        of_warp.emplace_back();
        exchange = of_warp.end() - 1;
        exchange->mask = mask;
    }
    for (const Exchange &other : of_warp) {
        if (&other != &*exchange && (other.arrived & mask) != 0) {
            stop(" calls a warp collective while lanes of its mask wait in one "
                 "with another mask");
        }
    }
    if (exchange->arrived != 0 && exchange->kind != kind) {
        stop(" calls another warp collective than the lanes before it");
    }
    exchange->kind = kind;
    exchange->arrived |= 1u << at.lane;
    self->exchange = &*exchange;
    self->awaited = exchange->generation + 1;
    uint64_t *const values = exchange->values[self->awaited % 2];
    values[at.lane] = value;
    launch->progress = true;
    const bool orders_memory = kind == Collective::sync; /* the others give values, no more */
    if (orders_memory) {
        annotate_release(&*exchange);
    }
    if (exchange->arrived == mask) {
        exchange->arrived = 0;
        exchange->generation++;
    } else {
        wait_until([](Thread *thread) { return thread->exchange->generation >= thread->awaited; });
    }
    if (orders_memory) {
        annotate_acquire(self->exchange);
    }
    return values;
}

void
yield(bool spinning)
{
    if (!spinning) {
        launch->progress = true;
    }
    leave();
}

void
fence()
{
    annotate_release(&fence_address);
    annotate_acquire(&fence_address);
}

/* ---- shared memory ---- */

int
new_shared_id()
{
    return shared_ids++;
}

void *
shared_memory(int id, size_t size)
{
    Block &block = *running->block;
    for (const SharedArray &array : block.shared) {
        if (array.id == id) {
            annotate_acquire(array.memory);
            return array.memory;
        }
    }
    if (block.shared.size() == max_shared_arrays) {
        stop(" uses too many shared arrays");
    }
    size = id < 0 ? launch->dynamic_shared_bytes : size;
    size_t total = size;
    for (const SharedArray &array : block.shared) {
        total += array.size;
    }
    if (total > max_shared_bytes) {
        stop(" uses more than 48 KiB of shared memory: a GPU would refuse the launch");
    }
    void *const memory = std::malloc(size == 0 ? 1 : size);
    std::memset(memory, 0x5A + (int)options.order, size);
    block.shared.push_back({id, memory, size});
    annotate_release(memory); /* the filling comes before everyone's use */
    return memory;
}

} // namespace simt
