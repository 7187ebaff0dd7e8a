/* The embedded device with kernels: images, modules, libraries, launches on streams, faults,
 * traces. Runs once under each scheduling policy. Its kernels are tests/data/device/kernels.cu,
 * compiled by nvcc beside this program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CUDA_ENABLE_DEPRECATED /* cuLaunch and its kin */
#include <cuda.h>
#include "test_schedules.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/device/trace.h"

static const char *schedule;

static bool is_random(void)
{
    return !strncmp(schedule, "random", 6);
}

#define ok(call) assert_int_equal((call), CUDA_SUCCESS)

static CUcontext context;
static CUmodule module;
static char *fatbin;
static size_t fatbin_bytes;

/* build/tests/unit/test_device_kernel -> build/tests/data/device_kernels.<kind> */
static char *read_data(const char *kind, size_t *bytes)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    assert_true(length > 0);
    path[length] = 0;
    *strrchr(path, '/') = 0;
    *strrchr(path, '/') = 0;
    sprintf(path + strlen(path), "/data/device_kernels.%s", kind);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*bytes + 1);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    data[*bytes] = 0;
    fclose(file);
    return data;
}

static int start(void **state)
{
    (void)state;
    ok(cuInit(0));
    ok(cuDevicePrimaryCtxRetain(&context, 0));
    ok(cuCtxSetCurrent(context));
    fatbin = read_data("fatbin", &fatbin_bytes);
    ok(cuModuleLoadData(&module, fatbin));
    return 0;
}

static int finish(void **state)
{
    (void)state;
    ok(cuModuleUnload(module));
    ok(cuDevicePrimaryCtxRelease(0));
    free(fatbin);
    return 0;
}

static CUfunction kernel(const char *name)
{
    CUfunction function = NULL;
    ok(cuModuleGetFunction(&function, module, name));
    return function;
}

static CUdeviceptr managed(size_t bytes)
{
    CUdeviceptr memory = 0;
    ok(cuMemAllocManaged(&memory, bytes, CU_MEM_ATTACH_GLOBAL));
    memset((void *)memory, 0, bytes);
    return memory;
}

/* add or multiply */
static CUresult launch_on(CUstream stream, const char *name, CUdeviceptr p, int value, int n)
{
    void *params[] = {&p, &value, &n};
    return cuLaunchKernel(kernel(name), (unsigned)(n + 63) / 64, 1, 1, 64, 1, 1, 0, stream, params,
                          NULL);
}

/* ---- Images -------------------------------------------------------------------------------- */

static void finds_what_an_image_holds(void **state)
{
    (void)state;
    CUfunction function, functions[64];
    unsigned count = 0;
    const char *name;
    int target = 0;
    ok(cuModuleGetFunctionCount(&count, module));
    assert_true(count >= 14 && count < 64);
    ok(cuModuleEnumerateFunctions(functions, 64, module));
    ok(cuFuncGetName(&name, functions[0]));
    ok(cuModuleGetFunction(&function, module, name));
    assert_ptr_equal(function, functions[0]);
    assert_int_equal(cuModuleGetFunction(&function, module, "nothing"), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(cuModuleGetFunction(&function, (CUmodule)context, "add"),
                     CUDA_ERROR_INVALID_HANDLE);
    ok(cuFuncGetAttribute(&target, CU_FUNC_ATTRIBUTE_PTX_VERSION, kernel("add")));
    assert_int_equal(target, 90); /* not the sm_75 text */
    CUmodule from_text;
    size_t bytes;
    char *text = read_data("ptx", &bytes);
    ok(cuModuleLoadData(&from_text, text));
    ok(cuModuleGetFunction(&function, from_text, "reverse"));
    ok(cuModuleUnload(from_text));
    assert_int_equal(cuModuleUnload(from_text), CUDA_ERROR_INVALID_HANDLE);
    free(text);
}

static void explains_bad_images(void **state)
{
    (void)state;
    CUmodule bad;
    size_t bytes;
    char log[256] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    const char *wrong = ".version 9.0\n.target sm_90\n.address_size 64\n.entry k( { ret; }\n";
    assert_int_equal(cuModuleLoadDataEx(&bad, wrong, 2, options, values), CUDA_ERROR_INVALID_PTX);
    assert_non_null(strstr(log, "line 4"));
    assert_int_equal((size_t)values[1], strlen(log) + 1);
    char *cubin = read_data("cubin", &bytes);
    memset(log, 0, sizeof log);
    values[1] = (void *)sizeof log;
    assert_int_equal(cuModuleLoadDataEx(&bad, cubin, 2, options, values),
                     CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert_non_null(strstr(log, "PTX"));
    free(cubin);
    values[1] = (void *)sizeof log;
    assert_int_equal(cuModuleLoadDataEx(&bad, "\001\002\003\004rubbish", 2, options, values),
                     CUDA_ERROR_INVALID_IMAGE);
    assert_int_equal(cuModuleLoadData(&bad, ".version 99.1\n.target sm_90\n.address_size 64\n"),
                     CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    /* Of a newer minor version: PTX text is refused, what has machine code beside it is not. */
    static const char newer[] = ".version 9.7\n.target sm_90\n.address_size 64\n";
    const struct {
        uint32_t magic;
        uint16_t version, header;
        uint64_t bytes;
        struct {
            uint16_t kind, version;
            uint32_t header;
            uint64_t payload;
            uint32_t compressed, unknown;
            uint16_t minor, major;
            uint32_t architecture;
            uint64_t rest[4];
        } entry;
        char text[sizeof newer];
    } container = {0xBA55ED50u,
                   1,
                   16,
                   64 + sizeof newer,
                   {1, 0x101, 64, sizeof newer, 0, 0, 7, 9, 90, {0}},
                   ".version 9.7\n.target sm_90\n.address_size 64\n"};
    assert_int_equal(cuModuleLoadData(&bad, newer), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    ok(cuModuleLoadData(&bad, &container));
    ok(cuModuleUnload(bad));
    for (size_t cut = 8; cut < fatbin_bytes; cut += fatbin_bytes / 20) {
        char *damaged = calloc(1, fatbin_bytes);
        memcpy(damaged, fatbin, cut);
        if (cuModuleLoadData(&bad, damaged) == CUDA_SUCCESS)
            ok(cuModuleUnload(bad));
        free(damaged);
    }
    assert_int_equal(cuModuleLoad(&bad, "/nonexistent/file"), CUDA_ERROR_FILE_NOT_FOUND);
    assert_int_equal(cuModuleLoadData(&bad, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* Machine code alone, with the device told to let it do nothing. */
static void skips_machine_code(void **state)
{
    (void)state;
    CUmodule code;
    CUfunction add, by_value;
    CUdeviceptr out = managed(4), address;
    size_t bytes, offset, size;
    int value = 3, n = 1;
    void *params[] = {&out, &value, &n};
    char *cubin = read_data("cubin", &bytes);
    setenv("CSAN_MACHINE_CODE", "skip", 1);
    ok(cuModuleLoadData(&code, cubin));
    unsetenv("CSAN_MACHINE_CODE");
    ok(cuModuleGetFunction(&add, code, "add"));
    ok(cuModuleGetFunction(&by_value, code, "by_value"));
    ok(cuFuncGetParamInfo(by_value, 1, &offset, &size));
    assert_int_equal(offset, 8);
    assert_int_equal(size, 24);
    ok(cuFuncGetParamInfo(by_value, 2, &offset, &size));
    assert_int_equal(offset, 32);
    assert_int_equal(cuFuncGetParamInfo(by_value, 3, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    ok(cuModuleGetGlobal(&address, &bytes, code, "table"));
    assert_int_equal(bytes, 16);
    ok(cuModuleGetGlobal(&address, &bytes, code, "counter"));
    assert_int_equal(bytes, 4);
    ok(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    ok(cuCtxSynchronize());
    assert_int_equal(*(int *)out, 0);
    ok(cuModuleUnload(code));
    ok(cuMemFree(out));
    free(cubin);
}

static void initialises_variables(void **state)
{
    (void)state;
    CUmodule fresh;
    CUfunction function;
    CUdeviceptr address, out = managed(12);
    size_t bytes;
    int value = 0;
    ok(cuModuleLoadData(&fresh, fatbin));
    ok(cuModuleGetFunction(&function, fresh, "use_variables"));
    void *params[] = {&out};
    for (int round = 1; round <= 2; round++) {
        ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
        ok(cuCtxSynchronize());
        assert_int_equal(((int *)out)[0], 5 + round);
        assert_int_equal(((int *)out)[1], 30);
        assert_int_equal(((int *)out)[2], 76 + round);
    }
    ok(cuModuleGetGlobal(&address, &bytes, fresh, "counter"));
    assert_int_equal(bytes, 4);
    ok(cuMemcpyDtoH(&value, address, 4));
    assert_int_equal(value, 7);
    value = 100;
    ok(cuMemcpyHtoD(address, &value, 4));
    ok(cuModuleGetGlobal(&address, &bytes, fresh, "table"));
    assert_int_equal(bytes, 16);
    ok(cuMemcpyHtoD(address + 8, &value, 4));
    ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ok(cuModuleGetGlobal(&address, &bytes, fresh, "managed_value"));
    ok(cuCtxSynchronize());
    assert_int_equal(((int *)out)[0], 101);
    assert_int_equal(((int *)out)[1], 100);
    assert_int_equal(*(int *)address, 80); /* the host may look */
    assert_int_equal(cuModuleGetGlobal(&address, &bytes, fresh, "add"), CUDA_ERROR_NOT_FOUND);
    ok(cuModuleUnload(fresh));
    ok(cuMemFree(out));
}

static void libraries_serve_every_context(void **state)
{
    (void)state;
    CUlibrary library;
    CUkernel add, kernels[64];
    CUfunction here, there;
    CUcontext own;
    CUmodule loaded;
    const char *name;
    unsigned count;
    size_t offset, size;
    CUdeviceptr p = managed(4);
    ok(cuLibraryLoadData(&library, fatbin, NULL, NULL, 0, NULL, NULL, 0));
    ok(cuLibraryGetKernelCount(&count, library));
    ok(cuLibraryEnumerateKernels(kernels, 64, library));
    ok(cuKernelGetName(&name, kernels[count - 1]));
    ok(cuLibraryGetKernel(&add, library, "add"));
    ok(cuKernelGetParamInfo(add, 1, &offset, &size));
    assert_int_equal(offset, 8);
    assert_int_equal(size, 4);
    assert_int_equal(cuKernelGetParamInfo(add, 3, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    ok(cuKernelGetFunction(&here, add));
    ok(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000, add, 0));
    ok(cuFuncGetAttribute((int *)&count, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, here));
    assert_int_equal(count, 100000);
    int value = 3, n = 1;
    void *params[] = {&p, &value, &n};
    ok(cuLaunchKernel((CUfunction)add, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    ok(cuCtxSynchronize());
    assert_int_equal(*(int *)p, 3);
    ok(cuCtxCreate(&own, NULL, 0, 0));
    ok(cuKernelGetFunction(&there, add));
    assert_ptr_not_equal(here, there);
    ok(cuLaunchKernel((CUfunction)add, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    assert_int_equal(cuLaunchKernel(here, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_CONTEXT);
    ok(cuCtxSynchronize());
    assert_int_equal(*(int *)p, 6);
    ok(cuCtxDestroy(own));
    ok(cuLibraryGetModule(&loaded, library));
    assert_int_equal(cuModuleUnload(loaded), CUDA_ERROR_NOT_PERMITTED);
    /* pending launches outlive the library */
    for (int i = 0; i < 10; i++)
        ok(cuLaunchKernel(here, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    ok(cuLibraryUnload(library));
    ok(cuCtxSynchronize());
    assert_int_equal(*(int *)p, 36);
    assert_int_equal(cuKernelGetFunction(&here, add), CUDA_ERROR_INVALID_HANDLE);
    ok(cuMemFree(p));
}

/* ---- Launches ------------------------------------------------------------------------------ */

static void passes_parameters(void **state)
{
    (void)state;
    struct {
        CUdeviceptr target;
        short step;
        long long scale;
    } pair = {managed(4), -3, 1000};
    char first = 7;
    double last = 2.5;
    void *params[] = {&first, &pair, &last};
    CUfunction function = kernel("by_value");
    ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ok(cuCtxSynchronize());
    assert_int_equal(*(int *)pair.target, 7 - 3000 + 2);
    char buffer[40] = {0};
    size_t bytes = sizeof buffer;
    buffer[0] = 1;
    memcpy(buffer + 8, &pair, sizeof pair);
    memcpy(buffer + 32, &last, sizeof last);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    ok(cuCtxSynchronize());
    assert_int_equal(*(int *)pair.target, 1 - 3000 + 2);
    bytes = 39;
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    ok(cuMemFree(pair.target));
}

#define HEAD ".version 7.8\n.target sm_90\n.address_size 64\n"

static const char caller[] =
    HEAD ".extern .func (.param .b32 r) seven();\n"
         ".visible .entry store(.param .u64 p)\n{\n.reg .b64 %d; .reg .b32 %r;\n"
         "{ .param .b32 v; call (v), seven; ld.param.b32 %r, [v]; }\n"
         "ld.param.u64 %d, [p]; st.global.b32 [%d], %r; ret;\n}\n";
static const char callee[] = HEAD ".visible .func (.param .b32 r) seven()\n{\n"
                                  "st.param.b32 [r], 7; ret;\n}\n";

static void add_text(CUlinkState link, const char *text)
{
    ok(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)text, strlen(text) + 1, "a text", 0, NULL,
                     NULL));
}

/* What was completed is loaded as a copy, after its owner is gone: nothing in it is an address. */
static void links_units(void **state)
{
    (void)state;
    CUlinkState link;
    CUmodule loaded;
    CUfunction store;
    void *cubin, *again;
    size_t bytes;
    ok(cuLinkCreate(0, NULL, NULL, &link));
    add_text(link, caller);
    add_text(link, callee);
    ok(cuLinkComplete(link, &cubin, &bytes));
    ok(cuLinkComplete(link, &again, NULL));
    assert_ptr_equal(cubin, again);
    void *copy = malloc(bytes);
    memcpy(copy, cubin, bytes);
    ok(cuLinkDestroy(link));
    assert_int_equal(cuLinkDestroy(link), CUDA_ERROR_INVALID_HANDLE);
    ok(cuModuleLoadData(&loaded, copy));
    free(copy);
    ok(cuModuleGetFunction(&store, loaded, "store"));
    CUdeviceptr p = managed(4);
    void *params[] = {&p};
    ok(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ok(cuCtxSynchronize());
    assert_int_equal(*(int *)p, 7);
    ok(cuMemFree(p));
    ok(cuModuleUnload(loaded));
}

static void says_what_does_not_link(void **state)
{
    (void)state;
    CUlinkState link;
    char log[200] = "";
    void *cubin;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    ok(cuLinkCreate(2, options, values, &link));
    assert_int_equal(cuLinkComplete(link, &cubin, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLinkAddData(link, CU_JIT_INPUT_PTX, HEAD ".entry {", 60, "", 0, NULL, NULL),
                     CUDA_ERROR_INVALID_PTX);
    assert_non_null(strstr(log, "PTX line 4"));
    assert_int_equal(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "no such file", 0, NULL, NULL),
                     CUDA_ERROR_FILE_NOT_FOUND);
    add_text(link, callee);
    add_text(link, callee);
    assert_int_equal(cuLinkComplete(link, &cubin, NULL), CUDA_ERROR_INVALID_PTX);
    assert_non_null(strstr(log, "seven"));
    ok(cuLinkDestroy(link));
}

/* "Each block contains the number of threads specified by a previous call to
 * cuFuncSetBlockShape()." */
static void launches_what_was_set(void **state)
{
    (void)state;
    CUfunction add = kernel("add");
    CUdeviceptr p = managed(64 * sizeof(int));
    int *values = (int *)p;
    memset(values, 0, 64 * sizeof(int));
    assert_int_equal(cuLaunch(add), CUDA_ERROR_INVALID_VALUE);
    ok(cuFuncSetBlockShape(add, 8, 1, 1));
    ok(cuFuncSetSharedSize(add, 16));
    ok(cuParamSetv(add, 0, &p, sizeof p));
    ok(cuParamSeti(add, 8, 3));
    ok(cuParamSeti(add, 12, 64));
    assert_int_equal(cuLaunch(add), CUDA_ERROR_INVALID_VALUE);
    ok(cuParamSetSize(add, 16));
    ok(cuLaunch(add));
    ok(cuLaunchGrid(add, 2, 1));
    ok(cuLaunchGridAsync(add, 3, 1, NULL));
    ok(cuCtxSynchronize());
    assert_int_equal(values[7], 9);
    assert_int_equal(values[8], 6);
    assert_int_equal(values[16], 3);
    assert_int_equal(values[24], 0);
    assert_int_equal(cuFuncSetBlockShape(add, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuParamSetv(add, 4090, values, 8), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchGrid(add, 0, 1), CUDA_ERROR_INVALID_VALUE);
    ok(cuMemFree(p));
}

static void checks_launches(void **state)
{
    (void)state;
    CUdeviceptr p = managed(4096);
    void *params[] = {&p};
    CUfunction function = kernel("reverse");
    assert_int_equal(cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1025, 1, 1, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 32, 32, 2, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(function, 1, 70000, 1, 1, 1, 1, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 50000, NULL, params, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(kernel("bounded"), 1, 1, 1, 65, 1, 1, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, (CUstream)module, params, NULL),
                     CUDA_ERROR_INVALID_HANDLE);
    ok(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
    assert_int_equal(
        cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449),
        CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < 1000; i++)
        ((int *)p)[i] = i;
    ok(cuLaunchKernel(function, 1, 1, 1, 1000, 1, 1, 232448, NULL, params, NULL));
    ok(cuCtxSynchronize());
    for (int i = 0; i < 1000; i++)
        assert_int_equal(((int *)p)[i], 999 - i);
    ok(cuMemFree(p));
}

/* Each block leaves the shape of its cluster and its own rank there. */
#define PLACE_IN_CLUSTER                                                                           \
    "{ .reg .b32 %r<8>; .reg .b64 %d<3>; ld.param.b64 %d0, [out];\n"                               \
    "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %nctaid.x;\n"                      \
    "mad.lo.u32 %r0, %r1, %r2, %r0; mad.wide.u32 %d1, %r0, 16, %d0;\n"                             \
    "mov.u32 %r3, %cluster_nctaid.x; mov.u32 %r4, %cluster_nctaid.y;\n"                            \
    "mov.u32 %r5, %cluster_nctaid.z; mov.u32 %r6, %cluster_ctarank;\n"                             \
    "st.global.v4.b32 [%d1], {%r3, %r4, %r5, %r6}; ret; }\n"
static const char cluster_code[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry clustered(.param .b64 out) .explicitcluster .reqnctapercluster 2, 2, "
    "1\n" PLACE_IN_CLUSTER ".visible .entry unclustered(.param .b64 out)\n" PLACE_IN_CLUSTER;

/* A launch that names no cluster has the one in the code, or else the attribute's. */
static void clusters_without_being_asked(void **state)
{
    (void)state;
    CUmodule clusters;
    CUfunction fixed, function;
    ok(cuModuleLoadData(&clusters, cluster_code));
    ok(cuModuleGetFunction(&fixed, clusters, "clustered"));
    ok(cuModuleGetFunction(&function, clusters, "unclustered"));
    int *out = (int *)managed(8 * 4 * sizeof(int));
    CUdeviceptr p = (CUdeviceptr)out;
    void *params[] = {&p};
    ok(cuLaunchKernel(fixed, 4, 2, 1, 32, 1, 1, 0, NULL, params, NULL));
    ok(cuCtxSynchronize());
    for (int i = 0; i < 8; i++) {
        int shape[] = {2, 2, 1, i / 4 * 2 + i % 2};
        assert_memory_equal(out + 4 * i, shape, sizeof shape);
    }
    assert_int_equal(cuLaunchKernel(fixed, 4, 1, 1, 32, 1, 1, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_CLUSTER_SIZE);
    ok(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4));
    ok(cuLaunchKernel(function, 4, 2, 1, 32, 1, 1, 0, NULL, params, NULL));
    ok(cuCtxSynchronize());
    for (int i = 0; i < 8; i++) {
        int shape[] = {4, 1, 1, i % 4};
        assert_memory_equal(out + 4 * i, shape, sizeof shape);
    }
    ok(cuModuleUnload(clusters));
    ok(cuMemFree(p));
}

static void tells_occupancy(void **state)
{
    (void)state;
    int blocks = 0, grid = 0, block = 0;
    size_t shared = 0;
    CUfunction function = kernel("add");
    ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0));
    assert_int_equal(blocks, 8);
    ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 32, 0));
    assert_int_equal(blocks, 32);
    ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 32, 100 << 10));
    assert_int_equal(blocks, 2);
    ok(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 0));
    assert_int_equal(block, 1024);
    assert_int_equal(grid, 264);
    ok(cuOccupancyAvailableDynamicSMemPerBlock(&shared, function, 2, 128));
    assert_true(shared > 100 << 10 && shared <= 113 << 10);
    ok(cuFuncGetAttribute(&block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel("bounded")));
    assert_int_equal(block, 64);
}

/* Two streams, kernels and copies, ordered by events: one result under every schedule. */
static void ordered_kernels_agree(void **state)
{
    (void)state;
    enum { N = 300, ROUNDS = 12 };
    static int host[N];
    CUdeviceptr p;
    CUstream a, b;
    CUevent there, back;
    int expected = 1;
    ok(cuMemAlloc(&p, sizeof host));
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    ok(cuEventCreate(&there, 0));
    ok(cuEventCreate(&back, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < N; i++)
        host[i] = 1;
    ok(cuMemcpyHtoDAsync(p, host, sizeof host, a));
    for (int round = 0; round < ROUNDS; round++) {
        ok(launch_on(a, "add", p, round, N));
        ok(cuEventRecord(there, a));
        ok(cuStreamWaitEvent(b, there, 0));
        ok(launch_on(b, "multiply", p, 3, N));
        ok(cuEventRecord(back, b));
        ok(cuStreamWaitEvent(a, back, 0));
        expected = (expected + round) * 3;
    }
    ok(cuMemcpyDtoHAsync(host, p, sizeof host, a));
    ok(cuStreamSynchronize(a));
    for (int i = 0; i < N; i++)
        assert_int_equal(host[i], expected);
    ok(cuEventDestroy(there));
    ok(cuEventDestroy(back));
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
    ok(cuMemFree(p));
}

/* The same program without its events: under random it really goes wrong, in different ways. */
static void racy_kernels_disagree(void **state)
{
    (void)state;
    CUdeviceptr p = managed(4);
    CUstream a, b;
    bool seen[64] = {false};
    int distinct = 0;
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    for (int round = 0; round < 40; round++) {
        *(int *)p = 1;
        ok(launch_on(a, "add", p, 2, 1));
        ok(launch_on(b, "multiply", p, 3, 1));
        ok(launch_on(a, "add", p, 1, 1));
        ok(cuCtxSynchronize());
        int value = *(int *)p;
        assert_in_range(value, 1, 63);
        distinct += !seen[value];
        seen[value] = true;
    }
    /* (1+2)*3+1, (1+2+1)*3, 1*3+2+1 when kernels do not overlap */
    if (is_random())
        assert_true(distinct >= 3);
    else
        assert_int_equal(distinct, 1);
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
    ok(cuMemFree(p));
}

/* Kernels of two streams run at the same time: unprotected counts get lost under random. */
static void concurrent_kernels_interleave(void **state)
{
    (void)state;
    enum { COUNTS = 300 };
    CUdeviceptr p = managed(4);
    CUstream a, b;
    int rounds = COUNTS, lost = 0;
    void *params[] = {&p, &rounds};
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    for (int round = 0; round < 10; round++) {
        *(int *)p = 0;
        ok(cuLaunchKernel(kernel("count_up"), 1, 1, 1, 1, 1, 1, 0, a, params, NULL));
        ok(cuLaunchKernel(kernel("count_up"), 1, 1, 1, 1, 1, 1, 0, b, params, NULL));
        ok(cuCtxSynchronize());
        assert_in_range(*(int *)p, 2, 2 * COUNTS);
        lost += *(int *)p != 2 * COUNTS;
    }
    if (is_random())
        assert_true(lost > 0);
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
    ok(cuMemFree(p));
}

static void CUDA_CB raise_flag(void *flag)
{
    atomic_store((atomic_int *)flag, 5);
}

/* A kernel that waits for another kernel, for a host function, for the host itself. */
static void spinning_kernels_let_others_run(void **state)
{
    (void)state;
    CUdeviceptr flag = managed(4), result = managed(4);
    CUstream a, b;
    int value = 3;
    void *wait[] = {&flag, &value, &result}, *set[] = {&flag, &value};
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    ok(cuLaunchKernel(kernel("wait_for"), 1, 1, 1, 1, 1, 1, 0, a, wait, NULL));
    assert_int_equal(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
    ok(cuLaunchKernel(kernel("set_flag"), 1, 1, 1, 1, 1, 1, 0, b, set, NULL));
    ok(cuStreamSynchronize(a));
    assert_int_equal(*(int *)result, 3);
    value = 5;
    ok(cuLaunchKernel(kernel("wait_for"), 1, 1, 1, 1, 1, 1, 0, a, wait, NULL));
    ok(cuLaunchHostFunc(b, raise_flag, (void *)flag));
    ok(cuStreamSynchronize(a));
    assert_int_equal(*(int *)result, 5);
    value = 8;
    ok(cuLaunchKernel(kernel("wait_for"), 1, 1, 1, 1, 1, 1, 0, a, wait, NULL));
    atomic_store((atomic_int *)flag, 8);
    ok(cuStreamSynchronize(a));
    assert_int_equal(*(int *)result, 8);
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
    ok(cuMemFree(flag));
    ok(cuMemFree(result));
}

static void cooperative_grids_meet(void **state)
{
    (void)state;
    enum { BLOCKS = 9 };
    CUdeviceptr sum = managed(4), out = managed(4 * BLOCKS);
    void *params[] = {&sum, &out};
    CUfunction function = kernel("sum_over_grid");
    ok(cuLaunchCooperativeKernel(function, BLOCKS, 1, 1, 64, 1, 1, 0, NULL, params));
    ok(cuCtxSynchronize());
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(((int *)out)[i], BLOCKS * (BLOCKS + 1) / 2);
    assert_int_equal(*(int *)sum, BLOCKS * (BLOCKS + 1) / 2 + BLOCKS);
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    CUlaunchConfig config = {.gridDimX = BLOCKS,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 32,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};
    *(int *)sum = 0;
    ok(cuLaunchKernelEx(&config, function, params, NULL));
    ok(cuCtxSynchronize());
    assert_int_equal(((int *)out)[BLOCKS - 1], BLOCKS * (BLOCKS + 1) / 2);
    assert_int_equal(cuLaunchCooperativeKernel(function, 5000, 1, 1, 1024, 1, 1, 0, NULL, params),
                     CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    ok(cuMemFree(sum));
    ok(cuMemFree(out));
}

static void launches_record_events(void **state)
{
    (void)state;
    CUevent event;
    CUdeviceptr p = managed(4);
    int value = 1, n = 1;
    void *params[] = {&p, &value, &n};
    ok(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
                                   .value.launchCompletionEvent = {event, 0}};
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 32,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};
    ok(cuLaunchKernelEx(&config, kernel("add"), params, NULL));
    ok(cuEventSynchronize(event));
    ok(cuCtxSynchronize());
    assert_int_equal(*(int *)p, 1);
    ok(cuEventDestroy(event));
    ok(cuMemFree(p));
}

static void *launch_and_check(void *failures)
{
    CUstream stream;
    CUdeviceptr p;
    CUfunction add;
    int seen[100], value = 1, n = 100;
    void *params[] = {&p, &value, &n};
    int bad = cuCtxSetCurrent(context) != CUDA_SUCCESS;
    bad += cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS;
    bad += cuModuleGetFunction(&add, module, "add") != CUDA_SUCCESS;
    for (int round = 0; round < 10; round++) {
        bad += cuMemAllocAsync(&p, sizeof seen, stream) != CUDA_SUCCESS;
        bad += cuMemsetD32Async(p, 0, 100, stream) != CUDA_SUCCESS;
        for (int i = 0; i < 5; i++)
            bad += cuLaunchKernel(add, 2, 1, 1, 64, 1, 1, 0, stream, params, NULL) != CUDA_SUCCESS;
        bad += cuMemcpyDtoHAsync(seen, p, sizeof seen, stream) != CUDA_SUCCESS;
        bad += cuMemFreeAsync(p, stream) != CUDA_SUCCESS;
        bad += cuStreamSynchronize(stream) != CUDA_SUCCESS;
        for (int i = 0; i < 100; i++)
            bad += seen[i] != 5;
    }
    bad += cuStreamDestroy(stream) != CUDA_SUCCESS;
    atomic_fetch_add((atomic_int *)failures, bad);
    return NULL;
}

static void many_threads_launch(void **state)
{
    (void)state;
    pthread_t threads[8];
    atomic_int failures = 0;
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_and_check, &failures), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(failures, 0);
}

/* ---- Faults -------------------------------------------------------------------------------- */

/* In a context of its own: the error sticks to it, and only to it. */
static void expect_fault(const char *name, void **params, CUresult expected)
{
    CUcontext own;
    CUmodule loaded;
    CUfunction function;
    CUdeviceptr memory;
    CUstream stream;
    ok(cuCtxCreate(&own, NULL, 0, 0));
    ok(cuModuleLoadData(&loaded, fatbin));
    ok(cuModuleGetFunction(&function, loaded, name));
    ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL); /* never runs */
    assert_int_equal(cuStreamSynchronize(stream), expected);
    assert_int_equal(cuMemAlloc(&memory, 16), expected);
    assert_int_equal(cuStreamQuery(NULL), expected);
    assert_int_equal(cuCtxSynchronize(), expected);
    ok(cuCtxDestroy(own));
    ok(cuCtxSynchronize()); /* the primary context is well */
}

static void faults_stick(void **state)
{
    (void)state;
    CUdeviceptr p = managed(64), none = 0, freed;
    long long offset = 1ll << 40, zero = 0, middle = 1 << 17;
    void *far[] = {&p, &offset}, *null[] = {&none, &zero}, *odd[] = {&p},
         *dead[] = {&freed, &middle};
    int on_the_stack = 0;
    CUdeviceptr pageable = (CUdeviceptr)&on_the_stack;
    void *host[] = {&pageable, &zero};
    expect_fault("bad_address", far, CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_fault("bad_address", null, CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_fault("bad_address", host, CUDA_ERROR_ILLEGAL_ADDRESS);
    ok(cuMemAlloc(&freed, 1 << 20));
    ok(cuMemFree(freed));
    expect_fault("bad_address", dead, CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_fault("misaligned", odd, CUDA_ERROR_MISALIGNED_ADDRESS);
    expect_fault("traps", NULL, CUDA_ERROR_LAUNCH_FAILED);
    expect_fault("asserts", odd, CUDA_ERROR_ASSERT);
    ok(cuMemFree(p));
}

/* ---- Traces -------------------------------------------------------------------------------- */

struct seen {
    uint64_t id, read, written;
    int calls;
};

static void note_launch(void *user, const struct device_trace_launch *launch)
{
    struct seen *seen = user;
    seen->calls++;
    seen->id = launch->id;
    for (size_t i = 0; i < launch->count; i++) {
        const struct device_trace_range *range = &launch->ranges[i];
        uint64_t bytes = range->bytes;
        for (uint32_t k = 0; k < range->dims; k++)
            bytes *= range->count[k];
        if (range->kind == DEVICE_TRACE_READ)
            seen->read += bytes;
        else
            seen->written += bytes;
    }
}

static void traces_what_launches_touch(void **state)
{
    (void)state;
    CUdeviceptr p = managed(4000);
    struct seen seen = {0};
    ok(launch_on(NULL, "add", p, 1, 10));
    ok(cuCtxSynchronize());
    device_trace_subscribe(note_launch, &seen);
    ok(launch_on(NULL, "add", p, 1, 100));
    uint64_t id = device_trace_last_launch();
    ok(cuCtxSynchronize());
    device_trace_subscribe(NULL, NULL);
    ok(launch_on(NULL, "add", p, 1, 10));
    ok(cuCtxSynchronize());
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.id, id);
    assert_int_equal(seen.read, 400);
    assert_int_equal(seen.written, 400);
    assert_true(device_trace_last_launch() > id);
    ok(cuMemFree(p));
}

/* Launches behind one that fails never run: the observer hears of each all the same. */
static void traces_launches_that_never_ran(void **state)
{
    (void)state;
    CUcontext own;
    CUmodule loaded;
    CUfunction function;
    struct seen seen = {0};
    ok(cuCtxCreate(&own, NULL, 0, 0));
    ok(cuModuleLoadData(&loaded, fatbin));
    ok(cuModuleGetFunction(&function, loaded, "traps"));
    device_trace_subscribe(note_launch, &seen);
    int launched = 0;
    for (int i = 0; i < 5; i++)
        launched += cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS;
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    assert_int_equal(seen.calls, launched);
    device_trace_subscribe(NULL, NULL);
    ok(cuCtxDestroy(own));
}

int main(int count, char **arguments)
{
    (void)count;
    schedule = test_schedule();
    if (!schedule)
        return test_under_each_schedule(arguments);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_an_image_holds),
        cmocka_unit_test(explains_bad_images),
        cmocka_unit_test(skips_machine_code),
        cmocka_unit_test(initialises_variables),
        cmocka_unit_test(libraries_serve_every_context),
        cmocka_unit_test(passes_parameters),
        cmocka_unit_test(links_units),
        cmocka_unit_test(says_what_does_not_link),
        cmocka_unit_test(launches_what_was_set),
        cmocka_unit_test(checks_launches),
        cmocka_unit_test(clusters_without_being_asked),
        cmocka_unit_test(tells_occupancy),
        cmocka_unit_test(ordered_kernels_agree),
        cmocka_unit_test(racy_kernels_disagree),
        cmocka_unit_test(concurrent_kernels_interleave),
        cmocka_unit_test(spinning_kernels_let_others_run),
        cmocka_unit_test(cooperative_grids_meet),
        cmocka_unit_test(launches_record_events),
        cmocka_unit_test(many_threads_launch),
        cmocka_unit_test(faults_stick),
        cmocka_unit_test(traces_what_launches_touch),
        cmocka_unit_test(traces_launches_that_never_ran),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
