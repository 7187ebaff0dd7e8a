/* Kernels whose assertions fail in some way or other, for test_assertion.c. */
#include <cassert>

/* Several in one kernel, under conditions that meet again. */
template <int N> __global__ void several(int *p, const long *index, long size)
{
    const long value = index[threadIdx.x];
    assert(value < size && "too large");
    assert(value >= 0 && "negative number");
    if (p[value] == N)
        assert(p[value + 1] != N && "both of them");
    p[value] = 1;
}
template __global__ void several<1>(int *, const long *, long);
template __global__ void several<2>(int *, const long *, long);

/* One of a function that is called. */
__device__ __noinline__ int checked(const int *p, int at)
{
    assert(at != 5 && "five of all numbers is the one");
    return p[at];
}
__global__ void outside(int *p)
{
    for (int i = 0; i < p[0]; i++)
        p[threadIdx.x + 1] += checked(p, i);
}

/* Strings as long as others': "several.h" and the file's name are not. */
__global__ void alike(int *p)
{
    assert(p[0] == 1);
    assert(p[1] == 2);
}
