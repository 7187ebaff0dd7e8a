/* What learning may take of a program's time, from its start to its end: to learn, to confirm what
 * is known, and to hear of launches; on the GPU that stands in (hook_gpu.h). */
#include "tests/unit/hook/tracer/hook_gpu_run.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

/* How many launches of the program that ran were. */
static unsigned deferred(void)
{
    unsigned beside, within;
    const char *counts = strstr(output, " launches and the like were checked");
    while (counts && counts > output && counts[-1] != ' ')
        counts--;
    assert_non_null(counts);
    assert_int_equal(sscanf(counts,
                            "%u launches and the like were checked beside the program, %u within",
                            &beside, &within),
                     2);
    return beside + within;
}

/* Changes that take long are made to learn, and to confirm only now and then. */
static void confirming_is_not_for_ever(void **state)
{
    (void)state;
    assert_int_equal(run("slow", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "traced 2 + 1, patched 1 + 1 + 1\n");
}

/* It took all the time there is to patch a module for that; so it is looked at. */
static void what_is_paid_for_is_confirmed(void **state)
{
    (void)state;
    assert_int_equal(run("dear", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "traced 2, patched 1, traced 1\n");
}

/* A confirmation that was deferred stays deferred until there is time for it. */
static void what_there_is_no_time_to_confirm_is_deferred(void **state)
{
    (void)state;
    assert_int_equal(run("unpaid", GPU ":" TOOLS, "", "verbosity=1"), 0);
    assert_in_range(deferred(), 90, 110); /* not if there is no room */
}

/* While all is known, nobody hears of launches, and what no kernel was launched from is unpatched,
 * too; a new kernel is learned all the same. */
static void launches_are_listened_to_while_it_matters(void **state)
{
    (void)state;
    assert_int_equal(run("quiet", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "live 0, heard 0, traced 2, live 1, heard more\n");
}

/* A kernel that was launched once, and so is not known, is waited for in vain. */
static void what_is_never_launched_is_not_waited_for(void **state)
{
    (void)state;
    assert_int_equal(run("left", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "live 1, then 0, heard 0\n");
}

/* Nor where the program hardly ever waits. */
static void nor_are_many_launches_heard_for_it(void **state)
{
    (void)state;
    assert_int_equal(run("rare", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "live at first, then 0, heard 0\n");
}

/* Launches of one kernel take turns, those that are known and those that are not: what was patched
 * in one's turn is so still in the other's, though there is no time left by then. */
static void launches_that_take_turns_are_learned(void **state)
{
    (void)state;
    assert_int_equal(run("turns", GPU ":" TOOLS, "", "learn_warmup_ms=900:print_summary=0"), 0);
    assert_string_equal(output, "traced 3, then 1, live 1, then 0\n");
}

/* There is no time for it, and once there is it need not be said again. (A deferred launch would
 * say it one launch later.) */
static void a_request_is_served_once_there_is_time(void **state)
{
    (void)state;
    assert_int_equal(
        run("poor", GPU ":" TOOLS, "",
            "learn_warmup_ms=240:learn_confirm_ms=600000:print_summary=0:deferred_limit=0"),
        0);
    assert_string_equal(output, "live 0, then 1, traced 1\n");
}

/* A launch that comes only while its module is as it is, is not hunted for ever; one that then can
 * be traced is, if later. */
static void what_is_never_caught_is_seldom_hunted(void **state)
{
    (void)state;
    assert_int_equal(run("shy", GPU ":" TOOLS, "", "learn_warmup_ms=600000:print_summary=0"), 0);
    assert_string_equal(output, "patched a few times, then traced\n");
    assert_int_equal(run("shyer", GPU ":" TOOLS, "", "learn_warmup_ms=600000"), 0);
    assert_non_null(strstr(output, "could not be traced: those of 1 kernel came only while "
                                   "nothing was patched"));
}

/* What cannot be traced for want of a record is not listened for. */
static void nobody_listens_where_there_is_no_record(void **state)
{
    (void)state;
    assert_int_equal(run("wide", GPU ":" TOOLS, "", "learn_memory_mb=1:print_summary=0"), 0);
    assert_string_equal(output, "traced 0, heard 0\n");
}

/* A kernel with another grid each time is never known: it is learned of for a while, and then only
 * now and then. Where every launch is to be traced, all are. */
static void learning_is_not_for_ever(void **state)
{
    (void)state;
    assert_int_equal(run("grids", GPU ":" TOOLS, "", "learn_warmup_ms=20:print_summary=0"), 0);
    assert_string_equal(output, "some traced, live 0\n");
    assert_int_equal(run("grids", GPU ":" TOOLS, "", "learn_warmup_ms=20:verbosity=1"), 0);
    assert_in_range(deferred(), 40, 80); /* while there is no time to learn of them */
    assert_int_equal(
        run("grids", GPU ":" TOOLS, "", "access=exact:learn_warmup_ms=20:print_summary=0"), 0);
    assert_string_equal(output, "all traced, live 1\n");
}

/* ---- The programs ---- */

static void *unblock(void *unused)
{
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    block_changes(0);
    return unused;
}

/* The first kernel is known from two launches. To patch its module for the fourth, which confirms
 * that, takes three tenths of a second, so the eighth is not looked at; another kernel of the
 * module is learned all the same. */
static int mode_slow(CUdeviceptr p, CUdeviceptr q)
{
    CUmodule module;
    CUfunction f = fresh_in(&module);
    pthread_t thread;
    touch(q, 4, 4, 16, FAKE_WRITE);
    for (int i = 0; i < 3; i++) {
        launch(f, p, q, NULL);
        wait_reported();
    }
    cuCtxSynchronize();
    struct fake_changes first = changes();
    block_changes(1);
    if (pthread_create(&thread, NULL, unblock, NULL) != 0)
        return 1;
    launch(f, p, q, NULL);
    pthread_join(thread, NULL);
    wait_reported();
    cuCtxSynchronize();
    for (int i = 0; i < 6; i++) {
        launch(f, p, q, NULL);
        cuCtxSynchronize();
    }
    struct fake_changes second = changes();
    CUfunction g;
    cuModuleGetFunction(&g, module, "other");
    launch(g, p, q, NULL);
    cuCtxSynchronize();
    printf("traced %d + %d, patched %d + %d + %d\n", first.traced, second.traced - first.traced,
           first.patched, second.patched - first.patched, changes().patched - second.patched);
    return first.unpatched == 1 && second.unpatched == 2 ? 0 : 1;
}

/* The fourth launch is to be confirmed, and the device busy; then it takes three tenths of a second
 * to patch its module. */
static int mode_dear(CUdeviceptr p, CUdeviceptr q)
{
    CUfunction f = fresh();
    pthread_t thread;
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch_reported(3, f, p, q);
    struct fake_changes first = changes();
    busy(1);
    launch(f, p, q, NULL);
    busy(0);
    block_changes(1);
    if (pthread_create(&thread, NULL, unblock, NULL) != 0)
        return 1;
    cuCtxSynchronize();
    pthread_join(thread, NULL);
    struct fake_changes second = changes();
    launch(f, p, q, NULL);
    wait_reported();
    printf("traced %d, patched %d, traced %d\n", first.traced, second.patched - first.patched,
           changes().traced - second.traced);
    return 0;
}

/* The first kernel's sixteenth launch is to confirm what is known of it, and was deferred; then to
 * confirm what is known of the second takes all the time there is. */
static int mode_unpaid(CUdeviceptr p, CUdeviceptr q)
{
    CUfunction f = fresh(), g = fresh();
    pthread_t thread;
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch_reported(15, f, p, q);
    launch_reported(7, g, p, q);
    launch(f, p, q, NULL);
    races(); /* which flushes deferred work */
    block_changes(1);
    if (pthread_create(&thread, NULL, unblock, NULL) != 0)
        return 1;
    launch_reported(1, g, p, q);
    pthread_join(thread, NULL);
    for (int i = 0; i < 100; i++)
        launch(f, p, q, NULL);
    return 0;
}

/* Each launch runs for 5 ms. */
static int mode_grids(CUdeviceptr p, CUdeviceptr q)
{
    enum { LAUNCHES = 80 };
    CUfunction f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    for (unsigned i = 1; i <= LAUNCHES; i++) {
        launch_blocks(i, f, p, q, NULL);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        wait_reported();
        cuCtxSynchronize();
    }
    struct fake_changes end = changes();
    printf("%s traced, live %d\n",
           end.traced == LAUNCHES                         ? "all"
           : end.traced >= 1 && end.traced < LAUNCHES / 2 ? "some"
                                                          : "others",
           end.live);
    return 0;
}

static int mode_quiet(CUdeviceptr p, CUdeviceptr q)
{
    CUfunction f = fresh();
    fresh(); /* which nobody launches */
    touch(q, 4, 4, 16, FAKE_WRITE);
    for (int i = 0; i < 2; i++) {
        launch(f, p, q, NULL);
        wait_reported();
    }
    launch_reported(10, f, p, q);
    struct fake_changes known = changes();
    launch(f, p, q, NULL);
    struct fake_changes quiet = changes();
    CUfunction g = fresh();
    for (int i = 0; i < 3; i++) {
        launch(g, p, q, NULL);
        wait_reported();
    }
    struct fake_changes end = changes();
    printf("live %d, heard %d, traced %d, live %d, heard %s\n", known.live,
           quiet.heard - known.heard, end.traced - known.traced, end.live,
           end.heard > quiet.heard ? "more" : "nothing");
    return 0;
}

static int mode_left(CUdeviceptr p, CUdeviceptr q)
{
    int live[2];
    CUfunction once = fresh(), f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch(once, p, q, NULL);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 100 + 300 * k; i++) {
            launch(f, p, q, NULL);
            wait_reported();
            cuCtxSynchronize();
        }
        live[k] = changes().live;
    }
    int heard = changes().heard;
    launch(f, p, q, NULL);
    printf("live %d, then %d, heard %d\n", live[0], live[1], changes().heard - heard);
    return 0;
}

static int mode_rare(CUdeviceptr p, CUdeviceptr q)
{
    int live[2];
    CUfunction once = fresh(), f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch(once, p, q, NULL);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 3000 + 7000 * k; i++) {
            launch(f, p, q, NULL);
            if (i % 1000 == 0 || i < 8) {
                wait_reported();
                cuCtxSynchronize();
            }
        }
        cuCtxSynchronize();
        live[k] = changes().live;
    }
    cuCtxSynchronize();
    int heard = changes().heard;
    launch(f, p, q, NULL);
    printf("live %s, then %d, heard %d\n", live[0] > 0 ? "at first" : "never", live[1],
           changes().heard - heard);
    return 0;
}

/* So many milliseconds on the device, which csan sees busy. */
static void run_for(long ms, unsigned blocks, CUfunction f, CUdeviceptr p, CUdeviceptr q)
{
    busy(1);
    launch_blocks(blocks, f, p, q, NULL);
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
    busy(0);
    wait_reported();
    cuCtxSynchronize();
}

static int mode_turns(CUdeviceptr p, CUdeviceptr q)
{
    CUfunction f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch_reported(4, f, p, q); /* two to learn, the fourth to confirm */
    struct fake_changes known = changes();
    run_for(1, 2, f, p, q);   /* which asks for it to be patched, once it has ended */
    run_for(950, 1, f, p, q); /* which takes the time there is */
    struct fake_changes spent = changes();
    run_for(1, 2, f, p, q);
    struct fake_changes end = changes();
    printf("traced %d, then %d, live %d, then %d\n", known.traced, end.traced - known.traced,
           spent.live, end.live);
    return 0;
}

static int mode_poor(CUdeviceptr p, CUdeviceptr q)
{
    CUfunction f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch_reported(4, f, p, q);
    for (int i = 0; i < 1100; i++) /* so that none is confirmed meanwhile */
        launch(f, p, q, NULL);
    launch_reported(2, f, p, q);
    run_for(300, 3, f, p, q); /* twice: it is patched for the second */
    run_for(300, 3, f, p, q);
    run_for(1, 2, f, p, q);
    struct fake_changes poor = changes();
    for (int i = 0; i < 600 && changes().live == 0; i++) /* the next is confirmed later */
        run_for(10, 1, f, p, q);
    struct fake_changes rich = changes();
    run_for(1, 2, f, p, q);
    printf("live %d, then %d, traced %d\n", poor.live, rich.live, changes().traced - rich.traced);
    return 0;
}

/* Nothing is idle while it is launched, so it is patched when it ends. */
static int mode_shy(CUdeviceptr p, CUdeviceptr q, bool to_the_end)
{
    enum { ROUNDS = 600 };
    CUfunction f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch_reported(4, f, p, q);
    struct fake_changes known = changes();
    for (unsigned i = 0; i < ROUNDS; i++) {
        busy(1);
        if (changes().live == 0)
            launch_blocks(2, f, p, q, NULL);
        launch(f, p, q, NULL);
        busy(0);
        wait_reported();
        cuCtxSynchronize();
    }
    if (to_the_end)
        return 0;
    struct fake_changes end = changes();
    int later = 0;
    for (; later < 2000 && changes().traced == end.traced; later++) {
        launch_blocks(2, f, p, q, NULL);
        wait_reported();
        cuCtxSynchronize();
    }
    const int tries = end.patched - known.patched;
    printf("patched %s, then %s\n",
           tries < 4    ? "hardly"
           : tries < 24 ? "a few times"
                        : "often",
           later < 2000 ? "traced" : "not traced");
    return 0;
}

static int mode_wide(CUdeviceptr p, CUdeviceptr q)
{
    CUfunction f = fresh();
    launch(f, p, q, NULL);
    for (int i = 0; i < 10; i++)
        cuCtxSynchronize(); /* what was patched as it was loaded is as it was */
    int heard = changes().heard;
    for (int i = 0; i < 3; i++)
        launch(f, p, q, NULL);
    printf("traced %d, heard %d\n", changes().traced, changes().heard - heard);
    return 0;
}

static int mode_shyer(CUdeviceptr p, CUdeviceptr q)
{
    return mode_shy(p, q, true);
}

static int mode_shy_at_first(CUdeviceptr p, CUdeviceptr q)
{
    return mode_shy(p, q, false);
}

static int mode_run(const char *name)
{
    static const struct {
        const char *name;
        int (*run)(CUdeviceptr p, CUdeviceptr q);
    } modes[] = {{"slow", mode_slow},   {"dear", mode_dear},        {"unpaid", mode_unpaid},
                 {"grids", mode_grids}, {"quiet", mode_quiet},      {"left", mode_left},
                 {"rare", mode_rare},   {"turns", mode_turns},      {"poor", mode_poor},
                 {"wide", mode_wide},   {"shy", mode_shy_at_first}, {"shyer", mode_shyer}};
    CUdeviceptr q, p = two_buffers(&q);
    controls_find();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, name) == 0)
            return modes[i].run(p, q);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return mode_run(argv[1]);
#define TEST(name) cmocka_unit_test_setup(name, hook_setup)
    gpu_test_start(argv);
    const struct CMUnitTest tests[] = {
        TEST(confirming_is_not_for_ever),
        TEST(what_is_paid_for_is_confirmed),
        TEST(what_there_is_no_time_to_confirm_is_deferred),
        TEST(launches_are_listened_to_while_it_matters),
        TEST(what_is_never_launched_is_not_waited_for),
        TEST(nor_are_many_launches_heard_for_it),
        TEST(launches_that_take_turns_are_learned),
        TEST(a_request_is_served_once_there_is_time),
        TEST(what_is_never_caught_is_seldom_hunted),
        TEST(nobody_listens_where_there_is_no_record),
        TEST(learning_is_not_for_ever),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_tracer_time", tests, NULL, NULL));
}
