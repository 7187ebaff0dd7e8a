// verdict: race
// gpu: possible
// expect: does not wait for .* before the destruction of the surface object created at
// expect: Cause: surface object destroyed by the host while stream A still uses it
// A surface is destroyed while a kernel may still write through it.
#include "texture_kinds.h"

enum { W = 64, H = 16 };

__global__ void store(cudaSurfaceObject_t surface, int value)
{
    surf2Dwrite(value, surface, threadIdx.x * sizeof(int), blockIdx.x);
}

int main()
{
    cudaArray_t array = make_array(cudaCreateChannelDesc<int>(), make_cudaExtent(W, H, 0),
                                   cudaArraySurfaceLoadStore);
    cudaSurfaceObject_t surface = make_surface(array);
    cudaStream_t stream = nonblocking_stream();
    store<<<H, W, 0, stream>>>(surface, 1);
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaGetLastError());
    return finish();
}
