// verdict: none
// options: host=guard
// Texts that end in front of what a copy may still write, or read. The C library's functions load
// more bytes at once than the texts have, and use none of those.
#include "host_strings.h"

static char *host, *device;
static cudaStream_t stream;

static void each(const string_call &call, const void *text, size_t bytes, bool writes)
{
    static char other[64] __attribute__((aligned(64)));
    memset(host, 0, 256);
    memcpy(host, text, bytes);
    memcpy(other, text, bytes);
    if (writes)
        CHECK(cudaMemcpyAsync(device, host + bytes, 64, cudaMemcpyHostToDevice, stream));
    else
        CHECK(cudaMemcpyAsync(host + bytes, device, 64, cudaMemcpyDeviceToHost, stream));
    right(call, host, other);
    CHECK(cudaStreamSynchronize(stream));
}

// printf and its kind look for a text's end in the same way.
static void print()
{
    char text[64];
    memcpy(host, "abc", 4);
    CHECK(cudaMemcpyAsync(host + 4, device, 64, cudaMemcpyDeviceToHost, stream));
    snprintf(text, sizeof text, "%s", host);
    CHECK(cudaStreamSynchronize(stream));
}

int main()
{
    host = (char *)pinned_memory();
    device = (char *)device_array<int>(HOST_N);
    stream = nonblocking_stream();
    for (const string_call &call : reading)
        each(call, "abc", 4, false);
    for (const string_call &call : writing)
        each(call, "abc", 4, true);
    for (const string_call &call : numbers)
        each(call, "12", 3, false);
    for (const string_call &call : wide)
        each(call, L"abc", 4 * sizeof(wchar_t), false);
    print();
    return finish();
}
