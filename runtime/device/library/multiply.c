/* One product of matrices. See multiply.h. */
#include "runtime/device/library/multiply.h"
#include "runtime/device/library/cpu.h"

#include <limits.h>
#include <stdlib.h>

typedef void gemm(const char *, const char *, const int *, const int *, const int *, const void *,
                  const void *, const int *, const void *, const int *, const void *, void *,
                  const int *);

/* ---- One product ---- */

int multiply_type(int a, int b, int c)
{
    const int types[] = {a, b, c};
    bool complex = false, wide = false;
    for (int i = 0; i < 3; i++) {
        complex |= number_is_complex(types[i]);
        wide |= types[i] == NUMBER_64F || types[i] == NUMBER_C64F || number_is_integer(types[i]);
    }
    return complex ? (wide ? NUMBER_C64F : NUMBER_C32F) : (wide ? NUMBER_64F : NUMBER_32F);
}

static const char *routine_of(int type)
{
    return type == NUMBER_C64F   ? "zgemm_"
           : type == NUMBER_C32F ? "cgemm_"
           : type == NUMBER_64F  ? "dgemm_"
                                 : "sgemm_";
}

/* A matrix in the working type, whose columns lie as far apart as the routine's integers say at
 * most. `owned` is to be freed. */
struct converted {
    void *data;
    void *owned;
    int64_t leading;
};

static struct converted convert(const struct operand *from, int64_t rows, int64_t columns, int type,
                                bool with_values)
{
    const int64_t leading = rows > 1 ? rows : 1;
    if (!from->data)
        return (struct converted){NULL, NULL, leading};
    if (from->type == type && from->leading <= INT_MAX)
        return (struct converted){from->data, NULL, from->leading};
    void *made = calloc((size_t)(leading * (columns > 1 ? columns : 1)), number_bytes(type));
    for (int64_t j = 0; made && with_values && j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            number_write(type, made, i + j * leading,
                         number_read(from->type, from->data, i + j * from->leading));
    return (struct converted){made, made, leading};
}

static void convert_back(const struct converted *from, int type, const struct operand *to,
                         int64_t rows, int64_t columns)
{
    if (!from->owned)
        return;
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            number_write(to->type, to->data, i + j * to->leading,
                         number_read(type, from->data, i + j * from->leading));
}

bool multiply(int64_t m, int64_t n, int64_t k, double _Complex alpha, const struct operand *a,
              const struct operand *b, double _Complex beta, const struct operand *c)
{
    if (m > INT_MAX || n > INT_MAX || k > INT_MAX)
        return false;
    const int type = multiply_type(a->type, b->type, c->type);
    const bool a_plain = a->operation == OPERATION_N, b_plain = b->operation == OPERATION_N;
    gemm *routine = (gemm *)cpu_function(CPU_OPENBLAS, routine_of(type));
    struct converted with_a = convert(a, a_plain ? m : k, a_plain ? k : m, type, true);
    struct converted with_b = convert(b, b_plain ? k : n, b_plain ? n : k, type, true);
    struct converted with_c = convert(c, m, n, type, beta != 0);
    const bool whole =
        routine && with_c.data && (with_a.data || !a->data) && (with_b.data || !b->data);
    if (whole) {
        unsigned char factors[2][16];
        number_write(type, factors[0], 0, a->data && b->data ? alpha : 0);
        number_write(type, factors[1], 0, beta);
        const int sizes[] = {(int)m, (int)n, (int)k};
        const int leading[] = {(int)with_a.leading, (int)with_b.leading, (int)with_c.leading};
        routine(&"NTC"[a->operation], &"NTC"[b->operation], &sizes[0], &sizes[1], &sizes[2],
                factors[0], with_a.data, &leading[0], with_b.data, &leading[1], factors[1],
                with_c.data, &leading[2]);
        convert_back(&with_c, type, c, m, n);
    }
    free(with_a.owned);
    free(with_b.owned);
    free(with_c.owned);
    return whole;
}
