/* SPDX-License-Identifier: BSD-3-Clause
 * fiber.cpp: see fiber.h. For sanitizers only the kernels are instrumented, not the scheduler,
 * whose own state belongs to no CUDA thread: SIMT_ASAN or SIMT_TSAN tells this file. ucontext saves
 * the registers; glibc's swapcontext also saves the signal mask with a system call, which is most
 * of a switch's cost and does not matter here. */
#include "fiber.h"

#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

#ifdef SIMT_ASAN
#    include <sanitizer/asan_interface.h>
#    include <sanitizer/common_interface_defs.h>
#endif
#ifdef SIMT_TSAN
#    include <sanitizer/tsan_interface.h>
#endif

namespace simt
{

Fiber::Fiber()
{
    /* A page without access below the stack: an overflow crashes instead of spreading. */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    stack_ = static_cast<char *>(mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    mprotect(stack_, page, PROT_NONE);
    stack_ += page;
    /* Stacks lie on pages: without this the same few sets of a cache would hold all their ends. */
    static size_t count = 0;
    unused_bytes_ = count++ % 61 * 64;
#ifdef SIMT_TSAN
    tsan_fiber_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber()
{
#ifdef SIMT_TSAN
    __tsan_destroy_fiber(tsan_fiber_);
#endif
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(stack_ - page, page + stack_bytes);
}

#ifdef __x86_64__
/* swapcontext makes a system call for the signal mask, which would be most of an emulation. */
extern "C" void h5twin_simt_swap(void **from, void *to);
asm(R"(
    .text
    .type h5twin_simt_swap, @function
h5twin_simt_swap:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size h5twin_simt_swap, . - h5twin_simt_swap
)");

void
Fiber::swap(Context *from, Context *to)
{
    h5twin_simt_swap(from, *to);
}
#else
void
Fiber::swap(Context *from, Context *to)
{
    swapcontext(from, to);
}
#endif

/* What runs on the thread's own stack, and which fiber it or another one switched to last. */
struct Fiber::Scheduler {
    Context context;
    Fiber *entered;
    bool has_entered_it; /* rather than another fiber */
    const void *stack;
    size_t stack_size;
    void *asan_stack;
    void *tsan_fiber;
};
Fiber::Scheduler Fiber::scheduler;

void
Fiber::announce(bool by_scheduler, void **asan_stack_of_last)
{
    scheduler.entered = this;
    scheduler.has_entered_it = by_scheduler;
#ifdef SIMT_TSAN
    __tsan_switch_to_fiber(tsan_fiber_, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef SIMT_ASAN
    __sanitizer_start_switch_fiber(asan_stack_of_last, stack_, stack_bytes);
#else
    (void)asan_stack_of_last;
#endif
}

void
Fiber::arrive()
{
#ifdef SIMT_ASAN
    const bool tells_scheduler = scheduler.has_entered_it;
    __sanitizer_finish_switch_fiber(asan_stack_, tells_scheduler ? &scheduler.stack : nullptr,
                                    tells_scheduler ? &scheduler.stack_size : nullptr);
#endif
}

void
Fiber::trampoline()
{
    Fiber *const fiber = scheduler.entered;
    fiber->asan_stack_ = nullptr;
    fiber->arrive();
    Fiber *const next = fiber->entry_(fiber->argument_);
    fiber->is_half_way_ = false;
    fiber->give_way(next); /* for ever: only start() follows */
}

void
Fiber::start(Entry entry, void *argument)
{
#ifdef SIMT_ASAN
    if (is_half_way_) { /* what it was dropped with still guards its local variables */
        __asan_unpoison_memory_region(stack_, stack_bytes);
    }
#endif
    is_half_way_ = true;
    entry_ = entry;
    argument_ = argument;
#ifdef __x86_64__
    /* What h5twin_simt_swap takes from the stack: six registers and where it returns to, with the
     * stack aligned as after a call. */
    void **const top = reinterpret_cast<void **>(stack_ + stack_bytes - unused_bytes_);
    top[-1] = nullptr;
    top[-2] = reinterpret_cast<void *>(trampoline);
    for (int i = 3; i <= 8; i++) {
        top[-i] = nullptr;
    }
    context_ = top - 8;
#else
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_;
    context_.uc_stack.ss_size = stack_bytes - unused_bytes_;
    context_.uc_link = nullptr;
    makecontext(&context_, trampoline, 0);
#endif
}

void
Fiber::resume()
{
#ifdef SIMT_TSAN
    scheduler.tsan_fiber = __tsan_get_current_fiber();
#endif
    announce(true, &scheduler.asan_stack);
    swap(&scheduler.context, &context_);
#ifdef SIMT_ASAN
    __sanitizer_finish_switch_fiber(scheduler.asan_stack, nullptr, nullptr);
#endif
}

void
Fiber::give_way(Fiber *next)
{
    if (next != nullptr) {
        next->announce(false, &asan_stack_);
    } else {
#ifdef SIMT_TSAN
        __tsan_switch_to_fiber(scheduler.tsan_fiber, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef SIMT_ASAN
        __sanitizer_start_switch_fiber(&asan_stack_, scheduler.stack, scheduler.stack_size);
#endif
    }
    swap(&context_, next != nullptr ? &next->context_ : &scheduler.context);
    arrive();
}

void
Fiber::release(void *address)
{
#ifdef SIMT_TSAN
    void *const scheduler_fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_fiber_, __tsan_switch_to_fiber_no_sync);
    annotate_release(address);
    __tsan_switch_to_fiber(scheduler_fiber, __tsan_switch_to_fiber_no_sync);
#else
    (void)address;
#endif
}

#ifdef SIMT_TSAN
void
annotate_release(void *address)
{
    __tsan_release(address);
}

void
annotate_acquire(void *address)
{
    __tsan_acquire(address);
}
#endif

} // namespace simt
