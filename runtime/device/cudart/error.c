/* The last error of each thread, and the errors' names and texts. CUDA Runtime API, "Error
 * Handling": cudaGetLastError returns the last error and resets it. An error that "corrupts the
 * context" is not reset: it stays until the device is reset. */
#include "runtime/device/cudart/runtime.h"

#include <string.h>

static struct {
    unsigned resets; /* counts contexts that took their sticky errors with them */
} error;

static __thread struct {
    cudaError_t last;
    unsigned resets;
} thread;

static bool sticks(cudaError_t code)
{
    switch (code) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
        return true;
    default:
        return false;
    }
}

static cudaError_t *last(void)
{
    unsigned resets = __atomic_load_n(&error.resets, __ATOMIC_ACQUIRE);
    if (thread.resets != resets && sticks(thread.last))
        thread.last = cudaSuccess;
    thread.resets = resets;
    return &thread.last;
}

cudaError_t error_record(cudaError_t code)
{
    if (code != cudaSuccess)
        *last() = code;
    return code;
}

cudaError_t error_from(CUresult result)
{
    return error_record((cudaError_t)result);
}

void error_context_reset(void)
{
    __atomic_fetch_add(&error.resets, 1, __ATOMIC_ACQ_REL);
}

API cudaError_t cudaPeekAtLastError(void)
{
    return *last();
}

API cudaError_t cudaGetLastError(void)
{
    cudaError_t code = *last();
    if (!sticks(code))
        *last() = cudaSuccess;
    return code;
}

/* ---- Names and texts ---- */

static const struct {
    cudaError_t code;
    const char *name;
} names[] = {
#define NAME(name) {name, #name},
#include "device/cudart_errors.inc"
};

API const char *cudaGetErrorName(cudaError_t code)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            return names[i].name;
    return "unrecognized error code";
}

/* What the runtime alone returns; the driver knows the others. */
static const struct {
    cudaError_t code;
    const char *text;
} texts[] = {
    {cudaSuccess, "no error"},
    {cudaErrorInvalidConfiguration, "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "invalid device symbol"},
    {cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"},
    {cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorMissingConfiguration, "__global__ function call is not configured"},
    {cudaErrorInvalidDeviceFunction, "invalid device function"},
    {cudaErrorInitializationError, "initialization error"},
    {cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"},
    {cudaErrorInvalidKernelImage, "device kernel image is invalid"},
    {cudaErrorDeviceUninitialized, "invalid device context"},
};

API const char *cudaGetErrorString(cudaError_t code)
{
    const char *text = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].code == code)
            return texts[i].text;
    if (strcmp(cudaGetErrorName(code), "unrecognized error code") == 0)
        return "unrecognized error code";
    cudaError_t before = *last();
    if (runtime_start() == cudaSuccess)
        driver.cuGetErrorString[0]((CUresult)code, &text);
    *last() = before; /* asking for a text is no failure */
    return text && strncmp(text, "CUDA_ERROR_", 11) != 0 ? text : cudaGetErrorName(code);
}
