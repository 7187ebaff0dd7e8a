// link: -lcuda
// ways: run run-static
// verdict: race
// expect: not modelled: memory shared with other processes
// Physical memory that was exported and imported, written by two streams; and that others may have
// it is said. (That it is the same as before the export is not seen.)
#include "mapping.h"

int main()
{
    const CUmemAllocationHandleType how = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    space s;
    s.properties.requestedHandleTypes = how;
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUmemGenericAllocationHandle imported = 0;
    int file = -1;
    DRIVER_CHECK(cuMemExportToShareableHandle(&file, s.create(), how, 0));
    DRIVER_CHECK(cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)file, how));
    int *p = s.map(s.reserve(), imported);
    launch_fill(a, p);
    launch_fill(b, p);
    return finish();
}
