/* The interposition table is true: the library exports what driver.table says and the two headers
 * declare, and nothing else; dlsym and cuGetProcAddress give out the hook of the right version;
 * what is not csan's business comes back unchanged. */
#include "tests/unit/hook/test_hook.h"
#include "runtime/glibc/symbol_version.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdbool.h>
#include <string.h>

static void *driver;

/* ---- Exports ---- */

static void exports_are_the_table(void **state)
{
    (void)state;
    /* Left: the library, less what has a version. Right: the table's rows but queries, with their
     * per-thread forms, the functions of csan.h and detector.h, dlsym, the ways in which a process
     * ends or becomes another program, and the C library's functions that the guard of the host's
     * memory stands in front of. */
    assert_int_equal(
        system(
            "bash -c 'diff <(nm -D --defined-only " LIBCSAN
            " | grep -v -e @ -e \" A \" | cut -d\" \" -f3 | sort)"
            " <((awk \"/^cu/ && \\$5 != \\\"query\\\" {"
            " form = \\$2 == \\\"-\\\" ? \\\"\\\" : \\$2; print \\$1 form;"
            " if (\\$4 != \\\"-\\\") { split(\\$4, v, \\\"@\\\"); print \\$1 form v[1] } "
            "}\" " SOURCE "/runtime/hook/interpose/driver.table;"
            " cat " SOURCE "/include/csan/csan.h " SOURCE "/include/csan/detector.h"
            " | grep -v \"static inline\""
            " | grep -E \"^[a-z].*csan_[a-z_]+\\(\" | grep -oE \"csan_[a-z_]+\\(\" | tr -d \"(\";"
            " for name in dlsym getenv InitializeInjectionNvtx2 InitializeInjectionNvtxExtension "
            "pthread_create _exit _Exit "
            "quick_exit abort execve execv execvp execvpe execl "
            "execlp"
            " execle fexecve execveat posix_spawn posix_spawnp fork vfork syscall; do echo $name; "
            "done;"
            " sed -nE \"s/^(NEXT_)?EXPORTED [^(]*[ *]([a-z_0-9]+)[(].*/\\2/p\" " SOURCE
            "/runtime/hook/host/*.c;"
            " grep -oE \"[A-Z_]+[(][A-Za-z_0-9]+\" " SOURCE
            "/runtime/hook/host/host_arguments.def " SOURCE
            "/runtime/hook/host/host_parallel.def " SOURCE
            "/runtime/hook/host/host_waits.def | cut -d: -f2 | cut -d\"(\" -f2;"
            " grep -oE \"call[(][a-z_0-9]+\" " SOURCE
            "/runtime/hook/host/host_strings.c | cut -d\"(\" -f2) | sort -u)'"),
        0);
}

/* Before glibc 2.34 the C library was in three files (docs/development/packages.md). */
static void needs_the_c_library_alone(void **state)
{
    (void)state;
    assert_int_equal(system("test \"$(readelf -d " LIBCSAN " | grep NEEDED | grep -v"
                            " -e 'libc.so.6' -e 'libpthread.so.0' -e 'libdl.so.2'"
                            " -e ld-linux -e lib[a-z]*san.so)\" = ''"),
                     0);
}

/* Handlers at exit and of threads' ends point into it: closing a plugin that is linked with it must
 * not take it out of the process. */
static void stays_loaded(void **state)
{
    (void)state;
    assert_int_equal(system("readelf -d " LIBCSAN " | grep -q NODELETE"), 0);
}

/* ---- dlsym ---- */

static void dlsym_gives_hooks_of_the_driver(void **state)
{
    (void)state;
    assert_ptr_equal(dlsym(driver, "cuMemAlloc_v2"), (void *)cuMemAlloc_v2);
    assert_ptr_equal(dlsym(driver, "cuGetProcAddress_v2"), (void *)cuGetProcAddress_v2);
    assert_null(dlsym(driver, "cuMemAllocHost_v2")); /* this driver has none */
    assert_non_null(dlerror());
    void *unhooked = dlsym(driver, "cuDevicePrimaryCtxGetState");
    Dl_info info;
    assert_true(dladdr(unhooked, &info));
    assert_non_null(strstr(info.dli_fname, "libcuda.so.1"));
}

static void dlsym_leaves_everything_else(void **state)
{
    (void)state;
    void *c = dlopen("libc.so.6", RTLD_NOW);
    assert_ptr_equal(dlsym(c, "malloc"), dlvsym(c, "malloc", GLIBC_FIRST));
    assert_ptr_equal(dlsym(RTLD_DEFAULT, "csan_api"), (void *)csan_api);
    assert_null(dlsym(RTLD_DEFAULT, "no_such_symbol_anywhere"));
    dlclose(c);
}

/* RTLD_NEXT is answered by the caller's place: seen from the program, the next getenv is libc's.
 * From libcsan it would be too, but the next csan_api is libcsan's only when seen from the program.
 */
static void dlsym_keeps_the_caller(void **state)
{
    (void)state;
    assert_ptr_equal(dlsym(RTLD_NEXT, "csan_api"), (void *)csan_api);
    assert_null(dlsym(RTLD_NEXT, "main"));
}

/* ---- cuGetProcAddress ---- */

static void *entry(const char *name, int version, cuuint64_t flags)
{
    void *function = NULL;
    CUdriverProcAddressQueryResult status;
    if (cuGetProcAddress_v2(name, &function, version, flags, &status) != CUDA_SUCCESS)
        return NULL;
    return function;
}

static void lookup_gives_the_form_the_driver_would(void **state)
{
    (void)state;
    const cuuint64_t thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    assert_ptr_equal(entry("cuMemAlloc", 3020, 0), (void *)cuMemAlloc_v2);
    assert_ptr_equal(entry("cuMemAlloc", 13000, 0), (void *)cuMemAlloc_v2);
    assert_ptr_equal(entry("cuStreamSynchronize", 13000, 0), (void *)cuStreamSynchronize);
    assert_ptr_equal(entry("cuStreamSynchronize", 13000, thread), (void *)cuStreamSynchronize_ptsz);
    assert_ptr_equal(entry("cuMemcpyHtoD", 13000, thread), (void *)cuMemcpyHtoD_v2_ptds);
    assert_ptr_equal(entry("cuGetProcAddress", 13000, 0), (void *)cuGetProcAddress_v2);
}

static void lookup_passes_on_what_it_does_not_know(void **state)
{
    (void)state;
    void *newer = entry("cuMemAlloc", 14000, 0);
    Dl_info info;
    assert_true(dladdr(newer, &info));
    assert_string_equal(info.dli_sname, "fake_new_cuMemAlloc");
    assert_true(dladdr(entry("cuDevicePrimaryCtxGetState", 13000, 0), &info));
    assert_non_null(strstr(info.dli_fname, "libcuda.so.1"));
    assert_null(entry("cuNoSuchFunction", 13000, 0));
}

/* ---- Passing through ---- */

/* Does the table say so? When it no longer does, the tests below need another call. */
static bool is_unmodelled(const char *name)
{
    char line[256], found[128], class[32];
    bool unmodelled = false;
    FILE *table = fopen(SOURCE "/runtime/hook/interpose/driver.table", "r");
    assert_non_null(table);
    while (fgets(line, sizeof line, table))
        if (sscanf(line, "%127s %*s %*s %*s %31s", found, class) == 2 && strcmp(found, name) == 0)
            unmodelled = strcmp(class, "unmodelled") == 0;
    fclose(table);
    return unmodelled;
}

static void unmodelled_calls_reach_the_driver(void **state)
{
    (void)state;
    assert_true(is_unmodelled("cuMulticastUnbind"));
    uint64_t before = fake_calls();
    assert_int_equal(cuMulticastUnbind(0, 0, 0, 0), CUDA_SUCCESS);
    assert_int_equal(fake_calls(), before + 1);
    fake_fail_next(CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMulticastUnbind(0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

/* The driver has no cuMemPrefetchAsync: an error of its own, and no crash. */
static void calls_the_driver_lacks_fail(void **state)
{
    (void)state;
    assert_int_equal(cuMemPrefetchAsync(0, 0, 0, NULL), CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);
}

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exports_are_the_table),
        cmocka_unit_test(needs_the_c_library_alone),
        cmocka_unit_test(stays_loaded),
        cmocka_unit_test(dlsym_gives_hooks_of_the_driver),
        cmocka_unit_test(dlsym_leaves_everything_else),
        cmocka_unit_test(dlsym_keeps_the_caller),
        cmocka_unit_test(lookup_gives_the_form_the_driver_would),
        cmocka_unit_test(lookup_passes_on_what_it_does_not_know),
        cmocka_unit_test(unmodelled_calls_reach_the_driver),
        cmocka_unit_test(calls_the_driver_lacks_fail),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_table", tests, NULL, NULL));
}
