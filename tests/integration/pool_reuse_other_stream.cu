// verdict: none
// The driver's pool may hand the memory to another stream, and then orders the two by itself.
#include "program.h"

int main()
{
    cudaStream_t streams[2] = {nonblocking_stream(), nonblocking_stream()};
    for (int i = 0; i < 6; i++) {
        cudaStream_t stream = streams[i % 2];
        int *p;
        CHECK(cudaMallocAsync((void **)&p, BYTES, stream));
        launch_fill(stream, p);
        CHECK(cudaFreeAsync(p, stream));
    }
    return finish();
}
