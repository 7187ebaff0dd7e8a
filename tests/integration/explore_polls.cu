// verdict: none
// explore: 67
// skip: gpu
// ways: static
// output: -
// The program asks whether a kernel is done, makes another launch when it is not, and prints which
// it was. No race, but what it does depends on the order of work: csan explore must not call that
// equal.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    launch_fill(a, p, 1);
    if (cudaStreamQuery(a) != cudaSuccess) {
        cudaGetLastError(); // not ready
        increment<<<GRID, BLOCK, 0, a>>>(p, N);
        printf("went on\n");
    }
    return finish();
}
