// Transposes: straight, through a padded tile in shared memory, in place for a square.
#include "../corpus.h"

enum { TILE = 32, ROWS = 8 };

__global__ void transpose_naive(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[x * height + y] = in[y * width + x];
}

__global__ void transpose_tiled(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// Sizes are multiples of the tile: no guards.
__global__ void transpose_whole_tiles(float *out, const float *in)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int width = gridDim.x * TILE, height = gridDim.y * TILE;
    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transpose_in_place(int *a, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && column < row) {
        int other = a[column * n + row];
        a[column * n + row] = a[row * n + column];
        a[row * n + column] = other;
    }
}

template <typename T>
static std::vector<T> transposed(const std::vector<T> &in, int width, int height)
{
    std::vector<T> out(in.size());
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            out[x * height + y] = in[y * width + x];
    return out;
}

static void run_shape(int width, int height)
{
    std::vector<float> host = numbers<float>(width * height, 1000);
    array<float> in(host), out(width * height), again(width * height);
    dim3 grid(blocks_for(width, TILE), blocks_for(height, TILE));
    transpose_naive<<<dim3(blocks_for(width, 16), blocks_for(height, 16)), dim3(16, 16)>>>(
        out, in, width, height);
    expect("transpose_naive", width, out.get(), transposed(host, width, height));
    transpose_tiled<<<grid, dim3(TILE, ROWS)>>>(again, in, width, height);
    expect("transpose_tiled", width, again.get(), transposed(host, width, height));
    if (width % TILE == 0 && height % TILE == 0) {
        array<float> whole(width * height);
        transpose_whole_tiles<<<grid, dim3(TILE, ROWS)>>>(whole, in);
        expect("transpose_whole_tiles", width, whole.get(), transposed(host, width, height));
    }
}

static void run_in_place(int n)
{
    std::vector<int> host = numbers<int>(n * n, 1000);
    array<int> a(host);
    transpose_in_place<<<dim3(blocks_for(n, 8), blocks_for(n, 8)), dim3(8, 8)>>>(a, n);
    expect("transpose_in_place", n, a.get(), transposed(host, n, n));
}

int main()
{
    run_shape(1, 1);
    run_shape(31, 65);
    run_shape(64, 32);
    run_in_place(1);
    run_in_place(19);
    return finish();
}
