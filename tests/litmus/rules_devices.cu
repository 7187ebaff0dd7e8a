// Two devices: A on the second, B on the first, unless said otherwise. What both touch is in pinned
// memory, which both reach.
#include "litmus.h"

static void on(struct trial &trial, int device)
{
    check(trial, cudaSetDevice(device), "cudaSetDevice");
}

// A goes into a stream of the second device.
static void first_there(struct trial &trial, cudaStream_t stream)
{
    use_word(trial, trial.pinned);
    on(trial, 1);
    first(trial, stream);
    on(trial, 0);
}

static const char *const synchronization = "Runtime API, API synchronization behavior";
static const char *const peer = "Runtime API, cudaMemcpyPeer";
static const char *const devices = "Programming Guide, Multi-Device System";
enum { SMALL = 64, MIDDLE = 64 << 10, LARGE = COPY_MAX };

template <size_t BYTES> static void peer_copy(struct trial &trial)
{
    TRY(cudaMemcpyPeer(trial.device, 0, trial.device_there, 1, BYTES));
}

template <size_t BYTES> static void peer_copy_out(struct trial &trial)
{
    TRY(cudaMemcpyPeer(trial.device_there, 1, trial.device, 0, BYTES));
}

template <size_t BYTES> static void default_copy(struct trial &trial)
{
    TRY(cudaMemcpy(trial.device, trial.device_there, BYTES, cudaMemcpyDefault));
}

template <size_t BYTES> static void peer_copy_async(struct trial &trial)
{
    TRY(cudaMemcpyPeerAsync(trial.device, 0, trial.device_there, 1, BYTES, trial.a));
}

typedef void (*call_function)(struct trial &trial);

// The copy is made with the first device current; A is on the second.
template <call_function CALL> static void copy_after_blocking(struct trial &trial)
{
    first_there(trial, trial.there_blocking);
    CALL(trial);
    second(trial, trial.b);
}
template <call_function CALL> static void copy_after_non_blocking(struct trial &trial)
{
    first_there(trial, trial.there);
    CALL(trial);
    second(trial, trial.b);
}
// A on the first device, which the copy touches too.
template <call_function CALL> static void copy_after_here(struct trial &trial)
{
    first(trial, trial.a);
    CALL(trial);
    second(trial, trial.b);
}
// Both in streams that are ordered with the legacy one of their device, as the copy is.
template <call_function CALL> static void copy_between_blocking(struct trial &trial)
{
    first_there(trial, trial.there_blocking);
    CALL(trial);
    second(trial, trial.blocking);
}
template <call_function CALL> static void copy_between_legacy(struct trial &trial)
{
    first_there(trial, cudaStreamLegacy);
    CALL(trial);
    second(trial, cudaStreamLegacy);
}
// A on the first device, B on the second, behind the copy.
static void second_there(struct trial &trial, cudaStream_t stream)
{
    use_seen(trial, trial.pinned_seen);
    on(trial, 1);
    second(trial, stream);
    on(trial, 0);
}
template <call_function CALL> static void copy_then_there_blocking(struct trial &trial)
{
    use_word(trial, trial.pinned);
    first(trial, trial.blocking);
    CALL(trial);
    second_there(trial, trial.there_blocking);
}
template <call_function CALL> static void copy_then_there(struct trial &trial)
{
    use_word(trial, trial.pinned);
    first(trial, trial.a);
    CALL(trial);
    second_there(trial, trial.there);
}

// From here on the devices reach each other's memory directly, where they can.
template <call_function COPY> static void with_access(struct trial &trial)
{
    int can = 0;
    TRY(cudaDeviceCanAccessPeer(&can, 0, 1));
    if (!can) {
        skip(trial, "no peer access");
        return;
    }
    for (int device = 0; device < 2; device++) {
        on(trial, device);
        cudaError_t error = cudaDeviceEnablePeerAccess(1 - device, 0);
        if (error != cudaSuccess && error != cudaErrorPeerAccessAlreadyEnabled)
            check(trial, error, "cudaDeviceEnablePeerAccess");
        cudaGetLastError();
    }
    on(trial, 0);
    COPY(trial);
}

// clang-format off
static const struct rule table[] = {
    {"event of the second device, waited for on the first", PROMISED, devices,
     [](struct trial &trial) {
         first_there(trial, trial.there);
         TRY(cudaEventRecord(trial.event_there, trial.there));
         TRY(cudaStreamWaitEvent(trial.b, trial.event_there, 0));
         second(trial, trial.b);
     }, 2},
    {"streams of two devices", NOTHING, devices,
     [](struct trial &trial) {
         first_there(trial, trial.there);
         second(trial, trial.b);
     }, 2},
    {"blocking stream there, legacy stream here", NOTHING, devices,
     [](struct trial &trial) {
         first_there(trial, trial.there_blocking);
         second(trial, cudaStreamLegacy);
     }, 2},
    {"legacy streams of both devices", NOTHING, devices,
     [](struct trial &trial) {
         first_there(trial, cudaStreamLegacy);
         second(trial, cudaStreamLegacy);
     }, 2},
    {"cudaDeviceSynchronize of the first device", NOTHING, devices,
     [](struct trial &trial) {
         first_there(trial, trial.there);
         TRY(cudaDeviceSynchronize());
         second(trial, trial.b);
     }, 2},
    {"cudaDeviceSynchronize of the second device", PROMISED, devices,
     [](struct trial &trial) {
         first_there(trial, trial.there);
         on(trial, 1);
         TRY(cudaDeviceSynchronize());
         on(trial, 0);
         second(trial, trial.b);
     }, 2},
    {"cudaStreamSynchronize of the second device's stream", PROMISED, devices,
     [](struct trial &trial) {
         first_there(trial, trial.there);
         TRY(cudaStreamSynchronize(trial.there));
         second(trial, trial.b);
     }, 2},
    {"cudaFree on the first device, A on the second", NOTHING, "Runtime API, Memory Management (may synchronize)",
     [](struct trial &trial) {
         void *memory;
         TRY(cudaMalloc(&memory, 4096));
         first_there(trial, trial.there);
         TRY(cudaFree(memory));
         second(trial, trial.b);
     }, 2},
    {"cudaFree of the second device's memory, first current", NOTHING, "Runtime API, Memory Management (may synchronize)",
     [](struct trial &trial) {
         void *memory;
         on(trial, 1);
         TRY(cudaMalloc(&memory, 4096));
         on(trial, 0);
         first_there(trial, trial.there);
         TRY(cudaFree(memory));
         second(trial, trial.b);
     }, 2},
    {"cudaFreeHost on the first device, A on the second", NOTHING, "Runtime API, Memory Management (may synchronize)",
     [](struct trial &trial) {
         void *memory;
         TRY(cudaMallocHost(&memory, 4096));
         first_there(trial, trial.there);
         TRY(cudaFreeHost(memory));
         second(trial, trial.b);
     }, 2},
    {"cudaFreeHost of the second device's memory, first current", NOTHING, "Runtime API, Memory Management (may synchronize)",
     [](struct trial &trial) {
         void *memory;
         on(trial, 1);
         TRY(cudaMallocHost(&memory, 4096));
         on(trial, 0);
         first_there(trial, trial.there);
         TRY(cudaFreeHost(memory));
         second(trial, trial.b);
     }, 2},
    {"cudaHostUnregister on the first device, A on the second", NOTHING, "Runtime API, Memory Management (may synchronize)",
     [](struct trial &trial) {
         static char memory[8192] __attribute__((aligned(4096)));
         TRY(cudaHostRegister(memory, sizeof memory, cudaHostRegisterDefault));
         first_there(trial, trial.there);
         TRY(cudaHostUnregister(memory));
         second(trial, trial.b);
     }, 2},
    {"cudaMemcpyPeer, 64 B, A there (blocking)", PROMISED, peer, copy_after_blocking<peer_copy<SMALL>>, 2},
    {"cudaMemcpyPeer, 64 B, A there (non-blocking)", PROMISED, peer, copy_after_non_blocking<peer_copy<SMALL>>, 2},
    {"cudaMemcpyPeer, 16 MiB, A there (non-blocking)", PROMISED, peer, copy_after_non_blocking<peer_copy<LARGE>>, 2},
    {"cudaMemcpyPeer out, 64 KiB, A there (non-blocking)", PROMISED, peer, copy_after_non_blocking<peer_copy_out<MIDDLE>>, 2},
    {"cudaMemcpyPeer, 64 KiB, A here (non-blocking)", PROMISED, peer, copy_after_here<peer_copy<MIDDLE>>, 2},
    {"cudaMemcpyPeer, 64 KiB, A here, B there", PROMISED, peer, copy_then_there<peer_copy<MIDDLE>>, 2},
    {"cudaMemcpyPeer, 64 KiB, A there, B here (both blocking)", PROMISED, peer, copy_between_blocking<peer_copy<MIDDLE>>, 2},
    {"cudaMemcpyPeer out, 64 KiB, A there, B here (both blocking)", PROMISED, peer, copy_between_blocking<peer_copy_out<MIDDLE>>, 2},
    {"cudaMemcpyPeer, 64 KiB, A there, B here (both legacy)", PROMISED, peer, copy_between_legacy<peer_copy<MIDDLE>>, 2},
    {"cudaMemcpyPeer, 64 KiB, A here, B there (both blocking)", PROMISED, peer, copy_then_there_blocking<peer_copy<MIDDLE>>, 2},
    {"cudaMemcpy between devices, 64 KiB, both blocking", NOTHING, synchronization, copy_between_blocking<default_copy<MIDDLE>>, 2},
    {"cudaMemcpy between devices, 64 KiB, A there (blocking)", NOTHING, synchronization, copy_after_blocking<default_copy<MIDDLE>>, 2},
    {"cudaMemcpy between devices, 64 KiB, A there (non-blocking)", NOTHING, synchronization, copy_after_non_blocking<default_copy<MIDDLE>>, 2},
    {"cudaMemcpyPeerAsync, 64 KiB, A there (non-blocking)", NOTHING, peer, copy_after_non_blocking<peer_copy_async<MIDDLE>>, 2},
    {"with peer access: cudaMemcpyPeer, 64 KiB, A there (blocking)", PROMISED, peer, with_access<copy_after_blocking<peer_copy<MIDDLE>>>, 2},
    {"with peer access: cudaMemcpyPeer, 64 KiB, A there (non-blocking)", PROMISED, peer, with_access<copy_after_non_blocking<peer_copy<MIDDLE>>>, 2},
    {"with peer access: cudaMemcpyPeer, 64 KiB, A here (non-blocking)", PROMISED, peer, with_access<copy_after_here<peer_copy<MIDDLE>>>, 2},
    {"with peer access: cudaMemcpyPeer, 64 KiB, A here, B there", PROMISED, peer, with_access<copy_then_there<peer_copy<MIDDLE>>>, 2},
    {"with peer access: cudaMemcpyPeer, 64 KiB, both blocking", PROMISED, peer, with_access<copy_between_blocking<peer_copy<MIDDLE>>>, 2},
    {"with peer access: cudaMemcpy between, A there (blocking)", NOTHING, synchronization, with_access<copy_after_blocking<default_copy<MIDDLE>>>, 2},
    {"with peer access: cudaMemcpy between, A there (non-blocking)", NOTHING, synchronization, with_access<copy_after_non_blocking<default_copy<MIDDLE>>>, 2},
    {"with peer access: cudaMemcpyPeerAsync, A there (non-blocking)", NOTHING, peer, with_access<copy_after_non_blocking<peer_copy_async<MIDDLE>>>, 2},
};
// clang-format on

struct rules device_rules()
{
    return {table, sizeof table / sizeof *table};
}
