/* ELF files: sections of this very program, then of the same cut off and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/ptx/elf_file.h"

/* Something to be found: 12 bytes, in a section of their own. */
__attribute__((section("marked_place"), used)) static const char marked[12] = "to be found";

static char *self_read(size_t *bytes)
{
    FILE *file = fopen("/proc/self/exe", "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    char *data = malloc(*bytes);
    assert_non_null(data);
    rewind(file);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    return data;
}

static void finds_sections(void **state)
{
    (void)state;
    size_t bytes;
    char message[256], *data = self_read(&bytes);
    struct elf_file file;
    struct elf_section section;
    assert_true(elf_file_open(&file, data, bytes, message, sizeof message));
    assert_true(elf_file_find(&file, "marked_place", 0, &section));
    assert_true(section.bytes >= sizeof marked);
    assert_non_null(memmem(section.data, section.bytes, marked, sizeof marked));
    assert_false(elf_file_find(&file, "marked_place", section.index, &section));
    assert_false(elf_file_find(&file, "no_such_place", 0, &section));
    assert_true(elf_file_find(&file, ".bss", 0, &section));
    assert_null(section.data);
    assert_false(elf_file_section(&file, file.section_count, &section));
    free(data);
}

/* Copies are exactly as long as the file is said to be, so that a sanitizer sees a byte too far. */
static void cut_off(void **state)
{
    (void)state;
    size_t bytes;
    char *data = self_read(&bytes);
    for (size_t cut = 0; cut < bytes; cut += cut < 200 ? 1 : bytes / 97) {
        struct elf_file file;
        struct elf_section section;
        char message[256] = "", *copy = malloc(cut + 1);
        memcpy(copy + 1, data, cut); /* at an odd address */
        assert_false(elf_file_open(&file, copy + 1, cut, message, sizeof message));
        assert_true(message[0] != 0);
        assert_false(elf_file_section(&file, 1, &section));
        free(copy);
    }
    free(data);
}

static void damaged(void **state)
{
    (void)state;
    size_t bytes, sections = 0;
    char *data = self_read(&bytes);
    Elf64_Ehdr header;
    memcpy(&header, data, sizeof header);
    for (unsigned i = 0; i < 600; i++) {
        /* its header, and the headers of its sections */
        size_t place = i < 64 ? i : header.e_shoff + (i - 64) * 4;
        char saved;
        struct elf_file file;
        struct elf_section section;
        if (place >= bytes)
            break;
        saved = data[place];
        data[place] = (char)~saved;
        elf_file_open(&file, data, bytes, NULL, 0);
        for (uint32_t k = 0; elf_file_section(&file, k, &section); k++) {
            sections += strlen(section.name) > 0;
            if (section.data && section.bytes)
                sections += section.data[section.bytes - 1] == 0;
        }
        data[place] = saved;
    }
    assert_true(sections > 1000);
    free(data);
}

/* gABI: e_shnum 0 means that section 0 has the count, e_shstrndx SHN_XINDEX likewise. */
static void numbers_beyond_the_header(void **state)
{
    (void)state;
    size_t bytes;
    char *data = self_read(&bytes);
    Elf64_Ehdr header;
    Elf64_Shdr zero = {0};
    memcpy(&header, data, sizeof header);
    zero.sh_size = header.e_shnum;
    zero.sh_link = header.e_shstrndx;
    memcpy(data + header.e_shoff, &zero, sizeof zero);
    header.e_shnum = 0;
    header.e_shstrndx = SHN_XINDEX;
    memcpy(data, &header, sizeof header);
    struct elf_file file;
    struct elf_section section;
    assert_true(elf_file_open(&file, data, bytes, NULL, 0));
    assert_int_equal(file.section_count, zero.sh_size);
    assert_true(elf_file_find(&file, "marked_place", 0, &section));
    free(data);
}

static void strangers(void **state)
{
    (void)state;
    char message[256] = "", narrow[64] = "\177ELF\1\1\1";
    struct elf_file file;
    assert_false(elf_file_open(&file, "text", 4, message, sizeof message));
    assert_non_null(strstr(message, "no ELF file"));
    assert_false(elf_file_open(&file, narrow, sizeof narrow, message, sizeof message));
    assert_non_null(strstr(message, "64-bit"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_sections), cmocka_unit_test(cut_off),
        cmocka_unit_test(damaged),        cmocka_unit_test(numbers_beyond_the_header),
        cmocka_unit_test(strangers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
