/* What is read off cubins: kernels with accesses that no patch is called for, in files that are
 * whole, cut off, or of random bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_cubin.h"
#include "runtime/tracer/machine_code.h"

#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint8_t file[FAKE_CUBIN_BYTES];

static void kernels_are_told_apart(void **state)
{
    (void)state;
    const struct fake_section sections[] = {{".text.load", 8, FAKE_LDG},
                                            {".text.copy", 8, FAKE_UTMALDG},
                                            {".text.copy_more", 1, FAKE_UTMALDG},
                                            {".nv.constant0.load", 1, FAKE_LDG},
                                            {".nv.constant0.copy", 1, FAKE_UTMALDG},
                                            {".nv.constant0.copy_more", 1, FAKE_LDG}};
    size_t bytes = fake_cubin(file, sections, COUNT(sections));
    struct machine_code *code = machine_code_read(file, bytes);
    assert_false(machine_code_is_blind(code, "load"));
    assert_true(machine_code_is_blind(code, "copy"));
    assert_true(machine_code_is_blind(code, "copy_more"));
    assert_true(machine_code_is_blind(code, NULL)); /* it may be any */
    machine_code_free(code);
}

static void a_function_that_is_called_counts_for_all(void **state)
{
    (void)state;
    const struct fake_section sections[] = {{".text.load", 8, FAKE_LDG},
                                            {".text.helper", 8, FAKE_UTMALDG},
                                            {".nv.constant0.load", 1, FAKE_LDG}};
    size_t bytes = fake_cubin(file, sections, COUNT(sections));
    struct machine_code *code = machine_code_read(file, bytes);
    assert_true(machine_code_is_blind(code, "load"));
    machine_code_free(code);
}

/* Each by its name in nvdisasm's words, with a predicate in front. */
static void opcodes_are_known_in_every_form(void **state)
{
    (void)state;
    static const struct {
        uint32_t opcode;
        bool blind;
    } expected[] = {{0x75b4, true} /* UTMALDG */,  {0x73b5, true} /* UTMASTG */,
                    {0x73b6, true} /* UTMAREDG */, {0x05b4, true} /* @P0 */,
                    {0x7b60, true} /* TEX */,      {0x7f60, true},
                    {0x7f66, true} /* TLD */,      {0x7b63, true} /* TLD4 */,
                    {0x7f6c, true} /* TXD */,      {0x7b99, true} /* SULD */,
                    {0x7f9d, true} /* SUST */,     {0x0f9f, true} /* SURED */,
                    {0x71a5, true} /* LDGMC */,    {0x75b8, false} /* UTMAPF */,
                    {0x73ba, false} /* UBLKCP */,  {0x73bb, false} /* UBLKRED */,
                    {0x7981, false} /* LDG */,     {0x7986, false} /* STG */,
                    {0x098e, false} /* REDG */,    {0x79b7, false} /* UTMACMDFLUSH */};
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct fake_section sections[] = {{".text.k", 3, expected[i].opcode},
                                                {".nv.constant0.k", 1, 0}};
        size_t bytes = fake_cubin(file, sections, COUNT(sections));
        struct machine_code *code = machine_code_read(file, bytes);
        assert_int_equal(machine_code_is_blind(code, "k"), expected[i].blind);
        machine_code_free(code);
    }
}

static void what_cannot_be_read_is_not_trusted(void **state)
{
    (void)state;
    struct machine_code *code = machine_code_read(NULL, 0);
    assert_true(machine_code_is_blind(code, "k"));
    machine_code_free(code);
    code =
        machine_code_read("not a cubin at all, and longer than a header of sixty-four bytes", 64);
    assert_true(machine_code_is_blind(code, "k"));
    machine_code_free(code);
}

/* Whatever is wrong with the file, no byte beside it is read: it ends where its memory ends. */
static void broken_files_are_survived(void **state)
{
    (void)state;
    const struct fake_section sections[] = {{".text.load", 8, FAKE_LDG},
                                            {".text.copy", 8, FAKE_UTMALDG},
                                            {".nv.constant0.load", 1, FAKE_LDG},
                                            {".nv.constant0.copy", 1, FAKE_LDG}};
    size_t bytes = fake_cubin(file, sections, COUNT(sections));
    uint32_t seed = 1;
    for (uint32_t round = 0; round < 20000; round++) {
        size_t length = round < bytes ? round : bytes;
        uint8_t *copy = malloc(length + 1);
        assert_non_null(copy);
        uint8_t *start = copy + 1; /* at no good address, and up to the end */
        memcpy(start, file, length);
        for (uint32_t i = 0; round >= bytes && i < 1 + round % 4; i++) {
            seed = seed * 1664525 + 1013904223;
            start[(seed >> 8) % bytes] = (uint8_t)(seed >> 24);
        }
        struct machine_code *code = machine_code_read(start, length);
        if (round < bytes)
            assert_true(machine_code_is_blind(code, "copy"));
        machine_code_free(code);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_told_apart),
        cmocka_unit_test(a_function_that_is_called_counts_for_all),
        cmocka_unit_test(opcodes_are_known_in_every_form),
        cmocka_unit_test(what_cannot_be_read_is_not_trusted),
        cmocka_unit_test(broken_files_are_survived),
    };
    return cmocka_run_group_tests_name("machine_code", tests, NULL, NULL);
}
