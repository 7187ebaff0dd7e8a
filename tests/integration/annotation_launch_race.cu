// verdict: race
// gpu: race
// Declared accesses are exact on any device. The launches themselves touch nothing (n is 0).
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    csan_launch_writes(p, BYTES);
    fill<<<1, BLOCK, 0, a>>>(p, 1, 0);
    csan_launch_reads(p, BYTES);
    csan_launch_writes(p + N - 1, sizeof(int));
    fill<<<1, BLOCK, 0, b>>>(p, 1, 0);
    CHECK(cudaGetLastError());
    return finish();
}
