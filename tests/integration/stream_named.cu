// verdict: race
// expect: ^Access by stream 'copy' \(created at .*stream_named.cu:{copy}\) during
// expect: ^Previous access by stream A \(created at .*stream_named.cu:{first}\) during
// expect: record an event on stream A after fill
// expect: make stream 'copy' wait for it before
// A stream is called by the name that the program gives it with csan_name_stream, another by its
// letter; each with where it was created.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t first, copy;
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking)); // at: first
    CHECK(cudaStreamCreateWithFlags(&copy, cudaStreamNonBlocking));  // at: copy
    csan_name_stream(copy, "copy");
    fill<<<GRID, BLOCK, 0, first>>>(p, 1, N);
    CHECK(cudaMemsetAsync(p, 0, BYTES, copy));
    CHECK(cudaDeviceSynchronize());
    puts("done");
}
