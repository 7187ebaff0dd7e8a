// verdict: race
// exit: 3
// output: bye
// A program's own failure keeps its exit code.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    launch_fill(b, p);
    CHECK(cudaDeviceSynchronize());
    printf("bye\n");
    return 3;
}
