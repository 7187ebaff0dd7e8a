// verdict: none
// Work in a blocking stream waits for what the legacy default stream was given before.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = blocking_stream();
    launch_fill(0, p);
    launch_increment(a, p);
    return finish();
}
