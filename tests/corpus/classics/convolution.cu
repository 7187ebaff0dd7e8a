// Convolutions of images: a mask in constant memory with clamped borders, a tile with its halo in
// shared memory, separable rows and columns, the inner part only.
#include "../corpus.h"

enum { RADIUS = 2, WIDTH = 2 * RADIUS + 1, TILE = 16 };

__constant__ int mask[WIDTH * WIDTH];
__constant__ int line[WIDTH];

__global__ void convolve_clamped(int *out, const int *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int sum = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            int column = min(max(x + dx, 0), width - 1), row = min(max(y + dy, 0), height - 1);
            sum += mask[(dy + RADIUS) * WIDTH + dx + RADIUS] * in[row * width + column];
        }
    out[y * width + x] = sum;
}

__global__ void convolve_inner(int *out, const int *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < RADIUS || y < RADIUS || x >= width - RADIUS || y >= height - RADIUS)
        return;
    int sum = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++)
            sum += mask[(dy + RADIUS) * WIDTH + dx + RADIUS] * in[(y + dy) * width + x + dx];
    out[y * width + x] = sum;
}

// Zero outside of the image; threads of the halo only load.
__global__ void convolve_tiled(int *out, const int *in, int width, int height)
{
    __shared__ int tile[TILE][TILE];
    const int inner = TILE - 2 * RADIUS;
    int x = blockIdx.x * inner + threadIdx.x - RADIUS,
        y = blockIdx.y * inner + threadIdx.y - RADIUS;
    bool inside = x >= 0 && x < width && y >= 0 && y < height;
    tile[threadIdx.y][threadIdx.x] = inside ? in[y * width + x] : 0;
    __syncthreads();
    int tx = threadIdx.x - RADIUS, ty = threadIdx.y - RADIUS;
    if (!inside || tx < 0 || ty < 0 || tx >= inner || ty >= inner)
        return;
    int sum = 0;
    for (int j = 0; j < WIDTH; j++)
        for (int i = 0; i < WIDTH; i++)
            sum += mask[j * WIDTH + i] * tile[ty + j][tx + i];
    out[y * width + x] = sum;
}

__global__ void convolve_rows(int *out, const int *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width)
        return;
    int sum = 0;
    for (int d = -RADIUS; d <= RADIUS; d++)
        if (x + d >= 0 && x + d < width)
            sum += line[d + RADIUS] * in[y * width + x + d];
    out[y * width + x] = sum;
}

__global__ void convolve_columns(int *out, const int *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width)
        return;
    int sum = 0;
    for (int d = -RADIUS; d <= RADIUS; d++)
        if (y + d >= 0 && y + d < height)
            sum += line[d + RADIUS] * in[(y + d) * width + x];
    out[y * width + x] = sum;
}

enum border { CLAMP, ZERO };

static std::vector<int> convolved(const std::vector<int> &in, const std::vector<int> &weights,
                                  int width, int height, border outside)
{
    std::vector<int> out(in.size());
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int dy = -RADIUS; dy <= RADIUS; dy++)
                for (int dx = -RADIUS; dx <= RADIUS; dx++) {
                    int column = std::min(std::max(x + dx, 0), width - 1);
                    int row = std::min(std::max(y + dy, 0), height - 1);
                    if (outside == ZERO && (column != x + dx || row != y + dy))
                        continue;
                    out[y * width + x] +=
                        weights[(dy + RADIUS) * WIDTH + dx + RADIUS] * in[row * width + column];
                }
    return out;
}

static void run_shape(int width, int height)
{
    std::vector<int> host = numbers<int>(width * height, 256);
    std::vector<int> weights = numbers<int>(WIDTH * WIDTH, 10), row = numbers<int>(WIDTH, 10, 3);
    CHECK(cudaMemcpyToSymbol(mask, weights.data(), weights.size() * sizeof(int)));
    CHECK(cudaMemcpyToSymbol(line, row.data(), row.size() * sizeof(int)));
    array<int> in(host), clamped(host.size()), tiled(host.size()), inner(host.size());
    dim3 block(TILE, 8), grid(blocks_for(width, TILE), blocks_for(height, 8));
    convolve_clamped<<<grid, block>>>(clamped, in, width, height);
    expect("convolve_clamped", width, clamped.get(),
           convolved(host, weights, width, height, CLAMP));
    std::vector<int> wanted = convolved(host, weights, width, height, ZERO);
    const int step = TILE - 2 * RADIUS;
    convolve_tiled<<<dim3(blocks_for(width, step), blocks_for(height, step)), dim3(TILE, TILE)>>>(
        tiled, in, width, height);
    expect("convolve_tiled", width, tiled.get(), wanted);
    convolve_inner<<<grid, block>>>(inner, in, width, height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            if (x < RADIUS || y < RADIUS || x >= width - RADIUS || y >= height - RADIUS)
                wanted[y * width + x] = 0;
    expect("convolve_inner", width, inner.get(), wanted);

    array<int> half(host.size()), separable(host.size());
    dim3 lines(blocks_for(width, 32), height);
    convolve_rows<<<lines, 32>>>(half, in, width, height);
    convolve_columns<<<lines, 32>>>(separable, half, width, height);
    for (int j = 0; j < WIDTH; j++)
        for (int i = 0; i < WIDTH; i++)
            weights[j * WIDTH + i] = row[j] * row[i];
    expect("convolve_columns", width, separable.get(),
           convolved(host, weights, width, height, ZERO));
}

int main()
{
    run_shape(1, 1);
    run_shape(31, 19);
    run_shape(64, 12);
    return finish();
}
