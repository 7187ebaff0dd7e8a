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
#include <pthread.h>
#include <signal.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
/* What gcc may leave out: it takes a quarter less time, and the code is as fast. clang knows none
 * of these flags, and says so at once. */
#define LEFT_OUT                                                                                   \
    "-fno-tree-ccp -fno-tree-bit-ccp -fno-tree-sra -fno-tree-pta -fno-tree-sink -fno-tree-slsr "   \
    "-fno-tree-reassoc -fno-ssa-phiopt -fno-tree-copy-prop -fno-tree-dse "
static const char script[] =
    "umask 077; cd \"$2\" || exit 1; compiler=$1; part=$3; to=$4; level=$5; "
    "compile() { \"$compiler\" -w $level \"$@\" " PROCESSOR_FLAGS
    "-fopenmp-simd -fno-trapping-math -march=native -shared -fPIC -nostdlib -std=gnu11 "
    "-ffp-contract=off -fno-math-errno -fno-strict-aliasing -fwrapv "
    "-fno-asynchronous-unwind-tables -o \"$part.part\" \"$part.c\"; }; "
    "((compile " LEFT_OUT "|| compile) && mv -f \"$part.part\" \"$to.so\" || : > \"$part.failed\"; "
    "rm -f \"$part.c\" \"$part.part\")";

/* The variables that a compiler needs, and no others: none changes what it makes. */
enum { VARIABLES = 3, NICE = 5, STACK_BYTES = 1 << 16 };
/* Kernels before 5.9, and some containers, close descriptors one by one. */
enum { DESCRIPTORS_MOST = 1 << 16 };

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

/* It runs beside what the sanitizers know. */
#define UNCHECKED __attribute__((no_sanitize("thread"), no_sanitize("address")))

/* What the new processes need. They share this one's memory until the last becomes the shell. */
struct beginning {
    char *const *arguments;
    char **variables;
    char *stack;          /* its end, for the second */
    uint32_t descriptors; /* all are below */
    volatile bool failed;
};

/* Whoever waits for the end of the program's output, or for a lock that it holds, is not to wait
 * for a compiler. In their place it gets /dev/null for input, output and errors. */
UNCHECKED static void close_all(const struct beginning *beginning)
{
    if (syscall(SYS_close_range, 0, UINT32_MAX, 0) != 0)
        for (uint32_t number = 0; number < beginning->descriptors; number++)
            syscall(SYS_close, number);
    syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR);
    syscall(SYS_dup, STDIN_FILENO);
    syscall(SYS_dup, STDIN_FILENO);
}

/* The second process. It makes system calls alone: functions of the C library may be the hooks'
 * own, whose state is that of the program. */
UNCHECKED static int become_shell(void *data)
{
    struct beginning *beginning = data;
    const uint64_t usual[4] = {0}, none = 0; /* SIG_DFL; as the kernel has them */
    for (int number = 1; number < NSIG; number++)
        syscall(SYS_rt_sigaction, number, usual, NULL, sizeof none);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
    syscall(SYS_setpriority, PRIO_PROCESS, 0, NICE);
    close_all(beginning);
    syscall(SYS_execve, beginning->arguments[0], beginning->arguments, beginning->variables);
    beginning->failed = true;
    syscall(SYS_exit, 127);
    return 127;
}

/* The first process. It ends at once, so the shell is no child of the program. */
UNCHECKED static int begin(void *data)
{
    struct beginning *beginning = data;
    if (clone(become_shell, beginning->stack, CLONE_VM | CLONE_VFORK | SIGCHLD, beginning) < 0)
        beginning->failed = true;
    syscall(SYS_exit, 0);
    return 0;
}

/* The first process of a container, for one, which would find the shell among its children. */
static bool gets_orphans(void)
{
    int reaper = 0;
    return getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &reaper) == 0 && reaper);
}

static uint32_t descriptors_find(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < DESCRIPTORS_MOST
               ? (uint32_t)limit.rlim_cur
               : (uint32_t)DESCRIPTORS_MOST;
}

/* The first process has no signal at its end, so wait, waitpid and waitid of the program do not
 * find it, and no SIGCHLD comes. (One that became the shell would get that signal back.) This
 * thread stands still until it has ended. */
static bool spawn(char *const *arguments)
{
    if (gets_orphans())
        return false;
    char text[VARIABLES][PATH_MAX], *variables[VARIABLES + 1];
    sigset_t all, before;
    fill_environment(text, variables);
    char *stacks = mmap(NULL, (size_t)2 * STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED)
        return false;
    struct beginning beginning = {arguments, variables, stacks + STACK_BYTES, descriptors_find(),
                                  false};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* no handler runs there */
    const pid_t process =
        clone(begin, stacks + 2 * STACK_BYTES, CLONE_VM | CLONE_VFORK, &beginning);
    while (process > 0 && syscall(SYS_wait4, process, NULL, __WCLONE, NULL) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stacks, (size_t)2 * STACK_BYTES);
    return process > 0 && !beginning.failed;
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
