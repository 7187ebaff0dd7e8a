// A timeline semaphore as the embedded device takes it: a memory file, whose first 8 bytes are the
// value. The program plays the other interface by its own mapping.
#pragma once

#include "program.h"

#include <cuda.h>
#include <sys/mman.h>
#include <unistd.h>

struct Timeline {
    cudaExternalSemaphore_t handle;
    volatile unsigned long long *value;
};

static inline Timeline timeline_make()
{
    Timeline made;
    int file = memfd_create("timeline", 0);
    if (file < 0 || ftruncate(file, 4096) != 0)
        exit(101);
    made.value = (volatile unsigned long long *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                                                     MAP_SHARED, file, 0);
    cudaExternalSemaphoreHandleDesc desc = {};
    desc.type = cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd;
    desc.handle.fd = file; // CUDA's from here on
    CHECK(cudaImportExternalSemaphore(&made.handle, &desc));
    return made;
}

static inline void timeline_signal(const Timeline &timeline, unsigned long long value,
                                   cudaStream_t stream)
{
    cudaExternalSemaphoreSignalParams params = {};
    params.params.fence.value = value;
    CHECK(cudaSignalExternalSemaphoresAsync(&timeline.handle, &params, 1, stream));
}

static inline void timeline_wait(const Timeline &timeline, unsigned long long value,
                                 cudaStream_t stream)
{
    cudaExternalSemaphoreWaitParams params = {};
    params.params.fence.value = value;
    CHECK(cudaWaitExternalSemaphoresAsync(&timeline.handle, &params, 1, stream));
}
