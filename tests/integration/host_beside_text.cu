// verdict: none
// options: host=guard
// The C library's functions for text hand memory to the kernel by ways of their own. The text
// begins in the page that a copy may still write, beside its bytes: all of it comes to the file.
#include "host_memory.h"
#include <cstdlib>
#include <unistd.h>

static cudaStream_t stream;
static int *device;
static char *memory, *text;

// The page is closed again.
static void copy()
{
    CHECK(cudaMemcpyAsync(memory, device, 64, cudaMemcpyDeviceToHost, stream));
}

#define CHECK_CALL(what)                                                                           \
    do {                                                                                           \
        copy();                                                                                    \
        if (!(what)) {                                                                             \
            perror(#what);                                                                         \
            exit(102);                                                                             \
        }                                                                                          \
    } while (0)

int main()
{
    char name[] = "/tmp/csan-text-XXXXXX";
    const int number = mkstemp(name), again = dup(number);
    FILE *file = fdopen(number, "w"), *unbuffered = fdopen(again, "w");
    unlink(name);
    device = device_array<int>(HOST_N);
    stream = nonblocking_stream();
    memory = (char *)pinned_memory();
    text = memory + 64;
    memset(text, 'a', HOST_BYTES - 65);
    const long length = HOST_BYTES - 65;
    CHECK_CALL(fputs(text, file) >= 0 && fflush(file) == 0);
    CHECK_CALL(fprintf(file, "%s", text) == length && fflush(file) == 0);
    setvbuf(unbuffered, nullptr, _IONBF, 0);
    CHECK_CALL(fputs(text, unbuffered) >= 0);
    CHECK_CALL(fprintf(unbuffered, "%s", text) == length);
    CHECK_CALL(dprintf(number, "%s", text) == length);
    CHECK_CALL(fwrite(text, 1, length, unbuffered) == (size_t)length);
    CHECK_CALL(lseek(number, 0, SEEK_END) == 6 * length);
    // A file's name that the C library changes in place.
    strcpy(text, "/tmp/csan-text-XXXXXX");
    CHECK_CALL(close(mkstemp(text)) == 0 && unlink(text) == 0);
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
