// verdict: race
// Two kernels in one stream, each followed by one in another stream that reads what it wrote, and
// the readers start at one line: one event is too early for the second, or too late for the first.
#include "program.h"

int main()
{
    int *in[2] = {device_array<int>(), device_array<int>()}, *out = device_array<int>(2 * N);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    for (int i = 0; i < 2; i++) {
        if (i)
            fill<<<GRID, BLOCK, 0, a>>>(in[i], 2, N);
        else
            fill<<<GRID, BLOCK, 0, a>>>(in[i], 1, N);
        copy<<<GRID, BLOCK, 0, b>>>(out + i * N, in[i], N);
    }
    return finish();
}
