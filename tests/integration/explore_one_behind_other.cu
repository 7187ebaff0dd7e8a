// verdict: race
// expect: explore_one_behind_other.cu:{real}
// expect: explore_one_behind_other.cu:{harmless}
// Of two races between the same streams one changes the result and the other does not: csan explore
// confirms the one and must not count the other.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, q, 7);
    launch_fill(a, p, 1);
    launch_fill(b, q, 7); // at: harmless
    launch_fill(b, p, 2); // at: real
    return finish();
}
