// verdict: race
// A declared order under another key is another order.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    csan_happens_before(p, a);
    csan_happens_after(p + 1, b);
    launch_increment(b, p);
    return finish();
}
