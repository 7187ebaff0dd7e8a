// verdict: race
// expect: explore_two_races.cu:{first}
// expect: explore_two_races.cu:{second}
// Two races that have nothing to do with each other: csan explore confirms each by itself.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p, 1);
    launch_fill(b, p, 2); // at: first
    CHECK(cudaDeviceSynchronize());
    launch_fill(a, q, 3);
    launch_increment(b, q); // at: second
    return finish();
}
