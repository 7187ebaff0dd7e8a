// verdict: race
// gpu: possible
// A kernel samples an array that another stream copies into. Which texels a texture reads, PTX does
// not say; where the device traces, the race is certain.
#include "array.h"

int main()
{
    cudaArray_t array = array_create();
    float *p = device_array<float>(), *out = device_array<float>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaTextureObject_t texture = array_texture(array);
    array_fill(a, array, p);
    sample<<<GRID, BLOCK, 0, b>>>(out, texture, N);
    CHECK(cudaGetLastError());
    return finish();
}
