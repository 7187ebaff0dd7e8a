// verdict: race
// A program that leaves through exit() is reported as well.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    launch_fill(b, p);
    exit(finish());
}
