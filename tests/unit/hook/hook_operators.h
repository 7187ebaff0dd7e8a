/* Operators of a framework that reports them, and the kernels that they launch, for tests of
 * operators from summaries: a source that follows or rests as csan asks it to. */
#ifndef TESTS_UNIT_HOOK_HOOK_OPERATORS_H
#define TESTS_UNIT_HOOK_HOOK_OPERATORS_H

#include "tests/unit/hook/test_hook.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

enum { BYTES = 512, ENOUGH = 100000, SPAN = 40000, AT_ONCE = 256 };

static bool deferred; /* launches are */

static const char machine_code[64] = "\177ELF\2\1\1";

static const char *const names_of_copy[] = {"self", "out" CSAN_ARGUMENT_RETURNED};
static const struct csan_operator copy = {"test::copy(Tensor self, Tensor(a!) out)", names_of_copy,
                                          2, CSAN_NO_ARGUMENT};

/* ---- The source ---- */

static struct {
    bool follows, asked;
    int follow_calls, at_once_calls, rest_calls;
} source;

static inline void source_follow(int now)
{
    source.follow_calls++;
    source.at_once_calls += now;
    source.asked = true;
    if (now)
        source.follows = true;
}
static inline void source_rest(void)
{
    source.rest_calls++;
    source.follows = source.asked = false;
}
static const struct csan_operator_source source_functions = {sizeof source_functions, source_follow,
                                                             source_rest};

/* What was deferred is done. */
static inline void settle(void)
{
    races();
}

/* Between two operators: the source does what it was asked for. */
static inline void between(void)
{
    static unsigned calls;
    if (++calls % 7 == 0) /* several launches are in a batch */
        settle();
    source.follows = source.follows || source.asked;
}

/* ---- Launches ---- */

static inline CUfunction fresh(void)
{
    static int number;
    char name[32];
    CUmodule module;
    CUfunction f;
    snprintf(name, sizeof name, "kernel%d", ++number);
    OK(cuModuleLoadData(&module, machine_code));
    OK(cuModuleGetFunction(&f, module, name));
    fake_set_parameters(3);
    return f;
}

static inline void launch_one(CUfunction f, CUdeviceptr from, CUdeviceptr to, uint64_t number,
                              CUstream stream)
{
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&from, &to, &number}, NULL));
}

static inline void launch(CUfunction f, CUdeviceptr from, CUdeviceptr to, uint64_t number,
                          CUstream stream)
{
    launch_one(f, from, to, number, stream);
    settle();
}

static inline void declare(const struct csan_operator *what, const struct csan_access *accesses,
                           size_t count)
{
    if (source.follows)
        csan_operator_begin(what,
                            &(struct csan_operator_call){.accesses = accesses, .count = count});
}
static inline void ends(bool followed)
{
    if (followed)
        csan_operator_end();
}

/* It reads `bytes` of one and writes as many of the other. */
static inline void copies(CUfunction f, CUdeviceptr from, CUdeviceptr to, uint64_t bytes,
                          CUstream stream)
{
    const struct csan_access accesses[] = {
        {.base = from, .bytes = bytes, .kind = CSAN_READ, .argument = 0},
        {.base = to, .bytes = bytes, .kind = CSAN_WRITE, .argument = 1}};
    between();
    const bool followed = source.follows;
    declare(&copy, accesses, 2);
    launch_one(f, from, to, bytes, stream);
    ends(followed);
}

static inline void copies_until_rest(CUfunction f, CUdeviceptr from, CUdeviceptr to, uint64_t bytes,
                                     CUstream stream)
{
    for (int i = 0; i < 100000 && (i < 20 || source.follows); i++)
        copies(f, from, to, bytes, stream);
    assert_false(source.follows);
}

/* Each test begins with operators that are followed, and a kernel of its own. */
static inline int setup(void **state)
{
    CUdeviceptr memory = device(BYTES);
    if (hook_setup(state) != 0)
        return -1;
    for (int i = 0; i < AT_ONCE + 1 && !source.follows; i++)
        launch(fresh(), memory, memory, 0, non_blocking());
    copies(fresh(), memory, device(BYTES), 8, non_blocking());
    memset(&source, 0, sizeof source);
    source.follows = true;
    return 0;
}

/* ---- The test's program ---- */

/* The tests in a process of their own, in which launches are deferred. Returns 1 if any fails. */
static inline int fails_deferred(const char *program)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        unsetenv("LD_LIBRARY_PATH"); /* it starts from the beginning */
        execl("/proc/self/exe", program, "deferred", (char *)NULL);
        _exit(127);
    }
    return waitpid(child, &status, 0) != child || status != 0;
}

/* Of a test's main: the tests, and again with deferred launches. `options`: beside those that they
 * need, each with a colon behind it. */
static inline int operators_main(int argc, char **argv, const char *options,
                                 const struct CMUnitTest *tests, size_t count)
{
    char all[256];
    deferred = argc > 1;
    snprintf(all, sizeof all,
             "symbolize=0:print_summary=0:log_path=/dev/null:access=ptx:learn_cache_mb=0:"
             "operator_summaries=1:%sdeferred_limit=%d",
             options, deferred ? 1000 : 0);
    setenv("CSAN_OPTIONS", all, 1);
    hook_test_start(argv);
    if (csan_operator_source_set(&source_functions) !=
        (CSAN_OPERATORS_ARE_DECLARED | CSAN_OPERATORS_ARE_SUMMARIZED))
        return 1;
    source.follows = true;
    int failed =
        _cmocka_run_group_tests(deferred ? "deferred" : "not deferred", tests, count, NULL, NULL);
    if (!deferred)
        failed += fails_deferred(argv[0]);
    return hook_finish(failed);
}

#endif
