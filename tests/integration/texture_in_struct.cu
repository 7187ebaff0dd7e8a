// verdict: race
// gpu: possible
// expect: 0\+8
// The handle is a member of a struct passed by value.
#include "texture.h"

struct source {
    int n;
    cudaTextureObject_t texture;
    int *out;
};

__global__ void fetch_of(source s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < s.n)
        s.out[i] = tex1Dfetch<int>(s.texture, i);
}

int main()
{
    int *p = device_array<int>(), *out = device_array<int>();
    source s = {N, linear_texture(p), out};
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    fetch_of<<<GRID, BLOCK, 0, b>>>(s);
    fill<<<GRID, BLOCK, 0, a>>>(p, 1, N);
    CHECK(cudaGetLastError());
    return finish();
}
