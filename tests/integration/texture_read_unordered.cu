// verdict: race
// gpu: possible
// expect: fetch
// expect: fill
// One stream fills a buffer, another reads it through a texture at the same time. Which texels a
// kernel reads is not known on a GPU: there the race is a possible one.
#include "texture.h"

int main()
{
    int *p = device_array<int>(), *out = device_array<int>();
    cudaTextureObject_t texture = linear_texture(p);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    fill<<<GRID, BLOCK, 0, a>>>(p, 1, N);
    fetch<<<GRID, BLOCK, 0, b>>>(texture, out, N);
    CHECK(cudaGetLastError());
    return finish();
}
