// Virtual memory: physical memory that is mapped into reserved addresses.
#pragma once

#include "value.h"

struct space {
    CUmemAllocationProp properties;
    size_t unit; // bytes, of everything

    space()
    {
        properties = {};
        CHECK(cudaFree(nullptr)); // a context
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        DRIVER_CHECK(
            cuMemGetAllocationGranularity(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    }

    CUdeviceptr reserve(size_t units = 1)
    {
        CUdeviceptr base = 0;
        DRIVER_CHECK(cuMemAddressReserve(&base, units * unit, 0, 0, 0));
        return base;
    }

    CUmemGenericAllocationHandle create()
    {
        CUmemGenericAllocationHandle handle = 0;
        DRIVER_CHECK(cuMemCreate(&handle, unit, &properties, 0));
        return handle;
    }

    int *map(CUdeviceptr base, CUmemGenericAllocationHandle handle)
    {
        CUmemAccessDesc access = {};
        access.location = properties.location;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        DRIVER_CHECK(cuMemMap(base, unit, 0, handle, 0));
        DRIVER_CHECK(cuMemSetAccess(base, unit, &access, 1));
        return (int *)base;
    }
};
