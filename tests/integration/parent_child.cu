// verdict: none
// output: right
// A process writes memory that it shares, and starts another one that reads it: what the first one
// had waited for then comes before all that the second one does (tests/shell/test_interprocess.sh).
// The first argument says how it is started, and with `early` the kernel is waited for only
// afterwards.
#include "program.h"
#include <cstring>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int child(const char *hex)
{
    cudaIpcMemHandle_t handle;
    unsigned byte;
    void *memory;
    for (size_t i = 0; i < sizeof handle; i++) {
        sscanf(hex + 2 * i, "%2x", &byte);
        reinterpret_cast<unsigned char *>(&handle)[i] = (unsigned char)byte;
    }
    CHECK(cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess));
    launch_copy(nonblocking_stream(), device_array<int>(), static_cast<int *>(memory));
    CHECK(cudaDeviceSynchronize());
    return 0;
}

// The shared memory's handle as the argument of a program.
static std::string hex_of(const cudaIpcMemHandle_t &handle)
{
    std::string hex(2 * sizeof handle, '0');
    for (size_t i = 0; i < sizeof handle; i++)
        snprintf(&hex[2 * i], 3, "%02x", reinterpret_cast<const unsigned char *>(&handle)[i]);
    return hex;
}

static pid_t start(const char *how, char *const arguments[])
{
    pid_t process = -1;
    if (strcmp(how, "spawn") == 0)
        posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, arguments, environ);
    else if ((process = strcmp(how, "vfork") == 0 ? vfork() : fork()) == 0) {
        execv("/proc/self/exe", arguments);
        _exit(127);
    }
    return process;
}

static bool ends_well(pid_t process)
{
    int status = 1;
    return process > 0 && waitpid(process, &status, 0) == process && status == 0;
}

int main(int count, char **arguments)
{
    if (count > 2 && strcmp(arguments[1], "child") == 0)
        return child(arguments[2]);
    const char *how = count > 1 ? arguments[1] : "spawn";
    const bool early = count > 2;
    char child_word[] = "child";
    cudaIpcMemHandle_t handle;
    int *memory = device_array<int>();
    CHECK(cudaIpcGetMemHandle(&handle, memory));
    std::string hex = hex_of(handle);
    char *const others[] = {arguments[0], child_word, &hex[0], nullptr};
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, memory);
    if (!early)
        CHECK(cudaStreamSynchronize(stream));
    const pid_t process = start(how, others);
    CHECK(cudaStreamSynchronize(stream));
    if (!ends_well(process))
        return 1;
    puts("right");
    return 0;
}
