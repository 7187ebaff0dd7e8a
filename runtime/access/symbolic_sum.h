/* Sums as a person writes them: constant + sum of coefficient * term, where a term is a piece of
 * text. What a node of the graph of values is worth in the words of the program's author:
 * parameters by position, threadIdx.x, a loop's counter. Terms of the same text are one, which is
 * all the algebra there is; wrap-around is not said. Everything lives in an arena. */
#ifndef RUNTIME_ACCESS_SYMBOLIC_SUM_H
#define RUNTIME_ACCESS_SYMBOLIC_SUM_H

#include "runtime/ptx/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SUM_TERMS = 12, SUM_TEXT = 160 };

struct sum_term {
    int64_t coefficient; /* never 0 */
    const char *text;    /* needs no brackets in a product */
    uint32_t counter;    /* the loop whose round it counts, alone or times `step`; 0: none */
    const struct sum *step;
    uint8_t pointer; /* enum sum_pointer */
    bool cut;        /* the text ends in "...": equal texts may differ in value */
};

/* How surely a term is the address that the others are an offset from. */
enum sum_pointer { SUM_NUMBER, SUM_MAYBE_POINTER, SUM_POINTER };

struct sum {
    int64_t constant;
    uint32_t count;
    struct sum_term terms[SUM_TERMS];
};

/* printf into the arena; beyond SUM_TEXT bytes it ends in "...". *cut may be NULL. */
const char *sum_print(struct arena *arena, bool *cut, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct sum *sum_constant(struct arena *arena, int64_t constant);
struct sum *sum_term(struct arena *arena, struct sum_term term);
/* a + scale * b. With too many terms some are told as "...". */
struct sum *sum_add(struct arena *arena, const struct sum *a, const struct sum *b, int64_t scale);
struct sum *sum_multiply(struct arena *arena, const struct sum *a, const struct sum *b);
bool sum_is_constant(const struct sum *sum, int64_t *constant);
bool sum_has_negative(const struct sum *sum);
/* The greatest common divisor of all coefficients and, if told so, the constant, with the sign of
 * the first term; never 0. */
int64_t sum_content(const struct sum *sum, bool constant_too);
/* Every coefficient and the constant divided; false when that leaves a rest. */
bool sum_divide(struct arena *arena, const struct sum *sum, int64_t divisor, struct sum **result);
/* "4*(blockIdx.x*blockDim.x + threadIdx.x) + 8"; "0". */
const char *sum_text(struct arena *arena, const struct sum *sum, bool *cut);
/* The same, in brackets where it is more than one word or product. */
const char *sum_factor(struct arena *arena, const struct sum *sum, bool *cut);

#endif
