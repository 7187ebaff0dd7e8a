/* The file of known programs. */
#include "runtime/learn/learned_file.h"
#include "runtime/learn/programs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/csan-programs-XXXXXX";
static struct learner_options options = {.cache = directory, .cache_bytes = 1 << 20};

static struct learn_program program(uint64_t number)
{
    return (struct learn_program){{number, ~number << 17}};
}

static int find(uint64_t number)
{
    const struct learn_program own = program(number);
    return programs_find(&options, &own);
}

static bool note(uint64_t number, enum program_note what)
{
    const struct learn_program own = program(number);
    return programs_note(&options, &own, what);
}

static void path_make(char *path, size_t bytes)
{
    char version[32];
    learned_version(version, sizeof version);
    snprintf(path, bytes, "%s/programs-%s", directory, version);
}

static void write_text(const char *text)
{
    char path[sizeof directory + 64];
    path_make(path, sizeof path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int forget(void **state)
{
    char path[sizeof directory + 64];
    (void)state;
    path_make(path, sizeof path);
    unlink(path);
    return 0;
}

static void a_program_is_known_until_something_is_new(void **state)
{
    (void)state;
    assert_true(note(1, PROGRAM_OPEN));
    assert_int_equal(find(1), -1);
    assert_true(note(1, PROGRAM_SETTLED));
    assert_int_equal(find(1), 0);
    assert_int_equal(find(2), -1);
    assert_true(note(1, PROGRAM_RESTED));
    assert_true(note(1, PROGRAM_RESTED));
    assert_int_equal(find(1), 2);
    assert_true(note(1, PROGRAM_SETTLED)); /* it was learned of again */
    assert_int_equal(find(1), 0);
    assert_true(note(1, PROGRAM_OPEN));
    assert_int_equal(find(1), -1);
    assert_true(note(1, PROGRAM_SETTLED));
    assert_int_equal(find(1), 0);
}

/* Two processes of one program, one of which met something new. */
static void what_is_new_to_one_is_new_to_all(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        note(1, PROGRAM_SETTLED);
        assert_true(note(1, i ? PROGRAM_RESTED : PROGRAM_MISSED));
        assert_true(note(1, i ? PROGRAM_MISSED : PROGRAM_RESTED));
        assert_int_equal(find(1), -1);
        forget(state);
    }
}

/* How many processes must have nothing left before one rests. */
static int settled_until_it_rests(void)
{
    int count = 0;
    for (; find(1) < 0 && count < 4096; count++)
        note(1, PROGRAM_SETTLED);
    return count;
}

/* Twice as many each time; a round of rests takes one time back. */
static void who_rested_in_vain_learns_for_longer(void **state)
{
    (void)state;
    for (int times = 0; times < 12; times++) {
        assert_int_equal(settled_until_it_rests(), 1 << (times < 10 ? times : 10));
        note(1, PROGRAM_MISSED);
        note(1, PROGRAM_SETTLED);
        note(1, PROGRAM_OPEN); /* not in a row */
    }
    settled_until_it_rests();
    for (int times = 9; times >= 0; times--) {
        note(1, PROGRAM_RESTED);
        note(1, PROGRAM_RESTED);
        note(1, PROGRAM_SETTLED);
        note(1, PROGRAM_OPEN);
        assert_int_equal(settled_until_it_rests(), 1 << times);
    }
}

static void those_noted_last_stay(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < PROGRAMS_MOST; i++)
        assert_true(note(i, PROGRAM_SETTLED));
    note(0, PROGRAM_RESTED);
    assert_true(note(PROGRAMS_MOST, PROGRAM_SETTLED));
    assert_true(note(PROGRAMS_MOST + 1, PROGRAM_SETTLED));
    assert_int_equal(find(0), 1);
    assert_int_equal(find(1), -1);
    assert_int_equal(find(2), -1);
    for (uint64_t i = 3; i < PROGRAMS_MOST + 2; i++)
        assert_int_equal(find(i), 0);
}

static void what_cannot_be_read_is_left_out(void **state)
{
    (void)state;
    note(1, PROGRAM_SETTLED);
    note(2, PROGRAM_SETTLED);
    char path[sizeof directory + 64], all[512] = "csan\n\n12 zz 3\n", line[96];
    path_make(path, sizeof path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        strcat(all, line);
    fclose(file);
    memset(line, '7', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    strcat(all, "00000000000000010000000000000fff 1 0 99\n"); /* missed too often */
    strcat(all, line);                                        /* a long line, that ends nowhere */
    write_text(all);
    assert_int_equal(find(1), 0);
    assert_int_equal(find(2), 0);
    assert_true(note(1, PROGRAM_RESTED));
    assert_int_equal(find(1), 1);
    assert_int_equal(find(2), 0);
    write_text("");
    assert_int_equal(find(1), -1);
}

static void where_nothing_can_be_written_that_is_said(void **state)
{
    char path[sizeof directory + 96];
    (void)state;
    struct learner_options nowhere = {.cache = path};
    const struct learn_program own = program(1);
    write_text(""); /* a file, and no directory */
    path_make(path, sizeof path);
    strcat(path, "/there");
    assert_int_equal(programs_find(&nowhere, &own), -1);
    assert_false(programs_note(&nowhere, &own, PROGRAM_SETTLED));
}

int main(void)
{
    char command[sizeof directory + 64];
    if (!mkdtemp(directory))
        return 1;
#define TEST(name) cmocka_unit_test_setup(name, forget)
    const struct CMUnitTest tests[] = {
        TEST(a_program_is_known_until_something_is_new),
        TEST(what_is_new_to_one_is_new_to_all),
        TEST(who_rested_in_vain_learns_for_longer),
        TEST(those_noted_last_stay),
        TEST(what_cannot_be_read_is_left_out),
        TEST(where_nothing_can_be_written_that_is_said),
    };
    const int failed = cmocka_run_group_tests_name("programs", tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command) != 0 || failed;
}
