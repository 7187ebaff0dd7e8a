// The kernels of the MPI tests, launched from C.
#include "kernels.h"

static unsigned blocks(int n)
{
    return (n + 127) / 128;
}

__global__ void fill(float *p, int n, float value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = value;
}

__global__ void copy(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

__global__ void fill_column(float *p, int rows, int pitch, float value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows)
        p[i * pitch] = value;
}

__global__ void relax(float *to, const float *from, int rows, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = 1 + i / columns, column = i % columns;
    if (i >= rows * columns)
        return;
    int left = column ? column - 1 : column, right = column < columns - 1 ? column + 1 : column;
    to[row * columns + column] =
        0.25f * (from[(row - 1) * columns + column] + from[(row + 1) * columns + column] +
                 from[row * columns + left] + from[row * columns + right]);
}

__global__ void difference(float *out, const float *a, const float *b, int n)
{
    if (threadIdx.x == 0) {
        float most = 0;
        for (int i = 0; i < n; i++)
            most = fmaxf(most, fabsf(a[i] - b[i]));
        *out = most;
    }
}

extern "C" void launch_fill(float *p, int n, float value, cudaStream_t stream)
{
    fill<<<blocks(n), 128, 0, stream>>>(p, n, value);
}
extern "C" void launch_copy(float *to, const float *from, int n, cudaStream_t stream)
{
    copy<<<blocks(n), 128, 0, stream>>>(to, from, n);
}
extern "C" void launch_fill_column(float *p, int rows, int pitch, float value, cudaStream_t stream)
{
    fill_column<<<blocks(rows), 128, 0, stream>>>(p, rows, pitch, value);
}
extern "C" void launch_relax(float *to, const float *from, int rows, int columns,
                             cudaStream_t stream)
{
    relax<<<blocks(rows * columns), 128, 0, stream>>>(to, from, rows, columns);
}
extern "C" void launch_difference(float *out, const float *a, const float *b, int n,
                                  cudaStream_t stream)
{
    difference<<<1, 32, 0, stream>>>(out, a, b, n);
}
