/* Native kernels: how they are made, and what they may touch. See native.h. */
#include "runtime/device/driver/native_launch.h"
#include "runtime/device/module/image.h"
#include "runtime/device/module/module.h"

#include <stdio.h>

/* PTX whose one kernel does nothing: the driver's tables know it as any other. */
static struct code *make_code(const char *name, CUresult *result)
{
    char text[512];
    bool shell;
    struct image_log log = {0};
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_80\n.address_size 64\n"
             ".visible .entry %s(.param .align 16 .b8 job[%d])\n{ ret; }\n",
             name, DEVICE_NATIVE_JOB_BYTES);
    struct ptx_module *ptx = image_load(text, &log, &shell, result);
    struct code *code = ptx ? code_create(ptx, false) : NULL;
    if (ptx && !code)
        *result = CUDA_ERROR_OUT_OF_MEMORY;
    return code;
}

__attribute__((visibility("default"))) int
device_native_kernel(const char *name, device_native_run *run, bool traced, void **kernel)
{
    CUresult result = CUDA_SUCCESS;
    struct code *code = make_code(name, &result);
    if (!code)
        return (int)result;
    result = device_enter();
    if (result == CUDA_SUCCESS) {
        struct CUkern_st *made = NULL;
        result = library_add_native(code, &made);
        if (made)
            made->native = (struct native_kernel){run, traced};
        *kernel = made;
        result = device_leave(result);
    }
    code_release(code);
    return (int)result;
}

static void *fail(struct device_native *native, uint64_t address, uint64_t bytes,
                  enum device_native_access access)
{
    if (!native->failed) {
        native->failed = true;
        native->address = address;
        native->bytes = bytes;
        native->access = access;
    }
    return NULL;
}

static void *access_region(struct device_native *native, const struct exec_region *region,
                           uint64_t address, uint64_t bytes, enum device_native_access access)
{
    if (address < region->base || address > region->limit || bytes > region->limit - address ||
        (access == DEVICE_NATIVE_WRITE && !region->writable))
        return fail(native, address, bytes, access);
    if (native->touch) {
        touch_bound(native->touch, region->base, region->limit);
        touch_record(native->touch,
                     access == DEVICE_NATIVE_WRITE ? DEVICE_TRACE_WRITE : DEVICE_TRACE_READ,
                     address, bytes);
    }
    return (void *)(address + (uint64_t)region->delta);
}

__attribute__((visibility("default"))) void *device_native_memory(struct device_native *native,
                                                                  uint64_t address, uint64_t bytes,
                                                                  enum device_native_access access)
{
    return device_native_runs(native, address, bytes, 1, 0, access);
}

__attribute__((visibility("default"))) void *device_native_runs(struct device_native *native,
                                                                uint64_t address, uint64_t bytes,
                                                                uint64_t count, int64_t stride,
                                                                enum device_native_access access)
{
    struct exec_region region;
    void *first = NULL;
    if (!bytes || !count)
        return &device; /* nobody touches it */
    if (!launch_find_region(NULL, address, &region))
        return fail(native, address, bytes, access);
    for (uint64_t i = 0; i < count; i++) {
        void *place = access_region(native, &region, address + i * (uint64_t)stride, bytes, access);
        if (!place)
            return NULL;
        if (!i)
            first = place;
    }
    return first;
}
