// verdict: race
// Memory from cudaMallocAsync exists in the order of its stream; another stream must wait.
#include "program.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *p;
    CHECK(cudaMallocAsync((void **)&p, BYTES, a));
    launch_fill(b, p);
    return finish();
}
