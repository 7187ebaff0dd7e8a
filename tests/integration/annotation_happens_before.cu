// verdict: none
// explore: 67
// The program declares an order that csan cannot see.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    csan_happens_before(p, a);
    csan_happens_after(p, b);
    launch_increment(b, p);
    return finish();
}
