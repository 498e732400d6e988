/* SPDX-License-Identifier: BSD-3-Clause
 * fiber.h: stackful coroutines that the sanitizers understand. */
#ifndef H5TWIN_SIMT_FIBER_H
#define H5TWIN_SIMT_FIBER_H

#include <cstddef>
#ifndef __x86_64__
#    include <ucontext.h>
#endif

namespace simt
{

/* One stack and what runs on it. A fiber that has ended, or is dropped half-way, can be started
 * again. Switching goes between the scheduler (the thread's own stack) and one fiber. */
class Fiber
{
  public:
    Fiber();
    ~Fiber();
    Fiber(const Fiber &) = delete;
    Fiber &operator=(const Fiber &) = delete;

    void start(void (*entry)(void *), void *argument); /* runs at the next resume */
    void resume();                                     /* scheduler -> fiber, until it suspends */
    void suspend();                                    /* fiber -> scheduler */

    static constexpr size_t stack_bytes = 64 * 1024;

  private:
#ifdef __x86_64__
    using Context = void *; /* the stack pointer; the rest lies on the stack */
#else
    using Context = ucontext_t;
#endif
    static void swap(Context *from, Context *to);
    static void trampoline();

    char *stack_;
    size_t unused_bytes_; /* at its upper end */
    Context context_;
    Context scheduler_;
    void (*entry_)(void *);
    void *argument_;
    bool is_half_way_ = false;
    void *asan_stack_ = nullptr;
    const void *scheduler_stack_ = nullptr;
    size_t scheduler_stack_size_ = 0;
    void *tsan_fiber_ = nullptr;
    void *tsan_scheduler_ = nullptr;
};

/* Order what happened before release(x) before what happens after acquire(x), for ThreadSanitizer.
 */
void annotate_release(void *address);
void annotate_acquire(void *address);

} // namespace simt

#endif
