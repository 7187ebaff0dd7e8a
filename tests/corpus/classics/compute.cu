// Much arithmetic, few accesses: Mandelbrot, Monte Carlo, string search, clusters, polynomials,
// prime numbers, option prices.
#include "../corpus.h"

__global__ void mandelbrot(unsigned char *image, int width, int height, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float cr = 3.0f * x / width - 2, ci = 2.0f * y / height - 1, zr = 0, zi = 0;
    int steps = 0;
    while (steps < limit && zr * zr + zi * zi < 4) {
        float next = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = next;
        steps++;
    }
    image[y * width + x] = steps;
}

__global__ void monte_carlo(unsigned *hits, unsigned seed, int tries)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = seed + thread * 747796405u, inside = 0;
    for (int i = 0; i < tries; i++) {
        state = state * 1664525u + 1013904223u;
        unsigned x = state >> 16;
        state = state * 1664525u + 1013904223u;
        unsigned y = state >> 16;
        inside += (unsigned long long)x * x + (unsigned long long)y * y < 1ull << 32;
    }
    hits[thread] = inside;
}

__constant__ char pattern[16];

__global__ void string_search(int *first, int *count, const char *text, int length,
                              int pattern_length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > length - pattern_length)
        return;
    for (int k = 0; k < pattern_length; k++)
        if (text[i + k] != pattern[k])
            return;
    atomicAdd(count, 1);
    atomicMin(first, i);
}

__global__ void nearest_centre(int *owner, const float *points, const float *centres, int n, int k,
                               int dimensions)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float best = INFINITY;
    int winner = 0;
    for (int c = 0; c < k; c++) {
        float sum = 0;
        for (int d = 0; d < dimensions; d++) {
            float difference = points[i * dimensions + d] - centres[c * dimensions + d];
            sum += difference * difference;
        }
        if (sum < best) {
            best = sum;
            winner = c;
        }
    }
    owner[i] = winner;
}

__global__ void centres_sum(float *sums, int *sizes, const float *points, const int *owner, int n,
                            int dimensions)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int c = owner[i];
    for (int d = 0; d < dimensions; d++)
        atomicAdd(&sums[c * dimensions + d], points[i * dimensions + d]);
    atomicAdd(&sizes[c], 1);
}

__global__ void polynomials(double *out, const double *x, const double *coefficients, int degree,
                            int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double value = coefficients[degree];
    for (int d = degree - 1; d >= 0; d--)
        value = value * x[i] + coefficients[d];
    out[i] = value;
}

// Strikes out the multiples of one number: a strided write.
__global__ void sieve(unsigned char *composite, int prime, int n)
{
    int i = prime * prime + (blockIdx.x * blockDim.x + threadIdx.x) * prime;
    if (i < n)
        composite[i] = 1;
}

__global__ void collatz(int *lengths, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int length = 0;
    for (unsigned value = i + 1; value != 1; length++)
        value = value % 2 ? 3 * value + 1 : value / 2;
    lengths[i] = length;
}

static void run_mandelbrot(int width, int height)
{
    std::vector<unsigned char> found;
    array<unsigned char> image(width * height);
    mandelbrot<<<dim3(blocks_for(width, 16), blocks_for(height, 8)), dim3(16, 8)>>>(image, width,
                                                                                    height, 40);
    found = image.get(); // the set is a thin thing: only what is far from it is certain
    expect("mandelbrot", width, std::vector<unsigned char>{found[0]}, {1});
}

static void run_monte_carlo(int grid, int block)
{
    array<unsigned> hits(grid * block);
    monte_carlo<<<grid, block>>>(hits, 1, 100);
    std::vector<unsigned> wanted(grid * block);
    for (unsigned thread = 0; thread < wanted.size(); thread++) {
        unsigned state = 1 + thread * 747796405u;
        for (int i = 0; i < 100; i++) {
            state = state * 1664525u + 1013904223u;
            uint64_t x = state >> 16;
            state = state * 1664525u + 1013904223u;
            uint64_t y = state >> 16;
            wanted[thread] += x * x + y * y < 1ull << 32;
        }
    }
    expect("monte_carlo", grid, hits.get(), wanted);
}

static void run_string(int length)
{
    std::vector<char> text(length);
    for (int i = 0; i < length; i++)
        text[i] = "abracadabra "[i % 12];
    int wanted = 0, place = 1 << 30;
    for (int i = 0; i + 4 <= length; i++)
        if (std::equal(&text[i], &text[i] + 4, "cada")) {
            wanted++;
            place = std::min(place, i);
        }
    CHECK(cudaMemcpyToSymbol(pattern, "cada", 4));
    array<char> in(text);
    array<int> first(std::vector<int>{1 << 30}), count(1);
    string_search<<<blocks_for(length, 64), 64>>>(first, count, in, length, 4);
    expect("string_search", length, count.get(), {wanted});
    expect("string_search", length, first.get(), {place});
}

static void run_clusters(int n, int k, int dimensions)
{
    std::vector<float> points = numbers<float>(n * dimensions, 100);
    std::vector<float> centres = numbers<float>(k * dimensions, 100, 2), sums(k * dimensions);
    std::vector<int> owner(n), sizes(k);
    for (int i = 0; i < n; i++) {
        float best = INFINITY;
        for (int c = 0; c < k; c++) {
            float sum = 0;
            for (int d = 0; d < dimensions; d++) {
                float difference = points[i * dimensions + d] - centres[c * dimensions + d];
                sum += difference * difference;
            }
            if (sum < best) {
                best = sum;
                owner[i] = c;
            }
        }
        sizes[owner[i]]++;
        for (int d = 0; d < dimensions; d++)
            sums[owner[i] * dimensions + d] += points[i * dimensions + d];
    }
    array<float> points_in(points), centres_in(centres), sums_out(k * dimensions);
    array<int> owners(n), sizes_out(k);
    nearest_centre<<<blocks_for(n, 64), 64>>>(owners, points_in, centres_in, n, k, dimensions);
    expect("nearest_centre", n, owners.get(), owner);
    centres_sum<<<blocks_for(n, 64), 64>>>(sums_out, sizes_out, points_in, owners, n, dimensions);
    expect("centres_sum", n, sums_out.get(), sums);
    expect("centres_sum", n, sizes_out.get(), sizes);
}

static void run_numbers(int n)
{
    std::vector<double> x = numbers<double>(n, 5), coefficients = numbers<double>(4, 10, 2);
    std::vector<double> values(n);
    std::vector<int> lengths(n);
    std::vector<unsigned char> struck(n);
    for (int i = 0; i < n; i++) {
        for (int d = 3; d >= 0; d--)
            values[i] = values[i] * x[i] + coefficients[d];
        for (unsigned value = i + 1; value != 1; lengths[i]++)
            value = value % 2 ? 3 * value + 1 : value / 2;
    }
    array<double> x_in(x), coefficients_in(coefficients), out(n);
    polynomials<<<blocks_for(n, 64), 64>>>(out, x_in, coefficients_in, 3, n);
    expect("polynomials", n, out.get(), values);
    array<int> lengths_out(n);
    collatz<<<blocks_for(n, 64), 64>>>(lengths_out, n);
    expect("collatz", n, lengths_out.get(), lengths);
    array<unsigned char> composite(n);
    for (int prime : {2, 3, 5, 7}) {
        sieve<<<blocks_for(n / prime + 1, 64), 64>>>(composite, prime, n);
        for (int i = prime * prime; i < n; i += prime)
            struck[i] = 1;
    }
    expect("sieve", n, composite.get(), struck);
}

int main()
{
    run_mandelbrot(1, 1);
    run_mandelbrot(45, 17);
    run_monte_carlo(1, 31);
    run_monte_carlo(3, 64);
    for (int length : {4, 31, 257})
        run_string(length);
    run_clusters(1, 1, 1);
    run_clusters(130, 5, 3);
    for (int n : {1, 31, 257})
        run_numbers(n);
    return finish();
}
