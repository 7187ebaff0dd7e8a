/* Corpus: device-wide scan, sort and reduce from CUB through Thrust: big by-value parameter structs
 * read through registers, decoupled look-back, vectorized loads, dynamic dispatch by key type. */
#include <thrust/device_ptr.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

void scan(int *out, const int *in, int n)
{
    thrust::inclusive_scan(thrust::device_pointer_cast(in), thrust::device_pointer_cast(in) + n,
                           thrust::device_pointer_cast(out));
}
void sort(float *keys, int n)
{
    thrust::sort(thrust::device_pointer_cast(keys), thrust::device_pointer_cast(keys) + n);
}
double sum(const double *in, int n)
{
    return thrust::reduce(thrust::device_pointer_cast(in), thrust::device_pointer_cast(in) + n);
}
