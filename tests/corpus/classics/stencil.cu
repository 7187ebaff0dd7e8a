// Stencils: a line with its halo in shared memory, five points in a plane, seven in space, Jacobi
// steps with their residual, and a wave that keeps three time steps.
#include "../corpus.h"

enum { RADIUS = 3, BLOCK = 64 };

__global__ void stencil_line(int *out, const int *in, int n)
{
    __shared__ int part[BLOCK + 2 * RADIUS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = threadIdx.x + RADIUS;
    part[at] = i < n ? in[i] : 0;
    if (threadIdx.x < RADIUS) {
        part[at - RADIUS] = i >= RADIUS && i - RADIUS < n ? in[i - RADIUS] : 0;
        part[at + BLOCK] = i + BLOCK < n ? in[i + BLOCK] : 0;
    }
    __syncthreads();
    int sum = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++)
        sum += part[at + offset];
    if (i < n)
        out[i] = sum;
}

__global__ void stencil_five_points(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        int i = y * width + x;
        out[i] = in[i - 1] + in[i + 1] + in[i - width] + in[i + width] - 4 * in[i];
    }
}

// A thread goes through the planes with the values below and above in registers.
__global__ void stencil_seven_points(float *out, const float *in, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= nx - 1 || y >= ny - 1)
        return;
    int plane = nx * ny, i = plane + y * nx + x;
    float below = in[i - plane], here = in[i];
    for (int z = 1; z < nz - 1; z++, i += plane) {
        float above = in[i + plane];
        out[i] = below + above + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] - 6 * here;
        below = here;
        here = above;
    }
}

#define AT(x, y, z) (((z)*ny + (y)) * nx + (x))
__global__ void stencil_cube(double *out, const double *in, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1)
        return;
    out[AT(x, y, z)] = in[AT(x - 1, y, z)] + in[AT(x + 1, y, z)] + in[AT(x, y - 1, z)] +
                       in[AT(x, y + 1, z)] + in[AT(x, y, z - 1)] + in[AT(x, y, z + 1)] -
                       6 * in[AT(x, y, z)];
}

__global__ void jacobi_step(float *next, const float *now, const float *right, int n, int *moved)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= n || row >= n)
        return;
    int i = row * n + column;
    float west = column > 0 ? now[i - 1] : 0, east = column < n - 1 ? now[i + 1] : 0;
    float north = row > 0 ? now[i - n] : 0, south = row < n - 1 ? now[i + n] : 0;
    next[i] = (west + east + north + south + right[i]) / 4;
    if (next[i] != now[i])
        atomicAdd(moved, 1);
}

// Interior of a padded array, one halo cell around: the pointer is at the first inner cell.
__global__ void wave_step(int *next, const int *now, const int *before, int width, int height,
                          int pitch)
{
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += gridDim.y * blockDim.y)
        for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < width;
             x += gridDim.x * blockDim.x) {
            const int *here = now + y * pitch + x;
            next[y * pitch + x] = here[-1] + here[1] + here[-pitch] + here[pitch] - 2 * here[0] -
                                  before[y * pitch + x];
        }
}

static void run_line(int n)
{
    std::vector<int> host = numbers<int>(n, 100), wanted(n);
    for (int i = 0; i < n; i++)
        for (int j = std::max(0, i - RADIUS); j <= std::min(n - 1, i + RADIUS); j++)
            wanted[i] += host[j];
    array<int> in(host), out(n);
    stencil_line<<<blocks_for(n, BLOCK), BLOCK>>>(out, in, n);
    expect("stencil_line", n, out.get(), wanted);
}

static void run_plane(int width, int height)
{
    std::vector<float> host = numbers<float>(width * height, 100), wanted(width * height);
    for (int y = 1; y < height - 1; y++)
        for (int x = 1; x < width - 1; x++) {
            int i = y * width + x;
            wanted[i] = host[i - 1] + host[i + 1] + host[i - width] + host[i + width] - 4 * host[i];
        }
    array<float> in(host), out(width * height);
    stencil_five_points<<<dim3(blocks_for(width, 16), blocks_for(height, 8)), dim3(16, 8)>>>(
        out, in, width, height);
    expect("stencil_five_points", width, out.get(), wanted);
}

static void run_space(int nx, int ny, int nz)
{
    int plane = nx * ny, cells = plane * nz;
    std::vector<float> host = numbers<float>(cells, 100), wanted(cells);
    for (int z = 1; z < nz - 1; z++)
        for (int y = 1; y < ny - 1; y++)
            for (int x = 1; x < nx - 1; x++) {
                int i = AT(x, y, z);
                wanted[i] = host[i - 1] + host[i + 1] + host[i - nx] + host[i + nx] +
                            host[i - plane] + host[i + plane] - 6 * host[i];
            }
    array<float> in(host), out(cells);
    stencil_seven_points<<<dim3(blocks_for(nx, 16), blocks_for(ny, 4)), dim3(16, 4)>>>(out, in, nx,
                                                                                       ny, nz);
    expect("stencil_seven_points", nx, out.get(), wanted);
    array<double> from(std::vector<double>(host.begin(), host.end())), to(cells);
    stencil_cube<<<dim3(blocks_for(nx, 8), blocks_for(ny, 4), blocks_for(nz, 2)), dim3(8, 4, 2)>>>(
        to, from, nx, ny, nz);
    expect("stencil_cube", nx, to.get(), std::vector<double>(wanted.begin(), wanted.end()));
}

static void run_jacobi(int n)
{
    std::vector<float> right = numbers<float>(n * n, 64), now(n * n), next(n * n);
    array<float> a(n * n), b(n * n), source(right);
    array<int> moved(1);
    float *from = a, *to = b;
    for (int step = 0; step < 3; step++) {
        jacobi_step<<<dim3(blocks_for(n, 8), blocks_for(n, 8)), dim3(8, 8)>>>(to, from, source, n,
                                                                              moved);
        for (int i = 0; i < n * n; i++) {
            int row = i / n, column = i % n;
            next[i] = ((column > 0 ? now[i - 1] : 0) + (column < n - 1 ? now[i + 1] : 0) +
                       (row > 0 ? now[i - n] : 0) + (row < n - 1 ? now[i + n] : 0) + right[i]) /
                      4;
        }
        std::swap(from, to);
        std::swap(now, next);
    }
    expect("jacobi_step", n, b.get(), now);
}

static void run_wave(int width, int height)
{
    int pitch = width + 2, cells = pitch * (height + 2), first = pitch + 1;
    std::vector<int> now = numbers<int>(cells, 50), before = numbers<int>(cells, 50, 2),
                     wanted(cells);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int i = first + y * pitch + x;
            wanted[i] =
                now[i - 1] + now[i + 1] + now[i - pitch] + now[i + pitch] - 2 * now[i] - before[i];
        }
    array<int> a(before), b(now), c(cells);
    wave_step<<<dim3(2, 2), dim3(8, 4)>>>(c + first, b + first, a + first, width, height, pitch);
    expect("wave_step", width, c.get(), wanted);
}

int main()
{
    for (int n : {1, 31, 257, 640})
        run_line(n);
    run_plane(3, 3);
    run_plane(33, 17);
    run_plane(64, 32);
    run_space(5, 4, 3);
    run_space(19, 11, 7);
    run_space(32, 8, 8);
    run_jacobi(1);
    run_jacobi(13);
    run_jacobi(32);
    run_wave(5, 3);
    run_wave(31, 19);
    return finish();
}
