/* GPU core dumps: those of an H200 (driver 580.159.04) of which the driver's own modules were taken
 * out (tests/data/coredump/failing.cu made them), and what is left of them when they are damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/coredump/coredump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static uint8_t *dump_read(const char *name, size_t *bytes)
{
    static uint8_t packed[1 << 16];
    char path[512];
    enum { MOST = 1 << 20 };
    snprintf(path, sizeof path, TEST_DATA "/coredump/%s.core.zst", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t count = fread(packed, 1, sizeof packed, file);
    fclose(file);
    uint8_t *data = malloc(MOST);
    assert_non_null(data);
    *bytes = ZSTD_decompress(data, MOST, packed, count);
    assert_false(ZSTD_isError(*bytes));
    return data;
}

struct expected {
    const char *name;
    uint32_t exception;
    const char *kernel; /* NULL: the grid is gone */
    uint32_t grid, block_size, block, thread;
    bool has_pc;
};

static const struct expected cases[] = {
    {"load", COREDUMP_ILLEGAL_ADDRESS, "_Z4loadPil", 4, 64, 1, 13, true},
    {"store", COREDUMP_ILLEGAL_ADDRESS, NULL, 0, 0, 0, 0, true},
    {"misaligned", COREDUMP_MISALIGNED, "_Z10misalignedPc", 1, 32, 0, 3, true},
    {"trap", COREDUMP_TRAP, "_Z7trappedv", 2, 32, 1, 9, false},
    {"assert", COREDUMP_ASSERT, "_Z7assertsi", 1, 32, 0, 6, false},
};

static void expect_kernel(const struct coredump *dump, const struct coredump_fault *fault,
                          const char *kernel)
{
    struct elf_file image;
    struct elf_section code;
    char message[128];
    size_t bytes;
    const uint8_t *data = coredump_image(dump, fault->grid.module, &bytes);
    assert_non_null(data);
    assert_true(elf_file_open(&image, data, bytes, message, sizeof message));
    assert_true(coredump_code_at(&image, fault->grid.entry, &code));
    assert_int_equal(strncmp(code.name, ".text.", 6), 0);
    assert_string_equal(code.name + 6, kernel);
    assert_int_equal(fault->grid.entry, code.address);
}

static void real_dumps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct expected *expected = &cases[i];
        struct coredump_fault faults[COREDUMP_FAULTS_MOST];
        struct coredump dump;
        char message[128];
        size_t bytes;
        uint8_t *data = dump_read(expected->name, &bytes);
        assert_true(coredump_open(&dump, data, bytes, message, sizeof message));
        assert_int_equal(coredump_faults(&dump, faults), 1);
        const struct coredump_fault *fault = &faults[0];
        assert_int_equal(fault->exception, expected->exception);
        assert_int_equal(fault->device, 0);
        assert_int_equal(fault->sm_major, 9);
        assert_int_equal(fault->has_pc, expected->has_pc);
        assert_int_equal(fault->has_grid, expected->kernel != NULL);
        if (expected->kernel) {
            assert_int_equal(fault->grid.id, 1);
            assert_int_equal(fault->grid.grid[0], expected->grid);
            assert_int_equal(fault->grid.block[0], expected->block_size);
            assert_int_equal(fault->block[0], expected->block);
            expect_kernel(&dump, fault, expected->kernel);
        } else {
            assert_false(fault->has_warp);
            assert_non_null(coredump_image_at(&dump, fault->pc, &bytes));
        }
        free(data);
    }
}

static void threads_and_registers(void **state)
{
    (void)state;
    struct coredump_fault faults[COREDUMP_FAULTS_MOST];
    struct coredump dump;
    char message[128];
    size_t bytes;
    uint8_t *data = dump_read("trap", &bytes);
    assert_true(coredump_open(&dump, data, bytes, message, sizeof message));
    assert_int_equal(coredump_faults(&dump, faults), 1);
    assert_int_equal(faults[0].active, 1u << 9);
    assert_int_equal(faults[0].lanes[9].thread[0], 9);
    free(data);
    data = dump_read("load", &bytes);
    assert_true(coredump_open(&dump, data, bytes, message, sizeof message));
    assert_int_equal(coredump_faults(&dump, faults), 1);
    assert_int_equal(faults[0].lanes[13].thread[0], 13);
    assert_true(faults[0].lanes[13].register_count > 4);
    assert_non_null(faults[0].lanes[13].registers);
    assert_int_equal(faults[0].grid.param_bytes, 16);
    int64_t at;
    memcpy(&at, faults[0].grid.params + 8, sizeof at);
    assert_int_equal(at, 1ll << 40);
    free(data);
}

static void knows_a_jump_astray(void **state)
{
    struct coredump dump;
    struct coredump_fault faults[COREDUMP_FAULTS_MOST];
    char message[256];
    size_t bytes;
    (void)state;
    uint8_t *data = dump_read("load", &bytes);
    assert_true(coredump_open(&dump, data, bytes, message, sizeof message));
    assert_int_equal(coredump_faults(&dump, faults), 1);
    assert_false(coredump_is_astray(&dump, &faults[0]));
    faults[0].exception = COREDUMP_ILLEGAL_INSTRUCTION;
    assert_false(coredump_is_astray(&dump, &faults[0])); /* there is code at its pc */
    faults[0].pc = 0x123456789ab0;
    assert_true(coredump_is_astray(&dump, &faults[0]));
    faults[0].has_pc = false;
    assert_false(coredump_is_astray(&dump, &faults[0]));
    free(data);
}

static void what_is_none(void **state)
{
    (void)state;
    struct coredump dump;
    char message[128] = "";
    assert_false(coredump_open(&dump, "", 0, message, sizeof message));
    assert_true(message[0]);
    assert_false(coredump_open(&dump, "\177ELF but no more", 16, message, sizeof message));
}

/* Wherever it ends, and whatever byte is another: nothing is read that is not there. */
static void damaged_dumps(void **state)
{
    (void)state;
    struct coredump_fault *faults = calloc(COREDUMP_FAULTS_MOST, sizeof *faults);
    uint32_t random = 1;
    size_t bytes;
    uint8_t *data = dump_read("load", &bytes);
    for (int i = 0; i < 4000; i++) {
        struct coredump dump;
        char message[128];
        size_t image_bytes;
        random = random * 1664525u + 1013904223u;
        const size_t kept = i % 2 ? bytes : random % bytes;
        uint8_t *copy = malloc(kept + 1);
        assert_non_null(copy);
        memcpy(copy, data, kept);
        for (int k = 0; i % 2 && k < 4; k++) {
            random = random * 1664525u + 1013904223u;
            /* the headers lie at the end */
            const size_t at = random >> 8 & 1 ? random % bytes : bytes - 1 - random % 12000;
            copy[at] = (uint8_t)(random >> 16);
        }
        if (coredump_open(&dump, copy, kept, message, sizeof message)) {
            const size_t count = coredump_faults(&dump, faults);
            for (size_t f = 0; f < count; f++) {
                coredump_image(&dump, faults[f].grid.module, &image_bytes);
                coredump_image_at(&dump, faults[f].pc, &image_bytes);
            }
        }
        free(copy);
    }
    free(data);
    free(faults);
}

static void words(void **state)
{
    (void)state;
    assert_string_equal(coredump_exception_words(COREDUMP_ILLEGAL_ADDRESS),
                        "illegal memory access");
    assert_string_equal(coredump_exception_words(12345), "exception of the hardware");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_dumps),          cmocka_unit_test(threads_and_registers),
        cmocka_unit_test(knows_a_jump_astray), cmocka_unit_test(what_is_none),
        cmocka_unit_test(damaged_dumps),       cmocka_unit_test(words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
