// verdict: race
// Two streams copy into one array.
#include "array.h"

int main()
{
    cudaArray_t array = array_create();
    float *p = device_array<float>(), *out = device_array<float>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    array_fill(a, array, p);
    array_fill(b, array, out);
    return finish();
}
