/* csan's verdicts are PyTorch's: random sequences of the calls of
 * torch.cuda._sanitizer.EventHandler and recordings of it at work, replayed through csan.h and
 * checked (history.h) beside the verdicts that PyTorch gave.
 *
 * Every difference is one of these, each with a test below:
 *
 *   write before reads     PyTorch checks a write against the reads since the last write, and no
 *                          longer against that write. Where one of those reads raced with it, the
 *                          new write may be ordered after the read and not after the write: only
 *                          csan reports it. (Else it reports the write besides the read; csan_torch
 *                          leaves that out.)
 *   before a racing write  PyTorch forgets the reads before a write even if they race with it; what
 *                          comes after the write need not come after them. csan keeps them.
 *   reuse                  PyTorch forgets a tensor when it is freed. csan reports its memory given
 *                          out again while a stream still uses it, as a race of its own kind.
 *   read stands for read   PyTorch keeps every read since the last write and names them all. Of
 * reads in order csan may keep only the last, in bounded memory: whatever is unordered with the
 * first is unordered with it too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <csan/csan.h>
#include "history.h"
#include "recording.h"
#include "replay.h"
#include "sequence.h"
#include "verdicts.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A program that csan and the history get at once. */
struct trial {
    struct replay *replay;
    struct history *history;
    struct tally *tally;
    char message[256];
};

static struct replay *replay_begin(void)
{
    struct replay *replay = replay_create();
    assert_non_null(replay);
    return replay;
}

/* False when a verdict is wrong: the message says which. */
static bool trial_call(struct trial *trial, const struct call *call, const struct named *named,
                       size_t named_count)
{
    const struct reported *reported;
    size_t reported_count = replay_call(trial->replay, call, &reported);
    if (call->kind == CALL_KERNEL_LAUNCH)
        return history_check(trial->history, call, named, named_count, reported, reported_count,
                             trial->tally, trial->message, sizeof(trial->message));
    history_call(trial->history, call);
    return true;
}

/* ---- random sequences */

/* PyTorch's verdict on a launch, from one byte for each touch. */
static size_t unpack(const struct call *call, const uint8_t *streams, struct named *named)
{
    size_t count = 0;
    for (uint32_t touch = 0; touch < call->touch_count; touch++)
        for (unsigned bit = 0; bit < SEQUENCE_STREAMS; bit++)
            if (streams[touch] >> bit & 1)
                named[count++] = (struct named){touch, sequence_stream(bit)};
    return count;
}

/* Replays a sequence as the replay's next program and steps over its verdicts. */
static bool play_sequence(struct replay *replay, const struct sequence *sequence,
                          const uint8_t **streams, struct tally *tally, char message[256])
{
    struct trial trial = {replay, history_create(), tally, ""};
    bool right = true;
    for (size_t i = 0; i < sequence->count; i++) {
        const struct call *call = &sequence->calls[i];
        struct named named[SEQUENCE_TOUCHES * SEQUENCE_STREAMS];
        size_t count = unpack(call, *streams, named);
        *streams += call->touch_count;
        right = right && trial_call(&trial, call, named, count);
    }
    strcpy(message, trial.message);
    history_destroy(trial.history);
    replay_restart(replay);
    return right;
}

enum { PROGRAMS = 100 }; /* played in one context, one after the other */

static size_t touches_of(const struct sequence *sequence)
{
    size_t count = 0;
    for (size_t i = 0; i < sequence->count; i++)
        count += sequence->calls[i].touch_count;
    return count;
}

static struct verdicts *golden(void)
{
    struct verdicts *verdicts = verdicts_load(TORCH_TESTS "/verdicts.zst");
    assert_non_null(verdicts);
    return verdicts;
}

static void random_sequences_get_the_verdicts_of_pytorch(void **state)
{
    (void)state;
    struct verdicts *verdicts = golden();
    const uint8_t *streams = verdicts->streams, *end = streams + verdicts->count;
    struct tally tally = {0};
    assert_true(verdicts->sequences >= 100000);
    struct replay *replay = NULL;
    for (uint64_t number = 0; number < verdicts->sequences; number++) {
        struct sequence sequence;
        char message[256];
        if (number % PROGRAMS == 0) {
            replay_destroy(replay);
            replay = replay_begin();
        }
        sequence_make(&sequence, number);
        assert_true(touches_of(&sequence) <= (size_t)(end - streams));
        if (!play_sequence(replay, &sequence, &streams, &tally, message))
            fail_msg("sequence %lu, %s", number, message);
    }
    replay_destroy(replay);
    assert_ptr_equal(streams, end);
    print_message("%lu sequences, %lu launches, %lu accesses: PyTorch reports %lu, and csan too; "
                  "csan reports %lu more. Where they differ: write before reads %lu, before a "
                  "racing write %lu, reuse %lu, read stands for read %lu\n",
                  verdicts->sequences, tally.launches, tally.touches, tally.racing, tally.more,
                  tally.why[DIFFERENCE_WRITE_BEFORE_READS],
                  tally.why[DIFFERENCE_BEFORE_RACING_WRITE], tally.why[DIFFERENCE_REUSE],
                  tally.why[DIFFERENCE_READ_STANDS_FOR_READ]);
    for (int i = 0; i < DIFFERENCES; i++)
        assert_true(tally.why[i] > 100);
    assert_true(tally.racing > tally.touches / 20 && tally.racing < tally.touches / 2);
    free(verdicts);
}

/* Any stream more or less in any verdict is noticed. */
static void a_changed_verdict_of_pytorch_is_noticed(void **state)
{
    (void)state;
    struct verdicts *verdicts = golden();
    uint8_t *streams = verdicts->streams;
    for (uint64_t number = 0; number < 100; number++) {
        struct sequence sequence;
        struct tally tally = {0};
        char message[256];
        sequence_make(&sequence, number);
        const uint8_t *end = streams;
        struct replay *replay = replay_begin();
        assert_true(play_sequence(replay, &sequence, &end, &tally, message));
        for (; streams < end; streams++) {
            for (unsigned bit = 0; bit < 8; bit++) {
                const uint8_t *from = end - touches_of(&sequence);
                *streams ^= (uint8_t)(1u << bit);
                assert_false(play_sequence(replay, &sequence, &from, &tally, message));
                *streams ^= (uint8_t)(1u << bit);
            }
        }
        replay_destroy(replay);
    }
    free(verdicts);
}

/* ---- recordings */

static struct tally play_recording(const char *path)
{
    struct recording *recording = recording_load(path);
    assert_non_null(recording);
    struct tally tally = {0};
    struct trial trial = {replay_begin(), history_create(), &tally, ""};
    for (size_t i = 0; i < recording->count; i++) {
        const struct recorded_call *call = &recording->calls[i];
        if (!trial_call(&trial, &call->call, call->named, call->named_count))
            fail_msg("%s, %s", path, trial.message);
    }
    replay_destroy(trial.replay);
    history_destroy(trial.history);
    recording_free(recording);
    return tally;
}

static void recordings_of_pytorch_get_its_verdicts(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob(TORCH_TESTS "/recordings/*.txt", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 5);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct tally tally = play_recording(files.gl_pathv[i]);
        assert_true(tally.launches > 0);
    }
    globfree(&files);
}

static void a_side_stream_races_once(void **state)
{
    (void)state;
    struct tally tally = play_recording(TORCH_TESTS "/recordings/case_side_stream.txt");
    assert_int_equal(tally.racing, 1);
    assert_int_equal(tally.more, 0);
}

/* The programs beside the recordings: the documentation's mistake, and a training step in order. */
static void real_programs_get_the_verdicts_of_pytorch(void **state)
{
    (void)state;
    struct tally tally = play_recording(TORCH_TESTS "/recordings/live_example_error.txt");
    assert_int_equal(tally.racing, 1);
    assert_int_equal(tally.more, 0);
    tally = play_recording(TORCH_TESTS "/recordings/live_prefetch_step.txt");
    assert_true(tally.launches > 200);
    assert_int_equal(tally.racing, 0);
    assert_int_equal(tally.more, 0);
}

/* ---- csan's verdict changed */

static const struct touch reading = {512, CSAN_READ}, writing = {512, CSAN_WRITE};

static struct call launch(uint64_t stream, const struct touch *touch)
{
    return (struct call){
        .kind = CALL_KERNEL_LAUNCH, .stream = stream, .touch_count = 1, .touches = touch};
}

/* Streams 1 and 2 write the tensor, in order or not; what csan might say of it. */
static bool judged(bool ordered, const struct named *named, size_t named_count,
                   const struct reported *reported, size_t reported_count)
{
    struct history *history = history_create();
    struct tally tally = {0};
    char message[256];
    const struct call first = launch(1, &writing), second = launch(2, &writing);
    assert_true(history_check(history, &first, NULL, 0, NULL, 0, &tally, message, 256));
    if (ordered)
        history_call(history, &(struct call){.kind = CALL_DEVICE_SYNCHRONIZATION});
    bool right = history_check(history, &second, named, named_count, reported, reported_count,
                               &tally, message, sizeof(message));
    history_destroy(history);
    return right;
}

static void a_changed_verdict_of_csan_is_noticed(void **state)
{
    (void)state;
    const struct named named = {0, 1};
    const struct reported right = {0, 1, CSAN_WRITE, 0}, reuse = {0, 1, CSAN_WRITE, 1};
    const struct reported itself = {0, 2, CSAN_WRITE, 0}, twice[] = {right, right};
    assert_true(judged(false, &named, 1, &right, 1));
    assert_true(judged(true, NULL, 0, NULL, 0));
    assert_false(judged(false, &named, 1, NULL, 0));
    assert_false(judged(false, &named, 1, &reuse, 1));
    assert_false(judged(false, &named, 1, &itself, 1));
    assert_false(judged(false, &named, 1, twice, 2));
    assert_false(judged(false, NULL, 0, &right, 1));
    assert_false(judged(true, NULL, 0, &right, 1));
    assert_false(judged(true, &named, 1, NULL, 0));
}

/* ---- the differences, one by one; each recording holds PyTorch's own answer */

static void expect_one(const char *path, enum difference difference, uint64_t racing, uint64_t more)
{
    struct tally tally = play_recording(path);
    for (int i = 0; i < DIFFERENCES; i++)
        assert_int_equal(tally.why[i], i == (int)difference);
    assert_int_equal(tally.racing, racing);
    assert_int_equal(tally.more, more);
}

static void a_write_before_reads_is_still_checked(void **state)
{
    (void)state;
    expect_one(TORCH_TESTS "/recordings/case_write_before_reads.txt", DIFFERENCE_WRITE_BEFORE_READS,
               1, 1);
}

static void reads_before_a_racing_write_are_still_checked(void **state)
{
    (void)state;
    expect_one(TORCH_TESTS "/recordings/case_before_racing_write.txt",
               DIFFERENCE_BEFORE_RACING_WRITE, 1, 1);
}

static void memory_reused_while_in_use_is_reported(void **state)
{
    (void)state;
    expect_one(TORCH_TESTS "/recordings/case_reuse.txt", DIFFERENCE_REUSE, 0, 1);
}

static void the_last_of_reads_in_order_stands_for_them(void **state)
{
    (void)state;
    expect_one(TORCH_TESTS "/recordings/case_read_stands_for_read.txt",
               DIFFERENCE_READ_STANDS_FOR_READ, 1, 0);
}

/* A tensor that is only ever read: PyTorch keeps every read, csan one a stream. */
static void reads_do_not_pile_up(void **state)
{
    (void)state;
    struct replay *replay = replay_begin();
    const struct reported *reported;
    for (uint64_t i = 0; i < 10000; i++) {
        const struct call read = launch(1 + i % 4, &reading);
        assert_int_equal(replay_call(replay, &read, &reported), 0);
    }
    const struct call write = launch(5, &writing);
    assert_int_equal(replay_call(replay, &write, &reported), 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(reported[i].launch > 9996);
    replay_destroy(replay);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_sequences_get_the_verdicts_of_pytorch),
        cmocka_unit_test(a_changed_verdict_of_pytorch_is_noticed),
        cmocka_unit_test(recordings_of_pytorch_get_its_verdicts),
        cmocka_unit_test(a_side_stream_races_once),
        cmocka_unit_test(real_programs_get_the_verdicts_of_pytorch),
        cmocka_unit_test(a_changed_verdict_of_csan_is_noticed),
        cmocka_unit_test(a_write_before_reads_is_still_checked),
        cmocka_unit_test(reads_before_a_racing_write_are_still_checked),
        cmocka_unit_test(memory_reused_while_in_use_is_reported),
        cmocka_unit_test(the_last_of_reads_in_order_stands_for_them),
        cmocka_unit_test(reads_do_not_pile_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
