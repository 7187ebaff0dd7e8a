// verdict: none
// Every atomic update, and a lock made of two of them.
#include "program.h"

__device__ int lock;

__global__ void update(unsigned *p, unsigned long long *q, float *f, unsigned *guarded)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&p[0], i);
    atomicSub(&p[1], 1u);
    atomicMin(&p[2], 1000u - i);
    atomicMax(&p[3], i);
    atomicAnd(&p[4], ~(1u << (i % 32)));
    atomicOr(&p[5], 1u << (i % 32));
    atomicXor(&p[6], i);
    atomicInc(&p[7], 9u);
    atomicExch(&p[8], 42u);
    atomicAdd(&q[0], 1ull << 33);
    atomicAdd(&f[0], 0.5f);
    unsigned seen = p[9], assumed;
    do {
        assumed = seen;
        seen = atomicCAS(&p[9], assumed, assumed + 2);
    } while (seen != assumed);
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0)
            ;
        __threadfence();
        *(volatile unsigned *)guarded = *(volatile unsigned *)guarded + 1;
        __threadfence();
        atomicExch(&lock, 0);
    }
}

int main()
{
    unsigned *p = device_array<unsigned>(16), host[16], *guarded = device_array<unsigned>(1);
    unsigned long long *q = device_array<unsigned long long>(1), host_q;
    float *f = device_array<float>(1), host_f;
    unsigned initial[16] = {0, 5000, 5000, 0, 0xffffffffu};
    CHECK(cudaMemcpy(p, initial, sizeof initial, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(q, 0, sizeof *q));
    CHECK(cudaMemset(f, 0, sizeof *f));
    CHECK(cudaMemset(guarded, 0, sizeof *guarded));
    update<<<4, 64>>>(p, q, f, guarded);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&host_q, q, sizeof host_q, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&host_f, f, sizeof host_f, cudaMemcpyDeviceToHost));
    unsigned expected[10] = {256 * 255 / 2, 5000 - 256, 1000 - 255, 255, 0,
                             0xffffffffu,   0,          256 % 10,   42,  512};
    for (int i = 0; i < 10; i++)
        if (host[i] != expected[i])
            printf("wrong: p[%d] is %u, expected %u\n", i, host[i], expected[i]);
    unsigned host_guarded;
    CHECK(cudaMemcpy(&host_guarded, guarded, sizeof host_guarded, cudaMemcpyDeviceToHost));
    if (host_q != 256ull << 33 || host_f != 128.0f || host_guarded != 4)
        printf("wrong: %llx %g %u\n", host_q, host_f, host_guarded);
    return finish();
}
