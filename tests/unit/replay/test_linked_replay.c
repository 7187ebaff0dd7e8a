/* Recordings of several processes, made of random programs and replayed together: the races between
 * processes must be those that a search over all pairs of ops finds.
 *
 * The search knows for each lane the set of ops that have finished before what comes next. Each
 * pair of ops has four bytes of shared memory of its own, so no race hides another. Then one
 * process's recording ends early, and each certain race must still be one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/replay/linked_replay.h"

#include "linked_steps.h"

/* ---- The replay ---- */

static struct found {
    struct linked_replay *replay;
    bool certain[OPS][OPS], possible[OPS][OPS];
    size_t count;
} found;

static void race_found(void *user, const struct csan_race *race)
{
    size_t one_process, other_process;
    (void)user;
    if (!found.replay || !linked_replay_process(found.replay, race->previous.site, &one_process) ||
        !linked_replay_process(found.replay, race->current.site, &other_process) ||
        one_process == other_process)
        return;
    const int one = atoi(race->previous.name), other = atoi(race->current.name);
    assert_int_equal(world.owner[one], one_process);
    assert_int_equal(world.owner[other], other_process);
    assert_int_equal(linked_replay_op(found.replay, race->previous.sequence), world.numbers[one]);
    assert_int_equal(linked_replay_op(found.replay, race->current.sequence), world.numbers[other]);
    const bool possible = race->possible || linked_replay_doubts(found.replay);
    bool(*where)[OPS] = possible ? found.possible : found.certain;
    where[one][other] = where[other][one] = true;
    found.count++;
}

static bool passes_by(void *user, const struct csan_race *race)
{
    size_t one, other;
    (void)user;
    return !found.replay || !linked_replay_process(found.replay, race->previous.site, &one) ||
           !linked_replay_process(found.replay, race->current.site, &other) || one == other;
}

static void said(void *user, const char *line)
{
    (void)line;
    (*(size_t *)user)++;
}

/* Each recording's entries, all of them and no more. */
static void interleaving_check(const struct interleaving *interleaving,
                               const struct linked_source *sources)
{
    uint64_t entries[PROCESSES] = {0};
    char message[512];
    struct recorded recorded;
    for (size_t i = 0; i < interleaving->turn_count; i++)
        entries[interleaving->turns[i].process] += interleaving->turns[i].entries;
    for (size_t i = 0; i < interleaving->count; i++) {
        struct recording_reader *reader =
            recording_reader_open(sources[i].path, message, sizeof message);
        while (recording_reader_next(reader, &recorded) == RECORDED_ENTRY)
            assert_true(entries[i]-- > 0);
        assert_int_equal(entries[i], 0);
        recording_reader_close(reader);
    }
}

/* How much the replay said. */
static size_t replay_all(int count)
{
    char paths[PROCESSES][64], message[512];
    static const char *const names[] = {"rank 0", "rank 1", "rank 2", "rank 3"};
    struct linked_source sources[PROCESSES];
    size_t lines = 0;
    memset(&found, 0, sizeof found);
    for (int i = 0; i < count; i++) {
        path_of(i, paths[i]);
        sources[i] = (struct linked_source){paths[i], names[i]};
    }
    csan_context *context =
        csan_context_create("dedup=0", race_found, NULL, message, sizeof message);
    assert_non_null(context);
    context_set_filter(context, passes_by, NULL);
    found.replay = linked_replay_create(context, sources, (size_t)count, message, sizeof message);
    if (!found.replay)
        fail_msg("%s", message);
    assert_true(linked_replay_interleaves(found.replay));
    linked_replay_run(found.replay, said, &lines);
    struct linked_replay *replay = found.replay;
    struct interleaving *interleaving = linked_replay_interleaving(replay);
    interleaving_check(interleaving, sources);
    interleaving_destroy(interleaving);
    found.replay = NULL;
    linked_replay_destroy(replay);
    csan_context_destroy(context);
    return lines;
}

static void same_races(void **state)
{
    (void)state;
    size_t races = 0, ordered = 0, programs = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        const int count = 2 + (int)(seed % (PROCESSES - 1));
        program_record(seed, count, -1);
        if (hangs())
            continue;
        const size_t lines = replay_all(count);
        programs++;
        if (lines)
            fail_msg("seed %d: something is missing, says the replay", (int)seed);
        for (int i = 0; i < world.op_count; i++)
            for (int j = i + 1; j < world.op_count; j++) {
                if (found.certain[i][j] != is_race(i, j) || found.possible[i][j])
                    fail_msg("seed %d: ops %d of process %d and %d of process %d: %s", (int)seed, i,
                             world.owner[i], j, world.owner[j],
                             is_race(i, j) ? "the race is not found" : "there is no race");
                races += is_race(i, j);
                ordered += world.owner[i] != world.owner[j] && !is_race(i, j);
            }
    }
    assert_true(races > 1000);
    assert_true(ordered > 1000);
    assert_true(programs > 300);
}

/* What is cut off may order what seems to race. */
static void certain_races_of_cut_recordings(void **state)
{
    (void)state;
    size_t certain = 0, possible = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        const int count = 2 + (int)(seed % (PROCESSES - 1));
        program_record(1000 + seed, count, (int)(seed % (uint64_t)count));
        if (hangs())
            continue;
        replay_all(count);
        for (int i = 0; i < world.op_count; i++)
            for (int j = i + 1; j < world.op_count; j++) {
                if (found.certain[i][j] && !is_race(i, j))
                    fail_msg("seed %d: ops %d of %d and %d of %d are no race, but a certain one",
                             (int)seed, i, world.owner[i], j, world.owner[j]);
                certain += found.certain[i][j];
                possible += found.possible[i][j];
            }
    }
    assert_true(certain > 100);
    assert_true(possible > 100);
}

static int scratch_make(void **state)
{
    (void)state;
    return mkdtemp(scratch) ? 0 : -1;
}
static int scratch_remove(void **state)
{
    char path[64];
    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        path_of(i, path);
        unlink(path);
    }
    return rmdir(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_races),
        cmocka_unit_test(certain_races_of_cut_recordings),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
