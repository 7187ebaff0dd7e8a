/* See code_owner.h. */
#include "runtime/hook/host/code_owner.h"
#include "csan/base/loaded_object.h"

#include <string.h>
#include <sys/prctl.h>

/* Code whose accesses to the host's memory are the work that the program enqueued, or its own
 * affair: drivers, CUDA's libraries, transports, and csan. By the beginning of the file's name. */
static const char *const others[] = {
    "libcuda.so", "libcudart",  "libcudadebugger", "libcudnn",    "libcublas",   "libcufft",
    "libcufile",  "libcurand",  "libcusolver",     "libcusparse", "libcutensor", "libcudss",
    "libcupti",   "libcutlass", "libnv",           "libnccl",     "libcsan",     "libucp",
    "libuct",     "libucs",     "libucm",          "libibverbs",  "libmlx5",     "libefa",
    "librdmacm",  "libgdrapi",  "ld-linux",        "libmpi",      "libopen-",    "libmca_",
    "mca_",       "libpmix",    "libfabric",       NULL};
static const char *const c_library[] = {"libc.so", "libc-", NULL};
static const char *const cuda[] = {"libcudart", "libcuda.so", "libcsan", NULL};

static bool begins(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strncmp(name, *list, strlen(*list)) == 0)
            return true;
    return false;
}

const char *code_file(uint64_t address)
{
    struct loaded_object found;
    if (!address || !loaded_object_at((const void *)(uintptr_t)address, &found) ||
        !found.map->l_name)
        return NULL;
    const char *name = strrchr(found.map->l_name, '/');
    return name ? name + 1 : found.map->l_name;
}

/* "NCCL Progress 0", "NCCL Service 1". */
bool code_runs_for_nccl(void)
{
    char name[17] = "";
    return prctl(PR_GET_NAME, name) == 0 && strncmp(name, "NCCL ", 5) == 0;
}

bool code_is_in_c_library(uint64_t pc, uint64_t caller)
{
    const char *name = code_file(pc);
    if (!name || !begins(name, c_library))
        return false;
    name = code_file(caller);
    return !name || begins(name, c_library);
}

bool code_is_the_programs(uint64_t pc, uint64_t caller)
{
    const char *name = code_file(pc);
    if (code_runs_for_nccl())
        return false;
    if (!name)
        return true;
    if (begins(name, c_library)) {
        name = code_file(caller);
        if (!name || begins(name, c_library))
            return false;
    }
    return !begins(name, others);
}

bool code_is_a_librarys(const void *const *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = code_file((uintptr_t)frames[i]);
        if (!name || !begins(name, cuda))
            return name && begins(name, others);
    }
    return false;
}
