/* Sparse matrices of mma.sp and wgmma.mma_async.sp (PTX ISA 9.7.14.6, 9.7.15.6): of each group of
 * elements along k, A holds half. Four bits of metadata say which. Elements of 16 or 8 bits are two
 * of four. Those of 4 bits are two pairs of four pairs, and one of 32 bits is one of two, as if it
 * had two halves. */
#include "runtime/device/exec/exec_matrix.h"

enum { EIGHT = 8, QUAD = 4, GROUP_BITS = 4, COMPRESSED_MOST = 16 * 128 };

/* Columns of a group in the whole matrix. */
static uint32_t group_columns(const struct fragment *a)
{
    switch (matrix_element_bits(a->element)) {
    case 32:
        return 2;
    case 4:
        return 8;
    default:
        return 4;
    }
}

/* Two rows share a word of metadata, or each row has a word of its own. */
static bool rows_share(const struct fragment *a)
{
    return matrix_element_bits(a->element) >= 16;
}

/* Words that a row's metadata is spread over; or half words where two rows share them. */
static uint32_t words_of(const struct fragment *a)
{
    const uint32_t groups = a->columns * 2 / group_columns(a);
    return groups / (rows_share(a) ? 4 : EIGHT);
}

bool matrix_sparse_is_valid(const struct fragment *a, uint32_t selector)
{
    const uint32_t words = words_of(a);
    const uint32_t bits = matrix_element_bits(a->element);
    if (a->rows != 2 * EIGHT || bits < 4 || bits > 32 || (words != 1 && words != 2))
        return false;
    /* How many of the four lanes of a row give their metadata. */
    const uint32_t lanes = words * (rows_share(a) ? 1 : 2);
    return selector < QUAD / lanes;
}

/* The four bits of a row's group: "Sparse matrix storage", and the figures of each shape. */
static uint32_t group_metadata(const struct warp *w, const struct fragment *a, uint32_t metadata,
                               uint32_t selector, uint32_t row, uint32_t group)
{
    const uint32_t *words = slot(w, metadata);
    const uint32_t lower = row / EIGHT, line = row % EIGHT * QUAD;
    if (rows_share(a)) {
        const uint32_t lane = selector * words_of(a) + group / 4;
        return words[line + lane] >> (lower * 16 + group % 4 * GROUP_BITS) & 15;
    }
    const uint32_t lane = selector * 2 * words_of(a) + group / EIGHT * 2 + lower;
    return words[line + lane] >> (group % EIGHT * GROUP_BITS) & 15;
}

/* The column, within its group, of the group's i-th element. */
static uint32_t column_of(const struct fragment *a, uint32_t bits, uint32_t i)
{
    switch (matrix_element_bits(a->element)) {
    case 32:
        return bits >> 1 & 1;
    case 4:
        return (bits >> (i / 2 * 2) & 3) * 2 + i % 2;
    default:
        return bits >> (i * 2) & 3;
    }
}

void matrix_spread_sparse(const struct warp *w, const struct fragment *a, uint32_t metadata,
                          uint32_t selector, const double *held, double *matrix)
{
    const uint32_t span = group_columns(a), each = span / 2, columns = a->columns * 2;
    memset(matrix, 0, (size_t)a->rows * columns * sizeof *matrix);
    for (uint32_t row = 0; row < a->rows; row++)
        for (uint32_t group = 0; group < columns / span; group++) {
            const uint32_t bits = group_metadata(w, a, metadata, selector, row, group);
            for (uint32_t i = 0; i < each; i++)
                matrix[row * columns + group * span + column_of(a, bits, i)] +=
                    held[row * a->columns + group * each + i];
        }
}

void matrix_read_sparse(struct warp *w, const struct fragment *a, uint32_t metadata,
                        uint32_t selector, double *matrix)
{
    double held[COMPRESSED_MOST];
    matrix_read(w, a, held);
    matrix_spread_sparse(w, a, metadata, selector, held, matrix);
}
