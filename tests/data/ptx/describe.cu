// Kernels whose accesses tests/unit/access/test_describe.c wants to read in words.

struct view {
    long count;
    float *data;
    int pitch;
};

extern "C" {

__device__ int counter;

__global__ void one_element(float *p, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = factor;
}

__global__ void early_return(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = in[n - 1 - i];
}

__global__ void tile(float *out, int width, int height)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = 1;
}

__global__ void grid_stride(float *p, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = 0;
}

__global__ void rows(float *p, int n)
{
#pragma unroll 1
    for (int k = 0; k < n; k++)
        p[k * 100 + threadIdx.x] = 2;
}

__global__ void downwards(float *p, int n)
{
#pragma unroll 1
    for (int k = n - 1; k >= 0; k--)
        p[k * 32 + threadIdx.x] = 2;
}

__global__ void triangle(float *p, int n)
{
#pragma unroll 1
    for (int a = 0; a < n; a++)
#pragma unroll 1
        for (int b = 0; b < a; b++)
            p[a * 64 + b] = 3;
}

__global__ void gather(float *out, const float *in, const int *index)
{
    out[threadIdx.x] = in[index[threadIdx.x]];
}

__global__ void guarded_by_data(float *out, const int *flags)
{
    if (flags[threadIdx.x] > 0)
        out[threadIdx.x] = 1;
}

__global__ void pointer_from_memory(float **table)
{
    table[threadIdx.x][7] = 1;
}

__global__ void in_struct(view v, int row)
{
    v.data[row * v.pitch + threadIdx.x] = 1;
}

__global__ void count(int *hits)
{
    atomicAdd(&counter, 1);
    atomicAdd(&hits[threadIdx.x % 8], 1);
}

__global__ void either_buffer(float *a, float *b, int which)
{
    float *to = which ? a : b;
    to[threadIdx.x] = 1;
}

__global__ void either_place(float *a, int n)
{
    int i = threadIdx.x < 16 ? threadIdx.x : threadIdx.x + n;
    a[i] = 1;
}

__global__ void either_side(float *a, int x, int y)
{
    if (x < 10 || y > 20)
        a[threadIdx.x] = 1;
}

__global__ void vectors(float4 *out, const double2 *in)
{
    double2 v = in[threadIdx.x];
    out[threadIdx.x] = make_float4(v.x, v.y, 0, 0);
}

__global__ void divided(int *p, int width)
{
    int i = threadIdx.x;
    p[i / 8 * width + i % 8] = 1;
}

__global__ void until_found(const int *list, int *out)
{
    int i = 0;
    while (list[i] != 0)
        i++;
    out[i] = 1;
}

__device__ __noinline__ void store(float *to, int at)
{
    to[at] = 1;
}

__global__ void by_function(float *p, int n)
{
    if (n > 5)
        store(p + 1, threadIdx.x);
}

__global__ void shared_only(int n)
{
    __shared__ volatile int tile[32];
    tile[threadIdx.x] = n;
}

} // extern "C"
