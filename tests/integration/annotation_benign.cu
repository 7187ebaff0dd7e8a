// verdict: none
// Nobody minds races on the last eight numbers of an array: two kernels that write all of it but
// for those are ordered, or write different parts.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    csan_benign_range(p + N - 8, 8 * sizeof(int));
    launch_fill(a, p + N / 2, 1, N / 2);
    launch_fill(b, p, 1, N / 2);
    launch_fill(b, p + N - 8, 2, 8);
    CHECK(cudaMemsetAsync(p + N - 4, 0, 4 * sizeof(int), b));
    return finish();
}
