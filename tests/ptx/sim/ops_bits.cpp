/* SPDX-License-Identifier: BSD-3-Clause
 * ops_bits.cpp: logic, shifts, bit fields and predicates. */
#include "operations.h"

namespace ptx
{

namespace
{

struct And {
    template <class T>
    static T
    apply(T a, T b)
    {
        return a & b;
    }
};
struct Or {
    template <class T>
    static T
    apply(T a, T b)
    {
        return a | b;
    }
};
struct Xor {
    template <class T>
    static T
    apply(T a, T b)
    {
        return a ^ b;
    }
};
struct Not {
    template <class T>
    static T
    apply(T a)
    {
        return (T)~a;
    }
};
struct ShiftLeft {
    template <class T>
    static T
    apply(T a, uint32_t count)
    {
        constexpr uint32_t bits = 8 * sizeof(T);
        return count >= bits ? (T)0 : (T)(a << count);
    }
};
struct ShiftRight {
    template <class T>
    static T
    apply(T a, uint32_t count)
    {
        constexpr uint32_t bits = 8 * sizeof(T);
        return count >= bits ? (T)0 : (T)(a >> count);
    }
};

struct CountOnes {
    static uint32_t
    apply(uint64_t a)
    {
        return (uint32_t)__builtin_popcountll(a);
    }
};
template <class T> struct LeadingZeros {
    static uint32_t
    apply(T a)
    {
        const uint32_t unused = 64 - 8 * sizeof(T);
        return a == 0 ? 8 * sizeof(T) : (uint32_t)__builtin_clzll(a) - unused;
    }
};
struct Reverse {
    template <class T>
    static T
    apply(T a)
    {
        T reversed = 0;
        for (unsigned bit = 0; bit < 8 * sizeof(T); bit++) {
            reversed = (T)(reversed << 1 | (a >> bit & 1));
        }
        return reversed;
    }
};
/* The highest bit, or of a negative number the highest zero; with `shift`, how far from the top. */
template <class T, bool shift> struct FindHighest {
    static uint32_t
    apply(T a)
    {
        using U = std::make_unsigned_t<T>;
        const U x = a < 0 ? (U)~a : (U)a;
        const uint32_t zeros = LeadingZeros<U>::apply(x);
        if (x == 0) {
            return 0xFFFFFFFFu;
        }
        return shift ? zeros : 8 * (uint32_t)sizeof(T) - 1 - zeros;
    }
};
/* Of 64 bits, b above a, the upper or the lower half after the shift. */
template <bool left, bool wraps> struct FunnelShift {
    static uint32_t
    apply(uint32_t a, uint32_t b, uint32_t c)
    {
        const uint32_t count = wraps ? c & 31 : c < 32 ? c : 32;
        const uint64_t both = (uint64_t)b << 32 | a;
        return (uint32_t)(left ? both << count >> 32 : both >> count);
    }
};
/* Byte i of the result is the byte of b:a that nibble i of c names; its top bit: the sign only. */
struct Permute {
    static uint32_t
    apply(uint32_t a, uint32_t b, uint32_t c)
    {
        const uint64_t bytes = (uint64_t)b << 32 | a;
        uint32_t result = 0;
        for (unsigned i = 0; i < 4; i++) {
            const uint32_t selector = c >> 4 * i & 15;
            uint32_t byte = (uint32_t)(bytes >> 8 * (selector & 7)) & 255;
            if ((selector & 8) != 0) {
                byte = (byte & 128) != 0 ? 255 : 0;
            }
            result |= byte << 8 * i;
        }
        return result;
    }
};
template <bool wraps> struct BitMask {
    static uint32_t
    apply(uint32_t position, uint32_t width)
    {
        if (wraps) {
            position &= 31;
            width &= 31;
        }
        if (position >= 32) {
            return 0;
        }
        const uint64_t ones = width >= 32 ? 0xFFFFFFFFull : (1ull << width) - 1;
        return (uint32_t)(ones << position);
    }
};

/* d = b with the low c[1] bits of a from bit c[0] on. */
template <class T>
void
insert_field(Warp &warp, const Instruction &i, uint32_t lanes)
{
    const T *const a = values<T>(warp, i.place[1]);
    const T *const b = values<T>(warp, i.place[2]);
    const uint32_t *const positions = values<uint32_t>(warp, i.place[3]);
    const uint32_t *const lengths = values<uint32_t>(warp, i.place[4]);
    set_lanes<T>(warp, i.place[0], lanes, [=](int lane) {
        constexpr uint32_t bits = 8 * sizeof(T);
        const uint32_t position = positions[lane] & 255, length = lengths[lane] & 255;
        const T ones = length >= bits ? (T) ~(T)0 : (T)(((T)1 << length) - 1);
        const T field = position >= bits ? (T)0 : (T)(ones << position);
        const T value = position >= bits ? (T)0 : (T)(a[lane] << position);
        return (T)((b[lane] & ~field) | (value & field));
    });
}

/* Bits behind the top one are copies of the sign, or of zero. */
template <class T>
void
extract_field(Warp &warp, const Instruction &i, uint32_t lanes)
{
    const T *const a = values<T>(warp, i.place[1]);
    const uint32_t *const positions = values<uint32_t>(warp, i.place[2]);
    const uint32_t *const lengths = values<uint32_t>(warp, i.place[3]);
    set_lanes<T>(warp, i.place[0], lanes, [=](int lane) {
        using U = std::make_unsigned_t<T>;
        constexpr uint32_t bits = 8 * sizeof(T);
        const uint32_t position = positions[lane] & 255, length = lengths[lane] & 255;
        if (length == 0) {
            return (T)0;
        }
        const uint32_t top = position + length - 1 < bits ? position + length - 1 : bits - 1;
        const bool sign = std::is_signed<T>::value && ((U)a[lane] >> top & 1) != 0;
        const U fill = sign ? (U) ~(U)0 : (U)0;
        const U from = position >= bits ? fill : (U)((U)a[lane] >> position);
        const uint32_t taken = position >= bits ? 0 : top + 1 - position;
        const U ones = taken >= bits ? (U) ~(U)0 : (U)(((U)1 << taken) - 1);
        return (T)((from & ones) | (fill & ~ones));
    });
}

/* Any function of three bits, as a table in the immediate. */
void
lookup(Warp &warp, const Instruction &i, uint32_t lanes)
{
    const uint32_t *const a = values<uint32_t>(warp, i.place[1]);
    const uint32_t *const b = values<uint32_t>(warp, i.place[2]);
    const uint32_t *const c = values<uint32_t>(warp, i.place[3]);
    const uint32_t *const table = values<uint32_t>(warp, i.place[4]);
    set_lanes<uint32_t>(warp, i.place[0], lanes, [=](int lane) {
        uint32_t result = 0;
        for (unsigned row = 0; row < 8; row++) {
            const uint32_t term = ((row & 4) != 0 ? a[lane] : ~a[lane]) &
                                  ((row & 2) != 0 ? b[lane] : ~b[lane]) &
                                  ((row & 1) != 0 ? c[lane] : ~c[lane]);
            result |= (table[lane] >> row & 1) != 0 ? term : 0;
        }
        return result;
    });
}

/* Predicates: a bit per lane. */
template <class F>
void
join_predicates(Warp &warp, const Instruction &i, uint32_t lanes)
{
    set_predicate(warp, i.place[0], lanes,
                  F::apply(predicate(warp, i.place[1], i.negated[0]),
                           predicate(warp, i.place[2], i.negated[1])));
}
template <bool negates>
void
copy_predicate(Warp &warp, const Instruction &i, uint32_t lanes)
{
    set_predicate(warp, i.place[0], lanes, predicate(warp, i.place[1], i.negated[0] != negates));
}

template <class T>
void
add_type(const std::string &type)
{
    add_moves<T>(type);
    add_binary<T, T, T, And>("and." + type);
    add_binary<T, T, T, Or>("or." + type);
    add_binary<T, T, T, Xor>("xor." + type);
    add_unary<T, T, Not>("not." + type);
    add_binary<T, T, uint32_t, ShiftLeft>("shl." + type);
    add_binary<T, T, uint32_t, ShiftRight>("shr." + type);
    add_compare<T, Equal>("setp.eq." + type);
    add_compare<T, NotEqual>("setp.ne." + type);
}

template <class T>
void
add_fields(const std::string &bits)
{
    add_opcode("bfi.b" + bits, insert_field<T>, {sizeof(T), sizeof(T), sizeof(T), 4, 4});
    add_opcode("bfe.u" + bits, extract_field<T>, {sizeof(T), sizeof(T), 4, 4});
    add_opcode("bfe.s" + bits, extract_field<std::make_signed_t<T>>, {sizeof(T), sizeof(T), 4, 4});
    add_unary<uint32_t, T, CountOnes>("popc.b" + bits);
    add_unary<uint32_t, T, LeadingZeros<T>>("clz.b" + bits);
    add_unary<T, T, Reverse>("brev.b" + bits);
    add_unary<uint32_t, T, FindHighest<T, false>>("bfind.u" + bits);
    add_unary<uint32_t, T, FindHighest<T, true>>("bfind.shiftamt.u" + bits);
    using S = std::make_signed_t<T>;
    add_unary<uint32_t, S, FindHighest<S, false>>("bfind.s" + bits);
    add_unary<uint32_t, S, FindHighest<S, true>>("bfind.shiftamt.s" + bits);
}

template <bool left, bool wraps>
void
add_funnel(const std::string &name)
{
    add_ternary<uint32_t, uint32_t, uint32_t, uint32_t, FunnelShift<left, wraps>>(name);
}

} // namespace

void
add_bit_opcodes()
{
    add_type<uint16_t>("b16");
    add_type<uint32_t>("b32");
    add_type<uint64_t>("b64");
    add_fields<uint32_t>("32");
    add_fields<uint64_t>("64");
    add_funnel<true, true>("shf.l.wrap.b32");
    add_funnel<false, true>("shf.r.wrap.b32");
    add_funnel<true, false>("shf.l.clamp.b32");
    add_funnel<false, false>("shf.r.clamp.b32");
    add_ternary<uint32_t, uint32_t, uint32_t, uint32_t, Permute>("prmt.b32");
    add_binary<uint32_t, uint32_t, uint32_t, BitMask<false>>("bmsk.clamp.b32");
    add_binary<uint32_t, uint32_t, uint32_t, BitMask<true>>("bmsk.wrap.b32");
    add_opcode("lop3.b32", lookup, {4, 4, 4, 4, 4});
    add_opcode("and.pred", join_predicates<And>, {1, 1, 1});
    add_opcode("or.pred", join_predicates<Or>, {1, 1, 1});
    add_opcode("xor.pred", join_predicates<Xor>, {1, 1, 1});
    add_opcode("not.pred", copy_predicate<true>, {1, 1});
    add_opcode("mov.pred", copy_predicate<false>, {1, 1});
}

} // namespace ptx
