// verdict: race
// output: -
// The child alone uses CUDA, which is legal: it is checked. With an argument the parent has used it
// before: the child cannot, and csan says that it is not checked (tests/shell/test_processes.sh).
#include "program.h"

#include <sys/wait.h>
#include <unistd.h>

static int race()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    launch_fill(b, p);
    return finish();
}

int main(int count, char **)
{
    int status, *p = nullptr;
    if (count > 1)
        race();
    pid_t child = fork();
    if (child == 0 && count > 1)
        return cudaMalloc((void **)&p, 64) == cudaSuccess ? 9 : 5;
    if (child == 0)
        return race();
    waitpid(child, &status, 0);
    return count > 1 ? 0 : WEXITSTATUS(status);
}
