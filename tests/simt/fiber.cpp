/* SPDX-License-Identifier: BSD-3-Clause
 * fiber.cpp: see fiber.h. For ThreadSanitizer only the kernels are instrumented, not the emulator,
 * whose own state belongs to no CUDA thread: SIMT_TSAN tells this file. glibc's swapcontext also
 * saves the signal mask, by a system call that takes far longer than all the rest, and a test
 * switches millions of times: on x86-64 a few instructions of our own do it. */
#include "fiber.h"

#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#    define SIMT_ASAN 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define SIMT_ASAN 1
#    endif
#endif
#ifdef SIMT_ASAN
#    include <sanitizer/common_interface_defs.h>
#endif
#ifdef SIMT_TSAN
#    include <sanitizer/tsan_interface.h>
#endif

#ifdef __x86_64__
/* Save what a call preserves and the stack pointer, go on where another call was made. */
extern "C" void h5twin_simt_switch(void **from, void *to);
asm(".text\n"
    ".type h5twin_simt_switch, @function\n"
    "h5twin_simt_switch:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    ret\n"
    ".size h5twin_simt_switch, . - h5twin_simt_switch\n");
#endif

namespace simt
{

static Fiber *resumed; /* the one that runs, or is about to */

#ifdef __x86_64__
static void
switch_context(void **from, void **to)
{
    h5twin_simt_switch(from, *to);
}
#else
static void
switch_context(ucontext_t *from, ucontext_t *to)
{
    swapcontext(from, to);
}
#endif

Fiber::Fiber()
{
    /* A page without access below the stack: an overflow crashes instead of spreading. */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    stack_ = static_cast<char *>(mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    mprotect(stack_, page, PROT_NONE);
    stack_ += page;
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

void
Fiber::trampoline()
{
    Fiber *const fiber = resumed;
#ifdef SIMT_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &fiber->scheduler_stack_,
                                    &fiber->scheduler_stack_size_);
#endif
    fiber->entry_(fiber->argument_);
    for (;;) {
        fiber->suspend();
    }
}

void
Fiber::start(void (*entry)(void *), void *argument)
{
    entry_ = entry;
    argument_ = argument;
#ifdef __x86_64__
    /* As if trampoline had been called, with a return address of 0, and its first instruction were
     * where a switch went on. */
    void **const top = reinterpret_cast<void **>(stack_ + stack_bytes);
    top[-1] = nullptr;
    top[-2] = reinterpret_cast<void *>(trampoline);
    for (int i = 3; i <= 8; i++) {
        top[-i] = nullptr;
    }
    context_ = top - 8;
#else
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_;
    context_.uc_stack.ss_size = stack_bytes;
    context_.uc_link = nullptr;
    makecontext(&context_, trampoline, 0);
#endif
}

void
Fiber::resume()
{
    resumed = this;
#ifdef SIMT_TSAN
    tsan_scheduler_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_fiber_, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef SIMT_ASAN
    void *fake_stack;
    __sanitizer_start_switch_fiber(&fake_stack, stack_, stack_bytes);
#endif
    switch_context(&scheduler_, &context_);
#ifdef SIMT_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

void
Fiber::suspend()
{
#ifdef SIMT_TSAN
    __tsan_switch_to_fiber(tsan_scheduler_, __tsan_switch_to_fiber_no_sync);
#endif
#ifdef SIMT_ASAN
    __sanitizer_start_switch_fiber(&asan_stack_, scheduler_stack_, scheduler_stack_size_);
#endif
    switch_context(&context_, &scheduler_);
#ifdef SIMT_ASAN
    __sanitizer_finish_switch_fiber(asan_stack_, &scheduler_stack_, &scheduler_stack_size_);
#endif
}

void
annotate_release(void *address)
{
#ifdef SIMT_TSAN
    __tsan_release(address);
#else
    (void)address;
#endif
}

void
annotate_acquire(void *address)
{
#ifdef SIMT_TSAN
    __tsan_acquire(address);
#else
    (void)address;
#endif
}

} // namespace simt
