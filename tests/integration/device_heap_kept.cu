// verdict: none
// Kernels use what an earlier one allocated, one after the other, and the last one frees it: as a
// list of the CUDA C++ Programming Guide's examples ("Allocation Persisting Between Kernel
// Launches").
#include "device_heap.h"

enum { THREADS = 40, COUNT = 12 };

struct Node {
    double value;
    Node *next;
    __device__ Node(double value, Node *next) : value(value), next(next) {}
};

__global__ void list(int *out)
{
    Node *first = nullptr;
    double total = 0;
    for (int i = 0; i < 5; i++)
        first = new Node(i + threadIdx.x, first);
    while (first) {
        Node *next = first->next;
        total += first->value;
        delete first;
        first = next;
    }
    out[threadIdx.x] = (int)total;
}

int main()
{
    int **blocks = device_array<int *>(THREADS), *out = device_array<int>(THREADS), host[THREADS];
    make<<<1, THREADS>>>(blocks, COUNT);
    double_all<<<1, THREADS>>>(blocks, COUNT);
    sum<<<1, THREADS>>>(blocks, COUNT, out);
    release<<<1, THREADS>>>(blocks);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < THREADS; i++)
        if (host[i] != COUNT * (2 * i * COUNT + COUNT - 1))
            printf("%d: %d\n", i, host[i]);
    list<<<1, THREADS>>>(out);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < THREADS; i++)
        if (host[i] != 10 + 5 * i)
            printf("list %d: %d\n", i, host[i]);
    return finish();
}
