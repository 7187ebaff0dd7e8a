/* Slots for one instruction. On AArch64 random loads and stores are made in them, with the memory
 * closed, and must do what they do in their own place. */
#include "runtime/hook/host/aarch64_instruction.h"
#include "runtime/hook/host/displaced_step.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

/* What a thread was to make. */
static const uint32_t program[4] = {0xf9400020, 0xf9000020, 0xd503201f, 0xd65f03c0};

static uint64_t place(size_t i)
{
    return (uintptr_t)&program[i];
}

static void a_slot_holds_the_instruction(void **state)
{
    uint64_t pc = place(1);
    (void)state;
    assert_int_equal(displaced_step_origin(pc), pc);
    assert_true(displaced_step_begin(&pc));
    assert_int_not_equal(pc, place(1));
    assert_int_equal(*(const uint32_t *)(uintptr_t)pc, program[1]);
    assert_int_equal(displaced_step_origin(pc), place(1));
    assert_false(displaced_step_is_over(pc));
    pc += sizeof(uint32_t);
    assert_true(displaced_step_is_over(pc));
    assert_int_equal(displaced_step_origin(pc), place(2));
    displaced_step_end(&pc);
    assert_int_equal(pc, place(2));
    assert_false(displaced_step_is_over(pc));
}

/* It faulted again, in its second page. */
static void a_slot_is_kept(void **state)
{
    uint64_t pc = place(0), again;
    (void)state;
    assert_true(displaced_step_begin(&pc));
    again = pc;
    assert_true(displaced_step_begin(&again));
    assert_int_equal(again, pc);
    assert_true(displaced_step_cancel(&again));
    assert_int_equal(again, place(0));
    assert_int_equal(displaced_step_origin(pc), pc); /* the slot is free */
    assert_false(displaced_step_cancel(&again));
    assert_int_equal(again, place(0));
}

/* A handler came in between; then there are no slots left; then all are free again. */
static void slots_are_apart(void **state)
{
    enum { MORE = 5000 };
    static uint64_t taken[MORE];
    size_t count = 0;
    (void)state;
    for (; count < MORE; count++) {
        taken[count] = place(count % 4);
        if (!displaced_step_begin(&taken[count]))
            break;
        for (size_t i = 0; i < count && count < 50; i++)
            assert_int_not_equal(taken[i], taken[count]);
    }
    assert_in_range(count, 64, MORE - 1);
    assert_int_equal(taken[count], place(count % 4)); /* as it was */
    for (size_t i = 0; i < count; i++) {
        taken[i] += sizeof(uint32_t);
        displaced_step_end(&taken[i]);
        assert_int_equal(taken[i], place(i % 4 + 1));
    }
    uint64_t pc = place(0);
    assert_true(displaced_step_begin(&pc));
    displaced_step_cancel(&pc);
}

#if defined(__aarch64__)
/* ---- Really ---- */

enum { PAGE = 4096, PAGES = 3, ROUNDS = 1000 };

static unsigned char *memory;
static uint32_t *code; /* the instruction, and a return */
static struct aarch64_registers stopped;
static uint64_t faulted;
static unsigned faults, steps;
static bool wrong;

static void protect(int protection)
{
    if (mprotect(memory, PAGES * PAGE, protection) != 0)
        wrong = true;
}

static void on_fault(int number, siginfo_t *info, void *data)
{
    ucontext_t *context = data;
    struct instruction_access access;
    uint64_t pc = context->uc_mcontext.pc;
    (void)number;
    faults++;
    faulted = (uintptr_t)info->si_addr;
    stopped.pc = displaced_step_origin(pc);
    memcpy(stopped.general, context->uc_mcontext.regs, sizeof context->uc_mcontext.regs);
    stopped.general[AARCH64_STACK_POINTER] = context->uc_mcontext.sp;
    wrong |=
        !aarch64_access_find(*code, &stopped, (struct instruction_fault){faulted, false}, &access);
    wrong |= faulted < access.address || faulted - access.address >= access.bytes;
    protect(PROT_READ | PROT_WRITE);
    if (access.no_step || faults > 2)
        _exit(faults); /* it would come again for ever */
    wrong |= !displaced_step_begin(&pc);
    context->uc_mcontext.pc = pc;
}

static void on_step(int number, siginfo_t *info, void *data)
{
    ucontext_t *context = data;
    uint64_t pc = context->uc_mcontext.pc;
    (void)number, (void)info;
    steps++;
    if (!displaced_step_is_over(pc)) {
        wrong = true;
        context->uc_mcontext.pc = (uintptr_t)(code + 1);
        return;
    }
    displaced_step_end(&pc);
    context->uc_mcontext.pc = pc;
    protect(PROT_NONE);
}

struct outcome {
    _Alignas(16) uint64_t x[4]; /* x0 to x2 */
    uint64_t v[8];              /* v0 to v3 */
    unsigned char memory[PAGES * PAGE];
};

/* run_code(outcome, code): x1 is the address, x0 and x2 are data, and v0 to v3. */
void run_code(struct outcome *outcome, const uint32_t *what);
__asm__(".text\n"
        ".type run_code, %function\n"
        "run_code:\n"
        "stp x29, x30, [sp, #-32]!\n"
        "str x19, [sp, #16]\n"
        "mov x19, x0\n"
        "mov x9, x1\n"
        "movi v0.16b, #1\n"
        "movi v1.16b, #2\n"
        "movi v2.16b, #3\n"
        "movi v3.16b, #4\n"
        "ldp x0, x1, [x19]\n"
        "ldr x2, [x19, #16]\n"
        "blr x9\n"
        "stp x0, x1, [x19]\n"
        "str x2, [x19, #16]\n"
        "stp q0, q1, [x19, #32]\n"
        "stp q2, q3, [x19, #64]\n"
        "ldr x19, [sp, #16]\n"
        "ldp x29, x30, [sp], #32\n"
        "ret\n"
        ".size run_code, . - run_code\n");

static void run(struct outcome *after, uint64_t address, bool closed)
{
    *after = (struct outcome){.x = {0x1122334455667788, address, 24}};
    for (size_t i = 0; i < PAGES * PAGE; i++)
        memory[i] = (unsigned char)(i * 7 + (i >> 8));
    faults = steps = 0;
    if (closed)
        protect(PROT_NONE);
    run_code(after, code);
    protect(PROT_READ | PROT_WRITE);
    memcpy(after->memory, memory, sizeof after->memory);
}

static uint32_t random_of(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*seed >> 32);
}

/* Forms whose registers are x0, x1, x2, and v0 to v3; other fields are random. */
static const struct {
    uint32_t code, random;
} forms[] = {
    {0x39000020, 0xc0c00000}, {0x38000020, 0xc0c1f000}, {0x38000420, 0xc0c1f000},
    {0x38000c20, 0xc0c1f000}, {0x38226820, 0xc0c01000}, {0x3d000020, 0xc0c00000},
    {0x3c000420, 0xc0c1f000}, {0x29000820, 0x80418000}, {0xa8800820, 0x00418000},
    {0x2d000420, 0xc0418000}, {0x0c000020, 0x40400000}, {0x0c002020, 0x40400c00},
    {0x0c007020, 0x40400c00}, {0x4c008020, 0x00400c00}, {0x0d000020, 0x40401c00},
    {0x0d800020, 0x40401c00}, {0x38200022, 0xc0c07000}, {0x38208022, 0xc0c00000},
    {0x08a07c22, 0xc0408000}, {0x089ffc20, 0xc0400000}, {0xd50b7421, 0},
};

static void steps_do_what_the_instruction_does(void **state)
{
    static struct outcome open, closed;
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    uint64_t seed = 1;
    unsigned made = 0;
    (void)state;
    memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true((void *)memory != MAP_FAILED && (void *)code != MAP_FAILED);
    sigaction(SIGSEGV, &action, NULL);
    action.sa_sigaction = on_step;
    sigaction(SIGTRAP, &action, NULL);
    stopped.zeroed = 64;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const size_t form = random_of(&seed) % (sizeof forms / sizeof *forms);
        const uint32_t fields = random_of(&seed) & forms[form].random;
        const uint64_t address =
            (uintptr_t)memory + PAGE + random_of(&seed) % 4 * 1024 + random_of(&seed) % 32 * 16;
        const uint32_t instruction = forms[form].code | fields;
        if (aarch64_instruction_direction(instruction) == AARCH64_NONE)
            continue;
        code[0] = instruction;
        code[1] = 0xd65f03c0; /* ret */
        __builtin___clear_cache((char *)code, (char *)(code + 2));
        wrong = false;
        run(&open, address, false);
        run(&closed, address, true);
        if (wrong || steps != 1 || memcmp(&open, &closed, sizeof open) != 0)
            fail_msg("%08x at %llx: %u faults, %u steps%s", instruction,
                     (unsigned long long)address, faults, steps, wrong ? ", another address" : "");
        made++;
    }
    signal(SIGSEGV, SIG_DFL);
    signal(SIGTRAP, SIG_DFL);
    assert_true(made > ROUNDS / 4);
    print_message("%u instructions\n", made);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_holds_the_instruction),
        cmocka_unit_test(a_slot_is_kept),
        cmocka_unit_test(slots_are_apart),
#if defined(__aarch64__)
        cmocka_unit_test(steps_do_what_the_instruction_does),
#endif
    };
    displaced_step_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
