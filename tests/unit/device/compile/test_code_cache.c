/* Compiled kernels on disk: what is trusted, what is removed. */
#include "runtime/device/compile/code_cache.h"
#include "runtime/device/compile/host_compiler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[256];

static void path_of(char *path, const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", directory, name);
}

/* Compiles a kernel that says it is `says`, to the file `name`.so. */
static void compile(const char *name, const char *says)
{
    char text[256], path[PATH_MAX];
    const struct timespec moment = {0, 10000000};
    uint64_t mark;
    const char *compiler = host_compiler_find(&mark);
    assert_non_null(compiler);
    const int bytes = snprintf(text, sizeof text,
                               "int csan_kernel(void *c) { (void)c; return 7; }\n"
                               "const char csan_kernel_name[] = \"%s\";\n",
                               says);
    assert_true(host_compiler_start(compiler, directory, name, name, text, (size_t)bytes));
    snprintf(path, sizeof path, "%s/%s.so", directory, name);
    for (int i = 0; i < 3000 && access(path, F_OK) != 0; i++)
        nanosleep(&moment, NULL);
    assert_int_equal(access(path, F_OK), 0);
}

static bool loads(const char *name)
{
    void *handle;
    compiled_run *run = code_cache_load(directory, name, &handle);
    if (run)
        assert_int_equal(run(NULL), 7);
    if (run)
        dlclose(handle);
    return run != NULL;
}

static void write_file(const char *name, const char *text, mode_t mode, time_t used)
{
    char path[PATH_MAX];
    path_of(path, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    const struct timespec times[2] = {{.tv_sec = used}, {.tv_sec = used}};
    assert_int_equal(fchmod(file, mode) | futimens(file, times), 0);
    close(file);
}

static void only_the_user_has_rights(void **unused)
{
    (void)unused;
    struct stat status;
    char path[PATH_MAX];
    compile("mine", "mine");
    assert_int_equal(stat(directory, &status), 0);
    assert_int_equal(status.st_mode & 077, 0);
    path_of(path, "mine.so");
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 077, 0);
    assert_true(loads("mine"));
}

static void what_is_not_plainly_ours_is_not_loaded(void **unused)
{
    (void)unused;
    char path[PATH_MAX], link[PATH_MAX];
    compile("other", "another");
    assert_false(loads("other")); /* it says another name */
    assert_false(loads("missing"));
    write_file("text.so", "no machine code", 0600, time(NULL));
    assert_false(loads("text"));
    compile("open", "open");
    path_of(path, "open.so");
    assert_int_equal(chmod(path, 0622), 0);
    assert_false(loads("open")); /* others could have written it */
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(loads("open"));
    path_of(link, "link.so");
    assert_int_equal(symlink(path, link), 0);
    assert_false(loads("link"));
    unlink(link);
}

static void what_cannot_be_compiled_says_so(void **unused)
{
    (void)unused;
    uint64_t mark;
    const struct timespec moment = {0, 10000000};
    const char *compiler = host_compiler_find(&mark);
    assert_true(host_compiler_start(compiler, directory, "bad", "never", "no C", 4));
    bool failed = false;
    for (int i = 0; i < 3000 && !failed; i++) {
        failed = code_cache_take(directory, "bad", "failed");
        nanosleep(&moment, NULL);
    }
    assert_true(failed);
    assert_false(code_cache_take(directory, "bad", "failed")); /* it was taken */
    assert_false(loads("never"));
}

static void the_cache_is_bounded(void **unused)
{
    (void)unused;
    char name[32], path[PATH_MAX];
    const time_t now = time(NULL);
    for (int i = 0; i < CODE_CACHE_FILES + 20; i++) {
        snprintf(name, sizeof name, "k%d.so", i);
        write_file(name, "x", 0600, now - 1000 - i);
    }
    write_file("k.123.c", "left behind", 0600, now - 4000);
    write_file("k.124.c", "at work", 0600, now);
    code_cache_trim(directory);
    path_of(path, "k0.so");
    assert_int_equal(access(path, F_OK), 0);
    for (int i = CODE_CACHE_FILES; i < CODE_CACHE_FILES + 20; i++) {
        snprintf(name, sizeof name, "k%d.so", i);
        path_of(path, name);
        assert_int_not_equal(access(path, F_OK), 0); /* the oldest */
    }
    path_of(path, "k.123.c");
    assert_int_not_equal(access(path, F_OK), 0);
    path_of(path, "k.124.c");
    assert_int_equal(access(path, F_OK), 0);
}

static void a_directory_of_others_is_refused(void **unused)
{
    (void)unused;
    char root[] = "/tmp/csan-open-XXXXXX", path[PATH_MAX];
    assert_non_null(mkdtemp(root));
    assert_int_equal(chmod(root, 0777), 0);
    setenv("CSAN_CACHE", root, 1);
    assert_false(code_cache_open(path, sizeof path));
    setenv("CSAN_CACHE", "/nowhere", 1);
    if (geteuid() != 0)
        assert_false(code_cache_open(path, sizeof path));
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    char root[] = "/tmp/csan-cache-XXXXXX", command[64];
    if (!mkdtemp(root))
        return 1;
    setenv("CSAN_CACHE", root, 1);
    if (!code_cache_open(directory, sizeof directory))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_user_has_rights),
        cmocka_unit_test(what_is_not_plainly_ours_is_not_loaded),
        cmocka_unit_test(what_cannot_be_compiled_says_so),
        cmocka_unit_test(the_cache_is_bounded),
        cmocka_unit_test(a_directory_of_others_is_refused),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command) != 0 || failed;
}
