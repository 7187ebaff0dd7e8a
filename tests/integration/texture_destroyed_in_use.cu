// verdict: race
// gpu: possible
// expect: does not wait for .* before the destruction of the texture object created at
// expect: Cause: texture object destroyed by the host while stream A still uses it
// A texture is destroyed while a kernel may still use it. The kernel goes on, and its result is
// right, since nothing takes the texture's place. With a new texture it might be another's.
#include "array.h"

int main()
{
    cudaArray_t array = array_create();
    float *from = device_array<float>(), *out = device_array<float>(), *host;
    cudaStream_t stream = nonblocking_stream();
    cudaTextureObject_t texture = array_texture(array);
    CHECK(cudaMallocHost((void **)&host, BYTES));
    fill<<<GRID, BLOCK, 0, stream>>>((int *)from, 7, N);
    array_fill(stream, array, from);
    sample<<<GRID, BLOCK, 0, stream>>>(out, texture, N);
    CHECK(cudaDestroyTextureObject(texture)); // at: destroyed
    CHECK(cudaMemcpyAsync(host, out, BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++)
        if (((int *)host)[i] != 7 + i) {
            printf("%d: %d\n", i, ((int *)host)[i]);
            break;
        }
    return finish();
}
