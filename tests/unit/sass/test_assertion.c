/* What failed assertions say: of code that nvcc makes for each architecture, as it is in the file
 * and as it is loaded, where symbols have the addresses of the device; and of a real dump's image.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/coredump/coredump.h"
#include "runtime/ptx/cubin.h"
#include "runtime/ptx/unaligned.h"
#include "runtime/sass/assertion.h"
#include "runtime/sass/instruction.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static uint8_t *file_read(const char *path, size_t *bytes)
{
    enum { MOST = 1 << 20 };
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *data = malloc(MOST);
    assert_non_null(data);
    *bytes = fread(data, 1, MOST, file);
    fclose(file);
    return data;
}

/* As a loader leaves it: each symbol somewhere on the device, in no order of the section's. */
static void relocate(const struct elf_file *image)
{
    struct elf_section table;
    for (uint32_t i = 0; i < image->section_count; i++) {
        if (!elf_file_section(image, i, &table) || table.type != SHT_SYMTAB)
            continue;
        for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.bytes; at += sizeof(Elf64_Sym)) {
            const uint64_t address = UINT64_C(0x7f0000000000) + 256 * (at / sizeof(Elf64_Sym));
            memcpy((uint8_t *)table.data + at + offsetof(Elf64_Sym, st_value), &address,
                   sizeof address);
        }
    }
}

enum { CALL_ABS = 0x143, CALLS_MOST = 16 };

/* Of all calls of one function's code, in their order. */
static size_t assertions_of(const struct elf_file *image, const char *function,
                            uint32_t architecture, struct assertion found[CALLS_MOST])
{
    struct elf_section code;
    size_t count = 0;
    char name[256];
    snprintf(name, sizeof name, ".text.%s", function);
    assert_true(elf_file_find(image, name, 0, &code));
    for (uint64_t at = 0; at + INSTRUCTION_BYTES <= code.bytes; at += INSTRUCTION_BYTES)
        if ((read64(code.data + at) & 0x1ff) == CALL_ABS && count < CALLS_MOST)
            count += assertion_find(&found[count], image, &code,
                                    code.address + at + INSTRUCTION_BYTES, architecture);
    return count;
}

static const struct assertion *with_line(const struct assertion *all, size_t count, uint32_t line)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].line == line)
            return &all[i];
    return NULL;
}

static bool ends_with(const char *text, const char *end)
{
    return text && strlen(text) >= strlen(end) && !strcmp(text + strlen(text) - strlen(end), end);
}

static void expect(const struct assertion *all, size_t count, uint32_t line, const char *expression)
{
    const struct assertion *found = with_line(all, count, line);
    assert_non_null(found);
    assert_non_null(found->expression);
    assert_string_equal(found->expression, expression);
    assert_true(ends_with(found->file, "assertions.cu"));
}

static void expect_all(const struct elf_file *image, uint32_t architecture, bool is_loaded)
{
    static const char *const kernels[] = {"_Z7severalILi1EEvPiPKll", "_Z7severalILi2EEvPiPKll"};
    struct assertion found[CALLS_MOST];
    for (size_t i = 0; i < 2; i++) {
        const size_t count = assertions_of(image, kernels[i], architecture, found);
        assert_int_equal(count, 3);
        expect(found, count, 8, "value < size && \"too large\"");
        expect(found, count, 9, "value >= 0 && \"negative number\"");
        expect(found, count, 11, "p[value + 1] != N && \"both of them\"");
        if (!is_loaded)
            assert_non_null(strstr(found[0].function, i ? "N = 2" : "N = 1"));
        else
            assert_null(found[0].function); /* the other kernel's is as long */
    }
    /* Of equal length: either one may be meant, so neither is named. */
    const size_t count = assertions_of(image, "_Z5alikePi", architecture, found);
    assert_int_equal(count, 2);
    if (is_loaded) {
        assert_null(found[0].expression);
        assert_true(ends_with(found[0].file, "assertions.cu"));
        assert_true(found[0].line == 32 || found[0].line == 33);
    } else {
        expect(found, count, 32, "p[0] == 1");
        expect(found, count, 33, "p[1] == 2");
    }
}

static const char *const cubins[] = {CUBINS};

static void each_architecture(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cubins / sizeof *cubins; i++) {
        struct elf_file image;
        char message[128];
        size_t bytes;
        uint8_t *data = file_read(cubins[i], &bytes);
        const uint32_t architecture = cubin_architecture(data, bytes);
        assert_true(architecture >= 75);
        assert_true(elf_file_open(&image, data, bytes, message, sizeof message));
        expect_all(&image, architecture, false);
        relocate(&image);
        expect_all(&image, architecture, true);
        free(data);
    }
}

static void called_function(void **state)
{
    (void)state;
    struct elf_file image;
    struct elf_section code;
    struct assertion found;
    char message[128];
    size_t bytes, any = 0;
    uint8_t *data = file_read(cubins[0], &bytes);
    const uint32_t architecture = cubin_architecture(data, bytes);
    assert_true(elf_file_open(&image, data, bytes, message, sizeof message));
    for (uint32_t i = 0; i < image.section_count; i++) {
        if (!elf_file_section(&image, i, &code) || !(code.flags & SHF_EXECINSTR))
            continue;
        for (uint64_t at = 0; at + INSTRUCTION_BYTES <= code.bytes; at += INSTRUCTION_BYTES)
            any += (read64(code.data + at) & 0x1ff) == CALL_ABS &&
                   assertion_find(&found, &image, &code, code.address + at + INSTRUCTION_BYTES,
                                  architecture) &&
                   strstr(found.expression, "five of all numbers") != NULL;
    }
    assert_int_equal(any, 1);
    free(data);
}

static void real_dump(void **state)
{
    (void)state;
    static uint8_t core[1 << 20];
    struct coredump_fault faults[COREDUMP_FAULTS_MOST];
    struct coredump dump;
    struct elf_file image;
    struct elf_section code;
    struct assertion found;
    char message[128];
    size_t bytes;
    uint8_t *packed = file_read(TEST_DATA "/coredump/assert.core.zst", &bytes);
    const size_t count = ZSTD_decompress(core, sizeof core, packed, bytes);
    assert_false(ZSTD_isError(count));
    assert_true(coredump_open(&dump, core, count, message, sizeof message));
    assert_int_equal(coredump_faults(&dump, faults), 1);
    const uint8_t *data = coredump_image(&dump, faults[0].grid.module, &bytes);
    assert_non_null(data);
    assert_true(elf_file_open(&image, data, bytes, message, sizeof message));
    assert_int_equal(__builtin_popcount(faults[0].present), 1);
    const uint64_t pc = faults[0].lanes[__builtin_ctz(faults[0].present)].pc;
    assert_true(coredump_code_at(&image, pc, &code));
    assert_true(assertion_find(&found, &image, &code, pc, 90));
    assert_string_equal(found.expression, "n < 3");
    assert_string_equal(found.file, "failing.cu");
    assert_string_equal(found.function, "void asserts(int)");
    assert_int_equal(found.line, 35);
    assert_false(assertion_find(&found, &image, &code, pc - INSTRUCTION_BYTES, 90));
    assert_false(assertion_find(&found, &image, &code, code.address, 90));
    free(packed);
}

/* Whatever byte is another: nothing is read that is not there. */
static void damaged(void **state)
{
    (void)state;
    size_t bytes;
    uint32_t random = 7;
    uint8_t *data = file_read(cubins[0], &bytes);
    for (int i = 0; i < 2000; i++) {
        uint8_t *copy = malloc(bytes);
        struct elf_file image;
        struct elf_section code;
        struct assertion found;
        char message[128];
        assert_non_null(copy);
        memcpy(copy, data, bytes);
        for (int k = 0; k < 12; k++) {
            random = random * 1664525u + 1013904223u;
            copy[random % bytes] = (uint8_t)(random >> 16);
        }
        if (elf_file_open(&image, copy, bytes, message, sizeof message))
            for (uint32_t s = 0; s < image.section_count; s++)
                for (uint64_t at = 0;
                     elf_file_section(&image, s, &code) && (code.flags & SHF_EXECINSTR) &&
                     code.data && at < 64 * 16 && at < code.bytes;
                     at += INSTRUCTION_BYTES)
                    assertion_find(&found, &image, &code, code.address + at, 75);
        free(copy);
    }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_architecture),
        cmocka_unit_test(called_function),
        cmocka_unit_test(real_dump),
        cmocka_unit_test(damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
