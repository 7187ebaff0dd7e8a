// verdict: race
// expect: on the __device__ variable 'table' \(4096 bytes, of code loaded at run time\)
// expect: The memory is the __device__ variable 'table' of code loaded at run time\.
// expect: of the variable's 4096 at 0x
// reject: no allocation csan saw
// A variable of a module that the program made itself: the driver says where it lies, a kernel of
// another module writes there, and so does a set.
#include "program.h"

#include <cudaTypedefs.h>
#include <string>

static const char module_ptx[] = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .global .align 8 .b8 before[16];
.visible .global .align 4 .b8 table[4096];
.visible .entry unused() { ret; }
)";

static void *driver_function(const char *name)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
    return function;
}

int main()
{
    CUmodule module;
    CUdeviceptr table, twice;
    size_t bytes = 0;
    CHECK(cudaFree(nullptr));
    auto load = (PFN_cuModuleLoadData_v2000)driver_function("cuModuleLoadData");
    auto find = (PFN_cuModuleGetGlobal_v3020)driver_function("cuModuleGetGlobal");
    CHECK((cudaError_t)load(&module, std::string(module_ptx).c_str()));
    CHECK((cudaError_t)find(nullptr, &bytes, module, "table"));
    CHECK((cudaError_t)find(&table, nullptr, module, "table"));
    launch_fill(nonblocking_stream(), (int *)table);
    CHECK((cudaError_t)find(&twice, &bytes, module, "table"));
    if (bytes != BYTES || twice != table)
        printf("table of %zu bytes is at %llx and %llx\n", bytes, table, twice);
    CHECK(cudaMemsetAsync((void *)table, 0, BYTES, nonblocking_stream()));
    return finish();
}
