/* Learned sets on disk: what a second process starts with, what many processes leave behind,
 * damaged files, and files there is no room for. */
#include "tests/unit/learn/learn_world.h"
#include "csan/recording/recording_format.h"
#include "runtime/learn/learned_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

enum { A = 0x10000000, SIZE = 4096, IMAGES = 40 };

static struct world world;
static struct learner *learner;
static struct learn_reply reply;
static char directory[64], noted[4096];

static void note(const char *text)
{
    snprintf(noted, sizeof noted, "%s", text);
}

static void open_learner(uint64_t limit)
{
    learner = learner_create(&(struct learner_options){
        .launches = 2, .values = 4, .cache = directory, .cache_bytes = limit, .note = note});
    assert_non_null(learner);
}

static void close_learner(void)
{
    assert_true(learner_save(learner));
    learner_destroy(learner);
    learned_set_release(reply.set);
    reply.set = NULL;
}

static int begin(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/csan-learned-XXXXXX");
    assert_non_null(mkdtemp(directory));
    strcat(directory, "/a/b");
    *noted = '\0';
    world.block_count = 0;
    world_block(&world, A, SIZE);
    return 0;
}

static int end(void **state)
{
    (void)state;
    char command[160];
    *strstr(directory, "/a/b") = '\0';
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

/* n numbers, with a seed; image by its number. */
static void launch(uint64_t image, const char *name, uint32_t n, uint32_t seed, uint64_t at)
{
    struct launch_key key;
    struct learned_kernel *kernel = learner_kernel(learner, (struct learn_image){{image, 7}}, name);
    assert_non_null(kernel);
    world_begin(&world);
    world_pointer(&world, A);
    world_number(&world, n);
    world_number(&world, seed);
    world_anchors(&world);
    world_touch_rows(&world, DEVICE_TRACE_WRITE, at, 4, 12, n);
    learned_set_release(reply.set);
    assert_true(launch_key_make(&key, &world.launch));
    learner_ask(learner, kernel, &key, &world.launch, world_find, &world, &reply);
    if (reply.trace) {
        struct learned_set *set = world_set(&world);
        learner_take_trace(learner, kernel, &key, &world.launch, set);
        learned_set_release(set);
    }
    launch_key_release(&key);
}

static void learn(uint64_t image, const char *name)
{
    for (int i = 0; i < 3; i++)
        launch(image, name, 16, 0, A);
    assert_int_equal(reply.answer, LEARN_KNOWN);
}

/* The one file there is, or that of that order. */
static void file_path(char *path, size_t bytes)
{
    DIR *listing = opendir(directory);
    assert_non_null(listing);
    *path = '\0';
    for (struct dirent *item; (item = readdir(listing)) != NULL;)
        if (strstr(item->d_name, LEARNED_SUFFIX))
            snprintf(path, bytes, "%s/%s", directory, item->d_name);
    closedir(listing);
}

static size_t file_count(uint64_t *bytes)
{
    DIR *listing = opendir(directory);
    size_t count = 0;
    *bytes = 0;
    assert_non_null(listing);
    for (struct dirent *item; (item = readdir(listing)) != NULL;) {
        struct stat status;
        if (!strstr(item->d_name, LEARNED_SUFFIX))
            continue;
        assert_int_equal(fstatat(dirfd(listing), item->d_name, &status, 0), 0);
        *bytes += (uint64_t)status.st_size;
        count++;
    }
    closedir(listing);
    return count;
}

static void a_second_process_starts_with_known_sets(void **state)
{
    (void)state;
    open_learner(1 << 20);
    learn(1, "one");
    for (uint32_t i = 0; i < 8; i++)
        launch(1, "seeded", 16, i, A + 64);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    close_learner();
    open_learner(1 << 20);
    launch(1, "one", 16, 0, A);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    assert_int_equal(reply.set->ranges[0].stride[0], 12);
    assert_int_equal(reply.set->ranges[0].count[0], 16);
    assert_true(reply.trace); /* launch 4 of them all */
    launch(1, "seeded", 16, 200, A + 64);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    launch(1, "one", 17, 0, A);
    assert_int_equal(reply.answer, LEARN_OPEN);
    launch(1, "another", 16, 0, A);
    assert_int_equal(reply.answer, LEARN_OPEN);
    launch(2, "one", 16, 0, A);
    assert_int_equal(reply.answer, LEARN_OPEN);
    close_learner();
    assert_string_equal(noted, "");
}

/* Which of 40 words the kernel "one" reads, as the learner answers after it was given `marked`, or
 * nothing if that is 0. */
static uint32_t reads_of(uint32_t words, uint32_t marked)
{
    struct parameter_uses uses = {.map_count = marked != 0, .maps = {{64, MAP_READS, 0}}};
    struct learned_kernel *kernel = learner_kernel(learner, (struct learn_image){{1, 7}}, "one");
    assert_non_null(kernel);
    if (marked) {
        assert_non_null(uses.reads =
                            reads_create(&(struct reads){.words = words, .region_count = 1}));
        *reads_region_words(uses.reads, 0) = marked;
    }
    learner_uses(learner, kernel, words, &uses);
    const uint32_t says = uses.reads ? *reads_region_words(uses.reads, 0) : 0;
    assert_int_equal(uses.map_count, says != 0);
    parameter_uses_clear(&uses);
    return says;
}

/* So that keys are what they were, whoever can look at the code now. */
static void uses_of_parameters_are_kept_with_what_was_learned(void **state)
{
    (void)state;
    open_learner(1 << 20);
    assert_int_equal(reads_of(40, 0), 0);
    assert_int_equal(reads_of(40, 5), 5);
    learn(1, "one");
    assert_int_equal(reads_of(40, 6), 5);
    close_learner();
    open_learner(1 << 20);
    assert_int_equal(reads_of(40, 0), 5);
    assert_int_equal(reads_of(40, 6), 5);
    close_learner();
    assert_string_equal(noted, "");
}

/* What was learned by all words is found by all words. */
static void unknown_uses_stay_unknown(void **state)
{
    (void)state;
    open_learner(1 << 20);
    learn(1, "one");
    close_learner();
    open_learner(1 << 20);
    assert_int_equal(reads_of(40, 5), 0);
    close_learner();
}

/* Two processes that began together, of which one launched the kernel. */
static void uses_of_parameters_are_merged(void **state)
{
    (void)state;
    open_learner(1 << 20);
    struct learner *first = learner;
    learn(1, "other");
    open_learner(1 << 20);
    assert_int_equal(reads_of(40, 5), 5);
    learn(1, "one");
    close_learner();
    learner = first;
    close_learner();
    open_learner(1 << 20);
    assert_int_equal(reads_of(40, 0), 5);
    close_learner();
}

/* A change between two processes is found by the second, and the third knows. */
static void dependence_is_kept(void **state)
{
    (void)state;
    open_learner(1 << 20);
    learn(1, "gather");
    close_learner();
    open_learner(1 << 20);
    launch(1, "gather", 16, 0, A + 512);
    launch(1, "gather", 16, 0, A + 1024);
    assert_int_equal(reply.answer, LEARN_BOUNDED);
    close_learner();
    open_learner(1 << 20);
    launch(1, "gather", 16, 0, A + 768);
    assert_int_equal(reply.answer, LEARN_BOUNDED);
    assert_true(reply.set->ranges[0].whole);
    close_learner();
}

/* Two processes that learned something else of one key. */
static void processes_that_disagree_leave_a_bound(void **state)
{
    (void)state;
    open_learner(1 << 20);
    struct learner *first = learner;
    learn(1, "gather");
    open_learner(1 << 20);
    for (int i = 0; i < 3; i++)
        launch(1, "gather", 16, 0, A + 64);
    close_learner();
    learner = first;
    close_learner();
    open_learner(1 << 20);
    launch(1, "gather", 16, 0, A);
    assert_int_equal(reply.answer, LEARN_BOUNDED);
    close_learner();
}

static void memory_without_a_pointer_is_not_kept(void **state)
{
    (void)state;
    world_block(&world, 2 * A, SIZE);
    open_learner(1 << 20);
    for (int i = 0; i < 3; i++)
        launch(1, "table", 16, 0, 2 * A);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    close_learner();
    open_learner(1 << 20);
    launch(1, "table", 16, 0, 2 * A);
    assert_int_equal(reply.answer, LEARN_OPEN);
    close_learner();
}

static void images_without_identity_are_not_kept(void **state)
{
    (void)state;
    uint64_t bytes;
    open_learner(1 << 20);
    learn(0, "nameless");
    learn(1, "named");
    close_learner();
    assert_int_equal(file_count(&bytes), 1);
    open_learner(1 << 20);
    launch(0, "nameless", 16, 0, A);
    assert_int_equal(reply.answer, LEARN_OPEN);
    close_learner();
}

static void a_scattered_signature_stays_bounded(void **state)
{
    (void)state;
    open_learner(1 << 20);
    for (uint32_t i = 0; i < 400; i++)
        launch(1, "scattered", 1 + i % 80, i * 7919, A + i * 4);
    assert_int_equal(reply.answer, LEARN_BOUNDED);
    close_learner();
    open_learner(1 << 20);
    launch(1, "scattered", 5, 3, A);
    assert_int_equal(reply.answer, LEARN_BOUNDED);
    close_learner();
}

/* Every process learns a kernel of its own, of one image. */
static void many_processes_lose_nothing(void **state)
{
    (void)state;
    enum { PROCESSES = 16 };
    char name[32];
    for (int i = 0; i < PROCESSES; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            open_learner(1 << 20);
            snprintf(name, sizeof name, "kernel%d", i);
            learn(1, name);
            _exit(learner_save(learner) ? 0 : 1);
        }
    }
    for (int i = 0, status; i < PROCESSES; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    open_learner(1 << 20);
    for (int i = 0; i < PROCESSES; i++) {
        snprintf(name, sizeof name, "kernel%d", i);
        launch(1, name, 16, 0, A);
        assert_int_equal(reply.answer, LEARN_KNOWN);
    }
    close_learner();
}

/* Every byte, and every length. */
static void damaged_files_are_said_and_left(void **state)
{
    (void)state;
    static uint8_t contents[8192], damaged[8192];
    char path[512], message[256];
    open_learner(1 << 20);
    learn(1, "one");
    close_learner();
    file_path(path, sizeof path);
    FILE *file = fopen(path, "rb");
    size_t bytes = fread(contents, 1, sizeof contents, file);
    fclose(file);
    assert_true(bytes > 60 && bytes < sizeof contents);
    for (size_t i = 0; i < 2 * bytes; i++) {
        size_t length = i < bytes ? bytes : i - bytes;
        memcpy(damaged, contents, bytes);
        if (i < bytes)
            damaged[i] ^= (uint8_t)(1 + i % 255);
        unlink(path); /* writing over a file may wait for the disk */
        file = fopen(path, "wb");
        fwrite(damaged, 1, length, file);
        fclose(file);
        *message = '\0';
        assert_null(learned_file_open(path, message, sizeof message));
        assert_string_not_equal(message, "");
    }
    open_learner(1 << 20);
    launch(1, "one", 16, 0, A);
    assert_int_equal(reply.answer, LEARN_OPEN);
    assert_non_null(strstr(noted, "are not used: it is damaged"));
    close_learner(); /* and written anew */
    struct image_state *image = learned_file_open(path, message, sizeof message);
    assert_non_null(image);
    image_clear(image);
}

/* Contents that are nonsense, under a checksum that is right. */
static void nonsense_is_survived(void **state)
{
    (void)state;
    enum { HEAD = 20 };
    static uint8_t packed[8192], plain[8192], changed[8192];
    char path[512], message[256];
    open_learner(1 << 20);
    assert_int_equal(reads_of(40, 5), 5);
    learn(1, "one");
    for (uint32_t i = 0; i < 8; i++)
        launch(1, "seeded", 16, i, A + 64);
    for (uint32_t i = 0; i < 400; i++)
        launch(1, "scattered", 1 + i % 80, i * 7919, A + i * 4);
    for (uint64_t i = 0; i < 8; i++)
        launch(1, "table", 16, 0, A + 2 * SIZE + 64 * i);
    assert_int_equal(reply.answer, LEARN_UNKNOWN);
    close_learner();
    file_path(path, sizeof path);
    FILE *file = fopen(path, "rb");
    size_t bytes = fread(packed, 1, sizeof packed, file), read = 0;
    fclose(file);
    size_t length = ZSTD_decompress(plain, sizeof plain, packed + HEAD, bytes - HEAD);
    assert_false(ZSTD_isError(length));
    uint64_t seed = 1;
    for (int i = 0; i < 6000; i++) {
        memcpy(changed, plain, length);
        if ((size_t)i < length) /* each byte, and then some */
            changed[i] = 100;
        for (uint64_t k = world_below(&seed, 3); k < 3 && (size_t)i >= length; k++)
            changed[world_below(&seed, length)] = (uint8_t)world_random(&seed);
        size_t made = ZSTD_compress(packed + HEAD, sizeof packed - HEAD, changed, length, 1);
        assert_false(ZSTD_isError(made));
        uint32_t crc = recording_crc(0, packed + 12, made + 8);
        memcpy(packed + 8, &crc, sizeof crc);
        unlink(path); /* writing over a file may wait for the disk */
        file = fopen(path, "wb");
        fwrite(packed, 1, HEAD + made, file);
        fclose(file);
        struct image_state *image = learned_file_open(path, message, sizeof message);
        read += image != NULL;
        if (image)
            image_clear(image);
        open_learner(1 << 20); /* what is read is used */
        launch(1, "one", 16, 0, A);
        launch(1, "seeded", 16, (uint32_t)i, A + 64);
        launch(1, "scattered", 5, (uint32_t)i, A);
        launch(1, "table", 16, 0, A);
        assert_in_range(reply.reason, 0, LEARN_UNKNOWN_REASONS - 1);
        learner_destroy(learner);
    }
    assert_true(read > 0 && read < 6000);
}

/* A kernel of four pointers, each with bytes of its own to read and to write; how they may lie. */
struct function {
    uint64_t from[4][2], bytes[4][2];
    uint64_t distance; /* pointers are multiples of it apart */
};

static void function_make(struct function *function, uint64_t *seed, bool apart)
{
    for (int i = 0; i < 4; i++)
        for (int kind = 0; kind < 2; kind++) {
            function->from[i][kind] = 32 * world_below(seed, 2);
            function->bytes[i][kind] = (apart ? 32 : 64) * world_below(seed, 3);
        }
    function->distance = apart ? 160 : 64;
}

/* Whether the set is what the launch in world touches. */
static bool is_right(const struct learned_set *marked, const struct learned_set *truth)
{
    static uint8_t marks[2][2 * SIZE];
    memset(marks, 0, sizeof marks);
    world_mark(&world, marked, A, marks[0], 2 * SIZE);
    world_mark(&world, truth, A, marks[1], 2 * SIZE);
    return memcmp(marks[0], marks[1], sizeof marks[0]) == 0;
}

/* True: the answer is wrong or bounded. */
static bool function_launch(struct learner *one, const struct function *function, uint64_t *seed)
{
    struct launch_key key;
    struct learned_kernel *kernel = learner_kernel(one, (struct learn_image){{1, 7}}, "four");
    world_begin(&world);
    for (int i = 0; i < 4; i++) {
        uint64_t block = A + (world_below(seed, 4) ? 0 : SIZE);
        uint64_t place = block + function->distance * world_below(seed, 12);
        world_pointer(&world, place);
        for (uint32_t kind = 0; kind < 2; kind++)
            if (function->bytes[i][kind])
                world_touch(&world, kind, place + function->from[i][kind],
                            function->bytes[i][kind]);
    }
    world_anchors(&world);
    assert_true(launch_key_make(&key, &world.launch));
    learned_set_release(reply.set);
    learner_ask(one, kernel, &key, &world.launch, world_find, &world, &reply);
    struct learned_set *truth = world_set(&world);
    bool wrong = reply.answer == LEARN_BOUNDED || (reply.set && !is_right(reply.set, truth));
    if (reply.trace)
        learner_take_trace(one, kernel, &key, &world.launch, truth);
    learned_set_release(truth);
    launch_key_release(&key);
    return wrong;
}

/* Three processes at a time come and go, each with what the others left. Where pointers are apart,
 * or equal, nothing that is known is wrong; where what they lead to overlaps in part, the test
 * shows only that classes which a merge unites stay alive for their users. */
static void processes_go_on_with_what_others_left(void **state)
{
    (void)state;
    world_block(&world, A + SIZE, SIZE);
    for (uint64_t round = 0; round < 30; round++) {
        uint64_t seed = (round + 81) * 0xd1342543de82ef95u, bytes;
        struct learner *process[3] = {0};
        struct function function;
        function_make(&function, &seed, round % 2);
        for (int i = 0; i < 240; i++) {
            struct learner **one = &process[world_below(&seed, 3)];
            if (!*one) {
                open_learner(1 << 20);
                *one = learner;
            }
            bool wrong = function_launch(*one, &function, &seed);
            assert_false(wrong && round % 2);
            if (world_below(&seed, 12))
                continue;
            assert_true(learner_save(*one));
            if (world_below(&seed, 2)) {
                learner_destroy(*one);
                *one = NULL;
            }
        }
        for (int i = 0; i < 3; i++)
            learner_destroy(process[i]);
        char path[512];
        file_path(path, sizeof path);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(file_count(&bytes), 0);
    }
}

static void old_files_go_first(void **state)
{
    (void)state;
    uint64_t bytes;
    for (uint64_t image = 1; image <= IMAGES; image++) {
        open_learner(1 << 20);
        learn(image, "one");
        close_learner();
    }
    assert_int_equal(file_count(&bytes), IMAGES);
    uint64_t limit = bytes / 2;
    open_learner(limit);
    launch(1, "one", 16, 0, A); /* used: not old any more */
    assert_int_equal(reply.answer, LEARN_KNOWN);
    learn(IMAGES + 1, "one");
    close_learner();
    assert_in_range(file_count(&bytes), IMAGES / 3, IMAGES / 2);
    assert_true(bytes <= limit);
    open_learner(limit);
    launch(1, "one", 16, 0, A);
    assert_int_equal(reply.answer, LEARN_KNOWN);
    launch(2, "one", 16, 0, A);
    assert_int_equal(reply.answer, LEARN_OPEN);
    close_learner();
}

/* A pipe in a file's place is not waited for, nor a directory. */
static void only_files_are_read(void **state)
{
    (void)state;
    char path[512];
    open_learner(1 << 20);
    learn(1, "one");
    close_learner();
    file_path(path, sizeof path);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(i ? rmdir(path) : unlink(path), 0);
        assert_int_equal(i ? mkfifo(path, 0600) : mkdir(path, 0700), 0);
        open_learner(1 << 20);
        launch(1, "one", 16, 0, A);
        assert_int_equal(reply.answer, LEARN_OPEN);
        assert_non_null(strstr(noted, "it is no file"));
        learner_destroy(learner);
    }
    assert_int_equal(unlink(path), 0);
    *noted = '\0';
}

static void what_cannot_be_written_is_no_error(void **state)
{
    (void)state;
    char kept[64];
    memcpy(kept, directory, sizeof kept);
    snprintf(directory, sizeof directory, "/proc/nowhere/learned");
    open_learner(1 << 20);
    learn(1, "one");
    assert_false(learner_save(learner));
    learner_destroy(learner);
    memcpy(directory, kept, sizeof kept);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_second_process_starts_with_known_sets),
        TEST(uses_of_parameters_are_kept_with_what_was_learned),
        TEST(unknown_uses_stay_unknown),
        TEST(uses_of_parameters_are_merged),
        TEST(dependence_is_kept),
        TEST(processes_that_disagree_leave_a_bound),
        TEST(memory_without_a_pointer_is_not_kept),
        TEST(images_without_identity_are_not_kept),
        TEST(a_scattered_signature_stays_bounded),
        TEST(many_processes_lose_nothing),
        TEST(only_files_are_read),
        TEST(processes_go_on_with_what_others_left),
        TEST(damaged_files_are_said_and_left),
        TEST(nonsense_is_survived),
        TEST(old_files_go_first),
        TEST(what_cannot_be_written_is_no_error),
    };
    return cmocka_run_group_tests_name("learned_file", tests, NULL, NULL);
}
