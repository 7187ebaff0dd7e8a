// verdict: none
// finding: illegal instruction in load_by_own_map
// flags: -gencode arch=compute_90a,code=[compute_90a,sm_90a]
// cuda: 13
// skip: gpu
// own-errors: yes
// expect: CSAN: illegal instruction in load_by_own_map \(.*tensor_odd_column.cu:{launch}\)
// A tile begins at a column that is no multiple of 16 bytes, which a GPU refuses.
#include "tensor_made.h"

int main()
{
    int *in = device_array<int>(ROWS * COLUMNS), *out = device_array<int>(TILE);
    CUtensorMap *made;
    CHECK(cudaMalloc(&made, sizeof *made));
    const Matrix matrix = {in, COLUMNS, ROWS, COLUMNS * (int)sizeof(int), 1};
    load_by_own_map<<<1, 32>>>(host_map(in), true, matrix, made, 4, 1, out);
    CHECK(cudaDeviceSynchronize());
    load_by_own_map<<<1, 32>>>(host_map(in), true, matrix, made, 3, 1, out); // at: launch
    if (cudaDeviceSynchronize() != cudaErrorIllegalInstruction)
        printf("no illegal instruction\n");
    printf("done\n");
    return 0;
}
