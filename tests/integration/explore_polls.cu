// verdict: none
// explore: 67
// skip: gpu
// ways: static
// output: -
// The program asks whether a kernel is done, waits when it is not, and prints which it was. No race,
// but what it prints depends on the order of work: csan explore must not call that equal.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    launch_fill(a, p, 1);
    if (cudaStreamQuery(a) != cudaSuccess) {
        cudaGetLastError(); // not ready
        CHECK(cudaStreamSynchronize(a));
        printf("waited\n");
    }
    return finish();
}
