/* Runs branches.h on a kernel's code, for tests. */
#ifndef TESTS_UNIT_SASS_BRANCHES_CASE_H
#define TESTS_UNIT_SASS_BRANCHES_CASE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "tests/unit/sass/reads_case.h"
#include "runtime/sass/branches.h"
#include "tests/unit/sass/sm90_code.h"

#include <stdlib.h>

enum { WORDS = 16, P = PARAMETERS_AT };
enum { LESS = 1, EQUAL = 2, GREATER = 4, NOT_EQUAL = 5, GREATER_EQUAL = 6 };
#define ALL UINT32_MAX

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define WORD(n)      (P + 4 * (n))

/* A bit for each word that a launch reads whose word 0 is that, and the others 0; ALL: branches
 * narrow nothing. */
static inline uint32_t read_of(const struct instruction *instructions, size_t count, uint32_t first)
{
    const uint32_t parameters[WORDS] = {first};
    uint32_t read = ALL;
    struct reads *reads = branches_find((const uint8_t *)instructions, count * sizeof *instructions,
                                        code_architecture, P, WORDS);
    if (reads)
        reads_given(reads,
                    &(struct reads_launch){
                        .parameters = parameters, .bytes = sizeof parameters, .grid = {1, 1, 1}},
                    &read);
    free(reads);
    return read;
}

#define READ(first, ...)                                                                           \
    read_of((const struct instruction[]){__VA_ARGS__},                                             \
            COUNT(((const struct instruction[]){__VA_ARGS__})), first)

#endif
