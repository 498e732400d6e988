/* SPDX-License-Identifier: BSD-3-Clause
 * ops_warp.cpp: what lanes of a warp do together; `lanes` are those that take part. And moves that
 * pack several registers into one. */
#include "operations.h"
#include "settings.h"

#include <algorithm>

namespace ptx
{

namespace
{

enum class Mode { up, down, butterfly, index };

/* place: d, a, b, c, mask, p. */
template <Mode mode>
void
shuffle(Warp &warp, const Instruction &i, uint32_t lanes)
{
    const uint32_t *const a = values<uint32_t>(warp, i.place[1]);
    const uint32_t *const b = values<uint32_t>(warp, i.place[2]);
    const uint32_t *const c = values<uint32_t>(warp, i.place[3]);
    uint32_t found[WARP_LANES], in_range = 0;
    for_each_lane(lanes, [&](int lane) {
        const int segment = (int)(c[lane] >> 8 & 31), clamp = (int)(c[lane] & 31);
        const int step = (int)(b[lane] & 31);
        const int least = lane & segment, most = least | (clamp & ~segment);
        int from;
        bool is_in;
        if (mode == Mode::up) {
            from = lane - step;
            is_in = from >= most;
        } else {
            from = mode == Mode::down        ? lane + step
                   : mode == Mode::butterfly ? lane ^ step
                                             : least | (step & ~segment);
            is_in = from <= most;
        }
        from = is_in ? from : lane;
        if ((lanes >> from & 1) == 0) {
            throw LaunchError(LAUNCH_FAILURE, "a shuffle reads lane " + std::to_string(from) +
                                                  ", which does not take part" +
                                                  place_text(warp, i, lane));
        }
        found[lane] = a[from];
        in_range |= (uint32_t)is_in << lane;
    });
    if (i.place[0] != NO_PLACE) {
        uint32_t *const d = values<uint32_t>(warp, i.place[0]);
        for_each_lane(lanes, [&](int lane) { d[lane] = found[lane]; });
    }
    if (i.place[5] != NO_PLACE) {
        set_predicate(warp, i.place[5], lanes, in_range);
    }
}

/* place: d, p, -, -, mask. */
void
ballot(Warp &warp, const Instruction &i, uint32_t lanes)
{
    const uint32_t votes = predicate(warp, i.place[1], i.negated[0]) & lanes;
    set_lanes<uint32_t>(warp, i.place[0], lanes, [=](int) { return votes; });
}

enum class Vote { any, all, uniform };

template <Vote kind>
void
vote(Warp &warp, const Instruction &i, uint32_t lanes)
{
    const uint32_t votes = predicate(warp, i.place[1], i.negated[0]) & lanes;
    const bool all = votes == lanes;
    const bool result = kind == Vote::any   ? votes != 0
                        : kind == Vote::all ? all
                                            : all || votes == 0;
    set_predicate(warp, i.place[0], lanes, result ? lanes : 0);
}

/* place: d, a, -, -, mask. */
template <class T, class F>
void
reduce(Warp &warp, const Instruction &i, uint32_t lanes)
{
    const T *const a = values<T>(warp, i.place[1]);
    T result = a[__builtin_ctz(lanes)];
    for_each_lane(lanes & (lanes - 1), [&](int lane) { result = F::apply(result, a[lane]); });
    set_lanes<T>(warp, i.place[0], lanes, [=](int) { return result; });
}

struct Sum {
    template <class T>
    static T
    apply(T a, T b)
    {
        return (T)((uint32_t)a + (uint32_t)b);
    }
};
struct Least {
    template <class T>
    static T
    apply(T a, T b)
    {
        return std::min(a, b);
    }
};
struct Most {
    template <class T>
    static T
    apply(T a, T b)
    {
        return std::max(a, b);
    }
};
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

template <class T>
Operation
reduce_number(std::string_view name)
{
    if (name == "add") {
        return reduce<T, Sum>;
    }
    if (name == "min") {
        return reduce<T, Least>;
    }
    return name == "max" ? reduce<T, Most> : nullptr;
}

/* place: d, a, -, -, mask: which lanes have the same value. */
template <class T>
void
match_any(Warp &warp, const Instruction &i, uint32_t lanes)
{
    const T *const a = values<T>(warp, i.place[1]);
    uint32_t same[WARP_LANES] = {};
    for_each_lane(lanes, [&](int lane) {
        for_each_lane(lanes,
                      [&](int other) { same[lane] |= (uint32_t)(a[other] == a[lane]) << other; });
    });
    set_lanes<uint32_t>(warp, i.place[0], lanes, [&](int lane) { return same[lane]; });
}

void
nothing(Warp &, const Instruction &, uint32_t)
{
}

template <bool of_device>
void
fence(Warp &warp, const Instruction &, uint32_t)
{
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (of_device && settings().global_races) {
        watch_fence(warp);
    }
}

/* mov.b64 d, {a, b}: place[0] and vector. */
void
pack(Warp &warp, const Instruction &i, uint32_t lanes)
{
    for_each_lane(lanes, [&](int lane) {
        uint64_t value = 0;
        const unsigned bits = 8u * i.size[0] / i.vector_count;
        for (unsigned k = 0; k < i.vector_count; k++) {
            value |= value_of(warp, i.vector[k], i.vector_size[k], lane) << k * bits;
        }
        set_value(warp, i.place[0], i.size[0], lane, value);
    });
}

void
unpack(Warp &warp, const Instruction &i, uint32_t lanes)
{
    for_each_lane(lanes, [&](int lane) {
        const uint64_t value = value_of(warp, i.place[1], i.size[1], lane);
        const unsigned bits = 8u * i.size[1] / i.vector_count;
        for (unsigned k = 0; k < i.vector_count; k++) {
            if (i.vector[k] != NO_PLACE) {
                set_value(warp, i.vector[k], i.vector_size[k], lane, value >> k * bits);
            }
        }
    });
}

} // namespace

Operation
shuffle_operation(std::string_view mode)
{
    if (mode == "up") {
        return shuffle<Mode::up>;
    }
    if (mode == "down") {
        return shuffle<Mode::down>;
    }
    if (mode == "bfly") {
        return shuffle<Mode::butterfly>;
    }
    return mode == "idx" ? shuffle<Mode::index> : nullptr;
}

Operation
vote_operation(std::string_view mode)
{
    if (mode == "ballot") {
        return ballot;
    }
    if (mode == "any") {
        return vote<Vote::any>;
    }
    if (mode == "all") {
        return vote<Vote::all>;
    }
    return mode == "uni" ? vote<Vote::uniform> : nullptr;
}

Operation
reduce_operation(std::string_view name, std::string_view type)
{
    if (type == "u32") {
        return reduce_number<uint32_t>(name);
    }
    if (type == "s32") {
        return reduce_number<int32_t>(name);
    }
    if (type != "b32") {
        return nullptr;
    }
    if (name == "and") {
        return reduce<uint32_t, And>;
    }
    if (name == "or") {
        return reduce<uint32_t, Or>;
    }
    return name == "xor" ? reduce<uint32_t, Xor> : nullptr;
}

Operation
match_operation(size_t size)
{
    return size == 4 ? match_any<uint32_t> : size == 8 ? match_any<uint64_t> : nullptr;
}

Operation
warp_barrier_operation()
{
    return nothing;
}

Operation
fence_operation(bool of_device)
{
    return of_device ? fence<true> : fence<false>;
}

Operation
pack_operation()
{
    return pack;
}

Operation
unpack_operation()
{
    return unpack;
}

} // namespace ptx
