// verdict: none
// flags: -gencode arch=compute_100a,code=[compute_100a,sm_100a]
// cuda: 13
// skip: gpu
// Rows that are gathered, one of them twice and some outside of the matrix, and rows that are
// scattered. Compiled for sm_100a, so GPUs of other architectures cannot run it.
#include "tensor_rows.h"

#include <vector>

static const Rows sets[] = {
    {0, {1, 5, 0, 9}},    {16, {39, 38, 2, 3}},  {8, {7, 20, 30, 11}},
    {24, {4, 8, 12, 16}}, {-4, {40, 6, -1, 10}}, {12, {21, 21, 22, 100}},
};
enum { SETS = sizeof sets / sizeof *sets, SCATTERED = 5, NUMBERS = SETS * FOUR * TILE };

static int *place(std::vector<int> &matrix, const Rows &r, int k, int i)
{
    const int row = r.row[k], column = r.column + i;
    const bool inside = row >= 0 && row < ROWS && column >= 0 && column < COLUMNS;
    return inside ? &matrix[row * COLUMNS + column] : nullptr;
}

int main()
{
    std::vector<int> matrix(ROWS * COLUMNS), target(ROWS * COLUMNS, -7), got(NUMBERS);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        matrix[i] = i * 3 + 1;
    int *in = device_array<int>(ROWS * COLUMNS), *to = device_array<int>(ROWS * COLUMNS),
        *rows = device_array<int>(NUMBERS);
    const size_t bytes = matrix.size() * sizeof(int);
    const Rows *at = on_device(sets, SETS);
    CHECK(cudaMemcpy(in, matrix.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(to, target.data(), bytes, cudaMemcpyHostToDevice));
    gather_rows<<<SETS, 32>>>(rows_map(in), at, rows);
    scatter_rows<<<SCATTERED, 32>>>(rows_map(to), at, rows);
    CHECK(cudaMemcpy(got.data(), rows, NUMBERS * sizeof(int), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int s = 0; s < SETS; s++)
        for (int k = 0; k < FOUR; k++)
            for (int i = 0; i < TILE; i++) {
                const int *from = place(matrix, sets[s], k, i);
                const int expected = from ? *from : 0;
                wrong += got[(s * FOUR + k) * TILE + i] != expected;
                if (s < SCATTERED && from)
                    *place(target, sets[s], k, i) = expected;
            }
    std::vector<int> left(ROWS * COLUMNS);
    CHECK(cudaMemcpy(left.data(), to, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        wrong += left[i] != target[i];
    if (wrong)
        fprintf(stderr, "%d numbers are wrong\n", wrong);
    else
        printf("done\n");
    return wrong != 0;
}
