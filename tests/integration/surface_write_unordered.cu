// verdict: race
// gpu: possible
// expect: store
// Two streams write the same rows of an array through surfaces, and nothing orders them.
#include "texture_kinds.h"

enum { W = 64, H = 16 };

__global__ void store(cudaSurfaceObject_t surface, int first, int value)
{
    surf2Dwrite(value, surface, threadIdx.x * sizeof(int), first + blockIdx.x);
}

int main()
{
    cudaArray_t array = make_array(cudaCreateChannelDesc<int>(), make_cudaExtent(W, H, 0),
                                   cudaArraySurfaceLoadStore);
    cudaSurfaceObject_t surface = make_surface(array);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    store<<<H / 2 + 1, W, 0, a>>>(surface, 0, 1);
    store<<<H / 2, W, 0, b>>>(surface, H / 2, 2); // one row is the other's, too
    CHECK(cudaGetLastError());
    return finish();
}
