// Memory taken from the stack while a function runs.
#include <alloca.h>

__device__ __noinline__ int fill(int *words, int count, int from)
{
    int own[8], sum = 0; // must not lie over the caller's
    for (int i = 0; i < count; i++)
        words[i] = from + i;
    for (int i = 0; i < 8; i++)
        own[(i * from) & 7] = i;
    for (int i = 0; i < 8; i++)
        sum += own[i] & 0;
    return sum;
}

// Each lane asks for another size, twice; both must keep what is written to them, over calls too.
extern "C" __global__ void takes(int *out)
{
    int count = threadIdx.x % 37 + 1, sum = 0;
    int *first = (int *)alloca(count * sizeof(int));
    sum += fill(first, count, 1000);
    int *second = (int *)alloca(2 * count * sizeof(int));
    sum += fill(second, 2 * count, 5);
    if (threadIdx.x % 2) // some lanes take more
        sum += fill((int *)alloca(64), 16, 77);
    for (int i = 0; i < count; i++)
        sum += first[i];
    for (int i = 0; i < 2 * count; i++)
        sum += second[i];
    out[threadIdx.x] = sum;
}

__device__ __noinline__ int taken(int bytes)
{
    char *memory = (char *)alloca(bytes);
    memory[bytes - 1] = 1;
    memory[0] = 2;
    return memory[bytes - 1] + memory[0];
}

// What a call took is given back at its end.
extern "C" __global__ void gives_back(int *out, int calls, int bytes)
{
    int sum = 0;
    for (int i = 0; i < calls; i++)
        sum += taken(bytes);
    out[threadIdx.x] = sum;
}
