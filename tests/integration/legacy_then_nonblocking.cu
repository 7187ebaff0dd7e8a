// verdict: race
// Non-blocking streams take no part in the legacy stream's order.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    launch_fill(0, p);
    launch_increment(a, p);
    return finish();
}
