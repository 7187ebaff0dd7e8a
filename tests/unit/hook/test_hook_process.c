/* csan's life in a process: on and off, exit codes, what is printed, fork, handlers at exit. The
 * program starts itself again in a mode of its own and looks at how that ends. */
#include "tests/unit/hook/test_hook.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static char output[65536];

/* A forked child begins anew, and lets go of what csan had: LeakSanitizer would count that. */
static const char *environment_of(const char *mode)
{
    const bool forks = strstr(mode, "fork") || strncmp(mode, "aside", 5) == 0;
    return forks ? "ASAN_OPTIONS=detect_leaks=0" : "";
}

/* Runs this program in `mode`; the exit status, and standard output and error in `output`. */
static int run(const char *mode, const char *csan, const char *options)
{
    char command[512];
    snprintf(command, sizeof command, "%s CSAN=%s CSAN_OPTIONS='%s' '%s' %s 2>&1",
             environment_of(mode), csan, options, program_invocation_name, mode);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = '\0';
    int status = pclose(pipe); /* of a shell, which reports a signal by a code above 128 */
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int occurrences(const char *text)
{
    int count = 0;
    for (const char *at = output; (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

/* ---- Modes ---- */

static void race(void)
{
    CUstream a, b;
    CUdeviceptr p;
    cuStreamCreate(&a, CU_STREAM_NON_BLOCKING);
    cuStreamCreate(&b, CU_STREAM_NON_BLOCKING);
    cuMemAlloc_v2(&p, 64);
    cuMemsetD8Async(p, 0, 64, a);
    cuMemsetD8Async(p, 0, 64, b);
}

static void say_goodbye(void)
{
    printf("goodbye\n");
}

static void exit_now(int number)
{
    (void)number;
    exit(7);
}

static void *give_up(void *unused)
{
    (void)unused;
    sleep(3);
    _exit(99);
}

/* Works until a signal ends it, wherever that arrives. */
static _Noreturn void work_until_signalled(void)
{
    pthread_t watch;
    CUdeviceptr p;
    struct itimerval soon = {.it_value = {.tv_usec = 3000}};
    cuMemAlloc_v2(&p, 64);
    pthread_create(&watch, NULL, give_up, NULL);
    signal(SIGALRM, exit_now);
    setitimer(ITIMER_REAL, &soon, NULL);
    for (;;)
        cuMemsetD8Async(p, 0, 64, NULL);
}

/* Calls the driver while its thread is opening a library. */
static int opening;
static void work_while_opening(void)
{
    CUdeviceptr p;
    __atomic_store_n(&opening, 1, __ATOMIC_RELEASE);
    usleep(100000); /* by then the other thread is in the midst of its report */
    cuMemAlloc_v2(&p, 64);
}

static const char fresh_text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                 ".visible .entry _Z5freshv()\n{\nret;\n}\n";

static void launch_fresh_kernel(void)
{
    CUmodule module;
    CUfunction f;
    cuModuleLoadData(&module, fresh_text);
    cuModuleGetFunction(&f, module, "_Z5freshv");
    cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

/* Launches while its thread is opening a library. */
static void launch_while_opening(void)
{
    __atomic_store_n(&opening, 1, __ATOMIC_RELEASE);
    usleep(100000); /* by then the other thread is in the midst of its launch */
    launch_fresh_kernel();
}

/* The same of a device. */
static void device_while_opening(void)
{
    CUcontext context;
    __atomic_store_n(&opening, 1, __ATOMIC_RELEASE);
    usleep(100000); /* by then the other thread is in the midst of its call */
    cuDevicePrimaryCtxRetain(&context, 2);
}

static void *open_library(void *unused)
{
    (void)unused;
    dlopen(FAKE_DRIVER "/traced/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return NULL;
}

/* Does `act` while another thread opens a library, whose constructor does `meanwhile`. */
static int act_while_others_open(void (*act)(void), void (*meanwhile)(void))
{
    pthread_t opener, watch;
    char address[32];
    snprintf(address, sizeof address, "%p", (void *)meanwhile);
    setenv("FAKE_WHEN_OPENED", address, 1);
    pthread_create(&watch, NULL, give_up, NULL);
    pthread_create(&opener, NULL, open_library, NULL);
    while (!__atomic_load_n(&opening, __ATOMIC_ACQUIRE))
        usleep(1000);
    act();
    pthread_join(opener, NULL);
    unsetenv("FAKE_WHEN_OPENED");
    return 0;
}

static struct {
    CUstream stream;
    CUdeviceptr memory;
} raced;

static void write_in_another_stream(void)
{
    cuMemsetD8Async(raced.memory, 0, 64, raced.stream);
}

static int report_while_others_open(void)
{
    CUstream a;
    cuStreamCreate(&a, CU_STREAM_NON_BLOCKING);
    cuStreamCreate(&raced.stream, CU_STREAM_NON_BLOCKING);
    cuMemAlloc_v2(&raced.memory, 64);
    cuMemsetD8Async(raced.memory, 0, 64, a); /* finds what the loader has to find */
    return act_while_others_open(write_in_another_stream, work_while_opening);
}

static int launch_while_others_open(void)
{
    launch_fresh_kernel(); /* finds what the loader has to find */
    return act_while_others_open(launch_fresh_kernel, launch_while_opening);
}

static void use_another_device(void)
{
    CUcontext context;
    cuDevicePrimaryCtxRetain(&context, 1);
}

static int use_device_while_others_open(void)
{
    CUcontext context;
    cuDevicePrimaryCtxRetain(&context, 0); /* finds what the loader has to find */
    return act_while_others_open(use_another_device, device_while_opening);
}

/* Both race, the child first or the parent first; with "-0" the child alone. */
static int fork_and_race(const char *mode)
{
    int status;
    const bool late = strcmp(mode, "racy-fork-late") == 0;
    if (late)
        race();
    if (fork() == 0) {
        race();
        exit(strcmp(mode, "racy-fork-0") == 0 ? 0 : csan_enabled() ? 9 : 5);
    }
    wait(&status);
    if (strcmp(mode, "racy-fork") == 0)
        race();
    printf("child %d\n", WEXITSTATUS(status));
    return 0;
}

/* What is no use of CUDA neither keeps a child from being checked nor makes it say that it is not.
 */
static size_t nothing_captured(const void **frames, size_t capacity, int locked)
{
    (void)frames;
    (void)capacity;
    (void)locked;
    return 0;
}

static int nothing_described(const void *frame, struct csan_source_line *line)
{
    (void)frame;
    (void)line;
    return 0;
}

static int fork_aside(const char *mode)
{
    static const struct csan_stack_source source = {sizeof source, nothing_captured,
                                                    nothing_described, 0};
    int status;
    if (strcmp(mode, "aside-ended") == 0)
        launch_fresh_kernel();
    csan_stack_source_set(&source);
    if (fork() == 0) {
        if (strcmp(mode, "aside-ended") == 0)
            pthread_exit(NULL); /* the thread knows kernels, and is the child's last */
        race();
        exit(0);
    }
    wait(&status);
    printf("child %d\n", WEXITSTATUS(status));
    return 0;
}

static void exit_at_once(int number)
{
    _exit(number == SIGALRM ? 0 : 9);
}

/* Blanks name no library, but are the program's to set. */
static void exec_with_long_preload(void)
{
    enum { BLANKS = 20000 };
    char *const arguments[] = {"sh", "-c", "echo blanks ${#LD_PRELOAD}", NULL};
    static char preload[sizeof "LD_PRELOAD=" + BLANKS] = "LD_PRELOAD=";
    char *const variables[] = {preload, "ASAN_OPTIONS=verify_asan_link_order=0", NULL};
    memset(preload + strlen(preload), ' ', BLANKS);
    execve("/bin/sh", arguments, variables);
}

/* False: there is no such end. */
static bool end_after_race(const char *end)
{
    /* AddressSanitizer, where csan is built with it, would have its run-time first. */
    char *const arguments[] = {"true", NULL};
    char *const none[] = {"ASAN_OPTIONS=verify_asan_link_order=0", NULL};
    const bool known = strncmp(end, "underscore-exit", 15) == 0 || strstr(end, "exec") ||
                       strcmp(end, "quick-exit") == 0 || strcmp(end, "exit-in-handler") == 0 ||
                       strcmp(end, "abort") == 0 || strcmp(end, "vfork") == 0;
    if (!known)
        return false;
    race();
    if (strcmp(end, "underscore-exit") == 0)
        _exit(0);
    if (strcmp(end, "underscore-exit-3") == 0)
        _exit(3);
    if (strcmp(end, "quick-exit") == 0)
        quick_exit(0);
    if (strcmp(end, "abort") == 0)
        abort();
    if (strcmp(end, "exec") == 0)
        execve("/bin/true", arguments, none);
    if (strcmp(end, "exec-preload") == 0)
        exec_with_long_preload();
    if (strcmp(end, "exit-in-handler") == 0) {
        signal(SIGALRM, exit_at_once);
        raise(SIGALRM);
    }
    if (strcmp(end, "exec-nothing") == 0)
        execl("/no/such/program", "program", NULL);
    if (strcmp(end, "vfork") == 0) {
        int status;
        if (vfork() == 0)
            _exit(0);
        wait(&status);
        printf("child %d\n", WEXITSTATUS(status));
    }
    race();
    return true;
}

static int mode_run(const char *mode)
{
    if (strcmp(mode, "opening-launch") == 0)
        return launch_while_others_open();
    if (strcmp(mode, "opening-device") == 0)
        return use_device_while_others_open();
    if (strcmp(mode, "opening") == 0)
        return report_while_others_open();
    if (strcmp(mode, "signalled") == 0)
        work_until_signalled();
    if (strcmp(mode, "quiet") == 0)
        return 0;
    if (strcmp(mode, "racy") == 0) {
        race();
        return 0;
    }
    if (strcmp(mode, "racy-3") == 0) {
        race();
        return 3;
    }
    if (strcmp(mode, "racy-exit") == 0) {
        atexit(say_goodbye);
        race();
        printf("unflushed");
        exit(0);
    }
    if (strncmp(mode, "racy-fork", 9) == 0)
        return fork_and_race(mode);
    if (strncmp(mode, "aside", 5) == 0)
        return fork_aside(mode);
    if (strncmp(mode, "racy-", 5) == 0 && end_after_race(mode + 5))
        return 0;
    if (strcmp(mode, "quiet-underscore-exit") == 0)
        _exit(0);
    if (strcmp(mode, "racy-in-atexit") == 0) {
        atexit(race);
        return 0;
    }
    if (strcmp(mode, "racy-unmodelled") == 0) {
        cuMulticastUnbind(0, 0, 0, 0);
        cuMulticastUnbind(0, 0, 0, 0);
        return 0;
    }
    if (strcmp(mode, "captured") == 0) {
        cuStreamBeginCapture_v2(NULL, 0);
        fake_capture(CU_STREAM_CAPTURE_STATUS_ACTIVE);
        race();
        return 0;
    }
    if (strcmp(mode, "enabled") == 0)
        return csan_enabled();
    if (strcmp(mode, "hooked") == 0) {
        void *driver = dlopen("libcuda.so.1", RTLD_NOW);
        return dlsym(driver, "cuMemAlloc_v2") == (void *)cuMemAlloc_v2;
    }
    return 100;
}

/* ---- Tests ---- */

static void quiet_program_keeps_its_code(void **state)
{
    (void)state;
    assert_int_equal(run("quiet", "1", ""), 0);
    assert_int_equal(occurrences("CSAN: data race"), 0);
}

static void race_gives_66(void **state)
{
    (void)state;
    assert_int_equal(run("racy", "1", "symbolize=0"), 66);
    assert_int_equal(occurrences("CSAN: data race"), 1);
    assert_int_equal(run("racy", "1", "symbolize=0:exitcode=7"), 7);
    assert_int_equal(run("racy", "1", "symbolize=0:exitcode=0"), 0);
}

static void own_exit_code_wins(void **state)
{
    (void)state;
    assert_int_equal(run("racy-3", "1", "symbolize=0"), 3);
    assert_int_equal(occurrences("CSAN: data race"), 1);
}

static void off_means_off(void **state)
{
    (void)state;
    assert_int_equal(run("racy", "0", ""), 0);
    assert_string_equal(output, "");
    assert_int_equal(run("racy", "", ""), 0);
    assert_string_equal(output, "");
    assert_int_equal(run("enabled", "0", ""), 0);
    assert_int_equal(run("hooked", "0", ""), 0);
    assert_int_equal(run("enabled", "1", "print_summary=0"), 1);
    assert_int_equal(run("hooked", "1", "print_summary=0"), 1);
}

static void check_0_means_off(void **state)
{
    (void)state;
    assert_int_equal(run("racy", "1", "symbolize=0:check=0"), 0);
    assert_int_equal(occurrences("CSAN: data race"), 0);
    assert_int_equal(occurrences("csan: "), 1);
    assert_int_equal(occurrences("nothing is checked or recorded"), 1);
    assert_int_equal(run("enabled", "1", "check=0"), 0);
    assert_int_equal(run("hooked", "1", "check=0"), 0);
    assert_int_equal(run("racy", "1", "symbolize=0:check=0:halt_on_error=1:fail_on=possible"), 0);
    /* Nor where the recording that was asked for cannot be made. */
    assert_int_equal(run("racy", "1", "symbolize=0:check=0:record=/no/such/folder/x"), 0);
    assert_int_equal(occurrences("CSAN: data race"), 0);
}

static void handlers_and_streams_are_served(void **state)
{
    (void)state;
    assert_int_equal(run("racy-exit", "1", "symbolize=0"), 66);
    assert_int_equal(occurrences("goodbye"), 1);
    assert_int_equal(occurrences("unflushed"), 1);
}

/* Ends that run no exit handlers: the summary is there, and the code, unless it was another. */
static void other_ends_are_served(void **state)
{
    static const char *const ends[] = {"racy-underscore-exit", "racy-quick-exit",
                                       "racy-exit-in-handler", "racy-exec"};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        assert_int_equal(run(ends[i], "1", "symbolize=0"), 66);
        assert_int_equal(occurrences("CSAN: data race"), 1);
        assert_int_equal(occurrences("csan: 2 ops"), 1);
    }
    assert_int_equal(run("racy-underscore-exit-3", "1", "symbolize=0"), 3);
    assert_int_equal(occurrences("csan: 2 ops"), 1);
    assert_int_equal(run("racy-abort", "1", "symbolize=0"), 128 + SIGABRT);
    assert_int_equal(occurrences("csan: 2 ops"), 1);
}

/* The next program keeps the code, and what it was to have preloaded. */
static void exec_hands_a_long_preload_on(void **state)
{
    (void)state;
    assert_int_equal(run("racy-exec-preload", "1", "symbolize=0"), 66);
    const char *blanks = strstr(output, "blanks ");
    assert_non_null(blanks);
    assert_true(strtol(blanks + strlen("blanks "), NULL, 10) > 20000);
}

/* A child of vfork has its parent's memory: its end is not the parent's. */
static void vforked_child_ends_for_itself(void **state)
{
    (void)state;
    assert_int_equal(run("racy-vfork", "1", "symbolize=0"), 66);
    assert_int_equal(occurrences("child 0"), 1);
    assert_int_equal(occurrences("csan: 4 ops"), 1);
}

/* An exec that fails before csan summed up for it changes nothing. */
static void failed_exec_is_no_end(void **state)
{
    (void)state;
    assert_int_equal(run("racy-exec-nothing", "1", "symbolize=0"), 66);
    assert_int_equal(occurrences("csan: 4 ops"), 1);
    assert_int_equal(occurrences("csan: 2 ops"), 0);
}

static void races_in_exit_handlers_count(void **state)
{
    (void)state;
    assert_int_equal(run("racy-in-atexit", "1", "symbolize=0"), 66);
}

static void forked_child_is_checked(void **state)
{
    (void)state;
    assert_int_equal(run("racy-fork", "1", "symbolize=0"), 66);
    assert_int_equal(occurrences("CSAN: data race"), 2);
    assert_int_equal(occurrences("child 9"), 1);
    assert_int_equal(run("racy-fork-0", "1", "symbolize=0"), 0);
    assert_int_equal(occurrences("child 66"), 1);
    assert_int_equal(occurrences("no CUDA call was made"), 1);
    assert_int_equal(run("racy-fork-0", "1", "symbolize=0:host_order=threads"), 0);
    assert_int_equal(occurrences("child 66"), 1);
}

/* The orders are read again in the child, in room for as many as the option has. */
static void forked_child_reads_the_orders_anew(void **state)
{
    (void)state;
    assert_int_equal(run("racy-fork-0", "1", "symbolize=0:add_order=1-2"), 0);
    assert_int_equal(occurrences("child 66"), 1);
    assert_int_equal(occurrences("csan: add_order 1-2: recorded 0"), 1);
    assert_int_equal(occurrences("csan: add_order "), 1);
}

/* What is said at the start, by whichever part, is said by the first process. */
static void forked_child_repeats_nothing(void **state)
{
    static const char *const options[] = {
        "symbolize=0:add_order=nonsense", "symbolize=0:suppressions=/no/such/file",
        "symbolize=0:baseline=/no/such/file", "symbolize=0:nonsense=1",
        "symbolize=0:host_order=threads"};
    static const char *const said[] = {"is no order", "suppressions", "baseline", "nonsense",
                                       "libcsan_threads.so is not in this process"};
    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        assert_int_equal(run("racy-fork-0", "1", options[i]), 0);
        assert_int_equal(occurrences("child 66"), 1);
        assert_int_equal(occurrences(said[i]), 1);
    }
    assert_int_equal(run("racy-fork-0", "1", "symbolize=0:help=1"), 0);
    assert_int_equal(occurrences("Look for races; 0: only record"), 1);
}

static void child_forked_after_cuda_says_that_it_is_off(void **state)
{
    (void)state;
    assert_int_equal(run("racy-fork-late", "1", "symbolize=0"), 66);
    assert_int_equal(occurrences("CSAN: data race"), 1);
    assert_int_equal(occurrences("child 5"), 1);
    assert_int_equal(occurrences("this process was forked after its parent had used CUDA"), 1);
}

static void what_is_no_use_of_cuda_takes_no_child_away(void **state)
{
    (void)state;
    assert_int_equal(run("aside", "1", "symbolize=0"), 0);
    assert_int_equal(occurrences("child 66"), 1);
    assert_int_equal(occurrences("CSAN: data race"), 1);
    assert_int_equal(run("aside-ended", "1", "symbolize=0"), 0);
    assert_int_equal(occurrences("child 0"), 1);
    assert_int_equal(occurrences("this process was forked"), 0);
}

static void program_without_cuda_says_so(void **state)
{
    (void)state;
    assert_int_equal(run("quiet", "1", ""), 0);
    assert_string_equal(output, "csan: no CUDA call was made, so nothing was checked\n");
    assert_int_equal(run("quiet-underscore-exit", "1", ""), 0);
    assert_string_equal(output, "csan: no CUDA call was made, so nothing was checked\n");
    assert_int_equal(run("quiet", "1", "print_summary=0"), 0);
    assert_string_equal(output, "");
}

static void words_of_csan_are_known(void **state)
{
    static const char *const off[] = {"0", "no", "off", "false", "FALSE", "\" \"", "\"\""};
    (void)state;
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        assert_int_equal(run("enabled", off[i], ""), 0);
    assert_string_equal(output, "");
    assert_int_equal(run("enabled", "yes", "print_summary=0"), 1);
    assert_string_equal(output, "");
    assert_int_equal(run("enabled", "perhaps", "print_summary=0"), 1);
    assert_int_equal(occurrences("CSAN is 'perhaps'"), 1);
}

/* The signal arrives inside csan more often than not, and must not find its locks taken. */
static void exit_in_a_signal_handler_ends(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* its run-time calls handlers later, when nothing is interrupted */
#endif
    for (int i = 0; i < 12; i++)
        assert_int_equal(run("signalled", "1", ""), 7);
}

/* The loader's lock is held while a library's constructors run: no report may ask for it. */
static void report_while_a_library_is_opened(void **state)
{
    (void)state;
    assert_int_equal(run("opening", "1", ""), 66);
}

/* The same of a kernel that is launched for the first time. */
static void kernel_is_met_while_a_library_is_opened(void **state)
{
    (void)state;
    assert_int_equal(run("opening-launch", "1", "symbolize=0"), 0);
}

static void device_is_met_while_a_library_is_opened(void **state)
{
    (void)state;
    assert_int_equal(run("opening-device", "1", "symbolize=0"), 0);
}

static void halt_on_error_stops_there(void **state)
{
    (void)state;
    assert_int_equal(run("racy-3", "1", "symbolize=0:halt_on_error=1:exitcode=41"), 41);
    assert_int_equal(occurrences("CSAN: data race"), 1);
}

static void wrong_option_is_said_and_survived(void **state)
{
    (void)state;
    assert_int_equal(run("racy", "1", "symbolize=0:exitcod=3"), 66);
    assert_int_equal(occurrences("did you mean 'exitcode'"), 1);
    assert_int_equal(occurrences("CSAN: data race"), 1);
}

static void help_is_printed(void **state)
{
    (void)state;
    assert_int_equal(run("quiet", "1", "help=1"), 0);
    assert_true(occurrences("halt_on_error") >= 1);
}

static void unmodelled_calls_are_named_once(void **state)
{
    (void)state;
    assert_int_equal(run("racy-unmodelled", "1", ""), 0);
    assert_int_equal(occurrences("cuMulticastUnbind"), 1);
}

static void captured_calls_are_counted(void **state)
{
    (void)state;
    assert_int_equal(run("captured", "1", ""), 0);
    assert_int_equal(occurrences("2 calls were captured"), 1);
    assert_int_equal(occurrences("cuStreamBeginCapture"), 0);
}

int main(int argc, char **argv)
{
    hook_test_start(argv);
    if (argc > 1)
        return mode_run(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quiet_program_keeps_its_code),
        cmocka_unit_test(race_gives_66),
        cmocka_unit_test(own_exit_code_wins),
        cmocka_unit_test(off_means_off),
        cmocka_unit_test(check_0_means_off),
        cmocka_unit_test(handlers_and_streams_are_served),
        cmocka_unit_test(other_ends_are_served),
        cmocka_unit_test(exec_hands_a_long_preload_on),
        cmocka_unit_test(vforked_child_ends_for_itself),
        cmocka_unit_test(failed_exec_is_no_end),
        cmocka_unit_test(races_in_exit_handlers_count),
        cmocka_unit_test(forked_child_is_checked),
        cmocka_unit_test(forked_child_reads_the_orders_anew),
        cmocka_unit_test(forked_child_repeats_nothing),
        cmocka_unit_test(child_forked_after_cuda_says_that_it_is_off),
        cmocka_unit_test(what_is_no_use_of_cuda_takes_no_child_away),
        cmocka_unit_test(program_without_cuda_says_so),
        cmocka_unit_test(words_of_csan_are_known),
        cmocka_unit_test(exit_in_a_signal_handler_ends),
        cmocka_unit_test(report_while_a_library_is_opened),
        cmocka_unit_test(kernel_is_met_while_a_library_is_opened),
        cmocka_unit_test(device_is_met_while_a_library_is_opened),
        cmocka_unit_test(halt_on_error_stops_there),
        cmocka_unit_test(wrong_option_is_said_and_survived),
        cmocka_unit_test(help_is_printed),
        cmocka_unit_test(unmodelled_calls_are_named_once),
        cmocka_unit_test(captured_calls_are_counted),
    };
    return cmocka_run_group_tests_name("hook_process", tests, NULL, NULL);
}
