/* The properties of a device: struct cudaDeviceProp, in the form of this library's CUDA version.
 * CUDA Runtime API, "Device Management". */
#include "runtime/device/cudart/runtime.h"

#include <string.h>

#if CUDART_MAJOR == 12
#define IN_12(type, name, attribute) ONE(type, name, attribute)
#define IN_13(type, name, attribute)
#else
#define IN_12(type, name, attribute)
#define IN_13(type, name, attribute) ONE(type, name, attribute)
#endif

/* The struct. The headers have it for one of the versions only. */
struct properties {
#define ONE(type, name, attribute)    type name;
#define TWO(type, name, first, ...)   type name[2];
#define THREE(type, name, first, ...) type name[3];
#define OTHER(type, name, array)      type name array;
#include "runtime/device/cudart/properties.def"
#undef ONE
#undef TWO
#undef THREE
#undef OTHER
};

#if CUDART_MAJOR == 13
#define SAME_PLACE(name)                                                                           \
    _Static_assert(offsetof(struct properties, name) == offsetof(struct cudaDeviceProp, name),     \
                   "properties.def has the order of struct cudaDeviceProp: " #name);
#define ONE(type, name, attribute)    SAME_PLACE(name)
#define TWO(type, name, first, ...)   SAME_PLACE(name)
#define THREE(type, name, first, ...) SAME_PLACE(name)
#define OTHER(type, name, array)
#include "runtime/device/cudart/properties.def"
#undef ONE
#undef TWO
#undef THREE
#undef OTHER
_Static_assert(sizeof(struct properties) == sizeof(struct cudaDeviceProp),
               "properties.def has all members of struct cudaDeviceProp");
#endif

/* Each number and its attribute. */
#define PLACE(name)     offsetof(struct properties, name), sizeof(((struct properties *)0)->name)
#define ATTRIBUTE(name) CU_DEVICE_ATTRIBUTE_##name
static const struct {
    size_t offset, bytes;
    CUdevice_attribute attribute;
} members[] = {
#define ONE(type, name, attribute) {PLACE(name), ATTRIBUTE(attribute)},
#define TWO(type, name, first, second)                                                             \
    {PLACE(name[0]), ATTRIBUTE(first)}, {PLACE(name[1]), ATTRIBUTE(second)},
#define THREE(type, name, first, second, third)                                                    \
    {PLACE(name[0]), ATTRIBUTE(first)}, {PLACE(name[1]), ATTRIBUTE(second)},                       \
        {PLACE(name[2]), ATTRIBUTE(third)},
#define OTHER(type, name, array)
#include "runtime/device/cudart/properties.def"
};

/* An attribute the driver does not know leaves its member 0. */
static void fill_members(struct properties *properties, CUdevice device)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        int value = 0;
        if (driver.cuDeviceGetAttribute[0](&value, members[i].attribute, device) != CUDA_SUCCESS)
            continue;
        size_t wide = (size_t)value;
        memcpy((char *)properties + members[i].offset,
               members[i].bytes == sizeof wide ? (void *)&wide : (void *)&value, members[i].bytes);
    }
}

/* The first `bytes` of the properties of a device. */
static cudaError_t describe(void *target, size_t bytes, int ordinal)
{
    struct properties properties = {0};
    CUdevice device;
    cudaError_t error = runtime_start();
    if (error != cudaSuccess)
        return error;
    if (!target)
        return error_record(cudaErrorInvalidValue);
    if (driver.cuDeviceGet[0](&device, ordinal) != CUDA_SUCCESS)
        return error_record(cudaErrorInvalidDevice);
    fill_members(&properties, device);
    driver.cuDeviceGetUuid[0](&properties.uuid, device);
    driver.cuDeviceGetLuid[0](properties.luid, &properties.luidDeviceNodeMask, device);
    driver.cuDeviceTotalMem[0](&properties.totalGlobalMem, device);
    CUresult result = driver.cuDeviceGetName[0](properties.name, sizeof properties.name, device);
    memcpy(target, &properties, bytes);
    return error_from(result);
}

API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int ordinal)
{
    return describe(properties, sizeof(struct properties), ordinal);
}

#if CUDART_MAJOR == 12
/* Under this name CUDA 12's library gives the struct of CUDA 11, which is the beginning of its own.
 */
API cudaError_t properties_of_11(void *properties, int ordinal) __asm__("cudaGetDeviceProperties");
API cudaError_t properties_of_11(void *properties, int ordinal)
{
    return describe(properties, offsetof(struct properties, hostRegisterSupported), ordinal);
}
#endif
