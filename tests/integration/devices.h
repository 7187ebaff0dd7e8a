// Two devices. Where there is one the program says that it is done.
#pragma once

#include "program.h"

static inline void on(int device)
{
    CHECK(cudaSetDevice(device));
}

// Both may touch each other's memory from now on; the first one is current.
static inline void two_devices()
{
    int count = 0, can = 0;
    CHECK(cudaGetDeviceCount(&count));
    if (count > 1)
        CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
    if (!can) {
        printf("done\n");
        exit(0);
    }
    on(1);
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    on(0);
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
}

static inline cudaStream_t stream_on(int device)
{
    on(device);
    cudaStream_t stream = nonblocking_stream();
    on(0);
    return stream;
}

static inline int *array_on(int device)
{
    on(device);
    int *p = device_array<int>();
    on(0);
    return p;
}

// A launch belongs to the device of its stream, which must be current.
static inline void fill_on(int device, cudaStream_t stream, int *p)
{
    on(device);
    launch_fill(stream, p);
    on(0);
}

static inline void increment_on(int device, cudaStream_t stream, int *p)
{
    on(device);
    launch_increment(stream, p);
    on(0);
}

static inline int finish_both()
{
    on(1);
    CHECK(cudaDeviceSynchronize());
    on(0);
    return finish();
}
