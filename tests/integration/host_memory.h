// Shared by the programs whose host touches memory that the device may still touch, without
// declaring it to csan (option host=guard): a stream, memory of each kind, and what keeps the
// compiler from leaving an access out.
#pragma once

#include "program.h"

// 64 KiB, so that no other allocation shares its pages.
enum { HOST_N = 16384 };
static const size_t HOST_BYTES = HOST_N * sizeof(int);

static inline int *pinned_memory(unsigned flags = cudaHostAllocDefault)
{
    int *p;
    CHECK(cudaHostAlloc((void **)&p, HOST_BYTES, flags));
    memset(p, 0, HOST_BYTES);
    return p;
}

static inline int *managed_memory()
{
    int *p;
    CHECK(cudaMallocManaged((void **)&p, HOST_BYTES));
    memset(p, 0, HOST_BYTES);
    return p;
}

static inline int *registered_memory()
{
    int *p = (int *)aligned_alloc(4096, HOST_BYTES);
    memset(p, 0, HOST_BYTES);
    CHECK(cudaHostRegister(p, HOST_BYTES, cudaHostRegisterDefault));
    return p;
}

// One load and one store, of four bytes.
static inline int load(const int *p)
{
    return *(const volatile int *)p;
}
static inline void store(int *p, int value)
{
    *(volatile int *)p = value;
}
