/* Lines of source around a place, and why there are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/cli/findings/source_excerpt.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODIFIED = 1000 }; /* seconds since 1970 */
static const uint64_t RAN = (MODIFIED + 1) * UINT64_C(1000000000);

static char directory[] = "/tmp/test_source_excerpt.XXXXXX";
static char path[sizeof directory + 16];

static void modify(long seconds, long nanoseconds)
{
    const struct timespec times[2] = {{seconds, nanoseconds}, {seconds, nanoseconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void write_file(const char *name, const char *text, size_t bytes)
{
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    fclose(file);
    modify(MODIFIED, 0);
}

static struct source_excerpt excerpt_of(uint32_t line, uint64_t ran)
{
    struct source_cache cache = {0};
    struct source_excerpt excerpt;
    source_excerpt_read(&cache, &excerpt, path, line, ran);
    source_cache_free(&cache);
    return excerpt;
}

static void expect_problem(const char *problem, uint32_t line, uint64_t ran)
{
    const struct source_excerpt excerpt = excerpt_of(line, ran);
    assert_non_null(excerpt.problem);
    assert_non_null(strstr(excerpt.problem, problem));
    assert_int_equal(excerpt.count, 0);
}

static void lines_around(void **state)
{
    (void)state;
    static const char text[] = "1\n2\n3\n\n5\r\n6\n7\n8\n9"; /* no end of line at its end */
    write_file("a.cu", text, sizeof text - 1);
    struct source_excerpt excerpt = excerpt_of(5, RAN);
    assert_null(excerpt.problem);
    assert_int_equal(excerpt.first, 2);
    assert_int_equal(excerpt.count, 7);
    assert_string_equal(excerpt.lines[0], "2");
    assert_string_equal(excerpt.lines[2], "");
    assert_string_equal(excerpt.lines[3], "5");
    assert_string_equal(excerpt.lines[6], "8");
    excerpt = excerpt_of(1, RAN);
    assert_int_equal(excerpt.first, 1);
    assert_int_equal(excerpt.count, 4);
    excerpt = excerpt_of(9, RAN);
    assert_int_equal(excerpt.count, 4);
    assert_string_equal(excerpt.lines[3], "9");
}

static void lines_that_are_not_there(void **state)
{
    (void)state;
    write_file("b.cu", "1\n2\n", 4);
    expect_problem("fewer lines", 3, RAN);
    expect_problem("fewer lines", UINT32_MAX, RAN);
    write_file("empty.h", "", 0);
    expect_problem("fewer lines", 1, RAN);
}

static void long_lines_are_cut(void **state)
{
    (void)state;
    char text[EXCERPT_COLUMNS * 2];
    memset(text, 'x', sizeof text);
    write_file("c.cu", text, sizeof text);
    assert_int_equal(strlen(excerpt_of(1, RAN).lines[0]), EXCERPT_COLUMNS);
}

static void source_that_is_newer(void **state)
{
    (void)state;
    write_file("d.cu", "1\n", 2);
    modify(MODIFIED + 1, 0);
    assert_null(excerpt_of(1, RAN).problem);
    modify(MODIFIED + 1, 1);
    expect_problem("newer than the recording", 1, RAN);
    expect_problem("is not known", 1, 0);
}

static void a_large_file(void **state)
{
    (void)state;
    const size_t bytes = SOURCE_BYTES_MAX + 10;
    char *text = malloc(bytes);
    assert_non_null(text);
    memset(text, '\n', bytes);
    write_file("e.cu", text, bytes);
    free(text);
    assert_null(excerpt_of(SOURCE_BYTES_MAX, RAN).problem);
    expect_problem("beyond the first MiB", SOURCE_BYTES_MAX + 5, RAN);
}

static void what_is_no_source(void **state)
{
    (void)state;
    write_file("secret", "1\n", 2);
    expect_problem("no name of source", 1, RAN);
    write_file("f.key", "1\n", 2);
    expect_problem("no name of source", 1, RAN);
    write_file("g.cu", "a\0b\n", 4);
    expect_problem("no text", 1, RAN);
    snprintf(path, sizeof path, "%s/gone.cu", directory);
    expect_problem("not here", 1, RAN);
    snprintf(path, sizeof path, "%s/h.cu", directory);
    assert_int_equal(mkdir(path, 0700), 0);
    expect_problem("no regular file", 1, RAN);
    snprintf(path, sizeof path, "%s/i.cu", directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_problem("no regular file", 1, RAN);
}

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    char command[sizeof directory + 16];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_around),       cmocka_unit_test(lines_that_are_not_there),
        cmocka_unit_test(long_lines_are_cut), cmocka_unit_test(source_that_is_newer),
        cmocka_unit_test(a_large_file),       cmocka_unit_test(what_is_no_source),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
