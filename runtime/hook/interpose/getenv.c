/* getenv, as programs see it. NVTX asks for NVTX_INJECTION64_PATH, the library to attach. If the
 * program's environment has none and csan is on, the answer is libcsan. The environment itself does
 * not change, so programs that this one starts find what they would find without csan. A profiler
 * that has set the variable is left alone.
 *
 * Every other question goes to the next getenv (libc_next.h). Never built with a sanitizer, for the
 * reason that dlsym.c gives. */
#include "runtime/hook/interpose/libc_next.h"
#include "runtime/hook/session/session.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As the C library's own. */
static char *environment_find(const char *name)
{
    const size_t length = strlen(name);
    for (char **at = environ; at && *at; at++)
        if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
            return *at + length + 1;
    return NULL;
}

/* libcsan's, which has what NVTX asks for (api/nvtx.c). */
static char *own_path(void)
{
    Dl_info info;
    return dladdr((void *)&environment_find, &info) ? (char *)info.dli_fname : NULL;
}

static __attribute__((noinline)) char *getenv_slow(const char *name)
{
    char *value = libc_next.getenv ? libc_next.getenv(name) : environment_find(name);
    if (strcmp(name, "NVTX_INJECTION64_PATH") != 0)
        return value;
    return value || !session_start() ? value : own_path();
}

/* CUDA's libraries ask at each of their calls: tests of the first letter and a jump. */
__attribute__((visibility("default"))) char *getenv(const char *name)
{
    libc_getenv *const next = libc_next.getenv;
    if (__builtin_expect(!next, 0) || __builtin_expect(name[0] == 'N', 0))
        return getenv_slow(name);
    return next(name);
}
