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
 * again. The scheduler is what runs on the thread's own stack. */
class Fiber
{
  public:
    using Entry = Fiber *(*)(void *); /* returns who goes on, as give_way takes it */

    Fiber();
    ~Fiber();
    Fiber(const Fiber &) = delete;
    Fiber &operator=(const Fiber &) = delete;

    void start(Entry entry, void *argument); /* runs at the next switch to this fiber */
    void resume();               /* scheduler -> this fiber, until one gives way to the scheduler */
    void give_way(Fiber *next);  /* this fiber -> next, or the scheduler if there is none */
    void release(void *address); /* annotate_release by this fiber, while the scheduler runs */

    static constexpr size_t stack_bytes = 64 * 1024;

  private:
#ifdef __x86_64__
    using Context = void *; /* the stack pointer; the rest lies on the stack */
#else
    using Context = ucontext_t;
#endif
    struct Scheduler;
    static Scheduler scheduler;
    static void swap(Context *from, Context *to);
    static void trampoline();
    void announce(bool by_scheduler, void **asan_stack_of_last); /* that this fiber runs next */
    void arrive();                                               /* and runs now */

    char *stack_;
    size_t unused_bytes_; /* at its upper end */
    Context context_;
    Entry entry_;
    void *argument_;
    bool is_half_way_ = false;
    void *asan_stack_ = nullptr;
    void *tsan_fiber_ = nullptr;
};

/* Order what happened before release(x) before what happens after acquire(x), for ThreadSanitizer.
 */
#ifdef SIMT_TSAN
void annotate_release(void *address);
void annotate_acquire(void *address);
#else
inline void
annotate_release(void *)
{
}
inline void
annotate_acquire(void *)
{
}
#endif

} // namespace simt

#endif
