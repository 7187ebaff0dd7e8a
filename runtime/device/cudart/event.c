/* Events. CUDA Runtime API, "Event Management". */
#include "runtime/device/cudart/runtime.h"

API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    ENTER();
    return error_from(driver.cuEventCreate[0](event, flags));
}

API cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

API cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    ENTER();
    return error_from(driver.cuEventDestroy[0](event));
}

static cudaError_t event_record(enum flavor flavor, cudaEvent_t event, cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuEventRecord[flavor](event, stream));
}
BOTH(cudaEventRecord, _ptsz, event_record, (cudaEvent_t event, cudaStream_t stream), event, stream)

static cudaError_t event_record_flags(enum flavor flavor, cudaEvent_t event, cudaStream_t stream,
                                      unsigned int flags)
{
    ENTER();
    return error_from(driver.cuEventRecordWithFlags[flavor](event, stream, flags));
}
BOTH(cudaEventRecordWithFlags, _ptsz, event_record_flags,
     (cudaEvent_t event, cudaStream_t stream, unsigned int flags), event, stream, flags)

API cudaError_t cudaEventQuery(cudaEvent_t event)
{
    ENTER();
    return error_from(driver.cuEventQuery[0](event));
}

API cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    ENTER();
    return error_from(driver.cuEventSynchronize[0](event));
}

API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    ENTER();
    return error_from(driver.cuEventElapsedTime[0](milliseconds, start, end));
}
