// verdict: race
// expect: stream_handle_reused.cu:{free}
// Freed on a stream that was made after the memory's own one was destroyed, which orders nothing:
// the driver may well give both the same handle.
#include "program.h"

int main()
{
    cudaStream_t a = nonblocking_stream();
    int *p;
    CHECK(cudaMallocAsync((void **)&p, BYTES, a));
    CHECK(cudaStreamDestroy(a));
    cudaStream_t b = nonblocking_stream();
    CHECK(cudaFreeAsync(p, b)); // at: free
    return finish();
}
