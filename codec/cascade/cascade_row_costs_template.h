/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_row_costs_template.h: row_costs of cascade_kernels.h, by other kernels, for one width of
 * lanes. */

#define NAME(name) CASCADE_LANE_NAME(name)

static void
NAME(row_costs)(uint64_t *restrict costs, const void *restrict row, size_t halo, size_t count,
                unsigned most, unsigned word_bits, bool in_groups)
{
    CASCADE_LANE lanes[2][CASCADE_MAX_ORDER + CASCADE_TILE_VALUES];
    const CASCADE_LANE *from = row;
    for (unsigned order = 0; order <= most; order++) {
        if (order != 0) {
            NAME(difference)(lanes[order % 2], from, halo + count, order);
            from = lanes[order % 2];
        }
        costs[order] = in_groups ? NAME(group_lengths)(from + halo, count, word_bits)
                                 : NAME(lengths)(from + halo, count, word_bits);
    }
}

#undef NAME
