/* The embedded device with kernels: images, modules, libraries, linking. */
#include "tests/unit/device/test_device_kernel.h"

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
    /* Of the driver's own version, CUDA 13.5. */
    ok(cuModuleLoadData(&bad, ".version 9.5\n.target sm_90\n.address_size 64\n"));
    ok(cuModuleUnload(bad));
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

/* Machine code alone, with an option that lets it do nothing. */
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_what_an_image_holds),
    cmocka_unit_test(explains_bad_images),
    cmocka_unit_test(skips_machine_code),
    cmocka_unit_test(initialises_variables),
    cmocka_unit_test(libraries_serve_every_context),
    cmocka_unit_test(links_units),
    cmocka_unit_test(says_what_does_not_link),
};

TEST_MAIN(tests, start, finish)
