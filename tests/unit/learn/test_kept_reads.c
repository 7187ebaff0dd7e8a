/* What kernels read of their parameters, kept for a program's later processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/learn/kept_reads.h"
#include "runtime/learn/learned_file.h"
#include "tests/unit/learn/learn_world.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/csan-kept-reads-XXXXXX";
static const struct learner_options options = {.cache = directory, .cache_bytes = 64 << 20};
static const struct learn_program program = {{1, 2}}, other = {{1, 3}};

static struct kept_reads_kernel kernel_of(uint64_t number)
{
    return (struct kept_reads_kernel){{number, ~number}, 1 + number % 40};
}

/* Of a kernel; every fourth may read all of its parameters. The caller frees it. */
static struct reads *reads_of(uint64_t number)
{
    if (number % 4 == 0)
        return NULL;
    struct reads *reads = reads_create(
        &(struct reads){.words = (uint32_t)kernel_of(number).parameter_words, .region_count = 1});
    assert_non_null(reads);
    reads_region_words(reads, 0)[0] = (uint32_t)number & 1;
    return reads;
}

static void add(struct kept_reads *kept, uint64_t number)
{
    const struct kept_reads_kernel kernel = kernel_of(number);
    struct reads *reads = reads_of(number);
    kept_reads_add(kept, &kernel, reads);
    free(reads);
}

/* Whether it is there; then it is what was added. */
static bool finds(struct kept_reads *kept, uint64_t number)
{
    const struct kept_reads_kernel kernel = kernel_of(number);
    struct reads *found = NULL, *expected = reads_of(number);
    const bool is_there = kept_reads_find(kept, &kernel, &found);
    if (is_there) {
        assert_int_equal(found != NULL, expected != NULL);
        if (found)
            assert_memory_equal(found, expected, reads_bytes(expected));
    }
    free(found);
    free(expected);
    return is_there;
}

static struct kept_reads *begin(const struct learn_program *of)
{
    struct kept_reads *kept = kept_reads_create();
    assert_non_null(kept);
    kept_reads_read(kept, &options, of);
    return kept;
}

static void end(struct kept_reads *kept, const struct learn_program *of)
{
    assert_true(kept_reads_write(kept, &options, of));
    kept_reads_destroy(kept);
}

/* The one file; the caller frees it. */
static char *file_path(void)
{
    char *path = NULL;
    DIR *files = opendir(directory);
    assert_non_null(files);
    for (struct dirent *entry; (entry = readdir(files));) {
        if (!strstr(entry->d_name, LEARNED_SUFFIX "-reads"))
            continue;
        assert_null(path);
        assert_true(asprintf(&path, "%s/%s", directory, entry->d_name) > 0);
    }
    closedir(files);
    return path;
}

static int forget(void **state)
{
    (void)state;
    char command[sizeof directory + 32];
    snprintf(command, sizeof command, "rm -f %s/*", directory);
    return system(command);
}

static void what_was_added_is_found_in_the_next_process(void **state)
{
    (void)state;
    struct kept_reads *kept = begin(&program);
    assert_false(finds(kept, 1));
    for (uint64_t i = 0; i < 200; i++)
        add(kept, i);
    for (uint64_t i = 0; i < 200; i++)
        assert_true(finds(kept, i));
    end(kept, &program);
    kept = begin(&program);
    for (uint64_t i = 0; i < 200; i++)
        assert_true(finds(kept, i));
    assert_false(finds(kept, 200));
    end(kept, &program);
    kept = begin(&other);
    assert_false(finds(kept, 1));
    end(kept, &other);
}

/* Another image, name, architecture or layout. */
static void another_kernel_is_not_found(void **state)
{
    (void)state;
    struct kept_reads *kept = begin(&program);
    const struct kept_reads_kernel own = kernel_of(5);
    struct reads *found;
    add(kept, 5);
    for (int i = 0; i < 3; i++) {
        struct kept_reads_kernel kernel = own;
        *(i < 2 ? &kernel.words[i] : &kernel.parameter_words) += 1;
        assert_false(kept_reads_find(kept, &kernel, &found));
    }
    end(kept, &program);
}

static void a_process_without_news_writes_nothing(void **state)
{
    (void)state;
    struct kept_reads *kept = begin(&program);
    end(kept, &program);
    assert_null(file_path());
    kept = begin(&program);
    add(kept, 1);
    end(kept, &program);
    char *path = file_path();
    assert_non_null(path);
    kept = begin(&program);
    assert_int_equal(unlink(path), 0);
    free(path);
    assert_true(finds(kept, 1));
    add(kept, 1);
    end(kept, &program);
    assert_null(file_path());
}

/* Each process adds one, so that it writes, and asks for kernel 0 alone. */
static void what_nobody_asks_for_goes(void **state)
{
    (void)state;
    struct kept_reads *kept = begin(&program);
    add(kept, 0);
    add(kept, 1);
    end(kept, &program);
    for (uint64_t i = 0; i <= KEPT_READS_IDLE; i++) {
        kept = begin(&program);
        assert_true(finds(kept, 0));
        add(kept, 2 + i);
        end(kept, &program);
    }
    kept = begin(&program);
    assert_true(finds(kept, 0));
    assert_false(finds(kept, 1));
    assert_true(finds(kept, 2));
    end(kept, &program);
}

static void it_is_bounded(void **state)
{
    (void)state;
    struct kept_reads *kept = begin(&program);
    uint64_t count = 0;
    const uint64_t most = KEPT_READS_BYTES / sizeof(struct kept_reads_kernel);
    for (; count < most; count++) {
        add(kept, count);
        if (!finds(kept, count))
            break;
    }
    assert_in_range(count, 1000, most - 1);
    assert_true(finds(kept, 0));
    end(kept, &program);
}

/* A process that has no room for a kernel counts as one that did not ask for the others. */
static void what_is_full_makes_room(void **state)
{
    (void)state;
    const uint64_t fresh = KEPT_READS_BYTES;
    uint64_t count = 0;
    struct kept_reads *kept = begin(&program);
    do
        add(kept, count);
    while (finds(kept, count++));
    end(kept, &program);
    for (int i = 0; i <= KEPT_READS_IDLE; i++) {
        kept = begin(&program);
        assert_true(finds(kept, 0));
        add(kept, fresh);
        assert_false(finds(kept, fresh));
        end(kept, &program);
    }
    kept = begin(&program);
    assert_true(finds(kept, 0));
    assert_false(finds(kept, 1));
    add(kept, fresh);
    assert_true(finds(kept, fresh));
    end(kept, &program);
}

/* Whatever stands in the file: kernels that are found are what was added, or fit at least. */
static void damage_does_no_harm(void **state)
{
    (void)state;
    uint64_t seed = 4;
    struct kept_reads *kept = begin(&program);
    for (uint64_t i = 0; i < 50; i++)
        add(kept, i);
    end(kept, &program);
    char *path = file_path();
    size_t bytes, plain_bytes;
    char message[256];
    uint8_t *contents = learned_file_contents(path, &bytes, message, sizeof message);
    assert_non_null(contents);
    uint8_t *plain = learned_file_unpack(contents, bytes, &plain_bytes);
    assert_non_null(plain);
    for (int i = 0; i < 300; i++) {
        uint8_t *damaged = malloc(plain_bytes);
        memcpy(damaged, plain, plain_bytes);
        damaged[world_below(&seed, plain_bytes)] = (uint8_t)world_random(&seed);
        const size_t length = i % 3 ? plain_bytes : (size_t)world_below(&seed, plain_bytes);
        size_t packed_bytes;
        uint8_t *packed = learned_file_pack(damaged, length, &packed_bytes);
        assert_non_null(packed);
        assert_true(learned_file_replace(path, packed, packed_bytes));
        free(packed);
        free(damaged);
        kept = begin(&program);
        for (uint64_t k = 0; k < 50; k++) {
            const struct kept_reads_kernel kernel = kernel_of(k);
            struct reads *found = NULL;
            if (kept_reads_find(kept, &kernel, &found) && found)
                assert_int_equal(found->words, kernel.parameter_words);
            free(found);
        }
        kept_reads_destroy(kept);
    }
    free(plain);
    free(contents);
    free(path);
}

/* Against an array of what was added and written. */
static void random_processes(void **state)
{
    (void)state;
    enum { KERNELS = 60 };
    uint64_t seed = 9;
    bool written[KERNELS] = {false};
    for (int process = 0; process < 200; process++) {
        struct kept_reads *kept = begin(&program);
        bool there[KERNELS];
        memcpy(there, written, sizeof there);
        for (uint64_t i = 0; i < KERNELS; i++) /* all are asked for */
            assert_int_equal(finds(kept, i), there[i]);
        for (uint64_t steps = world_below(&seed, 5); steps; steps--) {
            const uint64_t number = world_below(&seed, KERNELS);
            if (world_below(&seed, 2)) {
                add(kept, number);
                there[number] = true;
            }
            assert_int_equal(finds(kept, number), there[number]);
        }
        if (world_below(&seed, 3)) {
            assert_true(kept_reads_write(kept, &options, &program));
            memcpy(written, there, sizeof written);
        }
        kept_reads_destroy(kept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_was_added_is_found_in_the_next_process, forget),
        cmocka_unit_test_setup(another_kernel_is_not_found, forget),
        cmocka_unit_test_setup(a_process_without_news_writes_nothing, forget),
        cmocka_unit_test_setup(what_nobody_asks_for_goes, forget),
        cmocka_unit_test_setup(it_is_bounded, forget),
        cmocka_unit_test_setup(what_is_full_makes_room, forget),
        cmocka_unit_test_setup(damage_does_no_harm, forget),
        cmocka_unit_test_setup(random_processes, forget),
    };
    if (!mkdtemp(directory))
        return 1;
    const int failed = cmocka_run_group_tests_name("kept_reads", tests, NULL, NULL);
    forget(NULL);
    rmdir(directory);
    return failed;
}
