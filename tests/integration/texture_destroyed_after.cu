// verdict: none
// As texture_destroyed_in_use, but the host waits for the kernel. The next texture may have the
// same handle, and that is no use of the one before.
#include "array.h"

int main()
{
    cudaArray_t array = array_create();
    float *from = device_array<float>(), *out = device_array<float>();
    cudaStream_t stream = nonblocking_stream();
    array_fill(stream, array, from);
    for (int i = 0; i < 3; i++) {
        cudaTextureObject_t texture = array_texture(array);
        sample<<<GRID, BLOCK, 0, stream>>>(out, texture, N);
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaDestroyTextureObject(texture));
    }
    return finish();
}
