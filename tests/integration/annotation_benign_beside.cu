// verdict: race
// expect: Overlap: 4 bytes, 4060 to 4063 of the 4096
// Of the bytes that two kernels write, all but four may race. Memory that is allocated anew is
// nobody's exception.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    csan_benign_range(p + N - 8, 8 * sizeof(int));
    csan_benign_range(q, BYTES);
    launch_fill(a, p + N / 2, 1, N / 2);
    launch_fill(b, p + N - 9, 2, 9);
    CHECK(cudaFree(q));
    q = device_array<int>();
    launch_increment(a, q);
    CHECK(cudaStreamSynchronize(a));
    launch_increment(b, q);
    return finish();
}
