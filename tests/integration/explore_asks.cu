// verdict: none
// explore: 66
// skip: gpu
// ways: static
// output: -
// The program asks whether a kernel is done, and goes another way when it is not: on that way there
// is a race. (csan runs it eagerly here, and so sees none.) csan explore compares only runs that
// went the same way.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t event = event_create();
    launch_fill(a, p, 1);
    CHECK(cudaEventRecord(event, a));
    if (cudaEventQuery(event) == cudaSuccess)
        return finish();
    cudaGetLastError(); // not ready
    launch_fill(b, p, 2);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(p));
    printf("other way\n");
    return 0;
}
