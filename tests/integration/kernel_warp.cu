// verdict: none
// flags: -arch=sm_80
// Votes, shuffles and matches within a warp, with some lanes away.
#include "program.h"

__global__ void warp(unsigned *out)
{
    unsigned lane = threadIdx.x % 32, *mine = out + threadIdx.x * 8;
    mine[0] = __ballot_sync(0xffffffffu, lane % 3 == 0);
    mine[1] = __any_sync(0xffffffffu, lane == 7) + 2 * __all_sync(0xffffffffu, lane < 32);
    mine[2] = __shfl_sync(0xffffffffu, lane * 10, (lane + 5) % 32);
    mine[3] = __shfl_up_sync(0xffffffffu, lane, 3);
    mine[4] = __shfl_xor_sync(0xffffffffu, lane, 9, 16);
    mine[5] = 0;
    if (lane % 2) {
        mine[5] = __activemask();
        __syncwarp(0xaaaaaaaau);
    }
    mine[6] = __reduce_add_sync(0xffffffffu, lane);
    mine[7] = __match_any_sync(0xffffffffu, lane / 8);
}

int main()
{
    unsigned *p = device_array<unsigned>(64 * 8);
    static unsigned out[64][8];
    warp<<<1, 64>>>(p);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost));
    for (unsigned thread = 0; thread < 64; thread++) {
        unsigned lane = thread % 32;
        unsigned expected[8] = {0x49249249u,
                                3,
                                (lane + 5) % 32 * 10,
                                lane < 3 ? lane : lane - 3,
                                lane ^ 9,
                                lane % 2 ? 0xaaaaaaaau : 0,
                                31 * 32 / 2,
                                0xffu << lane / 8 * 8};
        for (int i = 0; i < 8; i++)
            if (out[thread][i] != expected[i] && !(i == 5 && lane % 2))
                printf("wrong: thread %u result %d is %x, expected %x\n", thread, i, out[thread][i],
                       expected[i]);
    }
    return finish();
}
