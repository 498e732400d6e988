/* SPDX-License-Identifier: BSD-3-Clause
 * gray_scott_cuda.cu: the simulation of gray_scott.c on a GPU; the state goes into checkpoints, and
 * comes back, from the memory of the GPU as it is.
 *
 *     nvcc --fmad=false gray_scott_cuda.cu gray_scott_solver.c -lh5twin_checkpoint -lh5twin -lhdf5
 *     gray_scott_cuda FOLDER SIDE LAST_STEP EVERY
 *
 * Goes on from the newest checkpoint in the folder. Rounds as gray_scott does, so that both end in
 * the same state, and each goes on from what the other wrote. */
extern "C" {
#include "gray_scott_solver.h"
}

#include <h5twin_checkpoint.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __device__ double
laplacian(const double *field, const size_t place[7])
{
    const double sum = field[place[1]] + field[place[2]] + field[place[3]] + field[place[4]] +
                       field[place[5]] + field[place[6]];
    return sum * (1.0 / 6) - field[place[0]];
}

/* One cell a thread; the cube is periodic. */
static __global__ void
advance_kernel(struct gray_scott_model model, size_t side, const double *u, const double *v,
               double *next_u, double *next_v)
{
    const size_t cell = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= side * side * side) {
        return;
    }
    const size_t plane = side * side, x = cell / plane, y = cell / side % side, z = cell % side;
    const size_t place[7] = {cell,
                             (x + side - 1) % side * plane + y * side + z,
                             (x + 1) % side * plane + y * side + z,
                             x * plane + (y + side - 1) % side * side + z,
                             x * plane + (y + 1) % side * side + z,
                             x * plane + y * side + (z + side - 1) % side,
                             x * plane + y * side + (z + 1) % side};
    const double reaction = u[cell] * v[cell] * v[cell];
    const double change_u =
        model.diffusion_u * laplacian(u, place) - reaction + model.feed * (1 - u[cell]);
    const double change_v =
        model.diffusion_v * laplacian(v, place) + reaction - (model.feed + model.kill) * v[cell];
    next_u[cell] = u[cell] + model.time_step * change_u;
    next_v[cell] = v[cell] + model.time_step * change_v;
}

static void
check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "gray_scott_cuda: %s: %s\n", what, cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}

static struct h5twin_checkpoint_field
state_field(const char *name, const uint64_t *dims, double *d_values)
{
    struct h5twin_checkpoint_field field;
    memset(&field, 0, sizeof field);
    field.name = name;
    field.type = H5TWIN_CHECKPOINT_F64;
    field.rank = 3;
    field.dims = dims;
    field.values = d_values; /* on the GPU */
    return field;
}

static bool
save(struct h5twin_checkpoints *checkpoints, const struct gray_scott *sim, double *d_u, double *d_v)
{
    const uint64_t dims[3] = {sim->side, sim->side, sim->side};
    const struct h5twin_checkpoint_field u = state_field("restart/U", dims, d_u);
    const struct h5twin_checkpoint_field v = state_field("restart/V", dims, d_v);
    const uint64_t side = sim->side;
    h5twin_checkpoint_begin(checkpoints, sim->step, (double)sim->step);
    h5twin_checkpoint_write_attribute(checkpoints, "side", H5TWIN_CHECKPOINT_U64, 1, &side);
    h5twin_checkpoint_write(checkpoints, &u);
    h5twin_checkpoint_write(checkpoints, &v);
    if (h5twin_checkpoint_commit(checkpoints) != H5TWIN_CHECKPOINT_OK) {
        fprintf(stderr, "gray_scott_cuda: %s\n", h5twin_checkpoint_message(checkpoints));
        return false;
    }
    printf("checkpoint of step %" PRIu64 "\n", sim->step);
    return true;
}

/* Into the GPU, from the newest checkpoint; false if there is none. */
static bool
load(struct h5twin_checkpoints *checkpoints, struct gray_scott *sim, double *d_u, double *d_v)
{
    const uint64_t dims[3] = {sim->side, sim->side, sim->side};
    const struct h5twin_checkpoint_field u = state_field("restart/U", dims, d_u);
    const struct h5twin_checkpoint_field v = state_field("restart/V", dims, d_v);
    struct h5twin_checkpoint_info info;
    const enum h5twin_checkpoint_status status = h5twin_checkpoint_restart(checkpoints, 0, &info);
    if (status == H5TWIN_CHECKPOINT_NONE) {
        return false;
    }
    if (status != H5TWIN_CHECKPOINT_OK ||
        h5twin_checkpoint_read(checkpoints, &u) != H5TWIN_CHECKPOINT_OK ||
        h5twin_checkpoint_read(checkpoints, &v) != H5TWIN_CHECKPOINT_OK) {
        fprintf(stderr, "gray_scott_cuda: %s\n", h5twin_checkpoint_message(checkpoints));
        exit(EXIT_FAILURE);
    }
    h5twin_checkpoint_restart_end(checkpoints);
    sim->step = info.step;
    printf("going on from step %" PRIu64 "\n", sim->step);
    return true;
}

int
main(int argc, char **argv)
{
    if (argc != 5) {
        fputs("usage: gray_scott_cuda FOLDER SIDE LAST_STEP EVERY\n", stderr);
        return EXIT_FAILURE;
    }
    const size_t side = strtoul(argv[2], NULL, 10), cells = side * side * side;
    const uint64_t last = strtoull(argv[3], NULL, 10), every = strtoull(argv[4], NULL, 10);
    struct h5twin_checkpoint_options options;
    struct h5twin_checkpoints *checkpoints;
    struct gray_scott sim; /* the host's, for the beginning and the end */
    double *d_u, *d_v, *d_next_u, *d_next_v;
    h5twin_checkpoint_options_init(&options);
    options.every_steps = every;
    options.background = true;
    if (side < 3 || side > 1024 || !gray_scott_init(&sim, side, 0, side) ||
        h5twin_checkpoint_open(&checkpoints, argv[1], &options) != H5TWIN_CHECKPOINT_OK) {
        fputs("gray_scott_cuda: no memory, or no folder\n", stderr);
        return EXIT_FAILURE;
    }
    double **const arrays[] = {&d_u, &d_v, &d_next_u, &d_next_v};
    for (size_t i = 0; i < 4; i++) {
        check(cudaMalloc((void **)arrays[i], cells * sizeof(double)), "no memory of the GPU");
    }
    if (!load(checkpoints, &sim, d_u, d_v)) {
        check(cudaMemcpy(d_u, gray_scott_inside(&sim, sim.u), cells * sizeof(double),
                         cudaMemcpyHostToDevice),
              "copy");
        check(cudaMemcpy(d_v, gray_scott_inside(&sim, sim.v), cells * sizeof(double),
                         cudaMemcpyHostToDevice),
              "copy");
    }
    bool is_saved = true;
    while (sim.step < last) {
        advance_kernel<<<(unsigned)((cells + 255) / 256), 256>>>(sim.model, side, d_u, d_v,
                                                                 d_next_u, d_next_v);
        check(cudaGetLastError(), "launch");
        double *const u = d_u, *const v = d_v;
        d_u = d_next_u;
        d_v = d_next_v;
        d_next_u = u;
        d_next_v = v;
        sim.step++;
        if (h5twin_checkpoint_is_due(checkpoints, sim.step)) {
            is_saved = save(checkpoints, &sim, d_u, d_v) && is_saved;
        }
    }
    check(cudaMemcpy(gray_scott_inside(&sim, sim.u), d_u, cells * sizeof(double),
                     cudaMemcpyDeviceToHost),
          "copy");
    check(cudaMemcpy(gray_scott_inside(&sim, sim.v), d_v, cells * sizeof(double),
                     cudaMemcpyDeviceToHost),
          "copy");
    printf("step %" PRIu64 ", state %016" PRIx64 "\n", sim.step, gray_scott_hash(&sim));
    is_saved = h5twin_checkpoint_close(checkpoints) == H5TWIN_CHECKPOINT_OK && is_saved;
    for (size_t i = 0; i < 4; i++) {
        cudaFree(*arrays[i]);
    }
    gray_scott_free(&sim);
    return is_saved ? EXIT_SUCCESS : EXIT_FAILURE;
}
