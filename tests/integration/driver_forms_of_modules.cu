// verdict: race
// expect: , 8 races
// flags: -std=c++17
// link: -lcuda
// ways: run
// Every way to a kernel: the module or library it comes from, and how its handle was got. What a
// launch of it touches is known by its PTX, and races with a set in another stream.
#include "driver_forms.h"

#include <elf.h>
#include <fstream>
#include <string>
#include <unistd.h>

// For the fat binary that this program itself is made with.
extern "C" __global__ void own_fill(unsigned *p, unsigned value)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// The largest of the section's fat binaries; the others are empty ones of the linker's.
static std::string largest_of(const std::string &section)
{
    struct {
        uint32_t magic;
        uint16_t version, header_bytes;
        uint64_t bytes;
    } header;
    std::string largest;
    for (size_t at = 0; at + sizeof header <= section.size();) {
        memcpy(&header, section.data() + at, sizeof header);
        const size_t bytes = header.header_bytes + header.bytes;
        if (bytes > largest.size())
            largest = section.substr(at, bytes);
        at += bytes;
    }
    return largest;
}

static std::string own_fat_binary()
{
    std::ifstream file("/proc/self/exe", std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes.data();
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(bytes.data() + header->e_shoff);
    const char *names = bytes.data() + sections[header->e_shstrndx].sh_offset;
    for (int i = 0; i < header->e_shnum; i++)
        if (strcmp(names + sections[i].sh_name, ".nv_fatbin") == 0)
            return largest_of(bytes.substr(sections[i].sh_offset, sections[i].sh_size));
    fprintf(stderr, "this program has no section .nv_fatbin\n");
    exit(101);
}

static std::string ptx_file()
{
    char path[] = "/tmp/driver_forms_XXXXXX";
    int descriptor = mkstemp(path);
    if (descriptor < 0 || write(descriptor, driver_ptx, sizeof driver_ptx) < 0) {
        perror(path);
        exit(101);
    }
    close(descriptor);
    return path;
}

static void launch_against_set(CUfunction fill)
{
    static CUstream a = nonblocking_stream(), b = nonblocking_stream();
    CUdeviceptr p = device_bytes();
    unsigned value = 3;
    void *arguments[] = {&p, &value};
    DRIVER_CHECK(cuLaunchKernel(fill, BYTES / 4 / 128, 1, 1, 128, 1, 1, 0, a, arguments, nullptr));
    DRIVER_CHECK(cuMemsetD8Async(p, 1, BYTES, b));
    DRIVER_CHECK(cuCtxSynchronize());
    DRIVER_CHECK(cuMemFree_v2(p));
}

static void module_launch(CUmodule module, const char *name)
{
    CUfunction fill;
    DRIVER_CHECK(cuModuleGetFunction(&fill, module, name));
    launch_against_set(fill);
}

static void modules()
{
    CUmodule module;
    const std::string path = ptx_file(), fat_binary = own_fat_binary();
    DRIVER_CHECK(cuModuleLoad(&module, path.c_str()));
    unlink(path.c_str());
    module_launch(module, "driver_fill");
    DRIVER_CHECK(cuModuleUnload(module));
    DRIVER_CHECK(cuModuleLoadFatBinary(&module, fat_binary.data()));
    module_launch(module, "own_fill");
    DRIVER_CHECK(cuModuleUnload(module));
    DRIVER_CHECK(cuModuleLoadDataEx(&module, driver_ptx, 0, nullptr, nullptr));
    module_launch(module, "driver_fill");
    DRIVER_CHECK(cuModuleUnload(module));
}

static void libraries()
{
    CUlibrary library;
    CUmodule module;
    CUkernel kernel;
    CUfunction fill;
    const std::string path = ptx_file();
    DRIVER_CHECK(
        cuLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    unlink(path.c_str());
    DRIVER_CHECK(cuLibraryGetKernel(&kernel, library, "driver_fill"));
    launch_against_set((CUfunction)kernel);
    DRIVER_CHECK(cuLibraryUnload(library));
    DRIVER_CHECK(cuLibraryLoadData(&library, driver_ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    DRIVER_CHECK(cuLibraryGetKernel(&kernel, library, "driver_fill"));
    DRIVER_CHECK(cuKernelGetFunction(&fill, kernel));
    launch_against_set(fill);
    DRIVER_CHECK(cuLibraryGetModule(&module, library));
    module_launch(module, "driver_fill");
    DRIVER_CHECK(cuLibraryUnload(library));
}

// A handle that nobody asked for by name.
static void enumerated()
{
    CUmodule module;
    CUfunction fill;
    DRIVER_CHECK(cuModuleLoadData(&module, driver_ptx));
    DRIVER_CHECK(cuModuleEnumerateFunctions(&fill, 1, module));
    launch_against_set(fill);
}

// A set by the address that the first version of cuGetProcAddress gave.
static void looked_up()
{
    CUresult (*set)(CUdeviceptr, unsigned char, size_t, CUstream);
    CUdeviceptr p = device_bytes();
    DRIVER_CHECK(cuGetProcAddress("cuMemsetD8Async", (void **)&set, 12000, 0));
    DRIVER_CHECK(set(p, 1, BYTES, nonblocking_stream()));
    DRIVER_CHECK(cuMemsetD8Async(p, 1, BYTES, nonblocking_stream()));
    DRIVER_CHECK(cuCtxSynchronize());
}

int main()
{
    context_make_current();
    modules();
    libraries();
    enumerated();
    looked_up();
    printf("done\n");
    return 0;
}
