// verdict: none
// The texture lies over the second half of a buffer; another stream fills the first.
#include "texture.h"

int main()
{
    int *p = device_array<int>(2 * N), *out = device_array<int>();
    CHECK(cudaMemset(p, 0, 2 * BYTES));
    CHECK(cudaDeviceSynchronize());
    cudaTextureObject_t texture = linear_texture(p + N);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemsetAsync(p, 1, BYTES, a));
    fetch<<<GRID, BLOCK, 0, b>>>(texture, out, N);
    CHECK(cudaGetLastError());
    return finish();
}
