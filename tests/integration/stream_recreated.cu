// verdict: race
// A new stream with an old stream's handle is another stream.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    launch_fill(a, p);
    CHECK(cudaStreamDestroy(a));
    cudaStream_t b = nonblocking_stream();
    launch_increment(b, p);
    return finish();
}
