// Matrix products: one thread an element, tiles in shared memory, several elements a thread.
#include "../corpus.h"

enum { TILE = 16, ROWS_EACH = 4 };

__global__ void gemm_naive(float *c, const float *a, const float *b, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n)
        return;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

__global__ void gemm_tiled(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < (k + TILE - 1) / TILE; t++) {
        int across = t * TILE + threadIdx.x, down = t * TILE + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < m && across < k ? a[row * k + across] : 0;
        right[threadIdx.y][threadIdx.x] = down < k && column < n ? b[down * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

// As the programming guide writes it: no guards, the sizes are multiples of the tile.
struct matrix {
    int width, height, stride;
    float *elements;
};

__device__ static matrix sub_matrix(matrix a, int row, int column)
{
    return {TILE, TILE, a.stride, &a.elements[a.stride * TILE * row + TILE * column]};
}

__global__ void gemm_sub_matrices(matrix a, matrix b, matrix c)
{
    matrix c_sub = sub_matrix(c, blockIdx.y, blockIdx.x);
    int row = threadIdx.y, column = threadIdx.x;
    float sum = 0;
    for (int m = 0; m < a.width / TILE; m++) {
        __shared__ float left[TILE][TILE], right[TILE][TILE];
        matrix a_sub = sub_matrix(a, blockIdx.y, m), b_sub = sub_matrix(b, m, blockIdx.x);
        left[row][column] = a_sub.elements[row * a_sub.stride + column];
        right[row][column] = b_sub.elements[row * b_sub.stride + column];
        __syncthreads();
        for (int e = 0; e < TILE; e++)
            sum += left[row][e] * right[e][column];
        __syncthreads();
    }
    c_sub.elements[row * c_sub.stride + column] = sum;
}

// alpha A B + beta C with leading dimensions, four rows a thread.
__global__ void gemm_rows(int m, int n, int k, float alpha, const float *a, int lda, const float *b,
                          int ldb, float beta, float *c, int ldc)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int first = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS_EACH;
    if (column >= n)
        return;
    float sums[ROWS_EACH] = {};
    for (int i = 0; i < k; i++)
        for (int r = 0; r < ROWS_EACH; r++)
            if (first + r < m)
                sums[r] += a[(first + r) * lda + i] * b[i * ldb + column];
    for (int r = 0; r < ROWS_EACH; r++)
        if (first + r < m)
            c[(first + r) * ldc + column] = alpha * sums[r] + beta * c[(first + r) * ldc + column];
}

static std::vector<float> product(const std::vector<float> &a, const std::vector<float> &b, int m,
                                  int n, int k)
{
    std::vector<float> c(m * n);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++)
                c[i * n + j] += a[i * k + l] * b[l * n + j];
    return c;
}

static void run_shape(int m, int n, int k)
{
    std::vector<float> left = numbers<float>(m * k), right = numbers<float>(k * n, 8, 2);
    std::vector<float> wanted = product(left, right, m, n, k);
    array<float> a(left), b(right), c(m * n), d(m * n), e(m * n);
    dim3 block(TILE, TILE), grid(blocks_for(n, TILE), blocks_for(m, TILE));
    gemm_naive<<<grid, block>>>(c, a, b, m, n, k);
    expect("gemm_naive", m, c.get(), wanted);
    gemm_tiled<<<grid, block>>>(d, a, b, m, n, k);
    expect("gemm_tiled", m, d.get(), wanted);
    gemm_rows<<<dim3(blocks_for(n, 32), blocks_for(m, 4 * ROWS_EACH)), dim3(32, 4)>>>(
        m, n, k, 1, a, k, b, n, 2, e, n);
    expect("gemm_rows", m, e.get(), wanted);
}

static void run_sub_matrices(int m, int n, int k)
{
    std::vector<float> left = numbers<float>(m * k), right = numbers<float>(k * n, 8, 2);
    array<float> a(left), b(right), c(m * n);
    gemm_sub_matrices<<<dim3(n / TILE, m / TILE), dim3(TILE, TILE)>>>({k, m, k, a}, {n, k, n, b},
                                                                      {n, m, n, c});
    expect("gemm_sub_matrices", m, c.get(), product(left, right, m, n, k));
}

int main()
{
    run_shape(1, 1, 1);
    run_shape(31, 17, 5);
    run_shape(32, 48, 16);
    run_shape(37, 33, 41);
    run_sub_matrices(32, 48, 16);
    run_sub_matrices(16, 16, 64);
    return finish();
}
