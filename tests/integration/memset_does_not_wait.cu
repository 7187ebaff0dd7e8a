// verdict: race
// cudaMemset of device memory does not make the host wait: a non-blocking stream may overtake it.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMemset(p, 0, BYTES));
    launch_increment(a, p);
    return finish();
}
