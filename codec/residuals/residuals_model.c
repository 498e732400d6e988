/* SPDX-License-Identifier: BSD-3-Clause
 * residuals_model.c: see residuals_model.h. */
#include "residuals_model.h"

#include <string.h>

/* ---- tables: neighbouring classes share one while that saves bits ---- */

/* Bits, times 4096, that the symbols counted would take, with an estimate for their table; 0 for
 * none. */
static uint64_t
cost_of(const struct h5twin_residuals_kernels *kernels, const uint32_t histogram[RESIDUALS_TOKENS])
{
    uint64_t sum = 0;
    unsigned used = 0, end = RESIDUALS_TOKENS;
    for (unsigned i = 0; i < RESIDUALS_TOKENS; i++) {
        sum += histogram[i];
        used += histogram[i] != 0;
    }
    while (end != 0 && histogram[end - 1] == 0) {
        end--;
    }
    return residuals_cost_of(sum, kernels->entropy(histogram), used, end);
}

static uint64_t
cost_of_both(const struct h5twin_residuals_kernels *kernels, const uint32_t *a, const uint32_t *b)
{
    uint32_t sum[RESIDUALS_TOKENS];
    for (unsigned i = 0; i < RESIDUALS_TOKENS; i++) {
        sum[i] = a[i] + b[i];
    }
    return cost_of(kernels, sum);
}

static void
set_joined_cost(struct h5twin_residuals_groups *groups, unsigned index, unsigned group_count,
                const struct h5twin_residuals_kernels *kernels)
{
    if (index + 1 < group_count) {
        groups->group[index].joined_cost =
            cost_of_both(kernels, groups->group[index].tokens, groups->group[index + 1].tokens);
    }
}

static unsigned
group_each_class(struct h5twin_residuals_groups *groups,
                 const struct h5twin_residuals_counts *counts,
                 const struct h5twin_residuals_kernels *kernels)
{
    unsigned group_count = 0;
    for (unsigned c = 1; c < RESIDUALS_CLASSES; c++) {
        if (counts->blocks[c] != 0) {
            memcpy(groups->group[group_count].tokens, counts->tokens[c], sizeof counts->tokens[c]);
            groups->group[group_count].first_class = c;
            groups->group[group_count].end_class = c + 1;
            groups->group[group_count].cost = cost_of(kernels, counts->tokens[c]);
            group_count++;
        }
    }
    for (unsigned i = 0; i < group_count; i++) {
        set_joined_cost(groups, i, group_count, kernels);
    }
    return group_count;
}

/* The pair that saves most when joined, the first of equals; group_count if none saves, or the
 * first pair if there must be fewer groups. */
static unsigned
best_pair(const struct h5twin_residuals_groups *groups, unsigned group_count)
{
    int64_t best_saving = 0;
    unsigned best = group_count;
    for (unsigned i = 0; i + 1 < group_count; i++) {
        const int64_t saving = (int64_t)(groups->group[i].cost + groups->group[i + 1].cost -
                                         groups->group[i].joined_cost);
        if (saving > best_saving || (best == group_count && group_count > RESIDUALS_TABLES)) {
            best_saving = saving;
            best = i;
        }
    }
    return best;
}

static void
join_pair(struct h5twin_residuals_groups *groups, unsigned index, unsigned group_count,
          const struct h5twin_residuals_kernels *kernels)
{
    for (unsigned i = 0; i < RESIDUALS_TOKENS; i++) {
        groups->group[index].tokens[i] += groups->group[index + 1].tokens[i];
    }
    groups->group[index].end_class = groups->group[index + 1].end_class;
    groups->group[index].cost = groups->group[index].joined_cost;
    memmove(&groups->group[index + 1], &groups->group[index + 2],
            (group_count - index - 2) * sizeof groups->group[0]);
    set_joined_cost(groups, index, group_count - 1, kernels);
    if (index != 0) {
        set_joined_cost(groups, index - 1, group_count - 1, kernels);
    }
}

/* ---- kinds: tables with shifts ---- */

/* Bits, times 4096, of a word of each token that the table has, without low bits. */
static void
token_costs(uint64_t costs[RESIDUALS_TOKENS], const struct h5twin_residuals_table *table)
{
    for (unsigned i = 0; i < RESIDUALS_TOKENS; i++) {
        costs[i] =
            table->frequency[i] == 0 ? 0 : h5twin_residual_token_cost(i, table->frequency[i], 0);
    }
}

/* Bits, times 4096, of the words of a class, with `shift` low bits each. */
static uint64_t
class_cost(const uint32_t tokens[RESIDUALS_TOKENS], const uint64_t costs[RESIDUALS_TOKENS],
           unsigned shift)
{
    uint64_t cost = 0, words = 0;
    for (unsigned i = 0; i < RESIDUALS_TOKENS; i++) {
        cost += tokens[i] * costs[i];
        words += tokens[i];
    }
    return cost + (words * shift << 12);
}

static void
add_kind(struct h5twin_residuals_model *model, unsigned table, unsigned shift)
{
    const struct h5twin_residuals_kind *const last = &model->kinds[model->kind_count];
    if (model->kind_count == 0 || last->table != table || last->shift != shift) {
        model->kind_count++;
        model->kinds[model->kind_count].table = (uint8_t)table;
        model->kinds[model->kind_count].shift = (uint8_t)shift;
        model->has_shifts |= shift != 0;
    }
}

void
h5twin_residuals_model_make(struct h5twin_residuals_model *model,
                            const struct h5twin_residuals_counts *counts,
                            struct h5twin_residuals_groups *groups,
                            const struct h5twin_residuals_kernels *kernels)
{
    uint64_t kind_cost[RESIDUALS_KINDS + 1] = {0}, kind_blocks[RESIDUALS_KINDS + 1] = {0};
    uint64_t total = 0;
    unsigned group_count = group_each_class(groups, counts, kernels), pair;
    while ((pair = best_pair(groups, group_count)) != group_count) {
        join_pair(groups, pair, group_count, kernels);
        group_count--;
    }
    model->table_count = group_count;
    model->kind_count = 0;
    model->has_shifts = false;
    model->kinds[0] = (struct h5twin_residuals_kind){0, 0, 0};
    memset(model->kind_of_class, 0, sizeof model->kind_of_class);
    for (unsigned table = 0; table < group_count; table++) {
        uint64_t costs[RESIDUALS_TOKENS];
        h5twin_residuals_table_make(&model->tables[table], groups->group[table].tokens);
        token_costs(costs, &model->tables[table]);
        for (unsigned c = groups->group[table].first_class; c < groups->group[table].end_class;
             c++) {
            if (counts->blocks[c] == 0) {
                continue;
            }
            const unsigned shift = h5twin_residual_class_shift(c);
            add_kind(model, table, shift);
            model->kind_of_class[c] = (uint8_t)model->kind_count;
            const uint64_t cost = class_cost(counts->tokens[c], costs, shift);
            kind_cost[model->kind_count] += cost;
            kind_blocks[model->kind_count] += counts->blocks[c];
            total += cost;
        }
    }
    for (unsigned kind = 1; kind <= model->kind_count; kind++) {
        model->kinds[kind].block_bits = (uint32_t)((kind_cost[kind] / kind_blocks[kind]) >> 12);
    }
    model->total_bits = total >> 12;
}
