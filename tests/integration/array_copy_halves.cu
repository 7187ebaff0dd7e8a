// verdict: none
// Two streams copy into two halves of an array.
#include "array.h"

int main()
{
    cudaArray_t array = array_create();
    float *p = device_array<float>(), *out = device_array<float>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    array_fill(a, array, p, 0, N / 2);
    array_fill(b, array, out, N / 2, N / 2);
    return finish();
}
