/* SPDX-License-Identifier: BSD-3-Clause
 * ops_integer.cpp: arithmetic and comparisons of integers. */
#include "operations.h"

namespace ptx
{

namespace
{

/* Arithmetic that wraps; in 32 bits at least, as C++ would promote shorter ones to int. */
template <class T> using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

struct Add {
    template <class T>
    static T
    apply(T a, T b)
    {
        return (T)((Wide<T>)a + (Wide<T>)b);
    }
};
struct Subtract {
    template <class T>
    static T
    apply(T a, T b)
    {
        return (T)((Wide<T>)a - (Wide<T>)b);
    }
};
struct MultiplyLow {
    template <class T>
    static T
    apply(T a, T b)
    {
        return (T)((Wide<T>)a * (Wide<T>)b);
    }
};
struct MultiplyAdd {
    template <class T>
    static T
    apply(T a, T b, T c)
    {
        return (T)((Wide<T>)a * (Wide<T>)b + (Wide<T>)c);
    }
};

template <class T> struct Doubled;
template <> struct Doubled<uint16_t> {
    using type = uint32_t;
};
template <> struct Doubled<int16_t> {
    using type = int32_t;
};
template <> struct Doubled<uint32_t> {
    using type = uint64_t;
};
template <> struct Doubled<int32_t> {
    using type = int64_t;
};
template <> struct Doubled<uint64_t> {
    using type = unsigned __int128;
};
template <> struct Doubled<int64_t> {
    using type = __int128;
};
template <class T> using DoubledType = typename Doubled<T>::type;

template <class T> struct MultiplyHigh {
    static T
    apply(T a, T b)
    {
        return (T)((DoubledType<T>)((DoubledType<T>)a * (DoubledType<T>)b) >> 8 * sizeof(T));
    }
};
template <class T> struct MultiplyWide {
    static DoubledType<T>
    apply(T a, T b)
    {
        return (DoubledType<T>)((DoubledType<T>)a * (DoubledType<T>)b);
    }
};
template <class T> struct MultiplyAddWide {
    static DoubledType<T>
    apply(T a, T b, DoubledType<T> c)
    {
        using U = Wide<DoubledType<T>>;
        return (DoubledType<T>)((U)((DoubledType<T>)a * (DoubledType<T>)b) + (U)c);
    }
};

/* By zero: not defined by PTX; all ones, as GPUs do. */
struct Divide {
    template <class T>
    static T
    apply(T a, T b)
    {
        if (b == 0) {
            return (T)-1;
        }
        return std::is_signed<T>::value && b == (T)-1 ? (T)(0 - (Wide<T>)a) : (T)(a / b);
    }
};
struct Remainder {
    template <class T>
    static T
    apply(T a, T b)
    {
        if (b == 0) {
            return a;
        }
        return std::is_signed<T>::value && b == (T)-1 ? (T)0 : (T)(a % b);
    }
};
struct Minimum {
    template <class T>
    static T
    apply(T a, T b)
    {
        return b < a ? b : a;
    }
};
struct Maximum {
    template <class T>
    static T
    apply(T a, T b)
    {
        return b > a ? b : a;
    }
};
struct Negate {
    template <class T>
    static T
    apply(T a)
    {
        return (T)(0 - (Wide<T>)a);
    }
};
struct Absolute {
    template <class T>
    static T
    apply(T a)
    {
        return a < 0 ? (T)(0 - (Wide<T>)a) : a;
    }
};

/* Signed values fill up with their sign; shifts of as many bits as there are, or more, with all. */
struct ShiftRight {
    template <class T>
    static T
    apply(T a, uint32_t count)
    {
        constexpr uint32_t most = 8 * sizeof(T) - 1;
        const bool is_over = count > most;
        const T shifted = (T)(a >> (is_over ? most : count));
        return is_over && !std::is_signed<T>::value ? (T)0 : shifted;
    }
};

template <class T>
void
add_type(const std::string &type)
{
    add_moves<T>(type);
    add_binary<T, T, T, Add>("add." + type);
    add_binary<T, T, T, Subtract>("sub." + type);
    add_binary<T, T, T, MultiplyLow>("mul.lo." + type);
    add_binary<T, T, T, MultiplyHigh<T>>("mul.hi." + type);
    add_ternary<T, T, T, T, MultiplyAdd>("mad.lo." + type);
    add_binary<T, T, T, Divide>("div." + type);
    add_binary<T, T, T, Remainder>("rem." + type);
    add_binary<T, T, T, Minimum>("min." + type);
    add_binary<T, T, T, Maximum>("max." + type);
    add_binary<T, T, uint32_t, ShiftRight>("shr." + type);
    add_compare<T, Equal>("setp.eq." + type);
    add_compare<T, NotEqual>("setp.ne." + type);
    add_compare<T, Less>("setp.lt." + type);
    add_compare<T, LessEqual>("setp.le." + type);
    add_compare<T, Greater>("setp.gt." + type);
    add_compare<T, GreaterEqual>("setp.ge." + type);
    if (std::is_signed<T>::value) {
        add_unary<T, T, Negate>("neg." + type);
        add_unary<T, T, Absolute>("abs." + type);
    } else {
        add_compare<T, Less>("setp.lo." + type);
        add_compare<T, LessEqual>("setp.ls." + type);
        add_compare<T, Greater>("setp.hi." + type);
        add_compare<T, GreaterEqual>("setp.hs." + type);
    }
}

template <class T>
void
add_wide(const std::string &type)
{
    using D = DoubledType<T>;
    add_binary<D, T, T, MultiplyWide<T>>("mul.wide." + type);
    add_ternary<D, T, T, D, MultiplyAddWide<T>>("mad.wide." + type);
}

} // namespace

void
add_integer_opcodes()
{
    add_type<uint16_t>("u16");
    add_type<int16_t>("s16");
    add_type<uint32_t>("u32");
    add_type<int32_t>("s32");
    add_type<uint64_t>("u64");
    add_type<int64_t>("s64");
    add_wide<uint16_t>("u16");
    add_wide<int16_t>("s16");
    add_wide<uint32_t>("u32");
    add_wide<int32_t>("s32");
}

} // namespace ptx
