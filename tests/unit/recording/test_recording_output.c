/* The file of a recording: what becomes of it when its program is killed or it cannot be written;
 * and files that are cut off, have bits flipped, are of another version or no recordings at all:
 * what can be read is, and the rest is said with file and byte. */
#include "tests/unit/recording/test_recording.h"

#include "csan/base/output.h"
#include "csan/recording/recording_block.h"
#include "csan/recording/recording_output.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* ---- the file */

/* Killed while another thread of it goes on: all but the last tenth of a second is there. */
static void killed(void **state)
{
    (void)state;
    const char *path = in_scratch("killed");
    struct races races = {0};
    struct csan_stats stats;
    char message[512];
    unlink(path);
    pid_t child = fork();
    if (child == 0) {
        struct program *program = program_create(path, 0);
        struct csan_access access = {.base = memory, .bytes = 16, .kind = CSAN_READ};
        for (int i = 0; i < 1000; i++)
            csan_op(program->context, CSAN_HOST, 0, CSAN_LEVEL_RANGES, &access, 1);
        for (;;)
            pause();
    }
    for (int i = 0; i < 100; i++) {
        struct stat status;
        nanosleep(&(struct timespec){0, 50000000}, NULL);
        if (stat(path, &status) == 0 && i > 8)
            break;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(replay_file(path, &races, &stats, message, sizeof message), RECORDED_DAMAGED);
    assert_non_null(strstr(message, "killed"));
    assert_non_null(strstr(message, path));
    assert_int_equal(stats.ops, 1000);
}

static void is_named_by_pattern(void **state)
{
    (void)state;
    char path[256], wanted[256];
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("PMI_RANK");
    setenv("SLURM_PROCID", "12", 1);
    unsetenv("RANK");
    assert_true(output_path_expand(path, sizeof path, "a.%r.csan"));
    assert_string_equal(path, "a.12.csan");
    setenv("RANK", "3", 1);
    assert_true(output_path_expand(path, sizeof path, "%r-%p%%%x"));
    snprintf(wanted, sizeof wanted, "3-%d%%%%x", (int)getpid());
    assert_string_equal(path, wanted);
    setenv("RANK", "../x", 1);
    unsetenv("SLURM_PROCID");
    assert_false(output_path_expand(path, sizeof path, "a.%r"));
    assert_string_equal(path, "a.0");
    assert_false(output_path_expand(path, 3, "abcdef"));
    assert_string_equal(path, "ab");
    unsetenv("RANK");
}

static void leaves_other_files_alone(void **state)
{
    (void)state;
    const char *path = in_scratch("there");
    char beside[160];
    struct stat status;
    snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
    struct program *program = program_create(NULL, 1);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("mine", file);
    fclose(file);
    program->recording = recording_create(path, UINT64_MAX, "", note);
    context_record(program->context, program->recording, 1);
    run(program, 1, 10);
    program_destroy(program);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 4);
    assert_int_equal(stat(beside, &status), 0);
    unlink(beside);
}

static void replaces_older_recordings(void **state)
{
    (void)state;
    const char *path = in_scratch("older");
    char beside[160];
    struct stat before, after;
    snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
    program_destroy(program_create(path, 1));
    struct program *program = program_create(path, 1);
    run(program, 1, 1000);
    program_destroy(program);
    assert_int_equal(stat(path, &before), 0);
    program = program_create(NULL, 1);
    program->recording = recording_create(path, UINT64_MAX, "", note);
    context_record(program->context, program->recording, 1);
    csan_lane_create(program->context, 1, "a");
    program_destroy(program);
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_size < before.st_size);
    assert_int_equal(access(beside, F_OK), -1);
}

/* A program that closes every descriptor: whoever comes next sees that it is written all the same.
 */
static void is_locked_when_opened_again(void **state)
{
    (void)state;
    const char *path = in_scratch("closed");
    struct recording_output *file = recording_output_create(path, 0, "", note);
    assert_true(recording_output_put(file, BLOCK_FACTS, "a", 1));
    const int own = open(path, O_RDONLY);
    assert_true(own > 0);
    assert_int_equal(flock(own, LOCK_SH | LOCK_NB), -1);
    for (int i = 3; i < own; i++)
        close(i);
    assert_int_equal(flock(own, LOCK_SH | LOCK_NB), 0);
    flock(own, LOCK_UN);
    assert_true(recording_output_put(file, BLOCK_FACTS, "b", 1));
    assert_int_equal(flock(own, LOCK_SH | LOCK_NB), -1);
    close(own);
    recording_output_close(file);
    recording_output_destroy(file);
}

static void unwritable(void **state)
{
    (void)state;
    struct program *program = program_create("/nonexistent/x.csan", 1);
    run(program, 1, 100);
    assert_non_null(strstr(noted, "cannot open recording '/nonexistent/x.csan': No such file"));
    program_destroy(program);
}

/* A file that may not grow: the process goes on, the recording ends at a whole block, of which it
 * has some: where the thread that writes is late, one of 256 KiB or a little more
 * (recording_write.c). */
static void full_disk(void **state)
{
    (void)state;
    const char *path = in_scratch("full");
    struct races races = {0};
    char message[512];
    unlink(path);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {600000, 600000};
        setrlimit(RLIMIT_FSIZE, &limit);
        struct program *program = program_create(path, 1);
        run(program, 2, 120000);
        recording_finish(program->recording, "");
        _exit(strstr(noted, "cannot write recording") && strstr(noted, "it ends here") ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(replay_file(path, &races, NULL, message, sizeof message), RECORDED_DAMAGED);
    assert_non_null(strstr(message, "cut off"));
    assert_true(races.count > 0);
    races_free(&races);
}

/* ---- damage */

static uint8_t *file_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *contents = malloc(4 << 20);
    *bytes = fread(contents, 1, 4 << 20, file);
    fclose(file);
    return contents;
}

static void file_write(const char *path, const uint8_t *contents, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(contents, 1, bytes, file), bytes);
    fclose(file);
}

/* It is damaged where it should be, and the reported part is a prefix of the whole. */
static void expect_damage(const char *path, const struct races *whole)
{
    struct races races = {0};
    char message[512];
    unsigned long long offset;
    assert_int_equal(replay_file(path, &races, NULL, message, sizeof message), RECORDED_DAMAGED);
    if (strncmp(message, path, strlen(path)) != 0 ||
        sscanf(message + strlen(path), ": byte %llu: ", &offset) != 1)
        fail_msg("no file and byte in: %s", message);
    assert_null(strchr(message, '\n'));
    if (races.count)
        assert_true(races.length <= whole->length);
    races_free(&races);
}

static void make_small_blocks(const char *path, struct races *races)
{
    struct program *program = program_create(path, 1);
    random_state = 11;
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 30; k++)
            step(program);
        nanosleep(&(struct timespec){0, 3000000}, NULL); /* now and then one is written */
    }
    csan_context_drain(program->context);
    *races = program->races;
    program->races = (struct races){0};
    program_destroy(program);
}

static void damaged(void **state)
{
    (void)state;
    const char *path = in_scratch("damaged"), *other = in_scratch("damaged-now");
    struct races whole = {0};
    size_t bytes;
    make_small_blocks(path, &whole);
    uint8_t *contents = file_read(path, &bytes);
    uint8_t *copy = malloc(bytes + 100);
    assert_true(whole.count > 10 && bytes > 3000);
    for (size_t length = 0; length < bytes;
         length += 1 + (length > 200 && length + 200 < bytes ? random_below(60) : 0)) {
        file_write(other, contents, length);
        expect_damage(other, &whole);
    }
    for (int i = 0; i < 1500; i++) {
        memcpy(copy, contents, bytes);
        size_t at = random_below(i < 400 ? 600 : (uint32_t)bytes);
        copy[at] ^= (uint8_t)(1u << random_below(8));
        file_write(other, copy, bytes);
        expect_damage(other, &whole);
    }
    free(contents);
    free(copy);
    races_free(&whole);
}

static void expect_message(const uint8_t *contents, size_t bytes, const char *text)
{
    const char *path = in_scratch("message");
    struct races races = {0};
    char message[512];
    file_write(path, contents, bytes);
    assert_int_equal(replay_file(path, &races, NULL, message, sizeof message), RECORDED_DAMAGED);
    if (!strstr(message, text))
        fail_msg("'%s' is not in '%s'", text, message);
}

static void foreign_or_newer(void **state)
{
    (void)state;
    const char *path = in_scratch("newer");
    size_t bytes;
    struct program *program = program_create(path, 1);
    run(program, 1, 50);
    program_destroy(program);
    uint8_t *contents = file_read(path, &bytes);
    expect_message((const uint8_t *)"", 0, "byte 0: it is no csan recording");
    expect_message((const uint8_t *)"#!/bin/sh\necho hello, world\n", 28, "no csan recording");
    expect_message(contents, 10, "cut off in its head");
    for (int minor = 0; minor <= 1; minor++) {
        uint8_t *version = contents + 8 + 2 * minor;
        version[0]++;
        expect_message(contents, bytes, "head of the recording is damaged");
        uint32_t crc = recording_crc(0, contents, 12);
        memcpy(contents + 12, &crc, sizeof crc);
        char text[64];
        snprintf(text, sizeof text, "it is of format %d.%d, and this csan reads %d.%d",
                 RECORDING_MAJOR + !minor, RECORDING_MINOR + minor, RECORDING_MAJOR,
                 RECORDING_MINOR);
        expect_message(contents, bytes, text);
        version[0]--;
    }
    free(contents);
    char message[256];
    assert_null(recording_reader_open(in_scratch("absent"), message, sizeof message));
    assert_non_null(strstr(message, "No such file"));
    assert_null(recording_reader_open(scratch, message, sizeof message));
    assert_non_null(strstr(message, "it is a directory, no recording"));
}

/* Blocks that are whole, with entries that nobody wrote: refused, or taken without harm. */
static void made_up(void **state)
{
    (void)state;
    const char *path = in_scratch("made-up");
    int refused = 0;
    random_state = 17;
    for (int i = 0; i < 4000; i++) {
        uint8_t entries[200];
        struct block_writer writer;
        struct races races = {0};
        char message[512];
        size_t count = random_below(sizeof entries);
        for (size_t k = 0; k < count; k++)
            entries[k] = (uint8_t)random_below(random_below(3) ? 12 : RECORDED_KINDS + 2);
        struct output_file file;
        assert_int_equal(output_file_open(&file, path, O_TRUNC), 0);
        assert_int_equal(block_writer_open(&writer, &file, path), 0);
        block_writer_put(&writer, BLOCK_FACTS, "maker test\n", 11);
        block_writer_put(&writer, BLOCK_ENTRIES, entries, count);
        block_writer_put(&writer, BLOCK_END, "", 0);
        block_writer_close(&writer);
        output_file_close(&file);
        refused += replay_file(path, &races, NULL, message, sizeof message) == RECORDED_DAMAGED;
        races_free(&races);
    }
    assert_true(refused > 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed),
        cmocka_unit_test(is_named_by_pattern),
        cmocka_unit_test(leaves_other_files_alone),
        cmocka_unit_test(replaces_older_recordings),
        cmocka_unit_test(is_locked_when_opened_again),
        cmocka_unit_test(unwritable),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(damaged),
        cmocka_unit_test(foreign_or_newer),
        cmocka_unit_test(made_up),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
