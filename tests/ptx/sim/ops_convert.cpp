/* SPDX-License-Identifier: BSD-3-Clause
 * ops_convert.cpp: cvt, between all types of 8 to 64 bits. */
#include "operations.h"

#include <cmath>
#include <limits>

namespace ptx
{

namespace
{

/* Integers in registers may be wider than their type: the source's upper bits do not count, the
 * destination is extended by its type's sign. */
template <class D, class S> struct ToInteger {
    static D
    apply(S a)
    {
        return (D)a;
    }
};

/* To floating point, to the nearest. */
template <class D, class S> struct ToFloat {
    static D
    apply(S a)
    {
        return (D)a;
    }
};

/* Between f32 and f64: a NaN becomes the canonical one. */
template <class D, class S> struct BetweenFloats {
    static D
    apply(S a)
    {
        if (a != a) {
            return sizeof(D) == 4 ? (D)std::numeric_limits<float>::quiet_NaN()
                                  : (D)std::numeric_limits<double>::quiet_NaN();
        }
        return (D)a;
    }
};

enum class Round { nearest, zero, down, up };

template <Round round, class T>
T
rounded(T a)
{
    switch (round) {
    case Round::nearest:
        return std::nearbyint(a);
    case Round::zero:
        return std::trunc(a);
    case Round::down:
        return std::floor(a);
    default:
        return std::ceil(a);
    }
}

/* What does not fit becomes the nearest that does. A NaN becomes 0 if it is of 32 bits and the
 * integer too or narrower, else the top bit alone. */
template <Round round, class D, class S> struct FloatToInteger {
    static D
    apply(S a)
    {
        if (a != a) {
            return sizeof(S) == 8 || sizeof(D) == 8 ? (D)((D)1 << (8 * sizeof(D) - 1)) : (D)0;
        }
        const S whole = rounded<round>(a);
        const S end = (S)std::ldexp(1.0, (int)(8 * sizeof(D)) - (std::is_signed<D>::value ? 1 : 0));
        const S begin = std::is_signed<D>::value ? -end : (S)0;
        if (whole >= end) {
            return std::numeric_limits<D>::max();
        }
        return whole < begin ? std::numeric_limits<D>::min() : (D)whole;
    }
};

/* To a whole number in the same format. */
template <Round round, class T> struct ToWhole {
    static T
    apply(T a)
    {
        return rounded<round>(a);
    }
};

template <Round round, class S>
void
add_float_to_integers(const std::string &mode, const std::string &source)
{
    add_unary<int32_t, S, FloatToInteger<round, int32_t, S>>("cvt." + mode + ".s32." + source);
    add_unary<uint32_t, S, FloatToInteger<round, uint32_t, S>>("cvt." + mode + ".u32." + source);
    add_unary<int64_t, S, FloatToInteger<round, int64_t, S>>("cvt." + mode + ".s64." + source);
    add_unary<uint64_t, S, FloatToInteger<round, uint64_t, S>>("cvt." + mode + ".u64." + source);
    add_unary<S, S, ToWhole<round, S>>("cvt." + mode + "." + source + "." + source);
}

template <class S>
void
add_float_source(const std::string &source)
{
    add_float_to_integers<Round::nearest, S>("rni", source);
    add_float_to_integers<Round::zero, S>("rzi", source);
    add_float_to_integers<Round::down, S>("rmi", source);
    add_float_to_integers<Round::up, S>("rpi", source);
}

/* Short types may have wider registers. */
template <class D, class S>
void
convert_integer(Warp &warp, const Instruction &i, uint32_t lanes)
{
    for_each_lane(lanes, [&](int lane) {
        const S a = (S)value_of(warp, i.place[1], i.size[1], lane);
        const uint64_t extended =
            (uint64_t)(std::is_signed<D>::value ? (int64_t)(D)a : (int64_t)(uint64_t)(D)a);
        set_value(warp, i.place[0], i.size[0], lane, extended);
    });
}

template <class D, class S>
void
add_integer_pair(const std::string &destination, const std::string &source)
{
    const std::string name = "cvt." + destination + "." + source;
    if (sizeof(D) < 4 || sizeof(S) < 4) { /* registers of any size: 0 */
        add_opcode(name, convert_integer<D, S>,
                   {sizeof(D) < 4 ? (uint8_t)0 : (uint8_t)sizeof(D),
                    sizeof(S) < 4 ? (uint8_t)0 : (uint8_t)sizeof(S)});
    } else {
        add_unary<D, S, ToInteger<D, S>>(name);
    }
}

template <class S>
void
add_integer_source(const std::string &source)
{
    add_integer_pair<uint8_t, S>("u8", source);
    add_integer_pair<int8_t, S>("s8", source);
    add_integer_pair<uint16_t, S>("u16", source);
    add_integer_pair<int16_t, S>("s16", source);
    add_integer_pair<uint32_t, S>("u32", source);
    add_integer_pair<int32_t, S>("s32", source);
    add_integer_pair<uint64_t, S>("u64", source);
    add_integer_pair<int64_t, S>("s64", source);
    if (sizeof(S) > 1) {
        add_unary<float, S, ToFloat<float, S>>("cvt.rn.f32." + source);
        add_unary<double, S, ToFloat<double, S>>("cvt.rn.f64." + source);
    }
}

} // namespace

void
add_convert_opcodes()
{
    add_integer_source<uint8_t>("u8");
    add_integer_source<int8_t>("s8");
    add_integer_source<uint16_t>("u16");
    add_integer_source<int16_t>("s16");
    add_integer_source<uint32_t>("u32");
    add_integer_source<int32_t>("s32");
    add_integer_source<uint64_t>("u64");
    add_integer_source<int64_t>("s64");
    add_float_source<float>("f32");
    add_float_source<double>("f64");
    add_unary<double, float, BetweenFloats<double, float>>("cvt.f64.f32");
    add_unary<float, double, BetweenFloats<float, double>>("cvt.rn.f32.f64");
}

} // namespace ptx
