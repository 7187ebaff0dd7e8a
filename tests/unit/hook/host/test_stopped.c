/* What the context of a stopped thread says: loads, stores, and a jump to where no code is, whose
 * instruction cannot be read. */
#include "runtime/hook/host/stopped.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>

#include <cmocka.h>

static sigjmp_buf back;
static volatile int faults;
static volatile bool wrote;
static volatile uint64_t pc;

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    if (faults++) /* the handler's own */
        siglongjmp(back, 1);
    pc = stopped_pc(context);
    wrote = stopped_by_write(context);
    siglongjmp(back, 1);
}

static void fault(void (*does)(volatile char *), volatile char *memory)
{
    const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0); /* cmocka's stands there */
    faults = 0;
    if (!sigsetjmp(back, 1))
        does(memory);
    assert_int_equal(faults, 1);
}

static void loads(volatile char *memory)
{
    (void)*memory;
}

static void stores(volatile char *memory)
{
    *memory = 1;
}

static void jumps(volatile char *memory)
{
    ((void (*)(void))(uintptr_t)memory)();
}

static void loads_and_stores_differ(void **state)
{
    char *closed = *state;
    fault(loads, closed);
    assert_false(wrote);
    fault(stores, closed);
    assert_true(wrote);
}

static void a_jump_to_no_code_is_no_store(void **state)
{
    char *closed = *state;
    fault(jumps, closed);
    assert_int_equal(pc, (uintptr_t)closed);
    assert_false(wrote);
}

static int start(void **state)
{
    *state = mmap(NULL, host_page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return *state == MAP_FAILED;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_stores_differ),
        cmocka_unit_test(a_jump_to_no_code_is_no_store),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
