// Butterflies with strides of powers of two: a Walsh-Hadamard transform step by step and in shared
// memory, an FFT with bit reversal, a Haar wavelet.
#include "../corpus.h"

__global__ void hadamard_step(int *values, int half, int pairs)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= pairs)
        return;
    int low = thread / half * (2 * half) + thread % half, high = low + half;
    int a = values[low], b = values[high];
    values[low] = a + b;
    values[high] = a - b;
}

__global__ void hadamard_block(int *values)
{
    extern __shared__ int part[];
    int t = threadIdx.x, n = 2 * blockDim.x, base = blockIdx.x * n;
    part[t] = values[base + t];
    part[t + blockDim.x] = values[base + t + blockDim.x];
    for (int half = 1; half < n; half <<= 1) {
        __syncthreads();
        int low = 2 * t - (t & (half - 1)), high = low + half;
        int a = part[low], b = part[high];
        part[low] = a + b;
        part[high] = a - b;
    }
    __syncthreads();
    values[base + t] = part[t];
    values[base + t + blockDim.x] = part[t + blockDim.x];
}

__global__ void bit_reverse(float2 *out, const float2 *in, int n, int bits)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[__brev(i) >> (32 - bits)] = in[i];
}

__global__ void fft_step(float2 *values, int n, int half)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= n / 2)
        return;
    int k = thread & (half - 1), low = ((thread - k) << 1) + k, high = low + half;
    float s, c;
    sincosf(-3.14159265f * k / half, &s, &c);
    float2 a = values[low], b = values[high];
    float2 turned = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    values[low] = make_float2(a.x + turned.x, a.y + turned.y);
    values[high] = make_float2(a.x - turned.x, a.y - turned.y);
}

__global__ void haar_step(int *out, const int *in, int half)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < half) {
        out[i] = in[2 * i] + in[2 * i + 1];
        out[half + i] = in[2 * i] - in[2 * i + 1];
    }
}

static std::vector<int> hadamard(std::vector<int> values, int block)
{
    for (int half = 1; half < block; half *= 2)
        for (size_t i = 0; i < values.size(); i++)
            if (!(i & half)) {
                int a = values[i], b = values[i + half];
                values[i] = a + b;
                values[i + half] = a - b;
            }
    return values;
}

static void run_hadamard(int n)
{
    std::vector<int> host = numbers<int>(n, 16);
    array<int> values(host), parts(host);
    for (int half = 1; half < n; half *= 2)
        hadamard_step<<<blocks_for(n / 2, 32), 32>>>(values, half, n / 2);
    expect("hadamard_step", n, values.get(), hadamard(host, n));
    hadamard_block<<<n / 64, 32, 64 * sizeof(int)>>>(parts);
    expect("hadamard_block", n, parts.get(), hadamard(host, 64));
}

static void run_fft(int bits)
{
    int n = 1 << bits;
    std::vector<float> raw = numbers<float>(n, 16), wanted(n), found(n);
    std::vector<float2> host(n);
    for (int i = 0; i < n; i++)
        host[i] = make_float2(raw[i], 0);
    for (int k = 0; k < n; k++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += raw[i] * std::cos(2 * M_PI * i * k / n);
        wanted[k] = sum;
    }
    array<float2> in(host), values(n);
    bit_reverse<<<blocks_for(n, 32), 32>>>(values, in, n, bits);
    for (int half = 1; half < n; half *= 2)
        fft_step<<<blocks_for(n / 2, 32), 32>>>(values, n, half);
    std::vector<float2> spectrum = values.get();
    for (int k = 0; k < n; k++) { // relative to the largest, where sums cancel
        found[k] = spectrum[k].x / wanted[0];
        raw[k] = wanted[k] / wanted[0];
    }
    expect("fft_step", n, found, raw, 1e-4);
}

static void run_haar(int n)
{
    std::vector<int> host = numbers<int>(n, 16), wanted(n);
    for (int i = 0; i < n / 2; i++) {
        wanted[i] = host[2 * i] + host[2 * i + 1];
        wanted[n / 2 + i] = host[2 * i] - host[2 * i + 1];
    }
    array<int> in(host), out(n);
    haar_step<<<blocks_for(n / 2, 32), 32>>>(out, in, n / 2);
    expect("haar_step", n, out.get(), wanted);
}

int main()
{
    run_hadamard(64);
    run_hadamard(256);
    run_fft(1);
    run_fft(7);
    run_haar(2);
    run_haar(62);
    run_haar(514);
    return finish();
}
