// What rules put into streams: kernels of one thread each. Their PTX says exactly what they touch.
// Waiting is bounded by the clock (%globaltimer, nanoseconds).
#include "litmus.h"

#include <cstdio>

static __device__ __forceinline__ unsigned long long now()
{
    unsigned long long nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
}

static __device__ __forceinline__ void wait(unsigned microseconds)
{
    unsigned long long begin = now();
    while (now() - begin < microseconds * 1000ull)
        ;
}

static __global__ void wait_and_store(int *word, unsigned microseconds)
{
    wait(microseconds);
    *word = 1;
}

static __global__ void look(int *seen, const int *word)
{
    *seen = *word;
}

static __global__ void only_wait(unsigned microseconds)
{
    wait(microseconds);
}

static __global__ void wait_and_add(int *word, unsigned microseconds)
{
    int before = *word;
    wait(microseconds);
    *word = before + 1;
}

static __global__ void trigger_and_store(int *word, unsigned microseconds)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
    wait(microseconds);
    *word = 1;
}

static __global__ void look_dependent(int *seen, const int *word)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    *seen = *word;
}

template <int NUMBER> static __global__ void look_lazily(int *seen, const int *word)
{
    *seen = *word + NUMBER - NUMBER;
}

typedef void (*look_function)(int *seen, const int *word);
template <int... NUMBERS> struct numbers {
    static look_function at(int number)
    {
        static const look_function functions[] = {look_lazily<NUMBERS>...};
        return functions[number];
    }
};
typedef numbers<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                23>
    lazy_numbers;

void first(struct trial &trial, cudaStream_t stream)
{
    wait_and_store<<<1, 1, 0, stream>>>(trial.word, trial.hold_us);
    check(trial, cudaGetLastError(), "launch of A");
}

void second(struct trial &trial, cudaStream_t stream)
{
    look<<<1, 1, 0, stream>>>(trial.seen, trial.word);
    check(trial, cudaGetLastError(), "launch of B");
}

void hold(struct trial &trial, cudaStream_t stream)
{
    only_wait<<<1, 1, 0, stream>>>(trial.hold_us);
    check(trial, cudaGetLastError(), "launch of A");
}

void add(struct trial &trial, cudaStream_t stream)
{
    wait_and_add<<<1, 1, 0, stream>>>(trial.word, trial.hold_us);
    check(trial, cudaGetLastError(), "launch");
    trial.additions++;
}

void second_on_host(struct trial &trial, const int *word)
{
    csan_host_reads(word, sizeof *word);
    trial.host_seen = *(const volatile int *)word;
    trial.from_host = true;
}

bool second_lazily(struct trial &trial, cudaStream_t stream, int number)
{
    if (number >= LAZY_KERNELS)
        return false;
    lazy_numbers::at(number)<<<1, 1, 0, stream>>>(trial.seen, trial.word);
    return check(trial, cudaGetLastError(), "launch of B");
}

const void *first_kernel()
{
    return (const void *)wait_and_store;
}

const void *second_kernel()
{
    return (const void *)look;
}

const void *add_kernel()
{
    return (const void *)wait_and_add;
}

static cudaLaunchConfig_t one_thread(cudaStream_t stream, cudaLaunchAttribute *attribute)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    config.stream = stream;
    config.attrs = attribute;
    config.numAttrs = attribute ? 1 : 0;
    return config;
}

void first_with(struct trial &trial, cudaStream_t stream, const cudaLaunchAttribute &attribute)
{
    cudaLaunchAttribute own = attribute;
    cudaLaunchConfig_t config = one_thread(stream, &own);
    check(trial, cudaLaunchKernelEx(&config, wait_and_store, trial.word, trial.hold_us),
          "launch of A with an attribute");
}

void first_triggering(struct trial &trial, cudaStream_t stream)
{
    trigger_and_store<<<1, 1, 0, stream>>>(trial.word, trial.hold_us);
    check(trial, cudaGetLastError(), "launch of A");
}

void second_dependent(struct trial &trial, cudaStream_t stream, bool waits)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = one_thread(stream, &attribute);
    check(trial,
          cudaLaunchKernelEx(&config, waits ? look_dependent : look, trial.seen,
                             (const int *)trial.word),
          "launch of B with an attribute");
}
