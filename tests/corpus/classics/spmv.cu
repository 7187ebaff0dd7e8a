// Sparse matrix times vector: CSR with a thread and with a warp a row, ELL, coordinates.
#include "../corpus.h"

__global__ void spmv_csr_scalar(float *y, const int *rows, const int *columns, const float *values,
                                const float *x, int count)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= count)
        return;
    float sum = 0;
    for (int i = rows[row]; i < rows[row + 1]; i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}

__global__ void spmv_csr_vector(float *y, const int *rows, const int *columns, const float *values,
                                const float *x, int count)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x, row = thread / 32, lane = thread % 32;
    if (row >= count)
        return;
    float sum = 0;
    for (int i = rows[row] + lane; i < rows[row + 1]; i += 32)
        sum += values[i] * x[columns[i]];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0)
        y[row] = sum;
}

__global__ void spmv_ell(float *y, const int *columns, const float *values, const float *x,
                         int count, int width)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= count)
        return;
    float sum = 0;
    for (int i = 0; i < width; i++) {
        int column = columns[i * count + row];
        if (column >= 0)
            sum += values[i * count + row] * x[column];
    }
    y[row] = sum;
}

__global__ void spmv_coordinates(float *y, const int *rows, const int *columns, const float *values,
                                 const float *x, int entries)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < entries; i += gridDim.x * blockDim.x)
        atomicAdd(&y[rows[i]], values[i] * x[columns[i]]);
}

static void run_shape(int count)
{
    std::vector<int> lengths = numbers<int>(count, 9), starts(count + 1), columns, row_of;
    for (int row = 0; row < count; row++) {
        starts[row + 1] = starts[row] + lengths[row];
        for (int i = 0; i < lengths[row]; i++) {
            columns.push_back((row * 7 + i * 13) % count);
            row_of.push_back(row);
        }
    }
    int entries = starts[count], width = 8;
    std::vector<float> values = numbers<float>(entries), x = numbers<float>(count, 8, 2), y(count);
    std::vector<int> ell_columns(width * count, -1);
    std::vector<float> ell_values(width * count);
    for (int row = 0; row < count; row++)
        for (int i = starts[row]; i < starts[row + 1]; i++) {
            y[row] += values[i] * x[columns[i]];
            ell_columns[(i - starts[row]) * count + row] = columns[i];
            ell_values[(i - starts[row]) * count + row] = values[i];
        }
    array<int> rows_in(starts), columns_in(columns), row_of_in(row_of), ell_columns_in(ell_columns);
    array<float> values_in(values), x_in(x), ell_values_in(ell_values);
    array<float> scalar(count), vector(count), ell(count), coordinates(count);
    spmv_csr_scalar<<<blocks_for(count, 64), 64>>>(scalar, rows_in, columns_in, values_in, x_in,
                                                   count);
    expect("spmv_csr_scalar", count, scalar.get(), y);
    spmv_csr_vector<<<blocks_for(count * 32, 128), 128>>>(vector, rows_in, columns_in, values_in,
                                                          x_in, count);
    expect("spmv_csr_vector", count, vector.get(), y);
    spmv_ell<<<blocks_for(count, 64), 64>>>(ell, ell_columns_in, ell_values_in, x_in, count, width);
    expect("spmv_ell", count, ell.get(), y);
    spmv_coordinates<<<2, 64>>>(coordinates, row_of_in, columns_in, values_in, x_in, entries);
    expect("spmv_coordinates", count, coordinates.get(), y);
}

int main()
{
    for (int count : {1, 31, 257})
        run_shape(count);
    return finish();
}
