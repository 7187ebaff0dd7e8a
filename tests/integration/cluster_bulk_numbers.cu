// verdict: none
// gpu: any
// flags: -arch=sm_90
// cuda: 13
// Pieces that are copied to all, or some, of the blocks of a cluster at once.
#include "cluster_bulk.h"

#include <vector>

int main()
{
    enum { CLUSTERS = 3, COUNT = CLUSTERS * PIECE, ALL = COUNT * CLUSTER };
    std::vector<int> numbers(COUNT), got(ALL);
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i * 11 + 3;
    int *in = device_array<int>(COUNT), *out = device_array<int>(ALL);
    CHECK(cudaMemcpy(in, numbers.data(), COUNT * sizeof(int), cudaMemcpyHostToDevice));
    int wrong = 0;
    for (uint16_t mask : {15, 10, 1, 6}) {
        spread<<<CLUSTERS * CLUSTER, 32>>>(in, mask, out);
        CHECK(cudaMemcpy(got.data(), out, ALL * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < ALL; i++) {
            const int block = i / PIECE, from = block / CLUSTER * PIECE + i % PIECE;
            wrong += got[i] != (mask >> block % CLUSTER & 1 ? numbers[from] : -1);
        }
    }
    if (wrong)
        fprintf(stderr, "%d numbers are wrong\n", wrong);
    else
        printf("done\n");
    return wrong != 0;
}
