/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_rows_lanes.h: runs of interpolation, with vectors of integers of BITS bits; included by
 * lattice_rows_template.h, whose code_run in plain C is what these must equal.
 *
 * Points of a run do not depend on each other: the last vector of a run overlaps the one before,
 * and only runs shorter than a vector go point by point. */

/* How neighbours along all axes weigh: 0, 8, 8, 0; or -1, 9, 9, -1; or any. */
enum NAME(lattice_weights) { NAME(LINEAR), NAME(CUBIC), NAME(UNLIKE) };

H5TWIN_LANES_INLINE VECTOR
NAME(guess_lanes)(const struct NAME(taps) * taps, size_t i, unsigned axes, unsigned weights)
{
    VECTOR near = V(set)(0), far = V(set)(0);
    H5TWIN_UNROLL
    for (unsigned axis = 0; axis < axes; axis++) {
        near += V(load)(taps[axis].at[1] + i) + V(load)(taps[axis].at[2] + i);
        if (weights == NAME(CUBIC)) {
            far += V(load)(taps[axis].at[0] + i) + V(load)(taps[axis].at[3] + i);
        }
    }
    return NAME(lattice_mean_lanes)(weights == NAME(CUBIC) ? (near << 3) + near - far : near << 3,
                                    axes);
}

static VECTOR
NAME(guess_unlike)(const struct NAME(taps) * taps, size_t i, unsigned axes)
{
    VECTOR sum = V(set)(0);
    for (unsigned axis = 0; axis < axes; axis++) {
        for (unsigned tap = 0; tap < 4; tap++) {
            sum += V(load)(taps[axis].at[tap] + i) * V(set)((UNSIGNED)taps[axis].weights[tap]);
        }
    }
    return axes == 3 ? NAME(lattice_mean_lanes)(sum, 3)
                     : NAME(lattice_shift_lanes)(sum + 8 * axes, axes == 1   ? 4
                                                                 : axes == 2 ? 5
                                                                             : 6);
}

static INTEGER
NAME(guess_point)(const struct NAME(taps) * taps, size_t i, unsigned axes)
{
    UNSIGNED sum = 0;
    for (unsigned axis = 0; axis < axes; axis++) {
        for (unsigned tap = 0; tap < 4; tap++) {
            sum += (UNSIGNED)taps[axis].weights[tap] * (UNSIGNED)taps[axis].at[tap][i];
        }
    }
    return NAME(h5twin_lattice_mean)(sum, axes);
}

/* Where the vector at or behind i begins. */
H5TWIN_FORCE_INLINE size_t
NAME(vector_at)(size_t i, size_t count)
{
    return i + LANES <= count ? i : count - LANES;
}

H5TWIN_FORCE_INLINE void
NAME(guess_run)(INTEGER *restrict guesses, const struct NAME(taps) * taps, size_t count,
                unsigned axes, unsigned weights)
{
    struct NAME(taps) local[LATTICE_AXES]; /* compilers keep it in registers */
    memcpy(local, taps, axes * sizeof local[0]);
    for (size_t i = 0; i < count; i += LANES) {
        const size_t at = NAME(vector_at)(i, count);
        V(store)
        (guesses + at, weights == NAME(UNLIKE) ? NAME(guess_unlike)(local, at, axes)
                                               : NAME(guess_lanes)(local, at, axes, weights));
    }
}

static void
NAME(predict)(INTEGER *guesses, const struct NAME(taps) * taps, size_t count, unsigned axes)
{
    bool cubic = true, linear = true;
    for (unsigned axis = 0; axis < axes; axis++) {
        const INTEGER *const weights = taps[axis].weights;
        cubic = cubic && weights[0] == -1 && weights[1] == 9;
        linear = linear && weights[0] == 0 && weights[1] == 8 && weights[3] == 0;
    }
    if (count < LANES) {
        for (size_t i = 0; i < count; i++) {
            guesses[i] = NAME(guess_point)(taps, i, axes);
        }
        return;
    }
    if (!cubic && !linear) {
        NAME(guess_run)(guesses, taps, count, axes, NAME(UNLIKE));
        return;
    }
#define GUESS(axes)                                                                                \
    case axes:                                                                                     \
        if (cubic) {                                                                               \
            NAME(guess_run)(guesses, taps, count, axes, NAME(CUBIC));                              \
        } else {                                                                                   \
            NAME(guess_run)(guesses, taps, count, axes, NAME(LINEAR));                             \
        }                                                                                          \
        break
    switch (axes) {
        GUESS(1);
        GUESS(2);
        GUESS(3);
        GUESS(4);
    }
#undef GUESS
}

static void
NAME(decode_run)(const struct NAME(pass) * pass, INTEGER *restrict values,
                 const UNSIGNED *restrict codes, const INTEGER *restrict guesses, size_t count)
{
    const VECTOR cap = V(set)((UNSIGNED)pass->cap), width = V(set)((UNSIGNED)pass->width);
    for (size_t i = 0; count >= LANES && i < count; i += LANES) {
        const size_t at = NAME(vector_at)(i, count);
        const VECTOR guess = NAME(lattice_clamp_lanes)(V(load)(guesses + at), cap);
        const VECTOR steps = NAME(lattice_unzigzag_lanes)(V(load)(codes + at));
        V(store)(values + at, NAME(lattice_clamp_lanes)(guess + steps * width, cap));
    }
    for (size_t i = 0; count < LANES && i < count; i++) {
        const INTEGER guess = NAME(h5twin_lattice_clamp)(guesses[i], pass->cap);
        const UNSIGNED steps = NAME(h5twin_unzigzag)(codes[i]) * (UNSIGNED)pass->width;
        values[i] = NAME(h5twin_lattice_clamp)((INTEGER)((UNSIGNED)guess + steps), pass->cap);
    }
}

/* A vector of codes; width 1: no division, and what is not special is met exactly. */
H5TWIN_LANES_INLINE void
NAME(encode_lanes)(const struct NAME(lattice_width_lanes) * width, VECTOR cap,
                   INTEGER *restrict values, UNSIGNED *restrict codes, VECTOR guess, VECTOR integer,
                   const uint8_t *specials, bool has_width)
{
    guess = NAME(lattice_clamp_lanes)(guess, cap);
    VECTOR steps = integer - guess;
    if (has_width) {
        const VECTOR one = V(set)(1), least = 0 - cap;
        steps = NAME(lattice_steps_lanes)(width, steps);
        const VECTOR reached = guess + steps * width->width;
        const MASK more = M(and)(M(equal)(integer, cap), M(greater)(cap, reached));
        const MASK less = M(and)(M(equal)(integer, least), M(greater)(reached, least));
        steps = V(sub_where)(less, V(add_where)(more, steps, one), one);
    }
    if (specials != NULL) {
        steps = V(keep)(M(zero)(V(load_bytes)(specials)), steps);
    }
    V(store)(codes, NAME(lattice_zigzag_lanes)(steps));
    const VECTOR moved = has_width ? steps * width->width : steps;
    V(store)(values, NAME(lattice_clamp_lanes)(guess + moved, cap));
}

static void
NAME(encode_point)(const struct NAME(pass) * pass, INTEGER *value, UNSIGNED *code, INTEGER guess,
                   INTEGER integer, bool special)
{
    const INTEGER cap = pass->cap, width = pass->width;
    guess = NAME(h5twin_lattice_clamp)(guess, cap);
    INTEGER steps = width != 1
                        ? NAME(h5twin_lattice_steps_to)(integer, guess, width, pass->divisor, cap)
                        : integer - guess;
    steps = special ? 0 : steps;
    *code = NAME(h5twin_zigzag)((UNSIGNED)steps);
    *value = NAME(h5twin_lattice_clamp)(guess + steps * width, cap);
}

H5TWIN_FORCE_INLINE void
NAME(encode_kind)(const struct NAME(pass) * pass, INTEGER *restrict values,
                  UNSIGNED *restrict codes, const INTEGER *restrict guesses,
                  const INTEGER *restrict integers, const uint8_t *restrict specials, size_t count,
                  bool has_width)
{
    const VECTOR cap = V(set)((UNSIGNED)pass->cap);
    const struct NAME(lattice_width_lanes) width = NAME(lattice_width_lanes_of)(pass->width);
    for (size_t i = 0; i < count; i += LANES) {
        const size_t at = NAME(vector_at)(i, count);
        NAME(encode_lanes)
        (&width, cap, values + at, codes + at, V(load)(guesses + at), V(load)(integers + at),
         specials == NULL ? NULL : specials + at, has_width);
    }
}

static void
NAME(encode_run)(const struct NAME(pass) * pass, INTEGER *values, UNSIGNED *codes,
                 const INTEGER *guesses, const struct NAME(source) * source, size_t count)
{
    const INTEGER *const integers = source->integers;
    const uint8_t *const specials = source->specials;
    if (count < LANES) {
        for (size_t i = 0; i < count; i++) {
            NAME(encode_point)
            (pass, &values[i], &codes[i], guesses[i], integers[i],
             specials != NULL && specials[i] != 0);
        }
    } else if (pass->width != 1) {
        NAME(encode_kind)(pass, values, codes, guesses, integers, specials, count, true);
    } else if (specials == NULL) {
        NAME(encode_kind)(pass, values, codes, guesses, integers, NULL, count, false);
    } else {
        NAME(encode_kind)(pass, values, codes, guesses, integers, specials, count, false);
    }
}
