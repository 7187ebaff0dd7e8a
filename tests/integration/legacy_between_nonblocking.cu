// verdict: race
// The legacy stream separates blocking streams only.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *other = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    launch_fill(0, other);
    launch_increment(b, p);
    return finish();
}
