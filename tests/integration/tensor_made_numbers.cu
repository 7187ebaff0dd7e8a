// verdict: none
// gpu: any
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
// cuda: 13
// Tiles that are loaded by maps that the kernel made: of matrices of several sizes and strides,
// with steps, and beyond their ends. Columns at which tiles begin are multiples of 16 bytes.
#include "tensor_made.h"

#include <vector>

int main()
{
    enum { COUNT = ROWS * COLUMNS };
    std::vector<int> numbers(COUNT), got(TILE);
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i * 7 + 1;
    int *in = device_array<int>(COUNT), *other = device_array<int>(COUNT),
        *out = device_array<int>(TILE);
    CUtensorMap *made;
    CHECK(cudaMalloc(&made, sizeof *made));
    CHECK(cudaMemcpy(in, numbers.data(), COUNT * sizeof(int), cudaMemcpyHostToDevice));
    const struct {
        bool from_zeros;
        int first, columns, rows, row, step, x, y; // row: ints from row to row
    } cases[] = {
        {true, 0, 32, 24, 32, 1, 4, 3},  {true, 32, 20, 10, 32, 1, 8, 5},
        {false, 0, 32, 24, 32, 1, 4, 3}, {false, 16, 18, 9, 64, 1, 4, 4},
        {true, 4, 15, 12, 48, 1, -4, 1}, {true, 4, 16, 12, 48, 2, 0, 1},
        {true, 0, 32, 24, 32, 3, 16, 0},
    };
    int wrong = 0;
    for (const auto &c : cases) {
        const Matrix matrix = {in + c.first, c.columns, c.rows, c.row * (int)sizeof(int), c.step};
        CHECK(cudaMemset(made, 0, sizeof *made));
        load_by_own_map<<<1, 32>>>(host_map(other), c.from_zeros, matrix, made, c.x, c.y, out);
        if (cudaDeviceSynchronize() != cudaSuccess)
            fprintf(stderr, "case %d:\n", (int)(&c - cases));
        CHECK(cudaMemcpy(got.data(), out, TILE * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < TILE; i++) {
            const int x = c.x + i % TILE_COLUMNS, y = c.y + i / TILE_COLUMNS * c.step;
            const bool inside = x >= 0 && x < c.columns && y >= 0 && y < c.rows;
            wrong += got[i] != (inside ? numbers[c.first + y * c.row + x] : 0);
        }
    }
    if (wrong)
        fprintf(stderr, "%d numbers are wrong\n", wrong);
    else
        printf("done\n");
    return wrong != 0;
}
