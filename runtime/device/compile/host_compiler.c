/* See host_compiler.h. */
#include "runtime/device/compile/host_compiler.h"
#include "csan/base/environment.h"
#include "csan/base/hash.h"
#include "runtime/learn/cache.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *level = "-O1";

void host_compiler_set_level(const char *flag)
{
    level = flag;
}

/* ---- which ---------------------------------------------------------------------------------- */

static bool find_on_path(const char *name, char *path, size_t bytes, struct stat *status)
{
    const char *at = environment_get_text("PATH");
    while (at && *at) {
        const char *end = strchrnul(at, ':');
        const int length = (int)(end - at);
        /* A relative folder may hold anything. */
        if (*at == '/' && (size_t)snprintf(path, bytes, "%.*s/%s", length, at, name) < bytes &&
            access(path, X_OK) == 0 && stat(path, status) == 0 && S_ISREG(status->st_mode))
            return true;
        at = *end ? end + 1 : end;
    }
    return false;
}

/* The processor's features: the code is for exactly this one (-march=native). */
static uint64_t processor_mark(void)
{
    uint64_t mark = 0;
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    for (unsigned leaf = 1; leaf <= 7; leaf += 6) {
        __get_cpuid_count(leaf, 0, &a, &b, &c, &d);
        b = leaf == 1 ? 0 : b; /* leaf 1 has the core's number there */
        mark = hash_spread(mark ^ ((uint64_t)a << 32 | b));
        mark = hash_spread(mark ^ ((uint64_t)c << 32 | d));
    }
#else
    mark = hash_spread(getauxval(AT_HWCAP)) ^ getauxval(AT_HWCAP2);
#endif
    return mark;
}

const char *host_compiler_find(uint64_t *mark)
{
    static const char *const names[] = {"cc", "gcc", "clang"};
    static char path[PATH_MAX];
    struct stat status;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (find_on_path(names[k], path, sizeof path, &status)) {
            *mark = processor_mark();
            *mark = hash_spread(*mark ^ (uint64_t)status.st_size);
            *mark = hash_spread(*mark ^ (uint64_t)status.st_mtim.tv_sec);
            *mark = hash_spread(*mark ^ (uint64_t)status.st_ino);
            *mark = hash_mix_bytes(*mark, level, strlen(level));
            return path;
        }
    return NULL;
}

/* ---- the process ---------------------------------------------------------------------------- */

/* Floating point as the engine's own build has it (runtime/device/exec/build.mk), but for rounding
 * modes: what rounds otherwise is called. The file has its name when it is whole, and nobody but
 * the user has rights to it. */
#if defined(__x86_64__)
#define PROCESSOR_FLAGS "-mvzeroupper "
#else
#define PROCESSOR_FLAGS ""
#endif
static const char script[] =
    "umask 077; cd \"$2\" || exit 1; ("
    "\"$1\" -w $5 -fexpensive-optimizations " PROCESSOR_FLAGS "-fopenmp-simd -fno-trapping-math "
    "-march=native -shared -fPIC -nostdlib -std=gnu11 "
    "-ffp-contract=off -fno-math-errno -fno-strict-aliasing -fwrapv "
    "-o \"$3.part\" \"$3.c\" && mv -f \"$3.part\" \"$4.so\" || : > \"$3.failed\"; "
    "rm -f \"$3.c\" \"$3.part\") > /dev/null 2>&1 < /dev/null &";

/* The variables that a compiler needs, and no others: none changes what it makes. */
enum { VARIABLES = 3 };

static void fill_environment(char (*text)[PATH_MAX], char **variables)
{
    static const char *const names[VARIABLES] = {"PATH", "HOME", "TMPDIR"};
    size_t count = 0;
    for (size_t k = 0; k < VARIABLES; k++) {
        const char *value = environment_get_text(names[k]);
        if (value && snprintf(text[k], PATH_MAX, "%s=%s", names[k], value) < PATH_MAX)
            variables[count++] = text[k];
    }
    variables[count] = NULL;
}

static bool spawn(char *const *arguments)
{
    posix_spawnattr_t attributes;
    sigset_t none, all;
    pid_t process;
    char text[VARIABLES][PATH_MAX], *variables[VARIABLES + 1];
    fill_environment(text, variables);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    const int error = posix_spawn(&process, arguments[0], NULL, &attributes, arguments, variables);
    posix_spawnattr_destroy(&attributes);
    /* The shell ends as soon as it has put the compiler into the background. */
    while (!error && waitpid(process, NULL, 0) < 0 && errno == EINTR)
        ;
    return !error;
}

static bool write_text(const char *path, const char *text, unsigned long bytes)
{
    int file = cache_create(path);
    if (file < 0)
        return false;
    while (bytes > 0) {
        ssize_t written = write(file, text, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        text += written;
        bytes -= (unsigned long)written;
    }
    close(file);
    return bytes == 0;
}

bool host_compiler_start(const char *compiler, const char *directory, const char *work,
                         const char *name, const char *text, unsigned long bytes)
{
    char path[PATH_MAX];
    char *const arguments[] = {
        "/bin/sh",         "-c",         (char *)script, "sh",          (char *)compiler,
        (char *)directory, (char *)work, (char *)name,   (char *)level, NULL};
    if ((size_t)snprintf(path, sizeof path, "%s/%s.c", directory, work) >= sizeof path)
        return false;
    return write_text(path, text, bytes) && spawn(arguments);
}
