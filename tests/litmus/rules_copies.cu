// Copies and sets: what the host waits for, and what of their own work is done when they return.
//
// "waits for A": A is in a stream, the copy touches other memory, and B is put into a third stream
// when the copy has returned: if the host did not wait, B overtakes A. "is done": the copy itself
// is A, and B looks at the last word that it wrote.
#include "litmus.h"

#include <chrono>
#include <thread>

static const char *const synchronization = "Runtime API, API synchronization behavior";
static const char *const staged = "of the copy only the source was read: a note is about all of it";
enum { SMALL = 64, MIDDLE = 64 << 10, LARGE = COPY_MAX };

// ---- Does a synchronous call make the host wait for A?

template <size_t BYTES> static void from_pageable(struct trial &trial)
{
    TRY(cudaMemcpy(trial.device, trial.pageable, BYTES, cudaMemcpyHostToDevice));
}
template <size_t BYTES> static void from_pinned(struct trial &trial)
{
    TRY(cudaMemcpy(trial.device, trial.page_lock, BYTES, cudaMemcpyHostToDevice));
}
template <size_t BYTES> static void to_pageable(struct trial &trial)
{
    TRY(cudaMemcpy(trial.pageable, trial.device, BYTES, cudaMemcpyDeviceToHost));
}
template <size_t BYTES> static void to_pinned(struct trial &trial)
{
    TRY(cudaMemcpy(trial.page_lock, trial.device, BYTES, cudaMemcpyDeviceToHost));
}
template <size_t BYTES> static void on_device(struct trial &trial)
{
    TRY(cudaMemcpy(trial.device, trial.device_too, BYTES, cudaMemcpyDeviceToDevice));
}
template <size_t BYTES> static void on_host(struct trial &trial)
{
    TRY(cudaMemcpy(trial.pageable, trial.pageable_too, BYTES, cudaMemcpyHostToHost));
}
template <size_t BYTES> static void on_pinned_host(struct trial &trial)
{
    TRY(cudaMemcpy(trial.page_lock, trial.page_lock_too, BYTES, cudaMemcpyHostToHost));
}
static void set_device(struct trial &trial)
{
    TRY(cudaMemset(trial.device, 0, MIDDLE));
}
static void set_pinned(struct trial &trial)
{
    TRY(cudaMemset(trial.page_lock, 0, MIDDLE));
}
static void set_managed(struct trial &trial)
{
    TRY(cudaMemset(trial.managed, 0, 64));
}

// Rows of 64 bytes in memory of 128 a row.
static void rows_from_pageable(struct trial &trial)
{
    TRY(cudaMemcpy2D(trial.device, 128, trial.pageable, 128, 64, 512, cudaMemcpyHostToDevice));
}
static void rows_to_pageable(struct trial &trial)
{
    TRY(cudaMemcpy2D(trial.pageable, 128, trial.device, 128, 64, 512, cudaMemcpyDeviceToHost));
}
static void rows_on_device(struct trial &trial)
{
    TRY(cudaMemcpy2D(trial.device, 128, trial.device_too, 128, 64, 512, cudaMemcpyDeviceToDevice));
}
static void set_rows(struct trial &trial)
{
    TRY(cudaMemset2D(trial.device, 128, 0, 64, 512));
}

typedef void (*call_function)(struct trial &trial);

template <call_function CALL> static void after_blocking(struct trial &trial)
{
    first(trial, trial.blocking);
    CALL(trial);
    second(trial, trial.b);
}

template <call_function CALL> static void after_non_blocking(struct trial &trial)
{
    first(trial, trial.a);
    CALL(trial);
    second(trial, trial.b);
}

// ---- The same of an Async call in A's own stream

template <call_function CALL> static void after_own_stream(struct trial &trial)
{
    first(trial, trial.a);
    CALL(trial);
    second(trial, trial.b);
}

template <size_t BYTES> static void from_pageable_async(struct trial &trial)
{
    TRY(cudaMemcpyAsync(trial.device, trial.pageable, BYTES, cudaMemcpyHostToDevice, trial.a));
}
template <size_t BYTES> static void from_pinned_async(struct trial &trial)
{
    TRY(cudaMemcpyAsync(trial.device, trial.page_lock, BYTES, cudaMemcpyHostToDevice, trial.a));
}
template <size_t BYTES> static void to_pageable_async(struct trial &trial)
{
    TRY(cudaMemcpyAsync(trial.pageable, trial.device, BYTES, cudaMemcpyDeviceToHost, trial.a));
}
template <size_t BYTES> static void to_pinned_async(struct trial &trial)
{
    TRY(cudaMemcpyAsync(trial.page_lock, trial.device, BYTES, cudaMemcpyDeviceToHost, trial.a));
}
template <size_t BYTES> static void on_device_async(struct trial &trial)
{
    TRY(cudaMemcpyAsync(trial.device, trial.device_too, BYTES, cudaMemcpyDeviceToDevice, trial.a));
}
template <size_t BYTES> static void on_host_async(struct trial &trial)
{
    TRY(cudaMemcpyAsync(trial.pageable, trial.pageable_too, BYTES, cudaMemcpyHostToHost, trial.a));
}
template <size_t BYTES> static void on_pinned_host_async(struct trial &trial)
{
    TRY(cudaMemcpyAsync(trial.page_lock, trial.page_lock_too, BYTES, cudaMemcpyHostToHost,
                        trial.a));
}
static void set_device_async(struct trial &trial)
{
    TRY(cudaMemsetAsync(trial.device, 0, MIDDLE, trial.a));
}
static void set_pinned_async(struct trial &trial)
{
    TRY(cudaMemsetAsync(trial.page_lock, 0, MIDDLE, trial.a));
}
static void set_managed_async(struct trial &trial)
{
    TRY(cudaMemsetAsync(trial.managed, 0, 64, trial.a));
}
static void rows_to_pageable_async(struct trial &trial)
{
    TRY(cudaMemcpy2DAsync(trial.pageable, 128, trial.device, 128, 64, 512, cudaMemcpyDeviceToHost,
                          trial.a));
}

// ---- Is the copy itself done? The last word copied is 1, and was 0.

static int *last_word(char *memory, size_t bytes)
{
    return (int *)(memory + bytes) - 1;
}

static void zero_device_word(struct trial &trial, int *word)
{
    TRY(cudaMemset(word, 0, sizeof *word));
    TRY(cudaDeviceSynchronize());
    trial.word = word;
}

static void host_to_device(struct trial &trial, char *source, size_t bytes)
{
    zero_device_word(trial, last_word(trial.device, bytes));
    *last_word(source, bytes) = 1;
    TRY(cudaMemcpy(trial.device, source, bytes, cudaMemcpyHostToDevice));
    second(trial, trial.b);
}

template <size_t BYTES> static void pageable_arrived(struct trial &trial)
{
    host_to_device(trial, trial.pageable, BYTES);
}
template <size_t BYTES> static void pinned_arrived(struct trial &trial)
{
    host_to_device(trial, trial.page_lock, BYTES);
}

template <size_t BYTES> static void device_copied(struct trial &trial)
{
    const int one = 1;
    zero_device_word(trial, last_word(trial.device, BYTES));
    TRY(cudaMemcpy(last_word(trial.device_too, BYTES), &one, sizeof one, cudaMemcpyHostToDevice));
    TRY(cudaDeviceSynchronize());
    hold(trial, cudaStreamLegacy); // the copy waits for it, the host need not
    TRY(cudaMemcpy(trial.device, trial.device_too, BYTES, cudaMemcpyDeviceToDevice));
    second(trial, trial.b);
}

// The host looks at the end of what an Async copy brings from the device.
static void device_to_host(struct trial &trial, char *target, size_t bytes)
{
    const int one = 1;
    TRY(cudaMemcpy(last_word(trial.device, bytes), &one, sizeof one, cudaMemcpyHostToDevice));
    TRY(cudaDeviceSynchronize());
    *last_word(target, bytes) = 0;
    hold(trial, trial.a);
    TRY(cudaMemcpyAsync(target, trial.device, bytes, cudaMemcpyDeviceToHost, trial.a));
    second_on_host(trial, last_word(target, bytes));
}

template <size_t BYTES> static void pageable_brought(struct trial &trial)
{
    device_to_host(trial, trial.pageable, BYTES);
}
template <size_t BYTES> static void pinned_brought(struct trial &trial)
{
    device_to_host(trial, trial.page_lock, BYTES);
}

template <size_t BYTES> static void synchronously_brought(struct trial &trial)
{
    first(trial, trial.blocking);
    TRY(cudaMemcpy(trial.pageable, trial.word, sizeof(int), cudaMemcpyDeviceToHost));
    second_on_host(trial, (int *)trial.pageable);
}

// The host writes over the source of a copy that has returned: what arrives must be the old value.
// B is the host's write, so seeing it (0) counts as having overtaken.
static void source_rewritten(struct trial &trial, char *source, size_t bytes, bool async)
{
    int *word = last_word(source, bytes), *arrived = last_word(trial.device, bytes);
    zero_device_word(trial, arrived);
    *word = 1;
    hold(trial, async ? trial.a : trial.blocking);
    if (async)
        TRY(cudaMemcpyAsync(trial.device, source, bytes, cudaMemcpyHostToDevice, trial.a));
    else
        TRY(cudaMemcpy(trial.device, source, bytes, cudaMemcpyHostToDevice));
    csan_host_writes(word, sizeof *word);
    *(volatile int *)word = 0;
    TRY(cudaDeviceSynchronize());
    second(trial, trial.a);
}

template <size_t BYTES> static void pageable_rewritten(struct trial &trial)
{
    source_rewritten(trial, trial.pageable, BYTES, false);
}
template <size_t BYTES> static void pageable_rewritten_async(struct trial &trial)
{
    source_rewritten(trial, trial.pageable, BYTES, true);
}
template <size_t BYTES> static void pinned_rewritten_async(struct trial &trial)
{
    source_rewritten(trial, trial.page_lock, BYTES, true);
}

// A host function writes the last word that a copy behind it in the same stream reads: is it 1 when
// it arrives? The function lasts long, the copy is B.
struct late_word {
    const struct trial *trial;
    int *word;
};

static void CUDART_CB store_word_late(void *user)
{
    const struct late_word *late = (const struct late_word *)user;
    std::this_thread::sleep_for(std::chrono::microseconds(late->trial->hold_us));
    csan_host_writes(late->word, sizeof *late->word);
    *(volatile int *)late->word = 1;
}

static void copied_behind_function(struct trial &trial, char *source, size_t bytes)
{
    static struct late_word late;
    int *arrived = last_word(trial.device, bytes);
    zero_device_word(trial, arrived);
    late = {&trial, last_word(source, bytes)};
    *late.word = 0;
    TRY(cudaLaunchHostFunc(trial.a, store_word_late, &late));
    TRY(cudaMemcpyAsync(trial.device, source, bytes, cudaMemcpyHostToDevice, trial.a));
    second(trial, trial.a);
    TRY(cudaStreamSynchronize(trial.a)); // the function reads `trial`
}

template <size_t BYTES> static void pageable_behind_function(struct trial &trial)
{
    copied_behind_function(trial, trial.pageable, BYTES);
}
template <size_t BYTES> static void pinned_behind_function(struct trial &trial)
{
    copied_behind_function(trial, trial.page_lock, BYTES);
}

// clang-format off
static const struct rule table[] = {
    {"cudaMemcpy pageable to device, 64 B, waits for A (blocking)", PROMISED, synchronization, after_blocking<from_pageable<SMALL>>},
    {"cudaMemcpy pageable to device, 64 KiB, waits for A (blocking)", PROMISED, synchronization, after_blocking<from_pageable<MIDDLE>>},
    {"cudaMemcpy pageable to device, 16 MiB, waits for A (blocking)", PROMISED, synchronization, after_blocking<from_pageable<LARGE>>},
    {"cudaMemcpy pinned to device, 64 B, waits for A (blocking)", PROMISED, synchronization, after_blocking<from_pinned<SMALL>>},
    {"cudaMemcpy pinned to device, 16 MiB, waits for A (blocking)", PROMISED, synchronization, after_blocking<from_pinned<LARGE>>},
    {"cudaMemcpy device to pageable, 64 B, waits for A (blocking)", PROMISED, synchronization, after_blocking<to_pageable<SMALL>>},
    {"cudaMemcpy device to pageable, 16 MiB, waits for A (blocking)", PROMISED, synchronization, after_blocking<to_pageable<LARGE>>},
    {"cudaMemcpy device to pinned, 64 B, waits for A (blocking)", PROMISED, synchronization, after_blocking<to_pinned<SMALL>>},
    {"cudaMemcpy device to pinned, 16 MiB, waits for A (blocking)", PROMISED, synchronization, after_blocking<to_pinned<LARGE>>},
    {"cudaMemcpy device to device, 64 B, waits for A (blocking)", NOTHING, synchronization, after_blocking<on_device<SMALL>>},
    {"cudaMemcpy device to device, 16 MiB, waits for A (blocking)", NOTHING, synchronization, after_blocking<on_device<LARGE>>},
    {"cudaMemcpy host to host, 64 B, waits for A (blocking)", PROMISED, synchronization, after_blocking<on_host<SMALL>>},
    {"cudaMemcpy host to host, 16 MiB, waits for A (blocking)", PROMISED, synchronization, after_blocking<on_host<LARGE>>},
    {"cudaMemcpy pinned to pinned, 64 KiB, waits for A (blocking)", PROMISED, synchronization, after_blocking<on_pinned_host<MIDDLE>>},
    {"cudaMemcpy2D pageable to device waits for A (blocking)", PROMISED, synchronization, after_blocking<rows_from_pageable>},
    {"cudaMemcpy2D device to pageable waits for A (blocking)", PROMISED, synchronization, after_blocking<rows_to_pageable>},
    {"cudaMemcpy2D device to device waits for A (blocking)", NOTHING, synchronization, after_blocking<rows_on_device>},
    {"cudaMemcpy2D device to pageable, A non-blocking", NOTHING, synchronization, after_non_blocking<rows_to_pageable>},
    {"cudaMemcpy2DAsync device to pageable waits for A", NOTHING, synchronization, after_own_stream<rows_to_pageable_async>},
    {"cudaMemcpy pageable to device, 64 B, A non-blocking", NOTHING, synchronization, after_non_blocking<from_pageable<SMALL>>},
    {"cudaMemcpy pageable to device, 16 MiB, A non-blocking", NOTHING, synchronization, after_non_blocking<from_pageable<LARGE>>},
    {"cudaMemcpy pinned to device, 64 KiB, A non-blocking", NOTHING, synchronization, after_non_blocking<from_pinned<MIDDLE>>},
    {"cudaMemcpy device to pageable, 64 B, A non-blocking", NOTHING, synchronization, after_non_blocking<to_pageable<SMALL>>},
    {"cudaMemcpy device to pinned, 64 KiB, A non-blocking", NOTHING, synchronization, after_non_blocking<to_pinned<MIDDLE>>},
    {"cudaMemcpy device to device, 64 KiB, A non-blocking", NOTHING, synchronization, after_non_blocking<on_device<MIDDLE>>},
    {"cudaMemcpy host to host, 64 KiB, A non-blocking", NOTHING, synchronization, after_non_blocking<on_host<MIDDLE>>},
    {"cudaMemcpyAsync pageable to device, 64 B, waits for A", NOTHING, synchronization, after_own_stream<from_pageable_async<SMALL>>},
    {"cudaMemcpyAsync pageable to device, 64 KiB, waits for A", NOTHING, synchronization, after_own_stream<from_pageable_async<MIDDLE>>},
    {"cudaMemcpyAsync pageable to device, 16 MiB, waits for A", NOTHING, synchronization, after_own_stream<from_pageable_async<LARGE>>},
    {"cudaMemcpyAsync pinned to device, 64 B, waits for A", NOTHING, synchronization, after_own_stream<from_pinned_async<SMALL>>},
    {"cudaMemcpyAsync pinned to device, 16 MiB, waits for A", NOTHING, synchronization, after_own_stream<from_pinned_async<LARGE>>},
    {"cudaMemcpyAsync device to pageable, 64 B, waits for A", NOTHING, synchronization, after_own_stream<to_pageable_async<SMALL>>},
    {"cudaMemcpyAsync device to pageable, 16 MiB, waits for A", NOTHING, synchronization, after_own_stream<to_pageable_async<LARGE>>},
    {"cudaMemcpyAsync device to pinned, 64 KiB, waits for A", NOTHING, synchronization, after_own_stream<to_pinned_async<MIDDLE>>},
    {"cudaMemcpyAsync device to device, 64 KiB, waits for A", NOTHING, synchronization, after_own_stream<on_device_async<MIDDLE>>},
    {"cudaMemcpyAsync host to host, 64 B, waits for A", PROMISED, synchronization, after_own_stream<on_host_async<SMALL>>},
    {"cudaMemcpyAsync host to host, 16 MiB, waits for A", PROMISED, synchronization, after_own_stream<on_host_async<LARGE>>},
    {"cudaMemcpyAsync pinned to pinned, 64 KiB, waits for A", PROMISED, synchronization, after_own_stream<on_pinned_host_async<MIDDLE>>},
    {"cudaMemcpy pageable to device, 64 B, is done", NOTHING, synchronization, pageable_arrived<SMALL>},
    {"cudaMemcpy pageable to device, 64 KiB, is done", NOTHING, synchronization, pageable_arrived<MIDDLE>},
    {"cudaMemcpy pageable to device, 16 MiB, is done", NOTHING, synchronization, pageable_arrived<LARGE>},
    {"cudaMemcpy pinned to device, 64 B, is done", PROMISED, synchronization, pinned_arrived<SMALL>},
    {"cudaMemcpy pinned to device, 64 KiB, is done", PROMISED, synchronization, pinned_arrived<MIDDLE>},
    {"cudaMemcpy pinned to device, 16 MiB, is done", PROMISED, synchronization, pinned_arrived<LARGE>},
    {"cudaMemcpy device to device, 64 B, is done", NOTHING, synchronization, device_copied<SMALL>},
    {"cudaMemcpy device to device, 16 MiB, is done", NOTHING, synchronization, device_copied<LARGE>},
    {"cudaMemcpy device to pageable, host looks", PROMISED, synchronization, synchronously_brought<SMALL>},
    {"cudaMemcpyAsync device to pageable, 64 B, host looks", NOTHING, synchronization, pageable_brought<SMALL>},
    {"cudaMemcpyAsync device to pageable, 16 MiB, host looks", NOTHING, synchronization, pageable_brought<LARGE>},
    {"cudaMemcpyAsync device to pinned, 64 B, host looks", NOTHING, synchronization, pinned_brought<SMALL>},
    {"cudaMemcpyAsync device to pinned, 16 MiB, host looks", NOTHING, synchronization, pinned_brought<LARGE>},
    {"cudaMemcpy pageable to device, 64 KiB, source written", PROMISED, synchronization, pageable_rewritten<MIDDLE>},
    {"cudaMemcpy pageable to device, 16 MiB, source written", PROMISED, synchronization, pageable_rewritten<LARGE>},
    {"cudaMemcpyAsync pageable to device, 64 B, source written", NOTHING, synchronization, pageable_rewritten_async<SMALL>, 0, 0, staged},
    {"cudaMemcpyAsync pageable to device, 64 KiB, source written", NOTHING, synchronization, pageable_rewritten_async<MIDDLE>, 0, 0, staged},
    {"cudaMemcpyAsync pageable to device, 16 MiB, source written", NOTHING, synchronization, pageable_rewritten_async<LARGE>},
    {"cudaMemcpyAsync pinned to device, 64 B, source written", NOTHING, synchronization, pinned_rewritten_async<SMALL>},
    {"cudaMemcpyAsync pinned to device, 16 MiB, source written", NOTHING, synchronization, pinned_rewritten_async<LARGE>},
    {"host function writes, cudaMemcpyAsync pageable to device, 64 B", NOTHING, synchronization, pageable_behind_function<SMALL>, 0, 0, staged},
    {"host function writes, cudaMemcpyAsync pageable to device, 16 MiB", NOTHING, synchronization, pageable_behind_function<LARGE>},
    {"host function writes, cudaMemcpyAsync pinned to device, 64 B", PROMISED, "Driver API, cuLaunchHostFunc", pinned_behind_function<SMALL>},
    {"cudaMemset of device memory waits for A (blocking)", NOTHING, synchronization, after_blocking<set_device>},
    {"cudaMemset of pinned memory waits for A (blocking)", PROMISED, synchronization, after_blocking<set_pinned>},
    {"cudaMemset of managed memory waits for A (blocking)", PROMISED, synchronization, after_blocking<set_managed>},
    {"cudaMemset2D of device memory waits for A (blocking)", NOTHING, synchronization, after_blocking<set_rows>},
    {"cudaMemset of managed memory, A non-blocking", NOTHING, synchronization, after_non_blocking<set_managed>},
    {"cudaMemsetAsync of managed memory waits for A", NOTHING, synchronization, after_own_stream<set_managed_async>},
    {"cudaMemset of pinned memory, A non-blocking", NOTHING, synchronization, after_non_blocking<set_pinned>},
    {"cudaMemsetAsync of device memory waits for A", NOTHING, synchronization, after_own_stream<set_device_async>},
    {"cudaMemsetAsync of pinned memory waits for A", NOTHING, synchronization, after_own_stream<set_pinned_async>},
};
// clang-format on

struct rules copy_rules()
{
    return {table, sizeof table / sizeof *table};
}
