/* Deferred launches and blocks (runtime/hook/session/deferred.h). Whatever else the program does
 * finds them enqueued, in the order in which they came. csan's thread enqueues them if the program
 * does nothing. Nothing is deferred if the moment matters. Each launch here but a place's first can
 * be deferred. */
#include "tests/unit/hook/hook_deferred.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* More than can be deferred at once. */
enum { MANY = 3000 };

static __attribute__((noipa)) void set_each(unsigned count, const CUdeviceptr *p,
                                            const CUstream *streams)
{
    for (unsigned i = 0; i < count; i++)
        set(p[i], streams[i]);
}

static void a_thread_of_csans_reports(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    fill_each(4, (CUdeviceptr[]){p, p, p, p}, (CUstream[]){s, s, s, s});
    assert_int_equal(own_threads(), 1);
    assert_int_equal(races(), 0);
}

static void launches_race(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    fill_each(4, (CUdeviceptr[]){device(64), p, device(64), p}, (CUstream[]){a, a, b, b});
    assert_int_equal(races(), 1);
    assert_int_equal(first_kind(), CSAN_RACE_DATA);
}

static void sets_race(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    for (size_t i = 0; i < 10; i++) {
        CUdeviceptr p = device(64);
        set(p, a);
        OK(cuMemsetD2D8Async(p + 16, 8, 0, 4, 2, a));
        fill(p + 20, b); /* between the rows */
        assert_int_equal(races(), 2 * i);
        fill(p + 24, b);
        assert_int_equal(races(), 2 * i + 1);
        set(p, b);
        assert_int_equal(races(), 2 * i + 2);
    }
}

static void copies_race(void **state)
{
    (void)state;
    struct csan_race found[60];
    CUstream a = non_blocking(), b = non_blocking();
    for (size_t i = 0; i < 10; i++) {
        CUdeviceptr p = device(64), q = device(64);
        copy(p, q, a);
        copy(p, q, a);
        fill(q + 16, b); /* behind what is read */
        assert_int_equal(races(), 3 * i);
        fill(q + 12, b);
        assert_int_equal(races(), 3 * i + 1);
        fill(p + 12, b);
        assert_int_equal(races(), 3 * i + 2);
        copy(q, device(64), a);
        assert_int_equal(csan_races_since(hook_mark(), found, 60), 3 * i + 3);
        assert_non_null(strstr(found[3 * i + 2].current.name, "cuMemcpy"));
        assert_string_equal(found[3 * i + 2].current.arguments, "dst");
    }
}

/* One of another kind, in order with those before it. */
static void a_copy_of_the_hosts_is_made_at_once(void **state)
{
    static unsigned char bytes[64];
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    for (size_t i = 0; i < 10; i++) {
        CUdeviceptr p = device(64);
        copy(p, p + 32, a);
        OK(cuMemcpyAsync(p, (CUdeviceptr)(uintptr_t)bytes, 16, a));
        assert_int_equal(races(), i);
        copy(p + 48, p, b);
        assert_int_equal(races(), i + 1);
    }
}

/* Both sides of what orders: launches before an event, and after it. */
static void an_event_comes_between(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    CUevent e = event();
    for (int i = 0; i < 50; i++) {
        CUdeviceptr before = device(64), after = device(64);
        fill(before, a);
        OK(cuEventRecord(e, a));
        fill(after, a);
        OK(cuStreamWaitEvent(b, e, 0));
        fill(before, b);
        assert_int_equal(races(), (size_t)i);
        fill(after, b);
        assert_int_equal(races(), (size_t)i + 1);
    }
}

static void memory_is_freed_after_its_launches(void **state)
{
    (void)state;
    CUstream s = non_blocking();
    for (int i = 0; i < 50; i++) {
        CUdeviceptr p = device(64);
        fill(p, s);
        OK(cuStreamSynchronize(s));
        OK(cuMemFree_v2(p));
    }
    assert_int_equal(races(), 0);
    CUdeviceptr p = device(64);
    CUstream other = non_blocking();
    fill(p, s);
    OK(cuMemFreeAsync(p, other));
    assert_int_equal(races(), 1);
}

/* One block after the other at the same place, on two streams: each is what is used while it lives.
 */
static void blocks_keep_their_place(void **state)
{
    (void)state;
    CUdeviceptr segment = device(4096);
    CUstream streams[] = {non_blocking(), non_blocking()};
    csan_pool_alloc((void *)(uintptr_t)segment, 512, streams[0]);
    for (int i = 0; i < 10; i++) {
        fill(segment, streams[0]);
        csan_pool_free((void *)(uintptr_t)segment, streams[0]);
        csan_pool_alloc((void *)(uintptr_t)segment, 512, streams[0]);
    }
    assert_int_equal(races(), 0);
    csan_pool_free((void *)(uintptr_t)segment, streams[0]);
    csan_pool_alloc((void *)(uintptr_t)segment, 512, streams[1]);
    fill(segment, streams[1]); /* the stream of the block before has not ended */
    assert_int_equal(races(), 1);
}

/* The first of many is not lost, nor does the last pass it. */
static void more_than_there_is_room_for(void **state)
{
    (void)state;
    CUdeviceptr p = device(4 * MANY);
    CUstream s = non_blocking(), other = non_blocking();
    for (unsigned i = 0; i < MANY; i++)
        fill(p + 4 * i, s);
    assert_int_equal(races(), 0);
    for (unsigned i = 0; i < MANY; i += MANY - 1) {
        OK(cuMemsetD32Async(p + 4 * i, 0, 1, other));
        assert_int_equal(races(), i ? 2 : 1);
    }
}

static void large_parameters_keep_their_place(void **state)
{
    (void)state;
    CUmodule module = module_load();
    CUfunction large = function_of(module, "large");
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr scratch = device(64);
    launch(large, scratch, a);
    for (int i = 0; i < 10; i++) {
        CUdeviceptr p = device(64);
        fill(p, a);
        launch(large, p, a);
        fill(p, a);
    }
    assert_int_equal(races(), 0);
    struct csan_race found[20];
    for (size_t i = 0; i < 20; i++) {
        CUdeviceptr p = device(64);
        fill(p, a);
        launch(large, p, b);
        assert_int_equal(csan_races_since(hook_mark(), found, 20), i + 1);
        assert_string_equal(found[i].previous.name, "fill");
        assert_string_equal(found[i].current.name, "large");
    }
}

/* Work that names a kernel is enqueued before the kernel is unloaded. */
static void a_module_goes_after_its_launches(void **state)
{
    (void)state;
    CUstream s = non_blocking();
    for (int i = 0; i < 20; i++) {
        CUdeviceptr p = device(64);
        CUmodule module = module_load();
        CUfunction f = function_of(module, "fill");
        for (int k = 0; k < 3; k++)
            launch(f, p, s);
        OK(cuModuleUnload(module));
        turn_to(s);
    }
    assert_int_equal(races(), 0);
}

struct worker {
    CUdeviceptr own, shared;
    unsigned launches;
};

/* It may end before its launches are enqueued. */
static void *thread_launches(void *argument)
{
    const struct worker *worker = argument;
    CUstream s = non_blocking();
    for (unsigned i = 0; i < worker->launches; i++)
        fill(worker->own, s);
    fill(worker->shared, s);
    return NULL;
}

static void threads_launch(void **state)
{
    enum { THREADS = 4 };
    (void)state;
    pthread_t threads[THREADS];
    struct worker workers[THREADS];
    CUdeviceptr shared = device(64);
    filling();
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){device(64), shared, 500};
        assert_int_equal(pthread_create(&threads[i], NULL, thread_launches, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_in_range(races(), 1, THREADS - 1); /* of the shared one */
    for (unsigned i = 0; i < THREADS; i++) {
        size_t before = races();
        fill(workers[i].own, non_blocking());
        assert_int_equal(races(), before + 1);
    }
}

/* What one thread launched is not another's, which does something else first: neither its
 * operator's, nor what it wants ignored. */
struct rendezvous {
    pthread_barrier_t launched, done;
    CUdeviceptr p;
};

static void *thread_races(void *argument)
{
    struct rendezvous *rendezvous = argument;
    CUstream a = non_blocking(), b = non_blocking();
    CUdeviceptr scratch = device(64);
    fill_each(1, &scratch, &a);
    pthread_barrier_wait(&rendezvous->launched);
    fill_each(3, (CUdeviceptr[]){scratch, rendezvous->p, rendezvous->p}, (CUstream[]){a, a, b});
    pthread_barrier_wait(&rendezvous->launched);
    pthread_barrier_wait(&rendezvous->done);
    return NULL;
}

/* One thread waits for a stream while another launches what races with its work, and then returns:
 * the host did not know of the work when the launch was made. */
struct waiter {
    void (*wait)(const struct waiter *waiter);
    CUstream stream;
    CUevent event;
    CUdeviceptr memory;
    int gate;
};

static void wait_for_stream(const struct waiter *waiter)
{
    OK(cuStreamSynchronize(waiter->stream));
}
static void find_stream_done(const struct waiter *waiter)
{
    OK(cuStreamQuery(waiter->stream));
}
static void wait_for_context(const struct waiter *waiter)
{
    (void)waiter;
    OK(cuCtxSynchronize());
}
static void wait_for_event(const struct waiter *waiter)
{
    OK(cuEventSynchronize(waiter->event));
}
static void copy_to_host(const struct waiter *waiter)
{
    unsigned to;
    OK(cuMemcpyDtoH_v2(&to, waiter->memory, sizeof to));
}
static void free_memory(const struct waiter *waiter)
{
    OK(cuMemFree_v2(waiter->memory));
}

static void *thread_waits(void *argument)
{
    struct waiter *waiter = argument;
    fake_gate(&waiter->gate);
    waiter->wait(waiter);
    return NULL;
}

/* What the wait covers is what was launched when it began, though nothing of it is enqueued yet. */
struct follower {
    struct waiter waiter;
    CUdeviceptr before, meanwhile;
    CUstream other;
    size_t after_first; /* races found so far when it had launched on `before` */
};

static void *thread_waits_and_launches(void *argument)
{
    struct follower *follower = argument;
    fake_gate(&follower->waiter.gate);
    follower->waiter.wait(&follower->waiter);
    fake_gate(NULL);
    fill_each(1, &follower->before, &follower->other);
    follower->after_first = races();
    fill_each(1, &follower->meanwhile, &follower->other);
    return NULL;
}

static void a_wait_covers_what_was_launched_when_it_began(void **state)
{
    enum { TIMES = 40 };
    (void)state;
    CUstream s = non_blocking(), other = non_blocking();
    CUdeviceptr scratch = device(64);
    fill_each(3, (CUdeviceptr[]){scratch, scratch, scratch}, (CUstream[]){s, s, s});
    OK(cuCtxSynchronize());
    size_t expected = races();
    for (size_t i = 0; i < TIMES; i++) {
        struct follower follower = {
            .waiter = {.wait = i % 2 ? wait_for_context : wait_for_stream, .stream = s},
            .before = device(64),
            .meanwhile = device(64),
            .other = other};
        pthread_t thread;
        fill_each(1, &follower.before, &s);
        assert_int_equal(pthread_create(&thread, NULL, thread_waits_and_launches, &follower), 0);
        while (__atomic_load_n(&follower.waiter.gate, __ATOMIC_ACQUIRE) != 1)
            ;
        fill_each(1, &follower.meanwhile, &s);
        __atomic_store_n(&follower.waiter.gate, 2, __ATOMIC_RELEASE);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(follower.after_first, expected);
        assert_int_equal(races(), ++expected);
    }
}

static void what_is_launched_while_another_waits_races(void **state)
{
    enum { TIMES = 10 };
    static const struct {
        void (*wait)(const struct waiter *waiter);
        bool legacy; /* what it waits for */
    } kinds[] = {{wait_for_stream, false}, {find_stream_done, false}, {wait_for_context, false},
                 {wait_for_event, false},  {copy_to_host, true},      {free_memory, false}};
    (void)state;
    CUstream s = non_blocking(), other = non_blocking();
    CUdeviceptr scratch = device(64);
    CUevent event;
    OK(cuEventCreate(&event, 0));
    fill_each(3, (CUdeviceptr[]){scratch, scratch, scratch}, (CUstream[]){s, s, s});
    size_t expected = races();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds * TIMES; i++) {
        struct waiter waiter = {.wait = kinds[i / TIMES].wait,
                                .stream = kinds[i / TIMES].legacy ? NULL : s,
                                .event = event,
                                .memory = device(64)};
        pthread_t thread;
        CUdeviceptr p = device(64);
        fill(p, waiter.stream);
        OK(cuEventRecord(event, waiter.stream));
        assert_int_equal(pthread_create(&thread, NULL, thread_waits, &waiter), 0);
        while (__atomic_load_n(&waiter.gate, __ATOMIC_ACQUIRE) != 1)
            ;
        fill_each(1, &p, &other);
        __atomic_store_n(&waiter.gate, 2, __ATOMIC_RELEASE);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(races(), ++expected);
    }
}

/* Of csan's thread, how often it gave up its processor. */
static unsigned long naps_taken(void)
{
    unsigned long total = 0;
    struct dirent *entry;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    while ((entry = readdir(tasks)) != NULL) {
        char path[300], line[128];
        bool own = false;
        unsigned long naps;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file)) {
            own |= strcmp(line, "Name:\tcsan\n") == 0;
            if (own && sscanf(line, "voluntary_ctxt_switches: %lu", &naps) == 1)
                total += naps;
        }
        if (file)
            fclose(file);
    }
    closedir(tasks);
    return total;
}

/* Also where the program does itself what it was woken for. */
static void a_thread_with_nothing_to_do_sleeps(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream s = non_blocking();
    fill_each(3, (CUdeviceptr[]){p, p, p}, (CUstream[]){s, s, s});
    for (int round = 0; round < 10; round++) {
        bool sleeps = false;
        for (int i = 0; i < 50 && !sleeps; i++) {
            const unsigned long before = naps_taken();
            nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
            sleeps = naps_taken() == before;
        }
        assert_true(sleeps);
        fill_each(1, &p, &s);
        turn_to(s);
    }
}

static void CUDA_CB nothing(void *unused)
{
    (void)unused;
}

/* What the host learns by it was not known when the launch before it was made. */
static void a_host_function_runs_after_a_launch(void **state)
{
    (void)state;
    CUstream a = non_blocking(), b = non_blocking();
    for (size_t i = 0; i < 20; i++) {
        CUdeviceptr p = device(64);
        fill_each(1, &p, &a);
        OK(cuLaunchHostFunc(a, nothing, NULL));
        fill_each(1, &p, &b);
        fake_run_host_functions();
        assert_int_equal(races(), i + 1);
        fill_each(1, &p, &b);
        assert_int_equal(races(), i + 1);
    }
}

static void *touch_from_a_thread(void *p)
{
    const CUdeviceptr same[] = {(uintptr_t)p, (uintptr_t)p, (uintptr_t)p};
    const CUstream own[] = {CU_STREAM_PER_THREAD, CU_STREAM_PER_THREAD, CU_STREAM_PER_THREAD};
    fill_each(3, same, own);
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL); /* csan's thread looks */
    set_each(3, same, own);
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    return NULL;
}

/* It belongs to the calling thread, whichever thread enqueues it. */
static void a_thread_has_a_stream_of_its_own(void **state)
{
    (void)state;
    void *p = (void *)(uintptr_t)device(64), *q = (void *)(uintptr_t)device(64);
    touch_from_a_thread(p);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, touch_from_a_thread, q), 0);
    pthread_join(thread, NULL);
    assert_int_equal(races(), 0);
    touch_from_a_thread(q);
    assert_int_equal(races(), 2); /* the float, and what else is set */
}

static void a_default_stream_is_of_the_context_that_was_current(void **state)
{
    (void)state;
    CUdeviceptr p = device(64), q = device(64), scratch = device(64);
    CUstream b = non_blocking();
    fake_context_is_of_this_thread(true);
    fill_each(3, (CUdeviceptr[]){scratch, scratch, p}, (CUstream[]){NULL, NULL, NULL});
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL); /* csan's thread looks */
    set_each(3, (CUdeviceptr[]){scratch, scratch, q}, (CUstream[]){NULL, NULL, NULL});
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    fill(p, b);
    fill(q, b);
    const size_t found = races();
    fake_context_is_of_this_thread(false);
    assert_int_equal(found, 2);
}

static void another_threads_launches_are_its_own(void **state)
{
    static const char *const arguments[] = {"self"};
    static const struct csan_operator what = {
        .name = "mine", .arguments = arguments, .argument_count = 1};
    (void)state;
    filling();
    for (int i = 0; i < 20; i++) {
        struct rendezvous rendezvous = {.p = device(64)};
        pthread_t thread;
        pthread_barrier_init(&rendezvous.launched, NULL, 2);
        pthread_barrier_init(&rendezvous.done, NULL, 2);
        assert_int_equal(pthread_create(&thread, NULL, thread_races, &rendezvous), 0);
        csan_operator_begin(&what, &(struct csan_operator_call){0});
        csan_ignore_begin();
        pthread_barrier_wait(&rendezvous.launched);
        pthread_barrier_wait(&rendezvous.launched);
        turn_to(NULL);
        csan_ignore_end();
        csan_operator_end();
        pthread_barrier_wait(&rendezvous.done);
        pthread_join(thread, NULL);
        struct csan_race found[20];
        assert_int_equal(csan_races_since(hook_mark(), found, 20), i + 1);
        assert_string_equal(found[i].previous.name, "fill");
        assert_string_equal(found[i].previous.arguments, "0");
        assert_string_equal(found[i].current.arguments, "0");
        pthread_barrier_destroy(&rendezvous.launched);
        pthread_barrier_destroy(&rendezvous.done);
    }
}

/* Ignored launches stay ignored, though they could be deferred. */
static void what_is_ignored_is(void **state)
{
    (void)state;
    CUdeviceptr p = device(64);
    CUstream a = non_blocking(), b = non_blocking();
    for (int i = 0; i < 2; i++) {
        csan_ignore_begin();
        fill_each(4, (CUdeviceptr[]){p, p, p, p}, (CUstream[]){a, a, b, b});
        csan_ignore_end();
    }
    assert_int_equal(races(), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_thread_of_csans_reports, hook_setup),
        cmocka_unit_test_setup(launches_race, hook_setup),
        cmocka_unit_test_setup(sets_race, hook_setup),
        cmocka_unit_test_setup(copies_race, hook_setup),
        cmocka_unit_test_setup(a_copy_of_the_hosts_is_made_at_once, hook_setup),
        cmocka_unit_test_setup(an_event_comes_between, hook_setup),
        cmocka_unit_test_setup(memory_is_freed_after_its_launches, hook_setup),
        cmocka_unit_test_setup(blocks_keep_their_place, hook_setup),
        cmocka_unit_test_setup(more_than_there_is_room_for, hook_setup),
        cmocka_unit_test_setup(large_parameters_keep_their_place, hook_setup),
        cmocka_unit_test_setup(a_module_goes_after_its_launches, hook_setup),
        cmocka_unit_test_setup(threads_launch, hook_setup),
        cmocka_unit_test_setup(a_host_function_runs_after_a_launch, hook_setup),
        cmocka_unit_test_setup(a_thread_has_a_stream_of_its_own, hook_setup),
        cmocka_unit_test_setup(a_default_stream_is_of_the_context_that_was_current, hook_setup),
        cmocka_unit_test_setup(another_threads_launches_are_its_own, hook_setup),
        cmocka_unit_test_setup(a_wait_covers_what_was_launched_when_it_began, hook_setup),
        cmocka_unit_test_setup(what_is_launched_while_another_waits_races, hook_setup),
        cmocka_unit_test_setup(a_thread_with_nothing_to_do_sleeps, hook_setup),
        cmocka_unit_test_setup(what_is_ignored_is, hook_setup),
    };
    setenv("CSAN_OPTIONS", "symbolize=0:print_summary=0:log_path=/dev/null:dedup=0", 0);
    hook_test_start(argv);
    (void)argc;
    return hook_finish(cmocka_run_group_tests(tests, NULL, NULL));
}
