/* Random programs whose launches, sets, copies and blocks are deferred
 * (runtime/hook/session/deferred.h), against the same ones enqueued at once. */
#include "tests/unit/hook/hook_deferred.h"

#include <inttypes.h>

enum { STREAMS = 3, BUFFERS = 6, STEPS = 400, FOUND = 2000 };

static uint32_t next_random(uint32_t *state, uint32_t count)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % count;
}

static void CUDA_CB nothing(void *unused)
{
    (void)unused;
}

struct player {
    uint32_t random;
    CUstream streams[STREAMS];
    CUevent events[STREAMS];
    CUdeviceptr buffers[BUFFERS];
    CUdeviceptr segment; /* of the pool */
    bool given[BUFFERS];
};

static CUdeviceptr block_of(const struct player *player, uint32_t number)
{
    return player->segment + number * 512;
}

/* What comes between is at one place, whether it is within. */
static __attribute__((noipa)) void operator_begins(bool within, CUdeviceptr p)
{
    static const char *const arguments[] = {"self"};
    static const struct csan_operator what = {
        .name = "mine", .arguments = arguments, .argument_count = 1};
    static struct csan_access access;
    access = (struct csan_access){.base = p, .bytes = 64, .kind = CSAN_WRITE};
    if (within)
        csan_operator_begin(&what, &(struct csan_operator_call){.accesses = &access, .count = 1});
}

static __attribute__((noipa)) void operator_ends(bool within)
{
    if (within)
        csan_operator_end();
}

static void play_step(struct player *player)
{
    uint32_t *random = &player->random;
    CUstream stream = player->streams[next_random(random, STREAMS)];
    const uint32_t buffer = next_random(random, BUFFERS), other = next_random(random, STREAMS);
    const uint32_t chance = next_random(random, 100);
    const bool within = chance >= 97 && chance < 99; /* an operator */
    if (chance < 10) {
        copy(player->buffers[buffer] + 16 * next_random(random, 3), player->buffers[other] + 8,
             stream);
    } else if (chance < 45 || within) {
        operator_begins(within, player->buffers[buffer]);
        if (other)
            fill(player->buffers[buffer] + 4 * next_random(random, 4), stream);
        else
            set(player->buffers[buffer], stream);
        operator_ends(within);
    } else if (chance < 60) {
        if (player->given[buffer])
            fill(block_of(player, buffer), stream);
    } else if (chance < 80) {
        void *block = (void *)(uintptr_t)block_of(player, buffer);
        if (player->given[buffer])
            csan_pool_free(block, stream);
        else
            csan_pool_alloc(block, 512, stream);
        player->given[buffer] = !player->given[buffer];
    } else if (chance < 85) {
        OK(cuEventRecord(player->events[other], stream));
    } else if (chance < 94) {
        OK(cuStreamWaitEvent(stream, player->events[other], 0));
    } else if (chance < 95) {
        if (next_random(random, 8))
            OK(cuStreamSynchronize(stream));
        else
            OK(cuCtxSynchronize());
    } else if (chance < 96) {
        OK(cuLaunchHostFunc(stream, nothing, NULL));
    } else if (chance < 97) {
        fake_run_host_functions();
    } else {
        csan_ignore_begin();
        fill(player->buffers[buffer], stream);
        csan_ignore_end();
    }
}

static void races_print(uint64_t since)
{
    static struct csan_race found[FOUND];
    const size_t count = csan_races_since(since, found, FOUND);
    printf("%zu races\n", count);
    for (size_t i = 0; i < count && i < FOUND; i++)
        printf("%d %d %" PRIx64 " %" PRIu64 " in %" PRIx64 " %" PRIu64 ": %s %s, %s %s\n",
               found[i].kind, found[i].possible, found[i].address, found[i].bytes,
               found[i].allocation, found[i].allocation_bytes, found[i].current.name,
               found[i].current.arguments, found[i].previous.name, found[i].previous.arguments);
}

static void play(uint32_t seed)
{
    struct player player = {.random = seed, .segment = device(512 * BUFFERS)};
    for (int i = 0; i < STREAMS; i++) {
        player.streams[i] = non_blocking();
        player.events[i] = event();
    }
    for (int i = 0; i < BUFFERS; i++)
        player.buffers[i] = device(64);
    const uint64_t mark = csan_race_mark();
    for (int i = 0; i < STEPS; i++)
        play_step(&player);
    races_print(mark);
}

/* The same races, in the same order, as if each launch were enqueued within its call. */
static void random_programs_are_enqueued_in_order(void **state)
{
    enum { SEEDS = 60 };
    static char at_once[sizeof output];
    size_t all = 0;
    (void)state;
    for (int seed = 0; seed < SEEDS; seed++) {
        char mode[32];
        snprintf(mode, sizeof mode, "play%d", seed);
        const char *quiet = "print_summary=0:log_path=/dev/null:dedup=0:exitcode=0:deferred_limit=";
        char options[128];
        snprintf(options, sizeof options, "%s0", quiet);
        assert_int_equal(run(mode, options), 0);
        memcpy(at_once, output, sizeof output);
        for (int room = 2; room <= 1024; room *= 512) {
            snprintf(options, sizeof options, "%s%d", quiet, room);
            assert_int_equal(run(mode, options), 0);
            assert_string_equal(output, at_once);
        }
        all += (size_t)atoi(output);
    }
    assert_in_range(all, 10 * SEEDS, 1000 * SEEDS);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_are_enqueued_in_order),
    };
    setenv("CSAN_OPTIONS", "symbolize=0:print_summary=0:log_path=/dev/null:dedup=0", 0);
    hook_test_start(argv);
    if (argc > 1) {
        play((uint32_t)atoi(argv[1] + strlen("play")));
        return 0;
    }
    return hook_finish(cmocka_run_group_tests(tests, NULL, NULL));
}
