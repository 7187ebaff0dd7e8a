// verdict: none
// options: host=guard
// no-tsan: its run-time crashes /bin/sh
// Children of every kind while pages are guarded: vfork and exec, posix_spawn, system, popen, and
// one that was made by the system call itself and has no handler of fork. A driver may map pinned
// memory as shared, so what a child stores may be the parent's as well.
#include "host_memory.h"
#include <cstdlib>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define CHECK_CALL(what)                                                                           \
    if (!(what)) {                                                                                 \
        perror(#what);                                                                             \
        exit(102);                                                                                 \
    }

static bool ended_well(pid_t child)
{
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    // What the child is started with lies beside what the copy writes, in its page.
    char *text = (char *)(host + 256);
    strcpy(text, "/bin/true");
    char *const arguments[] = {text, nullptr};
    CHECK(cudaMemcpyAsync(host, device, 64, cudaMemcpyDeviceToHost, stream));
    store(host + 128, 5);
    const pid_t borrowed = vfork();
    if (borrowed == 0) {
        execve("/bin/true", nullptr, environ);
        _exit(1);
    }
    CHECK_CALL(ended_well(borrowed));
    pid_t spawned = 0;
    CHECK_CALL(posix_spawn(&spawned, "/bin/true", nullptr, nullptr, arguments, environ) == 0);
    CHECK_CALL(ended_well(spawned));
    CHECK_CALL(system("exit 0") == 0);
    FILE *pipe = popen("echo child", "r");
    char line[16] = "";
    CHECK_CALL(pipe && fgets(line, sizeof line, pipe) && pclose(pipe) == 0);
    CHECK_CALL(!strcmp(line, "child\n"));
    CHECK(cudaMemcpyAsync(host, device, 64, cudaMemcpyDeviceToHost, stream));
    const pid_t bare =
        (pid_t)syscall(SYS_clone, 17 /* SIGCHLD */, nullptr, nullptr, nullptr, nullptr);
    if (bare == 0) {
        store(host + 129, load(host + 128) + 1);
        _exit(load(host + 129) == 6 ? 0 : 1);
    }
    CHECK_CALL(ended_well(bare));
    CHECK(cudaStreamSynchronize(stream));
    return load(host + 128) == 5 ? finish() : 103;
}
