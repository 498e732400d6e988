/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_screen_template.h: the sums of lattice_screen_core.h, for integers of BITS bits.
 *
 * Row by row: the guesses along each axis of all columns, then for each set of axes the codes. What
 * sets of axes have in common is found once. */

struct NAME(screen_guesses) {
    INTEGER guess[LATTICE_AXES][2][LATTICE_SCREEN_RUN]; /* linear, cubic; in sixteenths */
};

/* Sums of codes by the guesses of some axes: of all columns, and of odd ones. */
struct NAME(screen_sums) {
    UNSIGNED all, odd;
};

H5TWIN_FORCE_INLINE struct NAME(screen_sums)
    NAME(screen_codes_of)(const INTEGER *const *guesses, unsigned axes, const INTEGER *centers,
                          const INTEGER *kept, size_t count)
{
    const INTEGER *const a = guesses[0], *const b = guesses[1], *const c = guesses[2];
    const INTEGER *const d = guesses[3];
    UNSIGNED all = 0, odd = 0;
    for (size_t i = 0; i < count; i++) {
        UNSIGNED sum = (UNSIGNED)a[i];
        sum += axes > 1 ? (UNSIGNED)b[i] : 0;
        sum += axes > 2 ? (UNSIGNED)c[i] : 0;
        sum += axes > 3 ? (UNSIGNED)d[i] : 0;
        const INTEGER steps = NAME(h5twin_lattice_mean)((UNSIGNED)centers[i] * axes - sum, axes);
        UNSIGNED code = NAME(h5twin_zigzag)((UNSIGNED)steps);
        code = code < LATTICE_SCREEN_CAP ? code : LATTICE_SCREEN_CAP;
        code &= kept != NULL ? (UNSIGNED)kept[i] : (UNSIGNED)-1;
        all += code;
        odd += code & ((UNSIGNED)0 - ((UNSIGNED)i & 1u));
    }
    return (struct NAME(screen_sums)){all, odd};
}

static struct NAME(screen_sums)
    NAME(screen_codes)(const struct NAME(screen_guesses) * all, unsigned set, unsigned cubic,
                       const INTEGER *centers, const INTEGER *kept, size_t count)
{
    const INTEGER *guesses[LATTICE_AXES] = {NULL};
    unsigned axes = 0;
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        if ((set >> axis & 1u) != 0) {
            guesses[axes++] = all->guess[axis][cubic];
        }
    }
#define WITH(number)                                                                               \
    (kept != NULL ? NAME(screen_codes_of)(guesses, number, centers, kept, count)                   \
                  : NAME(screen_codes_of)(guesses, number, centers, NULL, count))
    switch (axes) {
    case 1:
        return WITH(1);
    case 2:
        return WITH(2);
    case 3:
        return WITH(3);
    default:
        return WITH(4);
    }
#undef WITH
}

/* Along an axis other than the columns': all with the same weights. */
static void
NAME(guess_across)(INTEGER guess[2][LATTICE_SCREEN_RUN], const INTEGER *values, size_t count,
                   size_t place, size_t extent, ptrdiff_t stride)
{
    for (unsigned cubic = 0; cubic < 2; cubic++) {
        INTEGER *restrict const to = guess[cubic];
        int weights[4];
        (void)h5twin_lattice_weights(place, extent, cubic != 0, weights);
        const INTEGER w0 = weights[0], w1 = weights[1], w2 = weights[2], w3 = weights[3];
        const INTEGER *const v0 = w0 != 0 ? values - 3 * stride : values;
        const INTEGER *const v1 = values - stride;
        const INTEGER *const v2 = w2 != 0 ? values + stride : values;
        const INTEGER *const v3 = w3 != 0 ? values + 3 * stride : values;
        for (size_t i = 0; i < count; i++) {
            to[i] = w0 * v0[i] + w1 * v1[i] + w2 * v2[i] + w3 * v3[i];
        }
    }
}

/* Along the columns first..first + count; what even columns get does not matter. */
static void
NAME(guess_along)(INTEGER guess[2][LATTICE_SCREEN_RUN], const INTEGER *row, size_t first,
                  size_t count, size_t extent)
{
    const size_t begin = first < 3 ? 3 : first;
    const size_t end = first + count + 3 < extent ? first + count : extent > 3 ? extent - 3 : 0;
    for (size_t i = begin; i < end; i++) {
        const INTEGER near = row[i - 1] + row[i + 1];
        guess[0][i - first] = 8 * near;
        guess[1][i - first] = 9 * near - row[i - 3] - row[i + 3];
    }
    for (size_t i = first; i < first + count; i++) {
        if (i == begin && begin < end) {
            i = end - 1; /* all of these are there */
            continue;
        }
        for (unsigned cubic = 0; cubic < 2; cubic++) {
            int weights[4];
            INTEGER sum = 0;
            if (i % 2 != 0) {
                (void)h5twin_lattice_weights(i, extent, cubic != 0, weights);
                sum = weights[1] * row[i - 1];
                sum += weights[0] != 0 ? weights[0] * row[i - 3] : 0;
                sum += weights[2] != 0 ? weights[2] * row[i + 1] : 0;
                sum += weights[3] != 0 ? weights[3] * row[i + 3] : 0;
            }
            guess[cubic][i - first] = sum;
        }
    }
}

/* What has been summed up since the last block. */
struct NAME(screen_block) {
    size_t values;
    uint64_t counts[LATTICE_SETS], sums[2][LATTICE_SETS];
};

static void
NAME(screen_run)(struct NAME(screen_block) * block, const struct NAME(screen_guesses) * guesses,
                 unsigned odd, unsigned both, unsigned axes, const INTEGER *centers,
                 const INTEGER *kept, size_t count)
{
    struct NAME(screen_sums) sums[LATTICE_SETS][2];
    unsigned known = 0; /* sets */
    for (unsigned set = 1; set < LATTICE_SETS; set++) {
        if ((set & ~axes) != 0) {
            continue;
        }
        const bool has_columns = (set >> 3 & 1u) != 0;
        const unsigned across = odd & set;
        const unsigned even = across != 0 ? lattice_guessing_axes(across, both) : 0;
        const unsigned along = has_columns ? lattice_guessing_axes(across | 8u, both | 8u) : 0;
        const unsigned wanted[2] = {even, along};
        for (unsigned i = 0; i < 2; i++) {
            if (wanted[i] != 0 && (known >> wanted[i] & 1u) == 0) {
                known |= 1u << wanted[i];
                for (unsigned cubic = 0; cubic < 2; cubic++) {
                    sums[wanted[i]][cubic] =
                        NAME(screen_codes)(guesses, wanted[i], cubic, centers, kept, count);
                }
            }
        }
        for (unsigned cubic = 0; cubic < 2; cubic++) {
            uint64_t sum = even == 0 ? 0 : sums[even][cubic].all;
            if (has_columns) {
                sum -= even == 0 ? 0 : sums[even][cubic].odd;
                sum += sums[along][cubic].odd;
            }
            block->sums[cubic][set] += sum;
        }
        block->counts[set] += (even == 0     ? 0
                               : has_columns ? (count + 1) / 2
                                             : count) +
                              (has_columns ? count / 2 : 0);
    }
    block->values += count;
}

static void
NAME(close_screen)(struct NAME(screen_block) * block, struct lattice_screen_level *level)
{
    uint64_t cost[2][LATTICE_SETS] = {{0}};
    for (unsigned cubic = 0; cubic < 2; cubic++) {
        lattice_geometric_costs_of(cost[cubic], block->counts, block->sums[cubic]);
    }
    for (unsigned set = 0; set < LATTICE_SETS; set++) {
        level->cost[set][0] += cost[0][set];
        level->cost[set][1] += cost[1][set];
        level->counts[set] += block->counts[set];
    }
    memset(block, 0, sizeof *block);
}

static void
NAME(screen_level)(struct lattice_screen_level *level, const struct lattice_shape *shape,
                   unsigned axes, const INTEGER *values, const INTEGER *centers,
                   const INTEGER *kept)
{
    const size_t *const extent = shape->extent;
    struct NAME(screen_guesses) guesses;
    struct NAME(screen_block) block = {.values = 0};
    size_t p[3];
    memset(level, 0, sizeof *level);
    for (size_t row = 0; row < shape->count; row += extent[3]) {
        unsigned odd = 0, both = 0;
        p[0] = row / shape->stride[0];
        p[1] = row / shape->stride[1] % extent[1];
        p[2] = row / shape->stride[2] % extent[2];
        for (unsigned axis = 0; axis < 3; axis++) {
            odd |= (unsigned)(p[axis] % 2) << axis;
            both |= (unsigned)(p[axis] + 1 < extent[axis]) << axis;
        }
        for (size_t first = 0; first < extent[3]; first += LATTICE_SCREEN_RUN) {
            const size_t left = extent[3] - first, at = row + first;
            const size_t count = left < LATTICE_SCREEN_RUN ? left : LATTICE_SCREEN_RUN;
            for (unsigned axis = 0; axis < 3; axis++) {
                if ((odd >> axis & 1u) != 0) {
                    NAME(guess_across)
                    (guesses.guess[axis], values + at, count, p[axis], extent[axis],
                     (ptrdiff_t)shape->stride[axis]);
                }
            }
            NAME(guess_along)(guesses.guess[3], values + row, first, count, extent[3]);
            NAME(screen_run)
            (&block, &guesses, odd, both, axes, centers + at, kept == NULL ? NULL : kept + at,
             count);
        }
        if (block.values >= LATTICE_SCREEN_BLOCK) {
            NAME(close_screen)(&block, level);
        }
    }
    NAME(close_screen)(&block, level);
}

/* Every second point along all axes, to where the first ones were. */
static void
NAME(halve)(INTEGER *values, const struct lattice_shape *shape, const struct lattice_shape *half)
{
    size_t p[LATTICE_AXES];
    INTEGER *to = values;
    for (p[0] = 0; p[0] < half->extent[0]; p[0]++) {
        for (p[1] = 0; p[1] < half->extent[1]; p[1]++) {
            for (p[2] = 0; p[2] < half->extent[2]; p[2]++, to += half->extent[3]) {
                const INTEGER *const from =
                    values + 2 * (p[0] * shape->stride[0] + p[1] * shape->stride[1] +
                                  p[2] * shape->stride[2]);
                for (size_t i = 0; i < half->extent[3]; i++) {
                    to[i] = from[2 * i];
                }
            }
        }
    }
}

static void
NAME(screen)(const struct lattice_screen *screen, uint64_t cost[LATTICE_SETS][2])
{
    struct lattice_shape shape = *screen->shape, half = shape;
    struct lattice_screen_level levels[LATTICE_MOST_LEVELS];
    INTEGER *const values = screen->room, *const centers = values + shape.count;
    INTEGER *const kept = screen->specials == NULL ? NULL : centers + shape.count;
    const INTEGER *const integers = screen->integers, *const bins = screen->bins;
    const INTEGER width = (INTEGER)screen->width, share = (1 << 20) / width;
    const INTEGER most = BITS == 32 ? LATTICE_SCREEN_MOST : LIMIT;
    unsigned axes = 0;
    for (size_t i = 0; i < shape.count; i++) {
        const INTEGER bin = NAME(h5twin_lattice_clamp)(bins[i], most);
        values[i] = bin;
        centers[i] = NAME(h5twin_lattice_clamp)(
            16 * bin + (((integers[i] - bins[i] * width) * share) >> 16), 16 * most);
    }
    for (size_t i = 0; kept != NULL && i < shape.count; i++) {
        kept[i] = (INTEGER)screen->specials[i] - 1;
    }
    for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
        axes |= (unsigned)(shape.extent[axis] > 1) << axis;
    }
    const unsigned last = h5twin_lattice_level_number(&shape, axes);
    for (unsigned level = 0; level < last; level++) {
        NAME(screen_level)(&levels[level], &shape, axes, values, centers, kept);
        for (unsigned axis = 0; axis < LATTICE_AXES; axis++) {
            half.extent[axis] = (shape.extent[axis] + 1) / 2;
        }
        h5twin_lattice_shape_finish(&half);
        NAME(halve)(values, &shape, &half);
        NAME(halve)(centers, &shape, &half);
        if (kept != NULL) {
            NAME(halve)(kept, &shape, &half);
        }
        shape = half;
    }
    for (unsigned set = 1; set < LATTICE_SETS; set++) {
        for (unsigned cubic = 0; cubic < 2 && (set & ~axes) == 0; cubic++) {
            cost[set][cubic] = lattice_screen_cost(screen->shape, levels, set, cubic);
        }
    }
}
