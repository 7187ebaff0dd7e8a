// verdict: race
// expect: CSAN: data race: cudaMemcpy(ToSymbol)?Async \(.*:{upload}\) does not wait for filter \(.*:{launch}\) on the __constant__ variable 'taps' \(64 bytes, of .*constant_symbol\)
// expect: The memory is the __constant__ variable 'taps' of .*constant_symbol\.
// expect: of the variable's 64 at 0x
// expect: during call:
// expect: filter\(float const\*, float\*\), defined at .*constant_symbol.cu:{kernel}
// expect: race 2, by the same missing order as race 1
// reject: no allocation csan saw|allocation was not seen
// flags: -lineinfo
// Filter coefficients are in __constant__ memory that all filter objects share; the second stream
// uploads its own while the first kernel runs.
#include "program.h"

__constant__ float taps[16];

__global__ void filter(const float *in, float *out) // at: kernel
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N - 16)
        return;
    float sum = 0;
    for (int k = 0; k < 16; k++)
        sum += in[i + k] * taps[k];
    out[i] = sum;
}

struct Filter {
    float *host;
    cudaStream_t stream = nonblocking_stream();
    Filter(float value)
    {
        CHECK(cudaMallocHost(&host, sizeof taps));
        for (int i = 0; i < 16; i++)
            host[i] = value;
    }
    void apply(const float *in, float *out)
    {
        const cudaMemcpyKind up = cudaMemcpyHostToDevice;
        CHECK(cudaMemcpyToSymbolAsync(taps, host, sizeof taps, 0, up, stream)); // at: upload
        filter<<<GRID, BLOCK, 0, stream>>>(in, out);                            // at: launch
        CHECK(cudaGetLastError());
    }
};

int main()
{
    float *in = device_array<float>(), *out = device_array<float>(2 * N);
    CHECK(cudaMemset(in, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    Filter one(1), half(0.5f);
    one.apply(in, out);
    half.apply(in, out + N);
    return finish();
}
