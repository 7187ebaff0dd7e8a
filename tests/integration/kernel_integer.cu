// verdict: none
// Integer arithmetic of all widths, against the host's.
#include "program.h"

enum { RESULTS = 16, VALUES = 40 };

__host__ __device__ static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    return x ^ (x >> 29);
}

__host__ __device__ static void compute(uint64_t *out, uint64_t seed)
{
    uint64_t a = mix(seed), b = mix(seed + 77) | 1;
    int32_t s = (int32_t)a, t = (int32_t)b;
    out[0] = a / b;
    out[1] = a % b;
    out[2] = (uint64_t)((int64_t)a / (int64_t)b);
    out[3] = (uint32_t)(s / (t | 1));
    out[4] = (uint32_t)(s % (t | 1));
    out[5] = (uint64_t)((int64_t)s * t);
    out[6] = (uint64_t)((int64_t)a >> (b & 63));
    out[7] = a << (b & 63);
    out[8] = (uint64_t)(int64_t)(int8_t)a;
    out[9] = (uint64_t)(uint16_t)(a * 3);
    out[10] = (uint64_t)(int64_t)(int16_t)(s - t);
    out[11] = s < t ? 1 : (uint32_t)s < (uint32_t)t ? 2 : 3;
    out[12] = (a & b) | (~a ^ b);
    out[13] = (uint64_t)(uint32_t)((s >> 3) + ((uint32_t)s >> 5));
    out[14] = (uint64_t)(double)(int64_t)(a >> 12);
    out[15] = (uint64_t)(uint32_t)(float)(uint32_t)(a >> 44);
}

__global__ void compute_all(uint64_t *out)
{
    compute(out + threadIdx.x * RESULTS, threadIdx.x);
}

__global__ void count_bits(uint32_t *out)
{
    uint32_t x = (uint32_t)mix(threadIdx.x);
    out[threadIdx.x] = __popc(x) + 100 * __clz(x) + 10000 * (__brev(x) & 15) +
                       1000000 * (__ffs(x) + __byte_perm(x, ~x, 0x5140) % 7);
}

static uint32_t host_count_bits(uint32_t x)
{
    uint32_t reversed = 0, permuted;
    for (int i = 0; i < 32; i++)
        reversed |= (x >> i & 1) << (31 - i);
    uint64_t both = (uint64_t)~x << 32 | x;
    permuted = (both & 0xff) | (both >> 32 & 0xff) << 8 | (both >> 8 & 0xff) << 16 |
               (both >> 40 & 0xff) << 24;
    // nibbles of the selector, lowest first: 0, 4, 1, 5
    return __builtin_popcount(x) + 100 * (x ? __builtin_clz(x) : 32) + 10000 * (reversed & 15) +
           1000000 * (__builtin_ffs((int)x) + permuted % 7);
}

int main()
{
    static uint64_t out[VALUES][RESULTS], expected[RESULTS];
    static uint32_t bits[VALUES];
    uint64_t *dout = device_array<uint64_t>(VALUES * RESULTS);
    uint32_t *dbits = device_array<uint32_t>(VALUES);
    compute_all<<<1, VALUES>>>(dout);
    count_bits<<<1, VALUES>>>(dbits);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(bits, dbits, sizeof bits, cudaMemcpyDeviceToHost));
    for (int i = 0; i < VALUES; i++) {
        compute(expected, i);
        for (int r = 0; r < RESULTS; r++)
            if (out[i][r] != expected[r])
                printf("wrong: %d.%d is %llx, expected %llx\n", i, r, (unsigned long long)out[i][r],
                       (unsigned long long)expected[r]);
        if (bits[i] != host_count_bits((uint32_t)mix(i)))
            printf("wrong: bits of %d\n", i);
    }
    return finish();
}
