// Kernels for bench_device, each one way in which kernels spend their time. bench_device.c has the
// same in plain C.
extern "C" __global__ void integers(unsigned *out, const unsigned *, int rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i;
#pragma unroll 4
    for (int k = 0; k < rounds; k++) {
        x = x * 1664525u + 1013904223u;
        x ^= x >> 13;
        x += x << 5;
    }
    out[i] = x;
}

extern "C" __global__ void floats(float *out, const float *, int rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = i * 1e-6f, y = 1.0f - x;
#pragma unroll 4
    for (int k = 0; k < rounds; k++) {
        x = fmaf(x, 0.5f, y);
        y = y * 0.5f + x * 0.125f;
    }
    out[i] = x + y;
}

extern "C" __global__ void streams(float *to, const float *from, int rounds)
{
    unsigned stride = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < rounds; k++, i += stride)
        to[i] = 2.0f * from[i] + to[i];
}

extern "C" __global__ void tiles(float *to, const float *from, int rounds)
{
    __shared__ float part[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float sum = 0, own = from[i];
    for (int k = 0; k < rounds; k++) {
        part[t] = own + k;
        __syncthreads();
        for (unsigned half = 128; half > 0; half /= 2) {
            if (t < half)
                part[t] += part[t + half];
            __syncthreads();
        }
        sum += part[0];
        __syncthreads();
    }
    to[i] = sum;
}

// Steps of the Collatz sequence: each lane takes its own number of rounds, and branches in each.
extern "C" __global__ void branches(unsigned *out, const unsigned *, int rounds)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i + 1, steps = 0;
    while (x != 1 && steps < (unsigned)rounds) {
        if (x % 2)
            x = 3 * x + 1;
        else
            x /= 2;
        steps++;
    }
    out[i] = steps;
}
