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
const Builtins *current;

namespace
{

constexpr unsigned warp_lanes = 32;
constexpr unsigned most_threads = 1024; /* of a block */
constexpr unsigned most_warps = most_threads / warp_lanes;
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

struct Warp {
    uint32_t lanes = 0;   /* those that exist */
    uint32_t waiting = 0; /* those that have arrived in an exchange and wait for others */
    std::vector<Exchange> exchanges; /* one per mask in use */
};

struct Block;

struct Thread {
    Fiber fiber;
    Block *block = nullptr;
    Builtins builtins = {};
    enum { ready, waiting, ended } state = ended;
    const uint64_t *generation = nullptr; /* of what it waits for: goes on when it has reached */
    uint64_t awaited = 0;                 /* this one */
    Exchange *exchange = nullptr;         /* its last one */
};

struct SharedArray {
    int id;
    void *memory;
    size_t size;
};

struct Block {
    std::vector<std::unique_ptr<Thread>> threads, spare;
    std::vector<Warp> warps;
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
const uint64_t never = 0; /* a generation that ends never */

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
        if (thread->state == Thread::waiting && *thread->generation >= thread->awaited) {
            thread->state = Thread::ready;
        }
        if (thread->state == Thread::ready) {
            running = thread;
            current = &thread->builtins;
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
    self->fiber.give_way(next_of_turn());
}

/* Leave the running thread until the generation that it awaits, or for ever if the launch has
 * failed. */
void
wait_for(const uint64_t &generation)
{
    running->generation = &generation;
    running->state = Thread::waiting;
    leave();
}

/* The running thread has broken a rule: it goes no further. */
void
stop(const char *why)
{
    fail(name_of(running) + why); /* no string may live on this stack: it is never unwound */
    running->awaited = never + 1;
    wait_for(never);
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
    block.warps.assign((count + warp_lanes - 1) / warp_lanes, {});
    for (Warp &warp : block.warps) {
        const size_t lanes =
            std::min<size_t>(warp_lanes, count - warp_lanes * (size_t)(&warp - block.warps.data()));
        warp.lanes = UINT32_MAX >> (warp_lanes - lanes);
        warp.exchanges.reserve(warp_lanes); /* pointers into it must stay */
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
        thread.exchange = nullptr;
        thread.fiber.start(thread_main, &thread);
    }
    annotate_release(&block);
}

/* order: 0, 1, ... count-1 as the options ask for. */
void
put_in_order(size_t *order, size_t count, std::minstd_rand &random)
{
    for (size_t i = 0; i < count; i++) {
        order[i] = options.order == 1 ? count - 1 - i : i;
    }
    for (size_t i = count; options.order > 1 && i-- > 1;) {
        std::swap(order[i], order[(uint64_t)random() * (i + 1) >> 31]);
    }
}

/* Every thread of a warp once; whether one of them got on. */
bool
run_warp(Block &block, size_t warp, std::minstd_rand &random)
{
    const size_t first = warp * warp_lanes;
    const bool before = launch->progress;
    size_t order[warp_lanes];
    launch->progress = false;
    turn.count = std::min<size_t>(warp_lanes, block.threads.size() - first);
    turn.at = 0;
    put_in_order(order, turn.count, random);
    for (size_t i = 0; i < turn.count; i++) {
        turn.threads[i] = block.threads[first + order[i]].get();
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
    size_t order[most_warps];
    put_in_order(order, block.warps.size(), random);
    for (size_t i = 0; i < block.warps.size(); i++) {
        unsigned turns = options.eager ? most_eager_turns : 1;
        while (run_warp(block, order[i], random) && --turns != 0) {
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

/* What a GPU refuses to launch; nullptr if nothing is wrong. */
static const char *
what_is_refused(dim3 grid, dim3 block, size_t bound, size_t dynamic_shared_bytes)
{
    const size_t threads = (size_t)block.x * block.y * block.z;
    return grid.x == 0 || grid.y == 0 || grid.z == 0    ? "a grid without blocks is refused"
           : grid.x > INT32_MAX                         ? "the grid is too wide"
           : grid.y > UINT16_MAX || grid.z > UINT16_MAX ? "the grid is too high"
           : threads == 0 || threads > most_threads     ? "blocks must have 1 to 1024 threads"
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
    const size_t resident = std::min<size_t>(std::max(1u, options.resident_blocks), grid_count);
    std::vector<size_t> block_order(grid_count), slot_order(resident);
    put_in_order(block_order.data(), grid_count, random);
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
        put_in_order(slot_order.data(), resident, random);
        for (const size_t slot : slot_order) {
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
    for (const auto &block : blocks) { /* of a launch that failed: what never ends */
        for (size_t i = 0; block->live != 0 && i < block->threads.size(); i++) {
            block->threads[i]->fiber.release(&current.ended);
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
    self->awaited = block.barrier_generation + 1;
    /* Not what is released at the next barrier, to which others may have come before this one goes
     * on: it would hide a race with what they do in between. */
    uint32_t *const result = &block.result[self->awaited % 2];
    annotate_release(result);
    /* Threads that have ended never arrive: waiting for them is reported as a standstill. */
    if (++block.arrived == block.threads.size()) {
        block.arrived = 0;
        *result = block.accumulated;
        block.barrier_generation++;
    } else {
        wait_for(block.barrier_generation);
    }
    annotate_acquire(result);
    return *result;
}

void
block_barrier()
{
    block_reduce(0, '|');
}

static Exchange *
find_exchange(Warp &warp, uint32_t mask)
{
    for (Exchange &exchange : warp.exchanges) {
        if (exchange.mask == mask) {
            return &exchange;
        }
    }
    if (warp.exchanges.size() == warp_lanes) {
        stop(" uses too many different masks");
    }
    warp.exchanges.emplace_back();
    warp.exchanges.back().mask = mask;
    return &warp.exchanges.back();
}

const uint64_t *
warp_exchange(uint32_t mask, uint64_t value, Collective kind)
{
    Thread *const self = running;
    const unsigned lane = self->builtins.lane;
    Warp &warp = self->block->warps[self->builtins.warp];
    if ((mask >> lane & 1u) == 0) {
        stop(" calls a warp collective whose mask does not hold its own lane");
    }
    if ((mask & ~warp.lanes) != 0) {
        stop(" calls a warp collective whose mask holds lanes that do not exist");
    }
    if (self->exchange == nullptr || self->exchange->mask != mask) {
        self->exchange = find_exchange(warp, mask);
    }
    Exchange &exchange = *self->exchange;
    if ((warp.waiting & mask & ~exchange.arrived) != 0) {
        stop(" calls a warp collective while lanes of its mask wait in one with another mask");
    }
    if (exchange.arrived != 0 && exchange.kind != kind) {
        stop(" calls another warp collective than the lanes before it");
    }
    exchange.kind = kind;
    exchange.arrived |= 1u << lane;
    warp.waiting |= 1u << lane;
    self->awaited = exchange.generation + 1;
    uint64_t *const values = exchange.values[self->awaited % 2];
    values[lane] = value;
    launch->progress = true;
    const bool orders_memory = kind == Collective::sync; /* the others give values, no more */
    if (orders_memory) {
        annotate_release(values); /* as in block_reduce */
    }
    if (exchange.arrived == mask) {
        exchange.arrived = 0;
        warp.waiting &= ~mask;
        exchange.generation++;
    } else {
        wait_for(exchange.generation);
    }
    if (orders_memory) {
        annotate_acquire(values);
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
