/* Programs of their own under the tracer, on the GPU that stands in (hook_gpu.h): what is said
 * where there are no traces, and what learning may take of a program from its start to its end.
 * Where csan is built without its tracer, the summary must say so. */
#include "hook_gpu.h"
#include "short_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SYSTEM_LIBRARY "/usr/local/cuda/compute-sanitizer/libsanitizer-public.so"

static char output[8192];

/* For a run of this program for one launch. */
static CUdeviceptr two_buffers(CUdeviceptr *second)
{
    CUdeviceptr first = 0;
    fake_set_parameters =
        (void (*)(int))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fake_set_parameters");
    if (!fake_set_parameters || cuMemAlloc_v2(&first, 512) != CUDA_SUCCESS ||
        cuMemAlloc_v2(second, 512) != CUDA_SUCCESS)
        exit(2);
    return first;
}

/* This program again, for one launch on that driver, and what it prints. */
static int run(const char *mode, const char *directory, const char *environment,
               const char *options)
{
    char command[2048];
    snprintf(command, sizeof command,
             "env -u CUDA_HOME -u CUDA_PATH LD_LIBRARY_PATH='%s' %s CSAN_OPTIONS="
             "'symbolize=0:access=learn:learn_cache_mb=0:%s' '%s' %s 2>&1",
             directory, environment, options, program_invocation_name, mode);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    return WEXITSTATUS(pclose(pipe));
}

#ifdef TRACER

/* ---- What is said ---- */

static void a_wheel_has_it_beside_the_run_time_library(void **state)
{
    (void)state;
    assert_int_equal(run("wheel", GPU, "", ""), 0);
    assert_non_null(strstr(output, "1 launch traced"));
}

static void a_toolkit_has_it(void **state)
{
    (void)state;
    assert_int_equal(run("once", GPU, "CUDA_HOME='" TOOLS "'", ""), 0);
    assert_null(strstr(output, "could not be traced"));
}

static void a_missing_library_is_said(void **state)
{
    (void)state;
    if (access(SYSTEM_LIBRARY, F_OK) == 0)
        skip(); /* it is not missing */
    assert_int_equal(run("once", GPU, "", ""), 0);
    assert_non_null(strstr(output, "could not be traced: libsanitizer-public.so of the CUDA "
                                   "Toolkit was not found"));
}

static void another_tool_is_said(void **state)
{
    (void)state;
    assert_int_equal(run("once", GPU ":" TOOLS, "FAKE_SANITIZER=taken", ""), 0);
    assert_non_null(strstr(output, "could not be traced: another tool"));
}

static void no_memory_is_said(void **state)
{
    (void)state;
    assert_int_equal(run("once", GPU ":" TOOLS, "", "learn_memory_mb=0"), 0);
    assert_non_null(strstr(output, "could not be traced: learn_memory_mb=0"));
}

/* Patched code takes ten times as long. */
static void what_is_not_traced_is_not_patched(void **state)
{
    (void)state;
    assert_int_equal(run("patches", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "patched\n");
    assert_int_equal(run("patches", GPU ":" TOOLS, "", "learn_memory_mb=0:print_summary=0"), 0);
    assert_string_equal(output, "not patched\n");
}

/* Whichever table that a launch needs cannot be made, of all that the first one makes and then of
 * a kernel's own. */
static void a_program_goes_on_when_memory_is_short(void **state)
{
    (void)state;
#ifdef MEMORY_IS_NEVER_SHORT
    skip();
#endif
    assert_int_equal(run("short", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "some not traced, then traced\n");
}

/* ---- What a whole program has ---- */

/* A launch of many threads that fills a record has larger ones from then on; one of few does not.
 */
static void much_makes_the_next_record_larger(void **state)
{
    (void)state;
    assert_int_equal(run("much", GPU ":" TOOLS, "", "learn_memory_mb=40:print_summary=0"), 0);
    assert_string_equal(output, "sizes 0 1 0, granules 4 4 4\n");
}

/* Records have nothing of what is copied through tensor maps. */
static void much_memory_of_maps_needs_no_large_record(void **state)
{
    (void)state;
    assert_int_equal(run("maps", GPU ":" TOOLS, "", "learn_memory_mb=40:print_summary=0"), 0);
    assert_string_equal(output, "traced 1, size 0\n");
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

/* What was put off when it was to be confirmed is put off until there is time for that. */
static void what_there_is_no_time_to_confirm_is_put_off(void **state)
{
    (void)state;
    unsigned beside, within;
    assert_int_equal(run("unpaid", GPU ":" TOOLS, "", "verbosity=1"), 0);
    const char *counts = strstr(output, " launches and the like were checked");
    while (counts && counts > output && counts[-1] != ' ')
        counts--;
    assert_non_null(counts);
    assert_int_equal(sscanf(counts,
                            "%u launches and the like were checked beside the program, %u within",
                            &beside, &within),
                     2);
    assert_in_range(beside + within, 90, 110); /* not if there is no room */
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

/* There is no time for it, and once there is it need not be said again. (A launch that is put off
 * would say it one launch later.) */
static void a_wish_is_granted_once_there_is_time(void **state)
{
    (void)state;
    assert_int_equal(run("poor", GPU ":" TOOLS, "",
                         "learn_warmup_ms=240:learn_confirm_ms=600000:print_summary=0:backlog=0"),
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
    assert_int_equal(
        run("grids", GPU ":" TOOLS, "", "access=exact:learn_warmup_ms=20:print_summary=0"), 0);
    assert_string_equal(output, "all traced, live 1\n");
}

static void without_being_asked_it_learns_of_machine_code(void **state)
{
    (void)state;
    assert_int_equal(run("auto", GPU ":" TOOLS, "", "access=auto"), 0);
    assert_non_null(strstr(output, "live 0, then 1, traced 3, live 0, heard 0\n"));
    assert_non_null(strstr(output, "3 launches known from earlier ones"));
}

/* Where nobody reads the maps that a kernel copies through, what is traced of it is not all. */
static void what_copies_through_maps_is_not_traced_without_them(void **state)
{
    (void)state;
    assert_int_equal(run("copies", GPU ":" TOOLS, "", "access=exact:print_summary=0"), 0);
    assert_string_equal(output, "traced 0, then 1\n");
}

static void what_is_loaded_to_be_launched_is_traced_at_once(void **state)
{
    (void)state;
    assert_int_equal(run("lazy", GPU ":" TOOLS, "", "access=auto"), 0);
    assert_non_null(strstr(output, "live 0, then 1, traced 1\n"));
    assert_int_equal(run("lazy", GPU ":" TOOLS, "", "access=auto:learn_warmup_ms=0"), 0);
    assert_non_null(strstr(output, "live 0, then 0, traced 0\n")); /* there is no time */
}

/* The driver's tools interface is for one: who did not ask for csan to have it keeps a profiler. */
static void a_profiler_goes_first(void **state)
{
    (void)state;
    assert_int_equal(run("auto", GPU ":" TOOLS, "CUDA_INJECTION64_PATH=libtool.so", "access=auto"),
                     0);
    assert_non_null(strstr(output, "traced 0,"));
    assert_non_null(strstr(output, "launches could not be traced: CUDA_INJECTION64_PATH names a "
                                   "tool, so the driver's tools interface was left alone"));
    assert_int_equal(run("auto", GPU ":" TOOLS, "LD_PRELOAD=" GPU "/libcupti.so.13", "access=auto"),
                     0);
    assert_non_null(strstr(output, "launches could not be traced: the program has CUPTI"));
    assert_int_equal(run("auto", GPU ":" TOOLS, "LD_PRELOAD=" GPU "/libcupti.so.13", ""), 0);
    assert_non_null(strstr(output, "traced 3,"));
    assert_int_equal(run("auto", GPU ":" TOOLS, "LD_PRELOAD=" GPU "/libcupti.so.13", "access=ptx"),
                     0);
    assert_null(strstr(output, "could not be traced"));
}

static void what_is_loaded_when_all_is_known_is_traced_at_once(void **state)
{
    (void)state;
    assert_int_equal(run("later", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "live 0, then 1, traced 4\n");
}

static void known_graphs_are_not_listened_to(void **state)
{
    (void)state;
    assert_int_equal(run("graph", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "traced 3, live 0, heard 0\n");
}

/* While a stream waits for the host, the device does not go on with a patched context's first. */
static void a_context_s_first_launch_is_csan_s(void **state)
{
    (void)state;
    assert_int_equal(run("first", GPU ":" TOOLS, "", "print_summary=0"), 0);
    assert_string_equal(output, "launches 1, then 1, then 2, patched 0, heard 2, traced 1\n");
    assert_int_equal(run("first", GPU ":" TOOLS, "", "access=ptx:print_summary=0"), 0);
    assert_string_equal(output, "launches 0, then 0, then 0, patched 0, heard 0, traced 0\n");
}

static void refused_patches_are_said(void **state)
{
    (void)state;
    assert_int_equal(run("refused", GPU ":" TOOLS, "", ""), 0);
    assert_non_null(strstr(output, "refused 1 module or context (first: an invalid parameter)"));
    assert_int_equal(run("refused-later", GPU ":" TOOLS, "", "access=auto"), 0);
    assert_non_null(strstr(output, "refused 1 module or context (first: an invalid parameter)"));
}

/* What the reader watches does not keep the program from ending. */
static void a_program_may_end_meanwhile(void **state)
{
    (void)state;
    alarm(30);
    assert_int_equal(run("end", GPU ":" TOOLS, "", ""), 0);
    alarm(0);
}

/* So many launches, each told before the next, with the device idle between. */
static void launch_told(int times, CUfunction f, CUdeviceptr p, CUdeviceptr q)
{
    for (int i = 0; i < times; i++) {
        launch(f, p, q, NULL);
        wait_told();
        cuCtxSynchronize();
    }
}

static int mode_short(CUdeviceptr p, CUdeviceptr q)
{
    int launches_made = 0;
    touch(q, 4, 4, 16, FAKE_WRITE);
    for (bool all = false; !all; launches_made++) {
        CUfunction f = fresh();
        short_of = TABLE_BYTES;
        short_from = (unsigned)launches_made + 1;
        if (launch(f, p, q, NULL) != CUDA_SUCCESS)
            return 1;
        all = short_from > 0;
        short_of = 0;
        races();
    }
    const int before = changes().traced;
    launch(fresh(), p, q, NULL);
    races();
    printf("%s, then %s\n", before < launches_made - 1 ? "some not traced" : "all traced",
           changes().traced > before ? "traced" : "not");
    return 0;
}

static int mode_copies(CUdeviceptr p, CUdeviceptr q)
{
    uint8_t maps[128] = {0};
    CUfunction f = copier();
    structure(sizeof maps);
    cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){maps}, NULL);
    races();
    structure(0);
    const int before = changes().traced;
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch(fresh(), p, q, NULL);
    races();
    printf("traced %d, then %d\n", before, changes().traced);
    return 0;
}

static int mode_maps(CUdeviceptr p, CUdeviceptr q)
{
    enum { BLOCKS = 1 << 20 };
    uint8_t maps[128];
    (void)p;
    map_rows(maps, device(256 << 20), 4, 128);
    map_rows(maps + 64, q, 3, 128);
    CUfunction f = copier();
    structure(sizeof maps);
    touch(q + 384, 4, 4, 8, FAKE_WRITE);
    cuLaunchKernel(f, BLOCKS, 1, 1, 1, 1, 1, 0, NULL, (void *[]){maps}, NULL);
    wait_told();
    printf("traced %d, size %u\n", changes().traced, changes().size);
    return 0;
}

static int mode_much(CUdeviceptr p, CUdeviceptr q)
{
    struct fake_changes seen[3];
    static const unsigned blocks[] = {64, 64, 2};
    CUfunction f = fresh();
    touch(q, 4, 4096, 40000, FAKE_WRITE);
    for (int i = 0; i < 3; i++) {
        if (launch_blocks(blocks[i], f, p, q, NULL) != CUDA_SUCCESS)
            return 1;
        wait_told();
        seen[i] = changes();
    }
    printf("sizes %u %u %u, granules %u %u %u\n", seen[0].size, seen[1].size, seen[2].size,
           1u << seen[0].shift, 1u << seen[1].shift, 1u << seen[2].shift);
    return 0;
}

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
        wait_told();
    }
    cuCtxSynchronize();
    struct fake_changes first = changes();
    block_changes(1);
    if (pthread_create(&thread, NULL, unblock, NULL) != 0)
        return 1;
    launch(f, p, q, NULL);
    pthread_join(thread, NULL);
    wait_told();
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
    launch_told(3, f, p, q);
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
    wait_told();
    printf("traced %d, patched %d, traced %d\n", first.traced, second.patched - first.patched,
           changes().traced - second.traced);
    return 0;
}

/* The first kernel's sixteenth launch is to confirm what is known of it, and was put off; then to
 * confirm what is known of the second takes all the time there is. */
static int mode_unpaid(CUdeviceptr p, CUdeviceptr q)
{
    CUfunction f = fresh(), g = fresh();
    pthread_t thread;
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch_told(15, f, p, q);
    launch_told(7, g, p, q);
    launch(f, p, q, NULL);
    races(); /* which works off what was put off */
    block_changes(1);
    if (pthread_create(&thread, NULL, unblock, NULL) != 0)
        return 1;
    launch_told(1, g, p, q);
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
        wait_told();
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
        wait_told();
    }
    launch_told(10, f, p, q);
    struct fake_changes known = changes();
    launch(f, p, q, NULL);
    struct fake_changes quiet = changes();
    CUfunction g = fresh();
    for (int i = 0; i < 3; i++) {
        launch(g, p, q, NULL);
        wait_told();
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
            wait_told();
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
                wait_told();
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
    wait_told();
    cuCtxSynchronize();
}

static int mode_turns(CUdeviceptr p, CUdeviceptr q)
{
    CUfunction f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch_told(4, f, p, q); /* two to learn, the fourth to confirm */
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
    launch_told(4, f, p, q);
    for (int i = 0; i < 1100; i++) /* so that none is confirmed meanwhile */
        launch(f, p, q, NULL);
    launch_told(2, f, p, q);
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
    launch_told(4, f, p, q);
    struct fake_changes known = changes();
    for (unsigned i = 0; i < ROUNDS; i++) {
        busy(1);
        if (changes().live == 0)
            launch_blocks(2, f, p, q, NULL);
        launch(f, p, q, NULL);
        busy(0);
        wait_told();
        cuCtxSynchronize();
    }
    if (to_the_end)
        return 0;
    struct fake_changes end = changes();
    int later = 0;
    for (; later < 2000 && changes().traced == end.traced; later++) {
        launch_blocks(2, f, p, q, NULL);
        wait_told();
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

/* Nothing is changed for modules as such; for a kernel that has no PTX, once the device is idle. */
static int mode_auto(CUdeviceptr p, CUdeviceptr q)
{
    CUfunction f = fresh();
    fresh(); /* which nobody launches */
    touch(q, 4, 4, 16, FAKE_WRITE);
    struct fake_changes loaded = changes();
    launch(f, p, q, NULL);
    cuCtxSynchronize();
    struct fake_changes idle = changes();
    launch_told(5, f, p, q); /* the second and third to learn, the fourth to confirm */
    struct fake_changes known = changes();
    for (int i = 0; i < 10; i++)
        cuCtxSynchronize();
    struct fake_changes quiet = changes();
    launch(f, p, q, NULL);
    printf("live %d, then %d, traced %d, live %d, heard %d\n", loaded.live, idle.live, known.traced,
           quiet.live, changes().heard - quiet.heard);
    return 0;
}

/* A kernel that is loaded at its first launch, of which a trace is wanted. */
static int mode_lazy(CUdeviceptr p, CUdeviceptr q)
{
    CUlibrary library;
    CUkernel kernel;
    fake_set_parameters(2);
    touch(q, 4, 4, 16, FAKE_WRITE);
    if (cuLibraryLoadData(&library, machine_code, NULL, NULL, 0, NULL, NULL, 0) != CUDA_SUCCESS ||
        cuLibraryGetKernel(&kernel, library, "lazy") != CUDA_SUCCESS)
        return 2;
    struct fake_changes before = changes();
    launch((CUfunction)kernel, p, q, NULL);
    wait_told();
    printf("live %d, then %d, traced %d\n", before.live, changes().live, changes().traced);
    return 0;
}

static int mode_graph(CUdeviceptr p, CUdeviceptr q)
{
    CUstream s = non_blocking();
    touch(q, 4, 4, 16, FAKE_WRITE);
    CUgraphExec exec = graph_of(fresh(), p, q, 1);
    for (int i = 0; i < 4; i++) {
        OK(cuGraphLaunch(exec, s));
        wait_told();
    }
    for (int i = 0; i < 10; i++)
        cuCtxSynchronize();
    struct fake_changes quiet = changes();
    for (int i = 0; i < 3; i++) /* until it is looked at again */
        OK(cuGraphLaunch(exec, s));
    printf("traced %d, live %d, heard %d\n", quiet.traced, quiet.live,
           changes().heard - quiet.heard);
    return 0;
}

static int mode_first(CUdeviceptr p, CUdeviceptr q)
{
    CUcontext context;
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    const int made = launches();
    OK(cuDevicePrimaryCtxRetain(&context, 0)); /* the same */
    const int again = launches();
    set_context((void *)0xd0);
    OK(cuCtxCreate(&context, NULL, 0, 0));
    const struct fake_changes before = changes();
    printf("launches %d, then %d, then %d, patched %d, heard %d", made, again, launches(),
           before.patched, before.heard);
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch(fresh(), p, q, NULL);
    wait_told();
    printf(", traced %d\n", changes().traced);
    return 0;
}

/* A kernel that is loaded when all others are known: its first launch is traced. */
static int mode_later(CUdeviceptr p, CUdeviceptr q)
{
    CUfunction f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch_told(4, f, p, q);
    cuCtxSynchronize();
    return mode_lazy(p, q);
}

static int mode_patches(CUdeviceptr p, CUdeviceptr q)
{
    launch(fresh(), p, q, NULL);
    cuCtxSynchronize();
    printf(changes().patched ? "patched\n" : "not patched\n");
    return 0;
}

static int mode_run(const char *mode)
{
    if (strcmp(mode, "wheel") == 0)
        dlopen(TOOLS "/libcudart.so.13", RTLD_NOW);
    CUdeviceptr q, p = two_buffers(&q);
    controls_find();
    if (strcmp(mode, "short") == 0)
        return mode_short(p, q);
    if (strcmp(mode, "patches") == 0)
        return mode_patches(p, q);
    if (strcmp(mode, "copies") == 0)
        return mode_copies(p, q);
    if (strcmp(mode, "maps") == 0)
        return mode_maps(p, q);
    if (strcmp(mode, "much") == 0)
        return mode_much(p, q);
    if (strcmp(mode, "slow") == 0)
        return mode_slow(p, q);
    if (strcmp(mode, "dear") == 0)
        return mode_dear(p, q);
    if (strcmp(mode, "unpaid") == 0)
        return mode_unpaid(p, q);
    if (strcmp(mode, "grids") == 0)
        return mode_grids(p, q);
    if (strcmp(mode, "quiet") == 0)
        return mode_quiet(p, q);
    if (strcmp(mode, "left") == 0)
        return mode_left(p, q);
    if (strcmp(mode, "rare") == 0)
        return mode_rare(p, q);
    if (strcmp(mode, "turns") == 0)
        return mode_turns(p, q);
    if (strcmp(mode, "poor") == 0)
        return mode_poor(p, q);
    if (strncmp(mode, "shy", 3) == 0)
        return mode_shy(p, q, strcmp(mode, "shyer") == 0);
    if (strcmp(mode, "wide") == 0)
        return mode_wide(p, q);
    if (strcmp(mode, "auto") == 0)
        return mode_auto(p, q);
    if (strcmp(mode, "first") == 0)
        return mode_first(p, q);
    if (strcmp(mode, "graph") == 0)
        return mode_graph(p, q);
    if (strcmp(mode, "later") == 0)
        return mode_later(p, q);
    if (strcmp(mode, "lazy") == 0)
        return mode_lazy(p, q);
    if (strncmp(mode, "refused", 7) == 0)
        refuse_patches(1);
    if (strcmp(mode, "refused-later") == 0) {
        CUfunction f = fresh();
        launch(f, p, q, NULL);
        cuCtxSynchronize();
    }
    if (strcmp(mode, "end") == 0)
        hold(1);
    touch(q, 4, 4, 16, FAKE_WRITE);
    launch(fresh(), p, q, NULL);
    if (strcmp(mode, "wheel") == 0)
        printf("%d launch traced\n", changes().traced);
    return 0;
}

#else

static int mode_run(const char *mode)
{
    (void)mode;
    CUdeviceptr q, p = two_buffers(&q);
    launch(fresh(), p, q, NULL);
    return 0;
}

static void a_build_without_it_says_so(void **state)
{
    (void)state;
    assert_int_equal(run("once", FAKE_DRIVER, "", ""), 0);
    assert_non_null(strstr(output, "could not be traced: this csan was built without its tracer"));
}

#endif

int main(int argc, char **argv)
{
    if (argc > 1)
        return mode_run(argv[1]);
#ifdef TRACER
#define TEST(name) cmocka_unit_test_setup(name, hook_setup)
    gpu_test_start(argv);
    const struct CMUnitTest tests[] = {
        TEST(a_wheel_has_it_beside_the_run_time_library),
        TEST(a_toolkit_has_it),
        TEST(a_missing_library_is_said),
        TEST(another_tool_is_said),
        TEST(no_memory_is_said),
        TEST(what_is_not_traced_is_not_patched),
        TEST(a_program_goes_on_when_memory_is_short),
        TEST(much_makes_the_next_record_larger),
        TEST(much_memory_of_maps_needs_no_large_record),
        TEST(confirming_is_not_for_ever),
        TEST(what_is_paid_for_is_confirmed),
        TEST(what_there_is_no_time_to_confirm_is_put_off),
        TEST(learning_is_not_for_ever),
        TEST(launches_are_listened_to_while_it_matters),
        TEST(what_is_never_launched_is_not_waited_for),
        TEST(nor_are_many_launches_heard_for_it),
        TEST(launches_that_take_turns_are_learned),
        TEST(what_is_never_caught_is_seldom_hunted),
        TEST(a_wish_is_granted_once_there_is_time),
        TEST(nobody_listens_where_there_is_no_record),
        TEST(without_being_asked_it_learns_of_machine_code),
        TEST(what_copies_through_maps_is_not_traced_without_them),
        TEST(what_is_loaded_to_be_launched_is_traced_at_once),
        TEST(what_is_loaded_when_all_is_known_is_traced_at_once),
        TEST(known_graphs_are_not_listened_to),
        TEST(a_profiler_goes_first),
        TEST(a_context_s_first_launch_is_csan_s),
        TEST(refused_patches_are_said),
        TEST(a_program_may_end_meanwhile),
    };
#else
    hook_test_start(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_build_without_it_says_so, hook_setup)};
#endif
    return hook_finish(cmocka_run_group_tests_name("hook_tracer_run", tests, NULL, NULL));
}
