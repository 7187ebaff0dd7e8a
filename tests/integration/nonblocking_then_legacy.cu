// verdict: race
// Nor does the legacy stream wait for non-blocking ones.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    launch_fill(a, p);
    launch_increment(0, p);
    return finish();
}
