// Elements that move: gather, scatter, reversal, interleaving, shifts, triangles, packing.
#include "../corpus.h"

__global__ void gather(int *out, const int *in, const int *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[from[i]];
}

__global__ void scatter(int *out, const int *in, const int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[to[i]] = in[i];
}

__global__ void reverse_copy(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[n - 1 - i] = in[i];
}

__global__ void reverse_in_place(int *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) {
        int other = a[n - 1 - i];
        a[n - 1 - i] = a[i];
        a[i] = other;
    }
}

__global__ void reverse_blocks(int *out, const int *in)
{
    extern __shared__ int part[];
    part[blockDim.x - 1 - threadIdx.x] = in[blockDim.x * blockIdx.x + threadIdx.x];
    __syncthreads();
    out[blockDim.x * (gridDim.x - 1 - blockIdx.x) + threadIdx.x] = part[threadIdx.x];
}

__global__ void interleave(float *out, const float *even, const float *odd, int pairs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs) {
        out[2 * i] = even[i];
        out[2 * i + 1] = odd[i];
    }
}

__global__ void separate(float *even, float *odd, const float *in, int pairs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 2 * pairs) {
        if (i % 2)
            odd[i / 2] = in[i];
        else
            even[i >> 1] = in[i];
    }
}

__global__ void write_every_other(int *a, int n, int parity)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && (i & 1) == parity)
        a[i] = 10 * i;
}

__global__ void rotate(int *out, const int *in, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[(i + by) % n] = in[i];
}

__global__ void upper_triangle(int *a, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && column < n && column >= row)
        a[row * n + column] = row + column;
}

// A block a row, from the diagonal on.
__global__ void upper_triangle_rows(int *a, int n)
{
    int row = blockIdx.x;
    for (int column = row + threadIdx.x; column < n; column += blockDim.x)
        a[row * n + column] = row + column;
}

__global__ void packed_triangle(int *packed, const int *a, int n)
{
    int row = blockIdx.x;
    for (int column = threadIdx.x; column <= row; column += blockDim.x)
        packed[row * (row + 1) / 2 + column] = a[row * n + column];
}

__global__ void diagonal(int *a, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i * n + i] = value;
}

__global__ void pad_rows(int *out, const int *in, int columns, int padded, int rows)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < padded * rows) {
        int row = i / padded, column = i - row * padded;
        out[i] = column < columns ? in[row * columns + column] : -1;
    }
}

__global__ void permute_axes(int *out, const int *in, int a, int b, int c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= a * b * c)
        return;
    int x = i % c, y = i / c % b, z = i / (b * c);
    out[(x * a + z) * b + y] = in[i];
}

__global__ void keep_positive(int *out, int *count, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0)
        out[atomicAdd(count, 1)] = in[i];
}

struct particle {
    float x, y, z;
    int kind;
};

__global__ void fields_apart(float *x, float *z, int *kinds, const particle *particles, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = particles[i].x;
        z[i] = particles[i].z;
        kinds[i] = particles[i].kind;
    }
}

static void run_line(int n)
{
    int block = 64, grid = blocks_for(n, block);
    std::vector<int> host = numbers<int>(n, 1000), index(n), wanted(n), inverse(n);
    for (int i = 0; i < n; i++)
        index[i] = n - 1 - i;
    std::rotate(index.begin(), index.begin() + n / 3, index.end());
    array<int> in(host), indices(index), gathered(n), scattered(n), reversed(n), rotated(n);
    gather<<<grid, block>>>(gathered, in, indices, n);
    scatter<<<grid, block>>>(scattered, in, indices, n);
    for (int i = 0; i < n; i++) {
        wanted[i] = host[index[i]];
        inverse[index[i]] = host[i];
    }
    expect("gather", n, gathered.get(), wanted);
    expect("scatter", n, scattered.get(), inverse);
    rotate<<<grid, block>>>(rotated, in, n, 5);
    for (int i = 0; i < n; i++)
        wanted[(i + 5) % n] = host[i];
    expect("rotate", n, rotated.get(), wanted);
    reverse_copy<<<grid, block>>>(reversed, in, n);
    wanted.assign(host.rbegin(), host.rend());
    expect("reverse_copy", n, reversed.get(), wanted);
    array<int> count(1), kept(n);
    keep_positive<<<grid, block>>>(kept, count, in, n);
    expect("keep_positive", n, count.get(),
           {(int)std::count_if(host.begin(), host.end(), [](int value) { return value > 0; })});
    reverse_in_place<<<grid, block>>>(in, n);
    expect("reverse_in_place", n, in.get(), wanted);
    write_every_other<<<grid, block>>>(in, n, 1);
    for (int i = 1; i < n; i += 2)
        wanted[i] = 10 * i;
    expect("write_every_other", n, in.get(), wanted);
}

static void run_blocks(int grid, int block)
{
    std::vector<int> host = numbers<int>(grid * block, 1000);
    array<int> in(host), out(host.size());
    reverse_blocks<<<grid, block, block * sizeof(int)>>>(out, in);
    std::reverse(host.begin(), host.end());
    expect("reverse_blocks", block, out.get(), host);
}

static void run_pairs(int pairs)
{
    std::vector<float> left = numbers<float>(pairs), right = numbers<float>(pairs, 8, 2);
    std::vector<float> both(2 * pairs);
    for (int i = 0; i < pairs; i++) {
        both[2 * i] = left[i];
        both[2 * i + 1] = right[i];
    }
    array<float> even(left), odd(right), out(2 * pairs), even_again(pairs), odd_again(pairs);
    interleave<<<blocks_for(pairs, 32), 32>>>(out, even, odd, pairs);
    expect("interleave", pairs, out.get(), both);
    separate<<<blocks_for(2 * pairs, 32), 32>>>(even_again, odd_again, out, pairs);
    expect("separate", pairs, even_again.get(), left);
    expect("separate", pairs, odd_again.get(), right);
}

static void run_square(int n)
{
    std::vector<int> wanted(n * n), triangle;
    for (int row = 0; row < n; row++)
        for (int column = row; column < n; column++)
            wanted[row * n + column] = row + column;
    array<int> a(n * n), b(n * n), packed(n * (n + 1) / 2);
    upper_triangle<<<dim3(blocks_for(n, 16), blocks_for(n, 8)), dim3(16, 8)>>>(a, n);
    expect("upper_triangle", n, a.get(), wanted);
    upper_triangle_rows<<<n, 32>>>(b, n);
    expect("upper_triangle_rows", n, b.get(), wanted);
    diagonal<<<blocks_for(n, 32), 32>>>(b, n, 7);
    for (int i = 0; i < n; i++)
        wanted[i * n + i] = 7;
    expect("diagonal", n, b.get(), wanted);
    packed_triangle<<<n, 32>>>(packed, b, n);
    for (int row = 0; row < n; row++)
        for (int column = 0; column <= row; column++)
            triangle.push_back(wanted[row * n + column]);
    expect("packed_triangle", n, packed.get(), triangle);
}

static void run_axes(int a, int b, int c)
{
    int n = a * b * c, padded = c + 3;
    std::vector<int> host = numbers<int>(n, 1000), turned(n), wide(a * b * padded, -1);
    for (int i = 0; i < n; i++) {
        int x = i % c, y = i / c % b, z = i / (b * c);
        turned[(x * a + z) * b + y] = host[i];
        wide[i / c * padded + x] = host[i];
    }
    array<int> in(host), out(n), rows(a * b * padded);
    permute_axes<<<blocks_for(n, 64), 64>>>(out, in, a, b, c);
    expect("permute_axes", n, out.get(), turned);
    pad_rows<<<blocks_for(wide.size(), 64), 64>>>(rows, in, c, padded, a * b);
    expect("pad_rows", n, rows.get(), wide);
}

static void run_particles(int n)
{
    std::vector<particle> host(n);
    std::vector<float> first(n), last(n);
    std::vector<int> kind(n);
    for (int i = 0; i < n; i++) {
        host[i] = {(float)i, 1, (float)-i, i % 3};
        first[i] = i;
        last[i] = -i;
        kind[i] = i % 3;
    }
    array<particle> particles(host);
    array<float> x(n), z(n);
    array<int> kinds(n);
    fields_apart<<<blocks_for(n, 32), 32>>>(x, z, kinds, particles, n);
    expect("fields_apart", n, x.get(), first);
    expect("fields_apart", n, z.get(), last);
    expect("fields_apart", n, kinds.get(), kind);
}

int main()
{
    for (int n : {1, 31, 257, 640})
        run_line(n);
    run_blocks(1, 1);
    run_blocks(5, 48);
    run_pairs(1);
    run_pairs(100);
    run_square(1);
    run_square(37);
    run_axes(1, 1, 1);
    run_axes(3, 5, 7);
    run_particles(31);
    run_particles(64);
    return finish();
}
