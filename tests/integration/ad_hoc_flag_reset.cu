// verdict: possible
// A flag that its reader takes down again: two kernels pass it to and fro, several times each.
// Which round a value belongs to nobody sees, so what the flag orders is possible, not certain.
#include "program.h"

enum { ROUNDS = 3 };

__device__ static int load_acquire(int *p)
{
    int value;
    asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}
__device__ static void store_release(int *p, int value)
{
    asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

// Writes a value once the flag is down, and raises it.
__global__ void produce(int *data, int *flag)
{
    for (int round = 1; round <= ROUNDS; round++) {
        while (load_acquire(flag))
            ;
        *data = round;
        store_release(flag, 1);
    }
}

// Reads a value once the flag is up, and takes it down.
__global__ void consume(int *out, const int *data, int *flag)
{
    for (int round = 0; round < ROUNDS; round++) {
        while (!load_acquire(flag))
            ;
        out[round] = *(const volatile int *)data;
        store_release(flag, 0);
    }
}

// A kernel that is loaded at its first launch waits for those that run, and these wait for each
// other.
static void load(const void *kernel)
{
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
}

int main()
{
    load((const void *)produce);
    load((const void *)consume);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *data = device_array<int>(1), *flag = device_array<int>(1);
    int *out = device_array<int>(ROUNDS), got[ROUNDS];
    CHECK(cudaMemset(flag, 0, sizeof *flag));
    CHECK(cudaDeviceSynchronize());
    produce<<<1, 1, 0, a>>>(data, flag);
    consume<<<1, 1, 0, b>>>(out, data, flag);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int round = 0; round < ROUNDS; round++)
        if (got[round] != round + 1)
            return 1;
    return finish();
}
