/* SPDX-License-Identifier: BSD-3-Clause
 * gray_scott_solver.h: the Gray-Scott reaction-diffusion model in a periodic cube.
 *
 *     du/dt = Du lap(u) - u v^2 + F (1 - u)
 *     dv/dt = Dv lap(v) + u v^2 - (F + k) v
 *
 * by explicit Euler steps. The cube may be cut into slabs along x, one for each process; a slab has
 * a ghost plane on either side, which holds the neighbour's. Each cell depends on the step before
 * alone, and sums have a fixed order: the numbers are the same for any number of threads and
 * processes, to the bit. */
#ifndef GRAY_SCOTT_SOLVER_H
#define GRAY_SCOTT_SOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gray_scott_model {
    double diffusion_u, diffusion_v; /* Du, Dv; cells of side 1, lap is scaled by 1/6 */
    double feed, kill;               /* F, k */
    double time_step;
};

struct gray_scott {
    struct gray_scott_model model;
    size_t side;          /* cells per axis, >= 3 */
    size_t first, planes; /* of the slab, along x: first .. first + planes - 1; planes >= 1 */
    uint64_t step;
    double *u, *v; /* (planes + 2) x side x side, [x][y][z]; plane 0 and the last are ghosts */
    double *next_u, *next_v; /* scratch */
};

extern const struct gray_scott_model gray_scott_default_model;

/* u = 1, v = 0 everywhere but in a few seeds. False if memory is short. */
bool gray_scott_init(struct gray_scott *sim, size_t side, size_t first, size_t planes);
void gray_scott_free(struct gray_scott *sim);

/* The first plane that is no ghost. */
double *gray_scott_inside(const struct gray_scott *sim, double *field);

/* Set both ghost planes from a slab that is the whole cube. Slabs of several processes get theirs
 * from their neighbours. */
void gray_scott_wrap(const struct gray_scott *sim, double *field);

/* One step; the ghost planes of u and v must be those of this step. */
void gray_scott_advance(struct gray_scott *sim);

/* A number that two states share only if all their bits agree (but for chance): the sum, modulo
 * 2^64, over the slabs that make up the cube. */
uint64_t gray_scott_hash(const struct gray_scott *sim);

/* The gradient of v, three components per cell of the slab, interleaved. Needs ghost planes. */
void gray_scott_gradient(const struct gray_scott *sim, float *gradient);

#endif
