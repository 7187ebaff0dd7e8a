/* PTX that is kept under the bytes of the machine code made of it. */
#include "runtime/hook/kernel/compiled_ptx.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A cubin of one empty section, whose headers lie last. */
struct cubin {
    Elf64_Ehdr head;
    uint64_t number;
    Elf64_Shdr section;
};

static struct cubin cubin_of(uint64_t number)
{
    struct cubin cubin = {.number = number};
    memcpy(cubin.head.e_ident, ELFMAG, SELFMAG);
    cubin.head.e_ident[EI_CLASS] = ELFCLASS64;
    cubin.head.e_ident[EI_DATA] = ELFDATA2LSB;
    cubin.head.e_machine = 190; /* EM_CUDA */
    cubin.head.e_ehsize = sizeof cubin.head;
    cubin.head.e_shoff = offsetof(struct cubin, section);
    cubin.head.e_shentsize = sizeof cubin.section;
    cubin.head.e_shnum = 1;
    return cubin;
}

static void keep(uint64_t number, const char *text, size_t bytes)
{
    struct cubin cubin = cubin_of(number);
    compiled_ptx_keep(&cubin, sizeof cubin, text, bytes);
}

static void expect(uint64_t number, const char *text)
{
    struct cubin cubin = cubin_of(number);
    size_t bytes = 0;
    char *found = compiled_ptx_find(&cubin, &bytes);
    if (!text) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_string_equal(found, text);
    assert_int_equal(bytes, strlen(text));
    free(found);
}

static void nothing_was_compiled(void **state)
{
    (void)state;
    assert_false(compiled_ptx_is_used());
    expect(1, NULL);
}

static void each_has_its_own(void **state)
{
    (void)state;
    keep(1, "first", 6);
    keep(2, "second", 6); /* no NUL */
    expect(1, "first");
    expect(2, "second");
    expect(3, NULL);
    keep(1, "again", 6);
    expect(1, "again");
}

static void an_image_keeps_its_zeros(void **state)
{
    (void)state;
    static const char image[] = "units\0of\0several";
    const struct cubin cubin = cubin_of(7);
    size_t bytes;
    compiled_ptx_keep_image(&cubin, sizeof cubin, image, sizeof image);
    char *found = compiled_ptx_find(&cubin, &bytes);
    assert_non_null(found);
    assert_int_equal(bytes, sizeof image);
    assert_memory_equal(found, image, sizeof image);
    free(found);
}

static void text_is_no_machine_code(void **state)
{
    (void)state;
    size_t bytes;
    assert_null(compiled_ptx_find(".version 8.0\n.target sm_90\n", &bytes));
}

static void the_oldest_go(void **state)
{
    (void)state;
    for (uint64_t i = 0; i <= COMPILED_PTX_TEXTS; i++)
        keep(100 + i, "text", 5);
    expect(100, NULL);
    expect(101, "text");
    expect(100 + COMPILED_PTX_TEXTS, "text");
}

static void so_many_bytes(void **state)
{
    (void)state;
    const size_t half = COMPILED_PTX_BYTES / 2 + 1;
    char *large = malloc(half + 1);
    assert_non_null(large);
    memset(large, 'x', half);
    large[half] = '\0';
    keep(1, large, half);
    keep(2, "small", 6);
    keep(3, large, half);
    expect(1, NULL);
    expect(2, "small");
    expect(3, large);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_was_compiled),    cmocka_unit_test(each_has_its_own),
        cmocka_unit_test(text_is_no_machine_code), cmocka_unit_test(the_oldest_go),
        cmocka_unit_test(so_many_bytes),           cmocka_unit_test(an_image_keeps_its_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
