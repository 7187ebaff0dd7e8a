// verdict: none
// Two kernels on the two halves of one array, each distinguished by its range.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p, 1, N / 2);
    launch_fill(b, p + N / 2, 2, N / 2);
    return finish();
}
