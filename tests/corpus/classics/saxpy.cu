// y = a x + y in the ways people write it.
#include "../corpus.h"

__global__ void saxpy_guard(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void saxpy_early_return(int n, float a, const float *__restrict__ x,
                                   float *__restrict__ y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    y[i] += a * x[i];
}

__global__ void saxpy_grid_stride(int n, float a, const float *x, float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + y[i];
}

__global__ void saxpy_grid_stride_unsigned(unsigned n, float a, const float *x, float *y)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = a * x[i] + y[i];
}

__global__ void saxpy_size_t(size_t n, float a, const float *x, float *y)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void saxpy_grid_stride_size_t(size_t n, float a, const float *x, float *y)
{
    size_t stride = (size_t)blockDim.x * gridDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = a * x[i] + y[i];
}

__global__ void saxpy_vectors(int n, float a, const float4 *x, float4 *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        float4 left = x[i], right = y[i];
        right.x += a * left.x;
        right.y += a * left.y;
        right.z += a * left.z;
        right.w += a * left.w;
        y[i] = right;
    }
}

// Vectors, then the rest one by one.
__global__ void saxpy_vectors_and_rest(int n, float a, const float *x, float *y)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int i = thread; i < n / 4; i += threads) {
        float4 left = reinterpret_cast<const float4 *>(x)[i];
        float4 right = reinterpret_cast<float4 *>(y)[i];
        right.x += a * left.x;
        right.y += a * left.y;
        right.z += a * left.z;
        right.w += a * left.w;
        reinterpret_cast<float4 *>(y)[i] = right;
    }
    for (int i = n / 4 * 4 + thread; i < n; i += threads)
        y[i] += a * x[i];
}

struct saxpy_arguments {
    int n;
    float a;
    const float *x;
    float *y;
};

__global__ void saxpy_struct(saxpy_arguments arguments)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < arguments.n)
        arguments.y[i] = arguments.a * arguments.x[i] + arguments.y[i];
}

// A fixed number of elements for each thread, next to each other.
__global__ void saxpy_thread_chunks(int n, float a, const float *x, float *y, int each)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    for (int i = first; i < min(first + each, n); i++)
        y[i] = a * x[i] + y[i];
}

// Four elements a thread, a block's width apart.
__global__ void saxpy_unrolled(int n, float a, const float *x, float *y)
{
    int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int i = first + k * blockDim.x;
        if (i < n)
            y[i] = a * x[i] + y[i];
    }
}

// Pointers move, as people do who come from C.
__global__ void saxpy_pointers(int n, float a, const float *x, float *y)
{
    int stride = gridDim.x * blockDim.x;
    const float *end = x + n;
    x += blockIdx.x * blockDim.x + threadIdx.x;
    y += blockIdx.x * blockDim.x + threadIdx.x;
    while (x < end) {
        *y += a * *x;
        x += stride;
        y += stride;
    }
}

__global__ void saxpy_increments(int n, float a, const float *x, int incx, float *y, int incy)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i * incy] += a * x[i * incx];
}

__global__ void saxpy_offset(const float *x, float *y, float a, int offset, int count)
{
    int i = offset + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < offset + count)
        y[i] += a * x[i];
}

__global__ void daxpy_plain(double a, const double *x, double *y)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    y[i] = a * x[i] + y[i];
}

static void run_shape(int n)
{
    std::vector<float> left = numbers<float>(n, 100), right = numbers<float>(n, 100, 2), wanted(n);
    for (int i = 0; i < n; i++)
        wanted[i] = 3 * left[i] + right[i];
    array<float> x(left), y(right);
    int block = 128, grid = blocks_for(n, block);
    auto result = [&](const char *name) {
        expect(name, n, y.get(), wanted);
        y.put(right);
    };
    saxpy_guard<<<grid, block>>>(n, 3, x, y);
    result("saxpy_guard");
    saxpy_early_return<<<grid, block>>>(n, 3, x, y);
    result("saxpy_early_return");
    saxpy_grid_stride<<<2, 64>>>(n, 3, x, y);
    result("saxpy_grid_stride");
    saxpy_grid_stride_unsigned<<<3, 32>>>(n, 3, x, y);
    result("saxpy_grid_stride_unsigned");
    saxpy_size_t<<<grid, block>>>(n, 3, x, y);
    result("saxpy_size_t");
    saxpy_grid_stride_size_t<<<2, 64>>>(n, 3, x, y);
    result("saxpy_grid_stride_size_t");
    saxpy_vectors_and_rest<<<2, 32>>>(n, 3, x, y);
    result("saxpy_vectors_and_rest");
    saxpy_struct<<<grid, block>>>({n, 3, x, y});
    result("saxpy_struct");
    saxpy_thread_chunks<<<blocks_for(n, 32 * 5), 32>>>(n, 3, x, y, 5);
    result("saxpy_thread_chunks");
    saxpy_unrolled<<<blocks_for(n, 4 * 64), 64>>>(n, 3, x, y);
    result("saxpy_unrolled");
    saxpy_pointers<<<2, 64>>>(n, 3, x, y);
    result("saxpy_pointers");
    if (n % 4 == 0) {
        saxpy_vectors<<<blocks_for(n / 4, 64), 64>>>(n, 3, (float4 *)(float *)x,
                                                     (float4 *)(float *)y);
        result("saxpy_vectors");
    }
    int middle = n / 2;
    saxpy_offset<<<blocks_for(n - middle, 32), 32>>>(x, y, 3, middle, n - middle);
    for (int i = 0; i < middle; i++)
        wanted[i] = right[i];
    result("saxpy_offset");
}

static void run_increments(int n, int incx, int incy)
{
    std::vector<float> left = numbers<float>(n * incx), right = numbers<float>(n * incy, 8, 2);
    array<float> x(left), y(right);
    for (int i = 0; i < n; i++)
        right[i * incy] += 3 * left[i * incx];
    saxpy_increments<<<blocks_for(n, 64), 64>>>(n, 3, x, incx, y, incy);
    expect("saxpy_increments", n, y.get(), right);
}

static void run_plain(int grid, int block)
{
    int n = grid * block;
    std::vector<double> left = numbers<double>(n), right = numbers<double>(n, 8, 2);
    array<double> x(left), y(right);
    for (int i = 0; i < n; i++)
        right[i] += 2 * left[i];
    daxpy_plain<<<grid, block>>>(2, x, y);
    expect("daxpy_plain", n, y.get(), right);
}

int main()
{
    for (int n : {1, 31, 257, 1000, 1024})
        run_shape(n);
    run_increments(100, 1, 3);
    run_increments(33, 2, 1);
    run_plain(1, 1);
    run_plain(5, 96);
    return finish();
}
