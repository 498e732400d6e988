/* SPDX-License-Identifier: BSD-3-Clause
 * ops_float.cpp: arithmetic and comparisons of floating-point numbers, IEEE 754's; compiled without
 * contraction. */
#include "operations.h"

#include <cmath>

namespace ptx
{

namespace
{

/* PTX's results that are NaN are the canonical one; those of x86 have a sign. */
template <class T>
T
canonical(T a)
{
    if (a == a) {
        return a;
    }
    if (sizeof(T) == 4) {
        const uint32_t bits = 0x7FFFFFFFu;
        T nan;
        memcpy(&nan, &bits, sizeof nan);
        return nan;
    }
    const uint64_t bits = 0x7FF8000000000000ull;
    T nan;
    memcpy(&nan, &bits, sizeof nan);
    return nan;
}

struct Add {
    template <class T>
    static T
    apply(T a, T b)
    {
        return canonical(a + b);
    }
};
struct Subtract {
    template <class T>
    static T
    apply(T a, T b)
    {
        return canonical(a - b);
    }
};
struct Multiply {
    template <class T>
    static T
    apply(T a, T b)
    {
        return canonical(a * b);
    }
};
struct Divide {
    template <class T>
    static T
    apply(T a, T b)
    {
        return canonical(a / b);
    }
};
struct MultiplyAdd {
    template <class T>
    static T
    apply(T a, T b, T c)
    {
        return canonical(std::fma(a, b, c));
    }
};
struct Reciprocal {
    template <class T>
    static T
    apply(T a)
    {
        return canonical(1 / a);
    }
};
struct SquareRoot {
    template <class T>
    static T
    apply(T a)
    {
        return canonical(std::sqrt(a));
    }
};
/* A NaN loses against a number, and -0 is less than 0. */
struct Minimum {
    template <class T>
    static T
    apply(T a, T b)
    {
        if (a != a || b != b) {
            return canonical(a != a ? b : a);
        }
        return a < b || (a == b && std::signbit(a)) ? a : b;
    }
};
struct Maximum {
    template <class T>
    static T
    apply(T a, T b)
    {
        if (a != a || b != b) {
            return canonical(a != a ? b : a);
        }
        return a > b || (a == b && !std::signbit(a)) ? a : b;
    }
};
struct Negate {
    template <class T>
    static T
    apply(T a)
    {
        return -a;
    }
};
struct Absolute {
    template <class T>
    static T
    apply(T a)
    {
        return std::fabs(a);
    }
};

/* Ordered comparisons are false with a NaN, those with u are true. */
template <class F> struct Unordered {
    template <class T>
    static bool
    apply(T a, T b)
    {
        return a != a || b != b || F::apply(a, b);
    }
};
struct OrderedNotEqual {
    template <class T>
    static bool
    apply(T a, T b)
    {
        return a < b || a > b;
    }
};
struct BothNumbers {
    template <class T>
    static bool
    apply(T a, T b)
    {
        return a == a && b == b;
    }
};
struct AnyNan {
    template <class T>
    static bool
    apply(T a, T b)
    {
        return a != a || b != b;
    }
};

template <class T>
void
add_type(const std::string &type)
{
    add_moves<T>(type);
    add_binary<T, T, T, Add>("add.rn." + type);
    add_binary<T, T, T, Subtract>("sub.rn." + type);
    add_binary<T, T, T, Multiply>("mul.rn." + type);
    /* Without a mode: to the nearest, too, and free to be contracted, which nothing here does. */
    add_binary<T, T, T, Add>("add." + type);
    add_binary<T, T, T, Subtract>("sub." + type);
    add_binary<T, T, T, Multiply>("mul." + type);
    add_binary<T, T, T, Divide>("div.rn." + type);
    add_ternary<T, T, T, T, MultiplyAdd>("fma.rn." + type);
    add_unary<T, T, Reciprocal>("rcp.rn." + type);
    add_unary<T, T, SquareRoot>("sqrt.rn." + type);
    add_binary<T, T, T, Minimum>("min." + type);
    add_binary<T, T, T, Maximum>("max." + type);
    add_unary<T, T, Negate>("neg." + type);
    add_unary<T, T, Absolute>("abs." + type);
    add_compare<T, Equal>("setp.eq." + type);
    add_compare<T, OrderedNotEqual>("setp.ne." + type);
    add_compare<T, Less>("setp.lt." + type);
    add_compare<T, LessEqual>("setp.le." + type);
    add_compare<T, Greater>("setp.gt." + type);
    add_compare<T, GreaterEqual>("setp.ge." + type);
    add_compare<T, Unordered<Equal>>("setp.equ." + type);
    add_compare<T, Unordered<NotEqual>>("setp.neu." + type);
    add_compare<T, Unordered<Less>>("setp.ltu." + type);
    add_compare<T, Unordered<LessEqual>>("setp.leu." + type);
    add_compare<T, Unordered<Greater>>("setp.gtu." + type);
    add_compare<T, Unordered<GreaterEqual>>("setp.geu." + type);
    add_compare<T, BothNumbers>("setp.num." + type);
    add_compare<T, AnyNan>("setp.nan." + type);
}

} // namespace

void
add_float_opcodes()
{
    add_type<float>("f32");
    add_type<double>("f64");
}

} // namespace ptx
