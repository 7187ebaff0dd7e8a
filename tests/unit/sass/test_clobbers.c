/* What functions write, for code with one thing of what makes them differ each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/sass/clobbers.h"
#include "tests/unit/sass/sm90_code.h"

#include <stdlib.h>

enum { MOST = 8, PLENTY = 1000 };

static struct clobbers read_from(uint32_t place, const struct instruction *code, uint32_t count)
{
    struct step steps[MOST];
    struct clobbers callee;
    uint32_t work = 0;
    assert_in_range(count, 1, MOST);
    for (uint32_t i = 0; i < count; i++)
        steps[i] = step_of(code[i], (uint64_t)i * INSTRUCTION_BYTES, 90);
    assert_true(clobbers_read(&callee, steps, count, place, &work, PLENTY));
    return callee;
}

#define READ(place, ...)                                                                           \
    read_from(place, (const struct instruction[]){__VA_ARGS__},                                    \
              sizeof((const struct instruction[]){__VA_ARGS__}) / sizeof(struct instruction))

static size_t registers_of(const struct clobbers *callee)
{
    size_t count = 0;
    for (uint32_t i = 0; i < REGISTERS; i++)
        count += callee->registers[i];
    return count;
}

static void what_lies_before_the_return_is_written(void **state)
{
    (void)state;
    const struct clobbers callee =
        READ(1, mov(9, 2), mov(3, 2), uldc64(4, 0x210), isetp(2), uisetp(3), ret(), mov(8, 2));
    assert_int_equal(registers_of(&callee), 3);
    assert_true(callee.registers[3]);
    assert_true(callee.registers[REGISTER_UNIFORM + 4]);
    assert_true(callee.registers[REGISTER_UNIFORM + 5]);
    assert_int_equal(callee.predicates, 1 << 2); /* none of the uniform data path's */
    assert_false(callee.barriers[0]);
}

static void all_ways_and_calls_are_followed(void **state)
{
    (void)state;
    const struct clobbers callee =
        READ(0, bra_if(0, 3, 0, 1), call(1, 5), ret(), /* 3: */ mov(3, 2), ret(),
             /* 5: */ mov(4, 2), bssy(2, 6, 3), ret());
    assert_int_equal(registers_of(&callee), 2);
    assert_true(callee.registers[3]);
    assert_true(callee.registers[4]);
    assert_true(callee.barriers[2]);
}

static void a_function_that_calls_itself_ends(void **state)
{
    (void)state;
    const struct clobbers callee = READ(0, bra_if(0, 3, 0, 1), call(1, 0), mov(5, 2), ret());
    assert_int_equal(registers_of(&callee), 1);
}

static void what_is_not_known_may_write_all(void **state)
{
    (void)state;
    const struct instruction unknown[] = {encoded(0xbff, 0, 0, 0, 0), encoded(0x949, 0, 2, 0, 0),
                                          bsync(0)};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const struct clobbers callee = READ(0, mov(3, 2), unknown[i], ret());
        assert_int_equal(registers_of(&callee), REGISTERS);
        assert_int_equal(callee.predicates, UINT8_MAX);
        assert_true(callee.barriers[STEP_BARRIERS - 1]);
    }
}

static void the_frame_is_another_one_if_the_pointer_moves(void **state)
{
    (void)state;
    const struct clobbers callee = READ(0, viadd_number(1, 1, 8), ret());
    assert_int_equal(registers_of(&callee), 1 + REGISTERS - REGISTER_STACK);
    const struct clobbers other = READ(0, stl(3, 2), ret());
    assert_int_equal(registers_of(&other), 1);
    assert_true(other.registers[REGISTER_STACK + 3]);
}

static void behind_the_code_is_nothing(void **state)
{
    (void)state;
    const struct clobbers callee = READ(UINT32_MAX, mov(3, 2), ret());
    assert_int_equal(registers_of(&callee), 0);
    const struct clobbers other = READ(0, mov(3, 2), bra(1, 7));
    assert_int_equal(registers_of(&other), 1);
}

static void it_ends_when_it_takes_too_long(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    struct step *steps = malloc(COUNT * sizeof *steps);
    struct clobbers callee;
    uint32_t work = 0;
    assert_non_null(steps);
    for (uint32_t i = 0; i < COUNT; i++)
        steps[i] = step_of(mov(3, 2), (uint64_t)i * INSTRUCTION_BYTES, 90);
    assert_true(clobbers_read(&callee, steps, COUNT, 0, &work, PLENTY));
    assert_in_range(work, PLENTY + 1, COUNT / 8);
    free(steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_before_the_return_is_written),
        cmocka_unit_test(all_ways_and_calls_are_followed),
        cmocka_unit_test(a_function_that_calls_itself_ends),
        cmocka_unit_test(what_is_not_known_may_write_all),
        cmocka_unit_test(the_frame_is_another_one_if_the_pointer_moves),
        cmocka_unit_test(behind_the_code_is_nothing),
        cmocka_unit_test(it_ends_when_it_takes_too_long),
    };
    return cmocka_run_group_tests_name("callee", tests, NULL, NULL);
}
