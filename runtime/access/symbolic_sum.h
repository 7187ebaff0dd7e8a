/* Sums as a person writes them: constant + sum of coefficient * term, where a term is a piece of
 * text. They express a node of the graph of values in the terms of the program's author: parameters
 * by position, threadIdx.x, a loop's counter. Terms with the same text are merged; there is no
 * other algebra. Wrap-around is not shown. All data live in an arena. */
#ifndef RUNTIME_ACCESS_SYMBOLIC_SUM_H
#define RUNTIME_ACCESS_SYMBOLIC_SUM_H

#include "runtime/ptx/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SYMBOLIC_SUM_TERMS = 12, SYMBOLIC_SUM_TEXT = 160 };

struct symbolic_sum_term {
    int64_t coefficient; /* never 0 */
    const char *text;    /* needs no brackets in a product */
    uint32_t counter;    /* the loop whose round it counts, alone or times `step`; 0: none */
    const struct symbolic_sum *step;
    uint8_t pointer; /* enum symbolic_sum_pointer */
    bool cut;        /* the text ends in "...": equal texts may differ in value */
};

/* How surely a term is the address that the others are an offset from. */
enum symbolic_sum_pointer { SYMBOLIC_SUM_NUMBER, SYMBOLIC_SUM_MAYBE_POINTER, SYMBOLIC_SUM_POINTER };

struct symbolic_sum {
    int64_t constant;
    uint32_t count;
    struct symbolic_sum_term terms[SYMBOLIC_SUM_TERMS];
};

/* printf into the arena; beyond SYMBOLIC_SUM_TEXT bytes it ends in "...". *cut may be NULL. */
const char *symbolic_sum_print(struct arena *arena, bool *cut, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct symbolic_sum *symbolic_sum_constant(struct arena *arena, int64_t constant);
struct symbolic_sum *symbolic_sum_term(struct arena *arena, struct symbolic_sum_term term);
/* a + scale * b. With too many terms some are written as "...". */
struct symbolic_sum *symbolic_sum_add(struct arena *arena, const struct symbolic_sum *a,
                                      const struct symbolic_sum *b, int64_t scale);
struct symbolic_sum *symbolic_sum_multiply(struct arena *arena, const struct symbolic_sum *a,
                                           const struct symbolic_sum *b);
bool symbolic_sum_is_constant(const struct symbolic_sum *sum, int64_t *constant);
bool symbolic_sum_has_negative(const struct symbolic_sum *sum);
/* The greatest common divisor of all coefficients and, if requested, the constant, with the sign of
 * the first term; never 0. */
int64_t symbolic_sum_content(const struct symbolic_sum *sum, bool constant_too);
/* Divides every coefficient and the constant; false if that leaves a remainder. */
bool symbolic_sum_divide(struct arena *arena, const struct symbolic_sum *sum, int64_t divisor,
                         struct symbolic_sum **result);
/* "4*(blockIdx.x*blockDim.x + threadIdx.x) + 8"; "0". */
const char *symbolic_sum_text(struct arena *arena, const struct symbolic_sum *sum, bool *cut);
/* The same, in brackets where it is more than one word or product. */
const char *symbolic_sum_factor(struct arena *arena, const struct symbolic_sum *sum, bool *cut);

#endif
