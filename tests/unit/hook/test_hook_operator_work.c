/* Work that an operator enqueues: in the operator's words, and with its declaration where nothing
 * better is known. */
#include "tests/unit/hook/test_hook_order.h"

#include <stdio.h>

enum { BYTES = 64, HALF = BYTES / 2 };

static const char machine_code[64] = "\177ELF\2\1\1";
static const char *const names[] = {"self", "other"};
static const struct csan_operator copy = {"test::copy(Tensor(a!) self, Tensor other)", names, 2,
                                          CSAN_NO_ARGUMENT};

/* A kernel of which only an operator can say what it touches. */
static CUfunction unknown(void)
{
    static int number;
    char name[32];
    CUmodule module;
    CUfunction f;
    snprintf(name, sizeof name, "opaque%d", ++number);
    OK(cuModuleLoadData(&module, machine_code));
    OK(cuModuleGetFunction(&f, module, name));
    fake_set_parameters(1);
    return f;
}

static void launch(CUfunction f, CUdeviceptr memory, CUstream stream)
{
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&memory}, NULL));
}

/* Writes the first half of `memory`, reads all of `other`. */
static void begins(CUdeviceptr memory, CUdeviceptr other)
{
    static struct csan_access accesses[2];
    accesses[0] = (struct csan_access){.base = memory, .bytes = HALF, .kind = CSAN_WRITE};
    accesses[1] =
        (struct csan_access){.base = other, .bytes = BYTES, .kind = CSAN_READ, .argument = 1};
    csan_operator_begin(&copy, &(struct csan_operator_call){.accesses = accesses, .count = 2});
}

static struct csan_race race_found(void)
{
    struct csan_race race = {0};
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    return race;
}

static void a_declaration_stands_for_an_unknown_kernel(void **state)
{
    (void)state;
    CUdeviceptr memory = device(BYTES), other = device(BYTES);
    begins(memory, other);
    launch(unknown(), memory, non_blocking());
    csan_operator_end();
    OK(cuMemsetD8Async(memory + HALF, 1, HALF, non_blocking()));
    assert_int_equal(races(), 0); /* the other half */
    OK(cuMemsetD8Async(memory, 1, 1, non_blocking()));
    const struct csan_race race = race_found();
    assert_string_equal(race.previous.name, copy.name);
    assert_string_equal(race.previous.arguments, "self");
    assert_int_equal(race.previous.level, CSAN_LEVEL_OPERATOR);
    assert_false(race.possible);
}

/* What a copy or set touches is known: the operator only names it. */
static void it_only_names_what_is_known(void **state)
{
    (void)state;
    CUdeviceptr memory = device(BYTES), other = device(BYTES);
    begins(memory, other);
    OK(cuMemsetD8Async(memory, 1, 1, non_blocking()));
    csan_operator_end();
    OK(cuMemsetD8Async(memory + 1, 1, HALF, non_blocking()));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(memory, 1, 1, non_blocking()));
    const struct csan_race race = race_found();
    assert_string_equal(race.previous.name, copy.name);
    assert_string_equal(race.previous.arguments, "self");
    assert_int_equal(race.previous.level, CSAN_LEVEL_LIBRARY);
}

/* An argument of which only the begin is known. */
static void an_argument_reaches_to_the_end_of_its_memory(void **state)
{
    (void)state;
    CUdeviceptr memory = device(BYTES);
    const struct csan_access access = {.base = memory, .bytes = CSAN_TO_END, .kind = CSAN_WRITE};
    csan_operator_begin(&copy, &(struct csan_operator_call){.accesses = &access, .count = 1});
    OK(cuMemsetD8Async(memory + HALF, 1, 1, non_blocking()));
    csan_operator_end();
    OK(cuMemsetD8Async(memory + HALF, 1, 1, non_blocking()));
    assert_string_equal(race_found().previous.arguments, "self");
}

/* Of two arguments in the same memory, the one that is used in the same way. */
static void the_argument_of_the_same_kind(void **state)
{
    (void)state;
    static struct csan_access accesses[2];
    CUdeviceptr memory = device(BYTES);
    accesses[0] = (struct csan_access){.base = memory, .bytes = BYTES, .kind = CSAN_READ};
    accesses[1] =
        (struct csan_access){.base = memory, .bytes = BYTES, .kind = CSAN_WRITE, .argument = 1};
    csan_operator_begin(&copy, &(struct csan_operator_call){.accesses = accesses, .count = 2});
    OK(cuMemsetD8Async(memory, 1, BYTES, non_blocking()));
    csan_operator_end();
    OK(cuMemsetD8Async(memory, 1, BYTES, non_blocking()));
    assert_string_equal(race_found().previous.arguments, "other");
}

/* On its second stream the declaration is a bound: nobody says which of it is done where. */
static void it_is_a_bound_on_a_second_stream(void **state)
{
    (void)state;
    CUdeviceptr memory = device(BYTES), other = device(BYTES);
    CUfunction f = unknown();
    CUstream first = non_blocking(), second = non_blocking();
    begins(memory, other);
    launch(f, memory, first);
    launch(f, memory, second);
    csan_operator_end();
    assert_int_equal(races(), 0); /* one operator's work */
    OK(cuStreamSynchronize(first));
    OK(cuMemsetD8Async(memory, 1, BYTES, non_blocking()));
    assert_true(race_found().possible);
}

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_declaration_stands_for_an_unknown_kernel, hook_setup),
        cmocka_unit_test_setup(it_only_names_what_is_known, hook_setup),
        cmocka_unit_test_setup(an_argument_reaches_to_the_end_of_its_memory, hook_setup),
        cmocka_unit_test_setup(the_argument_of_the_same_kind, hook_setup),
        cmocka_unit_test_setup(it_is_a_bound_on_a_second_stream, hook_setup),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_operator_work", tests, NULL, NULL));
}
