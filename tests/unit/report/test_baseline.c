/* Baselines: the set, and what is read of files, good and bad. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/report/baseline.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/csan-baseline-XXXXXX", message[512];

static struct baseline *load_bytes(const char *text, size_t bytes)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fwrite(text, 1, bytes, file);
    fclose(file);
    message[0] = '\0';
    return baseline_read(path, message, sizeof message);
}

static struct baseline *load(const char *text)
{
    return load_bytes(text, strlen(text));
}

#define HEAD "{\"format\": \"csan-report\", \"version\": 1, \"fingerprint_version\": 2,\n"
static const char good[] = HEAD
    " \"processes\": [{\"command\": \"say \\\"fingerprint\\\": \\\\\", \"rank\": 3}],\n"
    " \"races\": [{\"number\": 1, \"fingerprint\": \"0123456789abcdef\", \"accesses\": [{}, {}]},"
    "{\"text\": \"\\\"fingerprint\\\": \\\"1111111111111111\\\"\", "
    "\"fingerprint\":\"ffffffffffffffff\"}],\n"
    " \"known\": [{\"fingerprint\" :\n\"0000000000000000\"}], \"summary\": null}\n";

static int make_file(void **state)
{
    (void)state;
    unsetenv("CSAN_BASELINE");
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void a_set(void **state)
{
    (void)state;
    struct baseline *baseline = baseline_create();
    assert_false(baseline_has(baseline, 0));
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(baseline_add(baseline, i * 0x9e3779b97f4a7c15));
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(baseline_has(baseline, i * 0x9e3779b97f4a7c15));
    assert_false(baseline_has(baseline, 1));
    assert_true(baseline_add(baseline, 1)); /* after it was asked */
    assert_true(baseline_has(baseline, 1));
    baseline_free(baseline);
}

static void a_report(void **state)
{
    (void)state;
    struct baseline *baseline = load(good);
    assert_string_equal(message, "");
    assert_non_null(baseline);
    assert_true(baseline_has(baseline, 0x0123456789abcdef));
    assert_true(baseline_has(baseline, UINT64_MAX));
    assert_true(baseline_has(baseline, 0));                   /* it was known there, too */
    assert_false(baseline_has(baseline, 0x1111111111111111)); /* words in a report's text */
    baseline_free(baseline);
    baseline = load(HEAD "\"races\": []}");
    assert_non_null(baseline);
    baseline_free(baseline);
}

static void bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"", "it is empty"},
        {"  \n", "it is empty"},
        {"race:main\n", "no report of csan's"},
        {"[1, 2]", "no report of csan's"},
        {"{\"version\": \"2.1.0\", \"runs\": []}", "no report of csan's"},
        {"{\"format\": \"csan-report\", \"version\": 1, \"races\": []}", "an older csan"},
        {"{\"format\": \"csan-report\", \"version\": 1, \"fingerprint_version\": 1}",
         "an older csan"},
        {"{\"format\": \"csan-report\", \"version\": 9, \"fingerprint_version\": 2}",
         "a newer csan"},
        {"{\"format\": \"csan-report\", \"version\": 1, \"fingerprint_version\": 3}",
         "a newer csan"},
        {HEAD "\"races\": [{\"fingerprint\": \"12\"}]}", "fingerprints is damaged"},
        {HEAD "\"races\": []} x", "something follows its end"},
        {"\211CSAN\r\n\032....", "it is a recording"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_null(load(rows[i].text));
        if (!strstr(message, rows[i].said) || strncmp(message, path, strlen(path)) != 0)
            fail_msg("%s: said '%s'", rows[i].text, message);
        assert_null(strchr(message, '\n'));
    }
    assert_null(baseline_read("/no/such/file", message, sizeof message));
    assert_string_equal(message, "/no/such/file: No such file or directory");
    assert_null(baseline_read("/tmp", message, sizeof message));
    assert_string_equal(message, "/tmp: it is a directory, not a file");
    assert_null(baseline_read("/dev/zero", message, sizeof message));
    assert_string_equal(message, "/dev/zero: it is no regular file");
}

/* Whatever is cut off is refused; what is damaged is refused or read. */
static void damage(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes + 2 < sizeof good - 1; bytes++)
        assert_null(load_bytes(good, bytes));
    srand(1);
    for (int i = 0; i < 3000; i++) {
        char damaged[sizeof good];
        memcpy(damaged, good, sizeof good);
        for (int k = rand() % 4; k >= 0; k--)
            damaged[(size_t)rand() % (sizeof good - 1)] = (char)rand();
        baseline_free(load_bytes(damaged, sizeof good - 1));
    }
}

static void by_the_environment(void **state)
{
    (void)state;
    struct baseline *baseline = baseline_create();
    for (uint64_t i = 0; i < 100; i++)
        baseline_add(baseline, i << 40);
    char *value = baseline_to_environment(baseline, "app.csan");
    assert_non_null(value);
    setenv("CSAN_BASELINE", value, 1);
    struct baseline *again = baseline_read("app.csan", message, sizeof message);
    assert_non_null(again);
    for (uint64_t i = 0; i < 100; i++)
        assert_true(baseline_has(again, i << 40));
    assert_false(baseline_has(again, 1));
    baseline_free(again);
    assert_null(
        baseline_read("app", message, sizeof message)); /* of another path it says nothing */
    setenv("CSAN_BASELINE", "app.csan\n0123 ", 1);
    assert_null(baseline_read("app.csan", message, sizeof message));
    assert_non_null(strstr(message, "CSAN_BASELINE"));
    setenv("CSAN_BASELINE", "app.csan\n", 1);
    baseline_free(again = baseline_read("app.csan", message, sizeof message));
    assert_non_null(again);
    for (uint64_t i = 0; i < 10000; i++)
        baseline_add(baseline, i);
    assert_null(baseline_to_environment(baseline, "app.csan")); /* too long for a variable */
    baseline_free(baseline);
    free(value);
    unsetenv("CSAN_BASELINE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set),  cmocka_unit_test(a_report),           cmocka_unit_test(bad_files),
        cmocka_unit_test(damage), cmocka_unit_test(by_the_environment),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
