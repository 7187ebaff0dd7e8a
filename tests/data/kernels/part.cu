// The other unit of tests/data/kernels/scale.cu with -rdc=true.
#include "part.h"

__device__ void store(float *to, int at)
{
    to[at] = 1;
}
