/* See device_file.h. */
#include "runtime/cli/device_file.h"

#include <stddef.h>
#include <unistd.h>

/* Of the driver for Linux, and of WSL (CUDA on WSL User Guide). */
const char *device_file(void)
{
    static const char *const files[] = {"/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (access(files[i], F_OK) == 0)
            return files[i];
    return NULL;
}
