// Rows and columns of matrices: sums, maxima, matrix times vector, outer products, means taken off.
#include "../corpus.h"

__global__ void sum_rows(float *sums, const float *a, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int column = 0; column < columns; column++)
            sum += a[row * columns + column];
        sums[row] = sum;
    }
}

__global__ void sum_columns(float *sums, const float *a, size_t rows, size_t columns)
{
    size_t column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        float sum = 0;
        for (size_t row = 0; row < rows; row++)
            sum += a[row * columns + column];
        sums[column] = sum;
    }
}

// A block a row.
__global__ void sum_row_blocks(float *sums, const float *a, int columns)
{
    __shared__ float part[64];
    const float *row = a + blockIdx.x * columns;
    float sum = 0;
    for (int column = threadIdx.x; column < columns; column += blockDim.x)
        sum += row[column];
    part[threadIdx.x] = sum;
    for (int s = 32; s > 0; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = part[0];
}

// Column sums by atomics of blocks that each take some rows.
__global__ void sum_columns_atomic(float *sums, const float *a, int rows, int columns, int each)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns)
        return;
    float sum = 0;
    int end = min((blockIdx.y + 1) * each, rows);
    for (int row = blockIdx.y * each; row < end; row++)
        sum += a[row * columns + column];
    atomicAdd(&sums[column], sum);
}

// One after the other, with pointer arithmetic by blockIdx.y.
__global__ void gemv_batched(float *y, const float *a, const float *x, int rows, int columns)
{
    a += blockIdx.y * rows * columns;
    x += blockIdx.y * columns;
    y += blockIdx.y * rows;
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int column = 0; column < columns; column++)
        sum += a[row * columns + column] * x[column];
    y[row] = sum;
}

// Strides as 64-bit parameters, a warp a row.
__global__ void gemv_strided_batched(float *y, long long stride_y, const float *a,
                                     long long stride_a, const float *x, long long stride_x,
                                     int rows, int columns, int lda)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    const float *line = a + blockIdx.z * stride_a + row * lda, *vector = x + blockIdx.z * stride_x;
    float sum = 0;
    for (int column = threadIdx.x; column < columns; column += 32)
        sum += line[column] * vector[column];
    for (int offset = 16; offset > 0; offset >>= 1)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    if (threadIdx.x == 0)
        y[blockIdx.z * stride_y + row] = sum;
}

__global__ void rank_one_update(float *a, const float *x, const float *y, int rows, int columns)
{
    for (int row = blockIdx.y; row < rows; row += gridDim.y)
        for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < columns;
             column += gridDim.x * blockDim.x)
            a[row * columns + column] += x[row] * y[column];
}

__global__ void add_to_columns(float *a, const float *line, int elements, int columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements)
        a[i] += line[i % columns];
}

static void run_shape(int rows, int columns)
{
    std::vector<float> host = numbers<float>(rows * columns), by_row(rows), by_column(columns);
    std::vector<float> left = numbers<float>(rows, 8, 2), right = numbers<float>(columns, 8, 3);
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++) {
            by_row[row] += host[row * columns + column];
            by_column[column] += host[row * columns + column];
        }
    array<float> a(host), row_sums(rows), block_sums(rows), column_sums(columns), atomics(columns);
    sum_rows<<<blocks_for(rows, 64), 64>>>(row_sums, a, rows, columns);
    expect("sum_rows", rows, row_sums.get(), by_row);
    sum_columns<<<blocks_for(columns, 64), 64>>>(column_sums, a, rows, columns);
    expect("sum_columns", rows, column_sums.get(), by_column);
    sum_row_blocks<<<rows, 64>>>(block_sums, a, columns);
    expect("sum_row_blocks", rows, block_sums.get(), by_row);
    sum_columns_atomic<<<dim3(blocks_for(columns, 32), blocks_for(rows, 5)), 32>>>(atomics, a, rows,
                                                                                   columns, 5);
    expect("sum_columns_atomic", rows, atomics.get(), by_column);

    array<float> x(left), y(right);
    rank_one_update<<<dim3(2, 3), 32>>>(a, x, y, rows, columns);
    add_to_columns<<<blocks_for(rows * columns, 64), 64>>>(a, y, rows * columns, columns);
    for (int i = 0; i < rows * columns; i++)
        host[i] += left[i / columns] * right[i % columns] + right[i % columns];
    expect("rank_one_update", rows, a.get(), host);
}

static void run_batch(int rows, int columns, int batch)
{
    std::vector<float> a = numbers<float>(batch * rows * columns);
    std::vector<float> x = numbers<float>(batch * columns, 8, 2), y(batch * rows);
    for (int i = 0; i < batch * rows; i++)
        for (int column = 0; column < columns; column++)
            y[i] += a[i * columns + column] * x[i / rows * columns + column];
    array<float> matrices(a), vectors(x), results(batch * rows), again(batch * rows);
    gemv_batched<<<dim3(blocks_for(rows, 32), batch), 32>>>(results, matrices, vectors, rows,
                                                            columns);
    expect("gemv_batched", rows, results.get(), y);
    gemv_strided_batched<<<dim3(blocks_for(rows, 4), 1, batch), dim3(32, 4)>>>(
        again, rows, matrices, rows * columns, vectors, columns, rows, columns, columns);
    expect("gemv_strided_batched", rows, again.get(), y);
}

int main()
{
    run_shape(1, 1);
    run_shape(31, 67);
    run_shape(64, 32);
    run_batch(1, 1, 1);
    run_batch(33, 29, 3);
    return finish();
}
