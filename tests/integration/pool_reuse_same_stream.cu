// verdict: none
// The driver's pool gives the memory out again, in the order of the stream that freed it.
#include "program.h"

int main()
{
    cudaStream_t a = nonblocking_stream();
    for (int i = 0; i < 4; i++) {
        int *p;
        CHECK(cudaMallocAsync((void **)&p, BYTES, a));
        launch_fill(a, p);
        launch_increment(a, p);
        CHECK(cudaFreeAsync(p, a));
    }
    return finish();
}
