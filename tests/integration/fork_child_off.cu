// verdict: race
// output: child\ndone
// A forked child says nothing of its own, and leaves with its own exit code.
#include "program.h"
#include <sys/wait.h>
#include <unistd.h>

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    launch_fill(b, p);
    CHECK(cudaDeviceSynchronize());
    pid_t child = fork();
    if (child == 0) {
        printf("child\n");
        exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        printf("the child ended with status %d\n", status);
    return finish();
}
