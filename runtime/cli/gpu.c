/* See gpu.h. The driver is asked in a child, since one that was started here would stay. */
#include "runtime/cli/gpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct answer {
    bool loaded;   /* there is a libcuda.so.1, with what is asked of it */
    int result;    /* of cuInit, or of cuDeviceGetCount after it; 0: both succeeded */
    int count;     /* of devices */
    char name[64]; /* of the result, as cuGetErrorName has it */
};

static void ask(struct answer *answer)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*init)(unsigned) = driver ? (int (*)(unsigned))dlsym(driver, "cuInit") : NULL;
    int (*count)(int *) = driver ? (int (*)(int *))dlsym(driver, "cuDeviceGetCount") : NULL;
    int (*name_of)(int, const char **) =
        driver ? (int (*)(int, const char **))dlsym(driver, "cuGetErrorName") : NULL;
    const char *name = NULL;
    answer->loaded = init && count;
    if (!answer->loaded)
        return;
    answer->result = init(0);
    if (answer->result == 0)
        answer->result = count(&answer->count);
    if (answer->result && name_of && name_of(answer->result, &name) == 0 && name)
        snprintf(answer->name, sizeof answer->name, "%s", name);
}

/* False: the driver ended the child, or there could be none. */
static bool ask_in_child(struct answer *answer)
{
    int ends[2], status;
    if (pipe(ends) != 0)
        return false;
    pid_t child = fork();
    if (child == 0) {
        ask(answer);
        _exit(write(ends[1], answer, sizeof *answer) == (ssize_t)sizeof *answer ? 0 : 1);
    }
    close(ends[1]);
    const bool answered =
        child > 0 && read(ends[0], answer, sizeof *answer) == (ssize_t)sizeof *answer;
    close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return answered;
}

/* Of the driver for Linux, and of WSL (CUDA on WSL User Guide). */
static const char *device_file(void)
{
    static const char *const files[] = {"/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (access(files[i], F_OK) == 0)
            return files[i];
    return NULL;
}

static void say_why(const struct program *program, const struct answer *answer, bool answered)
{
    static const char then[] = "the embedded device is used (--device=embedded says so without "
                               "this line, --device=gpu insists)";
    const char *visible = getenv("CUDA_VISIBLE_DEVICES"), *file = device_file();
    if (!answered)
        program_fail(program, 0, "the NVIDIA driver ended when it was asked for GPUs; %s", then);
    else if (answer->loaded && answer->result)
        program_fail(program, 0, "the NVIDIA driver cannot use a GPU (error %d%s%s); %s",
                     answer->result, answer->name[0] ? ", " : "", answer->name, then);
    else if (answer->loaded)
        program_fail(program, 0, "the NVIDIA driver shows no GPU%s%s%s; %s",
                     visible ? " (CUDA_VISIBLE_DEVICES is '" : "", visible ? visible : "",
                     visible ? "')" : "", then);
    else if (file)
        program_fail(program, 0, "there is %s, but libcuda.so.1 cannot be loaded; %s", file, then);
}

bool gpu_usable(const struct program *program)
{
    struct answer answer = {0};
    const bool answered = ask_in_child(&answer);
    const bool usable = answered && answer.loaded && answer.result == 0 && answer.count > 0;
    if (!usable)
        say_why(program, &answer, answered);
    return usable;
}
