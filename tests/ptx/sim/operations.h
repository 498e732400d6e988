/* SPDX-License-Identifier: BSD-3-Clause
 * operations.h: for the files that define opcodes: an operation of a warp from a function of one
 * lane's values. */
#ifndef H5TWIN_PTX_OPERATIONS_H
#define H5TWIN_PTX_OPERATIONS_H

#include "warp.h"

#include <string>
#include <type_traits>

namespace ptx
{

/* F is a type with a static `apply`: D apply(A), D apply(A, B), ... */
template <class F, class D, class A>
void
unary(Warp &warp, const Instruction &i, uint32_t lanes)
{
    const A *const a = values<A>(warp, i.place[1]);
    set_lanes<D>(warp, i.place[0], lanes, [=](int lane) { return (D)F::apply(a[lane]); });
}

template <class F, class D, class A, class B>
void
binary(Warp &warp, const Instruction &i, uint32_t lanes)
{
    const A *const a = values<A>(warp, i.place[1]);
    const B *const b = values<B>(warp, i.place[2]);
    set_lanes<D>(warp, i.place[0], lanes, [=](int lane) { return (D)F::apply(a[lane], b[lane]); });
}

template <class F, class D, class A, class B, class C>
void
ternary(Warp &warp, const Instruction &i, uint32_t lanes)
{
    const A *const a = values<A>(warp, i.place[1]);
    const B *const b = values<B>(warp, i.place[2]);
    const C *const c = values<C>(warp, i.place[3]);
    set_lanes<D>(warp, i.place[0], lanes,
                 [=](int lane) { return (D)F::apply(a[lane], b[lane], c[lane]); });
}

template <class D, class A, class F>
void
add_unary(const std::string &name)
{
    add_opcode(name, unary<F, D, A>, {sizeof(D), sizeof(A)});
}

template <class D, class A, class B, class F>
void
add_binary(const std::string &name)
{
    add_opcode(name, binary<F, D, A, B>, {sizeof(D), sizeof(A), sizeof(B)});
}

template <class D, class A, class B, class C, class F>
void
add_ternary(const std::string &name)
{
    add_opcode(name, ternary<F, D, A, B, C>, {sizeof(D), sizeof(A), sizeof(B), sizeof(C)});
}

/* A comparison: F::apply(a, b) is true or false. */
template <class F, class T>
void
compare(Warp &warp, const Instruction &i, uint32_t lanes)
{
    const T *const a = values<T>(warp, i.place[1]);
    const T *const b = values<T>(warp, i.place[2]);
    uint32_t mask = 0;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        mask |= (uint32_t)F::apply(a[lane], b[lane]) << lane;
    }
    set_predicate(warp, i.place[0], lanes, mask);
}

template <class T, class F>
void
add_compare(const std::string &name)
{
    add_opcode(name, compare<F, T>, {1, sizeof(T), sizeof(T)});
}

template <class T>
void
select(Warp &warp, const Instruction &i, uint32_t lanes)
{
    const T *const a = values<T>(warp, i.place[1]);
    const T *const b = values<T>(warp, i.place[2]);
    const uint32_t mask = predicate(warp, i.place[3], i.negated[0]);
    set_lanes<T>(warp, i.place[0], lanes,
                 [=](int lane) { return mask >> lane & 1 ? a[lane] : b[lane]; });
}

struct Copied {
    template <class T>
    static T
    apply(T a)
    {
        return a;
    }
};

/* mov and selp, which every type has. */
template <class T>
void
add_moves(const std::string &type)
{
    add_unary<T, T, Copied>("mov." + type);
    add_opcode("selp." + type, select<T>, {sizeof(T), sizeof(T), sizeof(T), 1});
}

struct Equal {
    template <class T>
    static bool
    apply(T a, T b)
    {
        return a == b;
    }
};
struct NotEqual {
    template <class T>
    static bool
    apply(T a, T b)
    {
        return a != b;
    }
};
struct Less {
    template <class T>
    static bool
    apply(T a, T b)
    {
        return a < b;
    }
};
struct LessEqual {
    template <class T>
    static bool
    apply(T a, T b)
    {
        return a <= b;
    }
};
struct Greater {
    template <class T>
    static bool
    apply(T a, T b)
    {
        return a > b;
    }
};
struct GreaterEqual {
    template <class T>
    static bool
    apply(T a, T b)
    {
        return a >= b;
    }
};

} // namespace ptx

#endif
