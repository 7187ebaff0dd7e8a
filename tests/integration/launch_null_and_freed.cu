// verdict: none
// A kernel may be given NULL, or a pointer to memory freed long ago, as long as it does not use it.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaFree(nullptr));
    CHECK(cudaFree(p));
    fill<<<GRID, BLOCK, 0, a>>>(nullptr, 1, 0);
    fill<<<GRID, BLOCK, 0, b>>>(p, 1, 0);
    CHECK(cudaGetLastError());
    return finish();
}
