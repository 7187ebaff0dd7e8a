// verdict: possible
// options: trace=0
// expect: it goes through a texture, surface or tensor map, and which part of that one's memory
// expect: fetch
// As texture_read_unordered where the device says nothing: which texels are read is not known, and
// the report says that of the texture and not of a pointer.
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
