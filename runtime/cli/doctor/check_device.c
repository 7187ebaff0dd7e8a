/* Devices: the NVIDIA driver's, and the embedded one. See check.h. */
#include "runtime/cli/device_file.h"
#include "runtime/cli/doctor/check.h"

#include <cuda.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 60, DEVICES_SHOWN = 4, WORD = 42 };

/* What a driver says of itself. */
struct device_answer {
    bool loaded, functions, ran;
    int result, version, count;
    char error[64], why[256];
    char devices[DEVICES_SHOWN][96];
};

/* A function of the driver, by the name that cuda.h gives it in the program: cuMemAlloc is
 * cuMemAlloc_v2. */
#define NAME(function) #function
#define FUNCTION(driver, function)                                                                 \
    ((__typeof__(function) *)(uintptr_t)dlsym(driver, NAME(function)))

/* CUDA Driver API, "Error Handling". */
static void name_error(void *driver, struct device_answer *answer)
{
    __typeof__(cuGetErrorName) *name_of = FUNCTION(driver, cuGetErrorName);
    const char *name = NULL;
    if (name_of && name_of((CUresult)answer->result, &name) == CUDA_SUCCESS && name)
        snprintf(answer->error, sizeof answer->error, "%s", name);
}

/* "NVIDIA H100 PCIe, compute capability 9.0" */
static void name_devices(void *driver, struct device_answer *answer)
{
    __typeof__(cuDeviceGetName) *name_of = FUNCTION(driver, cuDeviceGetName);
    __typeof__(cuDeviceGetAttribute) *attribute = FUNCTION(driver, cuDeviceGetAttribute);
    for (int i = 0; name_of && attribute && i < answer->count && i < DEVICES_SHOWN; i++) {
        char name[64] = "";
        int major = 0, minor = 0;
        name_of(name, sizeof name, i);
        attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, i);
        attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, i);
        snprintf(answer->devices[i], sizeof answer->devices[i], "%s, compute capability %d.%d",
                 name, major, minor);
    }
}

static void ask_driver(void *driver, struct device_answer *answer)
{
    __typeof__(cuInit) *init = FUNCTION(driver, cuInit);
    __typeof__(cuDriverGetVersion) *version = FUNCTION(driver, cuDriverGetVersion);
    __typeof__(cuDeviceGetCount) *count = FUNCTION(driver, cuDeviceGetCount);
    answer->functions = init && version && count;
    if (!answer->functions)
        return;
    version(&answer->version);
    answer->result = (int)init(0);
    if (answer->result == 0)
        answer->result = (int)count(&answer->count);
    if (answer->result)
        name_error(driver, answer);
    else
        name_devices(driver, answer);
}

static void ask_nvidia(void *to, const struct doctor *doctor)
{
    struct device_answer *answer = to;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    (void)doctor;
    answer->loaded = driver != NULL;
    if (driver)
        ask_driver(driver, answer);
    else
        snprintf(answer->why, sizeof answer->why, "%s", dlerror());
}

static void found_devices(struct check *check, const struct device_answer *answer)
{
    size_t at = 0;
    check_found(check, "CUDA %d.%d, %d GPU%s", answer->version / 1000, answer->version % 1000 / 10,
                answer->count, answer->count == 1 ? "" : "s");
    for (int i = 0; i < answer->count && i < DEVICES_SHOWN; i++) {
        at = strlen(check->found);
        snprintf(check->found + at, sizeof check->found - at, "%s%s", i ? "; " : ": ",
                 answer->devices[i]);
    }
}

static const char no_gpu[] = "programs run on the embedded device";

void check_driver(struct check *check, const struct doctor *doctor)
{
    struct device_answer answer = {0};
    const char *file = device_file();
    if (!check_ask(ask_nvidia, doctor, &answer, sizeof answer, SECONDS)) {
        check_found(check, "libcuda.so.1 did not answer");
        check_lacks(check, CHECK_BROKEN, no_gpu,
                    "run nvidia-smi; if that hangs too, restart the machine or the driver");
    } else if (!answer.loaded && file) {
        check_found(check, "there is %s, but libcuda.so.1 cannot be loaded: %s", file, answer.why);
        check_lacks(check, CHECK_BROKEN, no_gpu,
                    "install the driver's libcuda.so.1 (in a container: run it with --gpus all)");
    } else if (!answer.loaded) {
        check_found(check, "no NVIDIA driver");
        check_lacks(check, CHECK_ABSENT, no_gpu, "nothing, where there is no GPU");
    } else if (!answer.functions) {
        check_found(check, "libcuda.so.1 is no driver: it lacks cuInit or cuDeviceGetCount");
        check_lacks(check, CHECK_BROKEN, no_gpu, "set LD_LIBRARY_PATH to the driver's folder");
    } else if (answer.result || !answer.count) {
        check_found(check, "CUDA %d.%d, and no GPU to use (error %d%s%s)", answer.version / 1000,
                    answer.version % 1000 / 10, answer.result, answer.error[0] ? ", " : "",
                    answer.error);
        check_lacks(check, file ? CHECK_BROKEN : CHECK_ABSENT, no_gpu,
                    "run nvidia-smi, and look at CUDA_VISIBLE_DEVICES");
    } else {
        found_devices(check, &answer);
    }
}

/* ---- The embedded device ---- */

static const char store[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                            ".visible .entry store(.param .u64 out)\n{\n"
                            ".reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n"
                            "ld.param.u64 %rd1, [out];\nmov.u32 %r1, 42;\n"
                            "st.global.u32 [%rd1], %r1;\nret;\n}\n";

/* Runs a kernel that stores a word. */
static CUresult run_kernel(void *driver, uint32_t *word)
{
    CUcontext context = NULL;
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr memory = 0;
    void *parameters[] = {&memory};
    __typeof__(cuDevicePrimaryCtxRetain) *retain = FUNCTION(driver, cuDevicePrimaryCtxRetain);
    __typeof__(cuCtxSetCurrent) *set = FUNCTION(driver, cuCtxSetCurrent);
    __typeof__(cuModuleLoadData) *load = FUNCTION(driver, cuModuleLoadData);
    __typeof__(cuModuleGetFunction) *get = FUNCTION(driver, cuModuleGetFunction);
    __typeof__(cuMemAlloc) *allocate = FUNCTION(driver, cuMemAlloc);
    __typeof__(cuLaunchKernel) *launch = FUNCTION(driver, cuLaunchKernel);
    __typeof__(cuMemcpyDtoH) *copy = FUNCTION(driver, cuMemcpyDtoH);
    CUresult result = CUDA_ERROR_NOT_FOUND;
    if (!retain || !set || !load || !get || !allocate || !launch || !copy)
        return result;
    (void)((result = retain(&context, 0)) || (result = set(context)) ||
           (result = load(&module, store)) || (result = get(&function, module, "store")) ||
           (result = allocate(&memory, sizeof *word)) ||
           (result = launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL)) ||
           (result = copy(word, memory, sizeof *word)));
    return result;
}

static void ask_embedded(void *to, const struct doctor *doctor)
{
    struct device_answer *answer = to;
    char path[PATH_MAX];
    uint32_t word = 0;
    snprintf(path, sizeof path, "%s/csan/embedded/libcuda.so.1", doctor->lib);
    void *driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    answer->loaded = driver != NULL;
    if (!driver) {
        snprintf(answer->why, sizeof answer->why, "%s", dlerror());
        return;
    }
    ask_driver(driver, answer);
    if (answer->functions && answer->result == 0)
        answer->result = (int)run_kernel(driver, &word);
    answer->ran = answer->result == 0 && word == WORD;
    const char *(*trouble)(void) =
        (const char *(*)(void))(uintptr_t)dlsym(driver, "device_compile_trouble");
    const char *why = trouble ? trouble() : NULL;
    snprintf(answer->why, sizeof answer->why, "%s", why ? why : "");
}

void check_embedded(struct check *check, const struct doctor *doctor)
{
    static const char without[] = "programs need a GPU";
    struct device_answer answer = {0};
    const bool answered = check_ask(ask_embedded, doctor, &answer, sizeof answer, SECONDS);
    if (answered && answer.ran) {
        check_found(check, "CUDA %d.%d; a kernel ran on it; kernels %s%s", answer.version / 1000,
                    answer.version % 1000 / 10,
                    *answer.why ? "are interpreted: " : "that run for long become machine code",
                    answer.why);
    } else if (answered && !answer.loaded) {
        check_found(check, "it cannot be loaded: %s", answer.why);
        check_lacks(check, CHECK_BROKEN, without, "install csan again");
    } else {
        check_found(check, "a kernel did not run on it (error %d)", answer.result);
        check_lacks(check, CHECK_BROKEN, without,
                    "look at the variables CSAN_DEVICES and CSAN_DEVICE_MEMORY, and at ulimit -v");
    }
}
