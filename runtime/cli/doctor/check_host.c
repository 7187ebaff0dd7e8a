/* csan itself, and what it needs of the system. See check.h. */
#include "runtime/cli/doctor/check.h"
#include "csan/base/environment.h"
#include "csan/options.h"
#include "runtime/device/library/cpu.h"
#include "runtime/learn/cache.h"

#include <csan/csan.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SECONDS = 60 };

/* ---- csan ---- */

static const char *const parts[] = {
    "libcsan.so.0",
    "libcsan_rt.so.0",
    "libcsan_threads.so.0",
    "csan/embedded/libcuda.so.1",
    "csan/embedded/libcudart.so.12",
    "csan/embedded/libcudart.so.13",
    "csan/python/sitecustomize.py",
};

struct csan_answer {
    bool libcsan, libunwind;
    char why[256];
};

static void ask_csan(void *to, const struct doctor *doctor)
{
    struct csan_answer *answer = to;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/csan/libunwind.so.8", doctor->lib);
    answer->libunwind =
        dlopen(path, RTLD_LAZY | RTLD_LOCAL) || dlopen("libunwind.so.8", RTLD_LAZY | RTLD_LOCAL);
    snprintf(path, sizeof path, "%s/libcsan.so.0", doctor->lib);
    answer->libcsan = dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL;
    if (!answer->libcsan)
        snprintf(answer->why, sizeof answer->why, "%s", dlerror());
}

void check_csan(struct check *check, const struct doctor *doctor)
{
    struct csan_answer answer = {0};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(path, sizeof path, "%s/%s", doctor->lib, parts[i]);
        if (access(path, R_OK) == 0)
            continue;
        check_found(check, "cannot read %.400s: %s", path, strerror(errno));
        check_lacks(check, CHECK_BROKEN, "programs are not checked", "install csan again");
        return;
    }
    if (!check_ask(ask_csan, doctor, &answer, sizeof answer, SECONDS) || !answer.libcsan) {
        check_found(check, "libcsan.so.0 cannot be loaded: %s", answer.why);
        check_lacks(check, CHECK_BROKEN, "programs are not checked", "install csan again");
        return;
    }
    check_found(check, "%d.%d in %.300s; stacks by %s", CSAN_VERSION_MAJOR, CSAN_VERSION_MINOR,
                doctor->lib, answer.libunwind ? "libunwind" : "the C library's unwinder");
    if (!answer.libunwind)
        check_lacks(check, CHECK_ABSENT, "taking stacks is some ten times slower",
                    "install libunwind (Debian: libunwind8; Fedora, RHEL: libunwind)");
}

/* ---- What the environment says ---- */

void check_variables(struct check *check, const struct doctor *doctor)
{
    const char *text = environment_get_text("CSAN_OPTIONS"), *csan = environment_get("CSAN");
    const char *device = environment_get_text("CSAN_DEVICE");
    char message[256] = "";
    struct options options;
    (void)doctor;
    options_default(&options);
    if (options_parse(&options, text ? text : "", message, sizeof message) != 0) {
        check_found(check, "CSAN_OPTIONS: %s", message);
        check_lacks(check, CHECK_BROKEN, "programs are not started", "csan help lists the options");
    } else if (device && strcmp(device, "auto") != 0 && strcmp(device, "gpu") != 0 &&
               strcmp(device, "embedded") != 0) {
        check_found(check, "CSAN_DEVICE is '%.100s'", device);
        check_lacks(check, CHECK_BROKEN, "programs are not started",
                    "set it to auto, gpu or embedded");
    } else {
        check_found(check, "CSAN=%.20s CSAN_DEVICE=%.20s CSAN_OPTIONS=%.300s", csan ? csan : "",
                    device ? device : "", text ? text : "");
    }
}

/* ---- OpenBLAS and FFTW ---- */

static void ask_cpu_libraries(void *to, const struct doctor *doctor)
{
    static const struct cpu_library_name names[CPU_LIBRARIES] = CPU_LIBRARY_NAMES;
    bool *found = to;
    (void)doctor;
    for (int i = 0; i < CPU_LIBRARIES; i++)
        found[i] = dlopen(names[i].file, RTLD_NOW | RTLD_LOCAL) != NULL;
}

void check_cpu_libraries(struct check *check, const struct doctor *doctor)
{
    static const struct cpu_library_name names[CPU_LIBRARIES] = CPU_LIBRARY_NAMES;
    bool found[CPU_LIBRARIES] = {false};
    char missing[128] = "", packages[128] = "";
    const bool answered = check_ask(ask_cpu_libraries, doctor, found, sizeof found, SECONDS);
    for (int i = 0; i < CPU_LIBRARIES; i++) {
        if (answered && found[i])
            continue;
        snprintf(missing + strlen(missing), sizeof missing - strlen(missing), " %s", names[i].file);
        snprintf(packages + strlen(packages), sizeof packages - strlen(packages), " %s",
                 names[i].package);
    }
    if (!*missing) {
        check_found(check, "OpenBLAS and FFTW are there");
        return;
    }
    check_found(check, "missing:%s", missing);
    check_lacks(check, CHECK_ABSENT,
                "on the embedded device, cuBLAS, cuSOLVER, cuSPARSE or cuFFT do not work",
                "apt-get install%s (Fedora, RHEL: dnf install openblas fftw-libs)", packages);
}

/* ---- The page guard ---- */

static sigjmp_buf after_fault;
static volatile sig_atomic_t writes = -1;

static void fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
#ifdef __x86_64__
    writes = (((ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
    (void)context;
    writes = 1;
#endif
    siglongjmp(after_fault, 1);
}

struct guard_answer {
    bool mapped, faulted, says_writes;
};

static void ask_guard(void *to, const struct doctor *doctor)
{
    struct guard_answer *answer = to;
    struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO};
    volatile char *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)doctor;
    answer->mapped = page != MAP_FAILED && mprotect((void *)(uintptr_t)page, 4096, PROT_READ) == 0;
    if (!answer->mapped || sigaction(SIGSEGV, &action, NULL) != 0)
        return;
    if (sigsetjmp(after_fault, 1) == 0)
        *page = 1;
    else
        answer->faulted = true;
    answer->says_writes = writes == 1;
}

static unsigned long most_mappings(void)
{
    unsigned long most = 0;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
    if (file && fscanf(file, "%lu", &most) != 1)
        most = 0;
    if (file)
        fclose(file);
    return most;
}

void check_guard(struct check *check, const struct doctor *doctor)
{
    enum { USUAL = 65530, PAGE_BYTES = 4096 };
    static const char without[] = "host=guard sees no load or store of the host";
    const unsigned long mappings = most_mappings();
    const long page = sysconf(_SC_PAGESIZE);
    struct guard_answer answer = {0};
    const bool answered = check_ask(ask_guard, doctor, &answer, sizeof answer, SECONDS);
    if (page != PAGE_BYTES) {
        check_found(check, "pages have %ld bytes", page);
        check_lacks(check, CHECK_ABSENT, without, "host=instrumented works with any page");
    } else if (!answered || !answer.mapped || !answer.faulted || !answer.says_writes) {
        check_found(check, "a store to a read-only page was not caught");
        check_lacks(check, CHECK_ABSENT, without,
                    "this system restricts mprotect or signals: use host=instrumented");
    } else if (mappings && mappings < USUAL) {
        check_found(check, "vm.max_map_count is %lu", mappings);
        check_lacks(check, CHECK_ABSENT, "host=guard guards fewer pages",
                    "as root: sysctl vm.max_map_count=%d", USUAL);
    } else {
        check_found(check, "a store to a read-only page is caught; vm.max_map_count is %lu",
                    mappings);
    }
}

/* ---- Permissions ---- */

/* The first device file of NVIDIA's that may not be used. */
static bool closed_device(char *path, size_t bytes)
{
    glob_t files;
    bool closed = false;
    if (glob("/dev/nvidia*", 0, NULL, &files) != 0)
        return false;
    for (size_t i = 0; !closed && i < files.gl_pathc; i++) {
        closed = access(files.gl_pathv[i], R_OK | W_OK) != 0 && errno == EACCES;
        if (closed)
            snprintf(path, bytes, "%s", files.gl_pathv[i]);
    }
    globfree(&files);
    return closed;
}

/* Without the slash at its end. */
static void path_trim(char *path)
{
    const size_t length = strlen(path);
    if (length > 1 && path[length - 1] == '/')
        path[length - 1] = '\0';
}

void check_permissions(struct check *check, const struct doctor *doctor)
{
    static const char relearns[] = "each run learns anew, and compiles PyTorch's adapter anew";
    char cache[PATH_MAX], device[128];
    const char *refusal;
    (void)doctor;
    if (closed_device(device, sizeof device)) {
        check_found(check, "%s may not be opened", device);
        check_lacks(check, CHECK_BROKEN, "no GPU is used",
                    "join the group that owns it, or let the administrator change its mode");
    } else if (!cache_directory(cache, sizeof cache, "")) {
        check_found(check, "there is no folder for csan's cache: HOME is not set");
        check_lacks(check, CHECK_ABSENT, relearns, "set CSAN_CACHE to a folder of your own");
    } else if (path_trim(cache), (refusal = cache_refusal(cache)) != NULL) {
        check_found(check, "%.300s %s", cache, refusal);
        check_lacks(check, CHECK_BROKEN, relearns, "set CSAN_CACHE to a folder of your own");
    } else if (!cache_make(cache)) {
        check_found(check, "%.300s cannot be made: %s", cache, strerror(errno));
        check_lacks(check, CHECK_ABSENT, relearns, "set CSAN_CACHE to a folder of your own");
    } else {
        check_found(check, "the cache is %.400s", cache);
    }
}
