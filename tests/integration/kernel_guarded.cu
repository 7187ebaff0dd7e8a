// verdict: none
// Guarded instructions run whole: wherever a schedule ends a kernel's slice, the lanes that the
// guard leaves out stay out, and come back after it.
#include "program.h"

__global__ void store_odd(int *out, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        int odd = (threadIdx.x + i) & 1;
        asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p st.global.s32 [%0], %1;\n}" ::"l"(
                         &out[i * blockDim.x + threadIdx.x]),
                     "r"(i), "r"(odd)
                     : "memory");
    }
}

int main()
{
    enum { THREADS = 64, ROUNDS = 400, COUNT = THREADS * ROUNDS };
    static int host[COUNT];
    int *out = device_array<int>(COUNT);
    CHECK(cudaMemset(out, 0xff, sizeof host));
    store_odd<<<1, THREADS>>>(out, ROUNDS);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++) {
        int round = i / THREADS, expected = (i + round) & 1 ? round : -1;
        if (host[i] != expected)
            printf("wrong: element %d is %d, expected %d\n", i, host[i], expected);
    }
    return finish();
}
