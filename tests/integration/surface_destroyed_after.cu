// verdict: none
// As surface_destroyed_in_use, behind an event that the host waits for.
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
    cudaEvent_t stored = event_create();
    store<<<H, W, 0, stream>>>(surface, 1);
    CHECK(cudaEventRecord(stored, stream));
    CHECK(cudaEventSynchronize(stored));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaGetLastError());
    return finish();
}
