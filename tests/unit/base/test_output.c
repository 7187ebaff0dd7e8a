/* Unit tests of csan/base/output.h: files of csan's in a process that closes every descriptor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char scratch[] = "/tmp/csan-output-XXXXXX";

enum { LINES = 4000, DESCRIPTORS = 64 };

static const char *in_scratch(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    return path;
}

static int scratch_make(void **state)
{
    (void)state;
    return mkdtemp(scratch) ? 0 : -1;
}

static int scratch_remove(void **state)
{
    (void)state;
    for (const char *const *name = (const char *const[]){"closed", "new", "renamed", NULL}; *name;
         name++)
        unlink(in_scratch(*name));
    return rmdir(scratch);
}

/* What daemons do once, done all the time. It races with csan on purpose, which ThreadSanitizer
 * would see in close. */
static void *close_all(void *finished)
{
    while (!atomic_load((atomic_bool *)finished)) {
        for (int descriptor = STDERR_FILENO + 1; descriptor < DESCRIPTORS; descriptor++)
            syscall(SYS_close, descriptor);
        usleep(10);
    }
    return NULL;
}

static void lines_write(struct output_file *file, const char *path, int flags)
{
    char line[16];
    for (int i = 0; i < LINES; i++) {
        const int bytes = snprintf(line, sizeof line, "%07d\n", i);
        const off_t at = flags & O_APPEND ? -1 : (off_t)i * bytes;
        assert_int_equal(output_file_write(file, path, flags, at, line, (size_t)bytes), 0);
    }
}

static void lines_check(const char *path)
{
    FILE *file = fopen(path, "re");
    char line[16];
    int count = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char expected[16];
        snprintf(expected, sizeof expected, "%07d\n", count++);
        assert_string_equal(line, expected);
    }
    assert_int_equal(count, LINES);
    fclose(file);
}

static void closed_meanwhile(int flags)
{
    const char *path = in_scratch("closed");
    struct output_file file;
    atomic_bool finished = false;
    pthread_t closer;
    assert_int_equal(pthread_create(&closer, NULL, close_all, &finished), 0);
    assert_int_equal(output_file_open(&file, path, O_TRUNC | flags), 0);
    lines_write(&file, path, flags);
    atomic_store(&finished, true);
    pthread_join(closer, NULL);
    output_file_close(&file);
    lines_check(path);
}

static void appended_while_descriptors_are_closed(void **state)
{
    (void)state;
    closed_meanwhile(O_APPEND);
}

static void placed_while_descriptors_are_closed(void **state)
{
    (void)state;
    closed_meanwhile(0);
}

static void a_new_file_is_new(void **state)
{
    (void)state;
    const char *path = in_scratch("new");
    struct output_file file, other;
    assert_int_equal(output_file_open(&file, path, O_EXCL), 0);
    assert_int_not_equal(output_file_open(&other, path, O_EXCL), 0);
    output_file_close(&file);
}

static void another_file_of_the_name_is_left_alone(void **state)
{
    (void)state;
    char other[128];
    snprintf(other, sizeof other, "%s/new", scratch);
    const char *path = in_scratch("renamed");
    struct output_file file;
    assert_int_equal(output_file_open(&file, path, O_APPEND), 0);
    close(file.descriptor);
    close(open(other, O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
    assert_int_equal(rename(other, path), 0);
    assert_int_equal(output_file_write(&file, path, O_APPEND, -1, "x", 1), ENOENT);
    assert_int_equal(access(path, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_while_descriptors_are_closed),
        cmocka_unit_test(placed_while_descriptors_are_closed),
        cmocka_unit_test(a_new_file_is_new),
        cmocka_unit_test(another_file_of_the_name_is_left_alone),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
