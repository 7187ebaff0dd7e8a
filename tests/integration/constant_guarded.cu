// verdict: race
// expect: CSAN: (possible )?data race: scale \(.*:{launch}\) does not wait for cudaMemcpy(ToSymbol)?Async \(.*:{upload}\) on the __constant__ variable 'settings'
// Parts of a __constant__ structure are read only if another part says so. What PTX knows is
// bounds; the trace of a launch has its loads from constant memory, too.
#include "program.h"

struct Settings {
    int factor, offset, n;
};
__constant__ Settings settings;

__global__ void scale(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < settings.n)
        out[i] = settings.factor * i + settings.offset;
}

int main()
{
    int *out = device_array<int>();
    cudaStream_t upload = nonblocking_stream(), work = nonblocking_stream();
    Settings *host;
    CHECK(cudaMallocHost(&host, sizeof *host));
    *host = {2, 1, N};
    CHECK(cudaMemcpyToSymbol(settings, host, sizeof *host));
    CHECK(cudaDeviceSynchronize());
    const cudaMemcpyKind up = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpyToSymbolAsync(settings, host, sizeof *host, 0, up, upload)); // at: upload
    scale<<<GRID, BLOCK, 0, work>>>(out);                                        // at: launch
    CHECK(cudaGetLastError());
    return finish();
}
