/* SPDX-License-Identifier: BSD-3-Clause
 * count_codecs.c: encodes and decodes fixed small inputs once each, for callgrind.sh and
 * neon_counts.sh to count the instructions of. Prints one line "SPEC TYPE DIRECTION" for each call,
 * in the order of the calls.
 *
 * Every input is coded twice and only the second call counts: the first one fills caches of the
 * library such as its scratch memory. */
#define _POSIX_C_SOURCE 200809L
#include "contender.h"

#include <stdio.h>
#include <stdlib.h>

#define INPUT_BYTES (256u << 10)

static volatile unsigned call_count;

/* The names whose calls they count. */
void counted_nothing(void);
bool counted_encode(const struct contender *contender, const struct bench_array *array,
                    uint8_t *dst, size_t *dst_size);
bool counted_decode(const struct contender *contender, const struct bench_array *array,
                    uint8_t *dst, const uint8_t *src, size_t src_size);

/* Ends what came before the calls that count, and begins what comes behind them. */
__attribute__((noinline)) void
counted_nothing(void)
{
    call_count++;
}

__attribute__((noinline)) bool
counted_encode(const struct contender *contender, const struct bench_array *array, uint8_t *dst,
               size_t *dst_size)
{
    const bool ok = contender->encode(contender, array, array->bytes, dst, dst_size);
    call_count++; /* after the call: a tail call would end this function before it */
    return ok;
}

__attribute__((noinline)) bool
counted_decode(const struct contender *contender, const struct bench_array *array, uint8_t *dst,
               const uint8_t *src, size_t src_size)
{
    const bool ok = contender->decode(contender, array, dst, src, src_size);
    call_count++;
    return ok;
}

static bool
run(struct contender *contender, const struct bench_array *array)
{
    contender->prepare(contender, array);
    uint8_t *const packed = malloc(contender->capacity), *const decoded = malloc(array->size);
    size_t packed_size = 0;
    bool ok = packed != NULL && decoded != NULL &&
              contender->encode(contender, array, array->bytes, packed, &packed_size) &&
              contender->decode(contender, array, decoded, packed, packed_size);
    counted_nothing();
    ok = ok && counted_encode(contender, array, packed, &packed_size) &&
         counted_decode(contender, array, decoded, packed, packed_size);
    counted_nothing();
    printf("%s f%u encode\n%s f%u decode\n", contender->name, 8 * array->word_size, contender->name,
           8 * array->word_size);
    free(packed);
    free(decoded);
    return ok;
}

int
main(void)
{
    static struct contenders contenders;
    bool ok = true;
    contenders_add_codecs(&contenders, "-", 1);
    for (unsigned word_size = 4; word_size <= 8; word_size += 4) {
        struct bench_array array;
        ok = ok && bench_array_generate(&array, INPUT_BYTES, word_size);
        for (unsigned i = 0; ok && i < contenders.count; i++) {
            ok = run(&contenders.list[i], &array);
        }
        bench_array_free(&array);
    }
    return ok ? 0 : 1;
}
