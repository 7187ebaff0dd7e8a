/* See gpu.h. */
#include "runtime/cli/process/gpu.h"
#include "runtime/cli/device_file.h"
#include "runtime/hook/rt/gpu_probe.h"

#include <stdlib.h>
#include <unistd.h>

static void say_why(const struct program *program, const struct gpu_probe *probe)
{
    static const char then[] = "the embedded device is used (--device=embedded says so without "
                               "this line, --device=gpu insists)";
    const char *visible = getenv("CUDA_VISIBLE_DEVICES"), *file = device_file();
    if (!probe->answered)
        program_fail(program, 0, "the NVIDIA driver gave no answer when it was asked for GPUs; %s",
                     then);
    else if (probe->loaded && probe->result)
        program_fail(program, 0, "the NVIDIA driver cannot use a GPU (error %d%s%s); %s",
                     probe->result, probe->name[0] ? ", " : "", probe->name, then);
    else if (probe->loaded)
        program_fail(program, 0, "the NVIDIA driver shows no GPU%s%s%s; %s",
                     visible ? " (CUDA_VISIBLE_DEVICES is '" : "", visible ? visible : "",
                     visible ? "')" : "", then);
    else if (file)
        program_fail(program, 0, "there is %s, but libcuda.so.1 cannot be loaded; %s", file, then);
}

bool gpu_usable(const struct program *program)
{
    const struct gpu_probe probe = gpu_probe();
    const bool usable = gpu_probe_usable(&probe);
    if (!usable)
        say_why(program, &probe);
    return usable;
}
