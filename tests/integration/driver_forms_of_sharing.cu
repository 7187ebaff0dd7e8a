// skip: embedded
// verdict: none
// flags: -std=c++17
// link: -lcuda
// ways: run
// own-errors: yes
// Sharing with other processes and APIs: each entry point is reached, and what the driver says of a
// call goes to the program as it is. A process cannot open its own handles, so those calls fail;
// memory and semaphores of another API there are none.
#include "driver_forms.h"

#include <unistd.h>

static void said(const char *name, CUresult result)
{
    const char *text = "?";
    cuGetErrorName(result, &text);
    fprintf(stderr, "%s: %s\n", name, text);
}

#define SAY(call) said(#call, call)

static void memory()
{
    CUipcMemHandle handle;
    CUdeviceptr p = device_bytes(), opened = 0;
    DRIVER_CHECK(cuIpcGetMemHandle(&handle, p));
    SAY(cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    SAY(cuIpcOpenMemHandle_v2(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    SAY(cuIpcCloseMemHandle(p));
    DRIVER_CHECK(cuMemFree_v2(p));
}

static void events()
{
    CUipcEventHandle handle;
    CUevent event, opened;
    DRIVER_CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
    DRIVER_CHECK(cuIpcGetEventHandle(&handle, event));
    SAY(cuIpcOpenEventHandle(&opened, handle));
    DRIVER_CHECK(cuEventDestroy_v2(event));
}

static void pools()
{
    CUmemPoolProps what = {};
    CUmemoryPool pool, imported = nullptr;
    CUmemPoolPtrExportData data = {};
    CUdeviceptr p, opened;
    int descriptor = -1;
    CUstream stream = nonblocking_stream();
    what.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    DRIVER_CHECK(cuMemPoolCreate(&pool, &what));
    DRIVER_CHECK(cuMemPoolExportToShareableHandle(&descriptor, pool,
                                                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    SAY(cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)descriptor,
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    DRIVER_CHECK(cuMemAllocFromPoolAsync(&p, BYTES, pool, stream));
    DRIVER_CHECK(cuStreamSynchronize(stream));
    DRIVER_CHECK(cuMemPoolExportPointer(&data, p));
    SAY(cuMemPoolImportPointer(&opened, imported ? imported : pool, &data));
    DRIVER_CHECK(cuMemFreeAsync(p, stream));
    DRIVER_CHECK(cuStreamSynchronize(stream));
    close(descriptor);
}

static void foreign()
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC part = {};
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {};
    CUexternalSemaphore none = nullptr;
    CUdeviceptr p;
    CUstream stream = nonblocking_stream();
    SAY(cuExternalMemoryGetMappedBuffer(&p, nullptr, &part));
    SAY(cuSignalExternalSemaphoresAsync(&none, &signal, 0, stream));
    SAY(cuSignalExternalSemaphoresAsync_ptsz(&none, &signal, 0, stream));
    SAY(cuWaitExternalSemaphoresAsync(&none, &wait, 0, stream));
    SAY(cuWaitExternalSemaphoresAsync_ptsz(&none, &wait, 0, stream));
}

int main()
{
    context_make_current();
    memory();
    events();
    pools();
    foreign();
    DRIVER_CHECK(cuCtxSynchronize());
    printf("done\n");
    return 0;
}
