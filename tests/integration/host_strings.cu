// verdict: race
// options: host=guard:dedup=0:report_limit=0
// expect: ^CSAN: data race: strlen .*host_strings
// expect: ^CSAN: data race: strnlen .*host_strings
// expect: ^CSAN: data race: strchr .*host_strings
// expect: ^CSAN: data race: strchrnul .*host_strings
// expect: ^CSAN: data race: strrchr .*host_strings
// expect: ^CSAN: data race: index .*host_strings
// expect: ^CSAN: data race: rindex .*host_strings
// expect: ^CSAN: data race: memchr .*host_strings
// expect: ^CSAN: data race: rawmemchr .*host_strings
// expect: ^CSAN: data race: memrchr .*host_strings
// expect: ^CSAN: data race: strcmp .*host_strings
// expect: ^CSAN: data race: strncmp .*host_strings
// expect: ^CSAN: data race: strcasecmp .*host_strings
// expect: ^CSAN: data race: strncasecmp .*host_strings
// expect: ^CSAN: data race: strcoll .*host_strings
// expect: ^CSAN: data race: strstr .*host_strings
// expect: ^CSAN: data race: strcasestr .*host_strings
// expect: ^CSAN: data race: memmem .*host_strings
// expect: ^CSAN: data race: strspn .*host_strings
// expect: ^CSAN: data race: strcspn .*host_strings
// expect: ^CSAN: data race: strpbrk .*host_strings
// expect: ^CSAN: data race: strdup .*host_strings
// expect: ^CSAN: data race: strndup .*host_strings
// expect: ^CSAN: data race: strtol .*host_strings
// expect: ^CSAN: data race: strtoul .*host_strings
// expect: ^CSAN: data race: strtoll .*host_strings
// expect: ^CSAN: data race: strtoull .*host_strings
// expect: ^CSAN: data race: strcpy .*host_strings
// expect: ^CSAN: data race: stpcpy .*host_strings
// expect: ^CSAN: data race: strncpy .*host_strings
// expect: ^CSAN: data race: stpncpy .*host_strings
// expect: ^CSAN: data race: strcat .*host_strings
// expect: ^CSAN: data race: strncat .*host_strings
// expect: ^CSAN: data race: atoi .*host_strings
// expect: ^CSAN: data race: atol .*host_strings
// expect: ^CSAN: data race: atoll .*host_strings
// expect: ^CSAN: data race: atof .*host_strings
// expect: ^CSAN: data race: strtod .*host_strings
// expect: ^CSAN: data race: strtof .*host_strings
// expect: ^CSAN: data race: wcslen .*host_strings
// expect: ^CSAN: data race: wcsnlen .*host_strings
// expect: ^CSAN: data race: wcschr .*host_strings
// expect: ^CSAN: data race: wcsrchr .*host_strings
// expect: ^CSAN: data race: wcscmp .*host_strings
// expect: ^CSAN: data race: wcsncmp .*host_strings
// expect: ^CSAN: data race: wcscpy .*host_strings
// expect: ^CSAN: data race: qsort .*host_strings
// reject: Overlap: ([2-9]|1[0-9])
// The last byte of a text that each function reads, or writes, is a copy's: one byte is met,
// however many the function loads at once.
#include "host_strings.h"

static char *host, *device;
static cudaStream_t stream;

// The text, whose last `met` bytes a copy may still write, or read.
static void each(const string_call &call, const void *text, size_t bytes, size_t met, bool writes)
{
    static char other[64] __attribute__((aligned(64)));
    memset(host, 0, 256);
    memcpy(host, text, bytes);
    memcpy(other, text, bytes);
    char *const from = host + bytes - met;
    if (writes)
        CHECK(cudaMemcpyAsync(device, from, 64, cudaMemcpyHostToDevice, stream));
    else
        CHECK(cudaMemcpyAsync(from, device, 64, cudaMemcpyDeviceToHost, stream));
    right(call, host, other);
    CHECK(cudaStreamSynchronize(stream));
}

static int compare(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

int main()
{
    host = (char *)pinned_memory();
    device = (char *)device_array<int>(HOST_N);
    stream = nonblocking_stream();
    CHECK(cudaMemset(device, 0, HOST_BYTES));
    CHECK(cudaDeviceSynchronize());
    for (const string_call &call : reading)
        each(call, "abc", 4, 1, false);
    for (const string_call &call : writing)
        each(call, "abc", 4, 1, true);
    for (const string_call &call : numbers)
        each(call, "12", 3, 1, false);
    for (const string_call &call : wide)
        each(call, L"abc", 4 * sizeof(wchar_t), 1, false);
    each({"qsort",
          [](char *t, char *) {
              qsort(t, 4, 1, compare);
              return t[3] == 'd';
          }},
         "dcba", 4, 1, true);
    return finish();
}
