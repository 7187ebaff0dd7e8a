/* Stands in for PyTorch's library that holds its pool of device memory: functions by the names that
 * csan knows it by, not exported, and one that asks for the program. */
#include <cuda.h>

typedef int asks(CUresult (*query)(CUevent), CUevent event);

static __attribute__((noinline)) int
_ZN3c104cuda20CUDACachingAllocator6Native14process_eventsEv(CUresult (*query)(CUevent),
                                                            CUevent event)
{
    CUresult result = query(event);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return result == CUDA_SUCCESS;
}

/* PyTorch 2.3's pool of pinned memory. */
static __attribute__((noinline)) int
_ZN2at4cuda12_GLOBAL__N_117CUDAHostAllocator14process_eventsEv(CUresult (*query)(CUevent),
                                                               CUevent event)
{
    CUresult result = query(event);
    __asm__ volatile("" ::: "memory");
    return result == CUDA_SUCCESS;
}

static __attribute__((noinline)) int
_ZNK3c104cuda4impl13CUDAGuardImpl10queryEventEPv(CUresult (*query)(CUevent), CUevent event)
{
    CUresult result = query(event);
    __asm__ volatile("" ::: "memory");
    return result == CUDA_SUCCESS;
}

__attribute__((visibility("default"))) asks *fake_pool(void)
{
    return _ZN3c104cuda20CUDACachingAllocator6Native14process_eventsEv;
}

__attribute__((visibility("default"))) asks *fake_pinned_pool(void)
{
    return _ZN2at4cuda12_GLOBAL__N_117CUDAHostAllocator14process_eventsEv;
}

__attribute__((visibility("default"))) asks *fake_program(void)
{
    return _ZNK3c104cuda4impl13CUDAGuardImpl10queryEventEPv;
}
