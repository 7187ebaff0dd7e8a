// Managed memory that is moved.
#pragma once

#include "program.h"

static int *managed()
{
    int *p = nullptr;
    CHECK(cudaMallocManaged((void **)&p, BYTES));
    return p;
}

static cudaMemLocation first_device()
{
    cudaMemLocation location = {};
    location.type = cudaMemLocationTypeDevice;
    return location;
}
