/* SPDX-License-Identifier: BSD-3-Clause
 * gray_scott_solver.c: see gray_scott_solver.h. */
#include "gray_scott_solver.h"

#include <stdlib.h>
#include <string.h>

#define SEED_COUNT 12

const struct gray_scott_model gray_scott_default_model = {
    .diffusion_u = 0.8,
    .diffusion_v = 0.4,
    .feed = 0.03,
    .kill = 0.0575,
    .time_step = 1.0,
};

/* The cell of the slab's arrays at plane x of the cube, or SIZE_MAX if that is another slab's. */
static size_t
find_cell(const struct gray_scott *sim, size_t x, size_t y, size_t z)
{
    if (x < sim->first || x - sim->first >= sim->planes) {
        return SIZE_MAX;
    }
    return ((x - sim->first + 1) * sim->side + y) * sim->side + z;
}

/* A ball, across the borders where it must. */
static void
plant_seed(struct gray_scott *sim, const size_t corner[3], size_t diameter)
{
    const size_t side = sim->side;
    for (size_t x = 0; x < diameter; x++) {
        for (size_t y = 0; y < diameter; y++) {
            for (size_t z = 0; z < diameter; z++) {
                const double dx = (double)(2 * x) - (double)(diameter - 1);
                const double dy = (double)(2 * y) - (double)(diameter - 1);
                const double dz = (double)(2 * z) - (double)(diameter - 1);
                const size_t cell = find_cell(sim, (corner[0] + x) % side, (corner[1] + y) % side,
                                              (corner[2] + z) % side);
                if (cell != SIZE_MAX &&
                    dx * dx + dy * dy + dz * dz <= (double)(diameter * diameter)) {
                    sim->u[cell] = 0.25;
                    sim->v[cell] = 0.33;
                }
            }
        }
    }
}

bool
gray_scott_init(struct gray_scott *sim, size_t side, size_t first, size_t planes)
{
    const size_t cells = (planes + 2) * side * side;
    *sim = (struct gray_scott){
        .model = gray_scott_default_model,
        .side = side,
        .first = first,
        .planes = planes,
        .u = malloc(cells * sizeof(double)),
        .v = calloc(cells, sizeof(double)),
        .next_u = malloc(cells * sizeof(double)),
        .next_v = malloc(cells * sizeof(double)),
    };
    if (sim->u == NULL || sim->v == NULL || sim->next_u == NULL || sim->next_v == NULL) {
        gray_scott_free(sim);
        return false;
    }
    for (size_t cell = 0; cell < cells; cell++) {
        sim->u[cell] = 1;
    }
    uint64_t random = 2011;
    for (unsigned seed = 0; seed < SEED_COUNT; seed++) {
        size_t corner[3];
        for (unsigned axis = 0; axis < 3; axis++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            corner[axis] = (size_t)(random >> 33) % side;
        }
        plant_seed(sim, corner, side / 12 + 2 + seed % 3);
    }
    return true;
}

double *
gray_scott_inside(const struct gray_scott *sim, double *field)
{
    return field + sim->side * sim->side;
}

void
gray_scott_wrap(const struct gray_scott *sim, double *field)
{
    const size_t plane = sim->side * sim->side;
    memcpy(field, field + sim->planes * plane, plane * sizeof *field);
    memcpy(field + (sim->planes + 1) * plane, field + plane, plane * sizeof *field);
}

void
gray_scott_free(struct gray_scott *sim)
{
    free(sim->u);
    free(sim->v);
    free(sim->next_u);
    free(sim->next_v);
    *sim = (struct gray_scott){0};
}

/* ---- one step ---- */

/* One row along z and its neighbours along x and y. */
struct row {
    const double *here, *x_less, *x_more, *y_less, *y_more;
};

/* Row y of plane x of the slab, 0 .. planes - 1. */
static struct row
find_row(const double *field, size_t side, size_t x, size_t y)
{
    const size_t y_less = (y + side - 1) % side, y_more = (y + 1) % side;
    const double *const plane = field + (x + 1) * side * side;
    return (struct row){
        .here = plane + y * side,
        .x_less = plane - side * side + y * side,
        .x_more = plane + side * side + y * side,
        .y_less = plane + y_less * side,
        .y_more = plane + y_more * side,
    };
}

static inline double
laplacian(const struct row *row, size_t z, size_t z_less, size_t z_more)
{
    const double sum = row->x_less[z] + row->x_more[z] + row->y_less[z] + row->y_more[z] +
                       row->here[z_less] + row->here[z_more];
    return sum * (1.0 / 6) - row->here[z];
}

static inline void
advance_cell(const struct gray_scott_model *model, const struct row *u, const struct row *v,
             double *restrict next_u, double *restrict next_v, size_t z, size_t z_less,
             size_t z_more)
{
    const double reaction = u->here[z] * v->here[z] * v->here[z];
    const double change_u = model->diffusion_u * laplacian(u, z, z_less, z_more) - reaction +
                            model->feed * (1 - u->here[z]);
    const double change_v = model->diffusion_v * laplacian(v, z, z_less, z_more) + reaction -
                            (model->feed + model->kill) * v->here[z];
    next_u[z] = u->here[z] + model->time_step * change_u;
    next_v[z] = v->here[z] + model->time_step * change_v;
}

/* All cells of a row but its ends. A function of its own, so that compilers see that nothing
 * overlaps, and work on several cells at once. */
static void
advance_middle(const struct gray_scott_model model, const struct row u, const struct row v,
               double *restrict next_u, double *restrict next_v, size_t side)
{
    for (size_t z = 1; z < side - 1; z++) {
        advance_cell(&model, &u, &v, next_u, next_v, z, z - 1, z + 1);
    }
}

static void
advance_row(const struct gray_scott *sim, size_t x, size_t y)
{
    const size_t side = sim->side;
    const struct row u = find_row(sim->u, side, x, y), v = find_row(sim->v, side, x, y);
    double *const next_u = sim->next_u + ((x + 1) * side + y) * side;
    double *const next_v = sim->next_v + ((x + 1) * side + y) * side;
    advance_cell(&sim->model, &u, &v, next_u, next_v, 0, side - 1, 1);
    advance_middle(sim->model, u, v, next_u, next_v, side);
    advance_cell(&sim->model, &u, &v, next_u, next_v, side - 1, side - 2, 0);
}

void
gray_scott_advance(struct gray_scott *sim)
{
#ifdef _OPENMP
#    pragma omp parallel for schedule(static)
#endif
    for (size_t x = 0; x < sim->planes; x++) {
        for (size_t y = 0; y < sim->side; y++) {
            advance_row(sim, x, y);
        }
    }
    double *const u = sim->u, *const v = sim->v;
    sim->u = sim->next_u;
    sim->v = sim->next_v;
    sim->next_u = u;
    sim->next_v = v;
    sim->step++;
}

/* ---- what is derived from the state ---- */

static uint64_t
hash_values(uint64_t hash, const double *values, size_t value_count)
{
    for (size_t i = 0; i < value_count; i++) {
        uint64_t word;
        memcpy(&word, &values[i], sizeof word);
        hash = (hash ^ word) * UINT64_C(0x100000001B3); /* FNV-1a, by words */
        hash ^= hash >> 32;
    }
    return hash;
}

uint64_t
gray_scott_hash(const struct gray_scott *sim)
{
    const size_t plane = sim->side * sim->side;
    const double *const u = gray_scott_inside(sim, sim->u), *const v =
                                                                gray_scott_inside(sim, sim->v);
    uint64_t sum = 0;
    for (size_t x = 0; x < sim->planes; x++) {
        const uint64_t place = (sim->first + x) * UINT64_C(0x9E3779B97F4A7C15) ^ sim->step;
        const uint64_t hash =
            hash_values(UINT64_C(0xCBF29CE484222325) ^ place, u + x * plane, plane);
        sum += hash_values(hash, v + x * plane, plane);
    }
    return sum;
}

void
gray_scott_gradient(const struct gray_scott *sim, float *gradient)
{
    const size_t side = sim->side;
    for (size_t x = 0; x < sim->planes; x++) {
        for (size_t y = 0; y < side; y++) {
            const struct row row = find_row(sim->v, side, x, y);
            for (size_t z = 0; z < side; z++) {
                const double change_z = row.here[(z + 1) % side] - row.here[(z + side - 1) % side];
                *gradient++ = (float)((row.x_more[z] - row.x_less[z]) / 2);
                *gradient++ = (float)((row.y_more[z] - row.y_less[z]) / 2);
                *gradient++ = (float)(change_z / 2);
            }
        }
    }
}
