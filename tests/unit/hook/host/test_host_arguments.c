/* Functions whose arguments the kernel looks at: one that it refuses is made again with the
 * arguments open, one that would lose something has them opened before, and without guarded pages
 * each is a jump. The next functions are the C library's, but for a few of this test's, and for
 * those that an old C library lacks. */
#include "runtime/hook/host/host_arguments.h"
#include "runtime/hook/interpose/driver.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

bool host_access_guards, host_access_calls;

static char path[] = "path";
static int calls, open_now, opened;
static bool refuses; /* while nothing is open */

void lent_memory_begin_slow(struct lent_memory *call, const struct iovec *parts, size_t count,
                            bool writes)
{
    assert_int_equal(count, 1);
    assert_false(writes);
    call->on = true;
    open_now += parts->iov_base == path;
    opened += parts->iov_base == path;
}

void lent_memory_end_slow(struct lent_memory *call, size_t done, const char *name)
{
    (void)call, (void)name;
    assert_int_equal(done, 0);
    open_now = 0;
}

static long made(long refusal, long result)
{
    calls++;
    errno = refuses && !open_now ? EFAULT : ENOENT;
    return refuses && !open_now ? refusal : result;
}
static long next_number(const char *what)
{
    assert_ptr_equal(what, path);
    return made(-1, 7);
}
static void *next_pointer(const char *what)
{
    return (void *)made(0, (long)what);
}
static long next_error(long clock, long flags, const void *time)
{
    assert_int_equal(clock, 1);
    assert_int_equal(flags, 2);
    assert_ptr_equal(time, path);
    return made(EFAULT, 0);
}
/* Six arguments, which the second call has as well. */
static long next_long(long a, const void *b, long c, const void *d, long e, long f)
{
    assert_true(a == 1 && b == path && c == 3 && d == path + 1 && e == 5 && f == 6);
    return made(-1, 8);
}
static long next_losing(long socket)
{
    return made(-1, socket + 1);
}

void *driver_dlsym(void *handle, const char *symbol)
{
    static const struct {
        const char *name;
        void *function;
    } own[] = {{"rmdir", next_number},
               {"opendir", next_pointer},
               {"clock_nanosleep", next_error},
               {"copy_file_range", next_long},
               {"accept", next_losing},
               {"stat", NULL},
               {"lstat", NULL},
               {"fstat", NULL},
               {"fstatat", NULL}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(symbol, own[i].name))
            return own[i].function;
    return dlsym(handle, symbol);
}

static int begin(void **state)
{
    (void)state;
    calls = opened = 0;
    host_access_guards = host_access_calls = true;
    refuses = false;
    return 0;
}

static int end(void **state)
{
    (void)state;
    host_access_guards = host_access_calls = false;
    return 0;
}

static void is_made_once_where_nobody_refuses(void **state)
{
    (void)state;
    assert_int_equal(rmdir(path), 7);
    assert_int_equal(errno, ENOENT);
    assert_ptr_equal(opendir(path), path);
    assert_int_equal(clock_nanosleep(1, 2, (void *)path, NULL), 0);
    assert_int_equal(calls, 3);
    assert_int_equal(opened, 0);
}

static void is_made_again_with_its_arguments_open(void **state)
{
    (void)state;
    refuses = true;
    assert_int_equal(rmdir(path), 7);
    assert_int_equal(calls, 2);
    assert_ptr_equal(opendir(path), path);
    assert_int_equal(calls, 4);
    assert_int_equal(clock_nanosleep(1, 2, (void *)path, NULL), 0);
    assert_int_equal(calls, 6);
    assert_int_equal(copy_file_range(1, (void *)path, 3, (void *)(path + 1), 5, 6), 8);
    assert_int_equal(calls, 8);
    assert_int_equal(opened, 4);
    assert_int_equal(open_now, 0);
}

/* It failed for another reason. */
static void is_made_once_where_it_fails(void **state)
{
    (void)state;
    assert_int_equal(chdir("/proc/self/none"), -1);
    assert_int_equal(errno, ENOENT);
    assert_null(fopen("/proc/self/none", "r"));
    assert_int_equal(errno, ENOENT);
    assert_int_equal(opened, 0);
}

/* Where no next function is found yet, since the constructor of another library calls. */
static long early;
static void calls_early(void)
{
    early = rmdir(path);
}
__attribute__((section(".preinit_array"),
               used)) static void (*const before_constructors)(void) = calls_early;
static void a_constructor_may_call(void **state)
{
    (void)state;
    assert_int_equal(early, 7);
}

static void what_would_be_lost_is_opened_before(void **state)
{
    (void)state;
    refuses = true;
    assert_int_equal(accept(4, (void *)path, NULL), 5);
    assert_int_equal(calls, 1);
    assert_int_equal(opened, 1);
}

static void without_guarded_pages_is_made_as_it_is(void **state)
{
    (void)state;
    host_access_guards = host_access_calls = false;
    refuses = true;
    assert_int_equal(rmdir(path), -1);
    assert_int_equal(errno, EFAULT);
    assert_int_equal(accept(4, (void *)path, NULL), -1);
    assert_int_equal(calls, 2);
    assert_int_equal(opened, 0);
}

static void a_wrong_pointer_stays_wrong(void **state)
{
    struct stat *volatile nowhere = (struct stat *)16;
    (void)state;
    assert_int_equal(access((const char *)nowhere, R_OK), -1);
    assert_int_equal(errno, EFAULT);
}

static void an_old_library_lacks_stat(void **state)
{
    struct stat status, again;
    (void)state;
    assert_int_equal(stat("/proc/self/exe", &status), 0);
    assert_true(S_ISREG(status.st_mode) && status.st_size > 1000);
    assert_int_equal(lstat("/proc/self/exe", &again), 0);
    assert_true(S_ISLNK(again.st_mode));
    const int file = open("/proc/self/exe", O_RDONLY);
    assert_int_equal(fstat(file, &again), 0);
    assert_int_equal(again.st_ino, status.st_ino);
    assert_int_equal(fstatat(AT_FDCWD, "/proc/self/exe", &again, 0), 0);
    assert_int_equal(again.st_ino, status.st_ino);
    assert_int_equal(stat("/proc/self/none", &status), -1);
    assert_int_equal(errno, ENOENT);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(is_made_once_where_nobody_refuses, begin, end),
        cmocka_unit_test_setup_teardown(is_made_again_with_its_arguments_open, begin, end),
        cmocka_unit_test_setup_teardown(is_made_once_where_it_fails, begin, end),
        cmocka_unit_test(a_constructor_may_call),
        cmocka_unit_test_setup_teardown(what_would_be_lost_is_opened_before, begin, end),
        cmocka_unit_test_setup_teardown(without_guarded_pages_is_made_as_it_is, begin, end),
        cmocka_unit_test_setup_teardown(a_wrong_pointer_stays_wrong, begin, end),
        cmocka_unit_test_setup_teardown(an_old_library_lacks_stat, begin, end),
    };
    return cmocka_run_group_tests_name("host_arguments", tests, NULL, NULL);
}
