// verdict: none
// As array_texture_unordered, behind an event.
#include "array.h"

int main()
{
    cudaArray_t array = array_create();
    float *p = device_array<float>(), *out = device_array<float>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaTextureObject_t texture = array_texture(array);
    cudaEvent_t e = event_create();
    array_fill(a, array, p);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(b, e, 0));
    sample<<<GRID, BLOCK, 0, b>>>(out, texture, N);
    CHECK(cudaGetLastError());
    return finish();
}
