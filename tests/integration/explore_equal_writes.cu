// verdict: race
// expect: explore_equal_writes.cu:{second}
// Two streams write the same values: a race, and yet every order ends the same. csan explore does
// not confirm it.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p, 1);
    launch_fill(b, p, 1); // at: second
    return finish();
}
