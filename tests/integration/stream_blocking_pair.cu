// verdict: race
// Blocking streams are ordered with the legacy default stream, not with one another.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = blocking_stream(), b = blocking_stream();
    launch_fill(a, p, 1);
    launch_fill(b, p, 2);
    return finish();
}
