// Softmax, layer norm and their kin: a block for each row.
#include "../corpus.h"

enum { BLOCK = 64 };

__device__ static float block_sum(float value, float *part)
{
    part[threadIdx.x] = value;
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
    }
    __syncthreads();
    float sum = part[0];
    __syncthreads();
    return sum;
}

__device__ static float block_maximum(float value, float *part)
{
    part[threadIdx.x] = value;
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s)
            part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + s]);
    }
    __syncthreads();
    float best = part[0];
    __syncthreads();
    return best;
}

__global__ void softmax_rows(float *out, const float *in, int columns)
{
    __shared__ float part[BLOCK];
    const float *row = in + blockIdx.x * columns;
    float *to = out + blockIdx.x * columns, best = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        best = fmaxf(best, row[i]);
    best = block_maximum(best, part);
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        sum += expf(row[i] - best);
    sum = block_sum(sum, part);
    for (int i = threadIdx.x; i < columns; i += BLOCK)
        to[i] = expf(row[i] - best) / sum;
}

__global__ void layernorm_rows(float *out, const float *in, const float *gain, const float *bias,
                               int columns, float epsilon)
{
    __shared__ float part[BLOCK];
    size_t start = (size_t)blockIdx.x * columns;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        sum += in[start + i];
    float mean = block_sum(sum, part) / columns;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        float difference = in[start + i] - mean;
        squares += difference * difference;
    }
    float scale = rsqrtf(block_sum(squares, part) / columns + epsilon);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        out[start + i] = (in[start + i] - mean) * scale * gain[i] + bias[i];
}

// In place, a warp a row, several rows a block.
__global__ void scale_rows_to_one(float *a, int rows, int columns)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += 32)
        sum += a[row * columns + i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, offset);
    for (int i = threadIdx.x; i < columns; i += 32)
        a[row * columns + i] /= sum + 1;
}

__global__ void relu_bias(float *a, const float *bias, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns)
        a[row * columns + column] = fmaxf(a[row * columns + column] + bias[column], 0.f);
}

static void run_shape(int rows, int columns)
{
    int count = rows * columns;
    std::vector<float> host = numbers<float>(count), soft(count), norm(count), one(count);
    std::vector<float> gain = numbers<float>(columns, 8, 2), bias = numbers<float>(columns, 8, 3);
    for (int r = 0; r < rows; r++) {
        const float *row = &host[r * columns];
        double best = *std::max_element(row, row + columns), sum = 0, total = 0, squares = 0;
        for (int i = 0; i < columns; i++) {
            sum += std::exp(row[i] - best);
            total += row[i];
        }
        double mean = total / columns;
        for (int i = 0; i < columns; i++)
            squares += (row[i] - mean) * (row[i] - mean);
        for (int i = 0; i < columns; i++) {
            soft[r * columns + i] = std::exp(row[i] - best) / sum;
            norm[r * columns + i] =
                (row[i] - mean) / std::sqrt(squares / columns + 0.5) * gain[i] + bias[i];
            one[r * columns + i] = row[i] / (total + 1);
        }
    }
    array<float> in(host), softmax(count), layernorm(count), gains(gain), biases(bias);
    softmax_rows<<<rows, BLOCK>>>(softmax, in, columns);
    expect("softmax_rows", columns, softmax.get(), soft, 1e-4);
    layernorm_rows<<<rows, BLOCK>>>(layernorm, in, gains, biases, columns, 0.5f);
    expect("layernorm_rows", columns, layernorm.get(), norm, 1e-4);
    scale_rows_to_one<<<blocks_for(rows, 4), dim3(32, 4)>>>(in, rows, columns);
    expect("scale_rows_to_one", columns, in.get(), one, 1e-5);
    relu_bias<<<dim3(blocks_for(columns, 16), blocks_for(rows, 8)), dim3(16, 8)>>>(in, biases, rows,
                                                                                   columns);
    for (int i = 0; i < count; i++)
        one[i] = std::max(one[i] + bias[i % columns], 0.f);
    expect("relu_bias", columns, in.get(), one, 1e-5);
}

int main()
{
    run_shape(1, 1);
    run_shape(5, 31);
    run_shape(7, 257);
    run_shape(16, 64);
    return finish();
}
