/* Recordings: random programs recorded while the detector looks on, and replayed: the races must be
 * the same, one by one. */
#include "tests/unit/recording/test_recording.h"

#include <pthread.h>
#include <time.h>

static void same_races(void **state)
{
    (void)state;
    const char *path = in_scratch("same");
    size_t found = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct program *program = program_create(path, 1);
        struct races replayed = {0};
        struct csan_stats live, again;
        char message[512];
        run(program, seed, 300);
        csan_context_stats(program->context, &live);
        recording_finish(program->recording, "");
        assert_string_equal(noted, "");
        if (replay_file(path, &replayed, &again, message, sizeof message) != RECORDED_END)
            fail_msg("seed %d: %s", (int)seed, message);
        if (replayed.count != program->races.count ||
            (replayed.text && strcmp(replayed.text, program->races.text) != 0))
            fail_msg("seed %d: the races differ, live and replayed:\n%s\n-----\n%s", (int)seed,
                     program->races.text, replayed.text);
        assert_int_equal(live.ops, again.ops);
        assert_int_equal(live.races, again.races);
        assert_int_equal(live.possible, again.possible);
        assert_memory_equal(live.launches, again.launches, sizeof live.launches);
        assert_int_equal(live.pending_overflows, again.pending_overflows);
        assert_int_equal(live.promises_broken, again.promises_broken);
        found += replayed.count;
        races_free(&replayed);
        program_destroy(program);
    }
    assert_true(found > 1000);
}

/* All that a finding from outside of the detector has comes back, and is only found where the
 * detector looks on. */
static void findings_come_again(void **state)
{
    (void)state;
    const char *path = in_scratch("finding");
    for (int check = 0; check <= 1; check++) {
        struct program *program = program_create(path, check);
        struct races replayed = {0};
        char message[512], long_detail[4000];
        memset(long_detail, 'x', sizeof long_detail - 1);
        long_detail[sizeof long_detail - 1] = '\0';
        struct csan_out_of_memory out_of_memory = {
            .host = 1,
            .device = 2,
            .asked = UINT64_MAX,
            .more_bytes = 5,
            .held = {{.site = program->sites[2], .bytes = 7},
                     {.site = program->sites[1], .newest = 8}},
            .held_count = 2};
        for (int i = 0; i < 2; i++)
            out_of_memory.held[i].name = context_site_stack(
                program->context, out_of_memory.held[i].site, &out_of_memory.held[i].frames,
                &out_of_memory.held[i].frame_count);
        for (int i = 0; i < 40; i++) /* more than a block holds */
            context_find(program->context,
                         &(struct context_finding){.kind = CSAN_RACE_DEVICE_EXCEPTION,
                                                   .site = program->sites[1],
                                                   .level = CSAN_LEVEL_RANGES,
                                                   .access = CSAN_WRITE,
                                                   .address = memory + 8,
                                                   .bytes = 4,
                                                   .reported = program->sites[2],
                                                   .error = {.exception = "trap",
                                                             .code = "CUDA_ERROR_LAUNCH_FAILED",
                                                             .detail = long_detail,
                                                             .function = "f",
                                                             .place = "a b:c.cu:7",
                                                             .has_thread = 1,
                                                             .device = 3,
                                                             .grid = {4, 5, 6},
                                                             .thread = {7, 8, 9},
                                                             .threads = 10,
                                                             .reported_by = "cuStreamSynchronize",
                                                             .launches_since = 11,
                                                             .out_of_memory = &out_of_memory}});
        recording_finish(program->recording, "");
        assert_int_equal(replay_file(path, &replayed, NULL, message, sizeof message), RECORDED_END);
        assert_int_equal(program->races.count, check ? 40 : 0);
        assert_int_equal(replayed.count, 40);
        assert_non_null(strstr(replayed.text,
                               ", f, a b:c.cu:7: 0 0, 1 3 4 8, 10 cuStreamSynchronize "
                               "by 2 frames, 11 0 0\n"));
        assert_non_null(strstr(replayed.text, "  1 2 18446744073709551615 0 5: site_2 7 0 by 2, "
                                              "site_1 0 8 by 1, \n"));
        if (check)
            assert_string_equal(replayed.text, program->races.text);
        races_free(&replayed);
        program_destroy(program);
    }
}

/* A lane may end between ops of the same operator. */
static void the_lane_of_a_same_operator_op_ended(void **state)
{
    (void)state;
    const char *path = in_scratch("sibling");
    struct program *program = program_create(path, 1);
    struct races replayed = {0};
    char message[512];
    csan_context *context = program->context;
    csan_lane a = csan_lane_create(context, 1, "a"), b = csan_lane_create(context, 2, "b");
    struct csan_access access = {.base = memory, .bytes = 8, .kind = CSAN_WRITE};
    uint64_t number = csan_op(context, a, 0, CSAN_LEVEL_OPERATOR, &access, 1);
    csan_lane_destroy(context, a);
    csan_op_same_operator(context, b, a, number, number);
    csan_op(context, b, program->sites[1], CSAN_LEVEL_OPERATOR, &access, 1);
    csan_op(context, b, program->sites[1], CSAN_LEVEL_OPERATOR, &access, 1);
    recording_finish(program->recording, "");
    assert_int_equal(replay_file(path, &replayed, NULL, message, sizeof message), RECORDED_END);
    races_free(&replayed);
    program_destroy(program);
}

/* What is only recorded is found in the replay: as many races as a look at it live finds. */
static void only_recorded(void **state)
{
    (void)state;
    const char *path = in_scratch("only");
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct program *looked = program_create(NULL, 1), *only = program_create(path, 0);
        struct races replayed = {0};
        char message[512];
        run(looked, seed, 200);
        run(only, seed, 200);
        recording_finish(only->recording, "");
        assert_int_equal(only->races.count, 0);
        assert_int_equal(replay_file(path, &replayed, NULL, message, sizeof message), RECORDED_END);
        assert_int_equal(replayed.count, looked->races.count);
        races_free(&replayed);
        program_destroy(looked);
        program_destroy(only);
    }
}

/* A wait that nobody answers is given up in the replay when it was in the run. */
static void times_out_alike(void **state)
{
    (void)state;
    const char *path = in_scratch("time");
    struct races live = {0}, replayed = {0};
    struct csan_stats stats, again;
    char message[512];
    unlink(path);
    csan_context *context =
        csan_context_create("pending_timeout_ms=20", race_keep, &live, message, sizeof message);
    struct recording *recording = recording_create(path, 0, "", note);
    context_record(context, recording, 1);
    csan_lane a = csan_lane_create(context, 1, "a"), b = csan_lane_create(context, 2, "b");
    struct csan_access access = {.base = memory, .bytes = 8, .kind = CSAN_WRITE};
    csan_op_pending(context, a, 0, CSAN_LEVEL_DIRECTION, &access, 1);
    csan_op(context, b, 0, CSAN_LEVEL_RANGES, &access, 1);
    nanosleep(&(struct timespec){0, 60000000}, NULL);
    csan_op(context, b, 0, CSAN_LEVEL_RANGES, &access, 1);
    csan_context_stats(context, &stats);
    assert_int_equal(stats.pending_timeouts, 1);
    csan_context_drain(context);
    recording_finish(recording, "");
    struct recording_reader *reader = recording_reader_open(path, message, sizeof message);
    csan_context *other =
        csan_context_create("pending_timeout_ms=20", race_keep, &replayed, message, sizeof message);
    struct replay *replay = replay_create(other);
    assert_int_equal(replay_run(replay, reader, NULL, NULL), RECORDED_END);
    csan_context_stats(other, &again);
    assert_int_equal(again.pending_timeouts, 1);
    assert_int_equal(live.count, replayed.count);
    replay_destroy(replay);
    csan_context_destroy(other);
    recording_reader_close(reader);
    csan_context_destroy(context);
    recording_destroy(recording);
    races_free(&live);
    races_free(&replayed);
}

/* ---- what a recording keeps */

static const char *fact(struct recording_reader *reader, const char *key)
{
    static char value[4096];
    return recording_reader_fact(reader, key, NULL, value, sizeof value) ? value : NULL;
}

static void keeps_facts(void **state)
{
    (void)state;
    const char *path = in_scratch("facts");
    struct program *program = program_create(path, 1);
    char message[512], number[16];
    struct recorded recorded;
    run(program, 5, 50);
    recording_finish(program->recording, "unmodelled cuA\nunmodelled cuB\n");
    struct recording_reader *reader = recording_reader_open(path, message, sizeof message);
    assert_non_null(reader);
    assert_string_equal(fact(reader, "maker"), "test");
    snprintf(number, sizeof number, "%d", (int)getpid());
    assert_string_equal(fact(reader, "process"), number);
    assert_non_null(strchr(fact(reader, "command"), '/'));
    assert_non_null(fact(reader, "directory"));
    assert_string_equal(fact(reader, "entry"), "1 op lane set");
    assert_null(fact(reader, "unmodelled"));
    while (recording_reader_next(reader, &recorded) == RECORDED_ENTRY)
        ;
    const char *more = recording_reader_fact(reader, "unmodelled", NULL, message, sizeof message);
    assert_string_equal(message, "cuA");
    more = recording_reader_fact(reader, "unmodelled", more, message, sizeof message);
    assert_string_equal(message, "cuB");
    assert_null(recording_reader_fact(reader, "unmodelled", more, message, sizeof message));
    recording_reader_close(reader);
    program_destroy(program);
}

/* An op of more accesses than a block has room for, or than slots keep. */
static void large_sets(void **state)
{
    (void)state;
    enum { COUNT = 300000 };
    const char *path = in_scratch("large");
    struct program *program = program_create(path, 0);
    struct csan_access *accesses = calloc(COUNT, sizeof *accesses);
    char message[512];
    struct recorded recorded;
    for (size_t round = 0; round < 8; round++) {
        for (size_t i = 0; i < COUNT; i++)
            accesses[i] = (struct csan_access){.base = memory + i * (512 + i % 7) + round % 4,
                                               .bytes = 1 + i % 5 * 1000,
                                               .kind = CSAN_READ,
                                               .argument = (uint16_t)i};
        csan_op(program->context, CSAN_HOST, program->sites[1], CSAN_LEVEL_RANGES, accesses, COUNT);
    }
    recording_finish(program->recording, "");
    assert_string_equal(noted, "");
    struct recording_reader *reader = recording_reader_open(path, message, sizeof message);
    size_t ops = 0;
    enum recorded_status status;
    while ((status = recording_reader_next(reader, &recorded)) == RECORDED_ENTRY) {
        if (recorded.kind != RECORDED_OP)
            continue;
        size_t round = ops++;
        assert_int_equal(recorded.set->count, COUNT);
        for (size_t i = 0; i < COUNT; i += 997) {
            assert_int_equal(recorded.set->accesses[i].base,
                             memory + i * (512 + i % 7) + round % 4);
            assert_int_equal(recorded.set->accesses[i].bytes, 1 + i % 5 * 1000);
            assert_int_equal(recorded.set->accesses[i].argument, (uint16_t)i);
        }
    }
    if (status != RECORDED_END)
        fail_msg("%s", recording_reader_message(reader));
    assert_int_equal(ops, 8);
    recording_reader_close(reader);
    free(accesses);
    program_destroy(program);
}

/* More sets than there are slots, in and out again. */
static void many_sets(void **state)
{
    (void)state;
    enum { SETS = 6000, OPS = 60000 };
    const char *path = in_scratch("many");
    struct program *program = program_create(path, 0);
    char message[512];
    struct recorded recorded;
    random_state = 3;
    for (int i = 0; i < OPS; i++) {
        uint32_t set = random_below(random_below(3) ? 1000 : SETS);
        struct csan_dim dims[3] = {{set, 3}, {-(int64_t)set, 5}, {7, set + 1}};
        struct csan_access access = {.base = memory + set * 64ull,
                                     .bytes = set + 1,
                                     .dims = dims,
                                     .dim_count = (uint8_t)(set % 4),
                                     .kind = CSAN_WRITE};
        csan_op(program->context, CSAN_HOST, program->sites[set % SITES], CSAN_LEVEL_RANGES,
                &access, 1);
    }
    recording_finish(program->recording, "");
    struct recording_reader *reader = recording_reader_open(path, message, sizeof message);
    enum recorded_status status;
    random_state = 3;
    while ((status = recording_reader_next(reader, &recorded)) == RECORDED_ENTRY) {
        if (recorded.kind != RECORDED_OP)
            continue;
        uint32_t set = random_below(random_below(3) ? 1000 : SETS);
        const struct csan_access *access = recorded.set->accesses;
        assert_int_equal(recorded.set->site, program->sites[set % SITES]);
        assert_int_equal(access->base, memory + set * 64ull);
        assert_int_equal(access->bytes, set + 1);
        assert_int_equal(access->dim_count, set % 4);
        if (access->dim_count > 1)
            assert_int_equal(access->dims[1].stride, -(int64_t)set);
    }
    assert_int_equal(status, RECORDED_END);
    recording_reader_close(reader);
    program_destroy(program);
}

/* ---- threads */

static void *launches(void *user)
{
    struct program *program = user;
    csan_lane lane = csan_lane_create(program->context, 7, "thread's");
    csan_event *event = csan_event_create(program->context);
    for (uint64_t i = 0; i < 20000; i++) {
        struct csan_access access = {.base = memory + i % 50 * 16, .bytes = 16, .kind = CSAN_READ};
        csan_op(program->context, lane, program->sites[i % SITES], CSAN_LEVEL_RANGES, &access, 1);
        csan_event_record(program->context, event, lane);
        csan_event_wait(program->context, event, lane);
        if (i % 1000 == 0) {
            char name[64];
            snprintf(name, sizeof name, "site of %p, %d", (void *)&access, (int)i);
            const void *frame = (const void *)(uintptr_t)i;
            csan_site_intern(program->context, name, NULL, 0, &frame, 1);
        }
    }
    csan_event_destroy(program->context, event);
    csan_lane_destroy(program->context, lane);
    return NULL;
}

static void many_threads(void **state)
{
    (void)state;
    const char *path = in_scratch("threads");
    struct program *program = program_create(path, 1);
    struct races replayed = {0};
    struct csan_stats live, again;
    pthread_t threads[4];
    char message[512];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launches, program), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    csan_context_stats(program->context, &live);
    recording_finish(program->recording, "");
    if (replay_file(path, &replayed, &again, message, sizeof message) != RECORDED_END)
        fail_msg("%s", message);
    assert_int_equal(live.ops, 80000);
    assert_int_equal(again.ops, 80000);
    program_destroy(program);
}

/* AddressSanitizer does not follow a cancelled thread's stack, and checks what it itself keeps
 * there for the signal stack when the thread ends. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "use_sigaltstack=0";
}

/* The thread is cancelled where its first write would be: that is not csan's to follow. */
static void *cancelled_launch(void *user)
{
    csan_context *context = user;
    struct csan_access access = {.base = memory, .bytes = 16, .kind = CSAN_READ};
    pthread_cancel(pthread_self());
    errno = ESRCH;
    csan_site site = csan_site_intern(context, "cancelled", NULL, 0, NULL, 0);
    csan_op(context, CSAN_HOST, site, CSAN_LEVEL_RANGES, &access, 1);
    assert_int_equal(errno, ESRCH); /* the program's */
    pthread_testcancel();
    return NULL;
}

static void a_cancelled_thread(void **state)
{
    (void)state;
    const char *path = in_scratch("cancelled");
    struct races races = {0};
    struct csan_stats stats;
    char message[512];
    pthread_t thread;
    void *end;
    unlink(path);
    csan_context *context = csan_context_create("", race_keep, &races, message, sizeof message);
    struct recording *recording = recording_create(path, 0, "", note);
    context_record(context, recording, 1);
    alarm(60); /* a lock that it took along would never be given back */
    assert_int_equal(pthread_create(&thread, NULL, cancelled_launch, context), 0);
    pthread_join(thread, &end);
    assert_ptr_equal(end, PTHREAD_CANCELED);
    csan_context_drain(context);
    recording_finish(recording, "");
    alarm(0);
    assert_int_equal(replay_file(path, &races, &stats, message, sizeof message), RECORDED_END);
    assert_int_equal(stats.ops, 1);
    csan_context_destroy(context);
    recording_destroy(recording);
    races_free(&races);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_come_again),
        cmocka_unit_test(same_races),
        cmocka_unit_test(the_lane_of_a_same_operator_op_ended),
        cmocka_unit_test(only_recorded),
        cmocka_unit_test(times_out_alike),
        cmocka_unit_test(keeps_facts),
        cmocka_unit_test(large_sets),
        cmocka_unit_test(many_sets),
        cmocka_unit_test(many_threads),
        cmocka_unit_test(a_cancelled_thread),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
